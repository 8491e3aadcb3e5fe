// A level that one line and one folder add (raddle/policy/levels.def and mood/ beside this file) is
// in the registries, the configuration, the command line, the listing and the results. This program
// compiles what is made from the table again, with the line added; no source of src/ knows it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "raddle/cli/commands/commands.h"
#include "raddle/cli/shared/options.h"
#include "raddle/sim/run/simulation.h"
#include "raddle/sim/setup/gpus.h"
#include "raddle/sim/setup/setup.h"
#include "raddle/timing/gpu/policy_statistics.h"
#include "support/errors.h"
#include "support/no_fields.h"

namespace raddle::added_level_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

sim::Setup setup_with(const std::string& policy) {
  config::Tree tree = sim::load_gpu("ikra_micro");
  if (!policy.empty()) tree.set_policy(policy, "--policy " + policy);
  return sim::read_setup(tree, policy::all_policies());
}

std::vector<std::string> keys_of(const nlohmann::ordered_json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

TEST(AddedLevel, IsInTheTableBehindTheOthers) {
  EXPECT_EQ(policy::kLevels.back().name, "mood");
  EXPECT_EQ(policy::find_level("mood"), &policy::kLevels.back());
  EXPECT_THAT(policy::level_names(), testing::EndsWith(" mood"));
}

TEST(AddedLevel, HasARegistryWithTheFilesOfItsFolder) {
  EXPECT_THAT(policy::all_policies().mood.names(), ElementsAre("calm", "grumpy"));
}

TEST(AddedLevel, StandsInTheConfigurationWhenAnotherThanItsDefaultIsChosen) {
  EXPECT_THAT(keys_of(setup_with("").config()["policy"]),
              ElementsAre("kernel", "warp", "throttle", "block", "coherence", "dram"));
  EXPECT_EQ(setup_with("mood=calm").config(), setup_with("").config());
  const auto mood = setup_with("mood=grumpy:each_time=3").config()["policy"]["mood"];
  EXPECT_EQ(mood.dump(), R"({"name":"grumpy","each_time":3})");
}

TEST(AddedLevel, IsReadBackFromItsConfiguration) {
  const auto config = setup_with("mood=grumpy:each_time=3").config();
  sim::Setup again =
      sim::read_setup(config::Tree::from_json(config.dump(), "dump"), policy::all_policies());
  EXPECT_EQ(again.config(), config);
}

TEST(AddedLevel, MistakesAreToldByName) {
  EXPECT_THAT(test::input_error_of([] { setup_with("mood=sad"); }),
              HasSubstr("no mood policy is called 'sad'; known: calm grumpy"));
  EXPECT_THAT(test::input_error_of([] { setup_with("mood=grumpy:each_time=0"); }),
              HasSubstr("policy.mood.each_time"));
  EXPECT_THAT(test::input_error_of([] { setup_with("mood=grumpy:each_time=9"); }),
              HasSubstr("each_time = 9 needs as many SMs"))
      << "rules with the machine";
}

TEST(AddedLevel, ReachesTheGpu) {
  const sim::Setup setup = setup_with("mood=grumpy");
  EXPECT_EQ(setup.choices().mood, setup.mood.get());
  EXPECT_EQ(setup.choices().mood->name(), "grumpy");
}

TEST(AddedLevel, IsFoundByTheNameOfItsPolicyAlone) {
  const auto sets = api::parse_policies("grumpy,mood=calm", policy::all_policies());
  ASSERT_EQ(sets.size(), 2u);
  EXPECT_THAT(sets[0].settings, ElementsAre("mood=grumpy"));
  EXPECT_THAT(sets[1].settings, ElementsAre("mood=calm"));
  const auto one = api::parse_policies("warp=gto+mood=grumpy:each_time=2", policy::all_policies());
  EXPECT_THAT(one.at(0).settings, ElementsAre("warp=gto", "mood=grumpy:each_time=2"));
}

TEST(AddedLevel, IsListed) {
  CLI::App app;
  const cli::Command list = cli::add_list(app);
  app.parse("list policies");
  testing::internal::CaptureStdout();
  EXPECT_EQ(list.action(), 0);
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_THAT(text, HasSubstr("mood=calm        never complains\n"));
  EXPECT_THAT(text, HasSubstr("mood=grumpy      complains ["));
}

/// Two components' worth of instances.
struct Office {
  std::unique_ptr<policy::MoodPolicy> first, second;
  template <class Visit>
  void each_policy(Visit&& visit) {
    visit(*first);
    visit(*second);
  }
};

class Complaints final : public test::NoFields {
 public:
  void field(std::string_view name, std::uint64_t& value, Range<std::uint64_t>, std::string_view,
             std::string_view) override {
    if (name == "complaints") number = value;
  }
  std::uint64_t number = 0;
};

TEST(AddedLevel, StatisticsAreSummedOverTheInstancesThatAComponentOffers) {
  const auto choice = policy::all_policies().mood.choose("grumpy");
  Office office{choice->make({}), choice->make({})};
  office.first->complaints();
  office.second->complaints();
  office.second->complaints();
  Complaints notified;
  timing::visit_statistics_of("mood", office, notified);
  EXPECT_EQ(notified.number, 6u);
  Complaints others;
  timing::visit_statistics_of("warp", office, others);
  EXPECT_EQ(others.number, 0u);
  EXPECT_THAT(
      test::input_error_of([&] { timing::visit_statistics_of("temper", office, notified); }),
      testing::AllOf(HasSubstr("known: kernel warp "), testing::EndsWith(" mood")));
}

TEST(AddedLevel, StandsInTheResultWhenAnotherThanItsDefaultIsChosen) {
  for (const bool chosen : {false, true}) {
    std::vector<sim::Setup> setups;
    setups.push_back(setup_with(chosen ? "mood=grumpy" : ""));
    const sim::NamedWorkload named = cli::make_workload("vecadd", {"size=tiny"});
    const std::vector<sim::Result> results =
        sim::simulate(*named.workload, named.info, setups, sim::Options{});
    const auto& policies = results.at(0).policies;
    EXPECT_EQ(policies.contains("mood"), chosen);
    EXPECT_TRUE(policies.contains("dram"));
    if (!chosen) continue;
    EXPECT_EQ(policies.at("mood")["parameters"].dump(), R"({"each_time":2})");
  }
}

}  // namespace
}  // namespace raddle::added_level_test
