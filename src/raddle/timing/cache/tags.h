// Tags of a sectored set-associative cache with LRU replacement; any number of sets, up to 256 ways
// and up to 8 sectors a line. Shared by L1 and L2. A line has a way from fill() or place() on; a
// locked way waits for its data and is neither found empty nor given away.
//
// A set is a row of bytes, eight-bit signatures of its lines and their ranks by time of use, and a
// row of the ways themselves. A look-up compares signatures, 32 at once, and reads a way only
// where they agree; a use raises all lower ranks by one, 32 at once. So a look-up touches one
// cache line of the host for up to 32 ways, and one more if it finds something. Replacement is this
// file's touch() and victim(), unless the cache has a policy for it (replacement.h).
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <vector>

#include "raddle/base/error.h"
#include "raddle/base/mask.h"
#include "raddle/base/prefetch.h"
#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace raddle::timing {

class Tags {
 public:
  /// A line pushed out by fill(); `sectors` were valid, `dirty` of them must be written back.
  struct Victim {
    std::uint32_t line;
    std::uint8_t sectors, dirty;  ///< sectors == 0: nothing was pushed out
  };
  static constexpr unsigned kAbsent = ~0u;
  static constexpr unsigned kMaxWays = 256;
  /// Ways that a miss may fill, where a scheme says so, a bit for each.
  using WayMask = std::uint64_t;
  static constexpr WayMask kAnyWay = ~WayMask{0};
  static constexpr unsigned kMaskedWays = 64;

  Tags(unsigned sets, unsigned ways)
      : ways_(ways),
        shift_(static_cast<unsigned>(std::countr_zero(std::bit_ceil(ways)))),
        chunks_((ways + kChunk - 1) / kChunk),
        last_mask_(static_cast<unsigned>(low_bits(ways - (chunks_ - 1) * kChunk))),
        row_chunks_(2 * std::bit_ceil(chunks_)),
        row_((std::size_t{sets} * row_chunks_ + kAligned - 1) / kAligned),
        way_(std::size_t{sets} << shift_) {
    RADDLE_ASSERT(ways >= 1 && ways <= kMaxWays);
    for (unsigned set = 0; set < sets; ++set) {  // empty ways are given out from the first
      std::uint8_t* rank = ranks(set);
      for (unsigned w = 0; w < chunks_ * kChunk; ++w)
        rank[w] = static_cast<std::uint8_t>(w < ways ? ways - 1 - w : kNoRank);
    }
  }

  /// Handle of a present line (some sector valid, or locked), or kAbsent. Handles hold until the
  /// line is pushed out.
  unsigned find(unsigned set, std::uint32_t line) const {
    const unsigned begin = set << shift_;
    const std::uint8_t wanted = signature(line);
    const std::uint8_t* bytes = signatures(set);
    for (unsigned c = 0; c < chunks_; ++c) {
      std::uint32_t match = matches(bytes + c * kChunk, wanted);
      if (c + 1 == chunks_) match &= last_mask_;
      for (; match != 0; match &= match - 1) {
        const unsigned at = begin + c * kChunk + lowest(match);
        const Way& way = way_[at];
        if (way.line == line && (way.valid | way.locked) != 0) return at;
      }
    }
    return kAbsent;
  }
  std::uint32_t line(unsigned at) const { return way_[at].line; }
  std::uint8_t valid(unsigned at) const { return way_[at].valid; }
  std::uint8_t dirty(unsigned at) const { return way_[at].dirty; }
  /// Hints that the set will soon be looked up.
  void prefetch(unsigned set) const {
    raddle::prefetch(signatures(set));
    if (chunks_ > 1) raddle::prefetch(ranks(set));
  }
  /// The same for what a look-up of the line finds, or for the way that is given away next.
  void prefetch_line(unsigned set, std::uint32_t line) const {
    const std::uint8_t wanted = signature(line);
    for (unsigned c = 0; c < chunks_; ++c)
      if (const std::uint32_t match = matches(signatures(set) + c * kChunk, wanted); match != 0)
        raddle::prefetch(&way_[(set << shift_) + c * kChunk + lowest(match)]);
  }
  void prefetch_victim(unsigned set) const {
    raddle::prefetch(&way_[(set << shift_) + oldest(ranks(set))]);
  }
  unsigned ways() const { return ways_; }
  /// Handles are below this.
  std::size_t handles() const { return way_.size(); }
  /// visit(handle) for every line with a valid sector.
  template <class F>
  void each(F visit) const {
    for (unsigned at = 0; at < way_.size(); ++at)
      if (way_[at].valid != 0) visit(at);
  }
  void add_valid(unsigned at, std::uint8_t sectors) { way_[at].valid |= sectors; }
  void mark_dirty(unsigned at, std::uint8_t sectors) { way_[at].dirty |= sectors; }
  void clean(unsigned at) { way_[at].dirty = 0; }
  /// Of a set: lines with a dirty sector, and that of them which was used longest ago.
  struct DirtyLines {
    unsigned count = 0, oldest = kAbsent;
  };
  DirtyLines dirty_lines(unsigned set) const {
    DirtyLines out;
    const unsigned begin = set << shift_;
    const std::uint8_t* rank = ranks(set);
    unsigned highest = 0;
    for (unsigned w = 0; w < ways_; ++w) {
      if (way_[begin + w].dirty == 0) continue;
      if (out.count++ == 0 || rank[w] > highest) {
        out.oldest = begin + w;
        highest = rank[w];
      }
    }
    return out;
  }
  /// Most recently used from now on.
  void touch(unsigned at) {
    std::uint8_t* rank = ranks(at >> shift_);
    std::uint8_t& mine = rank[way_in_set(at)];
    const std::uint8_t old = mine;
    if (old == 0) return;
    for (unsigned c = 0; c < chunks_; ++c) {
      Bytes r;
      std::memcpy(&r, rank + c * kChunk, sizeof r);
      r -= reinterpret_cast<Bytes>(r < old);  // true is -1
      std::memcpy(rank + c * kChunk, &r, sizeof r);
    }
    mine = 0;
  }
  /// Adds sectors to a line, making room for it in its set if it is absent, and touches it.
  /// Precondition: a way of the set is not locked.
  Victim fill(unsigned set, std::uint32_t line, std::uint8_t sectors, std::uint8_t dirty) {
    unsigned at = find(set, line);
    return fill(set, line, sectors, dirty, at);
  }
  /// The same when find() has been asked already; `at` becomes the line's handle.
  Victim fill(unsigned set, std::uint32_t line, std::uint8_t sectors, std::uint8_t dirty,
              unsigned& at, WayMask among = kAnyWay) {
    Victim out{0, 0, 0};
    if (at == kAbsent) {
      at = among == kAnyWay ? victim(set) : victim(set, among);
      out = place(at, line);
    }
    way_[at].valid |= sectors;
    way_[at].dirty |= dirty;
    touch(at);
    return out;
  }
  /// Least recently used way that is not locked, or kAbsent.
  unsigned victim(unsigned set) const {
    const unsigned begin = set << shift_;
    const std::uint8_t* rank = ranks(set);
    if (locks_ == 0) return begin + oldest(rank);
    unsigned best = kAbsent;
    for (unsigned w = 0; w < ways_; ++w)
      if (way_[begin + w].locked == 0 && (best == kAbsent || rank[w] > rank[best])) best = w;
    return best == kAbsent ? kAbsent : begin + best;
  }
  /// The same of some ways. Precondition: the mask names one of the cache's.
  unsigned victim(unsigned set, WayMask among) const {
    RADDLE_ASSERT(ways_ <= kMaskedWays && (among & low_bits(ways_)) != 0);
    const unsigned begin = set << shift_;
    const std::uint8_t* rank = ranks(set);
    unsigned best = kAbsent;
    for (WayMask left = among & low_bits(ways_); left != 0; left &= left - 1) {
      const unsigned w = lowest(left);
      if (way_[begin + w].locked == 0 && (best == kAbsent || rank[w] > rank[best])) best = w;
    }
    return best == kAbsent ? kAbsent : begin + best;
  }
  /// Of a set: ways that hold nothing and wait for nothing, those that are not locked, and how many
  /// of the set's ways were used later than each. For who decides about replacement himself.
  struct Set {
    WayMask empty = 0, unlocked = 0;
    std::span<const std::uint8_t> order;
  };
  Set look(unsigned set) const {
    RADDLE_ASSERT(ways_ <= kMaskedWays);
    Set out{0, 0, {ranks(set), ways_}};
    for (unsigned w = 0; w < ways_; ++w) {
      const Way& way = way_[(set << shift_) + w];
      out.unlocked |= WayMask{way.locked == 0} << w;
      out.empty |= WayMask{(way.valid | way.locked) == 0} << w;
    }
    return out;
  }
  unsigned handle(unsigned set, unsigned way) const { return (set << shift_) + way; }
  unsigned set_of(unsigned at) const { return at >> shift_; }
  unsigned way_in_set(unsigned at) const { return at & ((1u << shift_) - 1); }
  /// Gives the way to `line`, no sector valid yet. What was there is returned.
  Victim place(unsigned at, std::uint32_t line) {
    Way& way = way_[at];
    const Victim out{way.line, way.valid, way.dirty};
    way.line = line;
    way.valid = way.dirty = 0;
    signatures(at >> shift_)[way_in_set(at)] = signature(line);
    return out;
  }
  void lock(unsigned at) {
    locks_ += way_[at].locked == 0;
    way_[at].locked = 1;
  }
  void unlock(unsigned at) {
    locks_ -= way_[at].locked;
    way_[at].locked = 0;
  }
  /// Forgets the sectors of a line; an unlocked way becomes the first to be given away.
  void invalidate(unsigned at) {
    way_[at].valid = way_[at].dirty = 0;
    if (way_[at].locked != 0) return;
    std::uint8_t* rank = ranks(at >> shift_);
    std::uint8_t& mine = rank[way_in_set(at)];
    const std::uint8_t old = mine;
    for (unsigned w = 0; w < ways_; ++w)
      if (rank[w] > old) --rank[w];
    mine = static_cast<std::uint8_t>(ways_ - 1);
  }
  /// Invalidates every way, from the first to the last.
  void invalidate_all() {
    for (unsigned set = 0; set < way_.size() >> shift_; ++set) {
      const unsigned begin = set << shift_;
      if (locks_ != 0) {
        for (unsigned w = 0; w < ways_; ++w) invalidate(begin + w);
        continue;
      }
      for (unsigned w = 0; w < ways_; ++w) way_[begin + w].valid = way_[begin + w].dirty = 0;
      std::iota(ranks(set), ranks(set) + ways_, std::uint8_t{0});
    }
  }

 private:
  static constexpr unsigned kChunk = 32, kAligned = 64 / kChunk;
  static constexpr std::uint8_t kNoRank = 255;  // of no way, unless there are 256
  using Bytes = std::uint8_t __attribute__((vector_size(kChunk)));
  struct alignas(64) Row {
    std::uint8_t byte[64] = {};
  };
  struct Way {
    std::uint32_t line = 0;
    std::uint8_t valid = 0, dirty = 0;  // sectors
    std::uint8_t locked = 0;
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
  /// The way of the highest rank.
  unsigned oldest(const std::uint8_t* rank) const {
    const auto highest = static_cast<std::uint8_t>(ways_ - 1);
    for (unsigned c = 0;; ++c)
      if (const std::uint32_t match = matches(rank + c * kChunk, highest); match != 0)
        return c * kChunk + lowest(match);
  }
  const std::uint8_t* signatures(unsigned set) const {
    return row_[0].byte + std::size_t{set} * row_chunks_ * kChunk;
  }
  std::uint8_t* signatures(unsigned set) {
    return row_[0].byte + std::size_t{set} * row_chunks_ * kChunk;
  }
  const std::uint8_t* ranks(unsigned set) const {
    return signatures(set) + row_chunks_ / 2 * kChunk;
  }
  std::uint8_t* ranks(unsigned set) { return signatures(set) + row_chunks_ / 2 * kChunk; }

  unsigned ways_, shift_;        // sets are 1 << shift_ ways apart
  unsigned chunks_, last_mask_;  // chunks of ways; which of the last exist
  unsigned row_chunks_;          // of a set's signatures and ranks
  unsigned locks_ = 0;           // locked ways of all sets
  std::vector<Row> row_;         // by set: signatures, then ranks (0: used last)
  std::vector<Way> way_;
};

}  // namespace raddle::timing
