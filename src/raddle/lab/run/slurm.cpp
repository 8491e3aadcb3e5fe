#include "raddle/lab/run/slurm.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <sstream>

#include "raddle/base/error.h"
#include "raddle/lab/host/command.h"

namespace raddle::lab::slurm {

namespace {

// Slurm's own commands give up on a controller that is away after some tens of seconds.
constexpr std::chrono::seconds kLimit{120};
constexpr std::string_view kOption = "--slurm-options";

/// What a command said, in one line.
std::string words(const CommandOutcome& outcome) {
  if (outcome.timed_out) return fmt::format("no answer within {} s", kLimit.count());
  std::string out;
  std::istringstream lines(outcome.err.empty() ? outcome.out : outcome.err);
  for (std::string line; std::getline(lines, line);)
    if (!line.empty()) out += (out.empty() ? "" : "; ") + line;
  return out.empty() ? fmt::format("status {} without a word", outcome.status) : out;
}

/// "--mem=3G" -> "--mem"; "-Jname" -> "-J"
std::string option_name(const std::string& word) {
  if (word.starts_with("--")) return word.substr(0, word.find('='));
  return word.substr(0, 2);
}

}  // namespace

std::vector<std::string> split_options(std::string_view text) {
  std::vector<std::string> out;
  bool in_word = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool blank = c == ' ' || c == '\t' || c == '\n';
    if (quote == 0 && blank) {
      in_word = false;
      continue;
    }
    if (!in_word) {
      out.emplace_back();
      in_word = true;
    }
    if (quote != 0 && c == quote) quote = 0;
    else if (quote == 0 && (c == '"' || c == '\'')) quote = c;
    else if (c == '\\' && quote != '\'' && i + 1 < text.size()) out.back() += text[++i];
    else out.back() += c;
  }
  if (quote != 0)
    throw InputError({std::string(kOption)},
                     fmt::format("expected a closing {}, found the end: {}", quote, text));
  return out;
}

void check(const std::vector<std::string>& options) {
  for (const char* program : {"sbatch", "squeue", "scancel", "scontrol"})
    if (!is_in_path(program))
      throw InputError({"--executor"},
                       fmt::format("slurm needs {}, which is not in PATH: is this a machine that "
                                   "jobs are submitted from?",
                                   program));
  static constexpr std::array kOurs = {
      "--array", "-a", "--job-name", "-J",          "--wait",     "-W", "--wrap",
      "--chdir", "-D", "--parsable", "--test-only", "--clusters", "-M", "--het-group"};
  for (const std::string& word : options) {
    const std::string name = option_name(word);
    if (std::ranges::find(kOurs, name) == kOurs.end()) continue;
    throw InputError({std::string(kOption)},
                     fmt::format("{} is decided by raddle{}", name,
                                 name == "-M" || name == "--clusters"
                                     ? "; choose a cluster with SLURM_CLUSTERS in the environment"
                                     : ""));
  }
}

bool TaskState::running() const {
  return state == "RUNNING" || state == "COMPLETING" || state == "SUSPENDED";
}

bool TaskState::alive() const {
  static constexpr std::array kOver = {"BOOT_FAIL",     "CANCELLED",    "COMPLETED",    "DEADLINE",
                                       "FAILED",        "NODE_FAIL",    "PREEMPTED",    "REVOKED",
                                       "OUT_OF_MEMORY", "REQUEUE_HOLD", "SPECIAL_EXIT", "TIMEOUT"};
  if (std::ranges::find(kOver, state) != kOver.end()) return false;
  // Slurm keeps it, but nobody will ever start it.
  return !(state == "PENDING" && reason.starts_with("launch"));
}

unsigned largest_index() {
  const CommandOutcome outcome = run_command({"scontrol", "show", "config"}, kLimit);
  if (outcome.status != 0) throw RunError("Slurm does not answer: " + words(outcome));
  constexpr std::string_view kKey = "MaxArraySize";
  unsigned size = 0;
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(kKey)) {
      std::istringstream value(line.substr(line.find('=') + 1));
      value >> size;
    }
  if (size < 2) throw RunError("Slurm says no MaxArraySize above 1: job arrays are switched off");
  return size - 1;
}

Submitted submit(const Submission& s) {
  std::vector<std::string> command = {"sbatch",
                                      "--parsable",
                                      "--requeue",
                                      "--chdir=/",
                                      "--output=/dev/null",
                                      "--error=/dev/null",
                                      "--job-name=" + s.job_name,
                                      fmt::format("--array=1-{}", s.tasks),
                                      fmt::format("--mem={}M", s.memory_mib),
                                      fmt::format("--time={}", s.minutes)};
  command.insert(command.end(), s.options.begin(), s.options.end());
  command.push_back(s.script.string());
  const CommandOutcome outcome = run_command(command, kLimit);
  if (outcome.status != 0) return {"", words(outcome)};
  // "17", or "17;cluster"; site plug-ins may print before it.
  std::string id;
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) {
    const std::string number = line.substr(0, line.find(';'));
    if (!number.empty() && number.find_first_not_of("0123456789") == std::string::npos) id = number;
  }
  if (id.empty()) return {"", "sbatch gave no job number: " + words(outcome)};
  return {id, ""};
}

std::optional<std::map<TaskId, TaskState>> tasks(const std::vector<std::string>& job_names,
                                                 std::string& error) {
  const CommandOutcome outcome = run_command(
      {"squeue", "--me", "--noheader", "--array", "--states=all",
       fmt::format("--name={}", fmt::join(job_names, ",")),
       "--Format=ArrayJobID:24,ArrayTaskID:24,State:24,exit_code:16,NodeList:64,Reason:64"},
      kLimit);
  if (outcome.status != 0) {
    error = words(outcome);
    return std::nullopt;
  }
  std::map<TaskId, TaskState> out;
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) {
    auto field = [&](std::size_t at, std::size_t width) {
      if (at >= line.size()) return std::string();
      std::string text = line.substr(at, width);
      while (!text.empty() && text.back() == ' ') text.pop_back();
      return text;
    };
    const std::string index = field(24, 24);
    if (index.empty() || index.find_first_not_of("0123456789") != std::string::npos) continue;
    TaskState task;
    task.state = field(48, 24);
    task.node = field(88, 64);
    task.reason = field(152, 64);
    const std::string status = field(72, 16);
    if (!status.empty() && status.find_first_not_of("0123456789") == std::string::npos)
      task.exit_status = static_cast<int>(std::stoul(status) >> 8 & 0xff);
    out[{field(0, 24), static_cast<unsigned>(std::stoul(index))}] = task;
  }
  return out;
}

TaskState accounted(const std::string& id) {
  const CommandOutcome outcome = run_command({"sacct", "--noheader", "--allocations", "--parsable2",
                                              "--jobs=" + id, "--format=State,ExitCode,NodeList"},
                                             kLimit);
  TaskState out;
  if (outcome.status != 0) return out;  // many clusters have no accounting
  std::istringstream line(outcome.out.substr(0, outcome.out.find('\n')));
  std::string status;
  std::getline(line, out.state, '|');
  std::getline(line, status, '|');
  std::getline(line, out.node, '|');
  out.state = out.state.substr(0, out.state.find(' '));  // "CANCELLED by 1000"
  std::istringstream(status) >> out.exit_status;
  return out;
}

void cancel(const std::vector<std::string>& ids) {
  if (ids.empty()) return;
  std::vector<std::string> command = {"scancel", "--quiet"};
  command.insert(command.end(), ids.begin(), ids.end());
  run_command(command, kLimit);
}

}  // namespace raddle::lab::slurm
