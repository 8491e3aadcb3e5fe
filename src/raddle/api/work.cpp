#include "raddle/api/work.h"

#include <algorithm>
#include <map>
#include <utility>

#include "raddle/api/recording.h"
#include "raddle/api/settings.h"
#include "raddle/base/json.h"
#include "raddle/runtime/workload.h"
#include "raddle/sim/setup/seen.h"

namespace raddle::api {

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) {
    const bool plain =
        !word.empty() && word.find_first_of(" \t\n'\"$\\`*?[]{}()<>|&;#~!") == std::string::npos;
    out += out.empty() ? "" : " ";
    if (plain) {
      out += word;
      continue;
    }
    out += '\'';
    for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    out += '\'';
  }
  return out;
}

Work::Work(std::string name, std::unique_ptr<Program> program)
    : name_(std::move(name)), program_(std::move(program)) {}

Work::Work(const std::vector<std::string>& words) : name_(words.front()) {
  if (is_recording(name_)) {
    if (words.size() > 1)
      throw InputError("'" + words[1] + "': a recording has its parameters already (" + name_ +
                       ")");
    recording_ = open_recording(name_);
    return;
  }
  parameters_ = {words.begin() + 1, words.end()};
  workload_ = make_workload(name_, parameters_);
  title_ = joined(words);
}

sim::WorkloadInfo Work::info() const {
  sim::WorkloadInfo out = workload_.info;
  if (program_ != nullptr) out = program_->info();
  else if (recording_ != nullptr)
    out = {recording_->header().at("workload"), recording_->header().at("parameters")};
  if (!called_.empty()) out.name = called_;
  return out;
}

std::optional<std::uint64_t> Work::seed() const {
  return recording_ == nullptr
             ? std::nullopt
             : std::optional<std::uint64_t>(recording_->header().at("seed").get<std::uint64_t>());
}

void Work::check_run(const sim::Setup& machine) const {
  if (is_recorded()) api::check_run(*recording_, name_, machine);
  if (workload_.workload) sim::check_capability(*workload_.workload, name_, machine);
}

std::string Work::execution_of(const sim::Setup& machine) const {
  if (is_recorded()) return "";
  nlohmann::ordered_json seen = sim::seen_by_workload(machine).json();
  if (is_program()) {
    seen.erase("seed");  // which no program is told
    seen["by_program"] = sim::seen_by_program(machine).json();
  }
  return json_dump(seen);
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

report::Stream Work::stream_of(const sim::Setup& machine, const sim::Setup& other) const {
  using report::Stream;
  if (!is_recorded()) {
    const bool live = machine.run.live || other.run.live;
    return !live && execution_of(machine) == execution_of(other) ? Stream::Same : Stream::Anew;
  }
  bool same = sim::seen_by_workload(machine) == sim::seen_by_workload(other);
  const std::vector<std::string> workloads = runtime::all_workloads().names();
  const std::string name = recording_->header().at("workload");
  if (!std::ranges::binary_search(workloads, name))  // a program, which can ask for more
    same = same && sim::seen_by_program(machine).json() == sim::seen_by_program(other).json();
  return same ? Stream::Same : Stream::Recorded;
}

void Work::prepare(sim::Setup& machine, const sim::Options& options) {
  if (program_ == nullptr) return;
  recording_ = nullptr;  // of an execution before, in a folder that goes with it
  folder_ = std::make_unique<TemporaryFolder>("raddle-record");
  const std::string file = folder_->path() / "program.rdl";
  program_->record(machine, options, file);
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
  return out;
}

namespace {

bool same(const sim::WorkloadInfo& a, const sim::WorkloadInfo& b) {
  return a.name == b.name && a.parameters == b.parameters;
}

}  // namespace

void distinguish(std::span<Work> works) {
  std::vector<sim::WorkloadInfo> infos;
  for (const Work& work : works) infos.push_back(work.info());
  for (std::size_t i = 0; i < works.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (same(infos[i], infos[j])) {
        works[i].call_by_file();
        works[j].call_by_file();
      }
  for (std::size_t i = 0; i < works.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (same(works[i].info(), works[j].info()))
        throw InputError("compare: '" + works[i].name() + "' is there twice");
}

std::vector<sim::Result> time_all(Work& work, std::vector<sim::Setup> machines,
                                  const OptionsOfExecution& options) {
  std::vector<std::optional<sim::Result>> found(machines.size());
  for (const std::vector<std::size_t>& which : work.executions(machines)) {
    std::vector<sim::Setup> together;
    for (const std::size_t i : which) together.push_back(std::move(machines[i]));
    const sim::Options of = options(together.front(), which);
    std::vector<sim::Result> results = work.time(together, of);
    for (std::size_t i = 0; i < which.size(); ++i) found[which[i]] = std::move(results[i]);
  }
  std::vector<sim::Result> out;
  for (std::optional<sim::Result>& one : found) out.push_back(std::move(one.value()));
  return out;
}

}  // namespace raddle::api
