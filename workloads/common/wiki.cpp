#include "common/wiki.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/draw.h"
#include "raddle/base/error.h"

namespace raddle::workloads {

namespace {

constexpr std::string_view kPrefix = "enwiki:";
constexpr double kMeanKey = 35, kKeyShape = 0.3;

// Lower-case letters and digits, least significant first.
std::string base36(std::uint32_t number) {
  std::string text;
  do {
    text += "0123456789abcdefghijklmnopqrstuvwxyz"[number % 36];
    number /= 36;
  } while (number != 0);
  return text;
}

// The number makes it distinct from every other.
std::string make_key(const WikiSpec& spec, std::uint32_t number, Rng& rng) {
  std::uint32_t length;
  do length = static_cast<std::uint32_t>(std::lround(log_normal(kMeanKey, kKeyShape, rng)));
  while (length < spec.min_key || length > spec.max_key);
  std::string tail = ":" + base36(number);
  std::string key(kPrefix);
  while (key.size() + tail.size() < length) key += "abcdefghijklmnopqrstuvwxyz_"[rng.below(27)];
  return key + tail;
}

// Draws ranks 0..n-1 in proportion to (rank + 1)^-exponent.
class Zipf {
 public:
  Zipf(std::uint32_t n, double exponent) : below_(n) {
    double sum = 0;
    for (std::uint32_t rank = 0; rank < n; ++rank)
      below_[rank] = sum += std::pow(rank + 1.0, -exponent);
  }
  std::uint32_t draw(Rng& rng) const {
    auto at = std::upper_bound(below_.begin(), below_.end(), rng.unit() * below_.back());
    return static_cast<std::uint32_t>(std::min(at, below_.end() - 1) - below_.begin());
  }

 private:
  std::vector<double> below_;  // sum of the weights up to and with each rank
};

}  // namespace

WikiTrace make_wiki(const WikiSpec& spec, Rng& rng) {
  RADDLE_ASSERT(spec.keys >= 1 && spec.keys <= 1u << 24);
  RADDLE_ASSERT(spec.min_key >= 20 && spec.min_key <= spec.max_key);
  WikiTrace trace;
  for (std::uint32_t k = 0; k < spec.keys; ++k) trace.keys.push_back(make_key(spec, k, rng));
  // Numbers of keys are given in order, so popularity must be dealt out at random.
  std::vector<std::uint32_t> by_rank(spec.keys);
  for (std::uint32_t k = 0; k < spec.keys; ++k) by_rank[k] = k;
  for (std::uint32_t k = spec.keys; k > 1; --k) std::swap(by_rank[k - 1], by_rank[rng.below(k)]);

  Zipf zipf(spec.keys, spec.zipf);
  for (std::uint32_t r = 0; r < spec.requests; ++r) {
    std::uint32_t before = std::min(r, WikiSpec::kBurst);
    if (before != 0 && rng.unit() < spec.burst_share) {
      trace.requests.push_back(trace.requests[r - 1 - rng.below(before)]);
    } else if (rng.unit() < spec.absent_share) {
      auto number = static_cast<std::uint32_t>(spec.keys + trace.absent.size());
      trace.requests.push_back(number);
      trace.absent.push_back(make_key(spec, number, rng));
    } else {
      trace.requests.push_back(by_rank[zipf.draw(rng)]);
    }
  }
  return trace;
}

}  // namespace raddle::workloads
