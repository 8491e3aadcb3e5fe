#include "raddle/lab/run/local_executor.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <thread>

#include "raddle/base/error.h"
#include "raddle/lab/host/files.h"

namespace raddle::lab {

namespace {

// How often children are looked at; the shortest cells take some tens of milliseconds.
constexpr std::chrono::milliseconds kPoll{4};

// So many smaller jobs, for each that may run at once, start before a large one that waits for
// memory; then it is the next.
constexpr unsigned kOvertakesPerSlot = 4;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kLimitMemory = false;  // the sanitizers' shadow counts as memory
#else
constexpr bool kLimitMemory = true;
#endif

[[noreturn]] void fail_to_start() {
  constexpr char kMessage[] = "cannot start the worker\n";
  if (write(2, kMessage, sizeof kMessage - 1) < 0) _exit(126);
  _exit(127);
}

void redirect(int descriptor, const char* file, int flags) {
  const int opened = open(file, flags, 0666);
  if (opened < 0 || dup2(opened, descriptor) < 0) fail_to_start();
  if (opened != descriptor) close(opened);
}

/// In the child, between fork and exec: async-signal-safe calls only.
[[noreturn]] void become(char* const* argv, const char* log, pid_t parent, rlim_t memory) {
  setpgid(0, 0);  // a Ctrl-C of the terminal is the runner's; killing reaches grandchildren
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);  // died before we said so
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (memory != 0) {
    const rlimit limit{memory, memory};
    setrlimit(RLIMIT_DATA, &limit);
  }
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  redirect(0, "/dev/null", O_RDONLY);
  redirect(1, log, O_WRONLY | O_CREAT | O_TRUNC);
  if (dup2(1, 2) < 0) fail_to_start();
  execv(argv[0], argv);
  fail_to_start();
}

/// Ends what a child that is over has left behind in its group, then takes note of the child. In
/// this order: while nobody has waited for it, its number is no other group's.
int reap_group(pid_t pid) {
  kill(-pid, SIGKILL);
  int status = 0;
  pid_t reaped = -1;
  do reaped = waitpid(pid, &status, 0);
  while (reaped < 0 && errno == EINTR);
  RADDLE_ASSERT(reaped == pid);
  return status;
}

bool is_over(pid_t pid) {
  siginfo_t info{};
  const int failed = waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT);
  RADDLE_ASSERT(failed == 0 || errno == EINTR);
  return failed == 0 && info.si_pid == pid;
}

}  // namespace

unsigned usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return static_cast<unsigned>(CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

std::uint64_t available_memory() {
  std::ifstream in("/proc/meminfo");
  for (std::string word; in >> word;)
    if (word == "MemAvailable:") {
      std::uint64_t kib = 0;
      if (in >> kib) return kib << 10;
    }
  return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

LocalExecutor::LocalExecutor(LocalOptions options) : options_(std::move(options)) {
  RADDLE_ASSERT(options_.jobs > 0);
  RADDLE_ASSERT(!options_.program.empty());
}

LocalExecutor::~LocalExecutor() { cancel(); }

void LocalExecutor::submit(const std::vector<Job>& jobs) {
  for (const Job& job : jobs) waiting_.push_back({.job = job});
}

bool LocalExecutor::fits(const Job& job) const {
  std::uint64_t used = 0;
  for (const Process& process : running_) used += process.job.memory_bytes;
  return running_.empty() || used + job.memory_bytes <= options_.memory_bytes;
}

void LocalExecutor::start_what_fits() {
  while (!waiting_.empty() && running_.size() < options_.jobs) {
    const unsigned maximum = options_.jobs * kOvertakesPerSlot;
    auto next = std::ranges::find_if(waiting_, [&](const Waiting& w) { return fits(w.job); });
    const bool first_is_due = waiting_.front().overtaken >= maximum;
    if (next == waiting_.end() || (first_is_due && next != waiting_.begin())) return;
    if (next != waiting_.begin()) ++waiting_.front().overtaken;
    const Job job = std::move(next->job);
    waiting_.erase(next);
    start(job);
  }
  RADDLE_ASSERT(running_.size() <= options_.jobs);
}

void LocalExecutor::start(const Job& job) {
  std::vector<std::string> words = {options_.program, "cell", spec_file(options_.work, job.name),
                                    "-o", result_file(options_.work, job.name)};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const std::string log = log_file(options_.work, job.name);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) become(argv.data(), log.c_str(), parent, kLimitMemory ? options_.memory_bytes : 0);
  if (pid < 0)
    throw RunError(std::string("cannot start a worker process: ") + std::strerror(errno));
  setpgid(pid, pid);  // whoever comes first
  running_.push_back({job, pid, Clock::now()});
}

std::vector<JobEnd> LocalExecutor::collect() {
  std::vector<JobEnd> out;
  const auto now = Clock::now();
  std::erase_if(running_, [&](Process& process) {
    const double seconds = std::chrono::duration<double>(now - process.start).count();
    if (is_over(process.pid)) {
      const int status = reap_group(process.pid);
      JobEnd ended{.name = process.job.name, .seconds = seconds, .host = host_name()};
      ended.status = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
      if (process.timed_out) ended.how = JobEnd::How::TimedOut;
      else if (WIFSIGNALED(status)) ended.how = JobEnd::How::Signal;
      out.push_back(std::move(ended));
      return true;
    }
    if (!process.timed_out && seconds > process.job.timeout_seconds) {
      process.timed_out = true;
      kill(-process.pid, SIGKILL);
    }
    return false;
  });
  return out;
}

std::vector<JobEnd> LocalExecutor::wait(std::chrono::milliseconds at_most) {
  const auto until = Clock::now() + at_most;
  while (true) {
    start_what_fits();
    std::vector<JobEnd> out = collect();
    if (!out.empty() || running_.empty() || Clock::now() >= until) return out;
    std::this_thread::sleep_for(kPoll);
  }
}

void LocalExecutor::cancel() {
  waiting_.clear();
  for (const Process& process : running_) kill(-process.pid, SIGKILL);
  for (const Process& process : running_) reap_group(process.pid);
  running_.clear();
}

}  // namespace raddle::lab
