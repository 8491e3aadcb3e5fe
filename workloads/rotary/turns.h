// Angles of rotary position embeddings.
#pragma once
#include <cmath>
#include <cstdint>
#include <vector>

namespace raddle::workloads {

/// For each position head_dim / 2 cosines, then as many sines: pair i turns by
/// position * base^(-2 i / head_dim).
inline std::vector<float> make_turns(std::uint32_t positions, std::uint32_t head_dim, double base) {
  const std::uint32_t pairs = head_dim / 2;
  std::vector<float> table(std::size_t{positions} * head_dim);
  for (std::uint32_t pair = 0; pair < pairs; ++pair) {
    const double speed = std::pow(base, -2.0 * pair / head_dim);
    for (std::uint32_t position = 0; position < positions; ++position) {
      float* const own = &table[std::size_t{position} * head_dim + pair];
      own[0] = static_cast<float>(std::cos(position * speed));
      own[pairs] = static_cast<float>(std::sin(position * speed));
    }
  }
  return table;
}

}  // namespace raddle::workloads
