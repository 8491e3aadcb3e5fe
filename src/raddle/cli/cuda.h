// Workloads on a real GPU: raddle run --on cuda, and the measuring half of raddle validate.
#pragma once
#include <CLI/CLI.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "raddle/runtime/cuda_device.h"
#include "raddle/sim/measurement.h"
#include "raddle/sim/named_workload.h"

namespace raddle::cli {

struct CudaOptions {
  std::string library = "libcuda.so.1";
  int device = 0;
  std::string ncu = "ncu";  ///< NVIDIA Nsight Compute; looked for in PATH
  bool counters = true;     ///< ask it for counters when it is there
};

/// --libcuda, --device, --ncu.
void add_cuda_options(CLI::App& command, CudaOptions& options);

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

/// Runs the workload once by itself, for its result and the times by events; then, where ncu is
/// installed and wanted, once more under it, for counters. `words`: the workload as on the command
/// line.
CudaRun run_on_cuda(const std::vector<std::string>& words, std::uint64_t seed,
                    const CudaOptions& options);

/// Rows of `ncu --csv --page raw`. Throws RunError when that is not what the text is.
std::vector<sim::Measurement> read_ncu(const std::string& text);

}  // namespace raddle::cli
