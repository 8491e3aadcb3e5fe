// The victim tag array of cache-conscious warp scheduling: for each warp slot a small
// set-associative array of the tags of lines that the slot's warp had brought into the L1D and that
// were pushed out. Rogers, O'Connor, Aamodt, MICRO 2012, section 3.3.3; docs/mechanisms/ccws.md, rules 2
// and 3.
//
// Where the paper is silent (A-C4, after its authors' released simulator): a set is a first-in
// first-out queue; inserting a tag that is there makes it the newest; a tag that is found stays; a
// store removes a line's tag from all arrays. Nothing is forgotten when another warp takes the
// slot: what the hardware keeps is by slot, as are the marks on the cache's lines.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "raddle/base/error.h"

namespace raddle::policy {

class VictimTags {
 public:
  /// `entries` of each warp, in sets of `ways`. Precondition: ways divides entries.
  VictimTags(unsigned warps, unsigned entries, unsigned ways)
      : warps_(warps),
        ways_(ways),
        sets_(entries / ways),
        tag_(std::size_t{warps} * entries),
        used_(std::size_t{warps} * sets_) {
    RADDLE_ASSERT(ways != 0 && entries % ways == 0);
  }

  bool holds(unsigned warp, std::uint32_t line) const {
    const std::size_t array = array_of(warp, line);
    const auto first = tag_.begin() + at(array);
    return std::find(first, first + used_[array], line) != first + used_[array];
  }
  void insert(unsigned warp, std::uint32_t line) {
    const std::size_t array = array_of(warp, line);
    const auto first = tag_.begin() + at(array);
    auto leaves = std::find(first, first + used_[array], line);
    if (leaves == first + used_[array]) {  // not there
      if (used_[array] < ways_) {
        tag_[static_cast<std::size_t>(at(array)) + used_[array]++] = line;
        return;
      }
      leaves = first;
    }
    std::move(leaves + 1, first + used_[array], leaves);
    *(first + used_[array] - 1) = line;
  }
  /// From the arrays of all warps.
  void remove(std::uint32_t line) {
    const std::size_t begin = array_of(0, line);
    for (std::size_t array = begin; array < begin + warps_; ++array) {
      const auto first = tag_.begin() + at(array);
      const auto end = first + used_[array], found = std::find(first, end, line);
      if (found == end) continue;
      std::move(found + 1, end, found);
      --used_[array];
    }
  }
  void clear() { std::fill(used_.begin(), used_.end(), std::uint16_t{0}); }

 private:
  /// A set of a warp; the sets of all warps that a line may be in lie side by side.
  std::size_t array_of(unsigned warp, std::uint32_t line) const {
    return std::size_t{line % sets_} * warps_ + warp;
  }
  std::ptrdiff_t at(std::size_t array) const { return static_cast<std::ptrdiff_t>(array * ways_); }

  unsigned warps_, ways_, sets_;
  std::vector<std::uint32_t> tag_;   // by array, from the oldest on
  std::vector<std::uint16_t> used_;  // by array
};

}  // namespace raddle::policy
