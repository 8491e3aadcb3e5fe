// What the host of a GPU that shares its memory reads and writes before the next launch
// (coherence.host; cache/host_traffic.h says what that does): a list of accesses, taken line by
// line in the order in which the host made them.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "raddle/timing/cache/host_traffic.h"

namespace raddle::timing {

class HostAccesses {
 public:
  void add(const HostAccess& access) {
    if (access.bytes != 0) accesses_.push_back(access);
  }
  bool empty() const { return accesses_.empty(); }
  /// line(HostLine) for each line; forgets them. Its words are those that the access touches.
  template <class Line>
  void take(std::uint32_t line_bytes, Line line) {
    for (const HostAccess& access : std::exchange(accesses_, {})) {
      const Address end = access.at + access.bytes;
      for (Address i = access.at / line_bytes; i * line_bytes < end; ++i)
        line(HostLine{.line = static_cast<std::uint32_t>(i),
                      .words = words_of(i * line_bytes, line_bytes, access.at, end),
                      .write = access.write});
    }
  }

 private:
  /// Of the line that begins at `begin`, the words in which bytes from..to-1 lie.
  static WordMask words_of(Address begin, std::uint32_t line_bytes, Address from, Address to) {
    WordMask words = 0;
    for (unsigned w = 0; w < line_bytes / 4 && w < 16; ++w)
      if (begin + 4 * w + 4 > from && begin + 4 * w < to) words |= static_cast<WordMask>(1u << w);
    return words;
  }
  std::vector<HostAccess> accesses_;
};

}  // namespace raddle::timing
