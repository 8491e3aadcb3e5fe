// Groups of what runs beside its warp, counted for each warp: copies of cp.async, bulk copies, what
// these read of shared memory, and products of warpgroups (wgmma).
//
// Source of the rules: PTX ISA 9.0, 9.7.9.25 and 9.7.15.7. What a warp issues belongs to its open
// group; ending that group opens the next. Who waits with N goes on when of the groups that have
// ended all but the N youngest are over; what belongs to the open group is not waited for.
//
// A group's number is told to whoever is issued and comes back when that is over, so it does not
// matter what is over first. Numbers have eight bits: of more than 254 groups under way the
// youngest count as one. Left out: a warp that goes on on another SM (warps_abroad.h) has no groups
// there.
//
// Nothing is kept for warps that never issue anything of the kind.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "raddle/base/error.h"
#include "raddle/timing/spec/sm_spec.h"

namespace raddle::timing {

class AsyncGroups {
 public:
  enum class Kind : std::uint8_t { Copies, Bulk, BulkReads, Products };
  static constexpr unsigned kKinds = 4;

  /// A warp takes the slot: it has no groups.
  void start_warp(unsigned warp) {
    if (warp < tracks_.size()) tracks_[warp] = {};
  }
  /// The warp issues something. Returns its group.
  std::uint8_t issued(Kind kind, unsigned warp) {
    Track& track = track_of(kind, warp);
    if (track.under_way.empty() || track.under_way.back().number != track.open)
      track.under_way.push_back({.number = track.open});
    ++track.under_way.back().pending;
    return track.open;
  }
  /// The warp's open group ends.
  void end_group(Kind kind, unsigned warp) {
    Track& track = track_of(kind, warp);
    const bool full = !track.under_way.empty() && age(track, track.under_way.front()) == kOldest;
    if (!full) ++track.open;
  }
  /// Something of the group is over.
  void over(Kind kind, unsigned warp, std::uint8_t number) {
    if (warp >= tracks_.size()) return;  // issued on another SM
    std::vector<Group>& groups = track_of(kind, warp).under_way;
    const auto found = std::ranges::find(groups, number, &Group::number);
    if (found == groups.end()) return;  // the same
    RADDLE_ASSERT(found->pending != 0);
    if (--found->pending == 0) groups.erase(found);
  }
  /// More groups that have ended are under way than `left`.
  bool waits(Kind kind, unsigned warp, unsigned left) const {
    if (warp >= tracks_.size()) return false;
    const Track& track = tracks_[warp][static_cast<unsigned>(kind)];
    return !track.under_way.empty() && age(track, track.under_way.front()) > left;
  }
  /// Anything of the warp is under way, of a group that has ended or not.
  bool any(Kind kind, unsigned warp) const {
    return warp < tracks_.size() && !tracks_[warp][static_cast<unsigned>(kind)].under_way.empty();
  }

 private:
  struct Group {
    std::uint8_t number = 0;
    std::uint32_t pending = 0;
  };
  struct Track {
    std::uint8_t open = 0;
    std::vector<Group> under_way;  // oldest first
  };
  static constexpr unsigned kOldest = 254;

  /// 0 of the open group, 1 of the youngest that has ended.
  static unsigned age(const Track& track, const Group& group) {
    return static_cast<std::uint8_t>(track.open - group.number);
  }
  Track& track_of(Kind kind, unsigned warp) {
    RADDLE_ASSERT(warp < SmSpec::kMaxWarps);
    if (warp >= tracks_.size()) tracks_.resize(SmSpec::kMaxWarps);
    return tracks_[warp][static_cast<unsigned>(kind)];
  }

  std::vector<std::array<Track, kKinds>> tracks_;  // by warp slot
};

}  // namespace raddle::timing
