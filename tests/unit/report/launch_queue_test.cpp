// Queues of launches over time: by hand, and against counting cycle by cycle.
#include "raddle/report/launch_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "raddle/base/rng.h"

namespace raddle::report::launch_queue_test {
namespace {

using testing::ElementsAre;

DeviceLaunch waits(std::uint32_t sm, Cycle from, Cycle to) {
  DeviceLaunch out;
  out.parent_sm = sm;
  out.start = from;
  out.first = to;
  return out;
}

TEST(LaunchQueue, IsTheMeanNumberThatWaitsInAnInterval) {
  const LaunchQueue queue =
      launch_queue(std::vector{waits(0, 5, 25), waits(0, 10, 20), waits(1, 0, 40)}, 40, 4);
  EXPECT_EQ(queue.interval, 10u);
  EXPECT_THAT(queue.waiting, ElementsAre(1.5, 3, 1.5, 1));
  EXPECT_THAT(queue.longest_of_an_sm, ElementsAre(1, 2, 1, 1));
}

TEST(LaunchQueue, TheLastIntervalMayBeShorter) {
  const LaunchQueue queue = launch_queue(std::vector{waits(3, 8, 10)}, 10, 3);
  EXPECT_EQ(queue.interval, 4u);
  EXPECT_THAT(queue.waiting, ElementsAre(0, 0, 1)) << "2 cycles of 2";
}

TEST(LaunchQueue, WhoDoesNotWaitIsNotThere) {
  EXPECT_THAT(launch_queue(std::vector{waits(0, 7, 7)}, 10, 2).waiting, ElementsAre(0, 0));
  EXPECT_TRUE(launch_queue({}, 0, 5).waiting.empty());
}

TEST(LaunchQueue, AgreesWithACountOfEveryCycle) {
  Rng rng(4);
  for (unsigned round = 0; round < 50; ++round) {
    const Cycle cycles = 1 + rng.below(300);
    const std::size_t intervals = 1 + rng.below(20);
    std::vector<DeviceLaunch> launches;
    for (unsigned i = 0, n = rng.below(30); i < n; ++i) {
      const Cycle from = rng.below(static_cast<std::uint32_t>(cycles));
      const Cycle to = from + rng.below(static_cast<std::uint32_t>(cycles - from + 1));
      launches.push_back(waits(rng.below(3), from, to));
    }
    const LaunchQueue queue = launch_queue(launches, cycles, intervals);
    ASSERT_EQ(queue.waiting.size(), (cycles + queue.interval - 1) / queue.interval);
    for (std::size_t i = 0; i < queue.waiting.size(); ++i) {
      const Cycle begin = i * queue.interval, end = std::min(begin + queue.interval, cycles);
      double of_sm[3] = {};
      for (Cycle at = begin; at < end; ++at)
        for (const DeviceLaunch& launch : launches)
          of_sm[launch.parent_sm] += launch.start <= at && at < launch.first;
      const auto length = static_cast<double>(end - begin);
      EXPECT_DOUBLE_EQ(queue.waiting[i], (of_sm[0] + of_sm[1] + of_sm[2]) / length);
      EXPECT_DOUBLE_EQ(queue.longest_of_an_sm[i], *std::ranges::max_element(of_sm) / length);
    }
  }
}

}  // namespace
}  // namespace raddle::report::launch_queue_test
