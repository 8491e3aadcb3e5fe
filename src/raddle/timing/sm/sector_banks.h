// An L1D with a bank for each sector of a line (sm.lsu_sector_banks): in a cycle each bank serves
// one line. The pieces of an instruction are served in an order in which as many as may go together
// do, each time the first that fits beside those taken, so that an instruction takes about as many
// cycles as its most used bank has pieces.
#pragma once
#include <array>
#include <bit>
#include <cstdint>

#include "raddle/base/error.h"
#include "raddle/base/mask.h"
#include "raddle/timing/sm/line_access.h"
#include "raddle/trace/stream.h"

namespace raddle::timing {

class SectorBanks {
 public:
  /// The pieces in that order, valid until the next call; `together`: at most so many a cycle.
  const std::uint32_t* order(const std::uint32_t* payload, unsigned transactions,
                             const LineMap& lines, unsigned together) {
    RADDLE_ASSERT(transactions <= trace::kMaxTransactions);
    std::uint64_t left = low_bits(transactions);
    for (unsigned n = 0; left != 0;) {
      unsigned taken = 0, went = 0;
      for (std::uint64_t m = left; m != 0 && went != together; m &= m - 1) {
        const auto i = static_cast<unsigned>(std::countr_zero(m));
        const std::uint32_t* transaction = payload + i * trace::kTransactionWords;
        const unsigned banks = lines.sectors(transaction[1]);
        if ((taken & banks) != 0) continue;
        taken |= banks;
        ++went;
        left &= ~(std::uint64_t{1} << i);
        for (unsigned word = 0; word < trace::kTransactionWords; ++word)
          out_[n * trace::kTransactionWords + word] = transaction[word];
        ++n;
      }
    }
    return out_.data();
  }

 private:
  std::array<std::uint32_t, std::size_t{trace::kMaxTransactions} * trace::kTransactionWords> out_;
};

}  // namespace raddle::timing
