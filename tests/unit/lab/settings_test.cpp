// What a row says of how it was run.
#include "raddle/lab/verdict/settings.h"

#include "unit/lab/support.h"

namespace raddle::lab::test::settings_test {
namespace {

TEST(RunSettings, NameMachineWorkloadsVariantsAndSweeps) {
  const Json s = run_settings(experiment(kWhole));
  EXPECT_EQ(s["gpu"], "gtx480");
  EXPECT_EQ(s["set"], (Json{{"sm.count", 2}}));
  EXPECT_EQ(s["workloads"]["red"], (Json{{"workload", "reduction"}, {"size", "tiny"}}));
  EXPECT_EQ(s["variants"]["gto"]["policies"], Json{"warp=gto"});
  EXPECT_EQ(s["axes"]["group"].dump(), "[2.0,4.0,8.0,16.0]");
}

TEST(RunSettings, NameWhatAWorkloadSets) {
  std::string text = kWhole;
  const std::string head = "[workloads.red]\n";
  text.replace(text.find(head), head.size(), head + "set = { 'sm.blocks' = 4 }\n");
  const Json s = run_settings(experiment(text));
  EXPECT_EQ(s["workloads"]["red"]["set"], (Json{{"sm.blocks", 4}}));
  EXPECT_FALSE(s["workloads"]["vecadd"].contains("set"));
}

TEST(RunSettings, NameHorizonMembersAndDerivedValues) {
  std::string text = kWhole;
  text.replace(text.find("[\"warp=two_level\"]"), 18, "['warp=two_level:group_size={best_group}']");
  const Json s = run_settings(experiment(
      text +
      "[derived]\nbest_group = 'chosen(best, group)'\n[corun]\nhorizon = 9000\nwarmup = "
      "100\nalone = 'ipc[lrr]'\n[[runs]]\nworkloads = ['together']\nvariants = ['gto']\n"));
  EXPECT_EQ(s["workloads"]["together"], (Json{{"members", {"vecadd", "red"}}}));
  EXPECT_EQ(s["corun"], (Json{{"horizon", 9000}, {"warmup", 100}, {"alone", "ipc[lrr]"}}));
  EXPECT_EQ(s["derived"]["best_group"], (Json{{"value", "chosen(best, group)"}}));
}

TEST(RunSettings, LeaveOutWhatIsNotRun) {
  const Json s = run_settings(experiment(kWhole));
  EXPECT_FALSE(s["variants"].contains("best")) << "a selection has no runs of its own";
  EXPECT_FALSE(s["axes"].contains("l1"));
  EXPECT_FALSE(s.contains("analyses"));
}

TEST(RunSettings, AreThoseOfTheScale) {
  const Json s = run_settings(experiment(kWhole, Scale::Full));
  EXPECT_EQ(s["workloads"]["red"]["size"], "paper");
}

TEST(RunSettings, PointsThatChangeSeveralThingsAreTold) {
  std::string text = kWhole;
  const std::string one = R"({ value = 16, set = { "sm.l1d.size_kib" = 16 } })";
  text.replace(text.find(one), one.size(),
               R"({ value = 16, set = { "sm.l1d.size_kib" = 16, "sm.l1d.ways" = 2 } })");
  text += "[[runs]]\nworkloads = ['pair']\nvariants = ['lrr']\naxes = ['l1']\n";
  const Json axis = run_settings(experiment(text))["axes"]["l1"];
  EXPECT_EQ(axis[0]["value"], 16);
  EXPECT_EQ(axis[0]["set"]["sm.l1d.ways"], 2);
  EXPECT_EQ(axis[1], 64);
}

TEST(RunSettings, OfARowWithoutRunsAreEmpty) {
  EXPECT_TRUE(run_settings(experiment("tested_by = ['a.cpp: A.B']\n" + kHead)).empty());
}

}  // namespace
}  // namespace raddle::lab::test::settings_test
