// Programs that end badly or cannot be run: one clear line, the right status, no result.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "cuda/exec.h"

namespace raddle::test::bad_ends_test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

struct BadEnd {
  const char *name, *message;
};
class BadScenario : public testing::TestWithParam<BadEnd> {};

TEST_P(BadScenario, EndsWithOneAndSaysWhy) {
  const Folder folder;
  const Outcome o =
      scenario(GetParam().name, {"--functional", "--quiet", "--json", folder / "r.json"});
  EXPECT_EQ(o.status, 1) << o.out;
  EXPECT_THAT(o.err, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadScenario,
    testing::Values(BadEnd{"status", "ended with status 3"},
                    BadEnd{"abort", "was ended by signal 6"},
                    BadEnd{"crash", "was ended by signal 11"},
                    BadEnd{"exit_at_once", "ended without its exit handlers"},
                    BadEnd{"nothing", "never used the CUDA runtime's device"},
                    BadEnd{"idle",
                           "no kernel was launched: nothing was simulated; the program asked"},
                    BadEnd{"refused",
                           "nothing was simulated; 2 launches were refused, the first with "
                           "cudaErrorInvalidConfiguration"},
                    BadEnd{"fault", "out-of-bounds 4-byte"}, BadEnd{"trap", "trap"},
                    BadEnd{"odd", "frobnicate"}, BadEnd{"sass", "rebuild it with -gencode"},
                    BadEnd{"unsupported", "cudaIpcGetMemHandle is not supported"},
                    BadEnd{"opens_no_files", "exit handlers (_exit, abort or a crash), or could"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(BadPrograms, NoResultIsLeftWhereThereIsNone) {
  const Folder folder;
  for (const char* name : {"crash", "exit_at_once", "fault", "nothing"}) {
    scenario(name, {"--functional", "--quiet", "--json", folder / "r.json"});
    EXPECT_THAT(folder.content(), IsEmpty()) << name;
  }
}

TEST(BadPrograms, NothingIsStartedWhereMachineAndPolicyContradictEachOther) {
  const Outcome o = scenario("add", {"--gpu", "ikra", "--policy", "migrate=latoa", "--quiet"});
  EXPECT_EQ(o.status, 2) << o.err;
  EXPECT_EQ(o.out, "");
  EXPECT_THAT(o.err, HasSubstr("policy.coherence.name must not be \"denovo\""));
}

TEST(BadPrograms, NullPointersAreRefused) {
  const Outcome o = scenario("nothing_given", {"--functional", "--quiet"});
  EXPECT_THAT(o.out, ContainsRegex("[1-9][0-9][0-9] called, 0 did not return")) << o.out;
}

TEST(BadPrograms, WorkOfAnotherProcessIsNotLostWithoutAWord) {
  const Outcome two = scenario("both", {"--functional", "--quiet"});
  EXPECT_EQ(two.status, 1);
  EXPECT_THAT(two.err, HasSubstr("2 of the processes of"));
  EXPECT_THAT(two.err, HasSubstr("what the others launched is not in the result"));
  const Outcome replaced = scenario("replaced", {"--functional", "--quiet"});
  EXPECT_EQ(replaced.status, 1);
  EXPECT_THAT(replaced.err, HasSubstr("put another CUDA program in its place"));
  EXPECT_THAT(scenario("child_exits_at_once", {"--functional", "--quiet"}).err,
              HasSubstr("ended without its exit handlers"));
}

TEST(BadPrograms, NothingIsLeftOfARecording) {
  const Folder folder;
  for (const char* name : {"crash", "exit_at_once", "fault", "trap"}) {
    run_process(RADDLE_PROGRAM,
                {"record", "-o", folder / "r.rdl", "--quiet", "--", CUDA_APP, name});
    EXPECT_THAT(folder.content(), IsEmpty()) << name;
  }
}

TEST(BadPrograms, WhatOnlyWeRefuseFailsTheRun) {
  const Outcome o = scenario("lacking");
  EXPECT_EQ(o.status, 1) << o.out << o.err;
  for (const char* what : {"bump: a launch of 8589803520 blocks, more than 4294967294, is not "
                           "supported",
                           "an array of channel format 17 is not supported",
                           "an array with flags 0x40 is not supported"})
    EXPECT_THAT(o.err, HasSubstr(what));
  EXPECT_THAT(o.err, HasSubstr("arrays have no flags 0x400"));
}

Outcome recorded(const std::string& file, const std::string& name) {
  return run_process(RADDLE_PROGRAM, {"record", "-o", file, "--quiet", "--", CUDA_APP, name});
}

TEST(BadPrograms, TheChildOfAForkLeavesTheRecordingAlone) {
  const Folder folder;
  const Outcome made = recorded(folder / "r.rdl", "fork_and_exit");
  EXPECT_EQ(made.status, 0) << made.err;
  const Outcome timed = run_process(RADDLE_PROGRAM, {"replay", folder / "r.rdl", "--quiet"});
  EXPECT_EQ(timed.status, 0) << timed.err;
}

TEST(BadPrograms, AChildThatOutlivesTheRunEndsAsItWould) {
  const Outcome o = scenario("outlived_by_child");
  EXPECT_EQ(o.status, 1);  // the program itself has not used the device
  EXPECT_THAT(o.err, HasSubstr("the child has ended"));
  EXPECT_THAT(o.err, Not(HasSubstr("terminate called")));
}

TEST(BadPrograms, ARecordingWhoseDescriptorIsClosedGoesIntoNoOtherFile) {
  const Folder folder;
  setenv("OWN_FILES", folder.path().c_str(), 1);
  const Outcome o = recorded(folder / "r.rdl", "closes_descriptors");
  unsetenv("OWN_FILES");
  EXPECT_EQ(o.status, 1) << o.err;
  EXPECT_THAT(o.err, HasSubstr("the program has closed its descriptor"));
  EXPECT_EQ(folder.content().size(), 6u);
  for (const std::string& own : folder.content()) EXPECT_EQ(read_file(folder / own), "") << own;
}

TEST(BadPrograms, WhatCannotBeStartedIsAWrongUse) {
  const Folder folder;
  const std::string script = folder.write("script.sh", "#!/bin/sh\nexit 0\n");
  const std::string text = folder.write("text", "hello");
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  std::filesystem::permissions(text, std::filesystem::perms::owner_all);
  const std::string plain = folder.write("plain", "hello");
  std::filesystem::permissions(plain, std::filesystem::perms::owner_read);
  const auto refused = [](const std::string& program, const std::string& message) {
    const Outcome o = exec({"--functional"}, {program});
    EXPECT_EQ(o.status, 2) << program;
    EXPECT_THAT(o.err, HasSubstr(message));
    EXPECT_EQ(line_count(o.err), 1u) << o.err;
  };
  refused(folder / "missing", "there is no program");
  refused("no-such-program-anywhere", "in PATH");
  refused(script, "is a script");
  refused(text, "not a program (no ELF file)");
  refused(plain, "is not an executable file");
}

TEST(BadPrograms, OptionsAreCheckedBeforeTheProgramRuns) {
  const Folder folder;
  const auto refused = [](std::vector<std::string> options, const std::string& message) {
    const Outcome o = exec(std::move(options), {CUDA_APP, "add"});
    EXPECT_EQ(o.status, 2);
    EXPECT_THAT(o.err, HasSubstr(message));
    EXPECT_EQ(o.out, "");
  };
  refused({"--gpu", "nonsense"}, "nonsense");
  refused({"--functional", "--live"}, "exclude each other");
  refused({"--json", folder / "missing/r.json"}, "there is no folder");
  refused({"--set", "sm.cuont=3"}, "cuont");
  EXPECT_EQ(run_process(RADDLE_PROGRAM, {"exec"}).status, 2);
}

TEST(BadPrograms, TooManyCyclesEndTheRun) {
  const Outcome o = scenario("streams", {"--quiet", "--max-cycles", "1000"});
  EXPECT_EQ(o.status, 1);
  EXPECT_THAT(o.err, HasSubstr("more than the 4000 that --max-cycles lets a warp execute"));
}

TEST(BadPrograms, OutsideRaddleTheProgramIsToldToStartInside) {
  const Outcome o = run_process(CUDA_APP, {"add"});
  EXPECT_EQ(o.status, 9);
  EXPECT_THAT(o.err, HasSubstr("raddle exec -- "));
}

TEST(BadPrograms, NothingIsLeftInTheTemporaryFolder) {
  const Folder folder;
  setenv("TMPDIR", folder.path().c_str(), 1);
  const Outcome good = scenario("add");
  const Outcome bad = scenario("crash");
  unsetenv("TMPDIR");
  EXPECT_EQ(good.status, 0);
  EXPECT_EQ(bad.status, 1);
  EXPECT_THAT(folder.content(), IsEmpty());
}

/// raddle exec of a program that sleeps, as a process of its own.
class Sleeping {
 public:
  explicit Sleeping(const Folder& folder) : mark_(folder / "child") {
    setenv("TMPDIR", folder.path().c_str(), 1);
    process_ = fork();
    if (process_ == 0) {
      // A shell's background job ignores it, and so would what it starts.
      signal(SIGINT, SIG_DFL);
      const std::string script = "echo $$ >" + mark_ + "; exec sleep 100";
      execl(RADDLE_PROGRAM, "raddle", "exec", "--", "/bin/sh", "-c", script.c_str(), nullptr);
      _exit(127);
    }
    unsetenv("TMPDIR");
    for (unsigned n = 0; n < 3000 && child_ == 0; ++n) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      child_ = std::atoi(read_file(mark_).c_str());
    }
    std::filesystem::remove(mark_);
  }
  ~Sleeping() {
    if (child_ > 0) kill(child_, SIGKILL);
  }
  pid_t child() const { return child_; }
  /// Exit status, 128 + signal when killed.
  int end_by(int signal) const {
    kill(process_, signal);
    int raw = 0;
    waitpid(process_, &raw, 0);
    return WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw);
  }
  /// Within some seconds: it is not ours, so nobody tells when it has gone.
  bool child_has_ended() const {
    for (unsigned n = 0; n < 1000; ++n) {
      const std::string stat = read_file("/proc/" + std::to_string(child_) + "/stat");
      if (stat.empty() || stat.find(") Z ") != stat.npos) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }

 private:
  std::string mark_;
  pid_t process_ = 0, child_ = 0;
};

TEST(StoppedExec, TakesItsProgramAndItsFolderWithIt) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    const Folder folder;
    const Sleeping run(folder);
    ASSERT_GT(run.child(), 0);
    EXPECT_EQ(run.end_by(signal), 128 + signal);
    EXPECT_TRUE(run.child_has_ended()) << signal;
    EXPECT_THAT(folder.content(), IsEmpty()) << signal;
  }
}

TEST(StoppedExec, WhatAKilledOneLeavesTheNextRemoves) {
  const Folder folder;
  {
    const Sleeping run(folder);
    ASSERT_GT(run.child(), 0);
    EXPECT_EQ(run.end_by(SIGKILL), 128 + SIGKILL);
    EXPECT_TRUE(run.child_has_ended());
  }
  ASSERT_EQ(folder.content().size(), 1u);
  const std::filesystem::path left = folder / folder.content().front();
  std::filesystem::last_write_time(
      left, std::filesystem::file_time_type::clock::now() - std::chrono::minutes(1));
  setenv("TMPDIR", folder.path().c_str(), 1);
  EXPECT_EQ(scenario("add").status, 0);
  unsetenv("TMPDIR");
  EXPECT_THAT(folder.content(), IsEmpty());
}

TEST(BadPrograms, ArgumentsMayHoldAnyBytes) {
  const Folder folder;
  const Outcome o =
      exec({"--functional", "--json", folder / "r.json"}, {CUDA_APP, "add", "arg\xff"});
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_EQ(json_of(folder / "r.json")["workload"]["parameters"]["arguments"][1], "arg\\xff");
}

TEST(BadPrograms, WithoutAFolderForTemporaryFilesTheyAreNotStarted) {
  // Not in this process, which wants a folder for the output.
  const Outcome o = run_process("/usr/bin/env",
                                {"TMPDIR=/no/such/folder", RADDLE_PROGRAM, "exec", "--functional",
                                 "--quiet", "--", CUDA_APP, "add"},
                                std::chrono::seconds(120));
  EXPECT_EQ(o.status, 2);
  EXPECT_THAT(o.err, HasSubstr("TMPDIR is /no/such/folder, which is none"));
  EXPECT_EQ(line_count(o.err), 1u) << o.err;
}

// The loader's lists end an item there: the program would find NVIDIA's runtime, or none.
TEST(BadPrograms, AFolderThatTheLoaderCannotNameIsRefused) {
  const Folder folder;
  for (const char* name : {"co:lon", "semi;colon"}) {
    const std::string temporary = folder / name;
    std::filesystem::create_directory(temporary);
    const Outcome o = run_process("/usr/bin/env",
                                  {"TMPDIR=" + temporary, RADDLE_PROGRAM, "exec", "--functional",
                                   "--quiet", "--", CUDA_APP, "add"},
                                  std::chrono::seconds(120));
    EXPECT_EQ(o.status, 2) << o.err;
    EXPECT_THAT(o.err, HasSubstr("TMPDIR names another folder"));
    EXPECT_TRUE(std::filesystem::is_empty(temporary));
  }
}

}  // namespace
}  // namespace raddle::test::bad_ends_test
