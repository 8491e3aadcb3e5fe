// Speed of the whole simulator, with its bars: speed [--json FILE] [--runs N] [--size tiny|small].
// Each workload runs on v100 in a process of its own. Rates are per second of processor time, which
// other users of the machine disturb least; the speed-up by a second thread needs wall clock.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <functional>
#include <thread>

#include "support/allocation_counter.h"
#include "support/gpu_harness.h"
#include "support/whole.h"

namespace {

using namespace raddle;
using Json = nlohmann::ordered_json;

constexpr const char* kGpu = "v100";
constexpr const char* kWorkloads[] = {"vecadd", "sgemm", "hotspot", "bfs", "spmv", "kmeans"};
constexpr unsigned kMany = sizeof kWorkloads / sizeof *kWorkloads;

double processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}
double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// What one run tells; goes through a pipe.
struct Run {
  bool correct = false;
  double processor = 0, wall = 0;  ///< of timing, or of execution where nothing is timed
  std::uint64_t warp_instructions = 0, cycles = 0, sms = 0, scheduler_cycles = 0, issued = 0,
                idle = 0, requests = 0, peak_bytes = 0;
  double allocations_per_cycle = 0;
};

/// Runs f in a child process, so that peak memory and page faults are its own.
Run in_child(const std::function<Run()>& f) {
  int ends[2];
  if (pipe(ends) != 0) throw RunError("no pipe");
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    Run run;
    try {
      run = f();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "bench: %s\n", error.what());
    }
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    run.peak_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
    const bool sent = write(ends[1], &run, sizeof run) == sizeof run;
    _exit(sent ? 0 : 1);
  }
  close(ends[1]);
  Run run;
  if (read(ends[0], &run, sizeof run) != sizeof run) run = {};
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return run;
}

/// Takes the time of another sink, or of none: then the op stream is made and thrown away.
class Clock final : public runtime::LaunchSink {
 public:
  explicit Clock(sim::TimedGpu* gpu) : gpu_(gpu) {}
  void admit(const trace::KernelCode& code, const trace::LaunchShape& shape) override {
    if (gpu_ != nullptr) gpu_->admit(code, shape);
  }
  void time(trace::KernelStream& stream, const runtime::LaunchRecord& record) override {
    if (gpu_ == nullptr) return;
    const double p = processor_seconds(), w = wall_seconds();
    gpu_->time(stream, record);
    processor += processor_seconds() - p, wall += wall_seconds() - w;
  }
  Cycle now() const override { return gpu_ != nullptr ? gpu_->now() : 0; }
  double milliseconds(Cycle cycles) const override {
    return gpu_ != nullptr ? gpu_->milliseconds(cycles) : 0;
  }
  double processor = 0, wall = 0;

 private:
  sim::TimedGpu* gpu_;
};

enum class What : std::uint8_t { Function, Stream, Timing };

Run run_workload(const std::string& name, runtime::Size size, What what, unsigned threads) {
  sim::Setup setup = test::make_setup({kGpu, {}, {}, {}});
  sim::Options options;
  options.threads = threads;
  std::unique_ptr<sim::TimedGpu> gpu;
  if (what == What::Timing) gpu = std::make_unique<sim::TimedGpu>(setup, options);
  Clock clock(gpu.get());
  runtime::SimulatedDeviceOptions device_options;
  if (what != What::Function) device_options.sink = &clock;
  device_options.sms = setup.machine.sm.count;
  device_options.warps_per_sm = setup.machine.sm.warps;
  runtime::SimulatedDevice device(device_options);
  const auto workload = runtime::all_workloads().make(name);
  workload->set_size(size);
  workload->run(device, setup.run.seed);
  Run run;
  run.correct = workload->check().empty();
  run.processor = run.wall = device.functional_seconds();
  for (const auto& launch : device.launches()) run.warp_instructions += launch.warp_instructions;
  if (gpu == nullptr) return run;
  sim::Result result;
  gpu->fill(result);
  run.processor = clock.processor, run.wall = clock.wall;
  run.cycles = result.cycles, run.sms = setup.machine.sm.count;
  run.scheduler_cycles = run.cycles * run.sms * setup.machine.sm.schedulers;
  run.issued = run.warp_instructions = result.totals.sm.issued;
  run.idle = result.totals.sm.stall[static_cast<unsigned>(stats::Stall::Idle)];
  run.requests = result.totals.request.packets;
  return run;
}

/// The run with the least processor time, and the greatest peak of all.
Run best_of(unsigned runs, const std::function<Run()>& f) {
  Run best;
  std::uint64_t peak = 0;
  for (unsigned i = 0; i < runs; ++i) {
    const Run run = in_child(f);
    peak = std::max(peak, run.peak_bytes);
    if (i == 0 || run.processor < best.processor) best = run;
    if (!run.correct) return run;
  }
  best.peak_bytes = peak;
  return best;
}

/// One warp follows pointers to lines it has never touched: nearly every cycle is waiting.
std::unique_ptr<testing::Recording> chase(std::uint32_t steps) {
  testing::Code code("chase");
  const auto load = code.load(1, 1), exit = code.exit();
  auto r = std::make_unique<testing::Recording>(code, trace::LaunchShape{{1}, {32}, 0});
  r->each_warp([&](testing::WarpWriter& w) {
    for (std::uint32_t i = 0; i < steps; ++i)
      w.lines(load, {{(1u << 29) + i * 4099 % (1u << 22), 1, 1}}, 1);
    w.op(exit);
  });
  return r;
}
Run run_chase() {
  testing::GpuHarness gpu(test::make_setup({kGpu, {}, {}, {}}).machine);
  const auto few = chase(1000), many = chase(20000);
  gpu.run(*few);  // warm-up
  const std::uint64_t before = testing::allocations_so_far();
  const Cycle few_cycles = gpu.run(*few);
  const std::uint64_t between = testing::allocations_so_far();
  Run run;
  const double p = processor_seconds();
  run.cycles = gpu.run(*many);
  run.processor = processor_seconds() - p;
  const std::uint64_t after = testing::allocations_so_far();
  run.allocations_per_cycle =
      (static_cast<double>(after - between) - static_cast<double>(between - before)) /
      static_cast<double>(run.cycles - few_cycles);
  run.correct = true;
  return run;
}

struct Row {
  std::string workload;
  Run function, stream, timing, two_threads;
  static double rate(const Run& run) {
    return static_cast<double>(run.warp_instructions) / run.processor;
  }
  double sm_cycles_rate() const {
    return static_cast<double>(timing.cycles * timing.sms) / timing.processor;
  }
  double share(std::uint64_t n) const {
    return static_cast<double>(n) / static_cast<double>(timing.scheduler_cycles);
  }
  double line_ns() const { return 1e9 * timing.processor / static_cast<double>(timing.requests); }
  bool correct() const {
    return function.correct && stream.correct && timing.correct && two_threads.correct;
  }
  Json json() const {
    return {{"workload", workload},
            {"result", correct() ? "correct" : "wrong"},
            {"cycles", timing.cycles},
            {"warp_instructions", timing.warp_instructions},
            {"timing_seconds", timing.processor},
            {"timing_warp_instructions_per_second", rate(timing)},
            {"sm_cycles_per_second", sm_cycles_rate()},
            {"busy_share", share(timing.scheduler_cycles - timing.idle)},
            {"issued_share", share(timing.issued)},
            {"ns_per_request", line_ns()},
            {"functional_warp_instructions_per_second", rate(function)},
            {"stream_warp_instructions_per_second", rate(stream)},
            {"two_thread_speedup", timing.wall / two_threads.wall},
            {"peak_rss_bytes", timing.peak_bytes}};
  }
};

class Bars {
 public:
  void at_least(const std::string& name, double value, double bar, const char* format) {
    add(name, value, bar, format, value >= bar, ">=");
  }
  void at_most(const std::string& name, double value, double bar, const char* format) {
    add(name, value, bar, format, value <= bar, "<=");
  }
  const Json& json() const { return list_; }

 private:
  void add(const std::string& name, double value, double bar, const char* format, bool pass,
           const char* sign) {
    const auto text = [&](double v) { return fmt::format(fmt::runtime(format), v); };
    fmt::print("  {:<5} {:<58} {:>9}  ({} {})\n", pass ? "pass" : "FAIL", name, text(value), sign,
               text(bar));
    list_.push_back({{"name", name}, {"value", value}, {"bar", bar}, {"pass", pass}});
  }
  Json list_ = Json::array();
};

double geomean(const std::vector<Row>& rows, const std::function<double(const Row&)>& value) {
  double sum = 0;
  for (const Row& row : rows) sum += std::log(value(row));
  return std::exp(sum / static_cast<double>(rows.size()));
}

Row measure(const std::string& name, runtime::Size size, unsigned runs) {
  const auto best = [&](What what, unsigned threads, unsigned n) {
    return best_of(n, [&] { return run_workload(name, size, what, threads); });
  };
  return {name, best(What::Function, 1, runs + 2), best(What::Stream, 1, runs + 2),
          best(What::Timing, 1, runs), best(What::Timing, 2, 1)};
}

void print_row(const Row& r) {
  fmt::print(
      "{:<8} {:>9.3f} {:>8.0f} {:>8.1f} {:>6.1f} {:>6.1f} {:>8.0f} {:>8.1f} {:>8.1f} {:>7.2f} "
      "{:>6.0f}  {}\n",
      r.workload, r.timing.processor, Row::rate(r.timing) / 1e3, r.sm_cycles_rate() / 1e6,
      100 * r.share(r.timing.scheduler_cycles - r.timing.idle), 100 * r.share(r.timing.issued),
      r.line_ns(), Row::rate(r.function) / 1e6, Row::rate(r.stream) / 1e6,
      r.timing.wall / r.two_threads.wall, static_cast<double>(r.timing.peak_bytes) / (1 << 20),
      r.correct() ? "correct" : "WRONG");
}

Json check_bars(const std::vector<Row>& rows, const Run& waiting) {
  Bars bars;
  const auto timing = [](const Row& r) { return Row::rate(r.timing) / 1e6; };
  const auto speedup = [](const Row& r) { return r.timing.wall / r.two_threads.wall; };
  double least = 1e9, peak = 0;
  for (const Row& r : rows) {
    least = std::min(least, timing(r));
    peak = std::max(peak, static_cast<double>(r.timing.peak_bytes) / (1 << 20));
  }
  bars.at_least("timing, geometric mean, M warp instructions/s", geomean(rows, timing), 1.5,
                "{:.2f}");
  bars.at_least("timing, slowest workload, M warp instructions/s", least, 0.4, "{:.2f}");
  for (const Row& r : rows)
    if (r.workload == "sgemm" || r.workload == "bfs" || r.workload == "spmv")
      bars.at_least("functional " + r.workload + ", M warp instructions/s",
                    Row::rate(r.function) / 1e6, r.workload == "sgemm" ? 100 : 50, "{:.1f}");
  bars.at_least("one warp waiting for memory, M GPU cycles/s",
                static_cast<double>(waiting.cycles) / waiting.processor / 1e6, 1, "{:.2f}");
  bars.at_most("allocations per cycle after warm-up", waiting.allocations_per_cycle, 0, "{:.3g}");
  bars.at_most("peak memory, MiB", peak, 400, "{:.0f}");
  bars.at_least("two threads against one, geometric mean, wall clock", geomean(rows, speedup), 1.6,
                "{:.2f}");
  return bars.json();
}

std::string processor_name() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  return "unknown";
}
double load() {
  double one = 0;
  return getloadavg(&one, 1) == 1 ? one : 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::string json;
  unsigned runs = 2;
  runtime::Size size = runtime::Size::Small;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    const bool more = i + 1 < argc;
    if (option == "--json" && more) json = argv[++i];
    else if (option == "--runs" && more)
      runs = static_cast<unsigned>(std::max(1, std::atoi(argv[++i])));
    else if (option == "--size" && more && std::strcmp(argv[++i], "tiny") == 0)
      size = runtime::Size::Tiny;
    else if (option != "--size")
      return std::fprintf(stderr, "speed: unknown argument '%s'\n", argv[i]), 2;
  }
  const unsigned cores = std::thread::hardware_concurrency();
  const double before = load();
  fmt::print("{}, {} cores, load {:.1f}; {}, size {}, one thread, best of {}\n", processor_name(),
             cores, before, kGpu, runtime::kSizeNames[static_cast<unsigned>(size)], runs);
  fmt::print("{:<8} {:>9} {:>8} {:>8} {:>6} {:>6} {:>8} {:>8} {:>8} {:>7} {:>6}\n", "", "timing s",
             "k wi/s", "M smc/s", "busy%", "issue%", "ns/line", "exec M/s", "+stream", "2 thr.",
             "MiB");
  std::vector<Row> rows;
  for (unsigned i = 0; i < kMany; ++i) {
    rows.push_back(measure(kWorkloads[i], size, runs));
    print_row(rows.back());
  }
  const Run waiting = best_of(runs, run_chase);
  const Json bars = check_bars(rows, waiting);
  const double after = load();
  if (std::max(before, after) > 0.5 * cores)
    fmt::print(
        "warning: the machine was busy (load {:.1f} before, {:.1f} after, {} cores): rates are too "
        "low, the speed-up by threads means nothing\n",
        before, after, cores);
  if (json.empty()) return 0;
  Json list = Json::array();
  for (const Row& r : rows) list.push_back(r.json());
  std::ofstream(json)
      << Json{{"schema", 2},    {"cpu", processor_name()},
              {"cores", cores}, {"load", {before, after}},
              {"gpu", kGpu},    {"size", runtime::kSizeNames[static_cast<unsigned>(size)]},
              {"runs", runs},   {"workloads", list},
              {"bars", bars}}
             .dump(2)
      << '\n';
  return 0;
}
