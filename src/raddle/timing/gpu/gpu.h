// The whole GPU in time: takes launches as op streams, advances the clock, counts.
//
// Host time does not pass: what is submitted before the host waits for something is all there at
// once. A launch starts at the earliest in the window after the one in which it became free to go.
//
// Either one host waits for what it has submitted (submit, run_until ...), or several tenants with
// a time of their own share the GPU: then whoever drives them submits for each (enqueue) and lets
// the clock run to a horizon, stopping wherever something is over (run_to).
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "raddle/base/types.h"
#include "raddle/policy/all.h"
#include "raddle/stats/counters.h"
#include "raddle/stats/instruction_counters.h"
#include "raddle/timing/gpu/kernel_manager.h"
#include "raddle/timing/gpu/mesh_record.h"
#include "raddle/timing/gpu/sm_record.h"
#include "raddle/timing/spec/machine.h"
#include "raddle/trace/device_launch.h"
#include "raddle/trace/lowered.h"
#include "raddle/trace/stream.h"

namespace raddle::timing {

class WarpWindow;  // timing/sm/warp_window.h

template <class Interface>
using PolicyPointer = const policy::Choice<Interface>*;
/// The policies in force, one choice per level, not owned. Null means the level's default, but for
/// kernel, warp, block and dram, which must be there. A dispatch policy other than two_step decides
/// instead of those of kernel and block.
using PolicyChoices = policy::ByLevel<PolicyPointer>;

/// The machine with the coherence, the ranks in requests and the migration that the policies ask
/// for. InputError with every rule that the two break together.
MachineSpec checked(MachineSpec machine, const PolicyChoices& policies);

struct GpuOptions {
  bool skip = true;  ///< jump over cycles in which nobody can act
  unsigned threads = 1;
  std::uint64_t seed = 1;
  Cycle max_cycles = kNever;  ///< RunError when reached
  Cycle watchdog_cycles =
      1'000'000;              ///< RunError after that many cycles without an issue or a fill
  bool shuffle = false;       ///< tests: components run in another order inside each window
  Cycle sample_interval = 0;  ///< cycles between samples; 0 = none
  /// By tenant, for schemes: thread instructions per cycle; 0 = not known.
  std::array<double, kMaxTenants> ipc_alone{};
  /// Told the cycle, now and then, between windows; may be empty.
  std::function<void(Cycle)> progress = {};
};

/// Where and when a block ran.
struct BlockSpan {
  std::uint32_t launch, block, sm;
  Cycle start, end;
  bool stolen = false;  ///< policy::BlockChoice
};
/// Whole-GPU activity of one sampling interval.
struct Sample {
  Cycle start = 0;
  std::uint64_t issued = 0, thread_instructions = 0, l1d_accesses = 0, l1d_hits = 0, dram_bytes = 0;
  std::uint64_t warp_cycles = 0, throttled_warp_cycles = 0;  ///< stats::SchedulerCounters
  std::array<std::uint64_t, stats::kStalls> stall{};         ///< scheduler-cycles without an issue
};

struct LaunchInfo {
  std::string name;
  StreamId stream{};
  std::uint64_t sequence = 0;
  std::uint64_t warp_instructions = 0;  ///< where known: recorded streams
  TenantId tenant{};
  Address base = 0;  ///< of the tenant's global memory: added to every address, whole lines
};

/// A launch with its op streams; `code` is its code as this machine executes it.
struct Submission {
  std::shared_ptr<trace::KernelStream> stream;
  std::shared_ptr<const trace::LoweredCode> code;
  LaunchInfo info;
  trace::DeviceOrigin origin = {};  ///< of a launch that a kernel made
};

/// A program on the host with a clock of its own.
struct Host {
  TenantId tenant{};
  Cycle now = 0;
};

/// A launch of a host is over, with all that descends from it.
struct Completion {
  TenantId tenant{};
  StreamId stream{};
  std::uint64_t sequence = 0;
  Cycle at = 0;
};

/// What became of a launch.
struct KernelRun {
  Cycle start = kNever;  ///< it left its hardware queue: everything it had to wait for was over
  Cycle begin = kNever;  ///< its first block could be handed out
  Cycle first = kNever;  ///< its first block started on its SM ...
  Cycle last = kNever;   ///< ... and its last one ended there
  Cycle end = kNever;    ///< the end of its last block was heard of; what it launched may go on
  /// Its own; scheduler-cycles of nobody's warps are in none, and those of a group of blocks that
  /// has joined a kernel are in that kernel's.
  stats::GpuCounters counters;
  unsigned max_mshrs = 0;  ///< of one L1D, taken at a time when it missed
};

/// What the machine instructions of one code have done, on all SMs and in all launches of it.
struct CodeProfile {
  std::shared_ptr<const trace::LoweredCode> code;
  std::vector<stats::InstructionCounters> instructions;  ///< by place in code->code
};
struct Profile {
  std::uint64_t samplings = 0;     ///< how often one has looked at all warps
  std::vector<CodeProfile> codes;  ///< in order of first submission
};

/// Recorded launches that wait may hold that many warp instructions (some 10 bytes each); with more
/// the host waits, as when kernels.pending is reached.
inline constexpr std::uint64_t kMaxPendingInstructions = std::uint64_t{1} << 26;

/// How many blocks an SM holds as far as one of its resources goes: has / needs.
struct ResidencyLimit {
  std::string_view of;      ///< "threads", "warps", "registers", "shared memory", "block slots"
  std::uint64_t needs = 0,  ///< of a block, rounded up as the machine hands it out
      has = 0;              ///< of an SM
  /// Blocks that fit as far as this goes: has / needs, or fewer where the SM has it in partitions.
  std::uint64_t fit = 0;
};

/// What limits residency, for messages and reports.
struct Residency {
  unsigned blocks = 0;     ///< per SM; 0 = does not fit at all
  std::string limited_by;  ///< "threads", "registers", "shared memory", "block slots", "warps"
  std::string reason;      ///< when blocks == 0: one sentence with both numbers
  std::array<ResidencyLimit, 5> limits{};
};
Residency residency(const SmSpec& sm, const trace::KernelCode& code,
                    const trace::LaunchShape& shape);

class Gpu {
 public:
  Gpu(const MachineSpec& machine, const PolicyChoices& policies, const GpuOptions& options);
  ~Gpu();

  /// Tells the observer of an SM's L1D from now on, after the policies that listen. It must outlive
  /// the Gpu and decides nothing, so counters and hash() stay what they are.
  void observe(SmId sm, policy::L1Observer& observer);
  /// The same of a slice of the L2, by its number in the machine.
  void observe_slice(unsigned slice, policy::L2Observer& observer);
  /// From now on there is a profile: every instruction is counted, and where warps stand is looked
  /// at every so many cycles in the mean (LookTimes). Nothing else changes. Precondition: nothing
  /// has been submitted; interval > 0.
  void keep_profile(Cycle interval);
  /// From now on it is kept what warps of an SM do in cycles [begin, end). Nothing else changes.
  /// Precondition: nothing has been submitted; begin < end.
  void keep_window(SmId sm, Cycle begin, Cycle end);

  // Whatever advances the clock throws RunError on max_cycles or when nothing moves any more (the
  // message says which warp waits at which PTX line for what), after which the Gpu is of no use.

  /// Does it use LoweredCode::live?
  bool wants_live_registers() const;

  /// Queues a launch; `code` is its code as this machine executes it. Throws InputError when a
  /// block cannot fit an SM. Waits for earlier launches when too many are pending. A launch in
  /// stream 0 is run to its end: nothing submitted later could overlap with it.
  void submit(std::shared_ptr<trace::KernelStream> stream,
              std::shared_ptr<const trace::LoweredCode> code, LaunchInfo info);
  /// Queues a launch of the host (the first) with all that descends from it, in order of their
  /// numbers in the tree. Each starts when its parent has issued its launch; the host's is complete
  /// when all are. Streams of one launch are the host's.
  void submit_tree(std::vector<Submission> tree);
  /// A point in the stream, reached when everything submitted to it before is complete.
  Milestone record(StreamId stream);
  /// What is submitted to the stream from now on starts after the mark.
  void wait(StreamId stream, Milestone mark);
  /// The host waits until the mark is reached; returns when that was.
  Cycle run_until(Milestone mark);
  /// The host waits until everything submitted is complete.
  void run_until_idle();

  // Several hosts. Submitting does not move the clock, so nothing is waited for: neither for room
  // nor, in stream 0, for the launch's end.

  /// As submit_tree.
  void enqueue(Host host, std::vector<Submission> tree);
  Milestone record(Host host, StreamId stream);
  void wait(Host host, StreamId stream, Milestone mark);
  /// When the mark was reached; kNever: not yet.
  Cycle reached(Milestone mark) const;
  /// All that the tenant has submitted is complete.
  bool idle(TenantId tenant) const;
  /// Runs until something of what was submitted is over, but no further than to the horizon. False:
  /// the clock stands exactly there, whatever is under way, and now(), counters() and hash() are of
  /// that cycle.
  bool run_to(Cycle horizon);
  /// Launches that were completed since the last call, in that order.
  std::vector<Completion> take_completions();

  /// The host has changed these bytes. Precondition: nothing that is under way touches them.
  void host_wrote(Address at, std::uint64_t bytes);
  /// The host reads or writes these bytes before the next submit_tree(). Without coherence.host
  /// nothing happens; what comes before the first launch is left out. The same precondition.
  void host_access(Address at, std::uint64_t bytes, bool write);
  /// One launch of PTX instructions as they are, to its end.
  void run(trace::KernelStream& stream, const LaunchInfo& info);

  /// Empties L2 and instruction caches in no time, as a profiler does between two launches: dirty
  /// data count nowhere.
  /// Preconditions: nothing is under way; the L2 owns nothing of the L1s' (coherence "gpu").
  void forget_caches();
  /// End of the last kernel so far; the horizon when the clock has run to one.
  Cycle now() const;
  /// Cycles before now() in which a block was on an SM.
  Cycle busy() const;
  /// Of all components. Precondition for these and hash(): nothing is under way, or the clock has
  /// run to a horizon.
  stats::GpuCounters counters() const;
  /// Every launch in order of submission; their counters sum up to counters(), but for those of the
  /// schedulers.
  const std::vector<KernelRun>& kernels();
  /// Of all launches of the tenant so far, also while some are under way; scheduler-cycles of
  /// nobody's warps are in none. Tenants sum up to counters(), but for those of the schedulers.
  stats::GpuCounters tenant_counters(TenantId tenant);
  /// Blocks of the tenant now, on all SMs.
  std::uint32_t resident_blocks(TenantId tenant) const;
  /// Every counter of every component, for state_hash.
  std::uint64_t hash() const;
  /// Ports of the request and of the reply network (timing/noc).
  std::vector<stats::NocPort> request_ports() const;
  std::vector<stats::NocPort> reply_ports() const;
  /// Conservation laws that do not hold, one sentence each; empty = all do. At any time when
  /// nothing is under way; at a horizon without the laws of each component.
  std::vector<std::string> audit();
  /// Statistics of each level's policy, summed over its instances.
  void visit_policy_statistics(std::string_view level, FieldVisitor& v);
  const std::vector<BlockSpan>& block_spans() const;
  std::vector<Sample> samples() const;
  /// Of the SMs one by one; empty without samples.
  const std::vector<SmCounts>& sms_over_time() const;
  /// Empty unless one is kept. Precondition as for counters().
  Profile profile();
  /// Null unless one is kept of that SM. Precondition as for counters().
  const WarpWindow* window(SmId sm);
  /// Null without samples or without a mesh.
  const MeshRecord* mesh() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace raddle::timing
