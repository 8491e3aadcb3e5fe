#include "raddle/lab/run/slurm_executor.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <ctime>
#include <sstream>
#include <thread>

#include "raddle/base/error.h"
#include "raddle/lab/host/files.h"
#include "raddle/lab/run/slurm_script.h"

namespace raddle::lab {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFolderPrefix = "slurm-", kNamePrefix = "raddle-";
// How often the shared folder is looked through.
constexpr std::chrono::milliseconds kLook{500};
constexpr std::chrono::milliseconds kFirstAsk{3000};
constexpr std::chrono::seconds kTryAgain{30};
// A controller may be away for an upgrade; what has ended comes in meanwhile.
constexpr std::chrono::minutes kSilence{15};
constexpr std::chrono::seconds kCancelLimit{60};
// A shared folder may show a file late; only then is a task without one taken as lost.
constexpr unsigned kNotAliveLimit = 3;
constexpr unsigned kRestartLimit = 3;
constexpr std::uint64_t kMib = std::uint64_t{1} << 20, kMinMemory = 1024 * kMib;

std::string shell_word(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string job_name(const std::string& id) { return std::string(kNamePrefix) + id; }

fs::path ended_file(const fs::path& folder, unsigned index) {
  return folder / fmt::format("{}.ended", index);
}

/// Slurm's time limit: jobs end themselves after their timeout, to the second.
std::uint64_t minutes(const Job& job) {
  return static_cast<std::uint64_t>(job.timeout_seconds / 60) + 2;
}

}  // namespace

SlurmExecutor::SlurmExecutor(SlurmOptions options) : options_(std::move(options)) {
  options_.work = fs::absolute(options_.work);
  RADDLE_ASSERT(!options_.program.empty());
}

std::size_t SlurmExecutor::width() const { return std::max<std::size_t>(1, running_); }

std::size_t SlurmExecutor::open_tasks() const {
  std::size_t out = 0;
  for (const Array& array : arrays_) out += array.open.size();
  return out;
}

// --- arrays on disk ---

std::optional<SlurmExecutor::Array> SlurmExecutor::read_array(const fs::path& folder) const {
  Array out;
  out.folder = folder;
  out.id = folder.filename().string().substr(kFolderPrefix.size());
  const auto list = read_whole(folder / "list");
  if (!list) return std::nullopt;
  std::istringstream in(*list);
  Job job;
  for (unsigned index = 1; in >> job.name >> job.timeout_seconds >> job.memory_bytes; ++index)
    out.open[index] = {job};
  out.number = read_whole(folder / "job").value_or("");
  return out;
}

/// A runner may have been killed after Slurm took its array and before it could note the number.
void SlurmExecutor::find_numbers(std::vector<Array>& arrays) const {
  for (Array& array : arrays) {
    if (!array.number.empty()) continue;
    std::string error;
    const auto tasks = slurm::tasks({job_name(array.id)}, error);
    if (!tasks) throw RunError("Slurm does not say which jobs it still has: " + error);
    if (tasks->empty()) continue;
    array.number = tasks->begin()->first.first;
    write_whole(array.folder / "job", array.number);
  }
}

std::vector<std::string> SlurmExecutor::adopt(const std::set<std::string>& names) {
  std::vector<Array> found;
  for (const auto& entry : fs::directory_iterator(options_.work)) {
    if (!entry.path().filename().string().starts_with(kFolderPrefix)) continue;
    if (auto array = read_array(entry.path())) found.push_back(std::move(*array));
    else fs::remove_all(entry.path());
  }
  if (found.empty()) return {};
  find_numbers(found);
  std::vector<std::string> job_names;
  for (const Array& array : found) job_names.push_back(job_name(array.id));
  std::string error;
  const auto states = slurm::tasks(job_names, error);
  if (!states) throw RunError("Slurm does not say which jobs it still has: " + error);

  // The newest first: what it has of a job counts.
  std::ranges::sort(found, [](const Array& a, const Array& b) { return a.id > b.id; });
  std::set<std::string> adopted;
  for (Array& array : found) {
    std::erase_if(array.open, [&](const auto& item) {
      const auto& [index, task] = item;
      const std::string& name = task.job.name;
      const auto at = states->find({array.number, index});
      const bool alive = at != states->end() && at->second.alive();
      const auto note = read_whole(ended_file(array.folder, index));
      // Without its result it has been dealt with already.
      const bool result = fs::exists(result_file(options_.work, name));
      const bool here = alive || (note && (result || !note->starts_with("0 ")));
      if (here && names.contains(name) && adopted.insert(name).second) return false;
      array.others |= alive;
      return true;
    });
    if (!array.open.empty()) arrays_.push_back(std::move(array));
    else if (!array.others) fs::remove_all(array.folder);
  }
  std::ranges::reverse(arrays_);
  next_ask_ = Clock::now();
  return {adopted.begin(), adopted.end()};
}

SlurmExecutor::Array SlurmExecutor::make_array(const std::vector<Job>& jobs) {
  std::string now = utc_now();
  std::erase_if(now, [](char c) { return c == '-' || c == ':'; });
  Array out;
  out.id = fmt::format("{}-{}-{:04}", now, getpid(), made_++);
  out.folder = options_.work / (std::string(kFolderPrefix) + out.id);
  make_folder(out.folder);
  std::string list;
  for (const Job& job : jobs) {
    out.open[static_cast<unsigned>(out.open.size()) + 1] = {job};
    list += fmt::format("{} {} {}\n", job.name, job.timeout_seconds, job.memory_bytes);
  }
  write_whole(out.folder / "list", list);
  write_whole(out.folder / "script",
              fmt::format("#!/bin/sh\nwork={}\nfolder={}\nprogram={}\n{}",
                          shell_word(options_.work.string()), shell_word(out.folder.string()),
                          shell_word(options_.program), kSlurmScript));
  return out;
}

// --- submitting ---

void SlurmExecutor::submit(const std::vector<Job>& jobs) {
  for (Job job : jobs) {
    const std::uint64_t bytes =
        options_.memory_bytes.value_or(std::max(2 * job.memory_bytes, kMinMemory));
    // Few sizes, so that there are few arrays.
    job.memory_bytes = options_.memory_bytes ? bytes : std::bit_ceil(bytes);
    queue_.push_back(std::move(job));
  }
}

void SlurmExecutor::submit_queue() {
  if (queue_.empty() || Clock::now() < next_try_) return;
  if (largest_index_ == 0) largest_index_ = slurm::largest_index();
  std::size_t room = queue_.size();
  if (options_.jobs != 0) {
    const std::size_t open = open_tasks();
    room = std::min(room, options_.jobs - std::min(options_.jobs, open));
    // Not an array for each job that ends.
    if (room == 0 || (room < queue_.size() && open > 0 && room < (options_.jobs + 1) / 2)) return;
  }
  while (room > 0) {
    std::vector<Job> jobs;
    std::deque<Job> rest;
    const Job first = queue_.front();
    for (const Job& job : queue_) {
      const bool same = job.memory_bytes == first.memory_bytes && minutes(job) == minutes(first);
      if (same && jobs.size() < std::min<std::size_t>(room, largest_index_)) jobs.push_back(job);
      else rest.push_back(job);
    }
    if (!submit_array(jobs)) return;
    room -= jobs.size();
    queue_ = std::move(rest);
  }
}

bool SlurmExecutor::submit_array(const std::vector<Job>& jobs) {
  Array array = make_array(jobs);
  slurm::Submission submission;
  submission.job_name = job_name(array.id);
  submission.tasks = static_cast<unsigned>(jobs.size());
  submission.memory_mib = (jobs.front().memory_bytes + kMib - 1) / kMib;
  submission.minutes = minutes(jobs.front());
  submission.options = options_.options;
  submission.script = array.folder / "script";
  const slurm::Submitted submitted = slurm::submit(submission);
  if (submitted.id.empty()) {
    fs::remove_all(array.folder);
    // Where others run already this may be a limit on jobs, or a controller that is away.
    if (arrays_.empty())
      throw RunError(
          fmt::format("sbatch has refused an array of {} jobs: {}", jobs.size(), submitted.error));
    next_try_ = Clock::now() + kTryAgain;
    return false;
  }
  array.number = submitted.id;
  write_whole(array.folder / "job", array.number);
  arrays_.push_back(std::move(array));
  next_ask_ = std::min(next_ask_, Clock::now() + std::min(options_.poll, kFirstAsk));
  return true;
}

// --- waiting ---

std::vector<JobEnd> SlurmExecutor::wait(std::chrono::milliseconds at_most) {
  const auto until = Clock::now() + at_most;
  std::vector<JobEnd> out;
  while (true) {
    submit_queue();
    if (Clock::now() >= next_sampling_) {
      collect(out);
      next_sampling_ = Clock::now() + kLook;
    }
    if (!arrays_.empty() && Clock::now() >= next_ask_) {
      ask(out);
      next_ask_ = Clock::now() + options_.poll;
    }
    forget_finished();
    if (!out.empty() || (arrays_.empty() && queue_.empty()) || Clock::now() >= until) return out;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

void SlurmExecutor::collect(std::vector<JobEnd>& out) {
  for (Array& array : arrays_) {
    std::error_code error;
    std::vector<unsigned> ended;
    for (const auto& entry : fs::directory_iterator(array.folder, error))
      if (entry.path().extension() == ".ended")
        ended.push_back(static_cast<unsigned>(std::stoul(entry.path().stem().string())));
    std::ranges::sort(ended);
    for (const unsigned index : ended) {
      const auto at = array.open.find(index);
      const auto note = read_whole(ended_file(array.folder, index));
      if (at == array.open.end() || !note) continue;
      out.push_back(ended_of(array, index, at->second.job, *note));
      array.open.erase(at);
      fs::remove(ended_file(array.folder, index), error);
    }
  }
}

JobEnd SlurmExecutor::ended_of(const Array& array, unsigned index, const Job& job,
                               const std::string& note) const {
  JobEnd out;
  out.name = job.name;
  std::istringstream in(note);
  in >> out.status >> out.seconds >> out.host;
  if (!in)
    throw RunError(fmt::format("{}: expected status, seconds and host, found \"{}\"",
                               ended_file(array.folder, index).string(), note));
  if (out.status == kScriptNoProgram || out.status == 126 || out.status == 127)
    throw RunError(fmt::format(
        "node {} cannot run {}: {}; is it in a folder that all nodes see, and built for them?",
        out.host, options_.program,
        read_whole(log_file(options_.work, job.name)).value_or("it is not there")));
  if (out.status == kScriptTimedOut) out.how = JobEnd::How::TimedOut;
  else if (out.status > 128) {
    out.how = JobEnd::How::Signal;
    out.status -= 128;
  }
  return out;
}

void SlurmExecutor::ask(std::vector<JobEnd>& out) {
  std::vector<std::string> names;
  for (const Array& array : arrays_) names.push_back(job_name(array.id));
  std::string error;
  const auto states = slurm::tasks(names, error);
  if (!states) {
    if (!silent_since_) silent_since_ = Clock::now();
    if (Clock::now() - *silent_since_ > kSilence)
      throw RunError(
          fmt::format("Slurm has not answered for {} minutes: {}", kSilence.count(), error));
    return;
  }
  silent_since_.reset();
  running_ = 0;
  for (Array& array : arrays_)
    for (auto at = array.open.begin(); at != array.open.end();)
      at = judge(array, at->first, at->second, *states, out) ? array.open.erase(at) : std::next(at);
}

/// Whether the task is over without having said so.
bool SlurmExecutor::judge(const Array& array, unsigned index, Task& task,
                          const std::map<slurm::TaskId, slurm::TaskState>& states,
                          std::vector<JobEnd>& out) {
  const auto at = states.find({array.number, index});
  slurm::TaskState state = at == states.end() ? slurm::TaskState{} : at->second;
  if (state.exit_status == kScriptNoFolder && !state.alive())
    throw RunError(fmt::format(
        "node {} does not see {}: --results must be a folder that all nodes share (or leave the "
        "node out: --slurm-options --exclude={})",
        state.node, array.folder.string(), state.node));
  if (at != states.end() && state.alive()) {
    task.not_alive = 0;
    if (state.running()) ++running_;
    return false;
  }
  if (++task.not_alive < kNotAliveLimit || fs::exists(ended_file(array.folder, index)))
    return false;
  const std::string id = fmt::format("{}_{}", array.number, index);
  if (state.state.empty()) state = slurm::accounted(id);
  else slurm::cancel({id});  // held for ever, perhaps
  const bool node_failed =
      state.state == "NODE_FAIL" || state.state == "BOOT_FAIL" || state.state == "PREEMPTED";
  if (node_failed && restarts_[task.job.name]++ < kRestartLimit) {
    queue_.push_back(task.job);
    return true;
  }
  out.push_back(lost(task.job, state, id));
  return true;
}

JobEnd SlurmExecutor::lost(const Job& job, const slurm::TaskState& state,
                           const std::string& id) const {
  JobEnd out;
  out.name = job.name;
  out.how = JobEnd::How::Lost;
  out.host = state.node;
  if (state.state == "TIMEOUT") {
    out.how = JobEnd::How::TimedOut;
    out.seconds = job.timeout_seconds;
  } else if (state.state.empty()) {
    out.reason =
        fmt::format("Slurm has no job {} any more (cancelled?), and it left no result", id);
  } else {
    out.reason = fmt::format("Slurm's job {} left no result: {}", id, state.state);
    if (!state.reason.empty() && state.reason != "None") out.reason += " (" + state.reason + ")";
    if (state.exit_status != 0) out.reason += fmt::format(", status {}", state.exit_status);
    if (!state.node.empty()) out.reason += " on " + state.node;
  }
  return out;
}

void SlurmExecutor::forget_finished() {
  std::erase_if(arrays_, [](const Array& array) {
    if (!array.open.empty()) return false;
    std::error_code error;
    if (!array.others) fs::remove_all(array.folder, error);
    return true;
  });
  if (arrays_.empty()) running_ = 0;
}

// --- ending ---

bool SlurmExecutor::any_alive() {
  std::vector<std::string> names;
  for (const Array& array : arrays_) names.push_back(job_name(array.id));
  std::string error;
  const auto states = slurm::tasks(names, error);
  if (!states) return true;
  return std::ranges::any_of(*states, [](const auto& item) {
    return item.second.alive() || item.second.state == "COMPLETING";
  });
}

void SlurmExecutor::cancel() {
  queue_.clear();
  if (arrays_.empty()) return;
  std::vector<std::string> numbers;
  for (const Array& array : arrays_) numbers.push_back(array.number);
  slurm::cancel(numbers);
  const auto until = Clock::now() + kCancelLimit;
  while (any_alive()) {
    // The folders stay: the next runner finds there what still runs.
    if (Clock::now() >= until) return;
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
  for (Array& array : arrays_) array.open.clear();
  forget_finished();
}

}  // namespace raddle::lab
