// Where the lines of sets of many ways are, and when each was used. A look-up reads a hash table,
// where lines stand beside their handles, so that an absent one mostly costs one line of the host's
// cache; a use moves the way to the head of its set's list. Neither depends on the number of ways.
// Sets of a few: set_rows.h.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "raddle/base/error.h"
#include "raddle/base/prefetch.h"
#include "raddle/base/zeroed_array.h"

namespace raddle::timing {

class SetLists {
 public:
  /// Sets are 1 << shift ways apart.
  SetLists(unsigned sets, unsigned ways, unsigned shift)
      : ways_(ways),
        shift_(shift),
        hash_shift_(static_cast<unsigned>(std::countl_zero(std::bit_ceil(sets) << shift))),
        place_(std::size_t{1} << (32 - hash_shift_)),
        later_(std::size_t{sets} << shift),
        earlier_(later_.size()),
        newest_(sets, static_cast<std::uint16_t>(ways - 1)) {
    RADDLE_ASSERT(later_.size() <= kMaxHandles && ways >= 1 && ways <= 0x10000);
    RADDLE_ASSERT(place_.size() >= 2 * later_.size());    // half of it stays free
    for (unsigned set = 0; set < sets; ++set) link(set);  // empty ways are given out from the first
  }
  static constexpr std::size_t kMaxHandles = std::size_t{1} << 30;

  /// The way that holds the line and of which is(way) holds, or `none`.
  template <class Is>
  unsigned find(unsigned set, std::uint32_t line, unsigned none, Is is) const {
    for (unsigned i = hash(line); place_[i].at != 0; i = after(i))
      if (const unsigned h = place_[i].at - 1;
          place_[i].line == line && h >> shift_ == set && is(h & low()))
        return h & low();
    return none;
  }
  void prefetch_line(std::uint32_t line) const { raddle::prefetch(&place_[hash(line)]); }
  /// The way, which held `old` if `was_placed`, holds the line.
  void place(unsigned set, unsigned way, bool was_placed, std::uint32_t old, std::uint32_t line) {
    const std::uint32_t at = (set << shift_) + way + 1;
    if (was_placed) remove(old, at);
    unsigned i = hash(line);
    while (place_[i].at != 0) i = after(i);
    place_[i] = {line, at};
  }
  /// Most recently used from now on.
  void touch(unsigned set, unsigned way) {
    if (newest_[set] == way) return;
    move_before_newest(set, way);
    newest_[set] = static_cast<std::uint16_t>(way);
  }
  /// Used longest ago from now on: in the ring that is the place before the newest.
  void make_oldest(unsigned set, unsigned way) {
    if (newest_[set] == way) {
      newest_[set] = earlier(set, way);
      return;
    }
    move_before_newest(set, way);
  }
  unsigned oldest(unsigned set) const { return later(set, newest_[set]); }
  /// Of those of which is(way) holds, the one that was used longest ago, or `none`.
  template <class Is>
  unsigned oldest(unsigned set, unsigned none, Is is) const {
    unsigned way = oldest(set);
    for (unsigned left = ways_; left != 0; --left, way = later(set, way))
      if (is(way)) return way;
    return none;
  }
  /// The first way was used last, the next before it, and so on.
  void order_by_number(unsigned set) {
    const unsigned begin = set << shift_;
    for (unsigned w = 0; w < ways_; ++w) {
      later_[begin + w] = static_cast<std::uint16_t>(w == 0 ? ways_ - 1 : w - 1);
      earlier_[begin + w] = static_cast<std::uint16_t>(w + 1 == ways_ ? 0 : w + 1);
    }
    newest_[set] = 0;
  }

 private:
  unsigned low() const { return (1u << shift_) - 1; }
  unsigned hash(std::uint32_t line) const { return line * 0x9e3779b1u >> hash_shift_; }
  unsigned after(unsigned i) const { return (i + 1) & mask(); }
  unsigned mask() const { return static_cast<unsigned>(place_.size()) - 1; }
  /// Those behind it move up, as far as they may without passing the place of their hash.
  void remove(std::uint32_t line, std::uint32_t at) {
    unsigned hole = hash(line);
    while (place_[hole].at != at) hole = after(hole);
    for (unsigned i = after(hole); place_[i].at != 0; i = after(i)) {
      const unsigned from_home = (i - hash(place_[i].line)) & mask();
      if (from_home < ((i - hole) & mask())) continue;
      place_[hole] = place_[i];
      hole = i;
    }
    place_[hole] = {};
  }
  std::uint16_t later(unsigned set, unsigned way) const { return later_[(set << shift_) + way]; }
  std::uint16_t earlier(unsigned set, unsigned way) const {
    return earlier_[(set << shift_) + way];
  }
  /// The ring of a set: the last way is the newest, the first the oldest.
  void link(unsigned set) {
    const unsigned begin = set << shift_;
    for (unsigned w = 0; w < ways_; ++w) {
      later_[begin + w] = static_cast<std::uint16_t>(w + 1 == ways_ ? 0 : w + 1);
      earlier_[begin + w] = static_cast<std::uint16_t>(w == 0 ? ways_ - 1 : w - 1);
    }
  }
  /// Between the newest and the oldest, which are neighbours in the ring.
  void move_before_newest(unsigned set, unsigned way) {
    const unsigned begin = set << shift_, newest = newest_[set];
    std::uint16_t *const later = &later_[begin], *const earlier = &earlier_[begin];
    if (later[newest] == way) return;
    later[earlier[way]] = later[way];
    earlier[later[way]] = earlier[way];
    const std::uint16_t oldest = later[newest];
    later[newest] = earlier[oldest] = static_cast<std::uint16_t>(way);
    earlier[way] = static_cast<std::uint16_t>(newest);
    later[way] = oldest;
  }

  struct Place {
    std::uint32_t line, at;  // the line's handle and 1; 0: free
  };

  unsigned ways_, shift_, hash_shift_;
  ZeroedArray<Place> place_;                    // from the hash of a line on
  std::vector<std::uint16_t> later_, earlier_;  // by handle: ways of the set, in a ring by use
  std::vector<std::uint16_t> newest_;           // by set
};

}  // namespace raddle::timing
