// Calls the scheme (policy/scheme) in its own period and whenever tenants come or go, with what
// each tenant has done since the last time, and keeps the knobs that it sets. The GPU asks it
// between windows and hands the knobs on. As a component it only makes the clock stop at the window
// in which the scheme wants to look.
#pragma once
#include <array>
#include <memory>
#include <span>
#include <string>

#include "raddle/base/types.h"
#include "raddle/policy/registry.h"
#include "raddle/policy/scheme/policy.h"
#include "raddle/stats/counters.h"
#include "raddle/timing/spec/machine.h"

namespace raddle::timing {

/// What schemes and policies see of what was counted for a tenant.
policy::TenantCounts counts_of(const stats::GpuCounters& counters);

/// What the machine can move at most. A network's ports take or give a flit a cycle; the slower
/// side limits it.
policy::BandwidthFacts bandwidth_of(const MachineSpec& machine);

class SchemeUnit {
 public:
  SchemeUnit(const MachineSpec& machine, const policy::Choice<policy::SchemePolicy>& scheme,
             Cycle window, std::uint64_t seed,
             const std::array<double, kMaxTenants>& ipc_alone = {});
  /// false: there is nothing to ask.
  bool shares() const { return scheme_->shares(); }
  policy::SchemePolicy& policy() { return *scheme_; }

  // --- component ---------------------------------------------------------------------------------
  void open_window() {}
  Cycle next_arrival(Cycle) const { return due_; }
  Cycle tick(Cycle) const { return due_; }

  // --- between windows ---------------------------------------------------------------------------
  /// A launch of the tenant with such blocks, so many of them for each SM, could go.
  void launched(TenantId tenant, const policy::BlockResources& block, std::uint64_t blocks_of_sm);
  /// Does the scheme look before the window that begins now? `present`: tenants, a bit for each,
  /// that have launches which are not complete.
  bool due(Cycle begin, std::uint8_t present) const {
    return begin >= due_ || present != present_ || grown_;
  }
  /// What is known of a tenant.
  struct Tenant {
    stats::GpuCounters total;  ///< counted before `begin`, since the start of the run
    std::span<const std::uint32_t> resident_blocks, resident_warps;  ///< by SM
  };
  /// true: knobs() have changed. Precondition: due(begin, present).
  bool look(Cycle begin, std::uint8_t present, const std::array<Tenant, kMaxTenants>& tenants);
  const policy::Knobs& knobs() const { return knobs_; }

 private:
  void check() const;
  std::string_view unheard() const;

  std::string name_;
  std::unique_ptr<policy::SchemePolicy> scheme_;
  Cycle window_;
  unsigned sms_;
  policy::SmResources sm_;
  unsigned l1d_ways_, l2_ways_;  // l1d: 0 = there is none
  bool divides_l1d_;             // one whose size follows the kernel's shared memory has no shares
  bool dram_queue_;              // channels have a queue whose order can be ranked
  Cycle due_ = kNever, since_ = 0;
  std::uint8_t present_ = 0;
  bool grown_ = false;  // blocks_, since the scheme last looked
  struct Blocks {
    policy::BlockResources largest;
    std::uint32_t maximum = 0;
  };
  std::array<Blocks, kMaxTenants> blocks_{};
  policy::Knobs knobs_;
  std::array<stats::GpuCounters, kMaxTenants> before_{};
};

}  // namespace raddle::timing
