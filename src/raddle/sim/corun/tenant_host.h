// The host of a tenant: goes through the tenant's program, waits where the program waits, and
// begins anew at its end. Its time passes only while it waits, as in an ordinary run, so a tenant
// that is alone does what its ordinary replay does.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "raddle/sim/corun/tenant_program.h"
#include "raddle/sim/result/corun_result.h"
#include "raddle/sim/run/timed_gpu.h"
#include "raddle/timing/gpu/residency.h"

namespace raddle::sim {

class TenantHost {
 public:
  /// `base` is added to every address. Program and GPU must outlive the host.
  TenantHost(TenantId tenant, const TenantProgram& program, Address base, TimedGpu& gpu,
             const Setup& setup);
  /// Goes on until it has to wait. `sequence`: number of the next launch of the GPU.
  void drive(std::uint64_t& sequence);
  /// Precondition: of this tenant.
  void completed(const timing::Completion& completion);

  std::uint64_t launches_completed() const { return launches_completed_; }
  /// Of each resource of an SM the most that a block of one of its kernels takes.
  const timing::BlockNeeds& largest_block() const { return largest_block_; }
  /// Those submitted so far, by the GPU's number; without their times.
  const std::map<std::uint64_t, TenantLaunch>& launches() const { return launches_; }
  /// Ends of the program so far.
  std::uint64_t rounds() const { return rounds_; }

 private:
  enum class WaitsFor : std::uint8_t { Nothing, All, Milestone, DefaultStream };
  bool may_go_on();
  void operate(const nlohmann::ordered_json& operation);
  bool launch(const TenantProgram::Step& step, std::uint64_t& sequence);
  void next_step();

  const TenantProgram& program_;
  TimedGpu& gpu_;
  timing::Host host_;
  Address base_;
  std::uint32_t max_pending_;
  timing::BlockNeeds largest_block_;
  std::size_t step_ = 0, operation_ = 0;
  WaitsFor waits_ = WaitsFor::Nothing;
  timing::Milestone mark_ = 0;                 // waited for
  std::vector<timing::Milestone> milestones_;  // of this round, in order
  bool waited_for_room_ = false;
  struct Pending {
    std::uint64_t warp_instructions, launches;
  };
  std::map<std::uint64_t, Pending> pending_;  // by the sequence number of the tree's first launch
  std::uint64_t pending_instructions_ = 0;
  Cycle last_end_ = 0;
  std::uint64_t launches_completed_ = 0, rounds_ = 0;
  std::map<std::uint64_t, TenantLaunch> launches_;
  std::vector<std::vector<std::shared_ptr<const trace::LoweredCode>>> code_;  // by step and launch
};

}  // namespace raddle::sim
