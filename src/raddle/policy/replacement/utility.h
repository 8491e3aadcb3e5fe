// What utility-based cache partitioning counts and computes: Qureshi and Patt, "Utility-Based Cache
// Partitioning: A Low-Overhead, High-Performance, Runtime Mechanism to Partition Shared Caches",
// MICRO 2006, sections 3.2 (utility monitors with sampled sets) and 3.4 (lookahead, algorithm 2).
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "raddle/base/error.h"

namespace raddle::policy {

/// What a tenant's loads would hit if the cache was its own: shadow tags in order of use for some
/// of the sets, and for each place in that order how often it was hit. Hits of the first n places
/// are what n ways would hit.
class UtilityMonitor {
 public:
  UtilityMonitor(unsigned sets, unsigned ways)
      : ways_(ways), tags_(std::size_t{sets} * ways, kEmpty), hits_(ways) {}
  void access(unsigned set, std::uint32_t line) {
    const auto begin = tags_.begin() + std::ptrdiff_t{set} * ways_, end = begin + ways_;
    auto at = std::find(begin, end, line);
    if (at != end) ++hits_[static_cast<std::size_t>(at - begin)];
    else --at;  // the least recently used goes
    std::rotate(begin, at, at + 1);
    *begin = line;
    ++accesses_;
  }
  void flush() { std::ranges::fill(tags_, kEmpty); }
  void halve() {
    for (std::uint64_t& hits : hits_) hits /= 2;
    accesses_ /= 2;
  }
  std::uint64_t accesses() const { return accesses_; }
  std::span<const std::uint64_t> hits() const { return hits_; }

 private:
  static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};
  unsigned ways_;
  std::uint64_t accesses_ = 0;
  std::vector<std::uint64_t> tags_;  // by set, the most recently used first
  std::vector<std::uint64_t> hits_;  // by place
};

/// Somebody among whom ways are divided: hits that each way adds, the first way's first.
struct WayUser {
  std::span<const std::uint64_t> hits;
  unsigned ways = 0;  ///< the answer
};

/// The most hits for each way that up to `most` more ways can add, and how many ways that takes.
struct MarginalUtility {
  std::uint64_t hits = 0;
  unsigned ways = 1;
};
inline MarginalUtility best_marginal_utility(const WayUser& user, unsigned maximum) {
  MarginalUtility best;
  std::uint64_t sum = 0;
  for (unsigned n = 1; n <= maximum; ++n) {
    sum += user.hits[user.ways + n - 1];
    if (sum * best.ways > best.hits * n) best = {sum, n};
  }
  return best;
}

/// The lookahead algorithm: one way each, then again and again the ways of him who gains the most
/// hits for each. Of equals he who has fewer ways, then the first: the paper does not say.
inline void divide_ways(std::span<WayUser> users, unsigned ways) {
  RADDLE_ASSERT(!users.empty() && users.size() <= ways);
  for (WayUser& user : users) user.ways = 1;
  for (unsigned left = ways - static_cast<unsigned>(users.size()); left != 0;) {
    WayUser* winner = nullptr;
    MarginalUtility gain;
    for (WayUser& user : users) {
      const MarginalUtility own = best_marginal_utility(user, left);
      const std::uint64_t a = own.hits * gain.ways, b = gain.hits * own.ways;
      if (winner != nullptr && (a < b || (a == b && user.ways >= winner->ways))) continue;
      winner = &user;
      gain = own;
    }
    winner->ways += gain.ways;
    left -= gain.ways;
  }
}

}  // namespace raddle::policy
