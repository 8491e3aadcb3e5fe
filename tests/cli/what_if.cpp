// --what-if and factors of settings: the numbers are those of runs on the machines that they name.
#include "cli/raddle.h"

namespace raddle::test::what_if_test {
namespace {

constexpr const char* kBfs =
    "bfs size=tiny vertices=512 --gpu ccws --set sm.count=2 --quiet --json -";
constexpr const char* kTable = "bfs size=tiny vertices=512 --gpu ccws --set sm.count=2";

double cycles_of(const Json& result) { return result.at("totals").at("cycles"); }
double cycles_with(const std::string& more) {
  return cycles_of(json_of(raddle(std::string("run ") + kBfs + " " + more)));
}

TEST(WhatIf, GivesWhatRunsOnThoseMachinesGive) {
  const Json all = json_of(
      raddle(std::string("compare ") + kBfs + " --policies lrr,gto --what-if l2=x2,dram=ideal"));
  ASSERT_EQ(all["what_if"].size(), 2u);
  ASSERT_EQ(all["runs"].size(), 6u);
  for (const auto& [item, set] :
       {std::pair{0, "--set l2.size_kib=x2"}, {1, "--set ideal.dram=true"}})
    for (const auto& [at, policy] : {std::pair{0, "lrr"}, {1, "gto"}}) {
      const std::string with = std::string("--policy warp=") + policy + " ";
      EXPECT_DOUBLE_EQ(all["what_if"][item]["policies"][at]["speedup"]["mean"],
                       cycles_with(with) / cycles_with(with + set))
          << policy << set;
    }
  const Json& first = all["what_if"][0];
  EXPECT_EQ(first["item"], "l2=x2");
  EXPECT_EQ(first["stream"], "same");
  EXPECT_EQ(first["changes"]["l2.size_kib"]["to"],
            2 * first["changes"]["l2.size_kib"]["from"].get<int>());
  EXPECT_EQ(all["runs"][1]["what_if"], "l2=x2");
  EXPECT_FALSE(all["runs"][0].contains("what_if"));
}

TEST(WhatIf, OfARunStandsBelowItsSummary) {
  const Outcome run = raddle(std::string("run ") + kTable + " --what-if mshr=x2,l2=x2+mshr=x2");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("what would it bring"), HasSubstr("l2=x2+mshr=x2"),
                             HasSubstr("sm.l1d.mshr_entries 16 to 32")));
  const Json with = json_of(raddle(std::string("run ") + kBfs + " --what-if mshr=x2"));
  const Json without = json_of(raddle(std::string("run ") + kBfs));
  EXPECT_EQ(with["state_hash"], without["state_hash"]);
  EXPECT_EQ(with["what_if"].size(), 1u);
}

/// The kernel counts SMs: another number is another execution, and is said.
TEST(WhatIf, WhatTheProgramSeesIsExecutedAnew) {
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
  const Json run = json_of(raddle("run --gpu gtx480 --quiet --json - --what-if sms=x2,l2=x2",
                                  {file, "kernel=spin", "grid=1", "block=32"}));
  EXPECT_EQ(run["what_if"][0]["stream"], "anew");
  EXPECT_GT(run["what_if"][0]["instructions"], 1.5);
  EXPECT_EQ(run["what_if"][1]["stream"], "same");
}

TEST(WhatIf, OfARecordingIsItsOwnStream) {
  const Folder folder;
  const std::string file = folder / "v.rdl";
  ASSERT_EQ(raddle("record vecadd size=tiny --gpu gtx480 --quiet -o", {file}).status, 0);
  const Json all =
      json_of(raddle("compare --gpu gtx480 --quiet --json - --what-if sms=x2,l2=x2", {file}));
  EXPECT_EQ(all["what_if"][0]["stream"], "recorded");
  EXPECT_EQ(all["what_if"][1]["stream"], "same");
}

TEST(WhatIf, OverSeedsHasAnInterval) {
  const Json all = json_of(raddle(std::string("compare ") + kBfs + " --seeds 3 --what-if l2=x2"));
  EXPECT_EQ(all["runs"].size(), 6u);
  const Json& speedup = all["what_if"][0]["policies"][0]["speedup"];
  EXPECT_TRUE(speedup["low"].is_number());
  EXPECT_LE(speedup["low"].get<double>(), speedup["mean"].get<double>());
}

TEST(WhatIf, WhatCannotBeAskedIsRefusedByName) {
  const std::string compare = std::string("compare ") + kTable + " --policies lrr,gto --what-if ";
  expect_refused(raddle(compare + "l3=x2"), {"--what-if l3=x2", "did you mean 'l2'"});
  expect_refused(raddle(compare + "sms=ideal"), {"--what-if sms=ideal", "can be ideal"});
  expect_refused(raddle(compare + "l2=x1"), {"--what-if l2=x1", "changes nothing"});
  expect_refused(raddle(compare + "l2=x0.3"), {"--what-if l2=x0.3", "expected a whole number"});
  expect_refused(raddle(compare + "l2.sise_kib=x2"), {"--what-if", "did you mean"});
  // Its mesh has no room for them.
  expect_refused(raddle("compare vecadd size=tiny --gpu latoa --what-if sms=x2"),
                 {"--what-if sms=x2: noc.mesh.sm_nodes", "latoa.toml"});
  const Folder folder;
  expect_refused(raddle(compare + "l2=x2 --results", {folder / "kept"}),
                 {"--what-if", "runs that are kept"});
  expect_refused(raddle(std::string("run ") + kTable + " --live --what-if l2=x2"),
                 {"--what-if", "--live"});
  expect_refused(raddle(std::string("run ") + kTable + " --functional --what-if l2=x2"),
                 {"--what-if", "--functional"});
}

TEST(Factors, OfSweepsAreShownAsTheirValues) {
  const Json all =
      json_of(raddle(std::string("compare ") + kBfs + " --sweep l2.size_kib=x0.5,x1,x2"));
  const int own = all["runs"][1]["result"]["config"]["l2"]["size_kib"];
  EXPECT_EQ(all["runs"][0]["policies"], "l2.size_kib=" + std::to_string(own / 2));
  EXPECT_EQ(all["runs"][2]["policies"], "l2.size_kib=" + std::to_string(2 * own));
  EXPECT_EQ(all["runs"][2]["result"]["config"]["l2"]["size_kib"], 2 * own);
  expect_refused(
      raddle(std::string("compare ") + kTable + " --sweep l2.size_kib=x1," + std::to_string(own)),
      {"--sweep l2.size_kib=x1", "is there twice"});
}

TEST(Factors, OfExperimentFilesAreOfTheirMachine) {
  const Folder folder;
  const std::string file = folder.write("f.toml", R"(gpu = "ccws"
set = { "sm.count" = 2 }
runs = [{ workloads = ["vecadd size=tiny"], variants = ["lrr"], axes = ["l2.size_kib=x1,x2"] }]
)");
  const Json all = json_of(raddle("sweep --quiet --json -", {file, "--results", folder / "kept"}));
  EXPECT_EQ(all["experiments"][0]["runs"]["done"], 2);
  EXPECT_EQ(all["experiments"][0]["runs"]["failed"], 0);
  const std::string bad = folder.write("b.toml", R"(gpu = "ccws"
set = { "l2.size_kib" = "x0.3" }
runs = [{ workloads = ["vecadd size=tiny"], variants = ["lrr"] }]
)");
  expect_refused(raddle("sweep --quiet", {bad, "--results", folder / "bad"}),
                 {"b.toml:2", "l2.size_kib: expected a whole number", "found 38.4"});
}

TEST(ListWhatIf, NamesPartsWithTheirSettings) {
  const Outcome list = raddle("list what-if");
  EXPECT_EQ(list.status, 0);
  EXPECT_THAT(list.out, AllOf(HasSubstr("l2.size_kib"), HasSubstr("ideal.mshr"),
                              HasSubstr("sm.l1d.size_kib and sm.l1d.unified_kib")));
}

}  // namespace
}  // namespace raddle::test::what_if_test
