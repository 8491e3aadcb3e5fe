// The time of estimated launches as events see it: no launch takes none, and corrections are made.
#include "raddle/sim/sampling/estimated_clock.h"

#include <gtest/gtest.h>

namespace raddle::sim::estimated_clock_test {
namespace {

TEST(EstimatedClock, WithoutCorrectionsEachLaunchTakesItsTime) {
  EstimatedClock clock;
  for (unsigned launch = 1; launch <= 5; ++launch) {
    clock.pass(100, 100 * launch);
    EXPECT_EQ(clock.now(), 100u * launch);
  }
}

/// Launches of 100 cycles; before the third the estimate of those behind is corrected.
void correct(double by, Cycle each) {
  EstimatedClock clock;
  clock.pass(100, 100);
  clock.pass(100, 200);
  double total = 200 + by;
  for (Cycle launch = 1; launch <= 5; ++launch) {
    const Cycle before = clock.now();
    clock.pass(100, total += 100);
    EXPECT_EQ(clock.now() - before, each) << by;
  }
  for (unsigned launch = 0; launch < 20; ++launch) clock.pass(100, total += 100);
  EXPECT_EQ(clock.now(), static_cast<Cycle>(total)) << "in the end the sum is right";
}

TEST(EstimatedClock, ACorrectionIsSpreadOverTheLaunchesBehind) {
  correct(-150, 90);
  correct(150, 110);
  correct(0, 100);
}

}  // namespace
}  // namespace raddle::sim::estimated_clock_test
