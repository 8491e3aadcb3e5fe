// Who hits on whose line. A hit is intra-warp when the warp that brought the line is the one that
// hits, else inter-warp; an intra-warp hit is intra-thread when one of its lanes has touched the
// line before while it was there, else inter-thread (CCWS, section 1 and figure 11). A warp is a
// warp: the next one in the same slot is another.
#pragma once
#include <array>
#include <cstdint>

#include "raddle/analysis/line_map.h"
#include "raddle/policy/observer.h"

namespace raddle::analysis {

struct HitClasses {
  std::uint64_t intra_thread = 0, inter_thread = 0, inter_warp = 0;
  std::uint64_t total() const { return intra_thread + inter_thread + inter_warp; }
  HitClasses& operator+=(const HitClasses& o) {
    intra_thread += o.intra_thread;
    inter_thread += o.inter_thread;
    inter_warp += o.inter_warp;
    return *this;
  }
};

/// Of a line that is there: the warp that brought it, and the lanes with which that warp has
/// touched it since.
struct LineOwner {
  std::uint32_t warp = 0;
  LaneMask lanes = 0;
  void touch(std::uint32_t by, LaneMask with) {
    if (by == warp) lanes |= with;
  }
  void count_hit(std::uint32_t by, LaneMask with, HitClasses& classes) const {
    ++(by != warp            ? classes.inter_warp
       : (lanes & with) != 0 ? classes.intra_thread
                             : classes.inter_thread);
  }
};

struct LocalityCounts {
  std::uint64_t accesses = 0, pending_hits = 0, misses = 0;  ///< loads of lines
  HitClasses hits;                                           ///< their data was there
  HitClasses pending;  ///< pending hits; owner = the warp whose miss asked for the data
  std::uint64_t warps = 0;
  std::uint64_t warp_lines = 0;  ///< distinct lines that a warp loads, summed over the warps
  LocalityCounts& operator+=(const LocalityCounts& o);
};

/// Classes of what one SM's L1D answers in a timing run. Keeps the lines that are there or on their
/// way, and those each resident warp has loaded.
class LocalityObserver final : public policy::L1Observer {
 public:
  void access(const policy::L1Access& e) override;
  void evicted(const policy::L1Eviction& e) override { present_.erase(e.line); }
  void filled(const policy::L1Fill& e) override;
  void warp_started(const policy::WarpStart& e) override;
  LocalityCounts counts() const;

 private:
  struct Pending {
    LineOwner owner;
    unsigned requests = 0;  // under way; several where a line has sectors
  };
  void load(const policy::L1Access& e, std::uint32_t warp);
  void store(const policy::L1Access& e, std::uint32_t warp);

  struct Nothing {};

  LocalityCounts counts_;
  std::array<std::uint32_t, 64> warp_{};     // by slot
  std::array<LineMap<Nothing>, 64> loaded_;  // by slot: the lines its warp has loaded
  LineMap<LineOwner> present_;
  LineMap<Pending> pending_;
};

}  // namespace raddle::analysis
