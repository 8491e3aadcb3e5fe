// Looks between windows whether a run should go on: it may take max_cycles, and something must move
// within watchdog_cycles. It also reports the cycle to who wants to show how far the run is.
#pragma once
#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "raddle/base/types.h"

namespace raddle::timing {

class Watchdog {
 public:
  /// `report`: may be empty.
  Watchdog(Cycle max_cycles, Cycle patience, std::function<void(Cycle)> report)
      : max_cycles_(max_cycles),
        patience_(patience),
        report_(std::move(report)),
        next_report_(report_ ? 0 : kNever) {}
  /// The clock has been started anew.
  void restart() { next_ = 0; }
  /// Why a launch that has ended in that cycle ends the run; empty: it does not. Windows are looked
  /// at before they begin, so that it may have ended in one which goes beyond what is allowed.
  std::string ended(Cycle at) const {
    if (at <= max_cycles_) return {};
    return "a launch has ended in cycle " + std::to_string(at) + ", after the " +
           std::to_string(max_cycles_) + " cycles allowed";
  }
  /// Is there anything to do before the window that begins at `begin`?
  bool due(Cycle begin) const {
    return begin >= next_ || begin >= next_report_ || begin > max_cycles_;
  }
  /// Why the run must end, as a sentence; empty: it may go on. names(): of the kernels under way.
  /// last_progress(): when something moved last; asked only when work is left.
  template <class Names, class LastProgress>
  std::string look(Cycle begin, bool work_left, Names names, LastProgress last_progress) {
    if (begin >= next_report_) {
      constexpr Cycle kBetween = 5'000;  // less than a second, however large the machine
      report_(begin);
      next_report_ = begin + kBetween;
    }
    if (begin > max_cycles_) {
      const std::string under_way = names();
      return (under_way.empty() ? "a launch on its way" : "kernel " + under_way) +
             " has not ended after the " + std::to_string(max_cycles_) + " cycles allowed";
    }
    if (begin < next_ || !work_left) return {};
    const Cycle progress = last_progress();
    if (begin - progress >= patience_)
      return "nothing has moved for " + std::to_string(begin - progress) + " cycles";
    next_ = progress + std::min(patience_, kNever - progress);
    return {};
  }

 private:
  Cycle max_cycles_, patience_;
  std::function<void(Cycle)> report_;
  Cycle next_ = 0;  // when nothing can have moved for too long at the earliest
  Cycle next_report_;
};

}  // namespace raddle::timing
