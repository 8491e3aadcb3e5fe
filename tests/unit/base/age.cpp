#include "raddle/base/age.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "raddle/base/rng.h"

namespace raddle::age_test {
namespace {

TEST(AgeMatrix64, RemembersTheOrderOfArrival) {
  AgeMatrix64 age;
  for (unsigned i : {5u, 63u, 0u}) age.insert(i);
  EXPECT_EQ(age.oldest(1ull << 5 | 1ull << 63 | 1), 5u);
  EXPECT_EQ(age.oldest(1ull << 63 | 1), 63u);
  EXPECT_EQ(age.oldest(1), 0u);
  EXPECT_EQ(age.older_than(0), 1ull << 5 | 1ull << 63);
  EXPECT_EQ(age.older_than(5), 0u);
}

TEST(AgeMatrix64, AMemberThatComesBackIsTheYoungest) {
  AgeMatrix64 age;
  age.insert(1);
  age.insert(2);
  age.remove(1);
  EXPECT_EQ(age.members(), 0b100u);
  age.insert(1);
  EXPECT_EQ(age.oldest(0b110), 2u);
  EXPECT_EQ(age.older_than(2), 0u) << "the earlier life of 1 is forgotten";
}

template <class Matrix>
std::vector<unsigned> random_history(Matrix& age, unsigned size, Rng& rng) {
  std::vector<unsigned> order;  // oldest first
  for (unsigned step = 0; step < 3 * size; ++step) {
    const unsigned i = rng.below(size);
    if (auto at = std::find(order.begin(), order.end(), i); at != order.end()) {
      order.erase(at);
      age.remove(i);
    } else {
      order.push_back(i);
      age.insert(i);
    }
  }
  return order;
}

TEST(AgeMatrix64, AgreesWithAList) {
  Rng rng(11);
  for (unsigned round = 0; round < 50; ++round) {
    AgeMatrix64 age;
    const std::vector<unsigned> order = random_history(age, 64, rng);
    for (unsigned question = 0; question < 50; ++question) {
      const std::uint64_t some = rng.next() & rng.next() & age.members();
      if (some == 0) continue;
      auto first =
          std::find_if(order.begin(), order.end(), [&](unsigned i) { return some >> i & 1; });
      EXPECT_EQ(age.oldest(some), *first);
    }
  }
}

TEST(AgeMatrix128, AgreesWithAList) {
  Rng rng(12);
  for (unsigned round = 0; round < 50; ++round) {
    AgeMatrix128 age;
    const std::vector<unsigned> order = random_history(age, 128, rng);
    for (unsigned question = 0; question < 50; ++question) {
      Mask128 some;
      some.word(0) = rng.next() & rng.next();
      some.word(1) = question % 3 == 0 ? 0 : rng.next() & rng.next();
      some &= age.members();
      if (!some.any()) continue;
      auto first =
          std::find_if(order.begin(), order.end(), [&](unsigned i) { return some.test(i); });
      EXPECT_EQ(age.oldest(some), *first);
      for (auto i = order.begin(); i != order.end(); ++i)
        ASSERT_EQ(age.any_older(some, *i), first < i);
    }
  }
}

TEST(KernelAge, AgreesWithAList) {
  struct Ages : KernelAge {
    void remove(unsigned) {}  // nothing to do
  };
  Rng rng(13);
  for (unsigned round = 0; round < 50; ++round) {
    Ages age;
    const std::vector<unsigned> order = random_history(age, kKernelSlots, rng);
    for (unsigned question = 0; question < 50; ++question) {
      KernelSet some;
      for (const unsigned i : order)
        if (rng.below(1 + question) == 0) some.set(i);
      if (!some.any()) continue;
      auto first =
          std::find_if(order.begin(), order.end(), [&](unsigned i) { return some.test(i); });
      EXPECT_EQ(age.oldest(some), *first);
    }
    for (std::size_t i = 1; i < order.size(); ++i)
      EXPECT_LT(age.number(order[i - 1]), age.number(order[i]));
  }
}

}  // namespace
}  // namespace raddle::age_test
