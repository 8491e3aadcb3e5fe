// Set-ups: machines by name and file, policies and run settings from one document.
#include "raddle/sim/setup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/errors.h"

#include "raddle/sim/gpus.h"

namespace raddle::sim {
namespace {

using testing::HasSubstr;

Setup read(config::Tree tree) { return read_setup(tree, policy::all_policies()); }

TEST(MachineSetup, EveryShippedMachineIsSound) {
  const auto gpus = embedded_gpus();
  EXPECT_GE(gpus.size(), 8u);
  for (const EmbeddedToml& gpu : gpus) {
    SCOPED_TRACE(std::string(gpu.name));
    const sim::Setup setup = read(load_gpu(std::string(gpu.name)));
    EXPECT_EQ(setup.machine.name, gpu.name);
    EXPECT_FALSE(setup.machine.source.empty());
  }
}

TEST(MachineSetup, UnknownMachineNamesTheKnown) {
  const std::string error = test::input_error_of([] { load_gpu("v1000"); });
  EXPECT_THAT(error, HasSubstr("no GPU is called 'v1000'"));
  EXPECT_THAT(error, HasSubstr(" v100"));
}

TEST(MachineSetup, MissingFileIsNamed) {
  EXPECT_THAT(test::input_error_of([] { load_gpu("no/such.toml"); }), HasSubstr("no/such.toml"));
}

TEST(MachineSetup, PoliciesAndTheirParametersAreRead) {
  config::Tree tree = load_gpu("gtx480");
  tree.set_policy("warp=two_level:group_size=4", "--policy");
  tree.set("run.seed", "9", "--seed");
  sim::Setup setup = read(tree);
  EXPECT_EQ(setup.warp->name(), "two_level");
  EXPECT_EQ(setup.config()["policy"]["warp"]["group_size"], 4);
  EXPECT_EQ(setup.run.seed, 9u);
}

TEST(MachineSetup, UnknownPolicyAndParameterAreErrorsWithTheirOrigin) {
  config::Tree tree = load_gpu("gtx480");
  tree.set_policy("warp=gtoo", "--policy warp=gtoo");
  EXPECT_THAT(
      test::input_error_of([&] { read(tree); }),
      testing::AllOf(HasSubstr("--policy warp=gtoo"), HasSubstr("gtoo"), HasSubstr("known: ")));
  config::Tree other = load_gpu("gtx480");
  other.set_policy("warp=gto:streak=3", "--policy warp=gto:streak=3");
  EXPECT_THAT(test::input_error_of([&] { read(other); }), HasSubstr("streak"));
}

TEST(MachineSetup, AllErrorsAreReportedAtOnce) {
  config::Tree tree = load_gpu("gtx480");
  tree.set("sm.warps", "0", "a");
  tree.set("sm.nonsense", "1", "b");
  tree.set("policy.dram.name", "none", "c");
  const std::string error = test::input_error_of([&] { read(tree); });
  for (const char* part : {"sm.warps", "nonsense", "none"}) EXPECT_THAT(error, HasSubstr(part));
}

TEST(MachineSetup, ContradictionsAreErrors) {
  config::Tree tree = load_gpu("gtx480");
  tree.set("sm.schedulers", "5", "--set sm.schedulers=5");
  EXPECT_FALSE(test::input_error_of([&] { read(tree); }).empty());
}

TEST(MachineSetup, FixedMemoryTakesNoOtherOrderThanThatOfArrival) {
  config::Tree tree = load_gpu("gtx480");
  tree.set("dram.model", "\"fixed\"", "--set");
  EXPECT_THAT(test::input_error_of([&] { read(tree); }), HasSubstr("policy.dram.name must be"));
  tree.set("policy.dram.name", "\"fcfs\"", "--set");
  EXPECT_EQ(test::input_error_of([&] { read(tree); }), "no error");
}

TEST(MachineSetup, ResolvedConfigurationReadsBackToItself) {
  for (const EmbeddedToml& gpu : embedded_gpus()) {
    sim::Setup first = read(load_gpu(std::string(gpu.name)));
    sim::Setup second = read(config::Tree::from_json(first.config().dump(), "resolved"));
    EXPECT_EQ(first.config(), second.config()) << gpu.name;
  }
}

}  // namespace
}  // namespace raddle::sim
