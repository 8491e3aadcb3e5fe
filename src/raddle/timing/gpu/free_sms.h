// Which SMs can hold one more block of which grid. Grids whose blocks need the same of an SM share
// one set, so however many grids have blocks left, a block that comes or goes changes few sets.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "raddle/base/error.h"
#include "raddle/base/mask.h"
#include "raddle/base/types.h"
#include "raddle/timing/code/occupancy.h"

namespace raddle::timing {

/// What decides where a block fits.
struct BlockKind {
  BlockNeeds needs;
  TenantId tenant{};
  unsigned kernel = 0;  ///< its entry, where an SM holds blocks of one kernel at a time
  friend bool operator==(const BlockKind&, const BlockKind&) = default;
};

class FreeSms {
 public:
  /// A grid with blocks like that has begun: which set is its own. fits(sm) is asked for each SM
  /// when nobody had such blocks before.
  template <class Fits>
  unsigned add(const BlockKind& kind, unsigned sms, Fits fits) {
    unsigned vacant = static_cast<unsigned>(kinds_.size());
    for (unsigned i = 0; i < kinds_.size(); ++i) {
      if (kinds_[i].grids == 0) {
        vacant = i;
      } else if (kinds_[i].is == kind) {
        ++kinds_[i].grids;
        return i;
      }
    }
    if (vacant == kinds_.size()) {
      kinds_.emplace_back();
      sets_.emplace_back();
    }
    kinds_[vacant] = {kind, 1};
    sets_[vacant] = {};
    for (unsigned sm = 0; sm < sms; ++sm)
      if (fits(sm)) sets_[vacant].set(sm);
    return vacant;
  }
  /// One of its grids has no blocks left.
  void remove(unsigned kind) {
    RADDLE_ASSERT(kinds_[kind].grids != 0);
    if (--kinds_[kind].grids == 0) sets_[kind] = {};
  }
  /// What is free on the SM has changed: fits(kind) says for what.
  template <class Fits>
  void update(unsigned sm, Fits fits) {
    for (std::size_t i = 0; i < kinds_.size(); ++i) {
      if (kinds_[i].grids == 0) continue;
      if (fits(kinds_[i].is)) sets_[i].set(sm);
      else sets_[i].clear(sm);
    }
  }
  /// Does a block of some grid fit an SM that is not in `served`?
  bool any(const SmSet& served) const {
    for (const SmSet& set : sets_)
      if ((set - served).any()) return true;
    return false;
  }
  std::span<const SmSet> sets() const { return sets_; }
  const SmSet& operator[](unsigned kind) const { return sets_[kind]; }

 private:
  struct Kind {
    BlockKind is;
    std::uint32_t grids = 0;  // with blocks left
  };
  std::vector<Kind> kinds_;
  std::vector<SmSet> sets_;  // empty where no grid is
};

}  // namespace raddle::timing
