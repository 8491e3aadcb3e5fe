// Whose counts are whose. Components count by launch slot; a slot serves one launch after another,
// so what it has counted since its account was last closed belongs to the launch that has it, or
// had it last, and to that launch's tenant. Nothing is lost: launches add up to what the slots
// counted, and so do tenants.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "raddle/base/error.h"
#include "raddle/base/types.h"
#include "raddle/stats/counters.h"
#include "raddle/timing/gpu/gpu.h"

namespace raddle::timing {

class Accounts {
 public:
  explicit Accounts(unsigned slots) : slots_(slots) {}
  unsigned slots() const { return static_cast<unsigned>(slots_.size()); }
  /// From now on the slot counts for that launch. Precondition: close(slot) just before.
  void open(unsigned slot, std::uint32_t job, TenantId tenant) {
    RADDLE_ASSERT(slot < slots_.size() && index(tenant) < kMaxTenants);
    slots_[slot].job = job;
    slots_[slot].tenant = tenant;
  }
  /// `counted(slot)`: everything counted for the slot so far.
  template <class Counted>
  void close(unsigned slot, std::vector<KernelRun>& runs, Counted counted) {
    Slot& account = slots_[slot];
    if (account.job == kNoJob) return;
    RADDLE_ASSERT(account.job < runs.size());
    const stats::GpuCounters all = counted(slot);
    stats::GpuCounters own = all;
    stats::accumulate(own, account.settled, -1);
    stats::accumulate(runs[account.job].counters, own);
    stats::accumulate(tenants_[index(account.tenant)], own);
    account.settled = all;
  }
  /// Of the launch that has the slot or had it last; null: none has had it.
  KernelRun* run_of(unsigned slot, std::vector<KernelRun>& runs) const {
    const std::uint32_t job = slots_[slot].job;
    return job == kNoJob ? nullptr : &runs[job];
  }
  /// Of the accounts that were closed.
  const stats::GpuCounters& of(TenantId tenant) const {
    RADDLE_ASSERT(index(tenant) < kMaxTenants);
    return tenants_[index(tenant)];
  }
  stats::GpuCounters of_all_tenants() const {
    stats::GpuCounters sum;
    for (const stats::GpuCounters& one : tenants_) stats::accumulate(sum, one);
    return sum;
  }

 private:
  static constexpr std::uint32_t kNoJob = ~std::uint32_t{0};
  struct Slot {
    std::uint32_t job = kNoJob;  // that has the slot or had it last
    TenantId tenant{};
    stats::GpuCounters settled{};  // what was counted for those before it
  };
  std::vector<Slot> slots_;
  std::array<stats::GpuCounters, kMaxTenants> tenants_{};
};

}  // namespace raddle::timing
