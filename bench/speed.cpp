// Speed of the whole simulator: speed [--gpu NAME] [--json FILE] [--runs N] [--size tiny|small].
// Without --gpu: on four machines, whose SMs, memory and network cost differently. Bars are of
// v100. Each workload runs in a process of its own. Rates are per second of processor time, which
// other users of the machine disturb least; the speed-up by a second thread needs wall clock. Where
// others have held a run up, its bars are not judged.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
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

constexpr const char* kBarredGpu = "v100";
constexpr const char* kGpus[] = {kBarredGpu, "h200", "gtx480", "latoa"};
constexpr const char* kWorkloads[] = {"vecadd", "sgemm", "hotspot", "bfs", "spmv", "kmeans"};

double seconds_of(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}
double processor_seconds() { return seconds_of(CLOCK_PROCESS_CPUTIME_ID); }
double clock_seconds() { return seconds_of(CLOCK_MONOTONIC); }
/// What one run tells; goes through a pipe.
struct Run {
  bool correct = false;
  double functional = 0;  ///< processor seconds of execution
  double processor = 0;   ///< of everything else: inputs, timing, reference
  double wall = 0;        ///< seconds of timing
  double whole = 0;       ///< seconds of the clock, end to end
  std::uint64_t launches = 0, warp_instructions = 0, cycles = 0, sms = 0, scheduler_cycles = 0,
                idle = 0, requests = 0, peak_bytes = 0;
  double allocations_per_cycle = 0;

  /// Of one thread: others had its processor for part of the time.
  bool held_up() const { return whole > 1.15 * (functional + processor); }
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

/// A workload without timing (threads 0) or with it, on so many threads.
Run run_workload(const std::string& name, const std::string& gpu, runtime::Size size,
                 unsigned threads) {
  test::RunSpec spec{gpu, {}, {}, {}};
  spec.options.functional = threads == 0;
  spec.options.threads = std::max(threads, 1u);
  const double before = processor_seconds(), began = clock_seconds();
  const sim::Result result = test::run(name, spec, size);
  Run run;
  run.functional = result.host.functional_seconds;
  run.processor = processor_seconds() - before - run.functional;
  run.wall = result.host.timing_seconds;
  run.whole = clock_seconds() - began;
  run.launches = result.kernels.size();
  run.correct = result.verdict == sim::Result::Verdict::Correct;
  run.warp_instructions = result.totals.sm.issued;
  run.cycles = result.cycles;
  run.sms = test::make_setup(spec).machine.sm.count;
  run.scheduler_cycles = run.cycles * result.schedulers;
  run.idle = result.totals.sm.stall[static_cast<unsigned>(stats::Stall::Idle)];
  run.requests = result.totals.request.packets;
  return run;
}

/// The least of each time, and the greatest peak.
Run best_of(unsigned runs, const std::function<Run()>& f) {
  Run best;
  for (unsigned i = 0; i < runs; ++i) {
    const Run run = in_child(f);
    if (!run.correct) return run;
    if (i == 0) best = run;
    best.functional = std::min(best.functional, run.functional);
    best.processor = std::min(best.processor, run.processor);
    best.wall = std::min(best.wall, run.wall);
    best.whole = std::min(best.whole, run.whole);
    best.peak_bytes = std::max(best.peak_bytes, run.peak_bytes);
  }
  return best;
}

/// One warp follows pointers to lines it has never touched: nearly every cycle is waiting.
std::unique_ptr<support::Recording> chase(std::uint32_t steps) {
  support::Code code("chase");
  const auto load = code.load(1, 1), exit = code.exit();
  auto r = std::make_unique<support::Recording>(code, trace::LaunchShape{{1}, {32}, 0});
  r->each_warp([&](support::WarpWriter& w) {
    for (std::uint32_t i = 0; i < steps; ++i)
      w.lines(load, {{(1u << 29) + i * 4099 % (1u << 22), 1, 1}}, 1);
    w.op(exit);
  });
  return r;
}
Run run_chase() {
  support::GpuHarness gpu(test::make_setup({kBarredGpu, {}, {}, {}}).machine);
  const auto few = chase(1000), many = chase(20000);
  gpu.run(*few);  // warm-up
  const std::uint64_t before = support::allocations_so_far();
  const Cycle few_cycles = gpu.run(*few);
  const std::uint64_t between = support::allocations_so_far();
  Run run;
  const double p = processor_seconds();
  run.cycles = gpu.run(*many);
  run.processor = processor_seconds() - p;
  const std::uint64_t after = support::allocations_so_far();
  run.allocations_per_cycle =
      (static_cast<double>(after - between) - static_cast<double>(between - before)) /
      static_cast<double>(run.cycles - few_cycles);
  run.correct = true;
  return run;
}

struct Row {
  std::string workload;
  Run function, timing, two_threads;
  /// On a quiet machine the clock tells it; on a busy one, processor time less what a run without
  /// timing takes.
  double timing_seconds() const {
    return std::min(timing.wall, timing.processor - function.processor);
  }
  double timing_rate() const {
    return static_cast<double>(timing.warp_instructions) / timing_seconds();
  }
  double functional_rate() const {
    return static_cast<double>(function.warp_instructions) / function.functional;
  }
  double stream_rate() const {
    return static_cast<double>(function.warp_instructions) / timing.functional;
  }
  double sm_cycles_rate() const {
    return static_cast<double>(timing.cycles * timing.sms) / timing_seconds();
  }
  /// Of the scheduler-cycles: those that find a warp there; those that issue.
  double busy_share() const {
    return 1 - static_cast<double>(timing.idle) / static_cast<double>(timing.scheduler_cycles);
  }
  double issued_share() const {
    return static_cast<double>(timing.warp_instructions) /
           static_cast<double>(timing.scheduler_cycles);
  }
  double request_ns() const {
    return 1e9 * timing_seconds() / static_cast<double>(timing.requests);
  }
  double kernel_ms() const { return 1e3 * timing_seconds() / static_cast<double>(timing.launches); }
  bool held_up() const { return timing.held_up(); }
  double speedup() const { return timing.wall / two_threads.wall; }
  bool correct() const { return function.correct && timing.correct && two_threads.correct; }
  Json json() const {
    return {{"workload", workload},
            {"result", correct() ? "correct" : "wrong"},
            {"cycles", timing.cycles},
            {"warp_instructions", timing.warp_instructions},
            {"timing_seconds", timing_seconds()},
            {"timing_ms_per_kernel", kernel_ms()},
            {"whole_seconds", timing.whole},
            {"held_up", held_up()},
            {"timing_warp_instructions_per_second", timing_rate()},
            {"sm_cycles_per_second", sm_cycles_rate()},
            {"busy_share", busy_share()},
            {"issued_share", issued_share()},
            {"ns_per_request", request_ns()},
            {"functional_warp_instructions_per_second", functional_rate()},
            {"stream_warp_instructions_per_second", stream_rate()},
            {"two_thread_speedup", speedup()},
            {"peak_rss_bytes", timing.peak_bytes}};
  }
};

/// What the speed must be; a bar that others' load can lower is not judged where there was some.
class Bars {
 public:
  explicit Bars(bool busy) : busy_(busy) {}
  void at_least(const std::string& name, double value, double bar, const char* format) {
    add({name, value, bar, value >= bar, !busy_, ">="}, format);
  }
  void at_most(const std::string& name, double value, double bar, const char* format) {
    add({name, value, bar, value <= bar, true, "<="}, format);
  }
  const Json& json() const { return list_; }

 private:
  struct Bar {
    std::string name;
    double value, bar;
    bool pass, judged;
    const char* sign;
  };
  void add(const Bar& bar, const char* format) {
    const auto text = [&](double v) { return fmt::format(fmt::runtime(format), v); };
    fmt::print("  {:<5} {:<58} {:>9}  ({} {}){}\n",
               bar.pass     ? "pass"
               : bar.judged ? "FAIL"
                            : "-",
               bar.name, text(bar.value), bar.sign, text(bar.bar),
               bar.pass || bar.judged ? "" : "  busy, not judged");
    list_.push_back({{"name", bar.name},
                     {"value", bar.value},
                     {"bar", bar.bar},
                     {"pass", bar.pass},
                     {"judged", bar.pass || bar.judged}});
  }
  bool busy_;
  Json list_ = Json::array();
};

double geomean(const std::vector<Row>& rows, const std::function<double(const Row&)>& value) {
  double sum = 0;
  for (const Row& row : rows) sum += std::log(value(row));
  return std::exp(sum / static_cast<double>(rows.size()));
}

Row measure(const std::string& name, const std::string& gpu, runtime::Size size, unsigned runs) {
  const auto best = [&](unsigned threads, unsigned n) {
    return best_of(n, [&] { return run_workload(name, gpu, size, threads); });
  };
  return {name, best(0, runs + 3), best(1, runs), best(2, 1)};
}

void print_row(const Row& r) {
  fmt::print(
      "{:<8} {:>9.3f} {:>9.2f} {:>8.3f} {:>8.0f} {:>8.1f} {:>6.1f} {:>6.1f} {:>8.0f} {:>8.1f} "
      "{:>8.1f} {:>7.2f} {:>6.0f}  {}{}\n",
      r.workload, r.timing_seconds(), r.kernel_ms(), r.timing.whole, r.timing_rate() / 1e3,
      r.sm_cycles_rate() / 1e6, 100 * r.busy_share(), 100 * r.issued_share(), r.request_ns(),
      r.functional_rate() / 1e6, r.stream_rate() / 1e6, r.speedup(),
      static_cast<double>(r.timing.peak_bytes) / (1 << 20), r.correct() ? "correct" : "WRONG",
      r.held_up() ? ", held up" : "");
  std::fflush(stdout);
}

Json check_bars(const std::vector<Row>& rows, unsigned runs) {
  const Run waiting = best_of(runs, run_chase);
  Bars bars(std::ranges::any_of(rows, &Row::held_up));
  const auto timing = [](const Row& r) { return r.timing_rate() / 1e6; };
  double minimum = 1e9, peak = 0;
  for (const Row& r : rows) {
    minimum = std::min(minimum, timing(r));
    peak = std::max(peak, static_cast<double>(r.timing.peak_bytes) / (1 << 20));
  }
  bars.at_least("timing, geometric mean, M warp instructions/s", geomean(rows, timing), 1.5,
                "{:.2f}");
  bars.at_least("timing, slowest workload, M warp instructions/s", minimum, 0.4, "{:.2f}");
  for (const Row& r : rows)
    if (r.workload == "sgemm" || r.workload == "bfs" || r.workload == "spmv")
      bars.at_least("functional " + r.workload + ", M warp instructions/s",
                    r.functional_rate() / 1e6, r.workload == "sgemm" ? 100 : 50, "{:.1f}");
  bars.at_least("one warp waiting for memory, M GPU cycles/s",
                static_cast<double>(waiting.cycles) / waiting.processor / 1e6, 1, "{:.2f}");
  bars.at_most("allocations per cycle after warm-up", waiting.allocations_per_cycle, 0, "{:.3g}");
  bars.at_most("peak memory, MiB", peak, 400, "{:.0f}");
  bars.at_least("two threads against one, geometric mean, wall clock",
                geomean(rows, [](const Row& r) { return r.speedup(); }), 1.6, "{:.2f}");
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

struct Settings {
  std::vector<std::string> gpus;
  std::string json;
  unsigned runs = 2;
  runtime::Size size = runtime::Size::Small;
};

/// Throws InputError.
Settings settings(int argc, char** argv) {
  Settings out;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (i + 1 == argc) throw InputError("unknown argument '" + option + "', or its value lacks");
    const std::string value = argv[++i];
    if (option == "--json") out.json = value;
    else if (option == "--gpu") out.gpus = {value};
    else if (option == "--runs")
      out.runs = static_cast<unsigned>(std::max(1, std::atoi(value.c_str())));
    else if (option == "--size" && value == "tiny") out.size = runtime::Size::Tiny;
    else if (option != "--size" || value != "small")
      throw InputError("unknown argument '" + option + " " + value + "'");
  }
  if (out.gpus.empty()) out.gpus.assign(std::begin(kGpus), std::end(kGpus));
  for (const std::string& gpu : out.gpus) test::make_setup({gpu, {}, {}, {}});
  return out;
}

std::vector<Row> measure_all(const std::string& gpu, const Settings& settings) {
  fmt::print("{}\n{:<8} {:>9} {:>9} {:>8} {:>8} {:>8} {:>6} {:>6} {:>8} {:>8} {:>8} {:>7} {:>6}\n",
             gpu, "", "timing s", "ms/kernel", "whole s", "k wi/s", "M smc/s", "busy%", "issue%",
             "ns/line", "exec M/s", "+stream", "2 thr.", "MiB");
  std::vector<Row> rows;
  for (const char* workload : kWorkloads) {
    rows.push_back(measure(workload, gpu, settings.size, settings.runs));
    print_row(rows.back());
  }
  return rows;
}

/// How many times as long the six take as on the barred machine.
double against(const std::vector<Row>& rows, const std::vector<Row>& barred) {
  return geomean(rows, [&](const Row& row) {
    return row.timing_seconds() /
           barred.at(static_cast<std::size_t>(&row - rows.data())).timing_seconds();
  });
}

}  // namespace

int main(int argc, char** argv) {
  Settings wanted;
  try {
    wanted = settings(argc, argv);
  } catch (const InputError& error) {
    fmt::print(stderr, "speed: {}\n", error.what());
    return 2;
  }
  const unsigned cores = std::thread::hardware_concurrency();
  const double before = load();
  const std::string_view size = runtime::kSizeNames[static_cast<unsigned>(wanted.size)];
  fmt::print("{}, {} cores, load {:.1f}; size {}, one thread, best of {}\n", processor_name(),
             cores, before, size, wanted.runs);
  Json machines = Json::array();
  std::vector<Row> barred;
  for (const std::string& gpu : wanted.gpus) {
    const std::vector<Row> rows = measure_all(gpu, wanted);
    Json list = Json::array(), bars = Json::array();
    for (const Row& row : rows) list.push_back(row.json());
    if (gpu == kBarredGpu) {
      bars = check_bars(rows, wanted.runs);
      barred = rows;
    } else if (!barred.empty()) {
      fmt::print("  time of the six against {}, geometric mean: {:.2f}\n", kBarredGpu,
                 against(rows, barred));
    }
    machines.push_back({{"gpu", gpu}, {"workloads", list}, {"bars", bars}});
  }
  const double after = load();
  if (std::max(before, after) > 0.5 * cores)
    fmt::print(
        "the machine was busy (load {:.1f} before, {:.1f} after, {} cores): rates are too low\n",
        before, after, cores);
  if (wanted.json.empty()) return 0;
  std::ofstream(wanted.json) << Json{{"schema", 3},         {"cpu", processor_name()},
                                     {"cores", cores},      {"load", {before, after}},
                                     {"size", size},        {"runs", wanted.runs},
                                     {"machines", machines}}
                                    .dump(2)
                             << '\n';
  return 0;
}
