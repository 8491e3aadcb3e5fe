// The Slurm executor before a Slurm of shell scripts, which does what each test tells it.
#include "raddle/lab/run/slurm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "raddle/base/error.h"
#include "raddle/lab/host/command.h"
#include "raddle/lab/host/files.h"
#include "raddle/lab/run/slurm_executor.h"
#include "support/process.h"

namespace raddle::lab::slurm_test {
namespace {

namespace fs = std::filesystem;
using raddle::test::read_file;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

template <class Error, class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(RunCommand, GivesStatusAndBothOutputs) {
  const CommandOutcome out =
      run_command({"sh", "-c", "echo one; echo two >&2; exit 3"}, seconds(10));
  EXPECT_EQ(out.status, 3);
  EXPECT_EQ(out.out, "one\n");
  EXPECT_EQ(out.err, "two\n");
}

TEST(RunCommand, KillsWhatTakesTooLong) {
  const CommandOutcome out = run_command({"sh", "-c", "echo one; sleep 100"}, seconds(1));
  EXPECT_TRUE(out.timed_out);
  EXPECT_EQ(out.status, 128 + SIGKILL);
  EXPECT_EQ(out.out, "one\n");
}

TEST(RunCommand, SaysWhatCannotBeStarted) {
  const CommandOutcome out = run_command({"no-such-program"}, seconds(1));
  EXPECT_EQ(out.status, 127);
  EXPECT_THAT(out.err, HasSubstr("no-such-program: No such file"));
}

TEST(SlurmOptions, AreSplitAsAShellDoes) {
  EXPECT_THAT(slurm::split_options(""), IsEmpty());
  EXPECT_THAT(slurm::split_options("  -p short\t--qos=a "), ElementsAre("-p", "short", "--qos=a"));
  EXPECT_THAT(slurm::split_options("--comment='a b' \"c \\\" d\" e\\ f ''"),
              ElementsAre("--comment=a b", "c \" d", "e f", ""));
  EXPECT_THAT(message_of<InputError>([] { slurm::split_options("--comment='a b"); }),
              HasSubstr("--slurm-options: expected a closing ', found the end"));
}

/// PATH has only what the test puts there, and what shell scripts need.
class FakeSlurm : public testing::Test {
 protected:
  FakeSlurm() : path_(std::getenv("PATH")) {
    fs::create_directory(folder_.path() / "bin");
    fs::create_directory(work());
    setenv("PATH", (folder_ / "bin" + ":/bin:/usr/bin").c_str(), 1);
    setenv("FAKE", folder_.path().c_str(), 1);
    command("scontrol", "echo 'MaxArraySize            = 4'");
    command("sbatch",
            "echo \"$*\" >>$FAKE/sbatch.log; wc -l <$FAKE/sbatch.log >$FAKE/n; echo $((100 + $(cat "
            "$FAKE/n)))");
    command("squeue", "echo \"$*\" >>$FAKE/squeue.log; cat $FAKE/tasks");
    command("scancel", "echo \"$*\" >>$FAKE/scancel.log; : >$FAKE/tasks");
    command("sacct", "echo 'sacct: no accounting' >&2; exit 1");
    folder_.write("tasks", "");
  }
  ~FakeSlurm() override { setenv("PATH", path_.c_str(), 1); }

  fs::path work() const { return folder_.path() / "work"; }
  void command(const std::string& name, const std::string& body) const {
    const std::string file = folder_.write("bin/" + name, "#!/bin/sh\n" + body + "\n");
    fs::permissions(file, fs::perms::all);
  }
  std::vector<std::string> log(const std::string& name) const {
    std::istringstream in(read_file(folder_ / (name + ".log")));
    std::vector<std::string> out;
    for (std::string line; std::getline(in, line);) out.push_back(line);
    return out;
  }
  /// What squeue says from now on: of each task array, index, state, node, reason.
  struct Line {
    std::string array, index, state, status = "0", node = "n1", reason = "None";
  };
  void tasks(const std::vector<Line>& lines) const {
    auto field = [](std::string text, std::size_t width) {
      text.resize(width, ' ');
      return text;
    };
    std::string out;
    for (const Line& l : lines)
      out += field(l.array, 24) + field(l.index, 24) + field(l.state, 24) + field(l.status, 16) +
             field(l.node, 64) + field(l.reason, 64) + "\n";
    folder_.write("tasks", out);
  }
  SlurmOptions options() const {
    SlurmOptions out;
    out.work = work();
    out.program = "/bin/true";
    out.poll = milliseconds(20);
    return out;
  }
  static Job job(const std::string& name, std::uint64_t memory = 1 << 20) {
    return {name, 60, memory};
  }
  /// Ends the task as the script does.
  void end(const std::string& name, const std::string& note) const {
    for (const fs::path& folder : arrays()) {
      std::istringstream in(read_file(folder / "list"));
      std::string line;
      for (unsigned index = 1; std::getline(in, line); ++index)
        if (line.starts_with(name + " "))
          write_whole(folder / (std::to_string(index) + ".ended"), note);
    }
  }
  std::vector<fs::path> arrays() const {
    std::vector<fs::path> out;
    for (const auto& entry : fs::directory_iterator(work()))
      if (entry.is_directory()) out.push_back(entry.path());
    std::ranges::sort(out);
    return out;
  }
  static std::vector<JobEnd> wait_long(SlurmExecutor& executor) {
    for (int i = 0; i < 100; ++i)
      if (auto ended = executor.wait(milliseconds(100)); !ended.empty()) return ended;
    return {};
  }

  raddle::test::Folder folder_;
  std::string path_;
};

TEST_F(FakeSlurm, IsCheckedBeforeAnythingRuns) {
  EXPECT_EQ(message_of<InputError>([] {
              slurm::check({"--partition=a", "-p", "b"});
            }),
            "nothing was thrown");
  EXPECT_THAT(message_of<InputError>([] { slurm::check({"--array=1-3"}); }),
              HasSubstr("--slurm-options: --array is decided by raddle"));
  EXPECT_THAT(message_of<InputError>([] { slurm::check({"-Jname"}); }), HasSubstr("-J is decided"));
  EXPECT_THAT(message_of<InputError>([] { slurm::check({"-Mother"}); }),
              HasSubstr("SLURM_CLUSTERS"));
  setenv("PATH", folder_.path().c_str(), 1);
  EXPECT_THAT(message_of<InputError>([] { slurm::check({}); }),
              HasSubstr("slurm needs sbatch, which is not in PATH"));
}

TEST_F(FakeSlurm, ArraysAreNoLargerThanSlurmTakes) {
  SlurmExecutor executor(options());
  executor.submit({job("a"), job("b"), job("c"), job("d"), job("big", std::uint64_t{3} << 30)});
  executor.wait(milliseconds(0));
  const auto calls = log("sbatch");
  ASSERT_EQ(calls.size(), 3u);
  EXPECT_THAT(calls[0], HasSubstr("--array=1-3 --mem=1024M --time=3 "));
  EXPECT_THAT(calls[1], HasSubstr("--array=1-1 --mem=1024M"));
  EXPECT_THAT(calls[2], HasSubstr("--array=1-1 --mem=8192M"));
  EXPECT_EQ(read_file(arrays()[0] / "list"), "a 60 1073741824\nb 60 1073741824\nc 60 1073741824\n");
  EXPECT_EQ(read_file(arrays()[1] / "job"), "102");
}

TEST_F(FakeSlurm, TheUsersOptionsComeLastAndMemoryIsTheUsers) {
  SlurmOptions with = options();
  with.options = {"--mem=0", "--comment=a b"};
  with.memory_bytes = std::uint64_t{3} << 30;
  SlurmExecutor executor(with);
  executor.submit({job("a")});
  executor.wait(milliseconds(0));
  EXPECT_THAT(log("sbatch").front(), HasSubstr("--mem=3072M --time=3 --mem=0 --comment=a b /"));
}

TEST_F(FakeSlurm, NoMoreJobsAtATimeThanAskedFor) {
  SlurmOptions two = options();
  two.jobs = 2;
  SlurmExecutor executor(two);
  executor.submit({job("a"), job("b"), job("c"), job("d"), job("e")});
  executor.wait(milliseconds(0));
  EXPECT_EQ(log("sbatch").size(), 1u);
  tasks({{"101", "1", "RUNNING"}, {"101", "2", "PENDING"}});
  end("a", "0 1.5 n1\n");
  EXPECT_EQ(wait_long(executor).size(), 1u);
  executor.wait(milliseconds(0));
  ASSERT_EQ(log("sbatch").size(), 2u);
  EXPECT_THAT(log("sbatch")[1], HasSubstr("--array=1-1 "));
}

TEST_F(FakeSlurm, TasksSayHowTheyEnded) {
  tasks({{"101", "1", "RUNNING"}, {"101", "2", "RUNNING"}, {"101", "3", "PENDING"}});
  SlurmExecutor executor(options());
  executor.submit({job("a"), job("b"), job("c")});
  executor.wait(milliseconds(0));
  end("a", "0 1.5 n7\n");
  end("b", "124 60 n8\n");
  end("c", "139 2 n9\n");
  const auto ended = wait_long(executor);
  ASSERT_EQ(ended.size(), 3u);
  EXPECT_EQ(ended[0].name, "a");
  EXPECT_EQ(ended[0].how, JobEnd::How::Exited);
  EXPECT_EQ(ended[0].seconds, 1.5);
  EXPECT_EQ(ended[0].host, "n7");
  EXPECT_EQ(ended[1].how, JobEnd::How::TimedOut);
  EXPECT_EQ(ended[2].how, JobEnd::How::Signal);
  EXPECT_EQ(ended[2].status, SIGSEGV);
  EXPECT_THAT(arrays(), IsEmpty());
}

TEST_F(FakeSlurm, ATaskWithoutANoteIsLostOnceSlurmSaysSoRepeatedly) {
  tasks({{"101", "1", "FAILED", "256", "n1", "NonZeroExitCode"}, {"101", "2", "TIMEOUT"}});
  SlurmExecutor executor(options());
  executor.submit({job("a"), job("b"), job("c")});
  const auto ended = wait_long(executor);
  ASSERT_EQ(ended.size(), 3u);
  EXPECT_EQ(ended[0].how, JobEnd::How::Lost);
  EXPECT_EQ(ended[0].reason,
            "Slurm's job 101_1 left no result: FAILED (NonZeroExitCode), status 1 on n1");
  EXPECT_EQ(ended[1].how, JobEnd::How::TimedOut);
  EXPECT_EQ(ended[2].reason, "Slurm has no job 101_3 any more (cancelled?), and it left no result");
  EXPECT_GE(log("squeue").size(), 3u);
}

TEST_F(FakeSlurm, AccountingKnowsWhatSqueueHasForgotten) {
  command("sacct", "echo 'CANCELLED by 1000|0:15|n3'");
  SlurmExecutor executor(options());
  executor.submit({job("a")});
  const auto ended = wait_long(executor);
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(ended[0].reason, "Slurm's job 101_1 left no result: CANCELLED on n3");
}

TEST_F(FakeSlurm, AfterANodesFailureTheJobIsSubmittedAgainButNotForEver) {
  command("scancel", ":");
  tasks({{"101", "1", "NODE_FAIL"},
         {"102", "1", "PREEMPTED"},
         {"103", "1", "BOOT_FAIL"},
         {"104", "1", "NODE_FAIL"}});
  SlurmExecutor executor(options());
  executor.submit({job("a")});
  const auto ended = wait_long(executor);
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_THAT(ended[0].reason, HasSubstr("104_1 left no result: NODE_FAIL"));
  EXPECT_EQ(log("sbatch").size(), 4u);
}

TEST_F(FakeSlurm, ANodeThatCannotRunJobsStopsTheSweep) {
  tasks({{"101", "1", "FAILED", "18432", "n5"}});
  SlurmExecutor blind(options());
  blind.submit({job("a")});
  const std::string message = message_of<RunError>([&] { wait_long(blind); });
  EXPECT_THAT(message, HasSubstr("node n5 does not see " + work().string()));
  EXPECT_THAT(message, HasSubstr("--slurm-options --exclude=n5"));

  tasks({{"102", "1", "RUNNING"}});
  SlurmExecutor without(options());
  without.submit({job("b")});
  without.wait(milliseconds(0));
  end("b", "73 0 n6\n");
  EXPECT_THAT(message_of<RunError>([&] { wait_long(without); }),
              HasSubstr("node n6 cannot run /bin/true: it is not there"));
}

TEST_F(FakeSlurm, RefusalOfTheFirstArrayEndsTheSweepLaterOnesWait) {
  command("sbatch", "echo 'sbatch: error: no such account' >&2; exit 1");
  SlurmExecutor refused(options());
  refused.submit({job("a")});
  EXPECT_EQ(message_of<RunError>([&] { refused.wait(milliseconds(0)); }),
            "sbatch has refused an array of 1 jobs: sbatch: error: no such account");
  EXPECT_THAT(arrays(), IsEmpty());

  command("sbatch", "[ -e $FAKE/full ] && exit 1; touch $FAKE/full; echo 101");
  tasks({{"101", "1", "RUNNING"}, {"101", "2", "RUNNING"}, {"101", "3", "RUNNING"}});
  SlurmExecutor limited(options());
  limited.submit({job("a"), job("b"), job("c"), job("d")});
  EXPECT_THAT(limited.wait(milliseconds(50)), IsEmpty());
  EXPECT_EQ(arrays().size(), 1u);
}

TEST_F(FakeSlurm, ASlurmThatDoesNotAnswer) {
  command("scontrol",
          "echo 'slurm_load_ctl_conf error: Unable to contact slurm controller' >&2; exit 1");
  SlurmExecutor executor(options());
  executor.submit({job("a")});
  EXPECT_THAT(message_of<RunError>([&] { executor.wait(milliseconds(0)); }),
              HasSubstr("Slurm does not answer: slurm_load_ctl_conf error: Unable to contact"));
  command("scontrol", "echo 'MaxArraySize = 0'");
  EXPECT_THAT(message_of<RunError>([&] { executor.wait(milliseconds(0)); }),
              HasSubstr("job arrays are switched off"));
}

TEST_F(FakeSlurm, SilenceLaterIsWaitedOut) {
  command("squeue", "echo gone >>$FAKE/squeue.log; exit 1");
  SlurmExecutor executor(options());
  executor.submit({job("a")});
  EXPECT_THAT(executor.wait(milliseconds(300)), IsEmpty());
  EXPECT_GE(log("squeue").size(), 3u);
  end("a", "0 1 n1\n");
  EXPECT_EQ(wait_long(executor).size(), 1u);
}

TEST_F(FakeSlurm, TheNextRunnerAdoptsWhatIsUnderWay) {
  {
    SlurmExecutor killed(options());
    killed.submit({job("a"), job("b"), job("c")});
    killed.wait(milliseconds(0));
  }
  end("b", "1 2.5 n1\n");
  tasks({{"101", "1", "PENDING"}});
  SlurmExecutor next(options());
  // c has gone without a trace: it is to be run again.
  EXPECT_THAT(next.adopt({"a", "b", "c", "other"}), ElementsAre("a", "b"));
  const auto first = wait_long(next);
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first[0].name, "b");
  EXPECT_EQ(first[0].status, 1);
  end("a", "0 1 n1\n");
  EXPECT_EQ(wait_long(next).size(), 1u);
  EXPECT_EQ(log("sbatch").size(), 1u);
  EXPECT_THAT(arrays(), IsEmpty());
}

TEST_F(FakeSlurm, AnArrayWhoseNumberWasNotNotedIsFoundByItsName) {
  {
    SlurmExecutor killed(options());
    killed.submit({job("a")});
    killed.wait(milliseconds(0));
  }
  fs::remove(arrays()[0] / "job");
  tasks({{"777", "1", "RUNNING"}});
  SlurmExecutor next(options());
  EXPECT_THAT(next.adopt({"a"}), ElementsAre("a"));
  EXPECT_EQ(read_file(arrays()[0] / "job"), "777");
  const std::string id = arrays()[0].filename().string().substr(6);
  EXPECT_THAT(log("squeue").front(), HasSubstr("--name=raddle-" + id));
}

TEST_F(FakeSlurm, ArraysOfNobodyAreForgottenAndThoseOfOthersLeft) {
  {
    SlurmExecutor killed(options());
    killed.submit({job("a")});
    killed.wait(milliseconds(0));
    killed.submit({job("b")});
    killed.wait(milliseconds(0));
  }
  tasks({{"102", "1", "RUNNING"}});
  SlurmExecutor next(options());
  EXPECT_THAT(next.adopt({"c"}), IsEmpty());
  ASSERT_EQ(arrays().size(), 1u);
  EXPECT_EQ(read_file(arrays()[0] / "job"), "102");

  command("squeue", "echo 'controller is away' >&2; exit 1");
  SlurmExecutor blind(options());
  EXPECT_EQ(message_of<RunError>([&] { blind.adopt({"b"}); }),
            "Slurm does not say which jobs it still has: controller is away");
}

TEST_F(FakeSlurm, CancelEndsAllArrays) {
  tasks({{"101", "1", "RUNNING"}, {"102", "1", "PENDING"}});
  SlurmExecutor executor(options());
  executor.submit({job("a"), job("big", std::uint64_t{9} << 30)});
  executor.wait(milliseconds(0));
  executor.cancel();
  EXPECT_THAT(log("scancel"), ElementsAre("--quiet 101 102"));
  EXPECT_THAT(arrays(), IsEmpty());
}

/// The script that a task runs, called as Slurm does.
class TaskScript : public FakeSlurm {
 protected:
  TaskScript() : executor_(options()) {
    folder_.write("worker",
                  "#!/bin/sh\n[ -e $FAKE/hang ] && sleep 100\necho run >>$FAKE/runs.log\n"
                  "echo \"$1 $2\"; echo done >\"$4\"\nexit $(cat $FAKE/status)\n");
    fs::permissions(folder_ / "worker", fs::perms::all);
    folder_.write("status", "0");
    SlurmOptions with = options();
    with.program = folder_ / "worker";
    executor_ = SlurmExecutor(with);
    Job a = job("a");
    a.timeout_seconds = 1;
    executor_.submit({a});
    executor_.wait(milliseconds(0));
    write_whole(spec_file(work(), "a"), "{}");
    array_ = arrays().at(0);
  }
  raddle::test::Outcome run() const {
    return raddle::test::run_process("/usr/bin/env",
                                     {"SLURM_ARRAY_TASK_ID=1", "sh", array_ / "script"});
  }
  std::string note() const { return read_file(array_ / "1.ended"); }

  SlurmExecutor executor_;
  fs::path array_;
};

TEST_F(TaskScript, RunsTheCellAndLeavesANote) {
  EXPECT_EQ(run().status, 0);
  EXPECT_THAT(note(), testing::MatchesRegex("0 [0-9]+\\.[0-9]+ .+\n"));
  EXPECT_EQ(read_file(log_file(work(), "a")), "cell " + spec_file(work(), "a").string() + "\n");
  EXPECT_EQ(read_file(result_file(work(), "a")), "done\n");
}

TEST_F(TaskScript, RequeuedAfterItsEndItRunsNothing) {
  run();
  fs::remove(array_ / "1.ended");
  EXPECT_EQ(run().status, 0);
  EXPECT_THAT(note(), testing::StartsWith("0 0 "));
  EXPECT_EQ(log("runs").size(), 1u);
  // And once its result has been taken in, not even that.
  fs::remove(array_ / "1.ended");
  fs::remove(spec_file(work(), "a"));
  fs::remove(result_file(work(), "a"));
  EXPECT_EQ(run().status, 0);
  EXPECT_EQ(note(), "");
  EXPECT_EQ(log("runs").size(), 1u);
}

TEST_F(TaskScript, SaysHowItFailed) {
  folder_.write("status", "7");
  EXPECT_EQ(run().status, 7);
  EXPECT_THAT(note(), testing::StartsWith("7 "));
  fs::remove(result_file(work(), "a"));
  folder_.write("hang", "");
  EXPECT_EQ(run().status, 124);
  EXPECT_THAT(note(), testing::StartsWith("124 1."));
  fs::remove(folder_ / "worker");
  EXPECT_EQ(run().status, 73);
  EXPECT_THAT(note(), testing::StartsWith("73 0 "));
  fs::remove_all(array_);
  EXPECT_NE(run().status, 0);
}

TEST_F(TaskScript, TerminatedItLeavesNoNote) {
  folder_.write("worker", "#!/bin/sh\nkill -TERM $(ps -o ppid= -p $PPID)\nsleep 0.2\nexit 1\n");
  EXPECT_EQ(run().status, 143);
  EXPECT_EQ(note(), "");
}

}  // namespace
}  // namespace raddle::lab::slurm_test
