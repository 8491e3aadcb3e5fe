// Caps of resident thread blocks for each tenant and SM: how the dispatcher obeys the knobs of a
// scheme (policy/scheme). It counts blocks from their dispatch until their end is heard of. Without
// a scheme there is no cap.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "raddle/base/error.h"
#include "raddle/base/types.h"
#include "raddle/policy/scheme/knobs.h"

namespace raddle::timing {

class BlockCaps {
 public:
  explicit BlockCaps(unsigned sms) {
    for (Tenant& t : tenants_) {
      t.cap.assign(sms, policy::kNoLimit);
      t.resident.assign(sms, 0);
    }
  }
  bool allows(TenantId tenant, unsigned sm) const {
    const Tenant& t = tenants_[index(tenant)];
    return t.resident[sm] < t.cap[sm];
  }
  void started(TenantId tenant, unsigned sm) {
    RADDLE_ASSERT(index(tenant) < kMaxTenants && allows(tenant, sm));
    ++tenants_[index(tenant)].resident[sm];
  }
  void ended(TenantId tenant, unsigned sm) {
    std::uint32_t& resident = tenants_[index(tenant)].resident[sm];
    RADDLE_ASSERT(resident != 0);
    --resident;
  }
  /// Blocks above a new cap stay.
  void obey(const policy::Knobs& knobs) {
    for (unsigned i = 0; i < kMaxTenants; ++i) {
      Tenant& t = tenants_[i];
      RADDLE_ASSERT(knobs.tenant[i].block_cap.empty() ||
                    knobs.tenant[i].block_cap.size() == t.cap.size());
      for (unsigned sm = 0; sm < t.cap.size(); ++sm) t.cap[sm] = knobs.tenant[i].cap(sm);
    }
  }
  /// By SM.
  std::span<const std::uint32_t> resident(TenantId tenant) const {
    return tenants_[index(tenant)].resident;
  }

 private:
  struct Tenant {
    std::vector<std::uint32_t> cap, resident;  // by SM
  };
  std::array<Tenant, kMaxTenants> tenants_;
};

}  // namespace raddle::timing
