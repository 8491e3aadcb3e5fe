#include "raddle/cli/shared/exec.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <span>
#include <sstream>

#include "raddle/api/recording.h"
#include "raddle/base/files.h"
#include "raddle/base/json.h"
#include "raddle/cli/shared/child.h"
#include "raddle/cli/shared/cuda_libraries.h"
#include "raddle/cli/shared/cuda_program.h"
#include "raddle/cli/shared/installation.h"
#include "raddle/cli/shared/output.h"
#include "raddle/cli/shared/reports.h"
#include "raddle/sim/result/identity.h"
#include "raddle/sim/run/exec_job.h"

namespace raddle::cli {

namespace fs = std::filesystem;

namespace {

/// Where the runtime library is.
fs::path library_folder() {
  const auto library = find_support_file("libcudart.so.13");
  if (!library)
    throw RunError("the runtime library libcudart.so.13 is not " + support_folders_text() +
                   ", where it is built and installed");
  return library->parent_path();
}

std::string joined_paths(const std::string& first, const char* variable) {
  const char* const old = std::getenv(variable);
  return old != nullptr && *old != '\0' ? first + ":" + old : first;
}

/// Lists of folders and files that the loader reads end an item at these.
void check_in_list(const std::string& path, std::string_view ends, const char* variable) {
  if (path.find_first_of(ends) != std::string::npos)
    throw InputError({valid_utf8(path)},
                     fmt::format("expected a path that a list of the loader can hold ({}): without "
                                 "':', ';'{}",
                                 variable, ends.size() > 2 ? " and spaces" : ""));
}

/// A folder with every name of runtime and driver for one and the same file: as copies, which is
/// how a Python package has them, they would each be a device of their own. So it is with ours of
/// other libraries.
std::string names_folder(const std::string& folder, const fs::path& libraries) {
  const fs::path out = fs::path(folder) / "names";
  fs::create_directory(out);
  for (const OwnLibrary& own : own_libraries())
    fs::create_symlink(libraries / own.file, out / own.name);
  return out.string();
}

/// The files that answer to what the program loads, the runtime first.
std::string own_files(const CudaProgram& program, const fs::path& libraries) {
  const fs::path runtime = libraries / "libcudart.so.13";
  std::string out = runtime.string();
  std::set<std::string> others;
  for (const Library& library : libraries_of(program.path, libraries.string()))
    for (const OwnLibrary& own : own_libraries())
      if (library.name == own.name && libraries / own.file != runtime)
        others.insert((libraries / own.file).string());
  for (const std::string& file : others) out += ":" + file;
  return out;
}

/// Runs the program with the runtime library in front of it, in folder `work`; "" is ours.
ChildEnd run_program(const CudaProgram& program, const std::vector<std::string>& words,
                     const std::string& work, const std::string& folder, bool output_to_stderr) {
  const fs::path library = library_folder();
  const std::string names = names_folder(folder, library);
  const std::string own = program.has_run_path ? own_files(program, library) : "";
  check_in_list(names, ":;", "LD_LIBRARY_PATH; TMPDIR names another folder");
  if (program.has_run_path) check_in_list(library.string(), ":; ", "LD_PRELOAD");
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  return run_child([&] {
    setenv("LD_LIBRARY_PATH", joined_paths(names, "LD_LIBRARY_PATH").c_str(), 1);
    // A path in the program itself goes before LD_LIBRARY_PATH, but not before what is there first.
    if (program.has_run_path) setenv("LD_PRELOAD", joined_paths(own, "LD_PRELOAD").c_str(), 1);
    setenv(sim::ExecJob::kVariable, folder.c_str(), 1);
    if (output_to_stderr) dup2(STDERR_FILENO, STDOUT_FILENO);
    if (!work.empty() && chdir(work.c_str()) != 0) {
      std::fprintf(stderr, "raddle: cannot enter %s: %s\n", work.c_str(), std::strerror(errno));
      _exit(127);
    }
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

/// Not one that has only asked what device there is.
bool may_have_launched(const std::string& folder, long process) {
  return !fs::exists(sim::ExecOutcome::file(folder, process, "outcome")) ||
         sim::ExecOutcome::read(folder, process).nothing_launched.empty();
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

sim::ExecJob job_of(const std::vector<std::string>& words, const sim::Options& options) {
  sim::ExecJob job;
  job.name = valid_utf8(fs::path(words.front()).filename().string());
  for (auto word = words.begin() + 1; word != words.end(); ++word)
    job.arguments.push_back(valid_utf8(*word));
  job.functional = options.functional;
  job.skip = options.skip;
  job.threads = options.threads;
  job.max_cycles = options.max_cycles;
  job.max_warp_instructions = options.max_warp_instructions;
  job.max_stream_bytes = options.max_stream_bytes;
  job.first_launches = options.first_launches;
  job.sample_interval = options.sample_interval;
  return job;
}

sim::ExecJob job_of(const CommonOptions& common, const std::vector<std::string>& words,
                    const sim::Options& options) {
  sim::ExecJob job = job_of(words, options);
  job.quiet = common.quiet;
  job.report = !common.report.empty();
  job.timeline = !common.timeline.empty();
  job.timeline_events = common.timeline_events;
  job.print_to_stderr = common.json == "-";
  job.single_launches = common.single_launches();
  job.out_of_bounds = common.out_of_bounds;
  job.checks = common.checks;
  return job;
}

/// Puts what the process left where it was asked for; `record`: the recording's file, or "".
void deliver(const CommonOptions& common, const std::string& folder, long process,
             const sim::ExecOutcome& outcome, const std::string& record) {
  const auto text = [&](const char* what) {
    return text_of(sim::ExecOutcome::file(folder, process, what));
  };
  if (!common.json.empty()) write_file(common.json, text("result"));
  if (!common.quiet && common.json != "-") std::fputs(outcome.summary.c_str(), stdout);
  if (!record.empty() && !common.quiet)
    std::fputs(size_line(record, parse_json(text("result"), record)["totals"]["warp_instructions"])
                   .c_str(),
               stdout);
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

/// What a program has left, and what is wrong with that, one sentence each.
struct Left {
  long process = 0;
  sim::ExecOutcome outcome;
  std::vector<std::string> faults;
  std::string failure;  ///< of the run, where the program itself has ended well
};

/// Of a program that asked a library of machine code, or launched nothing although it ended well.
void add_what_was_not_done(Left& left, const std::string& name, bool ended_well) {
  for (const std::string& library : left.outcome.machine_code)
    left.faults.push_back(name + " used " + library +
                          ", which holds machine code or a CUDA runtime of its own: what it was "
                          "asked for was not computed (docs/cuda.md)");
  if (ended_well && left.faults.empty() && left.failure.empty() &&
      !left.outcome.nothing_launched.empty())
    left.faults.push_back(name + ": no kernel was launched: nothing was simulated; " +
                          left.outcome.nothing_launched);
}

Left left_by(const ChildEnd& end, const std::string& folder, const std::string& name) {
  Left out;
  const std::string bad = bad_end(name, end.status);
  if (!bad.empty()) out.faults.push_back(bad);
  const std::vector<long> processes = sim::ExecOutcome::processes(folder);
  out.process = chosen(processes, end.process);
  const auto lost = std::ranges::count_if(processes, [&](long process) {
    return process != out.process && may_have_launched(folder, process);
  });
  if (lost > 0)
    out.faults.push_back(
        fmt::format("{} of the processes of {} used the GPU: one is simulated, what the others "
                    "launched is not in the result",
                    lost + 1, name));
  const auto left = [&](const char* what) {
    return fs::exists(sim::ExecOutcome::file(folder, out.process, what));
  };
  std::string missing;
  if (left("outcome")) out.outcome = sim::ExecOutcome::read(folder, out.process);
  else if (left("started"))
    missing =
        "it ended without its exit handlers (_exit, abort or a crash), or could not write one, "
        "as said above then";
  else missing = "it never used the CUDA runtime's device";
  if (left("replaced"))
    out.faults.push_back(name +
                         " put another CUDA program in its place (exec): what it launched "
                         "before is not in the result");
  if (!missing.empty() && end.stopped == 0)
    out.faults.push_back(fmt::format("{} left no result: {}", name, missing));
  if (bad.empty() && !out.outcome.failures.empty()) out.failure = out.outcome.failures.front();
  add_what_was_not_done(out, name, bad.empty());
  return out;
}

}  // namespace

std::string path_in(const std::string& folder, const std::string& name) {
  if (folder.empty() || name.find('/') == std::string::npos) return name;
  return fs::absolute(fs::path(folder) / name).lexically_normal();
}

std::uint64_t program_hash(const std::vector<std::string>& words, const std::string& folder,
                           std::span<const std::string> inputs) {
  const CudaProgram program = find_program(path_in(folder, words.front()));
  const auto runtime = find_support_file("libcudart.so.13");
  const std::string path =
      runtime ? joined_paths(runtime->parent_path().string(), "LD_LIBRARY_PATH") : "";
  std::vector<std::string> files(inputs.begin(), inputs.end());
  for (const std::string& library :
       user_libraries(libraries_of(fs::absolute(program.path).string(), path, folder)))
    files.push_back(library);
  return sim::hash_of_program(program.path, std::span(words).subspan(1), folder, files);
}

bool is_program(const std::string& name) {
  return name.find('/') != std::string::npos && !name.ends_with(".ptx") &&
         access(name.c_str(), X_OK) == 0 && is_file(name);
}

int execute(const CommonOptions& common, const std::vector<std::string>& words,
            const std::string& record, const std::vector<std::string>& arguments) {
  const CudaProgram program = find_program(words.front());
  for (const std::string& warning : library_warnings(
           words.front(),
           libraries_of(program.path, joined_paths(library_folder().string(), "LD_LIBRARY_PATH"))))
    std::fprintf(stderr, "raddle: %s\n", warning.c_str());
  sim::Setup setup = sim::read_setup(common.tree(), policy::all_policies());
  if (common.functional && common.says_seed())
    throw InputError(
        "--seed: a program makes its own inputs, and --functional leaves out what chooses by it");
  if (!common.functional) {
    sim::check_together(setup);
    sim::check_tenants(setup, 1);
  }
  sim::ExecJob job = job_of(common, words, common.simulation(setup));
  job.command = valid_utf8(joined(arguments));
  job.date = today();
  job.input_hash = program_hash(words, "");
  if (!record.empty()) job.record = fs::absolute(record).string();
  if (!is_utf8(job.record))
    throw InputError({valid_utf8(job.record)}, "expected a file with a name in UTF-8");
  const TemporaryFolder folder("raddle-exec");
  job.write(folder.path(), setup.config());

  const ChildEnd end = run_program(program, words, "", folder.path(), common.json == "-");
  const Left left = left_by(end, folder.path(), words.front());
  if (left.outcome.has_result) deliver(common, folder.path(), left.process, left.outcome, record);
  for (const std::string& fault : left.faults) std::fprintf(stderr, "raddle: %s\n", fault.c_str());
  // What failed was told when it happened; standard error may have been another one then.
  if (!left.failure.empty())
    std::fprintf(stderr, "raddle: %s ended well, but the run failed, as told above\n",
                 words.front().c_str());
  if (end.stopped != 0 && WIFSIGNALED(end.status)) return 128 + end.stopped;
  return left.faults.empty() && left.failure.empty() ? 0 : 1;
}

std::string record_program(const ProgramRun& run, sim::Setup& setup, const sim::Options& options,
                           const std::string& file) {
  const CudaProgram program = find_program(path_in(run.folder, run.words.front()));
  sim::ExecJob job = job_of(run.words, options);
  job.quiet = true;
  job.print_to_stderr = true;
  job.input_hash = run.input_hash;
  job.out_of_bounds = run.out_of_bounds;
  job.record = fs::absolute(file).string();
  const TemporaryFolder folder("raddle-exec");
  job.write(folder.path(), setup.config());
  const ChildEnd end = run_program(program, run.words, run.folder, folder.path(), true);
  const Left left = left_by(end, folder.path(), run.words.front());
  if (!left.faults.empty()) {
    const std::vector<std::string>& notified = left.outcome.failures;
    std::string all = left.faults.front() + (notified.empty() ? "" : ": " + notified.front());
    for (const std::string& fault : std::span(left.faults).subspan(1)) all += "; " + fault;
    throw RunError(all);
  }
  if (!left.failure.empty())
    throw RunError(
        fmt::format("{} ended well, but the run failed: {}", run.words.front(), left.failure));
  return text_of(sim::ExecOutcome::file(folder.path(), left.process, "result"));
}

}  // namespace raddle::cli
