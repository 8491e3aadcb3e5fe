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
        chunks_((ways + kChunk - 1) / kChunk),
        last_mask_(static_cast<unsigned>(low_bits(ways - (chunks_ - 1) * kChunk))),
        row_chunks_(2 * std::bit_ceil(chunks_)),
        row_((std::size_t{sets} * row_chunks_ + kAligned - 1) / kAligned) {
    RADDLE_ASSERT(ways <= kMaxWays);
    // Empty ways are given out from the first.
    for (unsigned w = 0; w < kMaxWays; ++w)
      unused_[w] = static_cast<std::uint8_t>(w < ways ? ways - 1 - w : kNoRank);
  }
  /// The first way that may hold the line and of which is(way) holds, or `none`.
  template <class Is>
  unsigned find(unsigned set, std::uint32_t line, unsigned none, Is is) const {
    const std::uint8_t wanted = signature(line);
    const std::uint8_t* bytes = signatures(set);
    for (unsigned c = 0; c < chunks_; ++c) {
      std::uint32_t match = matches(bytes + c * kChunk, wanted);
      if (c + 1 == chunks_) match &= last_mask_;
      for (; match != 0; match &= match - 1)
        if (const unsigned way = c * kChunk + lowest(match); is(way)) return way;
    }
    return none;
  }
  void prefetch(unsigned set) const {
    raddle::prefetch(signatures(set));
    if (chunks_ > 1) raddle::prefetch(signatures(set) + row_chunks_ / 2 * kChunk);
  }
  /// visit(way) for those that a look-up of the line would read, one of each chunk.
  template <class F>
  void likely(unsigned set, std::uint32_t line, F visit) const {
    const std::uint8_t wanted = signature(line);
    for (unsigned c = 0; c < chunks_; ++c)
      if (const std::uint32_t match = matches(signatures(set) + c * kChunk, wanted); match != 0)
        visit(c * kChunk + lowest(match));
  }
  void place(unsigned set, unsigned way, std::uint32_t line) {
    signatures(set)[way] = signature(line);
  }
  /// Most recently used from now on.
  void touch(unsigned set, unsigned way) {
    std::uint8_t* rank = ranks(set);
    const std::uint8_t old = rank[way];
    if (old == 0) return;
    for (unsigned c = 0; c < chunks_; ++c) {
      Bytes r;
      std::memcpy(&r, rank + c * kChunk, sizeof r);
      r -= reinterpret_cast<Bytes>(r < old);  // true is -1
      std::memcpy(rank + c * kChunk, &r, sizeof r);
    }
    rank[way] = 0;
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
    for (unsigned c = 0;; ++c)
      if (const std::uint32_t match = matches(rank + c * kChunk, highest); match != 0)
        return c * kChunk + lowest(match);
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
  static constexpr unsigned kChunk = 32, kAligned = 64 / kChunk;
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
  const std::uint8_t* signatures(unsigned set) const {
    return row_.data()->byte + std::size_t{set} * row_chunks_ * kChunk;
  }
  std::uint8_t* signatures(unsigned set) {
    return row_.data()->byte + std::size_t{set} * row_chunks_ * kChunk;
  }
  /// A set that nobody has used is a row of zeros. Then its first two ranks are equal, as else
  /// never: of one way, the second is of none.
  static bool is_unused(const std::uint8_t* rank) { return rank[0] == rank[1]; }
  const std::uint8_t* ranks(unsigned set) const {
    const std::uint8_t* rank = signatures(set) + row_chunks_ / 2 * kChunk;
    return is_unused(rank) ? unused_ : rank;
  }
  std::uint8_t* ranks(unsigned set) {
    std::uint8_t* rank = signatures(set) + row_chunks_ / 2 * kChunk;
    if (is_unused(rank)) std::memcpy(rank, unused_, chunks_ * kChunk);
    return rank;
  }

  unsigned ways_;
  unsigned chunks_, last_mask_;  // chunks of ways; which of the last exist
  unsigned row_chunks_;          // of a set's signatures and ranks
  std::uint8_t unused_[kMaxWays];
  ZeroedArray<Row> row_;  // by set: signatures, then ranks (0: used last)
};

}  // namespace raddle::timing
