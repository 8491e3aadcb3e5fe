// Which launch of a profile is which simulated one, and what is said of those that are none.
#include "raddle/sim/validate/profile_pairs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "raddle/sim/result/error_spread.h"
#include "support/errors.h"

namespace raddle::sim::profile_pairs_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A simulation of launches of these kernels; the n-th takes 100 (n + 1) cycles.
struct Simulated {
  Result result;
  std::vector<Measurement> launches;
  void add(const std::string& kernel, std::uint32_t blocks = 1) {
    KernelResult& k = result.kernels.emplace_back();
    k.name = kernel;
    k.grid = {blocks, 1, 1};
    k.block = {32, 1, 1};
    Measurement& m = launches.emplace_back();
    m.kernel = kernel;
    m.value[0] = 100.0 * static_cast<double>(launches.size());
  }
};
Simulated simulated(const std::vector<std::string>& kernels) {
  Simulated out;
  for (const std::string& kernel : kernels) out.add(kernel);
  return out;
}

Profile profile(const std::vector<std::string>& kernels) {
  Profile out;
  for (const std::string& kernel : kernels) {
    ProfiledLaunch& launch = out.launches.emplace_back();
    launch.kernel = kernel;
    launch.value[0] = 1000;
  }
  return out;
}

/// Cycles simulated of the paired launches, in the profile's order.
std::vector<double> cycles_of(const ProfileComparison& compared) {
  std::vector<double> out;
  for (const ComparedLaunch& launch : compared.launches) out.push_back(launch.simulated_value[0]);
  return out;
}

/// "profile k 2+3 reason"
std::vector<std::string> unpaired_of(const ProfileComparison& compared) {
  std::vector<std::string> out;
  for (const Unpaired& one : compared.unpaired)
    out.push_back((one.in_profile ? "profile " : "simulated ") + one.kernel + " " +
                  std::to_string(one.first) + "+" + std::to_string(one.launches) + " " +
                  one.reason);
  return out;
}

ProfileComparison compare(const Profile& profile, const Simulated& s, std::uint64_t skipped = 0) {
  return compare_profile(profile, s.result, s.launches, skipped);
}

TEST(ProfilePairs, GoByKernelAndOrder) {
  const auto c = compare(profile({"b(int)", "a<(int)3>(T1)", "b(int)"}),
                         simulated({"_Z1aILi3EEvi", "_Z1bi", "_Z1bi"}));
  EXPECT_THAT(cycles_of(c), ElementsAre(200, 100, 300));
  EXPECT_THAT(c.unpaired, IsEmpty());
  EXPECT_EQ(c.launches[1].kernel, "a<3>");
  EXPECT_EQ(c.launches[2].launch, "1");
}

TEST(ProfilePairs, WhatOneSideHasAloneIsListedWithItsReason) {
  const auto c = compare(profile({"a", "a", "a", "sgemm_128x64"}), simulated({"a", "b", "b"}));
  EXPECT_THAT(cycles_of(c), ElementsAre(100));
  EXPECT_THAT(unpaired_of(c),
              ElementsAre("profile a 1+2 1 simulated",
                          "profile sgemm_128x64 0+1 no kernel of that name was simulated",
                          "simulated b 0+2 not in the profile"));
}

TEST(ProfilePairs, OtherGridsAreOtherLaunches) {
  Simulated s;
  s.add("k", 4);
  s.add("k", 5);
  Profile p = profile({"k", "k"});
  p.launches[0].grid = Dim3{4, 1, 1};
  p.launches[1].grid = Dim3{6, 1, 1};
  p.launches[1].block = Dim3{64, 1, 1};
  const auto c = compare(p, s);
  EXPECT_THAT(cycles_of(c), ElementsAre(100));
  EXPECT_THAT(unpaired_of(c),
              ElementsAre("profile k 1+1 grid (6, 1, 1) of blocks (64, 1, 1) in the profile, "
                          "(5, 1, 1) of (32, 1, 1) simulated"));
}

TEST(ProfilePairs, ANameAloneIsAllInstancesOfATemplate) {
  const Simulated s = simulated({"_Z1aILi3EEvi", "_Z1aILi4EEvi", "_Z1aILi3EEvi"});
  EXPECT_THAT(cycles_of(compare(profile({"a", "a", "a"}), s)), ElementsAre(100, 200, 300));
  EXPECT_THAT(cycles_of(compare(profile({"a<4>(int)"}), s)), ElementsAre(200));
}

TEST(ProfilePairs, WhatCouldBeSeveralIsNotGuessed) {
  const auto instances =
      compare(profile({"a<float4>(T1)"}), simulated({"_Z1aILi3EEvi", "_Z1aILi4EEvi"}));
  EXPECT_THAT(instances.launches, IsEmpty());
  EXPECT_THAT(unpaired_of(instances)[0], HasSubstr("2 simulated kernels could be it"));
  const auto profiled = compare(profile({"a<x>(T1)", "a<y>(T1)"}), simulated({"_Z1aILi3EEvi"}));
  EXPECT_THAT(profiled.launches, IsEmpty());
  EXPECT_THAT(unpaired_of(profiled)[0], HasSubstr("several kernels of the profile could be"));
  // Overloads have one name without their parameters.
  EXPECT_THAT(compare(profile({"f(int)"}), simulated({"_Z1fi", "_Z1ff"})).launches, IsEmpty());
}

TEST(ProfilePairs, LaunchesThatTheProfilerSkippedAreSkipped) {
  const Simulated s = simulated({"a", "x", "b", "a", "b"});
  EXPECT_THAT(cycles_of(compare(profile({"a", "b"}), s, 2)), ElementsAre(400, 500));
  EXPECT_THAT(test::input_error_of([&] { compare(profile({"a"}), s, 3); }),
              HasSubstr("--launch-skip 3: 2 launches"));
}

TEST(ProfilePairs, LaunchesByKernelsAreTheirParents) {
  Simulated s = simulated({"parent", "child"});
  s.result.kernels[1].parent = KernelParent{};
  const auto c = compare(profile({"parent"}), s);
  EXPECT_EQ(c.launches.size(), 1u);
  EXPECT_THAT(unpaired_of(c)[0], HasSubstr("launched by a kernel"));
}

TEST(ProfilePairs, MeansAreOfAllLaunchesOfAKernel) {
  Profile p = profile({"a", "b"});
  p.means = true;
  p.launches[0].launches = 2;
  p.launches[1].launches = 3;
  const auto c = compare(p, simulated({"a", "b", "a", "b"}));
  EXPECT_THAT(cycles_of(c), ElementsAre(200));
  EXPECT_EQ(c.launches[0].launch, "mean of 2");
  EXPECT_THAT(unpaired_of(c), ElementsAre("profile b 0+3 a mean of 3 launches, 2 simulated"));
}

TEST(ErrorSpread, IsMedianAndNinthOfTen) {
  const ErrorSpread ten = error_spread({10, 9, 8, 7, 6, 5, 4, 3, 2, 1});
  EXPECT_EQ(ten.median, 5.5);
  EXPECT_EQ(ten.p90, 9);
  EXPECT_EQ(error_spread({3}).p90, 3);
  EXPECT_EQ(error_spread({1, 2, 3}).p90, 3);
  EXPECT_EQ(error_spread({}).count, 0u);
}

TEST(Busy, TheBusiestFromSixtyPercentOnLimits) {
  EXPECT_EQ(limited_by({0.61, 0.2, 0.1, 0.3}), "DRAM");
  EXPECT_EQ(limited_by({0.61, 0.7, 0.1, 0.3}), "L2");
  EXPECT_EQ(limited_by({0.59, 0.2, 0.1, 0.3}), kLatency);
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(limited_by({unknown, 0.2, 0.1, 0.3}), "");
  EXPECT_EQ(limited_by({unknown, 0.2, 0.1, 0.7}), "SM");
}

TEST(Busy, IsWhatWasDoneOfWhatCouldHaveBeen) {
  timing::MachineSpec machine;
  machine.core_clock_mhz = 1000;
  machine.sm.count = 4;
  machine.sm.schedulers = 2;
  machine.dram.channels = 8;
  machine.dram.clock_mhz = 500;
  machine.l2.slices = 16;
  machine.l2.interval_cycles = 1;
  machine.noc.clock_mhz = 0;
  machine.noc.sms_per_port = 1;
  stats::GpuCounters c;
  c.sm.issued = 400;             // of 4 x 2 x 100
  c.dram.bus_busy_cycles = 200;  // of 8 x 50
  c.l2.reads = 800;              // of 16 x 100
  c.reply.flits = 300;           // of 4 ports x 100
  c.sm.shared_passes = 40;       // of 4 x 100
  EXPECT_THAT(busy_of(c, 100, machine), ElementsAre(0.5, 0.75, 0.1, 0.5));
}

}  // namespace
}  // namespace raddle::sim::profile_pairs_test
