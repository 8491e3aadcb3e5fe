// Coalescing by half warps: lines of the first half, then of the second.
#include "raddle/timing/sm/half_warps.h"

#include <gtest/gtest.h>

#include <bit>
#include <memory>
#include <vector>

namespace raddle::timing::half_warps_test {
namespace {

using Transactions = std::vector<std::array<std::uint32_t, 3>>;  // line, words, lanes

Transactions split(const Transactions& transactions) {
  const auto halves = std::make_unique<HalfWarps>();
  std::vector<std::uint32_t> payload;
  for (const auto& transaction : transactions)
    payload.insert(payload.end(), transaction.begin(), transaction.end());
  const auto [at, n] = halves->split(payload.data(), static_cast<unsigned>(transactions.size()));
  Transactions out;
  for (unsigned i = 0; i < n; ++i) out.push_back({at[3 * i], at[3 * i + 1], at[3 * i + 2]});
  return out;
}

TEST(HalfWarps, ACoalescedLineIsTwoRequests) {
  EXPECT_EQ(split({{7, 0xffffffff, 0xffffffff}}),
            (Transactions{{7, 0x0000ffff, 0x0000ffff}, {7, 0xffff0000, 0xffff0000}}));
}

TEST(HalfWarps, AWordForAllIsTwoRequestsForIt) {
  EXPECT_EQ(split({{7, 0x10, 0xffffffff}}),
            (Transactions{{7, 0x10, 0x0000ffff}, {7, 0x10, 0xffff0000}}));
}

TEST(HalfWarps, LinesOfTheFirstHalfComeFirst) {
  EXPECT_EQ(split({{1, 0x3, 0x00010001}, {2, 0x4, 0x00000002}, {3, 0x8, 0x00020000}}),
            (Transactions{{1, 0x1, 0x1}, {2, 0x4, 0x2}, {1, 0x2, 0x10000}, {3, 0x8, 0x20000}}));
}

TEST(HalfWarps, AHalfWithoutLanesAsksForNothing) {
  EXPECT_EQ(split({{1, 0xff, 0x00ff}}), (Transactions{{1, 0xff, 0x00ff}}));
  EXPECT_EQ(split({{1, 0xff, 0x00ff0000}}), (Transactions{{1, 0xff, 0x00ff0000}}));
}

// What is split stays together: no word and no lane is lost, none comes to be.
TEST(HalfWarps, WordsAndLanesAddUp) {
  std::uint32_t state = 1;
  const auto draw = [&] { return state = state * 1664525 + 1013904223; };
  for (int i = 0; i < 1000; ++i) {
    const std::uint32_t lanes = draw() | 1, words = draw() & draw();
    if (words == 0) continue;
    std::uint32_t all_words = 0, all_lanes = 0;
    const Transactions transactions = split({{9, words, lanes}});
    for (const auto& [line, w, l] : transactions) {
      EXPECT_NE(w, 0u);
      EXPECT_EQ(all_lanes & l, 0u);
      all_words |= w;
      all_lanes |= l;
    }
    EXPECT_EQ(all_words, words);
    EXPECT_EQ(all_lanes, lanes);
  }
}

TEST(HalfWarps, AsManyPiecesAsAnInstructionCanHave) {
  Transactions maximum(trace::kMaxTransactions, {5, 1, 0xffffffff});
  EXPECT_EQ(split(maximum).size(), HalfWarps::kMaximum);
}

}  // namespace
}  // namespace raddle::timing::half_warps_test
