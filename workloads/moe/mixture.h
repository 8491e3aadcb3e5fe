// A layer of experts: its sizes, routing, weights and inputs, and its reference. See README.md.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "common/half.h"
#include "common/input_hash.h"

namespace raddle::workloads {

struct MixtureSizes {
  std::uint32_t tokens = 0, hidden = 0, intermediate = 0, experts = 0, top_k = 2;

  /// Of experts by tokens.
  std::uint32_t choices() const { return tokens * top_k; }
};

struct MixtureInputs {
  MixtureSizes sizes;
  std::vector<float> logits;  ///< [token][expert]
  std::vector<Half> x;        ///< [token][hidden]
  std::vector<Half> gate_up;  ///< [expert][2 intermediate][hidden], rows as gate_row() says
  std::vector<Half> down;     ///< [expert][hidden][intermediate]
};

/// Where the gate of an output lies among an expert's rows of gate_up; what it multiplies lies
/// kUpBehind rows behind.
constexpr std::uint32_t kUpBehind = 8;
constexpr std::uint32_t gate_row(std::uint32_t output) {
  return output / kUpBehind * (2 * kUpBehind) + output % kUpBehind;
}

/// An expert's share of first choices is proportional to 1 / rank^`skew` (which expert has which
/// rank is drawn); later choices are as if those before had not been there. Weights keep the sizes
/// of numbers near 1.
MixtureInputs make_mixture(const MixtureSizes& sizes, double skew, std::uint64_t seed,
                           InputHash& hash);

/// What the device made of the routing: the experts of each token with their weights, and the list
/// of tokens sorted by expert.
struct Routing {
  std::vector<std::uint32_t> chosen;          ///< [token][top_k]
  std::vector<float> weights;                 ///< [token][top_k]
  std::vector<std::uint32_t> sorted, places;  ///< [place]: a token; [token][top_k]: a place
};

/// "" when the routing is that of the logits, else what differs first.
std::string routing_difference(const MixtureInputs& in, const Routing& got);
/// "" when `out`, [token][hidden], agrees for each of `tokens` with sums in double precision of
/// the experts that the logits choose, else what differs first.
std::string output_difference(const MixtureInputs& in, const std::vector<std::uint32_t>& tokens,
                              const std::vector<Half>& out);

}  // namespace raddle::workloads
