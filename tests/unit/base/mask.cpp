#if defined(__GNUC__) && !defined(__clang__)
// gcc 12 folds first() of two widths into one function and then sees the wider one read too much.
#pragma GCC diagnostic ignored "-Warray-bounds"
#endif
#include "raddle/base/mask.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "raddle/base/rng.h"

namespace raddle::mask_test {
namespace {

TEST(LowBits, CountsFromNoneToAll) {
  EXPECT_EQ(low_bits(0), 0u);
  EXPECT_EQ(low_bits(1), 1u);
  EXPECT_EQ(low_bits(63), ~0ull >> 1);
  EXPECT_EQ(low_bits(64), ~0ull);
  EXPECT_EQ(low_bits(200), ~0ull);
}

TEST(Lowest, IsTheLowestSetBit) {
  EXPECT_EQ(lowest(1), 0u);
  EXPECT_EQ(lowest(0b101000), 3u);
  EXPECT_EQ(lowest(1ull << 63), 63u);
}

/// A BitSet and a std::set that must always agree.
template <unsigned Words>
class Model {
 public:
  void set(unsigned i) {
    bits.set(i);
    members.insert(i);
  }
  void clear(unsigned i) {
    bits.clear(i);
    members.erase(i);
  }
  void expect_equal() const {
    EXPECT_EQ(bits.any(), !members.empty());
    EXPECT_EQ(bits.count(), members.size());
    std::vector<unsigned> seen;
    bits.each([&](unsigned i) { seen.push_back(i); });
    EXPECT_EQ(seen, std::vector<unsigned>(members.begin(), members.end()));
    for (const unsigned last : seen) {
      std::vector<unsigned> until;
      EXPECT_FALSE(bits.all_of([&](unsigned i) {
        until.push_back(i);
        return i != last;
      }));
      EXPECT_EQ(until.size(), std::distance(members.begin(), members.find(last)) + 1u);
    }
    EXPECT_TRUE(bits.all_of([&](unsigned i) { return members.contains(i); }));
    if (members.empty()) return;
    EXPECT_EQ(bits.first(), *members.begin());
    for (unsigned from = 0; from < bits.kSize; from += 7) {
      auto at = members.lower_bound(from);
      EXPECT_EQ(bits.first_from(from), at == members.end() ? *members.begin() : *at) << from;
    }
  }
  BitSet<Words> bits;
  std::set<unsigned> members;
};

template <class T>
class BitSetOf : public testing::Test {};
using Sizes =
    testing::Types<std::integral_constant<unsigned, 1>, std::integral_constant<unsigned, 2>,
                   std::integral_constant<unsigned, 4>>;
TYPED_TEST_SUITE(BitSetOf, Sizes);

TYPED_TEST(BitSetOf, BehavesLikeASet) {
  Model<TypeParam::value> model;
  Rng rng(7);
  for (unsigned step = 0; step < 400; ++step) {
    const unsigned i = rng.below(model.bits.kSize);
    if (rng.below(3) == 0) model.clear(i);
    else model.set(i);
    EXPECT_EQ(model.bits.test(i), model.members.contains(i));
    model.expect_equal();
  }
}

TEST(BitSet, FirstFromGoesRoundTheEnd) {
  SmSet set;
  set.set(3);
  set.set(200);
  EXPECT_EQ(set.first_from(0), 3u);
  EXPECT_EQ(set.first_from(3), 3u);
  EXPECT_EQ(set.first_from(4), 200u);
  EXPECT_EQ(set.first_from(201), 3u);
  EXPECT_EQ(set.first_from(SmSet::kSize - 1), 3u);
}

TEST(SizedSet, GivesItsMembersInOrderAndForgetsThem) {
  for (unsigned size : {1u, 64u, 65u, 1000u, 4096u}) {
    SizedSet set(size);
    EXPECT_FALSE(set.any());
    Rng rng(size);
    std::set<unsigned> expected{size - 1};
    for (unsigned n = 0; n < 20; ++n) expected.insert(static_cast<unsigned>(rng.below(size)));
    for (unsigned i : expected) set.set(i);
    EXPECT_TRUE(set.any());
    std::vector<unsigned> members;
    set.take_each([&](unsigned i) { members.push_back(i); });
    EXPECT_EQ(members, std::vector<unsigned>(expected.begin(), expected.end())) << size;
    EXPECT_FALSE(set.any());
    set.take_each([](unsigned i) { FAIL() << i; });
  }
}

TEST(SizedSet, MembersMoveFromOneToAnother) {
  SizedSet a(300), b(300);
  a.set(7);
  a.set(299);
  b.set(7);
  b.set(128);
  a.take_all(b);
  EXPECT_FALSE(b.any());
  swap(a, b);
  EXPECT_FALSE(a.any());
  std::vector<unsigned> members;
  b.take_each([&](unsigned i) { members.push_back(i); });
  EXPECT_EQ(members, (std::vector<unsigned>{7, 128, 299}));
}

TEST(BitSet, FirstOf128FromIsFirstFrom) {
  Rng rng(8);
  for (unsigned round = 0; round < 2000; ++round) {
    Mask128 set;
    for (unsigned n = 1 + rng.below(4); n != 0; --n) set.set(rng.below(128));
    for (unsigned from : {0u, 1u, 63u, 64u, 127u, unsigned{rng.below(128)}})
      ASSERT_EQ(first_of_128_from(set, from), set.first_from(from)) << from;
  }
}

TEST(BitSet, WhenIsAllOrNothing) {
  Mask128 a;
  a.set(1);
  a.set(70);
  EXPECT_EQ(a.when(true), a);
  EXPECT_FALSE(a.when(false).any());
}

TEST(BitSet, SetAlgebra) {
  Mask128 a, b;
  a.set(1);
  a.set(70);
  b.set(70);
  b.set(127);
  EXPECT_EQ((a | b).count(), 3u);
  EXPECT_EQ((a & b).first(), 70u);
  EXPECT_EQ((a & b).count(), 1u);
  EXPECT_EQ((a - b).first(), 1u);
  EXPECT_EQ((a - b).count(), 1u);
  EXPECT_FALSE((a - a).any());
  EXPECT_EQ(a | b, b | a);
  EXPECT_NE(a, b);
}

}  // namespace
}  // namespace raddle::mask_test
