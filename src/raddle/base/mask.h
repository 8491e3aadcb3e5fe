// Sets of small numbers as machine words: every question a scheduler asks is an AND and a count of
// zeros.
#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <utility>

#include "raddle/base/limits.h"

namespace raddle {

/// Index of the lowest set bit. Precondition: mask != 0.
constexpr unsigned lowest(std::uint64_t mask) {
  return static_cast<unsigned>(std::countr_zero(mask));
}

/// The lowest `n` bits, n <= 64.
constexpr std::uint64_t low_bits(unsigned n) { return n >= 64 ? ~0ull : (1ull << n) - 1; }

/// A set of numbers below 64 * Words.
template <unsigned Words>
class BitSet {
 public:
  static constexpr unsigned kSize = 64 * Words;
  constexpr void set(unsigned i) { word_[i >> 6] |= 1ull << (i & 63); }
  constexpr void clear(unsigned i) { word_[i >> 6] &= ~(1ull << (i & 63)); }
  constexpr bool test(unsigned i) const { return (word_[i >> 6] >> (i & 63) & 1) != 0; }
  constexpr bool any() const {
    std::uint64_t all = 0;
    for (std::uint64_t w : word_) all |= w;
    return all != 0;
  }
  constexpr unsigned count() const {
    unsigned n = 0;
    for (std::uint64_t w : word_) n += static_cast<unsigned>(std::popcount(w));
    return n;
  }
  /// Precondition: any().
  constexpr unsigned first() const {
    unsigned i = 0;
    while (word_[i] == 0) ++i;
    return 64 * i + lowest(word_[i]);
  }
  /// First member at or after `from`, cyclically. Preconditions: any(), from < kSize.
  constexpr unsigned first_from(unsigned from) const {
    std::uint64_t here = word_[from >> 6] & ~0ull << (from & 63);
    for (unsigned i = from >> 6;;) {
      if (here != 0) return 64 * i + lowest(here);
      if (++i == Words) return first();
      here = word_[i];
    }
  }
  constexpr std::uint64_t word(unsigned i) const { return word_[i]; }
  constexpr std::uint64_t& word(unsigned i) { return word_[i]; }
  /// This set or, where `condition` is false, the empty one; without a branch.
  constexpr BitSet when(bool condition) const {
    BitSet out;
    for (unsigned i = 0; i < Words; ++i) out.word_[i] = word_[i] & (0 - std::uint64_t{condition});
    return out;
  }
  template <class F>
  constexpr void each(F f) const {
    for (unsigned i = 0; i < Words; ++i)
      for (std::uint64_t m = word_[i]; m != 0; m &= m - 1) f(64 * i + lowest(m));
  }
  /// Whether f(member) holds for each, up to the first for which it does not.
  template <class F>
  constexpr bool all_of(F f) const {
    for (unsigned i = 0; i < Words; ++i)
      for (std::uint64_t m = word_[i]; m != 0; m &= m - 1)
        if (!f(64 * i + lowest(m))) return false;
    return true;
  }
  constexpr BitSet& operator|=(const BitSet& o) {
    for (unsigned i = 0; i < Words; ++i) word_[i] |= o.word_[i];
    return *this;
  }
  constexpr BitSet& operator&=(const BitSet& o) {
    for (unsigned i = 0; i < Words; ++i) word_[i] &= o.word_[i];
    return *this;
  }
  /// Removes the members of `o`.
  constexpr BitSet& operator-=(const BitSet& o) {
    for (unsigned i = 0; i < Words; ++i) word_[i] &= ~o.word_[i];
    return *this;
  }
  friend constexpr BitSet operator|(BitSet a, const BitSet& b) { return a |= b; }
  friend constexpr BitSet operator&(BitSet a, const BitSet& b) { return a &= b; }
  friend constexpr BitSet operator-(BitSet a, const BitSet& b) { return a -= b; }
  friend constexpr bool operator==(const BitSet&, const BitSet&) = default;

 private:
  std::array<std::uint64_t, Words> word_{};
};

using Mask128 = BitSet<2>;
using SmSet = BitSet<kMaxSms / 64>;
/// Of launch slots, which are the entries of the kernel distributor.
using KernelSet = BitSet<kKernelSlots / 64>;

/// A set of numbers below a size that is known at construction: as many words as it needs.
class SizedSet {
 public:
  explicit SizedSet(unsigned size)
      : words_((size + 63) / 64), word_(std::make_unique<std::uint64_t[]>(words_)) {}
  bool any() const {
    std::uint64_t all = 0;
    for (unsigned i = 0; i < words_; ++i) all |= word_[i];
    return all != 0;
  }
  void set(unsigned i) { word_[i >> 6] |= 1ull << (i & 63); }
  /// f(member) for each, in order; forgets them. What f adds to this set may be met or stay.
  template <class F>
  void take_each(F f) {
    for (unsigned i = 0; i < words_; ++i)
      for (std::uint64_t m = std::exchange(word_[i], 0); m != 0; m &= m - 1) f(64 * i + lowest(m));
  }
  /// Adds the members of `o`, which has the same size and forgets them.
  void take_all(SizedSet& o) {
    for (unsigned i = 0; i < words_; ++i) word_[i] |= std::exchange(o.word_[i], 0);
  }
  /// Of sets of one size.
  friend void swap(SizedSet& a, SizedSet& b) noexcept { std::swap(a.word_, b.word_); }

 private:
  unsigned words_;
  std::unique_ptr<std::uint64_t[]> word_;
};

/// set.first_from(from) without a branch, for sets of which either half may have the answer.
/// Preconditions: set.any(), from < 128.
constexpr unsigned first_of_128_from(const Mask128& set, unsigned from) {
  const std::uint64_t behind = ~0ull << (from & 63);
  std::uint64_t low = set.word(0) & (from < 64 ? behind : 0),
                high = set.word(1) & (from < 64 ? ~0ull : behind);
  const bool round = (low | high) == 0;
  low = round ? set.word(0) : low;
  high = round ? set.word(1) : high;
  return low != 0 ? lowest(low) : 64 + lowest(high);
}

}  // namespace raddle
