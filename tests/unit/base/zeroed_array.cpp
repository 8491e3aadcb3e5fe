#include "raddle/base/zeroed_array.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace raddle::zeroed_array_test {
namespace {

struct alignas(64) Row {
  std::uint8_t byte[64];
};

TEST(ZeroedArray, StartsWithZeros) {
  for (const std::size_t size : {std::size_t{1}, std::size_t{1000}, std::size_t{1} << 20}) {
    const ZeroedArray<std::uint32_t> array(size);
    ASSERT_EQ(array.size(), size);
    EXPECT_TRUE(std::ranges::all_of(array, [](std::uint32_t x) { return x == 0; }));
  }
}

TEST(ZeroedArray, ElementsLieWhereTheirTypeWantsThem) {
  for (std::size_t size = 1; size < 40; ++size) {
    ZeroedArray<Row> array(size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(array.data()) % alignof(Row), 0u);
    std::ranges::fill(array[size - 1].byte, std::uint8_t{1});  // inside, as sanitizers see
  }
}

TEST(ZeroedArray, MovesWithWhatIsInIt) {
  ZeroedArray<std::uint32_t> from(3);
  from[2] = 7;
  const ZeroedArray<std::uint32_t> to = std::move(from);
  EXPECT_EQ(to[2], 7u);
  EXPECT_EQ(to.end() - to.begin(), 3);
}

TEST(ZeroedArray, MayBeEmpty) {
  const ZeroedArray<std::uint32_t> none(0);
  EXPECT_EQ(none.begin(), none.end());
}

}  // namespace
}  // namespace raddle::zeroed_array_test
