// The rules of kernel-level sampling (sim/sampling/launch_sampler.h), without a GPU.
#include "raddle/sim/sampling/launch_sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "raddle/base/rng.h"

namespace raddle::sim::launch_sampler_test {
namespace {

SampledLaunch launch(const std::string& name, std::uint64_t warp_instructions = 1000) {
  return {name, 0, {64, 1, 1}, {128, 1, 1}, 1, warp_instructions};
}

/// A program: its launches, how long each takes, and what became of them.
struct Program {
  explicit Program(double error) : sampler(error) {}

  /// Adds one launch that takes so many cycles. True = it was timed.
  bool run(const SampledLaunch& next, double cycles) {
    if (sampler.wants_times()) notify();
    true_cycles += cycles;
    if (!sampler.next(next)) return false;
    untold.push_back(cycles);
    timed_cycles += cycles;
    ++timed;
    return true;
  }
  void notify() {
    for (const double cycles : untold) sampler.measured(cycles);
    untold.clear();
  }
  double total() const { return timed_cycles + sampler.estimated_cycles(); }

  LaunchSampler sampler;
  std::vector<double> untold;
  double true_cycles = 0, timed_cycles = 0;
  std::uint64_t timed = 0;
};

TEST(LaunchSampler, TimesEightThenEstimatesTwiceAsManyEachTime) {
  Program program(0.03);
  std::string seen;
  for (int i = 0; i < 100; ++i) seen += program.run(launch("a"), 500) ? 'T' : 'e';
  auto times = [](char c, int n) { return std::string(static_cast<std::size_t>(n), c); };
  EXPECT_EQ(seen, times('T', 8) + times('e', 16) + times('T', 8) + times('e', 32) + times('T', 8) +
                      times('e', 28));
  EXPECT_DOUBLE_EQ(program.total(), 100 * 500.0);
  EXPECT_DOUBLE_EQ(program.sampler.half_width(), 0);
  EXPECT_EQ(program.sampler.estimated(), 76u);
}

TEST(LaunchSampler, FirstLaunchesOfAClassAndOfAPeriodDoNotCount) {
  Program program(0.03);
  // The first launch of all, and the first behind launches that were estimated, take ten times as
  // long: caches are cold.
  bool estimated_before = true;
  for (int i = 0; i < 200; ++i) {
    estimated_before = !program.run(launch("a"), estimated_before ? 5000 : 500);
  }
  program.notify();
  EXPECT_DOUBLE_EQ(program.sampler.classes()[0].rate(), 0.5);
  EXPECT_DOUBLE_EQ(program.sampler.estimated_cycles(),
                   500.0 * static_cast<double>(program.sampler.estimated()));
}

TEST(LaunchSampler, ErrorIsStudentsInterval) {
  LaunchClass of;
  for (const double y : {90.0, 100.0, 110.0}) {
    of.add(0, true, 50, y);
  }
  EXPECT_DOUBLE_EQ(of.rate(), 2);
  EXPECT_NEAR(of.scatter(), 10, 1e-9);
  EXPECT_NEAR(of.error(), 4.303 * 10 / std::sqrt(3.0) / 100, 1e-9);
  // Six more of the same size: each scatters by 10, and their mean is only known by three.
  for (int i = 0; i < 6; ++i) of.estimate(0, 50);
  EXPECT_NEAR(of.estimated_cycles(), 600, 1e-9);
  EXPECT_NEAR(of.half_width(), 4.303 * 10 * std::sqrt(6 + 36 / 3.0), 1e-9);
}

TEST(LaunchSampler, AStretchIsToldByThePeriodsAroundIt) {
  LaunchClass of;
  for (int i = 0; i < 3; ++i) of.add(0, true, 50, 100);
  for (int i = 0; i < 4; ++i) of.estimate(0, 50);
  for (int i = 0; i < 5; ++i) of.add(1, true, 50, 80);
  for (int i = 0; i < 10; ++i) of.estimate(1, 50);
  // Four at 90, the mean of the two periods; ten at 80, as nothing comes behind them.
  EXPECT_DOUBLE_EQ(of.estimated_cycles(), 4 * 90 + 10 * 80);
  const std::vector<LaunchClass::Stratum> strata = of.strata();
  ASSERT_EQ(strata.size(), 2u);
  EXPECT_DOUBLE_EQ(strata[0].launches, 2);
  EXPECT_DOUBLE_EQ(strata[1].instructions, (2 + 10) * 50);
  // Nothing scatters within periods. Between them 4 launches may be anywhere within 10 each. If 10
  // behind the last drift on so, by 5 a launch, they are 25 away on the mean: 20 are taken.
  EXPECT_NEAR(of.half_width(), 1.96 / std::sqrt(3.0) * (4 * 10 + 10 * 20), 1e-5);
  of.add(2, true, 50, 80);
  EXPECT_DOUBLE_EQ(of.estimated_cycles(), 4 * 90 + 10 * 80);
  EXPECT_NEAR(of.half_width(), 1.96 / std::sqrt(3.0) * (4 * 10), 1e-5);
}

TEST(LaunchSampler, TwoLaunchesTellNothing) {
  LaunchClass of;
  for (int i = 0; i < 2; ++i) of.add(0, true, 1, 1);
  EXPECT_TRUE(std::isinf(of.error()));
}

TEST(LaunchSampler, LargerLaunchesTakeLongerInProportion) {
  Program program(0.03);
  for (int i = 0; i < 400; ++i) {
    const std::uint64_t size = 1000 + static_cast<std::uint64_t>(i % 5);
    program.run(launch("a", size), 2.0 * static_cast<double>(size));
  }
  EXPECT_NEAR(program.total(), program.true_cycles, 1e-6 * program.true_cycles);
  EXPECT_LT(program.timed, 60u);
}

TEST(LaunchSampler, ClassesAreKernelGridBlockLaunchesAndSize) {
  LaunchSampler sampler(0.03);
  SampledLaunch other = launch("a");
  sampler.next(other);
  sampler.next(launch("b"));
  other.grid.y = 2;
  sampler.next(other);
  other.grid.y = 1;
  other.block.x = 64;
  sampler.next(other);
  other.block.x = 128;
  other.launches = 2;
  sampler.next(other);
  other.launches = 1;
  other.warp_instructions = 2000;
  sampler.next(other);
  EXPECT_EQ(sampler.classes().size(), 6u);
  sampler.next(launch("a"));
  EXPECT_EQ(sampler.classes().size(), 6u);
  SampledLaunch namesake = launch("a");
  namesake.code = 1;
  sampler.next(namesake);
  EXPECT_EQ(sampler.classes().size(), 7u) << "a kernel of that name in another file";
  EXPECT_EQ(sampler.classes()[0].timed, 2u);
}

TEST(LaunchSampler, AnUnknownClassBeginsAPeriod) {
  Program program(0.03);
  for (int i = 0; i < 10; ++i) program.run(launch("a"), 500);
  EXPECT_EQ(program.timed, 8u);
  EXPECT_TRUE(program.run(launch("b"), 700));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(program.run(launch("a"), 500)) << i;
  EXPECT_TRUE(program.run(launch("c"), 700));
  // c is one of the last seven of eight: the next try is after 16.
  for (int i = 0; i < 11; ++i) EXPECT_TRUE(program.run(launch("a"), 500)) << i;
  EXPECT_FALSE(program.run(launch("a"), 500));
  EXPECT_TRUE(program.run(launch("b"), 700));
}

/// Each launch of such a kernel begins a period, none follows one that was timed.
TEST(LaunchSampler, RareKernelsBecomeKnownToo) {
  Program program(0.03);
  int last = 0;
  for (int i = 0; i < 40; ++i) {
    for (int j = 0; j < 20; ++j) program.run(launch("a"), 500);
    if (program.run(launch("rare"), 5000)) last = i;
  }
  EXPECT_EQ(last, 3) << "the first does not count, three more do";
  EXPECT_LT(program.timed, 100u);
  program.notify();
  EXPECT_DOUBLE_EQ(program.total(), program.true_cycles);
  EXPECT_TRUE(program.sampler.classes()[1].behind_estimated());
}

TEST(LaunchSampler, KernelsThatTakeTurnsAreEachKnown) {
  Program program(0.03);
  for (int i = 0; i < 600; ++i)
    program.run(launch(std::string(1, static_cast<char>('a' + i % 3))), 100.0 * (1 + i % 3));
  EXPECT_NEAR(program.total(), program.true_cycles, 1e-9 * program.true_cycles);
  EXPECT_LT(program.timed, 100u);
}

TEST(LaunchSampler, FindsOutThatAKernelHasChanged) {
  Program program(0.03);
  std::uint64_t late = 0;
  for (int i = 0; i < 2000; ++i) late += program.run(launch("a"), i < 400 ? 500 : 1000) && i >= 400;
  program.notify();
  EXPECT_GT(late, 100u) << "launches of the other speed make the class unknown again";
  EXPECT_NEAR(program.total() / program.true_cycles, 1, 0.15);
}

/// Caches that fill while a program begins: its first launches take a tenth longer, and as many of
/// those that are timed if only these fill anything.
TEST(LaunchSampler, ABeginningDoesNotWeighOnTheRest) {
  for (const unsigned slow : {10u, 20u, 32u}) {
    Program program(0.03);
    double true_cycles = 0;
    for (unsigned i = 0; i < 4000; ++i) {
      true_cycles += i < slow ? 550 : 500;
      program.run(launch("a"), program.timed < slow ? 550 : 500);
    }
    program.notify();
    EXPECT_LT(program.timed, 100u) << slow;
    EXPECT_NEAR(program.total() / true_cycles, 1, 0.005) << slow;
  }
}

TEST(LaunchSampler, WhatScattersIsTimedUntilItIsKnown) {
  Rng rng(1);
  Program program(0.03);
  for (int i = 0; i < 3000; ++i) program.run(launch("a"), 1000 * (0.8 + 0.4 * rng.unit()));
  program.notify();
  const LaunchClass& of = program.sampler.classes()[0];
  EXPECT_LE(of.error(), 0.03);
  // A standard deviation of 11.5 % needs (1.96 x 0.115 / 0.03)^2 = 57 launches at least.
  EXPECT_GT(of.counted().launches, 55u);
  EXPECT_LT(program.timed, 400u);
}

TEST(LaunchSampler, TheIntervalHoldsTheTruthNineteenTimesOfTwenty) {
  int inside = 0, all = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    Rng rng(seed);
    Program program(0.1);
    // Sums of four: near enough to normal, as Student's t asks for.
    auto uniform = [&] { return rng.unit() - 0.5; };
    for (int i = 0; i < 300; ++i)
      program.run(launch("a"), 1000 * (1 + 0.2 * (uniform() + uniform() + uniform() + uniform())));
    program.notify();
    if (program.sampler.estimated() == 0) continue;
    ++all;
    inside += std::abs(program.total() - program.true_cycles) <= program.sampler.half_width();
  }
  EXPECT_GT(all, 390);
  EXPECT_GT(inside, all * 90 / 100);
}

/// Launches that scatter and get longer or shorter while the program runs, evenly or ever less.
TEST(LaunchSampler, TheIntervalHoldsTheTruthWhereLaunchesDrift) {
  int inside = 0, all = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    Rng rng(seed);
    Program program(0.05);
    auto uniform = [&] { return rng.unit() - 0.5; };
    constexpr int kLaunches = 2000;
    const double change = 0.3 * uniform(), span = kLaunches * (0.02 + 0.5 * rng.unit());
    const bool evenly = rng.below(2) == 0;
    for (int i = 0; i < kLaunches; ++i) {
      const double drift = change * (evenly ? i / double{kLaunches} : 1 - std::exp(-i / span));
      program.run(launch("a"), 1000 * (1 + drift + 0.1 * (uniform() + uniform())));
    }
    program.notify();
    if (program.sampler.estimated() == 0) continue;
    ++all;
    inside += std::abs(program.total() - program.true_cycles) <= program.sampler.half_width();
  }
  EXPECT_GT(all, 390);
  EXPECT_GT(inside, all * 95 / 100);
}

TEST(LaunchSampler, ALaunchAsideIsOfNoClass) {
  Program program(0.03);
  for (int i = 0; i < 12; ++i) program.run(launch("a"), 500);
  program.notify();
  program.sampler.next_aside();
  program.sampler.measured(123456);
  EXPECT_EQ(program.sampler.classes().size(), 1u);
  EXPECT_TRUE(program.run(launch("a"), 500)) << "a period has begun";
  EXPECT_EQ(program.sampler.timed()[8].launch_class, LaunchSampler::kAside);
}

}  // namespace
}  // namespace raddle::sim::launch_sampler_test
