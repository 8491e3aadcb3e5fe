// The order in which pieces of an instruction go to an L1D with a bank for each sector.
#include "raddle/timing/sm/sector_banks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "raddle/base/rng.h"
#include "raddle/timing/spec/machine.h"

namespace raddle::timing::sector_banks_test {
namespace {

using Transaction = std::array<std::uint32_t, trace::kTransactionWords>;

TEST(SectorBanks, EveryPieceOnceAndNoneLaterThanItsBankAsks) {
  const LineMap lines{LineSpec(MachineSpec{})};
  SectorBanks banks;
  Rng rng(1, "sector_banks");
  for (int round = 0; round < 200; ++round) {
    const auto n = 1 + static_cast<unsigned>(rng.below(32));
    std::vector<Transaction> transactions;
    std::array<unsigned, 4> used{};
    for (unsigned i = 0; i < n; ++i) {
      const auto sector = static_cast<unsigned>(rng.below(4));
      ++used[sector];
      transactions.push_back({100 + i, 1u << 8 * sector, 1u << i});
    }
    const std::uint32_t* out = banks.order(transactions[0].data(), n, lines, 4);
    std::vector<Transaction> ordered;
    for (unsigned i = 0; i < n; ++i)
      ordered.push_back({out[3 * i], out[3 * i + 1], out[3 * i + 2]});
    unsigned cycles = 0, taken = ~0u;
    for (const Transaction& transaction : ordered) {
      const unsigned bank = lines.sectors(transaction[1]);
      if ((taken & bank) != 0) {
        ++cycles;
        taken = 0;
      }
      taken |= bank;
    }
    EXPECT_EQ(cycles, *std::ranges::max_element(used));
    std::ranges::sort(ordered);
    EXPECT_EQ(ordered, transactions);
  }
}

}  // namespace
}  // namespace raddle::timing::sector_banks_test
