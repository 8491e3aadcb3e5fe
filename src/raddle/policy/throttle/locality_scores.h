// Lost-locality scores of cache-conscious warp scheduling: who may issue loads. Rogers, O'Connor,
// Aamodt, MICRO 2012, sections 3.3.4 and 3.3.5, figure 6, equation 1; docs/mechanisms/ccws.md,
// rules 4 to 8.
//
// Each warp has a score: `base`, or what its last hit in the victim tags gave it, less one for
// every cycle since, down to `base`. Stacked from the largest to the smallest (equals by slot),
// scores below the cutoff of base x warps may load: a warp may if the scores before it sum up to
// less than the cutoff (A-C3), so the first always may.
//
// Time is lazy: a score is kept as the cycle at which it would reach 0. All scores above base fall
// together, so their order is fixed, and the next cycle at which anyone else may load can be
// computed.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "raddle/base/mask.h"
#include "raddle/base/types.h"

namespace raddle::policy {

/// Whose hits and instructions equation 1 sums up (A-C2).
enum class ScoreTotals : std::uint8_t { Resident, Kernel, Run };

struct ScoreRules {
  std::uint64_t base = 100;                   ///< points
  std::uint64_t k = 8;                        ///< K_THROTTLE
  std::uint64_t maximum = ~std::uint64_t{0};  ///< points; scores saturate here (A-C6)
  ScoreTotals totals = ScoreTotals::Resident;
};

class LocalityScores {
 public:
  /// Warp-cycles by score: at base, then up to 2, 4, ... 32 times base, then above.
  static constexpr unsigned kBuckets = 7;
  struct Allowed {
    std::uint64_t warps;  ///< that may load, as bits
    Cycle until;          ///< first cycle in which it may be others, if nothing happens
  };

  explicit LocalityScores(const ScoreRules& rules) : rules_(rules) { raised_.reserve(64); }

  // --- what happens; cycles never go back ------------------------------------------------------
  /// Precondition: the slot has no warp.
  void start(Cycle now, unsigned w) {
    running_ |= bit(w);
    zero_at_[w] = now + rules_.base;
    since_[w] = now;
    hits_[w] = issued_[w] = 0;
  }
  void end(Cycle now, unsigned w) {
    settle(now, w);
    running_ &= ~bit(w);
    std::erase(raised_, static_cast<std::uint8_t>(w));
    if (rules_.totals == ScoreTotals::Resident) {
      total_hits_ -= hits_[w];
      total_issued_ -= issued_[w];
    }
  }
  /// A warp has issued an instruction.
  void issue(unsigned w) {
    ++issued_[w];
    ++total_issued_;
  }
  /// A warp has missed a line that it has lost. Afterwards it has the score of equation 1, whatever
  /// it had; nothing if it has ended.
  void hit(Cycle now, unsigned w) {
    if ((running_ & bit(w)) == 0) return;
    ++hits_[w];
    ++total_hits_;
    settle(now, w);
    std::erase(raised_, static_cast<std::uint8_t>(w));
    const std::uint64_t points = std::max(rules_.base, detected());
    zero_at_[w] = now + points;
    if (points == rules_.base) return;
    auto before = [this, w](std::uint8_t other) {
      return zero_at_[other] > zero_at_[w] || (zero_at_[other] == zero_at_[w] && other < w);
    };
    raised_.insert(std::ranges::find_if_not(raised_, before), static_cast<std::uint8_t>(w));
  }
  void kernel_start() {
    if (rules_.totals == ScoreTotals::Kernel) total_hits_ = total_issued_ = 0;
  }

  // --- what follows from it ----------------------------------------------------------------------
  std::uint64_t cutoff() const {
    return rules_.base * static_cast<unsigned>(std::popcount(running_));
  }
  /// Equation 1, in whole points: the score that a hit gives now.
  std::uint64_t detected() const {
    const std::uint64_t issued = std::max<std::uint64_t>(total_issued_, 1);
    return std::min(total_hits_ * rules_.k * cutoff() / issued, rules_.maximum);
  }
  /// Of a running warp.
  std::uint64_t score(Cycle now, unsigned w) const {
    return std::max(zero_at_[w], now + rules_.base) - now;
  }
  Allowed allowed(Cycle now) {
    while (!raised_.empty() && zero_at_[raised_.back()] <= now + rules_.base) raised_.pop_back();
    if (raised_.empty()) return {running_, kNever};
    const std::uint64_t cut = cutoff();
    std::uint64_t may = 0, at_base = running_;
    std::uint64_t below = 0;    // scores of those that may
    std::uint64_t falling = 0;  // how many of these are above base
    for (const std::uint8_t w : raised_) {
      at_base &= ~bit(w);
      if (below >= cut) continue;
      may |= bit(w);
      below += zero_at_[w] - now;
      ++falling;
    }
    for (; below < cut && at_base != 0; at_base &= at_base - 1) {
      may |= at_base & -at_base;
      below += rules_.base;
    }
    if (may == running_) return {running_, kNever};
    // The next one may when these scores have fallen below the cutoff. The order changes when the
    // smallest of the raised scores is at base.
    const Cycle room = now + (below - cut) / falling + 1;
    return {may, std::min(room, zero_at_[raised_.back()] - rules_.base)};
  }
  /// Warp-cycles of warps that have ended, and of others until their last hit.
  const std::array<std::uint64_t, kBuckets>& histogram() const { return histogram_; }

 private:
  static std::uint64_t bit(unsigned w) { return std::uint64_t{1} << w; }

  /// Adds to the histogram what score the warp has had since it was last looked at.
  void settle(Cycle now, unsigned w) {
    const std::uint64_t cycles = now - since_[w];
    const std::uint64_t points = score(since_[w], w);
    std::uint64_t counted = 0;
    for (unsigned b = kBuckets - 1; b > 0; --b) {
      const std::uint64_t above = rules_.base << (b - 1);  // scores of this bucket are larger
      const std::uint64_t until = points > above ? std::min(cycles, points - above) : 0;
      histogram_[b] += until - counted;
      counted = until;
    }
    histogram_[0] += cycles - counted;
    since_[w] = now;
  }

  ScoreRules rules_;
  std::uint64_t running_ = 0;
  std::uint64_t total_hits_ = 0, total_issued_ = 0;
  std::vector<std::uint8_t> raised_;  // may have scores above base: by score, then slot
  std::array<Cycle, 64> zero_at_{};   // score at cycle t: zero_at - t, at least base
  std::array<Cycle, 64> since_{};     // in the histogram until this cycle
  std::array<std::uint64_t, 64> hits_{}, issued_{};  // of the warp in the slot
  std::array<std::uint64_t, kBuckets> histogram_{};
};

}  // namespace raddle::policy
