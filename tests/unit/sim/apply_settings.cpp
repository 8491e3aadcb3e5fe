// Factors: x2 is twice what is there, or what would be simulated where nothing is.
#include "raddle/sim/setup/apply_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "raddle/sim/setup/gpus.h"
#include "raddle/sim/setup/setup.h"
#include "support/errors.h"

namespace raddle::sim::apply_settings_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

config::Tree applied(const std::vector<std::string>& settings, const std::string& gpu = "ccws") {
  config::Tree tree = load_gpu(gpu);
  std::vector<GivenSetting> given;
  for (const std::string& text : settings) given.push_back(given_setting(text, "--set " + text));
  apply_settings(tree, given, policy::all_policies());
  return tree;
}
Setup setup_of(const std::vector<std::string>& settings, const std::string& gpu = "ccws") {
  return read_setup(applied(settings, gpu), policy::all_policies());
}
std::string error_of(const std::vector<std::string>& settings, const std::string& gpu = "ccws") {
  return test::input_error_of([&] { setup_of(settings, gpu); });
}

TEST(Factors, MultiplyWhatTheMachineFileSays) {
  const auto kib = [](const std::string& value) {
    return setup_of({"l2.size_kib=" + value}).machine.l2.size_kib;
  };
  const std::uint32_t own = kib("x1");
  EXPECT_EQ(own, setup_of({}).machine.l2.size_kib);
  EXPECT_EQ(kib("x2"), 2 * own);
  EXPECT_EQ(kib("\"x0.5\""), own / 2);  // as Python and experiment files have it
  EXPECT_EQ(number_text(applied({"l2.size_kib=x2"}), "l2.size_kib"), std::to_string(2 * own));
}

TEST(Factors, OfRealNumbersAreReal) {
  EXPECT_DOUBLE_EQ(setup_of({"l2.atomic_word_cycles=3", "l2.atomic_word_cycles=x0.5"})
                       .machine.l2.atomic_word_cycles,
                   1.5);
}

TEST(Factors, OfOnePathTheLastValueCounts) {
  EXPECT_EQ(setup_of({"l2.size_kib=64", "l2.size_kib=x2"}).machine.l2.size_kib, 128u);
  EXPECT_EQ(setup_of({"l2.size_kib=x2", "l2.size_kib=64"}).machine.l2.size_kib, 64u);
}

TEST(Factors, OfWhatNobodySaysAreOfWhatIsSimulated) {
  const std::vector<std::string> swl = {"policy.throttle.name=swl"};
  const auto limit = [&](std::vector<std::string> settings) {
    settings.insert(settings.begin(), swl.front());
    return setup_of(settings).config()["policy"]["throttle"]["limit"].get<unsigned>();
  };
  EXPECT_EQ(limit({"policy.throttle.limit=x2"}), 2 * limit({}));
}

TEST(Factors, OfANetworkAtTheCoreClockAreOfThatClock) {
  const auto as_it_is = setup_of({}, "v100"), twice = setup_of({"noc.clock_mhz=x2"}, "v100");
  ASSERT_EQ(as_it_is.machine.noc.clock_mhz, 0u);
  EXPECT_EQ(twice.machine.noc.clock_mhz, 2 * as_it_is.machine.core_clock_mhz);
}

TEST(Factors, ThatGiveNoValueAreOneErrorThatNamesThem) {
  EXPECT_THAT(error_of({"l2.size_kib=x0.3"}),
              AllOf(HasSubstr("--set l2.size_kib=x0.3"), HasSubstr("expected a whole number"),
                    HasSubstr("found 38.4")));
  EXPECT_THAT(error_of({"l2.size_kib=x1000000"}),
              AllOf(HasSubstr("--set l2.size_kib=x1000000"), HasSubstr("expected a whole number")));
  for (const char* factor : {"x0", "x-1", "x2y", "x1e999"})
    EXPECT_THAT(
        error_of({std::string("l2.size_kib=") + factor}),
        AllOf(HasSubstr("l2.size_kib: expected a value, or a factor above 0"), HasSubstr(factor)));
  EXPECT_THAT(error_of({"launch_latency_cycles=x2"}),
              HasSubstr("launch_latency_cycles: x2 of 0 is 0 again"));
  EXPECT_THAT(error_of({"run.seed=x2"}), HasSubstr("run.seed: expected a seed"));
  EXPECT_THAT(error_of({"ideal.dram=x2"}), HasSubstr("expected true or false"));
  EXPECT_THAT(error_of({"l2.sise_kib=x2"}), HasSubstr("did you mean 'size_kib'"));
}

TEST(Factors, AreTextsWhereATextIsWanted) {
  EXPECT_EQ(setup_of({"name=x2"}).machine.name, "x2");
  EXPECT_FALSE(is_factor("xor"));
  EXPECT_FALSE(is_factor("x"));
}

/// The V100's size is that of the sets only, and a size of one's own gives the shared memory up:
/// "twice" would be half.
TEST(Factors, OfAnL1dThatSharesItsMemoryAreOfAllOfIt) {
  EXPECT_THAT(error_of({"sm.l1d.size_kib=x2"}, "v100"),
              AllOf(HasSubstr("sm.l1d.unified_kib"), HasSubstr("128 KiB")));
  const auto twice = setup_of({"sm.l1d.unified_kib=x2", "sm.l1d.size_kib=x2"}, "v100");
  const timing::L1dSpec &l1d = twice.machine.sm.l1d, own = setup_of({}, "v100").machine.sm.l1d;
  EXPECT_EQ(l1d.unified_kib, 2 * own.unified_kib);
  EXPECT_EQ(l1d.sets() * l1d.ways_beside(0), 2 * own.sets() * own.ways_beside(0));
}

}  // namespace
}  // namespace raddle::sim::apply_settings_test
