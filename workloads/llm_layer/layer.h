// The layer of llm_layer: its sizes, weights and inputs, and its reference. See README.md.
#pragma once
#include <cstdint>
#include <vector>

#include "attention/launch.h"
#include "common/half.h"
#include "common/input_hash.h"

namespace raddle::workloads {

struct LayerSizes {
  Heads of;
  std::uint32_t hidden = 0, intermediate = 0;
  std::uint32_t batch = 1, sequence = 0, page = 16, split = 256;
  bool decode = true;
  Units units = Units::Fp32;

  std::uint32_t tokens() const { return decode ? batch : batch * sequence; }
  std::uint32_t row() const { return of.query_numbers() + 2 * of.kv_numbers(); }
  std::uint32_t pages_of_sequence() const { return blocks_for(sequence, page); }
};

inline constexpr float kLayerEpsilon = 1e-5F;

struct LayerInputs {
  LayerSizes sizes;
  std::vector<Half> x;                             ///< [token][hidden]
  std::vector<Half> norm, second_norm, last_norm;  ///< the last is the next layer's
  std::vector<Half> qkv, out, gate_up, down;       ///< [output][input]
  std::vector<Half> keys, values;                  ///< decode: [page][slot][kv head][number]
  std::vector<std::uint32_t> pages, lengths, positions;
  std::vector<float> turns;
};

/// Weights keep the sizes of numbers near 1.
LayerInputs make_layer(const LayerSizes& sizes, std::uint64_t seed, InputHash& hash);

/// For each of `tokens`: what the layer leaves in the residual, and its norm.
struct LayerRows {
  std::vector<std::vector<float>> residual, normed;
};
/// Sums in double precision, rounded to half where the device does.
LayerRows layer_reference(const LayerInputs& inputs, const std::vector<std::uint32_t>& tokens);

}  // namespace raddle::workloads
