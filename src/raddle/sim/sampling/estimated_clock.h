// The time of estimated launches as events see it.
#pragma once
#include <algorithm>

#include "raddle/base/types.h"

namespace raddle::sim {

/// What was estimated may become more or less when more is known. Programs that time each launch
/// must not see one of no time for it: a correction is spread over the launches behind it, a tenth
/// of each at most.
class EstimatedClock {
 public:
  /// A launch has passed that is estimated at `own` cycles, and all so far at `total`.
  void pass(double own, double total) {
    own = std::max(own, 0.0);
    now_ += std::clamp(total - now_, (1 - kSpread) * own, (1 + kSpread) * own);
  }
  Cycle now() const { return static_cast<Cycle>(now_ + 0.5); }

 private:
  static constexpr double kSpread = 0.1;
  double now_ = 0;
};

}  // namespace raddle::sim
