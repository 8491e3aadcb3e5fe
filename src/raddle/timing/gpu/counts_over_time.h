// What has been counted up to each of some cycles, for reports. Taken between windows from counters
// that are there anyway, so it changes nothing; of a long run, every second is dropped whenever
// there are too many.
#pragma once
#include <cstddef>
#include <utility>
#include <vector>

#include "raddle/base/types.h"

namespace raddle::timing {

/// Counts: a value with `at`, the cycle before which that has happened.
template <class Counts>
class CountsOverTime {
 public:
  static constexpr std::size_t kMaximum = 512;
  static_assert(kMaximum % 2 == 0);  // half of them end where all of them end

  /// Intervals are whole windows.
  CountsOverTime(Cycle interval, Cycle window)
      : interval_((interval + window - 1) / window * window), next_(interval_) {}
  /// As Sampler::advance. count(cycle): what has happened before that cycle. `all`: always the
  /// same, in order of their cycles.
  template <class Count>
  void advance(std::vector<Counts>& all, Cycle now, Count count) {
    while (next_ <= now) {
      update(all, count(next_));
      open_ = false;
      if (all.size() == kMaximum) halve(all);
      next_ += interval_;
    }
  }
  /// Brings the interval under way up to date.
  void update(std::vector<Counts>& all, Counts counts) {
    if (open_) all.pop_back();
    open_ = all.empty() || counts.at > all.back().at;
    if (open_) all.push_back(std::move(counts));
  }

 private:
  void halve(std::vector<Counts>& all) {
    for (std::size_t i = 0; i < kMaximum / 2; ++i) all[i] = std::move(all[2 * i + 1]);
    all.resize(kMaximum / 2);
    interval_ *= 2;
  }
  Cycle interval_, next_;
  bool open_ = false;  // the last counts are not at the end of their interval
};

}  // namespace raddle::timing
