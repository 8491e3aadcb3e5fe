// The GPU behind gpu.h: what it is made of. Assembly is in gpu.cpp, launches and the clock are in
// gpu_clock.cpp, counts and laws of conservation in gpu_counters.cpp.
#pragma once
#include <array>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "raddle/timing/cache/host_traffic.h"
#include "raddle/timing/gpu/accounts.h"
#include "raddle/timing/gpu/dispatcher.h"
#include "raddle/timing/gpu/gpu.h"
#include "raddle/timing/gpu/launch_trees.h"
#include "raddle/timing/gpu/mesh_record.h"
#include "raddle/timing/gpu/migration_unit.h"
#include "raddle/timing/gpu/sampler.h"
#include "raddle/timing/gpu/scheme_unit.h"
#include "raddle/timing/gpu/tenant_reports.h"
#include "raddle/timing/mem/partition.h"
#include "raddle/timing/noc/network.h"
#include "raddle/timing/sm/sm.h"
#include "raddle/timing/wire/engine.h"

namespace raddle::timing {

/// Code as this machine executes it.
struct Decoded {
  Decoded(std::shared_ptr<const trace::LoweredCode> from, const SmSpec& sm, std::uint32_t number)
      : lowered(std::move(from)), kernel(*lowered, sm, number) {}
  std::shared_ptr<const trace::LoweredCode> lowered;
  DecodedKernel kernel;
};

/// A launch from its submission to its end.
struct Job {
  std::shared_ptr<trace::KernelStream> stream;
  std::shared_ptr<const Decoded> code;
  LaunchInfo info;
};

class Gpu::Impl {
 public:
  Impl(const MachineSpec& machine, const PolicyChoices& policies, const GpuOptions& options);
  void observe(SmId sm, policy::L1Observer& observer) { sms_[index(sm)]->observe(observer); }
  void observe_slice(unsigned slice, policy::L2Observer& observer);
  void keep_profile(Cycle interval);
  Profile profile();
  bool wants_live_registers() const {
    return machine_.migration && machine_.migration->registers == policy::Passage::Registers::Live;
  }
  void submit_tree(std::vector<Submission> tree);
  Mark record(StreamId stream);
  void wait(StreamId stream, Mark mark);
  Cycle run_until(Mark mark);
  void run_until_idle();
  void enqueue(Host host, std::vector<Submission> tree);
  Mark record(Host host, StreamId stream);
  void wait(Host host, StreamId stream, Mark mark);
  Cycle reached(Mark mark) const { return manager_.reached(mark); }
  bool idle(TenantId tenant) const { return manager_.idle(tenant); }
  bool run_to(Cycle horizon);
  void hand_over_ahead(bool ahead);
  std::vector<Completion> take_completions() { return std::exchange(completions_, {}); }
  void host_wrote(Address at, std::uint64_t bytes) {
    if (machine_.coherence.ro_regions) writes_.wrote(at, bytes, now_);
  }
  void host_access(const HostAccess& access) {
    if (machine_.coherence.host && !runs_.empty() && access.bytes != 0)
      host_accesses_.push_back(access);
  }
  void forget_caches();
  Cycle now() const { return now_; }
  Cycle busy() const;
  stats::GpuCounters counters() const;
  const std::vector<KernelRun>& kernels();
  stats::GpuCounters tenant_counters(TenantId tenant) {
    return tenant_counters(tenant, engine_.end());
  }
  std::uint32_t resident_blocks(TenantId tenant) const {
    std::uint32_t sum = 0;
    for (const std::uint32_t blocks : dispatcher_.caps().resident(tenant)) sum += blocks;
    return sum;
  }
  std::uint64_t hash() const;
  std::vector<std::string> audit();
  const Network& request() const { return *request_; }
  const Network& reply() const { return *reply_; }
  template <class Visit>
  void each_policy(Visit&& visit);
  const std::vector<BlockSpan>& block_spans() const { return dispatcher_.spans(); }
  std::vector<Sample> samples() const;
  const MeshRecord* mesh() const { return mesh_ ? &mesh_->record() : nullptr; }

 private:
  Cycle window() const {
    const Cycle wires = std::min(machine_.noc.latency_cycles, machine_.dispatch_latency_cycles);
    return machine_.migration ? std::min<Cycle>(wires, machine_.migration->signal_cycles) : wires;
  }
  void wire_sm(unsigned i);
  void wire_partition(unsigned i);
  // launches
  void check(const trace::KernelCode& code, const trace::LaunchShape& shape) const;
  std::shared_ptr<const Decoded> decoded(std::shared_ptr<const trace::LoweredCode> code);
  static std::uint64_t warp_instructions_of(const std::vector<Submission>& tree);
  bool has_room(std::uint64_t warp_instructions) const;
  void wait_for_room(std::uint64_t warp_instructions);
  // the clock
  template <class Done>
  void advance_until(Done done);
  bool advance_to(Cycle limit);
  bool settle();
  void close_samples(Cycle now);
  void update_samples();
  void end_job(const Dispatcher::Ended& ended);
  void complete(const LaunchInfo& launch, std::uint64_t warp_instructions, Cycle at);
  void take_device_launches();
  GridLaunch launch_of(std::uint32_t job) const;
  void take_host_accesses();
  void send(std::uint32_t job, Cycle left, Cycle arrival);
  void open_account(const Dispatcher::Entered& entered);
  void before_window(Cycle begin);
  void look_at_tenants(Cycle begin);
  void obey(Cycle begin);
  void report_tenants(Cycle begin);
  Cycle last_progress(Cycle now) const;
  [[noreturn]] void give_up(Cycle now, const std::string& what) const;
  // counters
  stats::GpuCounters counters(Cycle at) const;
  std::vector<Interval> launching(Cycle at) const;
  Sampler::Activity activity(Cycle at) const;
  MeshCounts mesh_counts(Cycle at) const;
  stats::GpuCounters counted_for(unsigned slot, Cycle at) const;
  stats::GpuCounters tenant_counters(TenantId tenant, Cycle at);
  void close_account(unsigned slot, Cycle at);
  void close_accounts(Cycle at);

  MachineSpec machine_;
  GpuOptions options_;
  AddressMap map_;
  std::unique_ptr<Network> request_, reply_;
  Dispatcher dispatcher_;
  std::vector<std::unique_ptr<Sm>> sms_;
  std::vector<std::unique_ptr<Partition>> partitions_;
  Engine engine_;
  Sampler sampler_;
  std::optional<MeshRecorder> mesh_;  // where there is a mesh and samples are taken
  KernelManager manager_;
  LaunchTrees trees_;
  struct Root {
    LaunchInfo info;
    std::uint64_t warp_instructions;  // of the whole tree
  };
  std::map<std::uint32_t, Root> roots_;  // of the trees, by job

  std::vector<std::shared_ptr<const Decoded>> decoded_;
  std::uint32_t decoded_before_ = 0;  // kernels, those included that are forgotten
  std::deque<Job> jobs_;  // of launches that have not ended; the first is number first_job_
  std::uint32_t first_job_ = 0;
  std::uint32_t pending_ = 0,
                serial_ = 0;  // launches that have not ended; of these, not concurrent()
  std::uint64_t pending_instructions_ = 0;
  bool submitted_ = false;                 // something, since the last settle()
  RegionWrites writes_;                    // coherence.ro_regions
  std::vector<HostAccess> host_accesses_;  // coherence.host, since the last launch
  HostCounters host_count_;
  bool failed_ = false;
  bool resizes_l1d_ = false;        // by what a kernel's shared memory leaves
  Cycle host_ = 0;                  // time of the host: what it has waited for
  Cycle now_ = 0;                   // end of the last kernel
  Cycle watch_next_ = 0;            // when the watchdog could bite at the earliest
  std::optional<LookTimes> looks_;  // of the profiles, from the beginning; none: none are kept
  Cycle tell_next_ = 0;             // when options_.progress is told next; kNever: never
  std::vector<KernelRun> runs_;     // by job
  std::vector<Completion> completions_;
  Accounts accounts_;
  std::unique_ptr<SchemeUnit> scheme_;                  // null: none shares the GPU
  std::unique_ptr<TenantReports> reports_;              // null: nobody wants them
  std::unique_ptr<MigrationUnit> migration_;            // null: warps stay
  bool obeyed_ = false;                                 // its knobs, for the first time
  std::array<std::uint32_t, kMostTenants> launches_{};  // that have not ended, by tenant
};

}  // namespace raddle::timing
