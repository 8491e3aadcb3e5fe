#include "raddle/api/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

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

std::vector<std::string> kernel_files_of(const std::string& list) {
  std::vector<std::string> out;
  try {
    for (accelsim::Command& command : accelsim::read_kernels_list(list))
      if (!command.kernel_file.empty()) out.push_back(std::move(command.kernel_file));
  } catch (const InputError&) {
  }
  return out;
}

void keep_inputs_of(const std::vector<std::string>& words, const std::string& file) {
  std::vector<std::string> inputs;
  for (const std::string& word : words) inputs.push_back(word.substr(word.find('=') + 1));
  if (!words.empty() && accelsim::is_kernels_list(words.front()))
    std::ranges::move(kernel_files_of(words.front()), std::back_inserter(inputs));
  std::error_code error;  // of a name that leads nowhere: no file that could be lost
  for (const std::string& input : inputs)
    if (std::filesystem::is_regular_file(file, error) &&
        std::filesystem::equivalent(file, input, error))
      throw InputError({file}, "it is read: expected another file to write");
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
