// What every workload keeps of its inputs, its parameters at each size, and random vectors.
#pragma once
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <vector>

#include "common/input_hash.h"
#include "raddle/base/rng.h"
#include "raddle/runtime/workload.h"

namespace raddle::workloads {

/// A workload that hashes its inputs as it makes them.
class HashedWorkload : public runtime::Workload {
 public:
  std::uint64_t input_hash() const override { return inputs_.value(); }

 protected:
  InputHash inputs_;
};

/// Sets `value` to what it is at `size`, of its values at tiny, small and paper.
template <class T>
void by_size(runtime::Size size, T& value, const std::type_identity_t<T> (&values)[3]) {
  value = values[static_cast<std::size_t>(size)];
}

/// `count` floats uniform in [low, high), from generator `path` of `seed`. The rounding to float is
/// the only one, so every host makes the same.
inline std::vector<float> random_floats(std::uint64_t seed, std::string_view path,
                                        std::size_t count, double low, double high) {
  Rng rng(seed, path);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(low + (high - low) * rng.unit());
  return values;
}

}  // namespace raddle::workloads
