// The pool of processes, with workers that are shell scripts.
#include "raddle/lab/run/local_executor.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <sstream>
#include <thread>

#include "raddle/lab/host/files.h"
#include "unit/lab/support.h"

namespace raddle::lab::test {
namespace {

/// Leaders of process groups that nobody had waited for, and others, when the group was killed.
struct KilledGroups {
  unsigned with_leader = 0, without_leader = 0;
};
KilledGroups* killed_groups = nullptr;  // of the test that looks; null otherwise

}  // namespace
}  // namespace raddle::lab::test

/// In the place of the C library's, to see in which order it and waitpid() are called.
extern "C" int kill(pid_t pid, int signal) noexcept {
  using raddle::lab::test::killed_groups;
  if (pid < -1 && killed_groups != nullptr) {
    const bool leader = syscall(SYS_kill, -pid, 0) == 0;
    ++(leader ? killed_groups->with_leader : killed_groups->without_leader);
  }
  return static_cast<int>(syscall(SYS_kill, pid, signal));
}

namespace raddle::lab::test {
namespace {

using namespace std::chrono_literals;

/// Called as `script cell SPEC -o RESULT`; $1.. are these words.
struct Pool {
  explicit Pool(const std::string& script, unsigned jobs = 2, std::uint64_t memory = 1u << 30) {
    const std::string program = folder.write("worker.sh", "#!/bin/sh\n" + script);
    chmod(program.c_str(), 0755);
    std::filesystem::create_directory(folder.path() / "work");
    executor = std::make_unique<LocalExecutor>(
        LocalOptions{folder.path() / "work", program, jobs, memory});
  }
  std::map<std::string, JobEnd> run(const std::vector<Job>& jobs) {
    executor->submit(jobs);
    std::map<std::string, JobEnd> out;
    const auto until = std::chrono::steady_clock::now() + 60s;
    while (out.size() < jobs.size() && std::chrono::steady_clock::now() < until)
      for (JobEnd& ended : executor->wait(100ms)) out[ended.name] = ended;
    return out;
  }
  std::string file(const std::string& name) const {
    return raddle::test::read_file(folder.path() / "work" / name);
  }
  Folder folder;
  std::unique_ptr<LocalExecutor> executor;
};

std::vector<Job> jobs(unsigned n, double timeout = 60, std::uint64_t memory = 0) {
  std::vector<Job> out;
  for (unsigned i = 0; i < n; ++i) out.push_back({"j" + std::to_string(i), timeout, memory});
  return out;
}

TEST(LocalExecutor, CallsTheWorkerWithItsFiles) {
  Pool pool("echo said; echo \"$1 $3\" > \"$4\"; basename \"$2\" >> \"$4\"");
  const auto ended = pool.run(jobs(1));
  EXPECT_EQ(ended.at("j0").how, JobEnd::How::Exited);
  EXPECT_EQ(ended.at("j0").status, 0);
  EXPECT_EQ(ended.at("j0").host, host_name());
  EXPECT_EQ(pool.file("j0.result.json"), "cell -o\nj0.spec.json\n");
  EXPECT_EQ(pool.file("j0.log"), "said\n");
}

TEST(LocalExecutor, SaysHowAWorkerEnded) {
  Pool pool(
      "case $2 in *j0*) exit 3;; *j1*) kill -SEGV $$;; *j2*) sleep 60;; esac; echo error >&2");
  std::vector<Job> all = jobs(4);
  all[2].timeout_seconds = 0.3;
  const auto ended = pool.run(all);
  EXPECT_EQ(ended.at("j0").status, 3);
  EXPECT_EQ(ended.at("j1").how, JobEnd::How::Signal);
  EXPECT_EQ(ended.at("j1").status, SIGSEGV);
  EXPECT_EQ(ended.at("j2").how, JobEnd::How::TimedOut);
  EXPECT_LT(ended.at("j2").seconds, 30);
  EXPECT_EQ(ended.at("j3").how, JobEnd::How::Exited);
  EXPECT_EQ(pool.file("j3.log"), "error\n");
}

TEST(LocalExecutor, AProgramThatIsNotThereEndsTheJob) {
  Pool pool("");
  LocalExecutor executor({pool.folder.path() / "work", pool.folder / "none", 1, 1u << 30});
  executor.submit(jobs(1));
  std::vector<JobEnd> ended;
  while (ended.empty()) ended = executor.wait(100ms);
  EXPECT_EQ(ended[0].status, 127);
  EXPECT_EQ(pool.file("j0.log"), "cannot start the worker\n");
}

TEST(LocalExecutor, KillsAGroupWhileItsNumberIsStillTheWorkers) {
  Pool pool("sleep 60 & echo $! > \"$4\"");
  KilledGroups seen;
  killed_groups = &seen;
  pool.run(jobs(3));
  killed_groups = nullptr;
  EXPECT_EQ(seen.with_leader, 3u);
  EXPECT_EQ(seen.without_leader, 0u) << "the number may have been given to another group";
}

/// While it lives this process can open no file; programs that it starts can.
class NoDescriptors {
 public:
  NoDescriptors() {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit few{64, before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &few);
    for (int one; (one = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0;) opened_.push_back(one);
  }
  ~NoDescriptors() {
    for (const int one : opened_) close(one);
    setrlimit(RLIMIT_NOFILE, &before_);
  }

 private:
  rlimit before_{};
  std::vector<int> opened_;
};

TEST(LocalExecutor, AWorkerWithoutItsFilesIsNotStarted) {
  const Folder folder;
  LocalExecutor executor({folder.path(), "/bin/true", 1, 1u << 30});
  std::vector<JobEnd> ended;
  executor.submit(jobs(1));
  {
    const NoDescriptors none;
    while (ended.empty()) ended = executor.wait(100ms);
  }
  EXPECT_EQ(ended[0].status, 127) << "it would read what is the runner's to read";
}

/// Names of jobs in the order in which they started.
std::vector<std::string> order_of(Pool& pool, const std::vector<Job>& all) {
  pool.run(all);
  std::vector<std::string> out;
  std::istringstream lines(pool.file("order"));
  for (std::string line; std::getline(lines, line);) out.push_back(line);
  return out;
}

TEST(LocalExecutor, ALargeJobLetsSmallerOnesByAndIsNotForgotten) {
  constexpr std::uint64_t kMib = 1u << 20;
  Pool pool(
      "d=$(dirname \"$2\"); basename \"$2\" .spec.json >> \"$d/order\"; "
      "case $2 in *first*) sleep 1;; *) sleep 0.02;; esac",
      2, 100 * kMib);
  std::vector<Job> all = {{"first", 60, 60 * kMib}, {"large", 60, 90 * kMib}};
  // None fits beside the large one: it would race with it to the file.
  for (int i = 0; i < 20; ++i) all.push_back({"s" + std::to_string(i), 60, 20 * kMib});
  const std::vector<std::string> order = order_of(pool, all);
  ASSERT_EQ(order.size(), all.size());
  const auto large = std::ranges::find(order, "large") - order.begin();
  EXPECT_GT(large, 1) << "what fits beside the first need not wait for the large one";
  EXPECT_LE(large, 1 + 8) << "four for each of two slots have gone before it, and no more";
}

/// Most workers that were there at once, as they saw it themselves.
int max_at_once(Pool& pool, const std::vector<Job>& all) {
  pool.run(all);
  int maximum = 0;
  for (const Job& job : all)
    maximum = std::max(maximum, std::atoi(pool.file(job.name + ".log").c_str()));
  return maximum;
}
const char* const kCountMe =
    "d=$(dirname \"$2\"); touch \"$d/up.$$\"; sleep 0.2; ls \"$d\" | grep -c ^up; "
    "rm \"$d/up.$$\"";

TEST(LocalExecutor, RunsNoMoreThanAllowed) {
  Pool three(kCountMe, 3), one(kCountMe, 1);
  EXPECT_LE(max_at_once(three, jobs(7)), 3);
  EXPECT_EQ(max_at_once(one, jobs(3)), 1);
}

TEST(LocalExecutor, WaitsForMemoryButNotForEver) {
  Pool pool(kCountMe, 4, 100 << 20);
  EXPECT_EQ(max_at_once(pool, jobs(3, 60, 60 << 20)), 1) << "two would need more than there is";
  Pool large(kCountMe, 4, 100 << 20);
  EXPECT_EQ(large.run(jobs(2, 60, 500 << 20)).size(), 2u) << "alone, the largest may try";
}

TEST(LocalExecutor, CancelEndsEverything) {
  Pool pool("sleep 60 & echo $! > \"$4.child\"; wait");
  pool.executor->submit(jobs(3));
  while (pool.file("j0.result.json.child").empty() || pool.file("j1.result.json.child").empty())
    pool.executor->wait(10ms);
  EXPECT_EQ(pool.executor->running(), 2u);
  const pid_t grandchild = std::atoi(pool.file("j0.result.json.child").c_str());
  pool.executor->cancel();
  EXPECT_EQ(pool.executor->running(), 0u);
  EXPECT_TRUE(pool.executor->wait(10ms).empty()) << "nor is the third started";
  for (int i = 0; i < 500 && kill(grandchild, 0) == 0; ++i) std::this_thread::sleep_for(10ms);
  // Whoever reaps orphans may not have done so yet: a zombie counts as gone.
  const std::string status =
      raddle::test::read_file("/proc/" + std::to_string(grandchild) + "/status");
  EXPECT_TRUE(status.empty() || status.find("Z (zombie)") != std::string::npos) << status;
}

TEST(LocalExecutor, WorkersDieWithTheRunner) {
  const Folder folder;
  const std::string script = folder.write("w.sh", "#!/bin/sh\necho $$ > \"$4\"; exec sleep 60\n");
  chmod(script.c_str(), 0755);
  const pid_t runner = fork();
  if (runner == 0) {
    LocalExecutor executor({folder.path(), script, 1, 1u << 30});
    executor.submit(jobs(1));
    while (true) executor.wait(1s);
  }
  std::string text;
  while (text.empty() || text.back() != '\n')
    text = raddle::test::read_file(folder / "j0.result.json");
  const pid_t worker = std::atoi(text.c_str());
  EXPECT_EQ(kill(worker, 0), 0);
  kill(runner, SIGKILL);
  waitpid(runner, nullptr, 0);
  for (int i = 0; i < 500 && kill(worker, 0) == 0; ++i) std::this_thread::sleep_for(10ms);
  const std::string status = raddle::test::read_file("/proc/" + std::to_string(worker) + "/status");
  EXPECT_TRUE(status.empty() || status.find("Z (zombie)") != std::string::npos) << status;
}

TEST(Machine, HasCoresAndMemory) {
  EXPECT_GE(usable_cores(), 1u);
  EXPECT_GT(available_memory(), 1u << 20);
}

}  // namespace
}  // namespace raddle::lab::test
