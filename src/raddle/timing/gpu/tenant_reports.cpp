#include "raddle/timing/gpu/tenant_reports.h"

#include "raddle/base/error.h"
#include "raddle/timing/gpu/scheme_unit.h"

namespace raddle::timing {

TenantReports::TenantReports(Cycle period, Cycle window) : period_(period), window_(window) {
  RADDLE_ASSERT(period_ != 0 && window_ != 0);
  wait_from(0);
}

std::array<policy::TenantCounts, kMaxTenants> TenantReports::take(
    Cycle begin, const std::array<stats::GpuCounters, kMaxTenants>& totals) {
  RADDLE_ASSERT(due(begin));
  std::array<policy::TenantCounts, kMaxTenants> out;
  for (unsigned t = 0; t < kMaxTenants; ++t) {
    stats::GpuCounters since = totals[t];
    stats::accumulate(since, before_[t], -1);
    out[t] = counts_of(since);
  }
  before_ = totals;
  wait_from(begin);
  return out;
}

}  // namespace raddle::timing
