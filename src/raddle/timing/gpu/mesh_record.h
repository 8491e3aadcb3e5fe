// The mesh over time, for reports: what its links have carried, what its SMs have done and which
// warps have moved, up to each of some cycles (counts_over_time.h).
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "raddle/policy/migrate/policy.h"
#include "raddle/timing/gpu/counts_over_time.h"
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
  static constexpr std::size_t kMaxCounts = CountsOverTime<MeshCounts>::kMaximum;

  /// Intervals are whole windows.
  MeshRecorder(MeshPlaces places, Cycle interval, Cycle window)
      : record_{std::move(places), {}}, over_time_(interval, window) {}
  template <class Count>
  void advance(Cycle now, Count count) {
    over_time_.advance(record_.counts, now, count);
  }
  void update(MeshCounts counts) { over_time_.update(record_.counts, std::move(counts)); }
  const MeshRecord& record() const { return record_; }

 private:
  MeshRecord record_;
  CountsOverTime<MeshCounts> over_time_;
};

}  // namespace raddle::timing
