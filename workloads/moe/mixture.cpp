// Inputs of moe: logits whose choices are as unequal as wanted, and random weights.
#include "moe/mixture.h"

#include <cmath>

#include "common/draw.h"

namespace raddle::workloads {

namespace {

// The k largest of log p + such noise are k draws without putting back, with probabilities p
// (Gumbel; Yellott, 1977).
double gumbel(Rng& rng) {
  constexpr double kEdge = 0x1p-40;  // unit() may be 0
  return -std::log(-std::log(kEdge + (1 - 2 * kEdge) * rng.unit()));
}

std::vector<float> make_logits(const MixtureSizes& sizes, double skew, std::uint64_t seed) {
  Rng order(seed, "moe/ranks"), noise(seed, "moe/logits");
  const std::vector<std::uint32_t> ranks = permutation(sizes.experts, order);
  std::vector<double> preference(sizes.experts);
  for (std::uint32_t expert = 0; expert < sizes.experts; ++expert)
    preference[expert] = -skew * std::log(1.0 + ranks[expert]);
  std::vector<float> logits;
  logits.reserve(std::size_t{sizes.tokens} * sizes.experts);
  for (std::uint32_t token = 0; token < sizes.tokens; ++token)
    for (const double own : preference) logits.push_back(static_cast<float>(own + gumbel(noise)));
  return logits;
}

}  // namespace

MixtureInputs make_mixture(const MixtureSizes& sizes, double skew, std::uint64_t seed,
                           InputHash& hash) {
  // Uniform numbers of variance 1 / inputs.
  const auto weights = [&](std::string_view path, std::uint32_t outputs, std::uint32_t inputs) {
    const std::size_t count = std::size_t{sizes.experts} * outputs * inputs;
    return random_halves(seed, path, count, std::sqrt(3.0 / inputs));
  };
  MixtureInputs in;
  in.sizes = sizes;
  in.logits = make_logits(sizes, skew, seed);
  in.x = random_halves(seed, "moe/x", std::size_t{sizes.tokens} * sizes.hidden, 2);
  in.gate_up = weights("moe/gate_up", 2 * sizes.intermediate, sizes.hidden);
  in.down = weights("moe/down", sizes.hidden, sizes.intermediate);
  hash.add(in.logits, in.x, in.gate_up, in.down);
  return in;
}

}  // namespace raddle::workloads
