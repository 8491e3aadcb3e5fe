// Launches from their submission to their end: in what order the host's streams let them go
// (kernel_manager.h), which launches kernels make themselves (launch_trees.h), and what is still
// needed of each. The clock tells it what has ended and takes from it what is to go to the kernel
// management unit; the machine's components are unknown here, and so is time but for that of
// events.
//
// Contract: jobs are numbered in order of submission, from 0. Between windows: launched() and
// ended() for what has happened, then advance(), which clears changed().
#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "raddle/timing/gpu/decoded_codes.h"
#include "raddle/timing/gpu/gpu.h"
#include "raddle/timing/gpu/grids.h"
#include "raddle/timing/gpu/kernel_manager.h"
#include "raddle/timing/gpu/launch_trees.h"

namespace raddle::timing {

class Launches {
 public:
  struct Spec {
    SmSpec sm;
    KernelSpec kernels;
    Cycle launch_latency = 1;
    std::uint32_t line_bytes = 128;  ///< of the machine
    bool resizes_l1d = false;        ///< a kernel's shared memory leaves so many ways
  };
  explicit Launches(Spec spec)
      : spec_(std::move(spec)), manager_(spec_.kernels, spec_.launch_latency), codes_(spec_.sm) {}

  // --- from the host -----------------------------------------------------------------------------
  /// As Gpu::enqueue.
  void enqueue(Host host, std::vector<Submission> tree);
  Milestone record(Host host, StreamId stream);
  void wait(Host host, StreamId stream, Milestone mark);
  /// One more launch of so many warp instructions may be pending.
  bool has_free_slot(std::uint64_t warp_instructions) const {
    return pending_ == 0 || (pending_ < spec_.kernels.pending &&
                             pending_instructions_ + warp_instructions <= kMaxPendingInstructions);
  }
  Cycle reached(Milestone mark) const { return manager_.reached(mark); }
  bool idle() const { return manager_.idle(); }
  bool idle(TenantId tenant) const { return manager_.idle(tenant); }
  std::vector<Completion> take_completions() { return std::exchange(completions_, {}); }
  DecodedCodes& codes() { return codes_; }
  void describe(std::string& out) const { manager_.describe(out); }

  // --- from the clock, between windows -----------------------------------------------------------
  /// Launches that kernels make may come.
  bool has_trees() const { return !trees_.empty(); }
  void launched(const DeviceLaunches& launches) {
    trees_.launched(launches);
    changed_ = changed_ || !trees_.ready().empty();
  }
  /// The job's last block has ended. Precondition: it was sent and has not ended.
  void ended(std::uint32_t job, Cycle at);
  /// Something may go that could not before the last advance().
  bool changed() const { return changed_; }
  /// send(job, left, arrival): the launch has left its queue and is with the kernel management unit
  /// in cycle `arrival`.
  template <class Send>
  void advance(Send send) {
    for (const LaunchTrees::Ready& ready : trees_.ready()) send(ready.job, ready.at, ready.at);
    trees_.ready().clear();
    complete_trees();
    changed_ = false;
    manager_.advance();
    for (; !manager_.pending().empty(); manager_.take()) {
      const KernelManager::Pending& next = manager_.pending().front();
      send(next.job, next.left, next.arrival);
    }
  }
  /// As the dispatcher takes it. Precondition: the job has not ended; the same of tenant().
  GridLaunch grid(std::uint32_t job) const;
  TenantId tenant(std::uint32_t job) const { return job_of(job).info.tenant; }
  /// Every launch that has not ended can be executed on several threads.
  bool concurrent() const { return serial_ == 0; }
  /// Tenants that have launches which have not ended, a bit for each.
  std::uint8_t present() const;

 private:
  struct Job {
    std::shared_ptr<trace::KernelStream> stream;
    std::shared_ptr<const Decoded> code;
    LaunchInfo info;
  };
  struct Root {
    LaunchInfo info;
    std::uint64_t warp_instructions;  // of the whole tree
  };
  void check(const trace::KernelCode& code, const trace::LaunchShape& shape) const;
  void complete(const LaunchInfo& launch, std::uint64_t warp_instructions, Cycle at);
  void complete_trees();
  const Job& job_of(std::uint32_t job) const;

  Spec spec_;
  KernelManager manager_;
  LaunchTrees trees_;
  DecodedCodes codes_;
  std::map<std::uint32_t, Root> roots_;  // of the trees, by job
  std::deque<Job> jobs_;  // of launches that have not ended; the first is number first_job_
  std::uint32_t first_job_ = 0;
  std::uint32_t pending_ = 0;  // launches of the host that are not complete
  std::uint32_t serial_ = 0;   // launches that have not ended and are not concurrent
  std::uint64_t pending_instructions_ = 0;
  bool changed_ = false;
  std::vector<Completion> completions_;
  std::array<std::uint32_t, kMaxTenants> by_tenant_{};  // that have not ended
};

/// Of all launches of the tree.
std::uint64_t warp_instructions_of(const std::vector<Submission>& tree);

}  // namespace raddle::timing
