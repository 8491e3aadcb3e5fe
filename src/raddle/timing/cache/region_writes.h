// Which regions of memory have been written, and when: what an L1 has to know to keep Valid words
// across an acquire (option ro_regions of DeNovo; Sinclair et al., MICRO 2015;
// docs/mechanisms/ikra.md and A-I10).
//
// There, software declares regions that are only read. Here nobody has to declare anything: a
// region counts as read-only for as long as nobody writes it, which is what a perfect declaration
// would say. An L1 notes what its SM writes, and the Gpu gathers the notes between windows, so that
// all L1s see the same during a window.
#pragma once
#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "raddle/base/types.h"

namespace raddle::timing {

struct RegionWrite {
  std::uint32_t region;
  Cycle at;
};

class RegionWrites {
 public:
  static constexpr std::uint32_t kBytes = 4096;  ///< of a region: a page
  static constexpr std::uint32_t region_of_line(std::uint32_t line) { return line / (kBytes / 64); }

  /// Moves the notes of one L1 here. An acquire in the window of a write may have missed it, so the
  /// write counts as one of the window's end.
  void gather(std::vector<RegionWrite>& notes, Cycle window) {
    for (const RegionWrite& w : notes) wrote({w.region, (w.at / window + 1) * window});
    notes.clear();
  }
  /// These bytes were written by somebody else at `now`, while no L1 was in use.
  void wrote(Address at, std::uint64_t bytes, Cycle now) {
    if (bytes == 0) return;
    const std::uint64_t last = (at + bytes - 1) / kBytes;
    for (std::uint64_t region = at / kBytes; region <= last; ++region)
      wrote({static_cast<std::uint32_t>(region), now});
  }
  /// Has the region been written at `cycle` or later?
  bool since(std::uint32_t region, Cycle cycle) const {
    const auto last = last_.find(region);
    return last != last_.end() && last->second >= cycle;
  }

 private:
  void wrote(const RegionWrite& w) {
    Cycle& last = last_.try_emplace(w.region, w.at).first->second;
    last = std::max(last, w.at);
  }
  std::unordered_map<std::uint32_t, Cycle> last_;
};

}  // namespace raddle::timing
