// The whole GPU in time: takes launches as op streams, advances the clock, counts.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "raddle/base/types.h"
#include "raddle/policy/all.h"
#include "raddle/stats/counters.h"
#include "raddle/timing/gpu/machine.h"
#include "raddle/trace/stream.h"

namespace raddle::timing {

/// The policies in force, one choice per level. Not owned.
struct PolicyChoices {
  const policy::Choice<policy::WarpPolicy>* warp = nullptr;
  const policy::Choice<policy::BlockPolicy>* block = nullptr;
  const policy::Choice<policy::DramPolicy>* dram = nullptr;
};

struct GpuOptions {
  bool skip = true;  ///< jump over cycles in which nobody can act
  unsigned threads = 1;
  std::uint64_t seed = 1;
  Cycle max_cycles = kNever;  ///< RunError when reached
  Cycle watchdog_cycles =
      1'000'000;              ///< RunError after that many cycles without an issue or a fill
  bool shuffle = false;       ///< tests: components run in another order inside each window
  Cycle sample_interval = 0;  ///< cycles between IPC samples; 0 = none
};

/// Where and when a block ran.
struct BlockSpan {
  std::uint32_t launch, block, sm;
  Cycle start, end;
};
/// Whole-GPU activity of one sampling interval.
struct Sample {
  Cycle start;
  std::uint64_t issued, thread_instructions, l1d_accesses, l1d_hits, dram_bytes;
};

struct LaunchInfo {
  std::string name;
  StreamId stream{};
  std::uint64_t sequence = 0;
};

/// What limits residency, for messages and reports.
struct Residency {
  unsigned blocks = 0;     ///< per SM; 0 = does not fit at all
  std::string limited_by;  ///< "threads", "registers", "shared memory", "block slots", "warps"
  std::string reason;      ///< when blocks == 0: one sentence with both numbers
};
Residency residency(const SmSpec& sm, const trace::KernelCode& code,
                    const trace::LaunchShape& shape);

class Gpu {
 public:
  Gpu(const MachineSpec& machine, const PolicyChoices& policies, const GpuOptions& options);
  ~Gpu();
  /// Runs one launch to its end. Throws InputError when a block cannot fit an SM, RunError on
  /// max_cycles or when nothing moves any more (the message says which warp waits at which PTX line
  /// for what).
  void run(trace::KernelStream& stream, const LaunchInfo& info);

  Cycle now() const;
  stats::GpuCounters counters() const;
  /// Every counter of every component, for state_hash.
  std::uint64_t hash() const;
  /// Ports of the request and of the reply network (timing/noc).
  std::vector<stats::NocPort> request_ports() const;
  std::vector<stats::NocPort> reply_ports() const;
  /// Conservation laws that do not hold, one sentence each; at any time between launches.
  std::vector<std::string> audit() const;
  /// Statistics of each level's policy, summed over its instances.
  void visit_policy_statistics(std::string_view level, FieldVisitor& v);
  const std::vector<BlockSpan>& block_spans() const;
  const std::vector<Sample>& samples() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace raddle::timing
