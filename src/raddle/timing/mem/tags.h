// Tags of a sectored set-associative cache with LRU replacement; any number of sets, up to 256 ways
// and up to 8 sectors a line. Shared by L1 and L2. A line has a way from fill() or place() on; a
// locked way waits for its data and is neither found empty nor given away.
//
// A look-up compares eight-bit signatures of the lines, sixteen ways at once, and reads the tag of
// a way only where they agree: one cache line of the host instead of four for 64 ways. Replacement
// is this file's touch() and victim() and nobody else's business.
#pragma once
#include <bit>
#include <cstdint>
#include <vector>

#include "raddle/base/error.h"
#include "raddle/base/mask.h"
#ifdef __SSE2__
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

  Tags(unsigned sets, unsigned ways)
      : ways_(ways),
        shift_(static_cast<unsigned>(std::countr_zero(std::bit_ceil(ways)))),
        last_chunk_((ways - 1) / kChunk * kChunk),
        last_mask_(static_cast<unsigned>(low_bits(ways - last_chunk_))),
        signature_((std::size_t{sets} << shift_) + kChunk, 0),
        tag_(std::size_t{sets} << shift_, 0),
        way_(std::size_t{sets} << shift_),
        locked_(std::size_t{sets} << shift_, 0),
        ends_(sets) {
    RADDLE_ASSERT(ways >= 1 && ways <= kMaxWays);
    for (unsigned set = 0; set < sets; ++set) {  // empty ways are given out from the first
      for (unsigned w = 0; w < ways; ++w)
        way_[(set << shift_) + w] = {0, 0, static_cast<std::uint8_t>(w + 1),
                                     static_cast<std::uint8_t>(w - 1)};
      ends_[set] = {static_cast<std::uint8_t>(ways - 1), 0};
    }
  }

  /// Handle of a present line (some sector valid, or locked), or kAbsent. Handles hold until the
  /// line is pushed out.
  unsigned find(unsigned set, std::uint32_t line) const {
    const unsigned begin = set << shift_;
    const std::uint8_t wanted = signature(line);
    for (unsigned w = 0; w <= last_chunk_; w += kChunk) {
      unsigned match = matches(&signature_[begin + w], wanted);
      if (w == last_chunk_) match &= last_mask_;
      for (; match != 0; match &= match - 1) {
        const unsigned at = begin + w + lowest(match);
        if (tag_[at] == line && (way_[at].valid != 0 || locked_[at] != 0)) return at;
      }
    }
    return kAbsent;
  }
  std::uint32_t line(unsigned at) const { return tag_[at]; }
  std::uint8_t valid(unsigned at) const { return way_[at].valid; }
  std::uint8_t dirty(unsigned at) const { return way_[at].dirty; }
  /// Handles are below this.
  std::size_t handles() const { return tag_.size(); }
  /// visit(handle) for every line with a valid sector.
  template <class F>
  void each(F visit) const {
    for (unsigned at = 0; at < tag_.size(); ++at)
      if (way_[at].valid != 0) visit(at);
  }
  void add_valid(unsigned at, std::uint8_t sectors) { way_[at].valid |= sectors; }
  void mark_dirty(unsigned at, std::uint8_t sectors) { way_[at].dirty |= sectors; }
  /// Most recently used from now on.
  void touch(unsigned at) {
    const unsigned set = at >> shift_;
    const auto w = static_cast<std::uint8_t>(at - (set << shift_));
    if (ends_[set].newest == w) return;
    unlink(set, w);
    Way* way = &way_[set << shift_];
    way[w].older = ends_[set].newest;
    way[ends_[set].newest].newer = w;
    ends_[set].newest = w;
  }
  /// Adds sectors to a line, making room for it in its set if it is absent, and touches it.
  /// Precondition: a way of the set is not locked.
  Victim fill(unsigned set, std::uint32_t line, std::uint8_t sectors, std::uint8_t dirty) {
    unsigned at = find(set, line);
    return fill(set, line, sectors, dirty, at);
  }
  /// The same when find() has been asked already; `at` becomes the line's handle.
  Victim fill(unsigned set, std::uint32_t line, std::uint8_t sectors, std::uint8_t dirty,
              unsigned& at) {
    Victim out{0, 0, 0};
    if (at == kAbsent) {
      at = victim(set);
      out = place(at, line);
    }
    way_[at].valid |= sectors, way_[at].dirty |= dirty;
    touch(at);
    return out;
  }
  /// Least recently used way that is not locked, or kAbsent.
  unsigned victim(unsigned set) const {
    const unsigned begin = set << shift_;
    std::uint8_t w = ends_[set].oldest;
    if (locks_ == 0) return begin + w;
    for (unsigned n = ways_; n > 0; --n, w = way_[begin + w].newer)
      if (locked_[begin + w] == 0) return begin + w;
    return kAbsent;
  }
  /// Gives the way to `line`, no sector valid yet. What was there is returned.
  Victim place(unsigned at, std::uint32_t line) {
    const Victim out{tag_[at], way_[at].valid, way_[at].dirty};
    tag_[at] = line, signature_[at] = signature(line);
    way_[at].valid = way_[at].dirty = 0;
    return out;
  }
  void lock(unsigned at) { locks_ += locked_[at] == 0, locked_[at] = 1; }
  void unlock(unsigned at) { locks_ -= locked_[at], locked_[at] = 0; }
  /// Forgets the sectors of a line; an unlocked way becomes the first to be given away.
  void invalidate(unsigned at) {
    way_[at].valid = way_[at].dirty = 0;
    if (locked_[at] != 0) return;
    const unsigned set = at >> shift_;
    const auto w = static_cast<std::uint8_t>(at - (set << shift_));
    if (ends_[set].oldest == w) return;
    unlink(set, w);
    Way* way = &way_[set << shift_];
    way[w].newer = ends_[set].oldest;
    way[ends_[set].oldest].older = w;
    ends_[set].oldest = w;
  }
  void invalidate_all() {
    for (unsigned set = 0; set < ends_.size(); ++set)
      for (unsigned w = 0; w < ways_; ++w) invalidate((set << shift_) + w);
  }

 private:
  static constexpr unsigned kChunk = 16;
  struct Way {
    std::uint8_t valid, dirty;  // sectors
    std::uint8_t newer, older;  // order of use within the set; meaningless beyond its ends
  };
  struct Ends {
    std::uint8_t newest, oldest;
  };

  static std::uint8_t signature(std::uint32_t line) {
    return static_cast<std::uint8_t>(line * 0x9e3779b1u >> 24);
  }
  /// Bit i: the i-th of sixteen bytes is `wanted`.
  static unsigned matches(const std::uint8_t* bytes, std::uint8_t wanted) {
#ifdef __SSE2__
    const __m128i all = _mm_set1_epi8(static_cast<char>(wanted));
    const __m128i here = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
    return static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(all, here)));
#else
    unsigned out = 0;
    for (unsigned i = 0; i < kChunk; ++i) out |= (bytes[i] == wanted ? 1u : 0u) << i;
    return out;
#endif
  }
  void unlink(unsigned set, std::uint8_t w) {
    Way* way = &way_[set << shift_];
    if (ends_[set].oldest == w) ends_[set].oldest = way[w].newer;
    else way[way[w].older].newer = way[w].newer;
    if (ends_[set].newest == w) ends_[set].newest = way[w].older;
    else way[way[w].newer].older = way[w].older;
  }

  unsigned ways_, shift_;            // sets are 1 << shift_ ways apart
  unsigned last_chunk_, last_mask_;  // first way of the last comparison; which of it exist
  unsigned locks_ = 0;               // locked ways of all sets
  std::vector<std::uint8_t> signature_;
  std::vector<std::uint32_t> tag_;
  std::vector<Way> way_;
  std::vector<std::uint8_t> locked_;
  std::vector<Ends> ends_;
};

}  // namespace raddle::timing
