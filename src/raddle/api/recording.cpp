#include "raddle/api/recording.h"

#include <fmt/format.h>

#include <algorithm>

#include "raddle/accelsim/kernels_list.h"
#include "raddle/accelsim/recording.h"
#include "raddle/runtime/workload.h"
#include "raddle/sim/run/recording_checks.h"
#include "raddle/trace/file.h"

namespace raddle::api {

bool is_recording(const std::string& name) {
  return name.ends_with(".rdl") || accelsim::is_kernels_list(name);
}

std::unique_ptr<trace::Recording> open_recording(const std::string& file) {
  if (accelsim::is_kernels_list(file)) return std::make_unique<accelsim::TraceRecording>(file);
  return std::make_unique<trace::FileReader>(file, sim::recording_checks());
}

void check_run(const trace::Recording& recording, const std::string& file,
               const sim::Setup& setup) {
  if (setup.run.live)
    throw InputError({file}, "run.live: a recording is timed as it was recorded: leave it out");
  const std::uint64_t seed = setup.run.seed;
  const nlohmann::ordered_json& header = recording.header();
  const std::vector<std::string> known = runtime::all_workloads().names();
  const std::string name = header.at("workload");
  const auto own = header.at("seed").get<std::uint64_t>();
  if (seed == own || !std::ranges::binary_search(known, name)) return;
  throw InputError({file}, fmt::format("run.seed: expected {}, with which the inputs were made "
                                       "before they were recorded, found {}",
                                       own, seed));
}

}  // namespace raddle::api
