// The mesh over time, for reports: what its links have carried, what its SMs have done and which
// warps have moved, up to each of some cycles. Taken between windows from counters that are there
// anyway, so it changes nothing; of a long run, every second is dropped whenever there are too
// many.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "raddle/policy/migrate/policy.h"
#include "raddle/timing/spec/noc_spec.h"

namespace raddle::timing {

struct WarpMoves {
  std::uint32_t from, to;  ///< SMs
  std::uint64_t warps;
};

/// What has happened before cycle `at`.
struct MeshCounts {
  /// Scheduler-cycles of an SM; the others were lost for other reasons.
  struct Sm {
    std::uint64_t issued = 0;
    std::uint64_t memory = 0;  ///< lost to memory, or because the load/store unit was busy
    std::uint64_t idle = 0;    ///< no warp
  };
  Cycle at = 0;
  std::vector<std::uint64_t> requests, replies;  ///< flits over each link of MeshPlaces
  std::vector<Sm> sms;
  std::vector<policy::StateCycles> states;  ///< by SM; empty: the migrate policy knows none
  std::vector<WarpMoves> moves;             ///< between which SMs there were some, in their order
};

/// What is where. Nodes are counted row by row.
struct MeshPlaces {
  unsigned columns = 0, rows = 0;
  std::vector<std::uint16_t> sms, slices, controllers;  ///< node of each
  std::vector<MeshLink> links;
};

struct MeshRecord {
  MeshPlaces places;
  std::vector<MeshCounts> counts;  ///< in order of their cycles
};

class MeshRecorder {
 public:
  static constexpr std::size_t kMaxCounts = 512;
  static_assert(kMaxCounts % 2 == 0);  // half of them end where all of them end

  /// Intervals are whole windows.
  MeshRecorder(MeshPlaces places, Cycle interval, Cycle window)
      : record_{std::move(places), {}},
        interval_((interval + window - 1) / window * window),
        next_(interval_) {}
  /// As Sampler::advance. count(cycle): what has happened before that cycle.
  template <class Count>
  void advance(Cycle now, Count count) {
    while (next_ <= now) {
      update(count(next_));
      open_ = false;
      if (record_.counts.size() == kMaxCounts) halve();
      next_ += interval_;
    }
  }
  /// Brings the interval under way up to date.
  void update(MeshCounts counts) {
    if (open_) record_.counts.pop_back();
    open_ = record_.counts.empty() || counts.at > record_.counts.back().at;
    if (open_) record_.counts.push_back(std::move(counts));
  }
  const MeshRecord& record() const { return record_; }

 private:
  void halve() {
    std::vector<MeshCounts>& all = record_.counts;
    for (std::size_t i = 0; i < kMaxCounts / 2; ++i) all[i] = std::move(all[2 * i + 1]);
    all.resize(kMaxCounts / 2);
    interval_ *= 2;
  }
  MeshRecord record_;
  Cycle interval_, next_;
  bool open_ = false;  // the last counts are not at the end of their interval
};

}  // namespace raddle::timing
