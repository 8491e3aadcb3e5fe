// Tags of a sectored set-associative cache with LRU replacement; any number of sets, up to 8 sectors a line.
// A line gets its way when data is filled or written, never at the miss, so a miss cannot fail for lack of a way.
#pragma once
#include <algorithm>
#include <cstdint>
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
      : ways_(ways), tag_(sets * ways), stamp_(sets * ways), valid_(sets * ways), dirty_(sets * ways) {}

  /// Handle of a present line, or kAbsent. Handles hold until the next fill() of the set.
  unsigned find(unsigned set, std::uint32_t line) const {
    for (unsigned at = set * ways_, end = at + ways_; at < end; ++at)
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
  /// Forgets one line (write-evict).
  void drop(unsigned at) { valid_[at] = dirty_[at] = 0, stamp_[at] = 0; }
  /// Forgets everything, dirty or not.
  void clear() {
    for (unsigned at = 0; at < tag_.size(); ++at) drop(at);
  }

 private:
  unsigned oldest(unsigned set) const {
    unsigned best = set * ways_;
    for (unsigned at = best + 1, end = best + ways_; at < end; ++at)
      if (stamp_[at] < stamp_[best]) best = at;
    return best;
  }
  std::uint32_t tick() {
    if (++clock_ == 0) {  // once in 2^32 touches the order of use is forgotten
      std::fill(stamp_.begin(), stamp_.end(), 0);
      clock_ = 1;
    }
    return clock_;
  }
  unsigned ways_;
  std::uint32_t clock_ = 0;
  std::vector<std::uint32_t> tag_, stamp_;
  std::vector<std::uint8_t> valid_, dirty_;
};

}  // namespace raddle::timing
