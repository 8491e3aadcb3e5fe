// The search for the priority of latency-sensitive tenants in CCBP (Lin et al., TACO 2019, section
// 5.5): down from where it stands in steps, one window each, until the goal falls. Free of
// simulator types.
#pragma once
#include <cstdint>

#include "raddle/base/error.h"

namespace raddle::policy {

class HillClimb {
 public:
  HillClimb(double first, double step, double floor) : first_(first), step_(step), floor_(floor) {}
  /// The value to try; when done, the best.
  double value() const { return at(done_ ? best_ : trying_); }
  bool done() const { return done_; }
  double best() const { return at(best_); }
  double best_goal() const { return best_goal_; }
  /// What came of value().
  void measured(double goal) {
    RADDLE_ASSERT(!done_);
    if (known_ && goal < best_goal_) {
      done_ = true;
      return;
    }
    if (!known_ || goal > best_goal_) {
      best_ = trying_;
      best_goal_ = goal;
    }
    known_ = true;
    pass();
  }
  /// Trying value() would show nothing new.
  void pass() {
    RADDLE_ASSERT(!done_);
    constexpr double kRounding = 1e-9;
    if (at(trying_ + 1) < floor_ - kRounding) done_ = true;
    else ++trying_;
  }

 private:
  double at(std::uint32_t steps) const { return first_ - step_ * steps; }
  double first_, step_, floor_;
  std::uint32_t trying_ = 0, best_ = 0;
  double best_goal_ = 0;
  bool known_ = false, done_ = false;
};

}  // namespace raddle::policy
