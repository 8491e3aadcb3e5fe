// Sizes of more than 64 bits.
#include "raddle/cudart/sizes.h"

#include <gtest/gtest.h>

#include <limits>

#include "raddle/cudart/transfer.h"

namespace raddle::cudart::sizes_test {
namespace {

constexpr std::size_t kMax = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kHalf = kMax / 2 + 1;  // twice that is 0

template <class F>
int code_of(F f) {
  try {
    f();
    return kSuccess;
  } catch (const Failure& failure) {
    return failure.code;
  }
}

TEST(Sizes, ProductsAndSumsThatFit) {
  EXPECT_EQ(product(kHalf, 1), kHalf);
  EXPECT_EQ(product(kHalf, 0), 0u);
  EXPECT_EQ(product(kMax / 3, 3), kMax);
  EXPECT_EQ(sum(kHalf, kHalf - 1), kMax);
}

TEST(Sizes, ThoseThatDoNotFailWithTheCodeAskedFor) {
  EXPECT_EQ(code_of([] { product(kHalf, 2); }), kInvalidValue);
  EXPECT_EQ(code_of([] { product(kHalf, 2, kMemoryAllocation); }), kMemoryAllocation);
  EXPECT_EQ(code_of([] { sum(kMax, 1); }), kInvalidValue);
  EXPECT_EQ(code_of([] { sum(kMax, 1, kInvalidPitchValue); }), kInvalidPitchValue);
}

TEST(Sizes, OfABlockFromItsFirstByteToItsLast) {
  EXPECT_EQ(span_of({nullptr, kMax, 1}, {4, 1, 1}), 4u) << "one row is not apart from another";
  EXPECT_EQ(span_of({nullptr, 64, 3}, {4, 3, 1}), 2u * 64 + 4);
  EXPECT_EQ(span_of({nullptr, 64, 8}, {4, 3, 2}), 8u * 64 + 2 * 64 + 4);
  EXPECT_EQ(code_of([] { span_of({nullptr, kHalf, 3}, {4, 3, 1}); }), kInvalidPitchValue);
  EXPECT_EQ(code_of([] { span_of({nullptr, 1, kHalf}, {1, 1, 3}); }), kInvalidValue);
  EXPECT_EQ(code_of([] { span_of({nullptr, kMax, 1}, {1, 2, 1}); }), kInvalidValue);
}

}  // namespace
}  // namespace raddle::cudart::sizes_test
