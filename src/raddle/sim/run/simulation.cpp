#include "raddle/sim/run/simulation.h"

#include <algorithm>
#include <utility>

#include "raddle/sim/profile/run_analyses.h"
#include "raddle/sim/run/named_workload.h"
#include "raddle/sim/run/parts.h"
#include "raddle/sim/run/recorder.h"
#include "raddle/sim/run/timed_gpu.h"

namespace raddle::sim {

namespace {

using Gpus = std::vector<std::unique_ptr<TimedGpu>>;

/// Core cycle of the first.
Cycle now(const Gpus& gpus) { return gpus.empty() ? 0 : gpus.front()->now(); }

/// One functional run, many clocks, or none where only the op streams are looked at.
class FanOut final : public runtime::LaunchSink {
 public:
  FanOut(Gpus& gpus, RunAnalyses& analyses, const Options& options)
      : gpus_(gpus), analyses_(analyses), options_(options) {}
  void admit(const trace::KernelCode& code, const trace::LaunchShape& shape) override {
    for (auto& gpu : gpus_) gpu->admit(code, shape);
  }
  void allocated(const trace::AllocationChanges& changes) override {
    for (auto& gpu : gpus_) gpu->allocated(changes);
  }
  bool can_follow() const override { return gpus_.size() == 1 && !analyses_.of_streams(); }
  void submit(std::shared_ptr<trace::KernelStream> stream,
              const runtime::LaunchRecord& record) override {
    notify_progress(record);
    analyses_.tree({{stream, record}});
    for (auto& gpu : gpus_) gpu->submit(stream, record);
  }
  void submit_tree(const std::vector<runtime::LaunchedStream>& tree) override {
    notify_progress(tree.front().record);
    analyses_.tree(tree);
    for (auto& gpu : gpus_) gpu->submit_tree(tree);
  }
  runtime::Milestone record(StreamId stream) override {
    runtime::Milestone mark = 0;  // all count alike
    for (auto& gpu : gpus_) mark = gpu->record(stream);
    return mark;
  }
  void wait(StreamId stream, runtime::Milestone mark) override {
    for (auto& gpu : gpus_) gpu->wait(stream, mark);
  }
  void host_wrote(Address at, std::uint64_t bytes) override {
    for (auto& gpu : gpus_) gpu->host_wrote(at, bytes);
  }
  void host_read(Address at, std::uint64_t bytes) override {
    for (auto& gpu : gpus_) gpu->host_read(at, bytes);
  }
  void synchronize() override {
    for (auto& gpu : gpus_) gpu->synchronize();
  }
  void synchronize(runtime::Milestone mark) override {
    for (auto& gpu : gpus_) gpu->synchronize(mark);
  }
  /// Host code that asks may do one thing or another with the answer, and there is one host.
  Cycle reached(runtime::Milestone mark) const override {
    if (gpus_.empty()) return 0;
    const Cycle at = gpus_.front()->reached(mark);
    for (const auto& gpu : gpus_)
      if (gpu->reached(mark) != at)
        throw InputError(
            "the workload asks how long its launches took, which each set-up answers in its own "
            "way: time them one by one, with raddle run");
    return at;
  }
  double milliseconds(Cycle cycles) const override {  // their clocks are alike
    return gpus_.empty() ? 0 : gpus_.front()->milliseconds(cycles);
  }

 private:
  void notify_progress(const runtime::LaunchRecord& next) const {
    if (options_.progress) options_.progress({next.sequence, next.name, now(gpus_)});
  }
  Gpus& gpus_;
  RunAnalyses& analyses_;  // of what is executed
  const Options& options_;
};

}  // namespace

// --- simulate -----------------------------------------------------------------------------------

namespace {

/// One for each set-up; none in a functional run.
Gpus make_gpus(std::span<Setup> setups, const Options& options) {
  Gpus gpus;
  if (options.functional) return gpus;
  for (Setup& setup : setups) {
    check_tenants(setup, 1);
    gpus.push_back(std::make_unique<TimedGpu>(setup, options, gpus.size()));
  }
  return gpus;
}

AnalysedRun analysed(std::span<const Setup> setups, const Options& options) {
  return {.timed = !options.functional,
          .sampled = std::ranges::any_of(
              setups, [](const Setup& one) { return one.run.sampling_error != 0; }),
          .live = setups.front().run.live,
          .some_launches = options.first_launches != 0};
}

}  // namespace

std::vector<Result> simulate(runtime::Workload& workload, const WorkloadInfo& info,
                             std::span<Setup> setups, const Options& options) {
  const auto start = Clock::now();
  const SeenByWorkload seen = seen_by_workload(setups.front());
  if (seen.live && setups.size() > 1)
    throw InputError(
        "live execution times one set-up at a time: what it does depends on the timing");
  for (const Setup& setup : setups) {
    RADDLE_ASSERT(seen_by_workload(setup) == seen);
    check_capability(workload, info.name, setup);
  }
  check_analyses(options.analyses, analysed(setups, options));
  RunAnalyses analyses = RunAnalyses::of_execution(options.analyses);
  auto checks = checks_of(options.checks);
  Gpus gpus = make_gpus(setups, options);
  FanOut sink(gpus, analyses, options);
  runtime::SimulatedDeviceOptions settings = device_options(seen, options);
  if (!options.functional || analyses.of_streams()) settings.sink = &sink;
  settings.observer = analyses.of_words();
  settings.checks = checks ? &*checks : nullptr;
  runtime::SimulatedDevice device(settings);
  Result judged;
  try {
    run_and_judge(workload, device, seen.seed, judged);
  } catch (const RunError& fault) {
    const std::string found = found_before_a_fault(checks);
    if (found.empty()) throw;
    throw RunError(fault.what() + found);
  }
  if (options.timed)
    for (std::size_t i = 0; i < gpus.size(); ++i) options.timed(i, gpus[i]->seconds());

  std::vector<Result> results;
  for (std::size_t i = 0; i < (options.functional ? 1 : setups.size()); ++i) {
    Result& result = results.emplace_back(blank(info, setups[i], options));
    result.input_hash = judged.input_hash;
    result.verdict = judged.verdict;

    result.difference = judged.difference;
    result.host.functional_seconds = judged.host.functional_seconds;
    if (options.functional) fill_functional(result, device.launches());
    else gpus[i]->fill(result);
    fill_launches(result, device);
    analyses.fill(result.analysis, RunTotals{});
    if (checks) result.checks.emplace(*checks);
    if (!options.functional && options.audit) gpus[i]->audit();
    finish(result, start);
  }
  return results;
}

// --- record and replay --------------------------------------------------------------------------

namespace {

/// Does again what a host did between two launches: a list of [name, number ...], checked.
void play(const nlohmann::ordered_json& operations, TimedGpu& gpu) {
  for (const auto& operation : operations) {
    const std::string name = operation.at(0);
    auto number = [&](std::size_t i) { return operation.at(i).get<std::uint32_t>(); };
    auto wide = [&](std::size_t i) { return operation.at(i).get<std::uint64_t>(); };
    if (name == Recorder::kRecord) gpu.record(StreamId{number(1)});
    else if (name == Recorder::kWait) gpu.wait(StreamId{number(1)}, number(2));
    else if (name == Recorder::kWrite) gpu.host_wrote(wide(1), wide(2));
    else if (name == Recorder::kRead) gpu.host_read(wide(1), wide(2));
    else if (operation.size() == 1) gpu.synchronize();
    else gpu.synchronize(number(1));
  }
}

void submit(const std::vector<runtime::LaunchedStream>& tree, TimedGpu& gpu) {
  for (const auto& [stream, record] : tree) gpu.admit(stream->code(), stream->shape());
  gpu.submit_tree(tree);
}

WorkloadInfo info_of(const trace::Recording& recording) {
  return {recording.header().at("workload"), recording.header().at("parameters")};
}

std::vector<runtime::LaunchedStream> tree_of(const trace::Recording& recording, std::size_t from,
                                             std::size_t to) {
  std::vector<runtime::LaunchedStream> tree;
  for (; from < to; ++from) {
    const trace::LaunchHeader& launch = recording.launch(from);
    std::shared_ptr<trace::KernelStream> stream = recording.open(from);
    const trace::LaunchShape& shape = stream->shape();
    const runtime::LaunchRecord record{launch.sequence,
                                       launch.name,
                                       shape.grid,
                                       shape.block,
                                       StreamId{launch.stream},
                                       launch.warp_instructions,
                                       launch.thread_instructions,
                                       launch.origin,
                                       launch.pointers};
    tree.push_back({std::move(stream), record});
  }
  return tree;
}

}  // namespace

Result record(runtime::Workload& workload, const WorkloadInfo& info, Setup& setup,
              const Options& options, const std::string& path) {
  const auto start = Clock::now();
  if (setup.run.live)
    throw InputError("a live run cannot be recorded: what it does depends on the timing");
  check_capability(workload, info.name, setup);
  trace::FileWriter file(
      path, {{"workload", info.name}, {"parameters", info.parameters}, {"seed", setup.run.seed}});
  Recorder sink(file, options);
  runtime::SimulatedDeviceOptions settings = device_options(seen_by_workload(setup), options);
  settings.sink = &sink;
  runtime::SimulatedDevice device(settings);
  Result result = blank(info, setup, options);
  run_and_judge(workload, device, setup.run.seed, result);
  fill_launches(result, device);
  file.finish(trailer_of(result, sink.take_operations()));
  fill_functional(result, device.launches());
  finish(result, start);
  return result;
}

Result convert(const trace::Recording& recording, Setup& setup, const Options& options,
               const std::string& path) {
  const auto start = Clock::now();
  trace::FileWriter file(path, recording.header());
  Result result = blank(info_of(recording), setup, options);
  result.timed = false;
  for (std::size_t i = 0; i < recording.launches(); ++i) {
    const trace::LaunchHeader& launch = recording.launch(i);
    if (options.progress) options.progress({i, launch.name, 0});
    const std::unique_ptr<trace::KernelStream> stream = recording.open(i);
    copy(*stream, file.begin(stream->code(), stream->shape(), launch));
    file.end(launch.warp_instructions, launch.thread_instructions);
    add_functional(result,
                   {launch.sequence, launch.name, stream->shape().grid, stream->shape().block,
                    StreamId{launch.stream}, launch.warp_instructions, launch.thread_instructions});
  }
  nlohmann::ordered_json trailer = recording.trailer();
  trailer.erase("import_cost");  // equal recordings give equal files
  file.finish(trailer);
  fill_verdict(result, recording.trailer());
  result.host.functional_seconds = seconds_since(start);
  finish(result, start);
  return result;
}

std::vector<Result> replay(const trace::Recording& recording, std::span<Setup> setups,
                           const Options& options) {
  const auto start = Clock::now();
  AnalysedRun run = analysed(setups, options);
  run.replayed = true;
  run.live = false;  // nothing is executed
  check_analyses(options.analyses, run);
  RunAnalyses analyses = RunAnalyses::of_execution(options.analyses);
  Gpus gpus = make_gpus(setups, options);
  std::vector<runtime::LaunchRecord> launches;
  std::uint64_t marks = 0, trees = 0, left_out = 0;
  for (std::size_t i = 0; i < recording.launches();) {
    const trace::LaunchHeader& launch = recording.launch(i);
    const std::size_t end = end_of_tree(recording, i);
    if (options.progress) options.progress({i, launch.name, now(gpus)});
    check_operations(launch.operations, marks);
    const bool timed = options.first_launches == 0 || trees < options.first_launches;
    for (auto& gpu : gpus) {
      play(launch.operations, *gpu);
      if (!launch.allocations.empty()) gpu->allocated(launch.allocations);
      if (timed) submit(tree_of(recording, i, end), *gpu);
    }
    ++(timed ? trees : left_out);
    if (!timed) {
      i = end;
      continue;
    }
    if (gpus.empty() || analyses.of_streams()) {
      const auto tree = tree_of(recording, i, end);
      analyses.tree(tree);
      for (const runtime::LaunchedStream& one : tree) launches.push_back(one.record);
    }
    i = end;
  }
  check_operations(recording.trailer().at("operations"), marks);
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    play(recording.trailer().at("operations"), *gpus[i]);
    gpus[i]->synchronize();
    if (options.timed) options.timed(i, gpus[i]->seconds());
  }
  std::vector<Result> results;
  for (std::size_t i = 0; i < (options.functional ? 1 : setups.size()); ++i) {
    Result& result = results.emplace_back(blank(info_of(recording), setups[i], options));
    fill_verdict(result, recording.trailer());
    if (options.functional) fill_functional(result, launches);
    else gpus[i]->fill(result);
    result.launches_left_out += left_out;
    analyses.fill(result.analysis, RunTotals{});
    if (!options.functional && options.audit) gpus[i]->audit();
    finish(result, start);
  }
  return results;
}

}  // namespace raddle::sim
