// A + B: tenants that share the GPU.
#include "cli/raddle.h"

namespace raddle::test::corun_test {
namespace {

TEST(CorunCommand, TwoTenantsShareTheGpu) {
  const Json r = json_of(raddle(
      "run sgemm size=tiny + bfs size=tiny --gpu gtx480 --horizon 30000 --warmup 5000 --json -"));
  EXPECT_EQ(r["workload"]["name"], "sgemm + bfs");
  EXPECT_EQ(r["workload"]["result"], "correct");
  EXPECT_EQ(r["totals"]["cycles"], 30000);
  EXPECT_EQ(r["corun"]["horizon_cycles"], 30000);
  EXPECT_EQ(r["corun"]["warmup_cycles"], 5000);
  ASSERT_EQ(r["tenants"].size(), 2u);
  double speedup = 0;
  for (const Json& tenant : r["tenants"]) {
    EXPECT_EQ(tenant["cycles"], 25000);
    EXPECT_GT(tenant["kernels_completed"], 0);
    EXPECT_EQ(tenant["block"]["threads"], 256);
    EXPECT_EQ(tenant["block"]["warps"], 8);
    EXPECT_GT(tenant["block"]["registers"], 0);
    speedup += tenant["ipc"].get<double>() / tenant["ipc_alone"].get<double>();
  }
  EXPECT_DOUBLE_EQ(r["corun"]["weighted_speedup"].get<double>(), speedup);
}

// A tenant alone shares with nobody: no scheme gives it so many SMs or blocks.
TEST(CorunCommand, WhoIsAloneHasTheWholeGpu) {
  const std::string run =
      "run sgemm size=tiny + bfs size=tiny --gpu gtx480 --horizon 20000 --json - --policy scheme=";
  const Json open = json_of(raddle(run + "none"));
  for (const char* scheme : {"spatial:sms_0=2", "spatial:sms_0=4,sms_1=1,blocks_1=1"}) {
    const Json r = json_of(raddle(run + scheme));
    EXPECT_NE(r["tenants"][0]["ipc"], open["tenants"][0]["ipc"]) << scheme;
    for (const int tenant : {0, 1})
      EXPECT_EQ(r["tenants"][tenant]["ipc_alone"], open["tenants"][tenant]["ipc_alone"]) << scheme;
  }
}

// h200 executes an assembler's order, in which streams must be read, too: it aborted.
TEST(CorunCommand, TenantsRunInTheMachinesOrder) {
  const std::string run = "run kmeans size=tiny + bfs size=tiny --gpu h200 --horizon ";
  const Json r = json_of(raddle(run + "30000 --no-alone --json -"));
  EXPECT_EQ(r["config"]["isa"]["order"], "assembler");
  for (const Json& tenant : r["tenants"]) EXPECT_GT(tenant["kernels_completed"], 0);
  const Json as_written =
      json_of(raddle(run + "30000 --no-alone --json - --set isa.order=as_written"));
  EXPECT_NE(r["tenants"], as_written["tenants"]);
}

TEST(CorunCommand, OneInWhichNothingRunsIsNoResult) {
  const std::string run = "run sgemm size=tiny + bfs size=tiny --gpu v100 --no-alone ";
  expect_refused(raddle(run + "--horizon 3000"),
                 {"no tenant has executed anything in the measured cycles 0 to 3000",
                  "launch_latency_cycles = 5000"});
  expect_refused(raddle(run + "--horizon 1"), {"0 to 1: expected a longer --horizon"});
  EXPECT_EQ(raddle(run + "--horizon 8000 --quiet").status, 0);
}

TEST(CorunCommand, AnOrdinaryRunKnowsNothingOfTenants) {
  const Json r = json_of(raddle("run vecadd size=tiny --json -"));
  EXPECT_FALSE(r.contains("tenants"));
  EXPECT_FALSE(r.contains("corun"));
}

TEST(CorunCommand, TheTableHasARowForEachTenant) {
  const Outcome out =
      raddle("run sgemm size=tiny + vecadd size=tiny + bfs size=tiny --horizon 20000 --no-alone");
  EXPECT_EQ(out.status, 0) << out.err;
  for (const char* word : {"sgemm", "vecadd", "bfs", "restarts", "IPC alone"})
    EXPECT_THAT(out.out, HasSubstr(word));
  EXPECT_THAT(out.out, Not(HasSubstr("weighted speedup")));
}

TEST(CorunCommand, RecordingsAndWorkloadsMix) {
  const Folder folder;
  ASSERT_EQ(raddle("record bfs size=tiny -o", {folder / "bfs.rdl", "--quiet"}).status, 0);
  const Json a = json_of(raddle("replay", {folder / "bfs.rdl", "+", "sgemm", "size=tiny",
                                           "--horizon", "20000", "--no-alone", "--json", "-"}));
  const Json b =
      json_of(raddle("run bfs size=tiny + sgemm size=tiny --horizon 20000 --no-alone --json -"));
  EXPECT_EQ(a["tenants"], b["tenants"]);
}

TEST(CorunCommand, UseOverTimeIsRecordedAndChangesNothing) {
  const std::string run =
      "run sgemm size=tiny + bfs size=tiny --gpu gtx480 --horizon 30000 --warmup 5000 --json - ";
  const Json plain = json_of(raddle(run)), sampled = json_of(raddle(run + "--sample 500"));
  EXPECT_EQ(plain["tenants"], sampled["tenants"]);
  EXPECT_EQ(plain["totals"], sampled["totals"]);
  EXPECT_FALSE(plain["corun"].contains("use"));
  const Json& use = sampled["corun"]["use"];
  EXPECT_EQ(use["sample_cycles"], 500);
  double bytes = 0;
  for (const Json& tenant : plain["tenants"]) bytes += tenant["dram_bytes"].get<double>();
  const Json& dram = plain["config"]["dram"];
  const double cycles =
      25000.0 * dram["clock_mhz"].get<double>() / plain["config"]["core_clock_mhz"].get<double>();
  const double peak =
      cycles * dram["channels"].get<double>() * dram["bus_bytes_per_cycle"].get<double>();
  EXPECT_NEAR(use["dram"]["mean"].get<double>(), 100 * bytes / peak, 1e-6);
  EXPECT_GE(use["dram"]["p90"], use["dram"]["p10"]);
}

TEST(CorunCommand, ATenantsStallsAndWaitsInTheL2AreTold) {
  const Json r = json_of(raddle("run sgemm size=tiny + bfs size=tiny --horizon 30000 --json -"));
  for (const Json& tenant : r["tenants"]) {
    double sum = 0;
    for (const auto& [reason, cycles] : tenant["stalls"].items()) sum += cycles.get<double>();
    EXPECT_GT(sum, 0);
    EXPECT_GT(tenant["details"]["l2_mean_miss_cycles"], 0);
    EXPECT_GE(tenant["details"]["l2_mean_queue_cycles"], 0);
  }
}

TEST(CorunCommand, TheReportHasTheTenants) {
  const Folder folder;
  ASSERT_EQ(raddle("run sgemm size=tiny + bfs size=tiny --horizon 30000 --quiet --report",
                   {folder / "r.html"})
                .status,
            0);
  const std::string page = read_file(folder / "r.html");
  EXPECT_THAT(page, HasSubstr("\"tenant_use\""));
  EXPECT_THAT(page, HasSubstr("\"slowdown\""));
  // Source lines of both.
  const std::size_t source = page.find("\"source\":{\"looks\"");
  ASSERT_NE(source, std::string::npos);
  EXPECT_NE(page.find("\"sgemm\":{\"file\"", source), std::string::npos);
  EXPECT_NE(page.find("\"bfs_expand\":{\"file\"", source), std::string::npos);
}

TEST(CorunCommand, RefusesWhatMakesNoSense) {
  expect_refused(raddle("run vecadd size=tiny + --horizon 1000"), {"'+'", "nothing"});
  expect_refused(raddle("run vecadd + vecadd"), {"--horizon"});
  expect_refused(raddle("run vecadd --warmup 10"), {"--horizon"});
  expect_refused(raddle("run vecadd + vecadd --horizon 10 --warmup 10"), {"--warmup", "10"});
  expect_refused(raddle("run vecadd + vecadd --horizon 10 --live"), {"--live"});
  expect_refused(raddle("run vecadd + vecadd --horizon 10 --functional"), {"--functional"});
  expect_refused(raddle("run vecadd + vecadd --horizon 10 --set run.cold_l2=true"),
                 {"--cold-l2 (run.cold_l2) does not hold for a co-run"});
  expect_refused(raddle("run vecadd --sample 10"), {"--horizon"});
  expect_refused(raddle("run vecadd + vecadd --horizon 10 --sample 0"), {"--sample"});
  expect_refused(raddle("run vecadd + vecad --horizon 10"), {"'vecad'"});
  expect_refused(raddle("run a + b + c + d + e + f + g + h + i --horizon 10"), {"1 to 8", "9"});
  expect_refused(raddle("run vecadd + none.rdl --horizon 10"), {"none.rdl"});
  expect_refused(raddle("run vecadd + vecadd --gpu ikra --horizon 10"),
                 {"coherence.host", "host=false"});
  const std::string two = "run vecadd size=tiny + sgemm size=tiny --gpu ccbp --horizon 50000 ";
  expect_refused(raddle(two + "--policy scheme=ccbp"), {"\"ccbp\"", "90000", "50000"});
  expect_refused(raddle(two + "--policy scheme=ccbp:scale=0.1 --no-alone"), {"--no-alone"});
  expect_refused(raddle(two + "--policy scheme=smk --no-alone"), {"\"smk\"", "--no-alone"});
  expect_refused(raddle(two + "--policy scheme=ws --set sm.blocks=1"),
                 {"\"ws\"", "block slots: 2 of 1"});
  expect_refused(raddle(two + "--policy scheme=ws:curve_1=1/b"), {"curve_1", "1/b"});
  expect_refused(raddle(two + "--policy scheme=spatial:sms_0=12,sms_1=6"),
                 {"give away 18 of sm.count = 16"});
  expect_refused(raddle("run vecadd + sgemm --horizon 30000 --max-cycles 29999"),
                 {"its horizon of 30000", "--max-cycles", "29999"});
  const std::string absent = "expected parameters of tenants that are there (0 to ";
  expect_refused(raddle(two + "--policy scheme=spatial:sms_3=5"),
                 {"policy.scheme.sms_3 = 5: ", absent + "1), found one of tenant 3"});
  for (const char* one : {"run vecadd", "compare vecadd --policies lrr,gto", "exec"})
    expect_refused(raddle(std::string(one) + " --policy scheme=static:blocks_1=2" +
                          (std::string(one) == "exec" ? " -- true" : "")),
                   {"policy.scheme.blocks_1 = 2: ", absent + "0), found one of tenant 1"});
}

}  // namespace
}  // namespace raddle::test::corun_test
