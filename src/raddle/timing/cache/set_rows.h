// Where the lines of sets of a few ways are, and when each was used. A set is a row of bytes:
// eight-bit signatures of its lines and their ranks by time of use. A look-up compares signatures,
// 32 at once; a use raises all lower ranks by one, 32 at once. So both touch one cache line of the
// host for up to 32 ways. Sets of many ways: set_lists.h.
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>

#include "raddle/base/error.h"
#include "raddle/base/mask.h"
#include "raddle/base/prefetch.h"
#include "raddle/base/zeroed_array.h"
#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace raddle::timing {

class SetRows {
 public:
  static constexpr unsigned kMaxWays = 64;

  SetRows(unsigned sets, unsigned ways)
      : ways_(ways),
        two_chunks_(ways > kChunk),
        row_shift_(two_chunks_ ? 7 : 6),
        half_row_(two_chunks_ ? 64 : 32),
        all_ways_(low_bits(ways)),
        row_(std::size_t{sets} << (row_shift_ - 6)) {
    RADDLE_ASSERT(ways >= 1 && ways <= kMaxWays);
    // Empty ways are given out from the first.
    for (unsigned w = 0; w < kMaxWays; ++w)
      unused_[w] = static_cast<std::uint8_t>(w < ways ? ways - 1 - w : kNoRank);
  }
  /// Bit w: way w may hold the line, its signature is the same.
  std::uint64_t matching(unsigned set, std::uint32_t line) const {
    const std::uint8_t* bytes = signatures(set);
    const std::uint8_t wanted = signature(line);
    std::uint64_t match = matches(bytes, wanted);
    if (two_chunks_) match |= std::uint64_t{matches(bytes + kChunk, wanted)} << kChunk;
    return match & all_ways_;
  }
  void prefetch(unsigned set) const {
    raddle::prefetch(signatures(set));
    if (two_chunks_) raddle::prefetch(signatures(set) + half_row_);
  }
  void place(unsigned set, unsigned way, std::uint32_t line) {
    signatures(set)[way] = signature(line);
  }
  /// Most recently used from now on.
  void touch(unsigned set, unsigned way) {
    std::uint8_t* rank = signatures(set) + half_row_;
    if (is_unused(rank)) [[unlikely]]
      return touch_first(rank, way);
    make_newest(rank, way);
  }
  /// Used longest ago from now on.
  void make_oldest(unsigned set, unsigned way) {
    std::uint8_t* rank = ranks(set);
    const std::uint8_t old = rank[way];
    for (unsigned w = 0; w < ways_; ++w)
      if (rank[w] > old) --rank[w];
    rank[way] = static_cast<std::uint8_t>(ways_ - 1);
  }
  /// The way that was used longest ago.
  unsigned oldest(unsigned set) const {
    const std::uint8_t* rank = ranks(set);
    const auto highest = static_cast<std::uint8_t>(ways_ - 1);
    const std::uint32_t match = matches(rank, highest);
    return match != 0 ? lowest(match) : kChunk + lowest(matches(rank + kChunk, highest));
  }
  /// Of those of which is(way) holds, the one that was used longest ago, or `none`.
  template <class Is>
  unsigned oldest(unsigned set, unsigned none, Is is) const {
    const std::uint8_t* rank = ranks(set);
    unsigned best = none;
    for (unsigned w = 0; w < ways_; ++w)
      if (is(w) && (best == none || rank[w] > rank[best])) best = w;
    return best;
  }
  /// The first way was used last, the next before it, and so on.
  void order_by_number(unsigned set) {
    std::uint8_t* rank = ranks(set);
    std::iota(rank, rank + ways_, std::uint8_t{0});
  }
  /// By way: how many of the set's were used later.
  std::span<const std::uint8_t> order(unsigned set) const { return {ranks(set), ways_}; }

 private:
  static constexpr unsigned kChunk = 32;
  static constexpr std::uint8_t kNoRank = 255;
  using Bytes = std::uint8_t __attribute__((vector_size(kChunk)));
  struct alignas(64) Row {
    std::uint8_t byte[64];
  };

  static std::uint8_t signature(std::uint32_t line) {
    return static_cast<std::uint8_t>(line * 0x9e3779b1u >> 24);
  }
  /// Bit i: the i-th of a chunk of bytes is `wanted`.
  static std::uint32_t matches(const std::uint8_t* bytes, std::uint8_t wanted) {
#if defined(__AVX2__)
    const __m256i all = _mm256_set1_epi8(static_cast<char>(wanted));
    const __m256i here = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes));
    return static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(all, here)));
#elif defined(__SSE2__)
    const __m128i all = _mm_set1_epi8(static_cast<char>(wanted));
    auto half = [&](const std::uint8_t* from) {
      const __m128i here = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
      return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(all, here)));
    };
    return half(bytes) | half(bytes + 16) << 16;
#else
    std::uint32_t out = 0;
    for (unsigned i = 0; i < kChunk; ++i) out |= (bytes[i] == wanted ? 1u : 0u) << i;
    return out;
#endif
  }
  /// Adds one to those of a chunk that are below `limit`.
  static void raise_below(std::uint8_t* rank, std::uint8_t limit) {
    Bytes r;
    std::memcpy(&r, rank, sizeof r);
    r -= reinterpret_cast<Bytes>(r < limit);  // true is -1
    std::memcpy(rank, &r, sizeof r);
  }
  void make_newest(std::uint8_t* rank, unsigned way) const {
    const std::uint8_t old = rank[way];
    if (old == 0) return;
    raise_below(rank, old);
    if (two_chunks_) raise_below(rank + kChunk, old);
    rank[way] = 0;
  }
  /// Out of line: a set is used for the first time once.
  [[gnu::noinline]] void touch_first(std::uint8_t* rank, unsigned way) const {
    std::memcpy(rank, unused_, half_row_);
    make_newest(rank, way);
  }
  const std::uint8_t* signatures(unsigned set) const {
    return row_.data()->byte + (std::size_t{set} << row_shift_);
  }
  std::uint8_t* signatures(unsigned set) {
    return row_.data()->byte + (std::size_t{set} << row_shift_);
  }
  /// A set that nobody has used is a row of zeros. Then its first two ranks are equal, as else
  /// never: of one way, the second is of none.
  static bool is_unused(const std::uint8_t* rank) { return rank[0] == rank[1]; }
  const std::uint8_t* ranks(unsigned set) const {
    const std::uint8_t* rank = signatures(set) + half_row_;
    return is_unused(rank) ? unused_ : rank;
  }
  std::uint8_t* ranks(unsigned set) {
    std::uint8_t* rank = signatures(set) + half_row_;
    if (is_unused(rank)) std::memcpy(rank, unused_, half_row_);
    return rank;
  }

  unsigned ways_;
  bool two_chunks_;
  unsigned row_shift_, half_row_;  // of a set: binary logarithm of its bytes; half of them
  std::uint64_t all_ways_;
  std::uint8_t unused_[kMaxWays];
  ZeroedArray<Row> row_;  // by set: signatures, then ranks (0: used last)
};

}  // namespace raddle::timing
