// How many warp instructions of each tenant an SM issues before the others have had their share:
// how its issue obeys the knob issue_quota of a scheme (policy/scheme/knobs.h). A tenant that has
// spent its quota waits until an epoch begins, which gives all tenants theirs anew. The warp
// scheduling of SMK (Wang et al., HPCA 2016) as papers that compare with it describe it.
//
// Values only, changed by what the SM tells: no answer depends on how often it is asked.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

#include "raddle/base/error.h"
#include "raddle/base/types.h"
#include "raddle/policy/scheme/knobs.h"
#include "raddle/policy/warp/policy.h"

namespace raddle::timing {

class IssueQuota {
 public:
  using Mask = policy::WarpMask;
  static bool limits(const policy::Knobs& knobs) {
    return std::ranges::any_of(
        knobs.tenant, [](const auto& tenant) { return tenant.issue_quota != policy::kNoLimit; });
  }
  /// Holds from cycle `at` on; with other quotas, an epoch begins.
  void obey(Cycle at, const policy::Knobs& knobs) {
    std::array<std::uint32_t, kMaxTenants> quota{};
    for (unsigned t = 0; t < kMaxTenants; ++t) quota[t] = knobs.tenant[t].issue_quota;
    by_all_ = knobs.issue_by_all;
    if (quota == quota_ && knobs.issue_epoch == epoch_) return;
    quota_ = quota;
    epoch_ = knobs.issue_epoch;
    begin(at);
  }
  /// Warps that may not issue, their tenant having spent its quota.
  Mask held(const policy::TenantMasks& of_tenant) const {
    Mask out = 0;
    for (unsigned t = 0; t < kMaxTenants; ++t)
      if (left_[t] == 0) out |= of_tenant[t];
    return out;
  }
  /// True: a new epoch has begun. `running`: warps that have not ended; without any, none begins.
  bool renew(Cycle now, Mask ready, Mask running, const policy::TenantMasks& of_tenant) {
    const Mask spent = held(of_tenant), wanting = by_all_ ? running : ready;
    const bool over = (wanting & spent) != 0 && (wanting & ~spent) == 0;
    if (running == 0 || (!over && now < deadline())) return false;
    begin(now);
    return true;
  }
  /// When the next epoch begins at the latest.
  Cycle deadline() const { return since_ + epoch_; }
  /// A warp of the tenant issues. True: the quota is spent with that.
  bool issued(TenantId tenant) {
    std::uint32_t& left = left_[index(tenant)];
    if (left == policy::kNoLimit) return false;
    RADDLE_ASSERT(left != 0);
    return --left == 0;
  }

 private:
  void begin(Cycle at) {
    left_ = quota_;
    since_ = at;
  }
  std::array<std::uint32_t, kMaxTenants> quota_{}, left_{};
  std::uint32_t epoch_ = 0;
  bool by_all_ = false;
  Cycle since_ = 0;
};

}  // namespace raddle::timing
