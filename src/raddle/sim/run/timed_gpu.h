// The timing model as a device's sink: what the host submits is timed, and each launch's figures go
// into the result.
#pragma once
#include <map>
#include <memory>
#include <vector>

#include "raddle/lowering/schedule.h"
#include "raddle/runtime/launch_sink.h"
#include "raddle/sim/profile/run_analyses.h"
#include "raddle/sim/result/result.h"
#include "raddle/sim/run/simulation.h"
#include "raddle/sim/sampling/sampled_run.h"
#include "raddle/sim/setup/setup.h"

namespace raddle::sim {

/// A Gpu that listens to a device and collects results per kernel.
class TimedGpu final : public runtime::LaunchSink {
 public:
  /// The options must outlive it. `number`: of the set-up, for progress.
  TimedGpu(Setup& setup, const Options& options, std::size_t number = 0);
  void admit(const trace::KernelCode& code, const trace::LaunchShape& shape) override;
  bool can_follow() const override { return true; }
  void submit(std::shared_ptr<trace::KernelStream> stream,
              const runtime::LaunchRecord& record) override;
  void submit_tree(const std::vector<runtime::LaunchedStream>& tree) override;
  void allocated(const trace::AllocationChanges& changes) override { analyses_.allocated(changes); }
  runtime::Milestone record(StreamId stream) override;
  void wait(StreamId stream, runtime::Milestone mark) override;
  void host_wrote(Address at, std::uint64_t bytes) override;
  void host_read(Address at, std::uint64_t bytes) override;
  void synchronize() override;
  void synchronize(runtime::Milestone mark) override;
  /// Cycles of launches before the mark that were estimated count as if they had passed.
  Cycle reached(runtime::Milestone mark) const override {
    return milestones_[mark] + (sampled_ == nullptr ? 0 : estimated_before_[mark]);
  }
  double milliseconds(Cycle cycles) const override;
  Cycle now() const { return gpu_.now(); }
  /// The host's, spent on timing so far.
  double seconds() const { return seconds_; }
  /// For who drives several hosts; results hold no kernels then.
  timing::Gpu& gpu() { return gpu_; }
  /// Code as this machine executes it.
  /// `live`: in PTX's order, whatever isa.order says.
  std::shared_ptr<const trace::LoweredCode> lowered(const trace::KernelCode& code,
                                                    bool live = false);
  /// The stream as the machine's code has it. Precondition: its code has been lowered.
  std::shared_ptr<trace::KernelStream> in_order(std::shared_ptr<trace::KernelStream> stream);
  Resident resident(const trace::KernelStream& stream);
  /// Throws RunError with the conservation laws that do not hold.
  void audit();
  /// Everything of the result that timing knows. Precondition: synchronize() was called.
  void fill(Result& result);

 private:
  void notify(const Options& options, Cycle at) const;
  void submit_once(const std::vector<runtime::LaunchedStream>& tree);

  const lowering::Schedule& scheduled(const trace::KernelCode& code);
  Setup& setup_;
  RunAnalyses analyses_;  // that look at this GPU
  timing::Gpu gpu_;
  std::map<std::pair<const trace::KernelCode*, bool>, std::shared_ptr<const trace::LoweredCode>>
      lowered_;
  std::map<const trace::KernelCode*, std::shared_ptr<const lowering::Schedule>> schedules_;
  std::vector<KernelResult> kernels_;
  std::unique_ptr<SampledRun> sampled_;  // null when every launch is timed
  std::vector<Cycle> milestones_;        // when reached, of those that were waited for
  std::vector<Cycle> estimated_before_;  // by mark, when sampled
  double seconds_ = 0;
  std::size_t number_;
  unsigned passes_;  // Options::passes
};

}  // namespace raddle::sim
