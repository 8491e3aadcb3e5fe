// The reference of moe: the routing exactly, products in double precision with a bound of what the
// device's roundings may change.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "common/compare.h"
#include "moe/mixture.h"

namespace raddle::workloads {

namespace {

// Of ex2.approx and div.approx (2 ulp each), the sum and the product beside them.
constexpr double kApproximate = 8;

// The top_k experts of a token and their weights, the largest logit first, of equal ones the lower
// expert.
struct Choice {
  std::uint32_t expert = 0;
  double weight = 0;
};
std::vector<Choice> choices_of(const MixtureInputs& in, std::uint32_t token) {
  const MixtureSizes& of = in.sizes;
  const float* const logits = &in.logits[std::size_t{token} * of.experts];
  std::vector<std::uint32_t> order(of.experts);
  std::iota(order.begin(), order.end(), 0u);
  std::partial_sort(order.begin(), order.begin() + of.top_k, order.end(),
                    [&](std::uint32_t one, std::uint32_t other) {
                      if (logits[one] != logits[other]) return logits[one] > logits[other];
                      return one < other;
                    });
  std::vector<Choice> out;
  double sum = 0;
  for (std::uint32_t i = 0; i < of.top_k; ++i) {
    out.push_back({order[i], std::exp(double{logits[order[i]]} - logits[order[0]])});
    sum += out.back().weight;
  }
  for (Choice& one : out) one.weight /= sum;
  return out;
}

// Exponents reach the difference of the largest and the least logit, and each of them errs by its
// rounding; then sums over experts, two divisions and exponentials.
double weight_error(const MixtureInputs& in) {
  const auto [minimum, largest] = std::minmax_element(in.logits.begin(), in.logits.end());
  const double difference = double{*largest} - *minimum;
  return 2 * chained_error(2 * difference + in.sizes.top_k + 3 * kApproximate);
}

struct Value {
  double value = 0, error = 0;
};

// Of numbers with errors with weights that have none, summed in single precision. A tensor unit
// may cut where others round: twice a rounding.
Value dot(const std::vector<Value>& inputs, const float* weights) {
  double sum = 0, magnitude = 0, error = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const double product = inputs[i].value * weights[i];
    sum += product;
    magnitude += std::abs(product);
    error += inputs[i].error * std::abs(double{weights[i]});
  }
  const double rounding = chained_error(2 * static_cast<double>(inputs.size()));
  return {sum, error + rounding * (magnitude + error)};
}

// Rounded to half precision.
Value stored(Value of) { return {of.value, half_tolerance(of.value, of.error)}; }

// silu(gate) * up. The slope of silu is at most 1.1.
Value gated(Value gate, Value up) {
  constexpr double kSlope = 1.1;
  const double silu = gate.value / (1 + std::exp(-gate.value)), value = silu * up.value;
  const double carried =
      kSlope * gate.error * (std::abs(up.value) + up.error) + std::abs(silu) * up.error;
  const double rounding = chained_error(kApproximate + 2 * std::abs(gate.value));
  return {value, carried + rounding * (std::abs(value) + carried)};
}

// An expert with its weights as floats.
class Expert {
 public:
  Expert(const MixtureInputs& in, std::uint32_t number) : of_(in.sizes) {
    const std::size_t numbers = std::size_t{of_.hidden} * of_.intermediate;
    gate_up_ = floats(in.gate_up, 2 * numbers, number);
    down_ = floats(in.down, numbers, number);
  }
  /// What it makes of a token, as it is stored.
  std::vector<Value> of(const std::vector<Value>& x) const {
    std::vector<Value> activated, out;
    for (std::uint32_t i = 0; i < of_.intermediate; ++i) {
      const float* const gate = &gate_up_[std::size_t{gate_row(i)} * of_.hidden];
      const float* const up = gate + std::size_t{kUpBehind} * of_.hidden;
      activated.push_back(stored(gated(dot(x, gate), dot(x, up))));
    }
    for (std::uint32_t i = 0; i < of_.hidden; ++i)
      out.push_back(stored(dot(activated, &down_[std::size_t{i} * of_.intermediate])));
    return out;
  }

 private:
  static std::vector<float> floats(const std::vector<Half>& all, std::size_t count,
                                   std::size_t number) {
    std::vector<float> out(count);
    std::transform(&all[number * count], &all[number * count] + count, out.begin(), to_float);
    return out;
  }

  const MixtureSizes& of_;
  std::vector<float> gate_up_, down_;
};

// For each of `tokens` what its experts make of it, added up.
std::vector<std::vector<Value>> outputs(const MixtureInputs& in,
                                        const std::vector<std::uint32_t>& tokens) {
  const MixtureSizes& of = in.sizes;
  std::vector<std::vector<Value>> out(tokens.size(), std::vector<Value>(of.hidden));
  std::map<std::uint32_t, std::vector<std::pair<std::size_t, double>>> by_expert;
  for (std::size_t i = 0; i < tokens.size(); ++i)
    for (const Choice& one : choices_of(in, tokens[i]))
      by_expert[one.expert].emplace_back(i, one.weight);
  // A sum of top_k products, each no larger than the sum of all magnitudes.
  const double error = weight_error(in) + chained_error(2.0 * of.top_k);
  std::vector<Value> x(of.hidden);
  for (const auto& [number, its] : by_expert) {
    const Expert expert(in, number);
    for (const auto& [i, weight] : its) {
      const Half* const token = &in.x[std::size_t{tokens[i]} * of.hidden];
      std::transform(token, token + of.hidden, x.begin(), [](Half half) {
        return Value{to_float(half), 0};
      });
      const std::vector<Value> one = expert.of(x);
      for (std::size_t k = 0; k < one.size(); ++k) {
        out[i][k].value += weight * one[k].value;
        out[i][k].error +=
            weight * (one[k].error + error * (std::abs(one[k].value) + one[k].error));
      }
    }
  }
  return out;
}

}  // namespace

std::string routing_difference(const MixtureInputs& in, const Routing& got) {
  const MixtureSizes& of = in.sizes;
  const std::size_t choices = of.choices();
  std::vector<std::uint32_t> chosen, places(choices), sorted;
  std::vector<double> weights;
  std::vector<std::vector<std::uint32_t>> by_expert(of.experts);
  for (std::uint32_t token = 0; token < of.tokens; ++token)
    for (const Choice& one : choices_of(in, token)) {
      by_expert[one.expert].push_back(static_cast<std::uint32_t>(chosen.size()));
      chosen.push_back(one.expert);
      weights.push_back(one.weight);
    }
  for (const auto& its : by_expert)
    for (const std::uint32_t choice : its) {
      places[choice] = static_cast<std::uint32_t>(sorted.size());
      sorted.push_back(choice / of.top_k);
    }
  if (auto wrong = first_difference("expert", chosen, got.chosen); !wrong.empty()) return wrong;
  const double error = weight_error(in);
  if (auto wrong = first_beyond("weight", weights, got.weights,
                                [&](std::size_t i) { return error * weights[i] + 0x1p-126; });
      !wrong.empty())
    return wrong;
  if (auto wrong = first_difference("sorted", sorted, got.sorted); !wrong.empty()) return wrong;
  return first_difference("place", places, got.places);
}

std::string output_difference(const MixtureInputs& in, const std::vector<std::uint32_t>& tokens,
                              const std::vector<Half>& out) {
  const std::size_t hidden = in.sizes.hidden;
  if (out.size() != in.sizes.tokens * hidden)
    return length_text("out", in.sizes.tokens * hidden, out.size());
  const auto expected = outputs(in, tokens);
  for (std::size_t i = 0; i < tokens.size(); ++i)
    for (std::size_t column = 0; column < hidden; ++column) {
      const std::size_t at = tokens[i] * hidden + column;
      const auto [value, allowed] = stored(expected[i][column]);
      const double got = to_float(out[at]);
      if (!(std::abs(got - value) <= allowed))
        return difference_text("out", at, value, got, allowed);
    }
  return "";
}

}  // namespace raddle::workloads
