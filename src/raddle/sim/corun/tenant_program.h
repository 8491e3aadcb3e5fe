// What a tenant of a co-run does, again and again: a workload that has been executed, or a
// recording, in memory. What its host does between launches is kept as the recorder keeps it.
#pragma once
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "raddle/runtime/launch_sink.h"
#include "raddle/sim/result/result.h"
#include "raddle/sim/run/simulation.h"
#include "raddle/trace/recording.h"

namespace raddle::sim {

/// Bytes of global memory from `begin` to `end`, whole lines; empty when nothing is touched.
struct Footprint {
  Address begin = ~Address{0}, end = 0;
  std::uint64_t bytes() const { return end > begin ? end - begin : 0; }
};

struct TenantProgram {
  WorkloadInfo info;
  std::uint64_t input_hash = 0;
  Result::Verdict verdict = Result::Verdict::Unchecked;
  std::string difference;
  struct Step {
    nlohmann::ordered_json operations;          ///< of the host, before the launch
    std::vector<runtime::LaunchedStream> tree;  ///< empty at the end of the program
  };
  std::vector<Step> steps;
  Footprint footprint;
};

/// Executes the workload and checks its result. Throws InputError when it launches nothing.
TenantProgram execute_tenant(runtime::Workload& workload, const WorkloadInfo& info,
                             const Setup& setup, const Options& options);
/// Reads the whole recording once, and keeps what is run: blocks of a file when they first start,
/// of other recordings all. Throws InputError when there is no launch in it.
TenantProgram load_tenant(std::shared_ptr<const trace::Recording> recording);

}  // namespace raddle::sim
