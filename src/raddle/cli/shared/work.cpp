#include "raddle/cli/shared/work.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "raddle/cli/shared/cuda_program.h"
#include "raddle/cli/shared/exec.h"
#include "raddle/cli/shared/output.h"
#include "raddle/cli/shared/recording.h"
#include "raddle/cli/shared/reports.h"
#include "raddle/sim/result/identity.h"
#include "raddle/sim/setup/seen.h"

namespace raddle::cli {

std::vector<std::string> words_of_program(const std::vector<std::string>& arguments) {
  const auto dashes = std::ranges::find(arguments, "--");
  return {dashes == arguments.end() ? dashes : dashes + 1, arguments.end()};
}

Work Work::program(std::vector<std::string> words) {
  find_program(words.front());  // refused now, not after others have run
  Work out;
  out.name_ = joined(words);
  out.program_ = std::move(words);
  return out;
}

Work::Work(const std::vector<std::string>& words) : name_(words.front()) {
  const bool recording = is_recording(name_);
  if (words.size() > 1 && (recording || is_program(name_)))
    throw InputError("'" + words[1] + "': " +
                     (recording ? "a recording has its parameters already (" + name_ + ")"
                                : "arguments of a program stand behind --: -- " + joined(words)));
  if (recording) recording_ = open_recording(name_);
  else if (is_program(name_)) *this = program(words);
  else {
    parameters_ = {words.begin() + 1, words.end()};
    workload_ = make_workload(name_, parameters_);
    title_ = joined(words);
  }
}

sim::WorkloadInfo Work::info() const {
  sim::WorkloadInfo out = workload_.info;
  if (recording_ != nullptr)
    out = {recording_->header().at("workload"), recording_->header().at("parameters")};
  else if (!program_.empty())
    out = {std::filesystem::path(program_.front()).filename().string(),
           {{"arguments", std::vector<std::string>(program_.begin() + 1, program_.end())}}};
  if (!called_.empty()) out.name = called_;
  return out;
}

std::optional<std::uint64_t> Work::seed() const {
  return recording_ == nullptr
             ? std::nullopt
             : std::optional<std::uint64_t>(recording_->header().at("seed").get<std::uint64_t>());
}

void Work::check_seed(const sim::Setup& machine) const {
  if (is_recorded()) cli::check_seed(*recording_, name_, machine.run.seed);
}

std::string Work::execution_of(const sim::Setup& machine) const {
  if (is_recorded()) return "";
  nlohmann::ordered_json seen = sim::seen_by_workload(machine).json();
  if (is_cuda_program()) {
    seen.erase("seed");  // which no program is told
    seen["by_program"] = sim::seen_by_program(machine).json();
  }
  return seen.dump();
}

std::vector<std::vector<std::size_t>> Work::executions(std::span<const sim::Setup> machines) const {
  std::vector<std::vector<std::size_t>> out;
  std::map<std::string, std::size_t> known;
  for (std::size_t i = 0; i < machines.size(); ++i) {
    if (machines[i].run.live && !is_recorded()) {
      out.push_back({i});
      continue;
    }
    const auto [at, first] = known.try_emplace(execution_of(machines[i]), out.size());
    if (first) out.emplace_back();
    out[at->second].push_back(i);
  }
  return out;
}

void Work::prepare(sim::Setup& machine, const CommonOptions& common) {
  if (program_.empty()) return;
  recording_ = nullptr;  // of an execution before, in a folder that goes with it
  folder_ = std::make_unique<TemporaryFolder>("raddle-record");
  const std::string file = folder_->path() / "program.rdl";
  ProgramRun run{program_, "", 0, common.out_of_bounds};
  run.input_hash =
      sim::hash_of_program(find_program(program_.front()).path, std::span(program_).subspan(1), "");
  record_program(run, machine, common.simulation(machine), file);
  recording_ = open_recording(file);
}

std::vector<sim::Result> Work::time(std::span<sim::Setup> machines, const sim::Options& options) {
  if (recording_ == nullptr && workload_.workload == nullptr)
    workload_ = make_workload(name_, parameters_);
  std::vector<sim::Result> out =
      recording_ != nullptr ? sim::replay(*recording_, machines, options)
                            : sim::simulate(*workload_.workload, workload_.info, machines, options);
  if (!called_.empty())
    for (sim::Result& result : out) result.workload = called_;
  workload_.workload.reset();
  warn_of_refusals(out.front());  // executed once, whatever times it
  return out;
}

}  // namespace raddle::cli
