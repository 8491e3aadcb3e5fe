// `raddle sweep --executor slurm` on a real Slurm, which tests/slurm/with_cluster.sh brings up
// around this program (./x test slurm). Without one around it, all of it is skipped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "raddle_paths.h"
#include "support/process.h"

namespace raddle::test::slurm_test {
namespace {

using Json = nlohmann::ordered_json;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using Seconds = std::chrono::seconds;

constexpr const char* kExperiment = RADDLE_SOURCE_DIR "/experiments/demo/warps.toml";
constexpr std::size_t kRuns = 8;

/// A program that runs and can be looked at meanwhile.
class Background {
 public:
  Background(const std::vector<std::string>& arguments, std::string out) : out_(std::move(out)) {
    std::vector<char*> argv = {const_cast<char*>(RADDLE_PROGRAM)};
    for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
    argv.push_back(nullptr);
    child_ = fork();
    if (child_ == 0) {
      const int file = open(out_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      dup2(file, 1);
      dup2(file, 2);
      execv(argv[0], argv.data());
      _exit(127);
    }
  }
  ~Background() {
    if (child_ > 0) end(SIGKILL);
  }
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  /// Sends the signal (0: none) and waits; its status, 128 + signal when killed.
  int end(int signal) {
    if (signal != 0) kill(child_, signal);
    int raw = 0;
    waitpid(child_, &raw, 0);
    child_ = 0;
    return WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw);
  }
  std::string text() const { return read_file(out_); }

 private:
  std::string out_;
  pid_t child_ = 0;
};

bool soon(const std::function<bool()>& happens) {
  for (int i = 0; i < 600; ++i) {
    if (happens()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return false;
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

std::vector<std::string> squeue(const std::string& state, const std::string& format) {
  return lines(run_process("/usr/bin/squeue", {"--noheader", "--array", "--me", "--states=" + state,
                                               "--format=" + format})
                   .out);
}

/// What came out, without what depends on time and place.
std::string numbers(const std::string& csv_folder) {
  std::string out;
  for (const std::string& line : lines(read_file(csv_folder + "/tidy.csv")))
    if (line.find(",host.") == std::string::npos) out += line + "\n";
  return out;
}

/// Of failures.csv, whose texts may have several lines.
std::size_t rows(const std::string& failures) {
  return static_cast<std::size_t>(std::ranges::count_if(
      lines(failures), [](const std::string& line) { return line.starts_with("demo.warps,"); }));
}

class Slurm : public testing::Test {
 protected:
  void SetUp() override {
    if (std::getenv("RADDLE_CLUSTER") == nullptr)
      GTEST_SKIP() << "needs a Slurm around it: ./x test slurm";
    if ((std::getenv("RADDLE_CLUSTER_HIDE") != nullptr) != wants_hidden()) GTEST_SKIP();
  }
  virtual bool wants_hidden() const { return false; }

  /// Words of a sweep into the folder `results`.
  std::vector<std::string> words(const std::string& results, std::vector<std::string> more = {},
                                 const std::string& executor = "slurm") const {
    std::vector<std::string> out = {
        "sweep",      kExperiment, "--results",    folder_ / results,
        "--executor", executor,    "--export-csv", folder_ / "csv-" + results};
    if (executor == "slurm") out.insert(out.end(), {"--slurm-poll", "0.5", "--memory", "0.5"});
    out.insert(out.end(), more.begin(), more.end());
    return out;
  }
  Outcome sweep(const std::string& results, std::vector<std::string> more = {},
                const std::string& executor = "slurm") const {
    return run_process(RADDLE_PROGRAM, words(results, std::move(more), executor), Seconds(100));
  }
  std::string result_numbers(const std::string& results) const {
    return numbers(folder_ / "csv-" + results);
  }
  std::string local_numbers() const {
    const Outcome local = sweep("local", {}, "local");
    EXPECT_EQ(local.status, 0) << local.err;
    return result_numbers("local");
  }
  /// A worker that notes each job that it begins, its name in `begun` and, of a cell, its task in
  /// `tasks`; then does `before`, then is raddle.
  std::string worker(const std::string& before) const {
    const std::string file = folder_.write(
        "worker", "#!/bin/sh\nspec=$2\necho \"$(basename \"$spec\")\" >>" + folder_ / "begun" +
                      "\ncase $spec in */recording-*) ;; *) "
                      "echo ${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID >>" +
                      folder_ / "tasks" + " ;;\nesac\n" + before +
                      "\nexec " RADDLE_PROGRAM " \"$@\"\n");
    std::filesystem::permissions(file, std::filesystem::perms::all);
    return file;
  }
  std::vector<std::string> begun() const { return lines(read_file(folder_ / "begun")); }
  std::size_t begun_cells() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        begun(), [](const std::string& name) { return !name.starts_with("recording-"); }));
  }

  /// The task whose cell began last, or nothing. That Slurm runs a task does not say as much.
  std::string task_begun() const {
    const auto tasks = lines(read_file(folder_ / "tasks"));
    return tasks.empty() ? "" : tasks.back();
  }

  Folder folder_;
};

TEST_F(Slurm, SweepGivesWhatTheLocalExecutorGives) {
  const Outcome out = sweep("results");
  EXPECT_EQ(out.status, 0) << out.err;
  EXPECT_THAT(out.err, HasSubstr("[8/8]"));
  const std::string found = result_numbers("results");
  EXPECT_GT(line_count(found), kRuns * 20);
  EXPECT_EQ(found, local_numbers());
  // 8 cells and 2 recordings do not fit into one array of this cluster, which ends at 7.
  EXPECT_THAT(folder_.content(), testing::Contains("results"));
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "results/work"));
}

TEST_F(Slurm, RequeuedTasksRunAgain) {
  Background runner(words("results", {"--worker", worker("sleep 1.5")}), folder_ / "out");
  std::string task;
  ASSERT_TRUE(soon([&] { return !(task = task_begun()).empty(); })) << runner.text();
  EXPECT_EQ(run_process("/usr/bin/scontrol", {"requeue", task}).status, 0);
  EXPECT_EQ(runner.end(0), 0) << runner.text();
  EXPECT_EQ(result_numbers("results"), local_numbers());
  EXPECT_GT(begun_cells(), kRuns);
}

TEST_F(Slurm, ARunnerThatWasKilledFindsItsJobsAgain) {
  const auto all = words("results", {"--worker", worker("sleep 1.5")});
  // Once while recordings are made, once while cells run.
  Background first(all, folder_ / "out");
  ASSERT_TRUE(soon([&] { return !begun().empty(); })) << first.text();
  EXPECT_EQ(first.end(SIGKILL), 128 + SIGKILL);
  EXPECT_EQ(begun_cells(), 0u);
  Background second(all, folder_ / "out");
  ASSERT_TRUE(soon([&] { return begun_cells() >= 2; })) << second.text();
  EXPECT_EQ(second.end(SIGKILL), 128 + SIGKILL);
  EXPECT_FALSE(squeue("PENDING,RUNNING", "%i").empty());
  const Outcome third = run_process(RADDLE_PROGRAM, all, Seconds(100));
  EXPECT_EQ(third.status, 0) << third.err;
  EXPECT_EQ(result_numbers("results"), local_numbers());
  // Nothing was submitted twice.
  const auto names = begun();
  EXPECT_EQ(names.size(), std::set(names.begin(), names.end()).size());
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "results/work"));
}

TEST_F(Slurm, AFailingCellIsRecordedAndTheOthersGoOn) {
  const std::string crash = worker("grep -q 'warp=gto' \"$spec\" && kill -SEGV $$");
  const Outcome out = sweep("results", {"--worker", crash});
  EXPECT_EQ(out.status, 1);
  EXPECT_THAT(out.err, HasSubstr("FAILED: crashed: signal 11"));
  EXPECT_THAT(out.err, HasSubstr("[8/8]"));
  const std::string failures = read_file(folder_ / "csv-results/failures.csv");
  EXPECT_EQ(rows(failures), 2u) << failures;
  // They are not tried again unless that is asked for.
  EXPECT_EQ(sweep("results").status, 1);
  const Outcome again = sweep("results", {"--retry-failed"});
  EXPECT_EQ(again.status, 0) << again.err;
}

TEST_F(Slurm, ATaskThatSomebodyCancelsHasFailedWithThatReason) {
  // Slurm may end the sleep before the worker, which must not go on then.
  const std::string sleeps = worker("sleep 1.5 || exit 1");
  Background runner(words("results", {"--worker", sleeps}), folder_ / "out");
  std::vector<std::string> waiting;
  std::string running;
  ASSERT_TRUE(soon([&] {
    waiting = squeue("PENDING", "%F_%K");
    running = task_begun();
    return !waiting.empty() && !running.empty();
  })) << runner.text();
  EXPECT_EQ(run_process("/usr/bin/scancel", {waiting.back(), running}).status, 0);
  EXPECT_EQ(runner.end(0), 1);
  EXPECT_THAT(runner.text(),
              HasSubstr("FAILED: Slurm's job " + running + " left no result: CANCELLED"));
  // Of a task that has not begun Slurm keeps nothing.
  EXPECT_THAT(runner.text(), HasSubstr("FAILED: Slurm has no job " + waiting.back() + " any more"));
  const std::string failures = read_file(folder_ / "csv-results/failures.csv");
  EXPECT_EQ(rows(failures), 2u) << failures;
}

TEST_F(Slurm, CtrlCEndsTheJobsAndTheSameCommandGoesOn) {
  const auto all = words("results", {"--worker", worker("sleep 1")});
  Background first(all, folder_ / "out");
  ASSERT_TRUE(soon([&] { return begun_cells() >= 1; })) << first.text();
  EXPECT_EQ(first.end(SIGINT), 1);
  EXPECT_THAT(first.text(), HasSubstr("interrupted; "));
  EXPECT_TRUE(squeue("PENDING,RUNNING", "%i").empty());
  EXPECT_EQ(sweep("results").status, 0);
  EXPECT_EQ(result_numbers("results"), local_numbers());
}

TEST_F(Slurm, AJobThatHangsIsEndedAfterItsTimeout) {
  const std::string hang = worker("grep -q 'warp=gto' \"$spec\" && exec sleep 100");
  const Outcome out = sweep("results", {"--worker", hang, "--timeout", "0.05"});
  EXPECT_EQ(out.status, 1);
  EXPECT_THAT(out.err, ContainsRegex("FAILED: gave no result within 3(\\.[0-9])? s"));
  const std::string failures = read_file(folder_ / "csv-results/failures.csv");
  EXPECT_EQ(rows(failures), 2u) << failures;
}

TEST_F(Slurm, SbatchsOwnWordsWhenItRefuses) {
  const Outcome out = sweep("results", {"--slurm-options", "--partition=nosuch"});
  EXPECT_EQ(out.status, 1);
  EXPECT_THAT(out.err, HasSubstr("sbatch has refused an array of "));
  EXPECT_THAT(out.err, HasSubstr("invalid partition specified: nosuch"));
  EXPECT_TRUE(squeue("PENDING,RUNNING", "%i").empty());
}

TEST_F(Slurm, AnotherProgramOnTheNodesIsNoticed) {
  const std::string old = worker(
      "sed 's/\"program\": \"[^\"]*\"/\"program\": \"0.0.9+old\"/' \"$spec\" >\"$spec.old\"\n"
      "set -- cell \"$spec.old\" \"$3\" \"$4\"");
  const Outcome out = sweep("results", {"--worker", old});
  EXPECT_EQ(out.status, 1);
  EXPECT_THAT(out.err, HasSubstr("another raddle works on "));
  EXPECT_THAT(out.err, HasSubstr("the sweep is of 0.0.9+old"));
  EXPECT_EQ(sweep("results").status, 0);
}

class HiddenFolder : public Slurm {
 protected:
  bool wants_hidden() const override { return true; }
};

TEST_F(HiddenFolder, ResultsThatNodesDoNotSee) {
  const std::string hidden = std::getenv("RADDLE_CLUSTER_HIDE");
  const Outcome out =
      run_process(RADDLE_PROGRAM, {"sweep", kExperiment, "--results", hidden + "/results",
                                   "--executor", "slurm", "--slurm-poll", "0.5"});
  EXPECT_EQ(out.status, 1);
  EXPECT_THAT(out.err, HasSubstr("raddle: node node does not see " + hidden));
  EXPECT_THAT(out.err, HasSubstr("--results must be a folder that all nodes share"));
}

TEST_F(HiddenFolder, AProgramThatNodesDoNotSee) {
  const std::string program = std::getenv("RADDLE_CLUSTER_HIDE") + std::string("/raddle");
  std::filesystem::copy_file(RADDLE_PROGRAM, program);
  const Outcome out = sweep("results", {"--worker", program});
  EXPECT_EQ(out.status, 1);
  EXPECT_THAT(out.err, HasSubstr("cannot run " + program));
}

}  // namespace
}  // namespace raddle::test::slurm_test
