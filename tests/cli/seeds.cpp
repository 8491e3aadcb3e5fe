// Seeds, and other settings that change what is executed: compare gives what single runs give, and
// ratios within a seed.
#include <cmath>

#include "cli/raddle.h"

namespace raddle::test::seeds_test {
namespace {

constexpr const char* kSmall = " --gpu ccws --set sm.count=2 --quiet --json -";
constexpr const char* kBfs = "bfs size=tiny vertices=512";

double cycles_of(const Json& run) { return run.at("result").at("totals").at("cycles"); }

/// The run with that label.
const Json& labelled(const Json& compared, const std::string& label) {
  for (const Json& run : compared.at("runs"))
    if (run.at("policies") == label) return run;
  ADD_FAILURE() << "no run is called " << label;
  return compared.at("runs").front();
}

TEST(Seeds, EachIsExecutedAsItsRunIs) {
  for (const char* seeds : {"--sweep run.seed=1..3", "--set run.seed=3,1,2"}) {
    const Json compared =
        json_of(raddle(std::string("compare ") + kBfs + " --policies lrr,gto " + seeds + kSmall));
    std::set<std::string> inputs;
    for (const char* policy : {"lrr", "gto"})
      for (const char* seed : {"1", "2", "3"}) {
        const Json alone = json_of(raddle(std::string("run ") + kBfs + " --policy warp=" + policy +
                                          " --seed " + seed + kSmall));
        const Json& run = labelled(compared, std::string(policy) + " run.seed=" + seed);
        EXPECT_EQ(run["result"]["state_hash"], alone["state_hash"]) << seeds << policy << seed;
        inputs.insert(run["result"]["workload"]["input_hash"]);
      }
    EXPECT_EQ(inputs.size(), 3u);
  }
}

TEST(Seeds, SaidTwiceAreRefused) {
  for (const char* twice : {"--set run.seed=1,2", "--sweep run.seed=1..2"})
    expect_refused(raddle(std::string("compare ") + kBfs + " --seed 3 " + twice + kSmall),
                   {"run.seed=1", "--seed says that already"});
  expect_refused(raddle(std::string("run ") + kBfs + " --seed 3 --set run.seed=4" + kSmall),
                 {"--set run.seed=4", "--seed says that already"});
  expect_refused(raddle(std::string("run ") + kBfs + " --cold-l2 --set run.cold_l2=false" + kSmall),
                 {"--set run.cold_l2=false", "--cold-l2 says that already"});
  expect_refused(
      raddle(std::string("run ") + kBfs + " --functional --set run.cold_l2=true" + kSmall),
      {"--set run.cold_l2=true", "--functional leaves out"});
}

TEST(Seeds, RatiosAreWithinASeedThenTheirMeanAndSpread) {
  const std::string words =
      std::string("compare ") + kBfs + " --policies lrr,gto --sweep run.seed=1..3";
  const Json compared = json_of(raddle(words + kSmall));
  std::vector<double> ratios;
  double product = 1, sum = 0, squares = 0;
  for (const char* seed : {"1", "2", "3"}) {
    const auto cycles = [&](const std::string& policy) {
      return cycles_of(labelled(compared, policy + " run.seed=" + seed));
    };
    ratios.push_back(cycles("lrr") / cycles("gto"));
    product *= ratios.back();
    sum += ratios.back();
  }
  for (const double ratio : ratios) squares += std::pow(ratio - sum / 3, 2);
  ASSERT_EQ(compared["over_seeds"].size(), 2u);
  const Json& gto = compared["over_seeds"][1];
  EXPECT_EQ(gto["policies"], "gto");
  EXPECT_EQ(gto["seeds"], Json({1, 2, 3}));
  EXPECT_DOUBLE_EQ(gto["speedup"]["mean"], std::cbrt(product));
  EXPECT_NEAR(gto["speedup"]["deviation"], std::sqrt(squares / 2), 1e-12);
  // 4.303: two-sided 95 % quantile of Student's t for two degrees of freedom.
  double of_logs = 0;
  for (const double ratio : ratios) of_logs += std::pow(std::log(ratio / std::cbrt(product)), 2);
  const double half = 4.303 * std::sqrt(of_logs / 2 / 3);
  EXPECT_NEAR(gto["speedup"]["low"], std::cbrt(product) * std::exp(-half), 1e-12);
  EXPECT_NEAR(gto["speedup"]["high"], std::cbrt(product) * std::exp(half), 1e-12);
  EXPECT_EQ(gto["flips"], std::ranges::min(ratios) < 1 && std::ranges::max(ratios) > 1);
  EXPECT_EQ(gto["over"], "lrr");
  EXPECT_EQ(gto["speedup"]["min"], std::ranges::min(ratios));
  EXPECT_EQ(gto["speedup"]["max"], std::ranges::max(ratios));
  EXPECT_EQ(compared["over_seeds"][0]["speedup"]["deviation"], 0);

  const Outcome table = raddle(words + " --gpu ccws --set sm.count=2");
  for (const double ratio : ratios)
    EXPECT_THAT(table.out, HasSubstr(" " + std::to_string(ratio).substr(0, 4)));
  EXPECT_THAT(table.out, AllOf(HasSubstr("over seeds"), HasSubstr("1, 2, 3"),
                               HasSubstr("over lrr of the same seed")));
}

TEST(Seeds, AnOptionSweepsThem) {
  const std::string words = std::string("compare ") + kBfs + " --policies lrr,gto" + kSmall;
  const Json option = json_of(raddle(words + " --seeds 3")),
             sweep = json_of(raddle(words + " --sweep run.seed=1..3"));
  EXPECT_EQ(option["over_seeds"], sweep["over_seeds"]);
  EXPECT_EQ(option["runs"].size(), 6u);
  const std::string bfs = std::string("compare ") + kBfs + kSmall;
  expect_refused(raddle(bfs + " --seeds 3 --seed 2"), {"--seeds 3", "--seed says that already"});
  expect_refused(raddle(bfs + " --seeds 3 --set run.seed=2"),
                 {"--seeds 3", "--set run.seed=2 says that already"});
  expect_refused(raddle(bfs + " --seeds 3 --sweep run.seed=2,3"),
                 {"--seeds 3", "--sweep run.seed=2,3 says that already"});
  expect_refused(raddle(bfs + " --seeds 1"), {"--seeds", "1"});
}

/// Without a policy that draws, and with a work that looks at no random input, nothing differs.
TEST(Seeds, OfOneInputAreCalledSo) {
  const Folder folder;
  const std::string file = folder.write("one.ptx", R"(.version 7.0
.target sm_52
.address_size 64
.visible .entry one() { ret; }
)");
  const Outcome run = raddle("compare --gpu gtx480 --policies lrr,gto --seeds 2",
                             {file, "kernel=one", "grid=1", "block=32"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("the same"), HasSubstr("every seed gave the same input")));
}

TEST(Seeds, KeptRunsGiveTheSameRatios) {
  const Folder folder;
  const std::string words =
      std::string("compare ") + kBfs + " --policies lrr,gto --sweep run.seed=1..3" + kSmall;
  const Json expected = json_of(raddle(words))["over_seeds"][1]["speedup"];
  const Json kept = json_of(raddle(words + " --results", {folder / "kept"}));
  std::map<std::string, double> found;
  for (const Json& figure : kept["experiments"][0]["figures"])
    if (figure["series"].back()["values"].size() == 1)
      found[figure["title"]] = figure["series"].back()["values"][0];
  const auto near = [&](const std::string& name, const char* member) {
    const auto at = found.find("Speed-up over lrr of the same seed, " + name + " of 3 seeds");
    ASSERT_NE(at, found.end()) << name;
    EXPECT_NEAR(at->second, expected[member].get<double>(), 1e-6) << name;
  };
  near("geometric mean", "mean");
  near("low end of the 95 % interval (Student's t)", "low");
  near("high end of the 95 % interval (Student's t)", "high");
  near("standard deviation", "deviation");
  near("minimum", "min");
  near("maximum", "max");
}

TEST(Seeds, ARecordingHasItsInputAlready) {
  const Folder folder;
  const std::string file = folder / "v.rdl";
  ASSERT_EQ(raddle("record vecadd size=tiny --gpu gtx480 --seed 3 --quiet -o", {file}).status, 0);
  const std::vector<std::string> expected = {"v.rdl", "run.seed: expected 3", "found 1"};
  expect_refused(raddle("compare --policies lrr,gto --gpu gtx480 --sweep run.seed=1..3", {file}),
                 expected);
  expect_refused(raddle("replay --gpu gtx480 --seed 1", {file}), expected);
  expect_refused(raddle("replay --gpu gtx480 --set run.seed=1", {file}), expected);
  expect_refused(raddle("compare --policies lrr,gto --gpu gtx480 --set run.seed=1", {file}),
                 expected);
  EXPECT_EQ(raddle("replay --gpu gtx480 --seed 3 --quiet", {file}).status, 0);
  EXPECT_EQ(raddle("replay --gpu gtx480 --quiet", {file}).status, 0);
}

TEST(Seeds, KeptRunsOfARecordingHaveTheSeedOfItsInput) {
  const Folder folder;
  const std::string file = folder / "v.rdl";
  ASSERT_EQ(raddle("record vecadd size=tiny --gpu gtx480 --seed 3 --quiet -o", {file}).status, 0);
  const Json kept = json_of(raddle("compare --policies lrr,gto --gpu gtx480 --quiet --json -",
                                   {file, "--results", folder / "kept"}));
  EXPECT_EQ(kept["experiments"][0]["settings"]["workloads"].begin().value()["set"]["run.seed"], 3);
}

/// A kernel that goes by how many SMs there are is executed for each number.
TEST(Executions, WhatAKernelSeesOfTheMachineIsItsOwn) {
  const Folder folder;
  const std::string file = folder.write("sms.ptx", R"(.version 7.0
.target sm_52
.address_size 64
.visible .entry spin() {
  .reg .pred %p;
  .reg .u32 %n;
  mov.u32 %n, %nsmid;
AGAIN:
  sub.u32 %n, %n, 1;
  setp.ne.u32 %p, %n, 0;
  @%p bra AGAIN;
  ret;
}
)");
  const auto instructions = [](const Json& result) {
    return result.at("totals").at("warp_instructions").get<std::uint64_t>();
  };
  const Json compared = json_of(raddle("compare --gpu gtx480 --sweep sm.count=2,8 --quiet --json -",
                                       {file, "kernel=spin", "grid=1", "block=32"}));
  for (const Json& run : compared["runs"]) {
    const int sms = run["result"]["config"]["sm"]["count"];
    const Json alone =
        json_of(raddle("run --gpu gtx480 --quiet --json - --set sm.count=" + std::to_string(sms),
                       {file, "kernel=spin", "grid=1", "block=32"}));
    EXPECT_EQ(run["result"]["state_hash"], alone["state_hash"]) << sms;
  }
  EXPECT_EQ(instructions(compared["runs"][1]["result"]),
            instructions(compared["runs"][0]["result"]) + std::uint64_t{3} * 6);
}

/// What is live is executed by its own timing, beside what is executed before.
TEST(Executions, LiveIsAlone) {
  const std::string words = std::string("compare ") + kBfs + " --set run.live=false,true" + kSmall;
  const Json compared = json_of(raddle(words));
  const Json alone = json_of(raddle(std::string("run --live ") + kBfs + kSmall));
  EXPECT_EQ(compared["runs"][1]["result"]["state_hash"], alone["state_hash"]);
}

/// Cycles of two clocks are not of one length.
TEST(Executions, SpeedUpsAreOfTime) {
  const Outcome run = raddle(
      "compare vecadd size=tiny --gpu gtx480 --set sm.count=2 --set core_clock_mhz=700,1400 --set "
      "launch_latency_cycles=20000");
  EXPECT_EQ(run.status, 0) << run.err;
  const std::string row = run.out.substr(run.out.find("core_clock_mhz=1400"));
  std::istringstream in(row);
  std::string label, cycles;
  double speedup = 0;
  in >> label >> cycles >> speedup;
  EXPECT_GT(speedup, 1.7) << run.out;
}

// Points of a figure are doubles; without --results a seed is any number of 64 bits.
TEST(Seeds, ThatNoFigureCanTellApartAreRefusedWithResults) {
  const Folder folder;
  const std::string words =
      std::string("compare ") + kBfs + " --policies lrr --sweep run.seed=9007199254740993,7";
  expect_refused(raddle(words + kSmall, {"--results", folder / "r"}),
                 {"run.seed=9007199254740993", "at most 9007199254740992 with --results"});
  EXPECT_EQ(raddle(words + kSmall, {"--quiet"}).status, 0);
}

}  // namespace
}  // namespace raddle::test::seeds_test
