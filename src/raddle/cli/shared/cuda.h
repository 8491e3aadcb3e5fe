// Workloads on a real GPU: raddle run --on cuda, and the measuring half of raddle validate.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "raddle/cli/shared/modes.h"
#include "raddle/runtime/cuda_device.h"
#include "raddle/sim/run/named_workload.h"
#include "raddle/sim/validate/measurement.h"

namespace raddle::cli {

struct CudaOptions {
  std::string library = "libcuda.so.1";
  int device = 0;
  std::string ncu = "ncu";  ///< NVIDIA Nsight Compute; looked for in PATH
  bool counters = true;     ///< ask it for counters when it is there
  std::string clock_control = "base", cache_control = "none";  ///< ncu's, in its words
};

/// --libcuda, --device, --ncu-program, --clock-control, --cache-control, --no-counters: in `in`,
/// the modes of the command that use a GPU.
void add_cuda_options(CLI::App& command, CudaOptions& options, OptionModes& modes, ModeSet in);

/// What a run on a GPU gave.
struct CudaRun {
  std::string workload;
  nlohmann::ordered_json parameters;
  std::uint64_t input_hash = 0;
  bool checked = false;
  std::string difference;  ///< from the CPU's result; "" when there is none
  runtime::CudaDeviceFacts device;
  std::vector<runtime::MeasuredLaunch> launches;
  std::vector<sim::Measurement> measurements;      ///< of the launches
  std::map<std::string, std::string> conventions;  ///< for the file's head
  nlohmann::ordered_json to_json() const;
};

/// A workload and its parameters, as on the command line.
using WorkloadWords = std::vector<std::string>;

/// Who runs many on a machine that may be taken away is told of each. One that fails ends all
/// where nobody listens to that.
struct CudaListener {
  std::function<void(const std::vector<CudaRun>& so_far)> ran = nullptr;
  std::function<void(const std::string& workload, const std::string& why)> failed = nullptr;
};

/// Runs each workload once by itself, for its result and the times by events; then, where ncu is
/// installed and wanted, all that ended well once more under it, for counters.
std::vector<CudaRun> run_on_cuda(const std::vector<WorkloadWords>& works, std::uint64_t seed,
                                 const CudaOptions& options, const CudaListener& listener = {});

/// Rows of `ncu --csv --page raw`. A rate of which more were hits than accesses, by over 2 %, is
/// not known: they were counted in different passes. Throws RunError when that is not what the
/// text is.
std::vector<sim::Measurement> read_ncu(const std::string& text);

}  // namespace raddle::cli
