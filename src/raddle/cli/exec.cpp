#include "raddle/cli/exec.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "raddle/base/files.h"
#include "raddle/base/json.h"
#include "raddle/cli/child.h"
#include "raddle/cli/cuda_libraries.h"
#include "raddle/cli/cuda_program.h"
#include "raddle/cli/output.h"
#include "raddle/cli/reports.h"
#include "raddle/sim/exec_job.h"

namespace raddle::cli {

namespace fs = std::filesystem;

namespace {

/// Where this program and, beside it, the runtime library are.
fs::path library_folder() {
  const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
  if (!fs::exists(folder / "libcudart.so.13"))
    throw RunError("the runtime library libcudart.so.13 is not in " + folder.string() +
                   ", where it is built beside raddle");
  return folder;
}

std::string joined_paths(const std::string& first, const char* variable) {
  const char* const old = std::getenv(variable);
  return old != nullptr && *old != '\0' ? first + ":" + old : first;
}

/// Runs the program with the runtime library in front of it.
ChildEnd run_program(const CudaProgram& program, const std::vector<std::string>& words,
                     const std::string& folder, bool output_to_stderr) {
  const fs::path library = library_folder();
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  return run_child([&] {
    setenv("LD_LIBRARY_PATH", joined_paths(library.string(), "LD_LIBRARY_PATH").c_str(), 1);
    // A path in the program itself goes before LD_LIBRARY_PATH, but not before what is there first.
    if (program.has_run_path)
      setenv("LD_PRELOAD",
             joined_paths((library / "libcudart.so.13").string(), "LD_PRELOAD").c_str(), 1);
    setenv(sim::ExecJob::kVariable, folder.c_str(), 1);
    if (output_to_stderr) dup2(STDERR_FILENO, STDOUT_FILENO);
    execv(program.path.c_str(), argv.data());
    std::fprintf(stderr, "raddle: cannot start %s: %s\n", program.path.c_str(),
                 std::strerror(errno));
  });
}

/// The process whose result is the run's: the program itself, else the one child that used the
/// device. Throws RunError when there are several.
long chosen(const std::vector<long>& processes, long program) {
  if (processes.empty() || std::ranges::count(processes, program) != 0) return program;
  if (processes.size() > 1)
    throw RunError(fmt::format("{} processes of the program used the device; one can be simulated",
                               processes.size()));
  return processes.front();
}

std::string text_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw RunError("cannot read " + file);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

/// "" for a good end.
std::string bad_end(const std::string& name, int status) {
  if (WIFSIGNALED(status))
    return fmt::format("{} was ended by signal {} ({})", name, WTERMSIG(status),
                       strsignal(WTERMSIG(status)));
  if (WEXITSTATUS(status) != 0)
    return fmt::format("{} ended with status {}", name, WEXITSTATUS(status));
  return "";
}

sim::ExecJob job_of(const CommonOptions& common, const sim::Options& options) {
  sim::ExecJob job;
  job.functional = options.functional, job.skip = options.skip, job.quiet = common.quiet;
  job.report = !common.report.empty(), job.timeline = !common.timeline.empty();
  job.print_to_stderr = common.json == "-";
  job.threads = options.threads, job.max_cycles = options.max_cycles;
  job.max_warp_instructions = options.max_warp_instructions;
  job.max_stream_bytes = options.max_stream_bytes;
  job.sample_interval = options.sample_interval;
  job.single_launches = common.single_launches();
  job.out_of_bounds = common.out_of_bounds;
  return job;
}

/// Puts what the process left where it was asked for.
void deliver(const CommonOptions& common, const std::string& folder, long process,
             const sim::ExecOutcome& outcome) {
  const auto text = [&](const char* what) {
    return text_of(sim::ExecOutcome::file(folder, process, what));
  };
  if (!common.json.empty()) write_file(common.json, text("result"));
  if (!common.quiet && common.json != "-") std::fputs(outcome.summary.c_str(), stdout);
  std::fflush(stdout);
  if (!common.report.empty()) {
    write_file(common.report, text("report"));
    announce_report(common);
  }
  if (!common.timeline.empty()) {
    write_file(common.timeline, text("timeline"));
    announce_timeline(common);
  }
}

}  // namespace

bool is_program(const std::string& name) {
  return name.find('/') != std::string::npos && !name.ends_with(".ptx") &&
         access(name.c_str(), X_OK) == 0 && fs::is_regular_file(name);
}

int execute(const CommonOptions& common, const std::vector<std::string>& words,
            const std::string& record, const std::vector<std::string>& arguments) {
  const CudaProgram program = find_program(words.front());
  for (const std::string& warning : library_warnings(
           words.front(),
           libraries_of(program.path, joined_paths(library_folder().string(), "LD_LIBRARY_PATH"))))
    std::fprintf(stderr, "raddle: %s\n", warning.c_str());
  sim::Setup setup = sim::read_setup(common.tree(), policy::all_policies());
  sim::ExecJob job = job_of(common, common.simulation(setup));
  job.name = valid_utf8(fs::path(words.front()).filename().string());
  for (auto word = words.begin() + 1; word != words.end(); ++word)
    job.arguments.push_back(valid_utf8(*word));
  job.command = valid_utf8(joined(arguments)), job.date = today();
  if (!record.empty()) job.record = fs::absolute(record).string();
  const TemporaryFolder folder("raddle-exec");
  job.write(folder.path(), setup.config());

  const ChildEnd end = run_program(program, words, folder.path(), common.json == "-");
  const std::string bad = bad_end(words.front(), end.status);
  const long process = chosen(sim::ExecOutcome::processes(folder.path()), end.process);
  const auto left = [&](const char* what) {
    return fs::exists(sim::ExecOutcome::file(folder.path(), process, what));
  };
  sim::ExecOutcome outcome;
  std::string missing;
  if (left("outcome")) outcome = sim::ExecOutcome::read(folder.path(), process);
  else if (left("started"))
    missing = "it ended without its exit handlers (_exit, abort or a crash)";
  else missing = "it never used the CUDA runtime's device";
  if (outcome.has_result) deliver(common, folder.path(), process, outcome);

  if (!bad.empty()) std::fprintf(stderr, "raddle: %s\n", bad.c_str());
  if (!missing.empty() && end.stopped == 0)
    std::fprintf(stderr, "raddle: %s left no result: %s\n", words.front().c_str(), missing.c_str());
  if (!outcome.failures.empty() && bad.empty())
    // What failed was told when it happened; standard error may have been another one then.
    std::fprintf(stderr, "raddle: %s ended well, but the run failed, as told above\n",
                 words.front().c_str());
  if (end.stopped != 0 && WIFSIGNALED(end.status)) return 128 + end.stopped;
  return bad.empty() && missing.empty() && outcome.failures.empty() ? 0 : 1;
}

}  // namespace raddle::cli
