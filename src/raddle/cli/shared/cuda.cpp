#include "raddle/cli/shared/cuda.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <limits>
#include <sstream>
#include <stdexcept>

#include "raddle/cli/shared/options.h"
#include "raddle/sim/result/version.h"

namespace raddle::cli {

namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// Metrics of Nsight Compute that are asked for.
constexpr const char* kNcuMetrics =
    "gpu__time_duration.sum,sm__cycles_elapsed.max,l1tex__t_sectors.sum,"
    "l1tex__t_sectors_lookup_hit.sum,lts__t_sectors.sum,lts__t_sectors_lookup_hit.sum,"
    "dram__bytes.sum,smsp__inst_executed.sum";

bool in_path(const std::string& program) {
  if (program.find('/') != std::string::npos) return access(program.c_str(), X_OK) == 0;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (access((folder + "/" + program).c_str(), X_OK) == 0) return true;
  return false;
}

/// What the program prints; throws RunError when it fails.
std::string output_of(const std::vector<std::string>& command) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) throw RunError("cannot make a pipe");
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t child = fork();
  if (child < 0) throw RunError("cannot start " + command.front());
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  close(ends[1]);
  std::string out;
  std::array<char, 65536> part{};
  for (ssize_t n = 0; (n = read(ends[0], part.data(), part.size())) > 0;)
    out.append(part.data(), static_cast<std::size_t>(n));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw RunError(fmt::format("{} failed (status {}); --no-counters does without it",
                               command.front(), WIFEXITED(status) ? WEXITSTATUS(status) : -1));
  return out;
}

std::string utc_date() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday);
}

/// Cells of one line of ncu's CSV, all of which are quoted.
std::vector<std::string> quoted_cells(const std::string& line) {
  std::vector<std::string> out(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') quoted = !quoted;
    else if (c == ',' && !quoted) out.emplace_back();
    else if (c != '\r') out.back() += c;
  }
  return out;
}

/// "1,234.5"
double number_of(std::string text) {
  std::erase(text, ',');
  if (text.empty() || text == "n/a") return kUnknown;
  std::size_t end = 0;
  double out = kUnknown;
  try {
    out = std::stod(text, &end);
  } catch (const std::exception&) {
    end = 0;
  }
  if (end != text.size()) throw RunError("ncu: '" + text + "' is not a number");
  return out;
}

std::map<std::string, std::string> conventions_of(const CudaRun& run, std::uint64_t seed) {
  const runtime::CudaDeviceFacts& d = run.device;
  return {
      {"device", d.name},
      {"capability", fmt::format("{}.{}", d.capability_major, d.capability_minor)},
      {"multiprocessors", std::to_string(d.multiprocessors)},
      {"driver", fmt::format("CUDA {}.{}", d.driver_version / 1000, d.driver_version % 1000 / 10)},
      {"core_clock_mhz", fmt::format("{}", d.core_clock_mhz)},
      {"memory_clock_mhz", fmt::format("{}", d.memory_clock_mhz)},
      {"date", utc_date()},
      {"seed", std::to_string(seed)},
      {"raddle", sim::version()},
      {"cache", "as the launch before left it (L1 by the hardware's own rules)"},
      {"tool", "events before and behind each launch"},
      {"launch_latency", "within the time: what lies between two events"},
      {"clock", "cycles are time x core_clock_mhz, the highest the driver states"}};
}

/// One ncu for all, as each takes seconds to start.
void add_counters(std::vector<CudaRun>& runs, const std::vector<WorkloadWords>& works,
                  std::uint64_t seed, const CudaOptions& options) {
  std::vector<std::string> command = {options.ncu,
                                      "--csv",
                                      "--page",
                                      "raw",
                                      "--print-units",
                                      "base",
                                      "--print-kernel-base",
                                      "mangled",
                                      "--cache-control",
                                      options.cache_control,
                                      "--clock-control",
                                      options.clock_control,
                                      "--metrics",
                                      kNcuMetrics,
                                      std::filesystem::read_symlink("/proc/self/exe").string(),
                                      "validate",
                                      "--measure-only",
                                      "--no-counters",
                                      "--quiet",
                                      "--libcuda",
                                      options.library,
                                      "--device",
                                      std::to_string(options.device),
                                      "--seed",
                                      std::to_string(seed)};
  for (const WorkloadWords& words : works)
    command.insert(command.end(), words.begin(), words.end());
  const std::vector<sim::Measurement> rows = read_ncu(output_of(command));
  std::size_t launches = 0;
  for (const CudaRun& run : runs) launches += run.measurements.size();
  if (rows.size() != launches)
    throw RunError(
        fmt::format("ncu saw {} launches, the run by itself had {}", rows.size(), launches));
  auto row = rows.begin();
  for (CudaRun& run : runs) {
    for (std::size_t i = 0; i < run.measurements.size(); ++i, ++row) {
      sim::Measurement& measured = run.measurements[i];
      if (row->kernel != measured.kernel)
        throw RunError(
            fmt::format("ncu: launch {} is of '{}', not of '{}'", i, row->kernel, measured.kernel));
      measured.microseconds = row->microseconds;
      measured.value = row->value;
    }
    run.conventions["tool"] = "ncu (Nsight Compute), --cache-control " + options.cache_control +
                              " --clock-control " + options.clock_control;
    run.conventions["launch_latency"] = "not within the time (gpu__time_duration)";
    run.conventions["launch_gap"] = "included";
    run.conventions["clock"] = options.clock_control == "base"
                                   ? "cycles are sm__cycles_elapsed.max, at the base clock"
                                   : "cycles are sm__cycles_elapsed.max, at whatever the GPU ran; "
                                     "cycles over microseconds";
    if (options.cache_control == "all")
      run.conventions["cache"] = "all: emptied before each launch";
  }
}

CudaRun run_once(const NamedWorkload& named, std::uint64_t seed, const CudaOptions& options) {
  runtime::CudaDevice device(options.library, options.device);
  const runtime::CudaDeviceFacts& facts = device.facts();
  sim::check_capability(
      *named.workload, named.info.name, facts.name,
      static_cast<std::uint32_t>(10 * facts.capability_major + facts.capability_minor));
  named.workload->run(device, seed);
  device.synchronize();
  CudaRun run;
  run.workload = named.info.name;
  run.parameters = named.info.parameters;
  run.input_hash = named.workload->input_hash();
  run.checked = named.workload->checked();
  if (run.checked) run.difference = named.workload->check();
  run.device = device.facts();
  run.launches = device.launches();
  run.conventions = conventions_of(run, seed);
  for (std::size_t i = 0; i < run.launches.size(); ++i) {
    const double us = run.launches[i].milliseconds * 1e3;
    const double mhz = run.device.core_clock_mhz;
    run.measurements.push_back({run.workload,
                                sim::parameter_text(run.parameters),
                                static_cast<std::uint32_t>(i),
                                run.launches[i].name,
                                us,
                                {mhz > 0 ? us * mhz : kUnknown, kUnknown, kUnknown, kUnknown,
                                 kUnknown, kUnknown, kUnknown, kUnknown}});
  }
  return run;
}

}  // namespace

void add_cuda_options(CLI::App& command, CudaOptions& options, OptionModes& modes, ModeSet in) {
  const auto add = [&](CLI::Option* option) { return modes.add(option, in); };
  add(command.add_option("--libcuda", options.library, "on cuda: the driver's library"))
      ->capture_default_str();
  add(command.add_option("--device", options.device, "on cuda: which GPU"))
      ->check(number_from(0))
      ->capture_default_str();
  add(command.add_option("--ncu-program", options.ncu,
                         "on cuda: Nsight Compute, for counters where it is there"))
      ->capture_default_str();
  add(command.add_option("--clock-control", options.clock_control,
                         "ncu: base clock, or none: as the GPU runs by itself"))
      ->check(CLI::IsMember({"base", "none"}))
      ->capture_default_str();
  add(command.add_option("--cache-control", options.cache_control,
                         "ncu: all: empty caches before each launch; none: as the launch before "
                         "left them"))
      ->check(CLI::IsMember({"all", "none"}))
      ->capture_default_str();
  add(command.add_flag_callback(
      "--no-counters", [&options] { options.counters = false; },
      "on cuda: times by events only, without ncu"));
}

std::vector<sim::Measurement> read_ncu(const std::string& text) {
  std::istringstream in(text);
  std::map<std::string, std::size_t> column;
  std::vector<sim::Measurement> out;
  bool units = false;
  for (std::string line; std::getline(in, line);) {
    if (column.empty()) {
      if (!line.starts_with("\"ID\"")) continue;  // what ncu and the program say besides
      const std::vector<std::string> names = quoted_cells(line);
      for (std::size_t i = 0; i < names.size(); ++i) column[names[i]] = i;
      continue;
    }
    const std::vector<std::string> cells = quoted_cells(line);
    if (cells.size() != column.size()) continue;
    if (!units) {  // the line of units
      units = true;
      continue;
    }
    auto text_in = [&](const std::string& name) {
      const auto found = column.find(name);
      if (found == column.end()) throw RunError("ncu's table has no column '" + name + "'");
      return cells[found->second];
    };
    // Sectors and hits are counted in different passes; their caches differ a little.
    auto rate = [&](const std::string& unit) {
      constexpr double kPassesDiffer = 0.02;
      const double all = number_of(text_in(unit + "__t_sectors.sum")),
                   hits = number_of(text_in(unit + "__t_sectors_lookup_hit.sum"));
      if (all == 0 || hits > (1 + kPassesDiffer) * all) return kUnknown;
      return std::min(hits / all, 1.0);
    };
    sim::Measurement& row = out.emplace_back();
    row.kernel = text_in("Kernel Name");
    row.launch = static_cast<std::uint32_t>(out.size() - 1);
    row.microseconds = number_of(text_in("gpu__time_duration.sum")) / 1e3;
    row.value = {number_of(text_in("sm__cycles_elapsed.max")),
                 rate("l1tex"),
                 rate("lts"),
                 number_of(text_in("dram__bytes.sum")),
                 kUnknown,
                 number_of(text_in("smsp__inst_executed.sum")),
                 kUnknown,
                 kUnknown};
  }
  if (column.empty()) throw RunError("ncu printed no table (\"ID\", ...)");
  return out;
}

std::vector<CudaRun> run_on_cuda(const std::vector<WorkloadWords>& works, std::uint64_t seed,
                                 const CudaOptions& options, const CudaListener& listener) {
  // Makes the context, which goes with the last device that uses it, once for all.
  const runtime::CudaDevice context(options.library, options.device);
  std::vector<NamedWorkload> all;
  for (const WorkloadWords& words : works)
    all.push_back(make_workload(words.front(), {words.begin() + 1, words.end()}));
  std::vector<CudaRun> runs;
  std::vector<WorkloadWords> have_run;
  for (std::size_t i = 0; i < all.size(); ++i) {
    try {
      runs.push_back(run_once(all[i], seed, options));
    } catch (const std::runtime_error& error) {
      if (!listener.failed || all.size() == 1) throw;
      listener.failed(all[i].info.name, error.what());
      continue;
    }
    have_run.push_back(works[i]);
    if (listener.ran) listener.ran(runs);
  }
  if (runs.empty()) throw RunError("no workload ran on the GPU");
  if (options.counters && in_path(options.ncu)) add_counters(runs, have_run, seed, options);
  return runs;
}

nlohmann::ordered_json CudaRun::to_json() const {
  nlohmann::ordered_json out;
  out["schema"] = 1;
  out["raddle_version"] = sim::version();
  out["on"] = "cuda";
  out["conventions"] = conventions;
  out["workload"] = {{"name", workload},
                     {"parameters", parameters},
                     {"input_hash", fmt::format("{:016x}", input_hash)},
                     {"result", !checked             ? "unchecked"
                                : difference.empty() ? "correct"
                                                     : "wrong"}};
  if (!difference.empty()) out["workload"]["difference"] = difference;
  out["kernels"] = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const runtime::MeasuredLaunch& l = launches[i];
    nlohmann::ordered_json kernel = {{"name", l.name},
                                     {"grid", {l.grid.x, l.grid.y, l.grid.z}},
                                     {"block", {l.block.x, l.block.y, l.block.z}},
                                     {"stream", index(l.stream)},
                                     {"microseconds", measurements[i].microseconds}};
    for (std::size_t m = 0; m < sim::kFileMetrics; ++m)
      if (!std::isnan(measurements[i].value[m]))
        kernel[std::string(sim::kMetricNames[m])] = measurements[i].value[m];
    out["kernels"].push_back(std::move(kernel));
  }
  return out;
}

}  // namespace raddle::cli
