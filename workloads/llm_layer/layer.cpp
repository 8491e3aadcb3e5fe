#include "llm_layer/layer.h"

#include <algorithm>
#include <cmath>

#include "common/draw.h"
#include "rotary/turns.h"

namespace raddle::workloads {

namespace {

constexpr double kTurnBase = 500'000;

void make_cache(LayerInputs& in, std::uint64_t seed) {
  const LayerSizes& sizes = in.sizes;
  Rng rng(seed, "llm_layer/lengths");
  in.lengths.assign(sizes.batch, sizes.sequence);
  for (std::uint32_t i = 1; i < sizes.batch; ++i)
    in.lengths[i] -= rng.below(sizes.sequence / 2 + 1);
  in.pages = permutation(sizes.batch * sizes.pages_of_sequence(), rng);
  const std::size_t slots = in.pages.size() * sizes.page;
  in.keys = random_halves(seed, "llm_layer/keys", slots * sizes.of.kv_numbers(), 2);
  in.values = random_halves(seed, "llm_layer/values", slots * sizes.of.kv_numbers(), 2);
}

}  // namespace

LayerInputs make_layer(const LayerSizes& sizes, std::uint64_t seed, InputHash& hash) {
  LayerInputs in;
  in.sizes = sizes;
  // Uniform numbers up to sqrt(3 / inputs) have a variance of 1 / inputs.
  auto weights = [&](const char* path, std::size_t outputs, std::uint32_t inputs) {
    return random_halves(seed, path, outputs * inputs, std::sqrt(3.0 / inputs));
  };
  in.x = random_halves(seed, "llm_layer/x", std::size_t{sizes.tokens()} * sizes.hidden, 2);
  in.norm = random_halves(seed, "llm_layer/norm", sizes.hidden, 2);
  in.second_norm = random_halves(seed, "llm_layer/second_norm", sizes.hidden, 2);
  in.last_norm = random_halves(seed, "llm_layer/last_norm", sizes.hidden, 2);
  in.qkv = weights("llm_layer/qkv", sizes.row(), sizes.hidden);
  in.out = weights("llm_layer/out", sizes.hidden, sizes.of.query_numbers());
  in.gate_up = weights("llm_layer/gate_up", std::size_t{2} * sizes.intermediate, sizes.hidden);
  in.down = weights("llm_layer/down", sizes.hidden, sizes.intermediate);
  if (sizes.decode) make_cache(in, seed);
  for (std::uint32_t token = 0; token < sizes.tokens(); ++token)
    in.positions.push_back(sizes.decode ? in.lengths[token] - 1 : token % sizes.sequence);
  in.turns = make_turns(sizes.sequence, sizes.of.head_dim, kTurnBase);
  hash.add(in.x, in.norm, in.second_norm, in.last_norm, in.qkv, in.out, in.gate_up, in.down,
           in.keys, in.values, in.pages, in.lengths, in.turns);
  return in;
}

}  // namespace raddle::workloads
