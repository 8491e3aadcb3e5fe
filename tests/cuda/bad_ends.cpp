// Programs that end badly or cannot be run: one clear line, the right status, no result.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "cuda/exec.h"

namespace raddle::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

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
                    BadEnd{"fault", "out-of-bounds 4-byte"}, BadEnd{"trap", "trap"},
                    BadEnd{"odd", "frobnicate"}, BadEnd{"sass", "rebuild it with -gencode"},
                    BadEnd{"unsupported", "cudaIpcGetMemHandle is not supported"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(BadPrograms, NoResultIsLeftWhereThereIsNone) {
  const Folder folder;
  for (const char* name : {"crash", "exit_at_once", "fault", "nothing"}) {
    scenario(name, {"--functional", "--quiet", "--json", folder / "r.json"});
    EXPECT_THAT(folder.content(), IsEmpty()) << name;
  }
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
  EXPECT_THAT(o.err, HasSubstr("1000"));
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

}  // namespace
}  // namespace raddle::test
