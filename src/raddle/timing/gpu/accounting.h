// What a run has counted: of the machine, of launches, of tenants, over time; and the laws that
// hold between these. Components count for themselves; here is said whose a count is and when it
// was made. Nothing here changes what happens.
//
// Contract: counts are read from a CounterSource, so that no component is known here. Whoever runs
// the clock says what happens to launches (submitted, left_queue, entered, ended, in that order for
// each job) and calls close_samples() before each window. Cycles are those of the clock: `end`: all
// before it is over; `now`: up to which results are given.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "raddle/base/error.h"
#include "raddle/base/types.h"
#include "raddle/stats/counters.h"
#include "raddle/timing/gpu/accounts.h"
#include "raddle/timing/gpu/counts_over_time.h"
#include "raddle/timing/gpu/dispatcher.h"
#include "raddle/timing/gpu/empty_times.h"
#include "raddle/timing/gpu/gpu.h"
#include "raddle/timing/gpu/mesh_record.h"
#include "raddle/timing/gpu/sampler.h"

namespace raddle::timing {

/// What the components have counted before a cycle.
class CounterSource {
 public:
  virtual ~CounterSource() = default;
  virtual stats::GpuCounters counters(Cycle at) const = 0;
  /// For that launch slot.
  virtual stats::GpuCounters counters(unsigned slot, Cycle at) const = 0;
  /// MSHRs of one L1D that the slot's launch has held at most, since the last call.
  virtual unsigned take_most_mshrs(unsigned slot) = 0;
  virtual SmCounts sm_counts(Cycle at) const = 0;
  /// Precondition: there is a mesh.
  virtual MeshCounts mesh_counts(Cycle at) const = 0;
  /// In which no block is on an SM.
  virtual std::vector<Interval> empty_times(Cycle at) const = 0;
};

class Accounting {
 public:
  struct Spec {
    unsigned slots = 1;       ///< launch slots
    unsigned schedulers = 1;  ///< of the machine
    Cycle dispatch_latency = 1;
    Cycle sample_interval = 0;  ///< 0: no samples
    Cycle window = 1;
    std::optional<MeshPlaces> mesh = {};  ///< where there is one and samples are taken
  };
  /// The source must outlive the accounting.
  Accounting(Spec spec, CounterSource& source);

  // --- launches ----------------------------------------------------------------------------------
  void submitted(std::size_t launches) { runs_.resize(runs_.size() + launches); }
  bool any_submitted() const { return !runs_.empty(); }
  void left_queue(std::uint32_t job, Cycle at) { run(job).start = at; }
  /// Before any of its blocks is on an SM.
  void entered(const Dispatcher::Entered& entered, TenantId tenant, Cycle end);
  void ended(const Dispatcher::Ended& ended);

  // --- samples -----------------------------------------------------------------------------------
  /// Those whose interval is over: what happens from `begin` on is in the next ones.
  void close_samples(Cycle begin) {
    if (sampler_.due(begin)) take_samples(begin);
  }
  /// Brings those under way up to date.
  void update_samples(Cycle now);

  // --- results -----------------------------------------------------------------------------------
  /// SMs do not know of launches: to them a scheduler without a warp is idle. Here it waits for a
  /// launch while one is on its way.
  stats::GpuCounters counters(Cycle now) const;
  const std::vector<KernelRun>& kernels(Cycle end) {
    close(end);
    return runs_;
  }
  const stats::GpuCounters& tenant(TenantId tenant, Cycle end) {
    close(end);
    return accounts_.of(tenant);
  }
  std::array<stats::GpuCounters, kMaxTenants> tenants(Cycle end);
  /// Cycles before `now` in which a block was on an SM.
  Cycle busy(Cycle now) const;
  std::vector<Sample> samples(Cycle now) const;
  const std::vector<SmCounts>& sms_over_time() const { return sms_; }
  const MeshRecord* mesh() const { return mesh_ ? &mesh_->record() : nullptr; }
  /// Scheduler-cycles, sums over launches and over tenants: one sentence for each law that does not
  /// hold.
  std::vector<std::string> audit(Cycle now, Cycle end);

 private:
  KernelRun& run(std::uint32_t job) {
    RADDLE_ASSERT(job < runs_.size());
    return runs_[job];
  }
  void close(Cycle end);
  void close(unsigned slot, Cycle end);
  void take_samples(Cycle begin);
  std::vector<Interval> launching(Cycle at) const;

  CounterSource& source_;
  unsigned schedulers_;
  Cycle dispatch_latency_;
  Accounts accounts_;
  std::vector<KernelRun> runs_;  // by job
  Sampler sampler_;
  std::vector<SmCounts> sms_;
  std::optional<CountsOverTime<SmCounts>> sms_over_time_;  // where samples are taken
  std::optional<MeshRecorder> mesh_;
};

}  // namespace raddle::timing
