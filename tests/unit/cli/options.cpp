// Words of the command line turned into workloads and policy sets.
#include "raddle/cli/shared/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/errors.h"

namespace raddle::cli::options_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<api::PolicySet> parse(const std::string& list) {
  return api::parse_policies(list, policy::all_policies());
}

TEST(Policies, NamesFindTheirLevel) {
  const auto sets = parse("lrr,chunk,fcfs");
  ASSERT_EQ(sets.size(), 3u);
  EXPECT_THAT(sets[0].settings, ElementsAre("warp=lrr"));
  EXPECT_THAT(sets[1].settings, ElementsAre("block=chunk"));
  EXPECT_THAT(sets[2].settings, ElementsAre("dram=fcfs"));
}

TEST(Policies, ParametersKeepTheirCommas) {
  const auto sets = parse("two_level:group_size=4,inner=rr,gto+block=chunk,warp=lrr");
  ASSERT_EQ(sets.size(), 3u);
  EXPECT_THAT(sets[0].settings, ElementsAre("warp=two_level:group_size=4,inner=rr"));
  EXPECT_THAT(sets[1].settings, ElementsAre("warp=gto", "block=chunk"));
  EXPECT_EQ(sets[1].label, "gto+block=chunk");
  EXPECT_THAT(sets[2].settings, ElementsAre("warp=lrr"));
}

TEST(Policies, UnknownAmbiguousEmptyAndRepeatedAreRefused) {
  EXPECT_THAT(test::input_error_of([] { parse("gtoo"); }),
              testing::AllOf(HasSubstr("'gtoo'"), HasSubstr("warp=gto")));
  EXPECT_THAT(test::input_error_of([] { parse("gto,,lrr"); }), HasSubstr("empty entry"));
  EXPECT_THAT(test::input_error_of([] { parse("gto,lrr,gto"); }), HasSubstr("there twice"));
}

TEST(MakeWorkload, SizeAndParametersAreApplied) {
  const NamedWorkload tiny = make_workload("vecadd", {"size=tiny"}),
                      other = make_workload("vecadd", {});
  EXPECT_EQ(tiny.info.parameters["size"], "tiny");
  EXPECT_EQ(other.info.parameters["size"], "small");
  EXPECT_NE(tiny.info.parameters, other.info.parameters);
}

TEST(MakeWorkload, UnknownNameSizeAndParameterAreRefused) {
  EXPECT_THAT(test::input_error_of([] { make_workload("vecsub", {}); }),
              testing::AllOf(HasSubstr("'vecsub'"), HasSubstr("vecadd")));
  EXPECT_THAT(test::input_error_of([] { make_workload("vecadd", {"size=huge"}); }),
              HasSubstr("huge"));
  EXPECT_THAT(test::input_error_of([] { make_workload("vecadd", {"m=3"}); }),
              HasSubstr("m: unknown key"));
  EXPECT_THAT(test::input_error_of([] { make_workload("vecadd", {"novalue"}); }),
              HasSubstr("novalue"));
  EXPECT_THAT(test::input_error_of([] { make_workload("nowhere.ptx", {}); }),
              HasSubstr("nowhere.ptx"));
}

TEST(CommonOptions, ContradictionsAreRefusedBeforeAnythingRuns) {
  CommonOptions options;
  options.functional = options.live = true;
  EXPECT_THAT(test::input_error_of([&] { options.check(); }), HasSubstr("exclude each other"));
  options = {};
  options.json = "/no/such/folder/out.json";
  EXPECT_THAT(test::input_error_of([&] { options.check(); }), HasSubstr("/no/such/folder"));
  options.json = "/tmp";
  EXPECT_THAT(test::input_error_of([&] { options.check(); }), HasSubstr("is a directory"));
}

TEST(CommonOptions, CommandLineBeatsTheFile) {
  CommonOptions options;
  options.gpu = "gtx480";
  options.seed = 5;
  options.live = true;
  options.set = {"sm.l1d.size_kib=48"};
  options.policy = {"warp=lrr"};
  sim::Setup setup = sim::read_setup(options.tree(), policy::all_policies());
  EXPECT_EQ(setup.machine.sm.l1d.size_kib, 48u);
  EXPECT_EQ(setup.warp->name(), "lrr");
  EXPECT_EQ(setup.run.seed, 5u);
  EXPECT_TRUE(setup.run.live);
}

TEST(CommonOptions, MaxCyclesBoundsTheFunctionalRun) {
  CommonOptions options;
  options.gpu = "gtx480";
  const sim::Setup setup = sim::read_setup(options.tree(), policy::all_policies());
  options.max_cycles = 100;
  EXPECT_EQ(options.simulation(setup).max_warp_instructions,
            100u * setup.machine.sm.count * setup.machine.sm.schedulers);
  options.max_cycles = ~0ull;
  EXPECT_EQ(options.simulation(setup).max_warp_instructions, ~0ull) << "no overflow";
}

}  // namespace
}  // namespace raddle::cli::options_test
