// Tells policies that see only their own part of the machine what each tenant has done on all of it
// (DramPolicy::learn): every so many cycles, all instances between the same two windows, so that
// it makes no difference how many threads there are. As a component it only makes the clock stop at
// the window in which a report is due. Left out: what it would take to gather and send the counts.
#pragma once
#include <array>

#include "raddle/base/types.h"
#include "raddle/policy/scheme/policy.h"
#include "raddle/stats/counters.h"

namespace raddle::timing {

class TenantReports {
 public:
  TenantReports(Cycle period, Cycle window);

  // --- component ---------------------------------------------------------------------------------
  void open_window() {}
  Cycle next_arrival(Cycle) const { return due_; }
  Cycle tick(Cycle) const { return due_; }

  // --- between windows ---------------------------------------------------------------------------
  bool due(Cycle begin) const { return begin >= due_; }
  /// Of all tenants, since the last report. `totals`: counted before `begin`, since the start of
  /// the run. Precondition: due(begin).
  std::array<policy::TenantCounts, kMaxTenants> take(
      Cycle begin, const std::array<stats::GpuCounters, kMaxTenants>& totals);

 private:
  void wait_from(Cycle begin) { due_ = (begin + period_ + window_ - 1) / window_ * window_; }

  Cycle period_, window_, due_ = 0;
  std::array<stats::GpuCounters, kMaxTenants> before_{};
};

}  // namespace raddle::timing
