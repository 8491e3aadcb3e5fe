// Tags of a sectored set-associative cache with LRU replacement; any number of sets, up to 256 ways
// and up to 8 sectors a line. Shared by L1 and L2. A line has a way from fill() or place() on; a
// locked way waits for its data and is neither found empty nor given away.
#pragma once
#include <cstdint>
#include <cstring>
#include <vector>

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
        stride_((ways + kChunk - 1) / kChunk * kChunk),
        tag_(sets * stride_, 0),
        way_(sets * stride_),
        ends_(sets) {
    for (unsigned set = 0; set < sets; ++set) {  // empty ways are given out from the first
      for (unsigned w = 0; w < ways; ++w)
        way_[set * stride_ + w] = {0, 0, static_cast<std::uint8_t>(w + 1),
                                   static_cast<std::uint8_t>(w - 1), false};
      ends_[set] = {static_cast<std::uint8_t>(ways - 1), 0};
    }
  }

  /// Handle of a present line (some sector valid, or locked), or kAbsent. Handles hold until the
  /// line is pushed out.
  unsigned find(unsigned set, std::uint32_t line) const {
    const unsigned begin = set * stride_, end = begin + ways_;
    for (unsigned at = begin; at < end; at += kChunk) {
      if (!chunk_has(&tag_[at], line)) continue;
      for (unsigned i = at; i < end && i < at + kChunk; ++i)
        if (tag_[i] == line && (way_[i].valid != 0 || way_[i].locked)) return i;
    }
    return kAbsent;
  }
  std::uint8_t valid(unsigned at) const { return way_[at].valid; }
  void add_valid(unsigned at, std::uint8_t sectors) { way_[at].valid |= sectors; }
  void mark_dirty(unsigned at, std::uint8_t sectors) { way_[at].dirty |= sectors; }
  /// Most recently used from now on.
  void touch(unsigned at) {
    const unsigned set = at / stride_;
    const auto w = static_cast<std::uint8_t>(at - set * stride_);
    if (ends_[set].newest == w) return;
    unlink(set, w);
    Way* way = &way_[set * stride_];
    way[w].older = ends_[set].newest;
    way[ends_[set].newest].newer = w;
    ends_[set].newest = w;
  }
  /// Adds sectors to a line, making room for it in its set if it is absent, and touches it.
  /// Precondition: a way of the set is not locked.
  Victim fill(unsigned set, std::uint32_t line, std::uint8_t sectors, std::uint8_t dirty) {
    Victim out{0, 0, 0};
    unsigned at = find(set, line);
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
    const Way* way = &way_[set * stride_];
    std::uint8_t w = ends_[set].oldest;
    for (unsigned n = ways_; n > 0; --n, w = way[w].newer)
      if (!way[w].locked) return set * stride_ + w;
    return kAbsent;
  }
  /// Gives the way to `line`, no sector valid yet. What was there is returned.
  Victim place(unsigned at, std::uint32_t line) {
    const Victim out{tag_[at], way_[at].valid, way_[at].dirty};
    tag_[at] = line, way_[at].valid = way_[at].dirty = 0;
    return out;
  }
  void lock(unsigned at) { way_[at].locked = true; }
  void unlock(unsigned at) { way_[at].locked = false; }
  /// Forgets the sectors of a line; an unlocked way becomes the first to be given away.
  void invalidate(unsigned at) {
    way_[at].valid = way_[at].dirty = 0;
    if (way_[at].locked) return;
    const unsigned set = at / stride_;
    const auto w = static_cast<std::uint8_t>(at - set * stride_);
    if (ends_[set].oldest == w) return;
    unlink(set, w);
    Way* way = &way_[set * stride_];
    way[w].newer = ends_[set].oldest;
    way[ends_[set].oldest].older = w;
    ends_[set].oldest = w;
  }
  void invalidate_all() {
    for (unsigned set = 0; set < ends_.size(); ++set)
      for (unsigned w = 0; w < ways_; ++w) invalidate(set * stride_ + w);
  }

 private:
  static constexpr unsigned kChunk = 8;
  struct Way {
    std::uint8_t valid, dirty;  // sectors
    std::uint8_t newer, older;  // order of use within the set; meaningless beyond its ends
    bool locked;
  };
  struct Ends {
    std::uint8_t newest, oldest;
  };

  /// Whether a chunk has such a tag, valid or not: without a branch per way, for most look-ups are
  /// in vain.
  static bool chunk_has(const std::uint32_t* tag, std::uint32_t line) {
    typedef std::uint32_t Four __attribute__((vector_size(16)));
    Four a, b;
    std::memcpy(&a, tag, sizeof a), std::memcpy(&b, tag + 4, sizeof b);
    const Four wanted = {line, line, line, line};
    const auto hit = (a == wanted) | (b == wanted);
    std::uint64_t halves[2];
    std::memcpy(halves, &hit, sizeof halves);
    return (halves[0] | halves[1]) != 0;
  }
  void unlink(unsigned set, std::uint8_t w) {
    Way* way = &way_[set * stride_];
    if (ends_[set].oldest == w) ends_[set].oldest = way[w].newer;
    else way[way[w].older].newer = way[w].newer;
    if (ends_[set].newest == w) ends_[set].newest = way[w].older;
    else way[way[w].newer].older = way[w].older;
  }

  unsigned ways_, stride_;  // ways in storage: whole chunks, those beyond ways_ are never used
  std::vector<std::uint32_t> tag_;
  std::vector<Way> way_;
  std::vector<Ends> ends_;
};

}  // namespace raddle::timing
