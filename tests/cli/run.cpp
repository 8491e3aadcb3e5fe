// raddle run and raddle compare when all is well: results, files, settings, repeatability.
#include "cli/raddle.h"

namespace raddle::test::run_test {
namespace {

std::string hash_of(const std::string& words) {
  return json_of(raddle("run " + words + " --quiet --json -"))["state_hash"].get<std::string>();
}

TEST(Run, SummarySaysWhatMatters) {
  const Outcome run = raddle("run vecadd size=tiny --gpu gtx480 --policy warp=gto");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.err, "") << "progress is for terminals only";
  for (const char* word :
       {"vecadd on gtx480", "warp=gto", "correct", "cycles", "warp instructions"})
    EXPECT_THAT(run.out, HasSubstr(word));
}

TEST(Run, FirstLaunchesAreTimedAndTheOthersTold) {
  const Outcome run = raddle("run bfs size=tiny --gpu gtx480 --first-launches 2 --json -");
  const Json result = json_of(run);
  EXPECT_EQ(result["kernels"].size(), 2u);
  const auto others = result["launches_left_out"].get<std::uint64_t>();
  EXPECT_THAT(raddle("run bfs size=tiny --gpu gtx480 --first-launches 2").out,
              HasSubstr("2 launches (the first; " + std::to_string(others) + " more not timed)"));
  EXPECT_FALSE(
      json_of(raddle("run bfs size=tiny --gpu gtx480 --json -")).contains("launches_left_out"));
  EXPECT_THAT(
      raddle("compare bfs size=tiny --gpu gtx480 --policies lrr,gto --first-launches 2").out,
      HasSubstr("bfs size=tiny: 2 launches (the first; "));
}

TEST(Run, EstimatedLaunchesAreToldInTableAndJson) {
  const std::string words = "hotspot size=tiny steps=60 --gpu gtx480 --sampling-error 0.03";
  const Outcome run = raddle("run " + words + " --json -");
  const Json result = json_of(run), sampling = result["sampling"];
  EXPECT_EQ(sampling["launches_timed"].get<int>() + sampling["launches_estimated"].get<int>(), 60);
  EXPECT_EQ(result["config"]["run"]["sampling_error"], 0.03);
  const std::string notified =
      std::to_string(sampling["launches_timed"].get<int>()) + " launches timed, " +
      std::to_string(sampling["launches_estimated"].get<int>()) + " estimated";
  EXPECT_THAT(raddle("run " + words).out,
              AllOf(HasSubstr(notified), HasSubstr(" +- "), HasSubstr("launches that were timed")));
  EXPECT_THAT(raddle("compare " + words + " --policies lrr,gto").out,
              AllOf(HasSubstr("hotspot size=tiny steps=60: " + notified), HasSubstr("cycles +- ")));
}

TEST(Run, JsonHasTheContractsFields) {
  const Json result = json_of(raddle("run vecadd size=tiny --gpu v100 --json -"));
  EXPECT_EQ(result["schema"], 1);
  EXPECT_EQ(result["workload"]["name"], "vecadd");
  EXPECT_EQ(result["workload"]["result"], "correct");
  EXPECT_EQ(result["workload"]["parameters"]["size"], "tiny");
  EXPECT_NE(result["policies"]["warp"]["name"], "");
  EXPECT_EQ(result["kernels"].size(), 1u);
  EXPECT_GT(result["totals"]["cycles"], 0);
  EXPECT_GT(result["totals"]["warp_instructions"], 0);
  EXPECT_EQ(result["state_hash"].get<std::string>().size(), 16u);
  for (const char* field :
       {"wall_seconds", "functional_seconds", "timing_seconds", "peak_rss_bytes", "threads"})
    EXPECT_TRUE(result["host"].contains(field)) << field;
}

TEST(Run, EverySchedulerCycleIsAccountedFor) {
  const Json result = json_of(raddle("run reduction size=tiny --gpu ccws --json -"));
  std::uint64_t sum = 0;
  for (const auto& [reason, cycles] : result["stalls"].items()) sum += cycles.get<std::uint64_t>();
  EXPECT_EQ(sum, result["schedulers"].get<std::uint64_t>() *
                     result["totals"]["cycles"].get<std::uint64_t>());
}

TEST(Run, JsonFileIsTheOnlyFileWritten) {
  const Folder folder;
  const Outcome run = raddle("run vecadd size=tiny --quiet --json", {folder / "r.json"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(folder.content(), std::vector<std::string>{"r.json"});
  EXPECT_EQ(Json::parse(read_file(folder / "r.json"))["workload"]["result"], "correct");
}

TEST(Run, SettingsChangeTheMachineAndAreReported) {
  const Json result = json_of(
      raddle("run vecadd size=tiny --gpu v100 --set sm.count=4 --set sm.l1d.size_kib=64 --json -"));
  EXPECT_EQ(result["config"]["sm"]["count"], 4);
  EXPECT_EQ(result["config"]["sm"]["l1d"]["size_kib"], 64);
  EXPECT_NE(result["state_hash"],
            json_of(raddle("run vecadd size=tiny --gpu v100 --json -"))["state_hash"]);
}

TEST(Run, PoliciesAndTheirParametersAreChosen) {
  const Json result = json_of(raddle(
      "run bfs size=tiny --policy warp=two_level:group_size=4 --policy block=chunk --json -"));
  EXPECT_EQ(result["policies"]["warp"]["name"], "two_level");
  EXPECT_EQ(result["policies"]["warp"]["parameters"]["group_size"], 4);
  EXPECT_EQ(result["policies"]["block"]["name"], "chunk");
}

TEST(Run, EqualRunsHaveEqualHashes) {
  const std::string words = "sgemm size=tiny --gpu v100", hash = hash_of(words);
  EXPECT_EQ(hash_of(words), hash);
  EXPECT_EQ(hash_of(words + " --no-skip"), hash);
  EXPECT_EQ(hash_of(words + " --threads 2"), hash);
}

TEST(Run, SeedChangesTheInputs) {
  const Json one = json_of(raddle("run vecadd size=tiny --seed 1 --json -")),
             two = json_of(raddle("run vecadd size=tiny --seed 2 --json -"));
  EXPECT_NE(one["workload"]["input_hash"], two["workload"]["input_hash"]);
  EXPECT_EQ(one["config"]["run"]["seed"], 1);
}

TEST(Run, ResolvedConfigurationFedBackGivesTheSameRun) {
  const Folder folder;
  const Json first = json_of(
      raddle("run bfs size=tiny --gpu latoa --set sm.count=3 --policy warp=lrr --seed 7 --json -"));
  const std::string config = folder.write("config.json", first["config"].dump());
  const Json again = json_of(raddle("run bfs size=tiny --json - --gpu", {config}));
  EXPECT_EQ(again["config"], first["config"]);
  EXPECT_EQ(again["state_hash"], first["state_hash"]);
}

TEST(Run, WholeResultIsAlsoAMachineDescription) {
  const Folder folder;
  const Json first = json_of(raddle("run vecadd size=tiny --gpu h200 --json -"));
  const std::string file = folder.write("result.json", first.dump());
  EXPECT_EQ(json_of(raddle("run vecadd size=tiny --json - --gpu", {file}))["state_hash"],
            first["state_hash"]);
}

TEST(Run, FunctionalRunsWithoutTiming) {
  const Json result = json_of(raddle("run scan size=tiny --functional --json -"));
  EXPECT_EQ(result["workload"]["result"], "correct");
  EXPECT_EQ(result["totals"]["cycles"], 0);
  EXPECT_GT(result["totals"]["warp_instructions"], 0);
}

TEST(Run, LiveExecutionIsCorrectAndCountsTheSame) {
  const Json live = json_of(raddle("run histogram size=tiny --live --json -")),
             replay = json_of(raddle("run histogram size=tiny --json -"));
  EXPECT_EQ(live["workload"]["result"], "correct");
  EXPECT_EQ(live["totals"]["warp_instructions"], replay["totals"]["warp_instructions"]);
}

TEST(Run, ResultsSayInWhichOrderInstructionsWere) {
  const std::string run = "run vecadd size=tiny --gpu v100 --json -";
  EXPECT_EQ(json_of(raddle(run))["config"]["isa"]["order"], "assembler");
  EXPECT_EQ(json_of(raddle(run + " --live"))["config"]["isa"]["order"], "as_written");
}

TEST(Run, ReportAndTimelineAreWritten) {
  const Folder folder;
  const Outcome run = raddle("run vecadd size=tiny --quiet",
                             {"--report", folder / "r.html", "--timeline", folder / "t.json"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.err, "");
  EXPECT_EQ(folder.content(), (std::vector<std::string>{"r.html", "t.json"}));
  EXPECT_THAT(read_file(folder / "r.html"),
              AllOf(HasSubstr("<!doctype html>"), HasSubstr("vecadd")));
  const Json timeline = Json::parse(read_file(folder / "t.json"), nullptr, false);
  EXPECT_FALSE(timeline["traceEvents"].empty());
}

TEST(Run, TheTimelineTellsWhatSchedulersWaitForAndWhen) {
  const Folder folder;
  const Json result =
      json_of(raddle("run reduction size=tiny --quiet --json - --timeline", {folder / "t.json"}));
  std::vector<std::pair<double, Json>> notified;  // from that cycle on
  const Json timeline = Json::parse(read_file(folder / "t.json"));
  for (const Json& e : timeline.at("traceEvents"))
    if (e["name"] == "schedulers stalled") notified.emplace_back(e["ts"].get<double>(), e["args"]);
  ASSERT_GT(notified.size(), 3u);
  for (const char* why : {"memory", "barrier", "idle", "launch"}) {
    double cycles = 0;
    for (std::size_t i = 0; i < notified.size(); ++i) {
      const double end = i + 1 < notified.size() ? notified[i + 1].first
                                                 : result["totals"]["cycles"].get<double>();
      cycles += notified[i].second.at(why).get<double>() * (end - notified[i].first);
    }
    const auto counted = result["stalls"][why].get<double>();
    EXPECT_GT(counted, 0) << why;
    EXPECT_NEAR(cycles / counted, 1, 1e-4) << why;
  }
}

TEST(Run, OwnKernelFromAFileIsUnchecked) {
  const Folder folder;
  const std::string ptx = folder.write("own.ptx", R"(.version 7.2
.target sm_70
.address_size 64
.visible .entry fill(.param .u64 p, .param .u32 v) {
  .reg .b32 %r<6>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [v];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  mul.wide.u32 %rd2, %r5, 4; add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r1; ret;
})");
  const Json result = json_of(raddle(
      "run", {ptx, "kernel=fill", "grid=4", "block=64", "args=buf:1024,7:u32", "--json", "-"}));
  EXPECT_EQ(result["workload"]["result"], "unchecked");
  EXPECT_EQ(result["kernels"][0]["name"], "fill");
  EXPECT_EQ(result["totals"]["thread_instructions"].get<std::uint64_t>() % 256, 0u);
}

// --- compare
TEST(Run, DevicePrintfIsOutputUnlessTheJsonIs) {
  const Folder folder;
  const std::string ptx = folder.write("says.ptx", R"(.version 7.2
.target sm_70
.address_size 64
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
.global .align 1 .b8 text[7] = {104, 101, 108, 108, 111, 10, 0};
.visible .entry say() {
  .reg .b64 %rd<3>;
  mov.u64 %rd1, text;
  cvta.global.u64 %rd1, %rd1;
  mov.u64 %rd2, 0;
  {
    .param .b64 f; .param .b64 a; .param .b32 r;
    st.param.b64 [f], %rd1;
    st.param.b64 [a], %rd2;
    call.uni (r), vprintf, (f, a);
  }
  ret;
})");
  const std::vector<std::string> words = {ptx, "kernel=say", "block=1"};
  EXPECT_THAT(raddle("run", words).out, testing::StartsWith("hello\n"));
  const Outcome json = raddle("run --json -", words);
  EXPECT_EQ(json.err, "hello\n");
  EXPECT_FALSE(Json::parse(json.out, nullptr, false).is_discarded());
  EXPECT_EQ(raddle("run --quiet", words).out, "hello\n");
}

// --- compare -------------------------------------------------------------------------------------

TEST(Compare, TableHasARowPerPolicyAndTheFirstIsTheBaseline) {
  const Outcome run = raddle("compare size=tiny bfs spmv --policies lrr,gto,two_level --gpu ccws");
  EXPECT_EQ(run.status, 0) << run.err;
  for (const char* word : {"bfs", "spmv", "lrr", "gto", "two_level", "1.000"})
    EXPECT_THAT(run.out, HasSubstr(word));
  EXPECT_EQ(line_count(run.out), 2u * 5u) << "name, head and three rows each";
}

TEST(Compare, ProgressIsALineForEachVariantThatIsTimed) {
  const std::string words = "compare size=tiny vecadd reduction --policies lrr,gto --gpu gtx480";
  const std::string seconds = " [0-9]+\\.[0-9] s\n";
  EXPECT_THAT(raddle(words).err,
              testing::MatchesRegex("\\[1/4\\] vecadd size=tiny under lrr" + seconds +
                                    "\\[2/4\\] vecadd size=tiny under gto" + seconds +
                                    "\\[3/4\\] reduction size=tiny under lrr" + seconds +
                                    "\\[4/4\\] reduction size=tiny under gto" + seconds));
  EXPECT_EQ(raddle(words + " --quiet").err, "");
}

TEST(Compare, RunsAgreeWithRunsOfTheirOwn) {
  const Json both =
      json_of(raddle("compare size=tiny kmeans --policies lrr,gto --gpu gtx480 --quiet --json -"));
  ASSERT_EQ(both["runs"].size(), 2u);
  for (const Json& run : both["runs"]) {
    const std::string policy = run["policies"].get<std::string>();
    EXPECT_EQ(run["result"]["state_hash"],
              hash_of("kmeans size=tiny --gpu gtx480 --policy warp=" + policy))
        << policy;
  }
}

TEST(Compare, LevelsCombineWithPlus) {
  const Json runs = json_of(
      raddle("compare size=tiny vecadd --policies gto,lrr+block=chunk+dram=fcfs --quiet --json -"))
      ["runs"];
  EXPECT_EQ(runs[1]["result"]["policies"]["block"]["name"], "chunk");
  EXPECT_EQ(runs[1]["result"]["policies"]["dram"]["name"], "fcfs");
}

TEST(Compare, ReportHoldsEveryRun) {
  const Folder folder;
  const Outcome run = raddle("compare size=tiny bfs vecadd --policies lrr,gto --quiet --report",
                             {folder / "r.html"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(read_file(folder / "r.html"),
              AllOf(HasSubstr("bfs"), HasSubstr("vecadd"), HasSubstr("lrr")));
}

// --- record and replay --------------------------------------------------------------------------

TEST(Record, ReplayIsTheSameRun) {
  const Folder folder;
  const std::string file = folder / "bfs.rdl";
  const Outcome record = raddle("record bfs size=tiny --gpu gtx480 --quiet -o", {file});
  EXPECT_EQ(record.status, 0) << record.err;
  EXPECT_EQ(folder.content(), std::vector<std::string>{"bfs.rdl"});
  for (const std::string policy : {"lrr", "gto"}) {
    const std::string options = " --gpu gtx480 --quiet --json - --policy warp=" + policy;
    const Json replayed = json_of(raddle("replay", {file, "--gpu", "gtx480", "--quiet", "--json",
                                                    "-", "--policy", "warp=" + policy}));
    EXPECT_EQ(replayed["state_hash"], json_of(raddle("run bfs size=tiny" + options))["state_hash"]);
    EXPECT_EQ(replayed["workload"]["result"], "correct");
  }
}

TEST(Record, AlteredOrForeignFilesAreRefused) {
  const Folder folder;
  const std::string file = folder / "v.rdl";
  ASSERT_EQ(raddle("record vecadd size=tiny --quiet -o", {file}).status, 0);
  std::string bytes = read_file(file);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  expect_refused(raddle("replay", {folder.write("altered.rdl", bytes)}), {"altered.rdl"});
  expect_refused(raddle("replay", {folder.write("cut.rdl", bytes.substr(0, bytes.size() / 3))}),
                 {"cut.rdl"});
  expect_refused(raddle("replay", {folder.write("empty.rdl", "")}), {"empty.rdl"});
  expect_refused(raddle("replay", {folder.write("text.rdl", "name = 1\n")}), {"text.rdl"});
  expect_refused(raddle("replay /proc/nowhere/x.rdl"), {"/proc/nowhere/x.rdl"});
  expect_refused(raddle("replay", {file, "--functional"}), {"--functional"});
}

}  // namespace
}  // namespace raddle::test::run_test
