#include "raddle/base/ring.h"

#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "raddle/base/rng.h"

namespace raddle::ring_test {
namespace {

TEST(Ring, HoldsExactlyItsCapacityWhateverItIsRoundedTo) {
  Ring<int> ring(5);
  EXPECT_EQ(ring.capacity(), 5u);
  EXPECT_TRUE(ring.empty());
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(ring.room(), 5u - static_cast<unsigned>(i));
    EXPECT_FALSE(ring.full());
    ring.push(i);
  }
  EXPECT_TRUE(ring.full());
  EXPECT_EQ(ring.room(), 0u);
}

TEST(Ring, AgreesWithADequeAcrossManyTurns) {
  Ring<unsigned> ring(6);
  std::deque<unsigned> deque;
  Rng rng(3);
  for (unsigned step = 0; step < 5000; ++step) {
    if (rng.below(2) == 0 && !ring.full()) {
      ring.push(step);
      deque.push_back(step);
    } else if (!ring.empty()) {
      EXPECT_EQ(ring.front(), deque.front());
      ring.pop();
      deque.pop_front();
    }
    ASSERT_EQ(ring.size(), deque.size());
    for (unsigned i = 0; i < ring.size(); ++i) EXPECT_EQ(ring[i], deque[i]);
  }
}

TEST(Ring, EmplaceGivesTheSlotThatComesNext) {
  Ring<std::pair<int, int>> ring(2);
  ring.emplace() = {1, 2};
  EXPECT_EQ(ring.size(), 1u);
  EXPECT_EQ(ring.front(), std::pair(1, 2));
}

TEST(Ring, RemovesFromTheMiddle) {
  Ring<int> ring(5);
  for (int i = 0; i < 3; ++i) {  // so that it turns over
    ring.push(9);
    ring.pop();
  }
  for (int i = 0; i < 5; ++i) ring.push(i);
  ring.remove(3);
  ring.remove(0);
  ring.push(5);
  std::vector<int> left;
  for (; !ring.empty(); ring.pop()) left.push_back(ring.front());
  EXPECT_EQ(left, (std::vector<int>{1, 2, 4, 5}));
}

TEST(RingDeathTest, OverflowAndUnderflowAreOurFault) {
  Ring<int> ring(1);
  EXPECT_DEATH(ring.pop(), "internal error.*empty");
  EXPECT_DEATH(ring.remove(0), "internal error.*size");
  ring.push(1);
  EXPECT_DEATH(ring.push(2), "internal error.*full");
  EXPECT_DEATH(ring.emplace(), "internal error.*full");
}

}  // namespace
}  // namespace raddle::ring_test
