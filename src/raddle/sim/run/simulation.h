// One workload, run once functionally and timed on one or several set-ups at the same time.
#pragma once
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "raddle/runtime/simulated_device.h"
#include "raddle/runtime/workload.h"
#include "raddle/sim/profile/analysis.h"
#include "raddle/sim/result/result.h"
#include "raddle/sim/setup/setup.h"
#include "raddle/trace/file.h"

namespace raddle::sim {

struct Progress {
  std::uint64_t launches = 0;  ///< finished
  std::string kernel;          ///< running now
  Cycle cycles = 0;            ///< simulated so far (of the set-up whose clock runs)
  std::size_t setup = 0;       ///< which that is
  /// Of the launch that is being executed; then nothing else is told but its kernel.
  const exec::LaunchProgress* executing = nullptr;
};

struct Options {
  bool functional = false;  ///< no timing
  bool skip = true;
  bool shuffle = false;  ///< tests only
  bool audit = false;    ///< tests only: RunError when a conservation law does not hold at the end
  unsigned threads = 1;
  Cycle max_cycles = kNever;
  Cycle sample_interval = 0;
  std::uint64_t max_warp_instructions = 0;  ///< of one launch; 0 = no limit
  /// The first so many launches of the host, with all that they launch, are timed, recorded and
  /// analysed; the others are executed only. 0 = all.
  std::uint64_t first_launches = 0;
  /// Each launch of the host, with all that it launches, is timed so often, one after another when
  /// the GPU is idle, and stands so often in the result. The first leaves the caches to the others,
  /// as the passes of a profiler do. Precondition where it is not 1: neither live nor estimated.
  unsigned passes = 1;
  std::vector<double> ipc_alone;  ///< of a co-run's tenants, told to the scheme; empty = not known
  std::vector<AnalysisRequest> analyses;         ///< of every set-up
  std::function<void(std::string_view)> print;   ///< device printf
  std::function<void(const std::string&)> note;  ///< see runtime::SimulatedDeviceOptions
  exec::OutOfBounds out_of_bounds = exec::OutOfBounds::Fault;
  /// Of what kernels do. Precondition: neither live nor with the analysis of dependencies.
  exec::CheckOptions checks;
  std::function<void(const Progress&)> progress;
  /// The last launch of a set-up has been timed, all of them in so many seconds. In order of
  /// set-ups.
  std::function<void(std::size_t setup, double seconds)> timed;
  std::uint64_t max_stream_bytes = 0;  ///< of one launch, in memory at once; 0 = no limit
};

struct WorkloadInfo {
  std::string name;
  nlohmann::ordered_json parameters;
};

/// Runs the workload once and gives one result per set-up, in order. Precondition: the workload
/// sees the same of all of them (seen.h). Only one may be given when live. With options.functional,
/// one result without timing.
std::vector<Result> simulate(runtime::Workload& workload, const WorkloadInfo& info,
                             std::span<Setup> setups, const Options& options);

/// Executes the workload and stores its op streams in `path`. One result without timing; its
/// verdict goes into the file.
Result record(runtime::Workload& workload, const WorkloadInfo& info, Setup& setup,
              const Options& options, const std::string& path);

/// Times the launches of a recording on each set-up. Equal to simulate() of what was recorded, bit
/// for bit, given the seed it was recorded with.
std::vector<Result> replay(const trace::Recording& recording, std::span<Setup> setups,
                           const Options& options);

/// Stores a recording of another kind in `path`. One result without timing.
Result convert(const trace::Recording& recording, Setup& setup, const Options& options,
               const std::string& path);

}  // namespace raddle::sim
