#include "raddle/api/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <sstream>

#include "raddle/accelsim/kernels_list.h"
#include "raddle/accelsim/recording.h"
#include "raddle/base/files.h"
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

std::vector<std::string> files_named_in(const std::string& file) {
  // What each is for is not asked, so that no key can be forgotten here.
  constexpr std::uint64_t kMaximum = std::uint64_t{256} << 20;
  const std::string text = read_text(file, kMaximum, "a machine or an experiment");
  std::vector<std::string> out;
  const auto add = [&](const std::string& name) {
    out.push_back(name);
    out.push_back((std::filesystem::path(file).parent_path() / name).string());
  };
  for (const char quote : {'"', '\''})
    for (std::size_t from = text.find(quote); from != std::string::npos;) {
      const std::size_t to = text.find_first_of(std::string{quote, '\n'}, from + 1);
      if (to == std::string::npos) break;
      // A work's short form has its file, its program and their arguments in one text.
      std::istringstream words(text.substr(from + 1, to - from - 1));
      add(words.str());
      for (std::string word; words >> word;) add(word);
      from = text.find(quote, text[to] == quote ? to + 1 : to);
    }
  return out;
}

void keep_inputs_of(const std::vector<std::string>& words, const std::string& file) {
  std::error_code error;  // of a name that leads nowhere: no file that could be lost
  if (!std::filesystem::is_regular_file(file, error)) return;
  std::vector<std::string> inputs = words;
  for (const std::string& word : words)
    if (const std::size_t equals = word.find('='); equals != std::string::npos)
      inputs.push_back(word.substr(equals + 1));
  for (std::size_t i = 0, named = inputs.size(); i < named; ++i) {
    if (!std::filesystem::is_regular_file(inputs[i], error)) continue;
    if (inputs[i].ends_with(".toml"))
      std::ranges::move(files_named_in(inputs[i]), std::back_inserter(inputs));
    if (accelsim::is_kernels_list(inputs[i]))
      std::ranges::move(kernel_files_of(inputs[i]), std::back_inserter(inputs));
  }
  for (const std::string& input : inputs)
    if (std::filesystem::equivalent(file, input, error))
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
