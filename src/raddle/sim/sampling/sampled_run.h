// A LaunchSampler at work on a Gpu: who was timed, how long that took, what the others would have
// taken.
#pragma once
#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "raddle/runtime/launch_sink.h"
#include "raddle/sim/sampling/estimated_clock.h"
#include "raddle/sim/sampling/extrapolation.h"
#include "raddle/sim/sampling/launch_sampler.h"
#include "raddle/timing/gpu/gpu.h"

namespace raddle::sim {

class SampledRun {
 public:
  using Note = std::function<void(const std::string&)>;
  /// The Gpu must outlive it; `note` may be empty.
  SampledRun(double error, timing::Gpu& gpu, Note note)
      : sampler_(error), gpu_(gpu), note_(std::move(note)) {}

  /// Decides whether the launch is timed: then the caller submits it next. May run the Gpu until it
  /// is idle, for which the host does not wait: as long as all are timed, they are timed as without
  /// sampling.
  bool times(std::span<const runtime::LaunchedStream> tree);
  /// The Gpu is idle.
  void idle();
  /// Of the launches so far that were not timed, as events see them.
  Cycle estimated_until_now() const { return clock_.now(); }
  /// Of the whole run. Precondition: idle() was called after the last launch. `cycles`, `totals`:
  /// of the launches that were timed.
  Extrapolation result(Cycle cycles, const stats::GpuCounters& totals);

 private:
  std::uint32_t number_of(const trace::KernelCode& code);
  bool may_overlap(StreamId stream);
  void run_ahead();
  void measure();
  void add_estimated(Extrapolation& out) const;

  std::vector<trace::KernelCode> codes_;  // each that was launched
  LaunchSampler sampler_;
  EstimatedClock clock_;
  timing::Gpu& gpu_;
  Note note_;
  std::vector<std::size_t> trees_;  // behind the last launch of each timed tree, in Gpu::kernels()
  std::size_t notified_ = 0;        // of trees_, to the sampler
  Cycle end_ = 0;                   // of all that was told
  std::set<StreamId> under_way_;    // streams other than 0 with launches since the host has waited
  bool ahead_ = false;              // the Gpu has run since, without the host waiting
  std::uint64_t launches_ = 0;
  std::uint64_t all_timed_from_ = Extrapolation::kNoOverlap;
};

}  // namespace raddle::sim
