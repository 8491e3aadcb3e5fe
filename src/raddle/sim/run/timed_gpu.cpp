#include "raddle/sim/run/timed_gpu.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "raddle/config/describer.h"
#include "raddle/config/writer.h"
#include "raddle/lowering/lowering.h"
#include "raddle/lowering/scheduled_stream.h"
#include "raddle/sim/profile/tail.h"
#include "raddle/sim/result/peaks.h"
#include "raddle/sim/run/parts.h"

namespace raddle::sim {

namespace {

/// What fields mean: name -> {unit, doc}; the path in the place of the name where the name means
/// something else elsewhere. Records of one kind, a phase each, are so told once.
nlohmann::ordered_json meanings(const std::vector<config::FieldDescription>& fields) {
  auto out = nlohmann::ordered_json::object();
  for (const config::FieldDescription& field : fields) {
    nlohmann::ordered_json meaning = {{"unit", field.unit}, {"doc", field.doc}};
    const std::string name = field.path.substr(field.path.rfind('.') + 1);
    if (const auto at = out.find(name); at == out.end()) out[name] = std::move(meaning);
    else if (*at != meaning) out[field.path] = std::move(meaning);
  }
  return out;
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

timing::GpuOptions gpu_options(const Setup& setup, const Options& options) {
  timing::GpuOptions out;
  out.skip = options.skip;
  out.threads = options.threads;
  out.seed = setup.run.seed;
  out.max_cycles = options.max_cycles;
  out.shuffle = options.shuffle;
  out.sample_interval = options.sample_interval;
  RADDLE_ASSERT(options.ipc_alone.size() <= out.ipc_alone.size());
  std::ranges::copy(options.ipc_alone, out.ipc_alone.begin());
  return out;
}

}  // namespace

TimedGpu::TimedGpu(Setup& setup, const Options& options, std::size_t number)
    : setup_(setup),
      analyses_(RunAnalyses::of_gpu(options.analyses, setup.machine)),
      gpu_(setup.machine, setup.choices(),
           [&] {
             timing::GpuOptions out = gpu_options(setup, options);
             if (options.progress)
               out.progress = [this, &options](Cycle at) { notify(options, at); };
             return out;
           }()),
      number_(number),
      passes_(options.passes) {
  if (setup.run.sampling_error != 0)
    sampled_ = std::make_unique<SampledRun>(setup.run.sampling_error, gpu_, options.note);
  check_analyses(options.analyses, {.sampled = sampled_ != nullptr});
  analyses_.attach(gpu_, setup.machine);
}

void TimedGpu::notify(const Options& options, Cycle at) const {
  if (!kernels_.empty()) options.progress({kernels_.size() - 1, kernels_.back().name, at, number_});
}

std::shared_ptr<const trace::LoweredCode> TimedGpu::lowered(const trace::KernelCode& code,
                                                            bool live) {
  live = live || setup_.run.live;
  auto& known = lowered_[{&code, live}];
  if (known != nullptr) return known;
  const lowering::Schedule* order =
      setup_.isa.order != lowering::Order::AsWritten && !live ? &scheduled(code) : nullptr;
  known = std::make_shared<const trace::LoweredCode>(
      lowering::lower(order == nullptr || order->is_identity ? code : order->code, setup_.isa,
                      gpu_.wants_live_registers()));
  return known;
}

const lowering::Schedule& TimedGpu::scheduled(const trace::KernelCode& code) {
  auto& known = schedules_[&code];
  if (known == nullptr) {
    std::optional<lowering::Delays> delays;
    if (setup_.isa.order == lowering::Order::ListScheduled)
      std::ranges::transform(setup_.machine.sm.cost, delays.emplace().begin(),
                             &timing::OpCost::latency);
    known =
        std::make_shared<const lowering::Schedule>(lowering::schedule(code, setup_.isa, delays));
  }
  return *known;
}

std::shared_ptr<trace::KernelStream> TimedGpu::in_order(
    std::shared_ptr<trace::KernelStream> stream) {
  const auto known = schedules_.find(&stream->code());
  if (stream->live() || known == schedules_.end() || known->second->is_identity) return stream;
  return std::make_shared<lowering::ScheduledStream>(std::move(stream), known->second);
}

void TimedGpu::admit(const trace::KernelCode& code, const trace::LaunchShape& shape) {
  const timing::Residency fit = timing::residency(setup_.machine.sm, lowered(code)->code, shape);
  if (fit.blocks == 0) throw InputError(fit.reason + " (machine " + setup_.machine.name + ")");
}

Resident TimedGpu::resident(const trace::KernelStream& stream) {
  const trace::KernelCode& machine = lowered(stream.code(), stream.live())->code;
  const trace::LaunchShape& shape = stream.shape();
  const timing::SmSpec& sm = setup_.machine.sm;
  const timing::Residency fit = timing::residency(sm, machine, shape);
  return {machine.registers_per_thread,
          fit.blocks,
          fit.blocks * shape.warps_per_block(),
          fit.limited_by,
          {fit.limits.begin(), fit.limits.end()}};
}

void TimedGpu::submit(std::shared_ptr<trace::KernelStream> stream,
                      const runtime::LaunchRecord& record) {
  submit_tree({{std::move(stream), record}});
}

void TimedGpu::submit_tree(const std::vector<runtime::LaunchedStream>& tree) {
  const Stopwatch watch(seconds_);
  if (sampled_ != nullptr && !sampled_->times(tree)) return;
  if (setup_.run.cold_l2) {
    gpu_.run_until_idle();
    gpu_.forget_caches();
  }
  for (unsigned pass = 0; pass < passes_; ++pass) {
    if (passes_ > 1) gpu_.run_until_idle();
    submit_once(tree);
  }
}

void TimedGpu::submit_once(const std::vector<runtime::LaunchedStream>& tree) {
  std::vector<timing::Submission> all;
  const std::size_t first = kernels_.size();
  for (const auto& [stream, record] : tree) {
    KernelResult kernel;
    kernel.name = record.name;
    kernel.grid = record.grid;
    kernel.block = record.block;
    kernel.stream = index(record.stream);
    kernel.resident = resident(*stream);
    if (record.origin) kernel.parent = KernelParent{first + record.origin->parent, *record.origin};
    // What is told of a launch later (blocks, parents) goes by its place among those timed.
    const std::uint64_t sequence = kernels_.size();
    kernels_.push_back(std::move(kernel));
    analyses_.submitted(record);
    all.push_back({in_order(stream),
                   lowered(stream->code(), stream->live()),
                   {record.name, record.stream, sequence, record.warp_instructions},
                   record.origin.value_or(trace::DeviceOrigin{})});
  }
  gpu_.submit_tree(std::move(all));
}

runtime::Milestone TimedGpu::record(StreamId stream) {
  milestones_.push_back(kNever);
  if (sampled_ != nullptr) estimated_before_.push_back(sampled_->estimated_until_now());
  return gpu_.record(stream);
}

void TimedGpu::wait(StreamId stream, runtime::Milestone mark) { gpu_.wait(stream, mark); }

void TimedGpu::host_wrote(Address at, std::uint64_t bytes) {
  synchronize();
  gpu_.host_wrote(at, bytes);
  gpu_.host_access(at, bytes, true);
}

void TimedGpu::host_read(Address at, std::uint64_t bytes) {
  synchronize();
  gpu_.host_access(at, bytes, false);
}

void TimedGpu::synchronize() {
  const Stopwatch watch(seconds_);
  gpu_.run_until_idle();
  if (sampled_ != nullptr) sampled_->idle();
}

void TimedGpu::synchronize(runtime::Milestone mark) {
  const Stopwatch watch(seconds_);
  milestones_.at(mark) = gpu_.run_until(mark);
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
  result.busy_cycles = gpu_.busy();
  result.peaks = peaks_of(timing::checked(setup_.machine, setup_.choices()));
  result.totals = gpu_.counters();
  const std::vector<timing::KernelRun>& runs = gpu_.kernels();
  for (std::size_t i = 0; i < kernels_.size(); ++i) {
    KernelResult& kernel = kernels_[i];
    kernel.start = runs[i].start;
    kernel.begin = runs[i].begin;
    kernel.first = runs[i].first;
    kernel.last = runs[i].last;
    kernel.end = runs[i].end;
    kernel.counters = runs[i].counters;
    kernel.max_mshrs = runs[i].max_mshrs;
    kernel.warp_instructions = kernel.counters.sm.issued;
    kernel.thread_instructions = kernel.counters.sm.thread_instructions;
    kernel.busy = busy_of(kernel.counters, kernel.end - kernel.begin, setup_.machine);
  }
  result.kernels = std::move(kernels_);
  if (sampled_ != nullptr) result.sampling = sampled_->result(result.cycles, result.totals);
  const timing::MachineSpec& machine = setup_.machine;
  const auto [cycles, totals] = whole_of(result);
  result.energy =
      energy::energy(totals, setup_.energy, {cycles, machine.sm.schedulers, machine.l2.slices});
  for (KernelResult& kernel : result.kernels)
    kernel.energy = energy::dynamic_energy(kernel.counters, setup_.energy);
  result.blocks = gpu_.block_spans();
  if (!result.kernels.empty())  // of tenants there are none
    result.tail_cycles = tail_cycles(result.kernels, result.blocks, machine.sm.count);
  result.samples = gpu_.samples();
  result.sms_over_time = gpu_.sms_over_time();
  if (const timing::MeshRecord* mesh = gpu_.mesh()) result.mesh = *mesh;
  result.request_ports = gpu_.request_ports();
  result.reply_ports = gpu_.reply_ports();
  result.component_hash = gpu_.hash();
  result.host.timing_seconds = seconds_;
  analyses_.fill(result.analysis, gpu_);
  policy::each_level(
      [&](const policy::Level& level, auto& choice) {
        if (!level.shows(choice->name()) || setup_.replaced(level.name)) return;
        config::JsonWriter statistics;
        gpu_.visit_policy_statistics(level.name, statistics);
        config::Describer parameter_fields, statistic_fields;
        choice->visit(parameter_fields);
        gpu_.visit_policy_statistics(level.name, statistic_fields);
        result.policies[std::string(level.name)] = {
            {"name", choice->name()},
            {"parameters", config::to_json(*choice)},
            {"statistics", statistics.take()},
            {"statistics_of", "run"},
            {"meaning",
             {{"parameters", meanings(parameter_fields.fields())},
              {"statistics", meanings(statistic_fields.fields())}}}};
      },
      setup_);
}

}  // namespace raddle::sim
