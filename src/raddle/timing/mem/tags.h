// Tags of a sectored set-associative cache with LRU replacement; any number of sets, up to 8
// sectors a line. A line gets its way when data is filled or written, never at the miss, so a miss
// cannot fail for lack of a way.
#pragma once
#include <algorithm>
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

  Tags(unsigned sets, unsigned ways)
      : ways_(ways),
        stride_((ways + 3) / 4 * 4),
        tag_(sets * stride_),
        stamp_(sets * stride_),
        valid_(sets * stride_),
        dirty_(sets * stride_) {}

  /// Handle of a present line, or kAbsent. Handles hold until the next fill() of the set.
  unsigned find(unsigned set, std::uint32_t line) const {
    unsigned at = set * stride_, end = at + ways_;
    if (!may_have(&tag_[at], line)) return kAbsent;
    for (; at < end; ++at)
      if (tag_[at] == line && valid_[at] != 0) return at;
    return kAbsent;
  }
  std::uint8_t valid(unsigned at) const { return valid_[at]; }
  /// Most recently used from now on.
  void touch(unsigned at) { stamp_[at] = tick(); }
  void mark_dirty(unsigned at, std::uint8_t sectors) { dirty_[at] |= sectors; }
  /// Adds sectors to a line, making room for it in its set if it is absent, and touches it.
  Victim fill(unsigned set, std::uint32_t line, std::uint8_t sectors, std::uint8_t dirty) {
    Victim out{0, 0, 0};
    unsigned at = find(set, line);
    if (at == kAbsent) {
      at = oldest(set);
      out = {tag_[at], valid_[at], dirty_[at]};
      tag_[at] = line, valid_[at] = dirty_[at] = 0;
    }
    valid_[at] |= sectors, dirty_[at] |= dirty;
    touch(at);
    return out;
  }

 private:
  /// Whether a set has such a tag, valid or not: four at a time and without a branch, for most
  /// look-ups are in vain.
  bool may_have(const std::uint32_t* tag, std::uint32_t line) const {
    typedef std::uint32_t Four __attribute__((vector_size(16)));
    Four wanted = {line, line, line, line}, hit = {};
    for (unsigned w = 0; w < stride_; w += 4) {
      Four four;
      std::memcpy(&four, tag + w, sizeof four);
      hit |= reinterpret_cast<Four>(four == wanted);
    }
    std::uint64_t halves[2];
    std::memcpy(halves, &hit, sizeof halves);
    return (halves[0] | halves[1]) != 0;
  }
  unsigned oldest(unsigned set) const {
    unsigned best = set * stride_;
    std::uint32_t lowest = stamp_[best];
    for (unsigned at = best + 1, end = best + ways_; at < end; ++at) {
      best = stamp_[at] < lowest ? at : best;
      lowest = std::min(lowest, stamp_[at]);
    }
    return best;
  }
  std::uint32_t tick() {
    if (++clock_ == 0) {  // once in 2^32 touches the order of use is forgotten
      std::fill(stamp_.begin(), stamp_.end(), 0);
      clock_ = 1;
    }
    return clock_;
  }
  unsigned ways_, stride_;  // ways in storage: a multiple of four, those beyond ways_ never valid
  std::uint32_t clock_ = 0;
  std::vector<std::uint32_t> tag_, stamp_;
  std::vector<std::uint8_t> valid_, dirty_;
};

}  // namespace raddle::timing
