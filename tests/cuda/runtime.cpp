// The drop-in runtime does what CUDA's does: the test program checks itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cuda/exec.h"

namespace raddle::test::runtime_test {
namespace {

using testing::HasSubstr;

class GoodScenario : public testing::TestWithParam<const char*> {};

TEST_P(GoodScenario, EndsWellWithoutTiming) {
  const Outcome o = scenario(GetParam());
  EXPECT_EQ(o.status, 0) << o.out << o.err;
}

TEST_P(GoodScenario, EndsWellTimed) {
  const Outcome o = scenario(GetParam(), {"--gpu", "v100", "--set", "sm.count=4", "--quiet"});
  EXPECT_EQ(o.status, 0) << o.out << o.err;
}

TEST_P(GoodScenario, EndsWellLive) {
  if (std::string(GetParam()) == "memory") GTEST_SKIP() << "refused by name, see below";
  const Outcome o = scenario(GetParam(), {"--live", "--set", "sm.count=4", "--quiet"});
  EXPECT_EQ(o.status, 0) << o.out << o.err;
}

INSTANTIATE_TEST_SUITE_P(All, GoodScenario,
                         testing::Values("add", "symbols", "devices", "memory", "streams", "graphs",
                                         "captures", "node_parameters", "prohibited",
                                         "capture_threads", "external_events", "limits",
                                         "per_thread", "versions", "fork", "child", "stray"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Exec, RegisteredMemoryInKernelsIsRefusedLive) {
  const Outcome o = scenario("memory", {"--live", "--set", "sm.count=4", "--quiet"});
  EXPECT_EQ(o.status, 1);
  EXPECT_THAT(o.err, HasSubstr("registered memory with --live is not supported"));
}

TEST(Exec, BoundsOfAProgram) {
  const Outcome o = run_process(
      RADDLE_PROGRAM, {"analyze", "bounds", "--gpu", "gtx480", "--quiet", "--", CUDA_APP, "add"});
  EXPECT_EQ(o.status, 0) << o.err;
}

TEST(Exec, PoliciesOfEveryLevel) {
  for (const char* policy : {"block=chunk", "block=reset", "dispatch=rr", "dispatch=adaptive_bind",
                             "kernel=rr", "warp=two_level", "dram=fcfs"}) {
    const Outcome o = scenario("add", {"--gpu", "v100", "--quiet", "--policy", policy});
    EXPECT_EQ(o.status, 0) << policy << '\n' << o.err;
  }
}

TEST(Exec, EventsTellTimeWithAndWithoutTiming) {
  EXPECT_THAT(scenario("streams", {"--gpu", "v100", "--quiet"}).out, HasSubstr("elapsed some"));
  EXPECT_THAT(scenario("streams").out, HasSubstr("elapsed some"));
  const Folder folder;
  const Outcome recorded = run_process(
      RADDLE_PROGRAM, {"record", "-o", folder / "s.rdl", "--quiet", "--", CUDA_APP, "streams"});
  EXPECT_THAT(recorded.out, HasSubstr("elapsed some")) << "without timing, by what is executed";
}

TEST(Exec, AccessesBesideAllocationsGoOnAndAreCounted) {
  const Outcome o = scenario("stray");
  EXPECT_EQ(o.status, 0) << o.out << o.err;
  EXPECT_THAT(o.err, HasSubstr("256 bytes before the 256-byte allocation"));
  EXPECT_THAT(o.err, HasSubstr("kernel bump: 6 accesses outside of allocations in all"));
  EXPECT_EQ(line_count(o.err), 2u) << o.err;
  EXPECT_EQ(scenario("stray", {"--functional", "--quiet", "--out-of-bounds", "ignore"}).err, "");
  const Outcome exact = scenario("stray", {"--functional", "--quiet", "--out-of-bounds", "fault"});
  EXPECT_EQ(exact.status, 1);
  EXPECT_THAT(exact.err, HasSubstr("out-of-bounds 4-byte load"));
}

TEST(Exec, ChecksTellWhatNobodyHasWritten) {
  const Folder folder;
  // `stray` never writes the words that it adds to.
  const Outcome o = scenario("stray", {"--functional", "--out-of-bounds", "ignore", "--check",
                                       "races,uninitialised", "--json", folder / "r.json"});
  EXPECT_EQ(o.status, 1);
  EXPECT_THAT(o.err, HasSubstr("--check found 1 load of what nobody has written"));
  EXPECT_THAT(o.out, HasSubstr("uninitialised: kernel bump: block (0,0,0) thread (0,0,0) loads 4"));
  const auto checks = json_of(folder / "r.json")["checks"];
  EXPECT_EQ(checks["asked"], (nlohmann::json{"races", "uninitialised"}));
  ASSERT_EQ(checks["findings"].size(), 1u);
  EXPECT_EQ(checks["findings"][0]["check"], "uninitialised");
  EXPECT_EQ(checks["findings"][0]["kernel"], "bump");
}

TEST(Exec, ChecksOfLiveRunsAreRefusedBeforeTheProgramStarts) {
  for (const char* live : {"--live", "--set=run.live=true"}) {
    const Outcome o = scenario("stray", {"--check", "races", live});
    EXPECT_EQ(o.status, 2) << live;
    EXPECT_THAT(o.err, HasSubstr("--check looks at execution in order")) << live;
    EXPECT_EQ(o.out, "") << live;
  }
}

TEST(Exec, ChecksFindNothingWhereTheHostHasWritten) {
  for (const char* program : {"add", "symbols", "memory", "streams", "graphs"}) {
    const Outcome o = scenario(program, {"--functional", "--check", "races,uninitialised"});
    EXPECT_EQ(o.status, 0) << program << o.out << o.err;
    EXPECT_THAT(o.out, HasSubstr("checks: nothing found")) << program;
  }
}

TEST(Exec, TheDeviceIsTheSimulatedMachine) {
  EXPECT_THAT(scenario("limits", {"--functional", "--quiet", "--gpu", "h200"}).out,
              HasSubstr("Raddle h200"));
}

TEST(Exec, ResultSaysWhatRan) {
  const Folder folder;
  const Outcome o = scenario("add", {"--gpu", "v100", "--json", folder / "r.json"});
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(o.out, HasSubstr("PASS"));
  EXPECT_THAT(o.out, HasSubstr("unchecked"));  // the summary
  const auto json = json_of(folder / "r.json");
  EXPECT_EQ(json["workload"]["parameters"]["arguments"][0], "add");
  EXPECT_EQ(json["workload"]["result"], "unchecked");
  ASSERT_EQ(json["kernels"].size(), 1u);
  EXPECT_EQ(json["kernels"][0]["name"], "add");
  EXPECT_GT(json["totals"]["cycles"], 0);
}

TEST(Exec, EqualRunsHaveEqualHashesAndOtherMachinesOthers) {
  const Folder folder;
  const auto hash = [&](const std::string& name, std::vector<std::string> more) {
    more.insert(more.begin(), {"--quiet", "--json", folder / name});
    const Outcome o = scenario("graphs", more);
    EXPECT_EQ(o.status, 0) << o.err;
    return json_of(folder / name)["state_hash"];
  };
  const auto first = hash("1", {"--gpu", "v100"});
  EXPECT_EQ(hash("2", {"--gpu", "v100"}), first);
  EXPECT_EQ(hash("3", {"--gpu", "v100", "--threads", "2"}), first);
  EXPECT_EQ(hash("4", {"--gpu", "v100", "--no-skip"}), first);
  EXPECT_NE(hash("5", {"--gpu", "h200"}), first);
}

/// True when two launches were on the machine at the same time.
bool overlap(const nlohmann::json& kernels) {
  for (std::size_t i = 0; i < kernels.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (kernels[i]["begin_cycle"] < kernels[j]["end_cycle"] &&
          kernels[j]["begin_cycle"] < kernels[i]["end_cycle"])
        return true;
  return false;
}

TEST(Exec, KernelsOfStreamsOverlapAndThoseOfOneDoNot) {
  const Folder folder;
  for (const std::string name : {"streams", "graphs", "per_thread"}) {
    const Outcome o =
        scenario(name, {"--quiet", "--json", folder / "r.json", "--timeline", folder / "t.json"});
    ASSERT_EQ(o.status, 0) << o.err;
    EXPECT_EQ(overlap(json_of(folder / "r.json")["kernels"]), name != "per_thread") << name;
    EXPECT_THAT(read_file(folder / "t.json"), HasSubstr("bump"));
  }
}

TEST(Exec, ARecordingReplaysToTheSameRun) {
  const Folder folder;
  const std::string file = folder / "app.rdl";
  const Outcome recorded =
      run_process(RADDLE_PROGRAM, {"record", "-o", file, "--quiet", "--", CUDA_APP, "streams"});
  ASSERT_EQ(recorded.status, 0) << recorded.err;
  const Outcome replayed =
      run_process(RADDLE_PROGRAM, {"replay", file, "--quiet", "--json", folder / "replay.json"});
  ASSERT_EQ(replayed.status, 0) << replayed.err;
  ASSERT_EQ(scenario("streams", {"--quiet", "--json", folder / "run.json"}).status, 0);
  EXPECT_EQ(json_of(folder / "replay.json")["state_hash"],
            json_of(folder / "run.json")["state_hash"]);
}

TEST(Exec, ReportIsWritten) {
  const Folder folder;
  ASSERT_EQ(scenario("add", {"--quiet", "--report", folder / "r.html"}).status, 0);
  EXPECT_THAT(read_file(folder / "r.html"), HasSubstr("</html>"));
}

TEST(Exec, JsonOnStandardOutputIsAlone) {
  const Outcome o = scenario("add", {"--functional", "--json", "-"});
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_EQ(nlohmann::json::parse(o.out)["kernels"].size(), 1u);
  EXPECT_THAT(o.err, HasSubstr("PASS"));
}

TEST(Runtime, ExitHandlersMayLaunchKernelsThatAreNew) {
  const Outcome o = scenario("kernel_at_exit");
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_EQ(o.out, "counted at exit\n");
}

}  // namespace
}  // namespace raddle::test::runtime_test
