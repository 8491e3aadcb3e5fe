// What one simulation gives back: the content of the result JSON (schema version 1, design section
// 5) as a struct.
#pragma once
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "raddle/energy/energy.h"
#include "raddle/sim/result/busy.h"
#include "raddle/sim/result/check_report.h"
#include "raddle/sim/result/corun_result.h"
#include "raddle/sim/sampling/extrapolation.h"
#include "raddle/stats/counters.h"
#include "raddle/stats/peaks.h"
#include "raddle/timing/gpu/gpu.h"
#include "raddle/trace/device_launch.h"

namespace raddle::sim {

/// Which launch made a launch.
struct KernelParent {
  std::size_t kernel = 0;  ///< into Result::kernels
  trace::DeviceOrigin origin;
};

/// Of a launch, what an SM of the machine holds at once.
struct Resident {
  std::uint32_t registers_per_thread = 0, blocks = 0, warps = 0;
  std::string limited_by;  ///< what runs out first
  std::vector<timing::ResidencyLimit> limits = {};
};

struct KernelResult {
  std::string name;
  Dim3 grid, block;
  std::uint32_t stream = 0;
  Cycle start = 0;  ///< free to go: what it had to wait for was over; 0 when run without timing
  Cycle begin = 0;  ///< its first block could be handed out
  Cycle first = 0;  ///< ... and started on its SM
  Cycle last = 0;   ///< its last block ended on its SM
  Cycle end = 0;    ///< ... and that was heard of
  std::uint64_t warp_instructions = 0, thread_instructions = 0;
  stats::GpuCounters counters;         ///< of this launch alone
  unsigned max_mshrs = 0;              ///< of one L1D, taken at a time when it missed
  energy::Energy energy;               ///< dynamic part, of this launch alone
  Busy busy{};                         ///< of a timed launch, from begin to end
  std::optional<KernelParent> parent;  ///< of a launch that a kernel made
  std::optional<Resident> resident;    ///< of a timed launch
};

/// The kernels of a stream together.
struct StreamResult {
  std::uint32_t stream = 0;
  std::uint64_t launches = 0;
  Cycle start = 0, end = 0;  ///< of the first and the last
  Cycle cycles = 0;          ///< in which one was under way
  stats::GpuCounters counters;
};
/// In order of number.
std::vector<StreamResult> streams_of(const std::vector<KernelResult>& kernels);

/// The launches of one kernel together.
struct KernelGroup {
  std::string name;
  std::uint64_t launches = 0, device_launches = 0;  ///< all, and those that kernels made
  Cycle start = 0, end = 0;                         ///< first and last
  Cycle cycles = 0;            ///< sum of what each took; launches that overlap count each
  Cycle execution_cycles = 0;  ///< sum of the times from first to last block
  Cycle shortest = kNever, longest = 0;
  stats::GpuCounters counters;
  unsigned max_mshrs = 0;  ///< of any of them
  energy::Energy energy;   ///< dynamic part
};
/// By name, in order of each one's first launch.
std::vector<KernelGroup> groups_of(const std::vector<KernelResult>& kernels);

struct HostCost {
  double wall_seconds = 0, functional_seconds = 0, timing_seconds = 0;
  std::uint64_t peak_rss_bytes = 0;
  unsigned threads = 1;
};

struct Result {
  std::string workload;
  nlohmann::ordered_json parameters;
  std::uint64_t input_hash = 0;
  enum class Verdict { Correct, Wrong, Unchecked } verdict = Verdict::Unchecked;
  std::string difference;           ///< when wrong
  nlohmann::ordered_json import;    ///< of a foreign trace: what was met in it; else null
  nlohmann::ordered_json config;    ///< resolved
  nlohmann::ordered_json policies;  ///< level -> {name, parameters, statistics, meaning}
  bool timed = true;
  std::uint64_t launches_left_out = 0;  ///< of the host: executed, but not timed (first_launches)
  std::uint64_t launches_refused = 0;   ///< of kernels: too many were pending
  std::uint64_t pending_limit = 0;      ///< then: how many may be
  Cycle cycles = 0;
  Cycle busy_cycles = 0;    ///< in which a block was on an SM
  unsigned schedulers = 0;  ///< of the whole GPU
  double core_clock_mhz = 0;
  stats::Peaks peaks;  ///< in a core cycle
  stats::GpuCounters totals;
  std::vector<stats::NocPort> request_ports, reply_ports;
  energy::Energy energy;
  std::vector<KernelResult> kernels;      ///< in order of launch
  std::vector<timing::BlockSpan> blocks;  ///< for the report and the timeline
  std::uint64_t tail_cycles = 0;          ///< tail.h
  std::vector<timing::Sample> samples;
  std::vector<timing::SmCounts> sms_over_time;  ///< up to the ends of intervals
  Cycle sample_interval = 0;
  /// When launches could be estimated (run.sampling_error): the whole run. Everything else here but
  /// `energy` is of the launches that were timed.
  std::optional<Extrapolation> sampling;
  std::optional<timing::MeshRecord> mesh;  ///< samples of a machine that has one
  std::uint64_t component_hash = 0;
  std::optional<CorunResult> corun;   ///< of tenants that shared the GPU; then there are no kernels
  nlohmann::ordered_json analysis;    ///< label -> figures; null unless analyses were asked for
  std::optional<CheckReport> checks;  ///< when any were asked for
  HostCost host;
};

/// Cycles and counters of the whole run: as timed, or as extrapolated.
struct Whole {
  Cycle cycles = 0;
  const stats::GpuCounters& totals;
};
Whole whole_of(const Result& result);

/// A result of more launches than these tells them summed by kernel: one launch is 2 KB of JSON.
inline constexpr std::size_t kMaxSingleLaunches = 500;
inline constexpr std::size_t kAllLaunches = ~std::size_t{0};

/// The result as JSON, schema version 1, `state_hash` included. Up to `single_launches` launches
/// are told one by one in `kernels`; of more, it is empty and `kernels_by_name` has the sums.
///
/// The hash covers every launch, told or not, and everything else but `host`, `checks`, `silicon`
/// (error_bars.h) and `analysis` (who is watched does what he does unwatched, and his hash says so)
/// and the hash of the sources in `raddle_version`.
nlohmann::ordered_json to_json(const Result& result,
                               std::size_t single_launches = kMaxSingleLaunches);

}  // namespace raddle::sim
