// The scoreboard's word: a set of the 256 architectural registers and predicates.
#pragma once
#include <bit>
#include <cstdint>

#include "raddle/trace/code.h"

namespace raddle::timing {

struct RegisterSet {
  std::uint64_t word[4] = {0, 0, 0, 0};
  static_assert(trace::kScoreboardRegisters == 256);

  void set(unsigned r) { word[r >> 6] |= 1ull << (r & 63); }
  void clear(unsigned r) { word[r >> 6] &= ~(1ull << (r & 63)); }
  bool test(unsigned r) const { return (word[r >> 6] >> (r & 63) & 1) != 0; }
  bool any() const { return (word[0] | word[1] | word[2] | word[3]) != 0; }
  // Written out: a 256-bit load right after 64-bit stores would miss store forwarding.
  [[gnu::always_inline]] bool meets(const RegisterSet& o) const {
    return ((word[0] & o.word[0]) | (word[1] & o.word[1]) | (word[2] & o.word[2]) |
            (word[3] & o.word[3])) != 0;
  }
  RegisterSet& operator|=(const RegisterSet& o) {
    for (unsigned i = 0; i < 4; ++i) word[i] |= o.word[i];
    return *this;
  }
  /// Removes the members of `o`.
  RegisterSet& operator-=(const RegisterSet& o) {
    for (unsigned i = 0; i < 4; ++i) word[i] &= ~o.word[i];
    return *this;
  }
  RegisterSet& operator&=(const RegisterSet& o) {
    for (unsigned i = 0; i < 4; ++i) word[i] &= o.word[i];
    return *this;
  }
  /// The lowest of its members. Precondition: any().
  unsigned first() const {
    unsigned i = 0;
    while (word[i] == 0) ++i;
    return 64 * i + static_cast<unsigned>(std::countr_zero(word[i]));
  }
  unsigned size() const {
    int n = 0;
    for (const std::uint64_t w : word) n += std::popcount(w);
    return static_cast<unsigned>(n);
  }
  friend bool operator==(const RegisterSet&, const RegisterSet&) = default;
};

}  // namespace raddle::timing
