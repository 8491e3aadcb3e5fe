// Coalescing by half warps, as machines of compute capability 1.x do it: lanes 0 to 15 access
// memory, then lanes 16 to 31, so that a line which both touch is looked up twice (CUDA C
// Programming Guide 4.2, appendix F.3.2).
//
// The stream says which lanes touch a line and which words they touch together, not which lane
// touches which word: a half gets words in proportion to its lanes, the first half those at the
// start of the line. That is exact where addresses rise with the lanes, as in coalesced accesses;
// otherwise it is exact in the lines that are looked up and in the sum of the words.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>

#include "raddle/trace/stream.h"

namespace raddle::timing {

class HalfWarps {
 public:
  /// Pieces of one instruction.
  static constexpr unsigned kMaximum = 2 * trace::kMaxTransactions;

  /// The pieces of an instruction by halves of its warp, valid until the next call; and how many.
  std::pair<const std::uint32_t*, unsigned> split(const std::uint32_t* payload,
                                                  unsigned transactions) {
    unsigned n = 0;
    for (bool second : {false, true})
      for (unsigned i = 0; i < transactions; ++i) {
        const std::uint32_t* transaction = payload + i * trace::kTransactionWords;
        const LaneMask lanes = transaction[2] & (second ? kSecond : kFirst);
        if (lanes == 0) continue;
        std::uint32_t* to = &out_[n++ * trace::kTransactionWords];
        to[0] = transaction[0];
        to[1] = words(transaction[1], transaction[2], second);
        to[2] = lanes;
      }
    return {out_.data(), n};
  }

 private:
  static constexpr LaneMask kFirst = 0x0000ffff, kSecond = 0xffff0000;

  static std::uint32_t words(std::uint32_t all, LaneMask lanes, bool second) {
    if ((lanes & kFirst) == 0 || (lanes & kSecond) == 0) return all;
    const int count = std::popcount(all), of = std::popcount(lanes);
    if (count == 1) return all;  // both halves access the same word
    const int low = (count * std::popcount(lanes & kFirst) + of / 2) / of;
    std::uint32_t rest = all;
    for (int i = std::clamp(low, 1, count - 1); i > 0; --i) rest &= rest - 1;
    return second ? rest : all & ~rest;
  }

  std::array<std::uint32_t, std::size_t{kMaximum} * trace::kTransactionWords> out_;
};

}  // namespace raddle::timing
