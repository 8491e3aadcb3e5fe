// Barrier objects of an SM by themselves (what warps of a machine do with them: tests/timing).
#include "raddle/timing/sm/barrier_objects.h"

#include <gtest/gtest.h>

namespace raddle::timing::barrier_objects_test {
namespace {

using Action = trace::ObjectAction;

/// One change as it stands in an op stream.
struct Change {
  explicit Change(const trace::ObjectChange& change) : made(change.packed()) {}
  const std::uint32_t* words() const { return &made.line; }
  trace::Transaction made;
};
Change change(std::uint32_t arrivals, std::uint32_t value = 0) {
  return Change({.object = 3, .arrivals = arrivals, .value = value, .lanes = 1});
}

TEST(BarrierObjects, APhaseIsOverWhenArrivalsAndBytesHaveCome) {
  BarrierObjects objects(1);
  objects.start_block(0);
  objects.act(0, 0, Action::Init, change(1).words(), 1);
  EXPECT_FALSE(objects.passes(0, 2, change(0, 1).words(), 1));
  EXPECT_EQ(objects.act(0, 0, Action::Arrive, change(1, 64).words(), 1), 0u);  // expects 64 bytes
  EXPECT_EQ(objects.act(0, 1, Action::Come, change(0, 64).words(), 1), bit_of(2));
  EXPECT_TRUE(objects.passes(0, 2, change(0, 1).words(), 1));
}

// In a cluster others bring arrivals and bytes of which an SM hears nothing.
TEST(BarrierObjects, OfAClusterAreWaitedForByWhatTheBlockItselfBrings) {
  constexpr std::uint32_t kBrought = trace::ObjectChange::kBrought;
  BarrierObjects objects(1);
  objects.start_block(0);
  for (unsigned warp : {0u, 1u}) objects.start_warp(warp);
  objects.act(0, 0, Action::Init, change(2).words(), 1);  // one arrival is another block's
  EXPECT_TRUE(objects.passes(0, 3, change(kBrought, 0).words(), 1));
  EXPECT_FALSE(objects.passes(0, 2, change(kBrought, 1 + 64).words(), 1));
  objects.issued(0, 1);
  EXPECT_EQ(objects.act(0, 0, Action::Arrive, change(1, 128).words(), 1), 0u);  // half from others
  EXPECT_EQ(objects.act(0, 0, Action::Copied, change(0, 64).words(), 1), 0u);
  EXPECT_EQ(objects.came(0), bit_of(2));
  EXPECT_TRUE(objects.passes(0, 2, change(kBrought, 1 + 64).words(), 1));
  EXPECT_FALSE(objects.passes(0, 2, change(kBrought, 2 + 64).words(), 1));
  EXPECT_EQ(objects.act(0, 1, Action::Arrive, change(1).words(), 1), bit_of(2));
}

// The block before ended with copies on their way that were to tell its object.
TEST(BarrierObjects, OfABlockHearNothingOfTheBlockBefore) {
  BarrierObjects objects(1);
  objects.start_block(0);
  objects.start_warp(0);
  objects.act(0, 0, Action::Init, change(1).words(), 1);
  objects.issued(0, 2);
  EXPECT_EQ(objects.act(0, 0, Action::Copied, change(1).words(), 1), 0u);

  objects.start_block(0);
  objects.start_warp(0);
  objects.act(0, 0, Action::Init, change(1).words(), 1);
  objects.issued(0, 2);
  objects.came(0);
  objects.came(0);
  EXPECT_FALSE(objects.passes(0, 1, change(0, 1).words(), 1)) << "nobody has arrived";
}

}  // namespace
}  // namespace raddle::timing::barrier_objects_test
