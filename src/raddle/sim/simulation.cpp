#include "raddle/sim/simulation.h"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <utility>

#include "raddle/config/writer.h"
#include "raddle/lowering/lowering.h"

namespace raddle::sim {

namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Adds the time of its life.
class Stopwatch {
 public:
  explicit Stopwatch(double& seconds) : seconds_(seconds), start_(Clock::now()) {}
  ~Stopwatch() { seconds_ += seconds_since(start_); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double& seconds_;
  Clock::time_point start_;
};

std::uint64_t peak_rss_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

timing::GpuOptions gpu_options(const Setup& setup, const Options& options) {
  timing::GpuOptions out;
  out.skip = options.skip;
  out.threads = options.threads;
  out.seed = setup.run.seed;
  out.max_cycles = options.max_cycles;
  out.shuffle = options.shuffle;
  out.sample_interval = options.sample_interval;
  return out;
}

/// One functional run, many clocks.
class FanOut final : public runtime::LaunchSink {
 public:
  FanOut(std::vector<std::unique_ptr<TimedGpu>>& gpus, const Options& options)
      : gpus_(gpus), options_(options) {}
  void admit(const trace::KernelCode& code, const trace::LaunchShape& shape) override {
    for (auto& gpu : gpus_) gpu->admit(code, shape);
  }
  void submit(std::shared_ptr<trace::KernelStream> stream,
              const runtime::LaunchRecord& record) override {
    if (options_.progress) options_.progress({record.sequence, record.name, gpus_.front()->now()});
    for (auto& gpu : gpus_) gpu->submit(stream, record);
  }
  runtime::Mark record(StreamId stream) override {
    runtime::Mark mark = 0;  // all count alike
    for (auto& gpu : gpus_) mark = gpu->record(stream);
    return mark;
  }
  void wait(StreamId stream, runtime::Mark mark) override {
    for (auto& gpu : gpus_) gpu->wait(stream, mark);
  }
  void synchronize() override {
    for (auto& gpu : gpus_) gpu->synchronize();
  }
  void synchronize(runtime::Mark mark) override {
    for (auto& gpu : gpus_) gpu->synchronize(mark);
  }
  Cycle reached(runtime::Mark mark) const override { return gpus_.front()->reached(mark); }
  double milliseconds(Cycle cycles) const override { return gpus_.front()->milliseconds(cycles); }

 private:
  std::vector<std::unique_ptr<TimedGpu>>& gpus_;
  const Options& options_;
};

void fill_functional(Result& result, const runtime::SimulatedDevice& device) {
  result.timed = false;
  for (const runtime::LaunchRecord& launch : device.launches()) {
    KernelResult kernel;
    kernel.name = launch.name;
    kernel.grid = launch.grid, kernel.block = launch.block;
    kernel.stream = index(launch.stream);
    kernel.counters.sm.issued = kernel.warp_instructions = launch.warp_instructions;
    kernel.counters.sm.thread_instructions = kernel.thread_instructions =
        launch.thread_instructions;
    stats::accumulate(result.totals.sm, kernel.counters.sm);
    result.kernels.push_back(std::move(kernel));
  }
}

runtime::SimulatedDeviceOptions device_options(const Setup& setup, const Options& options) {
  runtime::SimulatedDeviceOptions out;
  out.live = setup.run.live && !options.functional;
  out.max_warp_instructions = options.max_warp_instructions;
  out.max_threads_per_block = setup.machine.sm.max_threads_per_block;
  out.sms = setup.machine.sm.count;
  out.warps_per_sm = setup.machine.sm.warps;
  out.print = options.print;
  return out;
}

void judge(Result& result, runtime::Workload& workload, const std::string& difference) {
  result.input_hash = workload.input_hash();
  result.difference = difference;
  result.verdict = !workload.checked()  ? Result::Verdict::Unchecked
                   : difference.empty() ? Result::Verdict::Correct
                                        : Result::Verdict::Wrong;
}

}  // namespace

// --- TimedGpu
// -------------------------------------------------------------------------------------

TimedGpu::TimedGpu(Setup& setup, const Options& options)
    : setup_(setup), gpu_(setup.machine, setup.choices(), gpu_options(setup, options)) {}

std::shared_ptr<const trace::LoweredCode> TimedGpu::lowered(const trace::KernelCode& code) {
  auto& known = lowered_[&code];
  if (known == nullptr)
    known = std::make_shared<const trace::LoweredCode>(lowering::lower(code, setup_.isa));
  return known;
}

void TimedGpu::admit(const trace::KernelCode& code, const trace::LaunchShape& shape) {
  const timing::Residency fit = timing::residency(setup_.machine.sm, lowered(code)->code, shape);
  if (fit.blocks == 0) throw InputError(fit.reason + " (machine " + setup_.machine.name + ")");
}

void TimedGpu::submit(std::shared_ptr<trace::KernelStream> stream,
                      const runtime::LaunchRecord& record) {
  const Stopwatch watch(seconds_);
  KernelResult kernel;
  kernel.name = record.name;
  kernel.grid = record.grid, kernel.block = record.block;
  kernel.stream = index(record.stream);
  kernels_.push_back(std::move(kernel));
  auto code = lowered(stream->code());
  gpu_.submit(std::move(stream), std::move(code),
              {record.name, record.stream, record.sequence, record.warp_instructions});
}

runtime::Mark TimedGpu::record(StreamId stream) {
  marks_.push_back(kNever);
  return gpu_.record(stream);
}

void TimedGpu::wait(StreamId stream, runtime::Mark mark) { gpu_.wait(stream, mark); }

void TimedGpu::synchronize() {
  const Stopwatch watch(seconds_);
  gpu_.run_until_idle();
}

void TimedGpu::synchronize(runtime::Mark mark) {
  const Stopwatch watch(seconds_);
  marks_.at(mark) = gpu_.run_until(mark);
}

void TimedGpu::audit() {
  std::string broken;
  for (const std::string& law : gpu_.audit()) broken += "\n" + law;
  if (!broken.empty()) throw RunError("counts that do not add up:" + broken);
}

double TimedGpu::milliseconds(Cycle cycles) const {
  return static_cast<double>(cycles) / (setup_.machine.core_clock_mhz * 1e3);
}

void TimedGpu::fill(Result& result) {
  result.cycles = gpu_.now();
  result.totals = gpu_.counters();
  const std::vector<timing::KernelRun>& runs = gpu_.kernels();
  for (std::size_t i = 0; i < kernels_.size(); ++i) {
    KernelResult& kernel = kernels_[i];
    kernel.start = runs[i].start, kernel.begin = runs[i].begin, kernel.end = runs[i].end;
    kernel.counters = runs[i].counters;
    kernel.warp_instructions = kernel.counters.sm.issued;
    kernel.thread_instructions = kernel.counters.sm.thread_instructions;
  }
  result.kernels = std::move(kernels_);
  const timing::MachineSpec& machine = setup_.machine;
  result.energy = energy::energy(result.totals, setup_.energy,
                                 {result.cycles, machine.sm.schedulers, machine.l2.slices});
  for (KernelResult& kernel : result.kernels)
    kernel.energy = energy::dynamic_energy(kernel.counters, setup_.energy);
  result.blocks = gpu_.block_spans();
  result.samples = gpu_.samples();
  result.request_ports = gpu_.request_ports(), result.reply_ports = gpu_.reply_ports();
  result.component_hash = gpu_.hash();
  result.host.timing_seconds = seconds_;
  each_level(setup_, [&](std::string_view level, auto& choice) {
    config::JsonWriter statistics;
    gpu_.visit_policy_statistics(level, statistics);
    result.policies[std::string(level)] = {{"name", choice->name()},
                                           {"parameters", config::to_json(*choice)},
                                           {"statistics", statistics.take()}};
  });
}

// --- simulate
// -------------------------------------------------------------------------------------

namespace {

using Gpus = std::vector<std::unique_ptr<TimedGpu>>;

Gpus make_gpus(std::span<Setup> setups, const Options& options) {
  Gpus gpus;
  for (Setup& setup : setups) gpus.push_back(std::make_unique<TimedGpu>(setup, options));
  return gpus;
}

/// What every result of a run has, timed or not.
Result blank(const WorkloadInfo& info, Setup& setup, const Options& options) {
  Result result;
  result.workload = info.name;
  result.parameters = info.parameters;
  result.config = setup.config();
  result.schedulers = setup.machine.sm.count * setup.machine.sm.schedulers;
  result.core_clock_mhz = setup.machine.core_clock_mhz;
  result.sample_interval = options.sample_interval;
  result.host.threads = options.threads;
  return result;
}

void finish(Result& result, Clock::time_point start) {
  result.host.wall_seconds = seconds_since(start);
  result.host.peak_rss_bytes = peak_rss_bytes();
}

void run_and_judge(runtime::Workload& workload, runtime::SimulatedDevice& device,
                   std::uint64_t seed, Result& verdict) {
  workload.run(device, seed);
  device.synchronize();
  judge(verdict, workload, workload.checked() ? workload.check() : "");
  verdict.host.functional_seconds = device.functional_seconds();
}

}  // namespace

std::vector<Result> simulate(runtime::Workload& workload, const WorkloadInfo& info,
                             std::span<Setup> setups, const Options& options) {
  const auto start = Clock::now();
  const RunSettings run = setups.front().run;
  if (run.live && setups.size() > 1)
    throw InputError(
        "live execution times one set-up at a time: what it does depends on the timing");
  Gpus gpus = options.functional ? Gpus() : make_gpus(setups, options);
  FanOut sink(gpus, options);
  runtime::SimulatedDeviceOptions settings = device_options(setups.front(), options);
  if (!options.functional) settings.sink = &sink;
  runtime::SimulatedDevice device(settings);
  Result judged;
  run_and_judge(workload, device, run.seed, judged);

  std::vector<Result> results;
  for (std::size_t i = 0; i < (options.functional ? 1 : setups.size()); ++i) {
    Result& result = results.emplace_back(blank(info, setups[i], options));
    result.input_hash = judged.input_hash, result.verdict = judged.verdict,
    result.difference = judged.difference;
    result.host.functional_seconds = judged.host.functional_seconds;
    if (options.functional) fill_functional(result, device);
    else gpus[i]->fill(result);
    if (!options.functional && options.audit) gpus[i]->audit();
    finish(result, start);
  }
  return results;
}

// --- record and replay
// ----------------------------------------------------------------------------

namespace {

/// Operations of the host that are neither launches nor copies, as files name them.
constexpr const char *kRecord = "record", *kWait = "wait", *kSynchronize = "synchronize";

/// Stores each launch instead of timing it, and the order of everything.
class Recorder final : public runtime::LaunchSink {
 public:
  Recorder(trace::FileWriter& file, const Options& options) : file_(file), options_(options) {}
  void admit(const trace::KernelCode&, const trace::LaunchShape&) override {}
  void submit(std::shared_ptr<trace::KernelStream> stream,
              const runtime::LaunchRecord& r) override {
    if (options_.progress) options_.progress({r.sequence, r.name, 0});
    file_.add(*stream, {r.name, r.sequence, index(r.stream), r.warp_instructions,
                        r.thread_instructions, take_operations()});
  }
  runtime::Mark record(StreamId stream) override {
    operations_.push_back({kRecord, index(stream)});
    return marks_++;
  }
  void wait(StreamId stream, runtime::Mark mark) override {
    operations_.push_back({kWait, index(stream), mark});
  }
  void synchronize() override {
    const nlohmann::ordered_json all = {kSynchronize};
    if (operations_.empty() || operations_.back() != all) operations_.push_back(all);
  }
  void synchronize(runtime::Mark mark) override { operations_.push_back({kSynchronize, mark}); }
  Cycle reached(runtime::Mark) const override { return 0; }
  /// What the host did since the last launch, see play().
  nlohmann::ordered_json take_operations() {
    return std::exchange(operations_, nlohmann::ordered_json::array());
  }
  double milliseconds(Cycle) const override { return 0; }

 private:
  trace::FileWriter& file_;
  const Options& options_;
  nlohmann::ordered_json operations_ = nlohmann::ordered_json::array();
  runtime::Mark marks_ = 0;
};

/// Does again what a host did between two launches: a list of [name, number ...].
void play(const nlohmann::ordered_json& operations, TimedGpu& gpu) {
  for (const auto& operation : operations) {
    const std::string name = operation.at(0);
    auto number = [&](std::size_t i) { return operation.at(i).get<std::uint32_t>(); };
    if (name == kRecord) gpu.record(StreamId{number(1)});
    else if (name == kWait) gpu.wait(StreamId{number(1)}, number(2));
    else if (name != kSynchronize)
      throw InputError("the file holds an operation that is not known: '" + name + "'");
    else if (operation.size() == 1) gpu.synchronize();
    else gpu.synchronize(number(1));
  }
}

constexpr std::array<std::string_view, 3> kVerdicts = {"correct", "wrong", "unchecked"};

}  // namespace

Result record(runtime::Workload& workload, const WorkloadInfo& info, Setup& setup,
              const Options& options, const std::string& path) {
  const auto start = Clock::now();
  if (setup.run.live)
    throw InputError("a live run cannot be recorded: what it does depends on the timing");
  trace::FileWriter file(
      path, {{"workload", info.name}, {"parameters", info.parameters}, {"seed", setup.run.seed}});
  Recorder sink(file, options);
  runtime::SimulatedDeviceOptions settings = device_options(setup, options);
  settings.sink = &sink;
  runtime::SimulatedDevice device(settings);
  Result result = blank(info, setup, options);
  run_and_judge(workload, device, setup.run.seed, result);
  file.finish({{"input_hash", result.input_hash},
               {"verdict", kVerdicts[static_cast<unsigned>(result.verdict)]},
               {"difference", result.difference},
               {"operations", sink.take_operations()}});
  fill_functional(result, device);
  finish(result, start);
  return result;
}

std::vector<Result> replay(const trace::FileReader& file, std::span<Setup> setups,
                           const Options& options) {
  const auto start = Clock::now();
  Gpus gpus = make_gpus(setups, options);
  for (std::size_t i = 0; i < file.launches(); ++i) {
    const trace::LaunchHeader& launch = file.launch(i);
    if (options.progress) options.progress({i, launch.name, gpus.front()->now()});
    for (auto& gpu : gpus) {
      play(launch.operations, *gpu);
      std::shared_ptr<trace::KernelStream> stream = file.open(i);
      const trace::LaunchShape shape = stream->shape();
      gpu->admit(stream->code(), shape);
      gpu->submit(std::move(stream),
                  {launch.sequence, launch.name, shape.grid, shape.block, StreamId{launch.stream},
                   launch.warp_instructions, launch.thread_instructions});
    }
  }
  for (auto& gpu : gpus) {
    play(file.trailer().at("operations"), *gpu);
    gpu->synchronize();
  }
  std::vector<Result> results;
  const WorkloadInfo info{file.header().at("workload"), file.header().at("parameters")};
  const std::string verdict = file.trailer().at("verdict");
  for (std::size_t i = 0; i < setups.size(); ++i) {
    Result& result = results.emplace_back(blank(info, setups[i], options));
    result.input_hash = file.trailer().at("input_hash"),
    result.difference = file.trailer().at("difference");
    result.verdict =
        static_cast<Result::Verdict>(std::ranges::find(kVerdicts, verdict) - kVerdicts.begin());
    gpus[i]->fill(result);
    finish(result, start);
  }
  return results;
}

}  // namespace raddle::sim
