#include "raddle/cli/shared/lab_options.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>

#include "raddle/base/error.h"
#include "raddle/base/json.h"
#include "raddle/cli/shared/external_programs.h"
#include "raddle/cli/shared/options.h"
#include "raddle/cli/shared/output.h"
#include "raddle/lab/host/files.h"
#include "raddle/lab/run/local_executor.h"
#include "raddle/lab/run/slurm_executor.h"
#include "raddle/lab/run/stages.h"
#include "raddle/lab/verdict/document.h"
#include "raddle/lab/verdict/named_tests.h"
#include "raddle/report/reproduction.h"

namespace raddle::cli {

namespace {

constexpr double kGib = 1024.0 * 1024 * 1024;
/// Of what is free when a sweep starts, the share that its workers may take.
constexpr double kMemoryShare = 0.9;

/// Asks whether the user wants to stop, instead of dying of it: SIGINT and SIGTERM wait in line
/// while this lives.
class StopRequest {
 public:
  StopRequest() {
    sigemptyset(&mask_);
    sigaddset(&mask_, SIGINT);
    sigaddset(&mask_, SIGTERM);
    sigprocmask(SIG_BLOCK, &mask_, &before_);
    signal(SIGXFSZ, SIG_IGN);  // a limit on file sizes is a full disk like any other
  }
  ~StopRequest() {
    // What came is answered; it must not strike when it is let through.
    const timespec now{};
    while (sigtimedwait(&mask_, nullptr, &now) > 0) continue;
    sigprocmask(SIG_SETMASK, &before_, nullptr);
  }
  StopRequest(const StopRequest&) = delete;
  StopRequest& operator=(const StopRequest&) = delete;
  bool operator()() const {
    sigset_t pending;
    sigpending(&pending);
    return sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1;
  }

 private:
  sigset_t mask_{}, before_{};
};

std::string duration(double seconds) {
  const auto s = static_cast<std::uint64_t>(seconds + 0.5);
  if (s >= 3600) return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
  return fmt::format("{}:{:02}", s / 60, s % 60);
}

/// One line that is written over on a terminal; elsewhere a line for each run that ends.
class ProgressPrinter {
 public:
  explicit ProgressPrinter(bool quiet) : quiet_(quiet), terminal_(isatty(STDERR_FILENO) != 0) {}

  void operator()(const lab::RunnerProgress& p) {
    if (quiet_) return;
    const bool news = !p.ended.empty();
    if (!terminal_) {
      if (news) print_line(p);
      return;
    }
    if (!p.error.empty()) {
      std::fputs("\r\033[K", stderr);
      print_line(p);
    }
    if (news) last_ = p.ended;
    const auto now = std::chrono::steady_clock::now();
    if (!news && now - shown_ < std::chrono::milliseconds(500)) return;
    shown_ = now;
    const std::string line = fmt::format(
        "[{}/{}] {}{} running, {} gone{}  {}", p.done + p.failed, p.runs,
        p.failed > 0 ? fmt::format("{} failed, ", p.failed) : "", p.running, duration(p.seconds),
        p.seconds_left ? fmt::format(", about {} left", duration(*p.seconds_left)) : "", last_);
    std::fprintf(stderr, "\r\033[K%.110s", line.c_str());
    std::fflush(stderr);
  }

  void clear() const {
    if (!quiet_ && terminal_) std::fputs("\r\033[K", stderr);
  }

 private:
  static void print_line(const lab::RunnerProgress& p) {
    const std::string line =
        fmt::format("[{}/{}] {} {:.1f} s{}", p.done + p.failed, p.runs, p.ended, p.ended_seconds,
                    p.error.empty() ? "" : "  FAILED: " + p.error.substr(0, 300));
    std::fprintf(stderr, "%s\n", line.c_str());
  }

  bool quiet_, terminal_;
  std::string last_;
  std::chrono::steady_clock::time_point shown_;
};

std::unique_ptr<lab::Executor> make_executor(const LabOptions& options,
                                             const lab::ResultsFolder& folder) {
  const std::string program = options.worker.empty()
                                  ? std::filesystem::read_symlink("/proc/self/exe").string()
                                  : std::filesystem::absolute(options.worker).string();
  if (options.executor == "slurm") {
    lab::SlurmOptions slurm;
    slurm.work = folder.work();
    slurm.program = program;
    slurm.options = lab::slurm::split_options(options.slurm_options);
    slurm.jobs = options.jobs;
    if (options.memory_gib)
      slurm.memory_bytes = static_cast<std::uint64_t>(*options.memory_gib * kGib);
    slurm.poll = std::chrono::milliseconds(static_cast<long>(options.slurm_poll_seconds * 1000));
    return std::make_unique<lab::SlurmExecutor>(std::move(slurm));
  }
  lab::LocalOptions local;
  local.work = folder.work();
  local.program = program;
  local.jobs = options.jobs != 0 ? options.jobs : lab::usable_cores();
  local.memory_bytes = static_cast<std::uint64_t>(
      options.memory_gib ? *options.memory_gib * kGib
                         : kMemoryShare * static_cast<double>(lab::available_memory()));
  return std::make_unique<lab::LocalExecutor>(std::move(local));
}

lab::Json machine_json(const lab::Paper& paper,
                       const std::vector<const lab::Experiment*>& experiments,
                       const lab::Catalogue& all) {
  lab::CellSpec spec;
  spec.gpu = paper.gpu;
  spec.set = paper.set;
  for (const lab::Experiment* e : experiments)
    if (spec.gpu.text.empty()) {
      spec.gpu = e->gpu;
      spec.set = e->set;
      spec.seed = e->seed;
    }
  if (spec.gpu.text.empty()) return nullptr;
  spec.gpu = lab::found_gpu(spec.gpu);
  return lab::resolved_machine(spec, all);
}

void print_plan(const lab::Plan& plan) {
  std::size_t cells = 0;
  for (const lab::PlannedExperiment& e : plan.experiments) {
    std::printf("%-24s %5zu cells  %s\n", e.experiment->full_id().c_str(), e.runs.size(),
                e.experiment->title.c_str());
    cells += e.runs.size();
  }
  const std::size_t waiting = plan.waiting();
  std::printf(
      "%zu experiments, %zu cells, %zu runs%s\n", plan.experiments.size(), cells, plan.runs.size(),
      waiting == 0 ? "" : fmt::format("; {} cells wait for derived values", waiting).c_str());
}

/// Of the tests that the rows name; in a build tree their programs lie in tests/ beside this one.
lab::TestOutcomes named_tests(const std::vector<const lab::Experiment*>& experiments) {
  std::vector<std::string> names;
  for (const lab::Experiment* e : experiments)
    names.insert(names.end(), e->tested_by.begin(), e->tested_by.end());
  const StopRequest stop;
  return lab::run_named_tests(
      names, std::filesystem::read_symlink("/proc/self/exe").parent_path() / "tests",
      [&] { return stop(); });
}

std::string code_of(std::string_view workload) {
  std::string out(runtime::embedded_ptx(workload));
  for (const auto& [kernel, registers] : runtime::registers_of(workload))
    for (const auto& [gpu, count] : registers) out += fmt::format("{} {} {}\n", kernel, gpu, count);
  return out;
}
}  // namespace

lab::Catalogue catalogue() {
  return {runtime::all_workloads(), policy::all_policies(), code_of,
          std::make_shared<const HostPrograms>()};
}

void LabOptions::add_to(CLI::App& command) {
  constexpr const char *kWhere = "Where runs go", *kOutput = "Output";  // headings of --help
  command.add_option("--scale", scale, "quick: small inputs, thinned sweeps; full: the paper's")
      ->check(CLI::IsMember({"quick", "full"}))
      ->capture_default_str();
  command.add_option("--results", results, "folder of the results, recordings and work under way")
      ->type_name("DIR")
      ->capture_default_str();
  command
      .add_option("--jobs", jobs,
                  "runs at the same time (default: as many as cores); with slurm: jobs queued or "
                  "running at the same time (default: all)")
      ->check(CLI::Range(1, 4096))
      ->group(kWhere);
  command
      .add_option("--executor", executor,
                  "who runs: processes on this machine, or job arrays of Slurm")
      ->check(CLI::IsMember({"local", "slurm"}))
      ->capture_default_str()
      ->group(kWhere);
  command
      .add_option("--slurm-options", slurm_options,
                  "for sbatch, in one text: \"--partition=short --account=me\"")
      ->type_name("TEXT")
      ->group(kWhere);
  slurm_poll =
      command.add_option("--slurm-poll", slurm_poll_seconds, "how often Slurm is asked, seconds")
          ->check(real_in(0.1, 3600.0))
          ->type_name("SECONDS")
          ->capture_default_str()
          ->group(kWhere);
  command
      .add_option(
          "--memory", memory_gib,
          "of all runs together, GiB (default: 90 % of what is free); with slurm: of each run "
          "(default: twice what it is expected to need)")
      ->check(real_in(0.01, 1e6))
      ->type_name("GIB")
      ->group(kWhere);
  command
      .add_option("--timeout", timeout_minutes, "for a run, minutes (default: the experiment's)")
      ->check(real_in(0.001, 1e6))
      ->type_name("MINUTES")
      ->group(kWhere);
  command
      .add_option("--recordings-limit", recordings_limit_gib,
                  "GiB of recordings to keep; those not needed now go, the longest unused first")
      ->check(real_in(0.0, 1e6))
      ->type_name("GIB")
      ->capture_default_str();
  command
      .add_option("--worker", worker,
                  "program that runs `cell ...` instead of this one, e.g. a wrapper")
      ->check(CLI::ExistingFile)
      ->type_name("PROGRAM")
      ->group(kWhere);
  command.add_flag("--retry-failed", retry_failed, "run again what has failed before");
  command.add_flag("--check", check_only, "check the files, print the plan, run nothing");
  command.add_option("--json", json, "write the reproduction document; - for standard output")
      ->type_name("FILE|-")
      ->group(kOutput);
  command.add_option("--report", report, "write a page of the figures and verdicts")
      ->type_name("FILE.html")
      ->group(kOutput);
  command.add_option("--export-csv", export_csv, "write the results' tables as CSV")
      ->type_name("DIR")
      ->group(kOutput);
  command.add_flag("--quiet", quiet, "print nothing but errors (and JSON on - )")->group(kOutput);
}

lab::Scale LabOptions::scale_value() const {
  return scale == "quick" ? lab::Scale::Quick : lab::Scale::Full;
}

void LabOptions::check() const {
  // Workers find their files through JSON.
  const std::string folder = std::filesystem::absolute(results).string();
  if (!is_utf8(folder))
    throw InputError({valid_utf8(folder)}, "expected a results folder with a name in UTF-8");
  const std::pair<const char*, const std::string&> written[] = {
      {"--json", json}, {"--report", report}, {"--export-csv", export_csv}};
  for (const auto& [option, file] : written)
    if (check_only && !file.empty())
      throw InputError({option}, "--check runs nothing that could be written: leave out one");
  std::vector<OutputOption> outputs = {{"--json", json}, {"--report", report}};
  for (const std::string_view table : lab::Store::kExported)
    if (!export_csv.empty())
      outputs.push_back(
          {"--export-csv", (std::filesystem::path(export_csv) / table).string(), true});
  check_outputs(outputs);
  if (executor == "slurm") lab::slurm::check(lab::slurm::split_options(slurm_options));
  else if (!slurm_options.empty())
    throw InputError({"--slurm-options"}, "expected with --executor slurm, found without");
  else if (slurm_poll != nullptr && slurm_poll->count() > 0)
    throw InputError({"--slurm-poll"}, "expected with --executor slurm, found without");
}

std::optional<LabOutcome> run_experiments(const lab::Paper& paper,
                                          const std::vector<const lab::Experiment*>& experiments,
                                          const LabOptions& options,
                                          const std::vector<std::string>& arguments) {
  options.check();
  const lab::Catalogue all = catalogue();
  if (const lab::Plan plan = lab::make_plan(experiments, all); options.check_only) {
    if (!options.quiet) print_plan(plan);
    return std::nullopt;
  }
  const lab::ResultsFolder folder{options.results};
  lab::make_folder(folder.root);
  if (!options.export_csv.empty()) lab::make_folder(options.export_csv);
  const lab::FolderLock lock(folder.root);
  lab::Store store(folder.database().string());
  const auto executor = make_executor(options, folder);

  LabOutcome out;
  lab::Plan plan;
  {
    const StopRequest stop;
    ProgressPrinter printer(options.quiet);
    lab::RunnerOptions runner;
    runner.retry_failed = options.retry_failed;
    if (options.timeout_minutes) runner.timeout_seconds = *options.timeout_minutes * 60;
    runner.recordings_limit = static_cast<std::uint64_t>(options.recordings_limit_gib * kGib);
    runner.scale = options.scale;
    runner.progress = [&](const lab::RunnerProgress& p) { printer(p); };
    runner.stop = [&] { return stop(); };
    try {
      lab::SweepResult swept = lab::run_stages(experiments, all, store, *executor, folder, runner);
      plan = std::move(swept.plan);
      out.summary = std::move(swept.summary);
    } catch (...) {
      printer.clear();
      throw;
    }
    printer.clear();
  }
  if (out.summary.interrupted)
    throw RunError(
        fmt::format("interrupted; {} of {} runs are kept in {}; the same command goes on",
                    plan.runs.size() - out.summary.missing, plan.runs.size(), options.results));
  if (!options.quiet && !plan.runs.empty() && out.summary.found == plan.runs.size())
    std::fprintf(stderr, "all %zu runs were in %s already\n", plan.runs.size(),
                 options.results.c_str());
  lab::DocumentHead head{valid_utf8(api::joined(arguments)), lab::utc_now(), options.scale_value(),
                         machine_json(paper, experiments, all), named_tests(experiments)};
  out.document = lab::document(paper, plan, out.summary.states, head);
  if (!options.json.empty()) write_file(options.json, json_dump(out.document, 2));
  if (!options.report.empty()) write_file(options.report, report::reproduction_page(out.document));
  if (!options.export_csv.empty()) {
    std::vector<std::string> ids;
    for (const lab::Experiment* experiment : experiments) ids.push_back(experiment->full_id());
    store.export_csv(options.export_csv, ids, options.scale);
  }
  return out;
}

}  // namespace raddle::cli
