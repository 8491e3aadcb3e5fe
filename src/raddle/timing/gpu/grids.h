// Grids: what has blocks (policy/dispatch/policy.h). As many as there are; a grid's number is given
// out again some time after its end. Their storage is reused, so a launch allocates nothing once
// the pool has grown.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string_view>
#include <vector>

#include "raddle/base/error.h"
#include "raddle/policy/dispatch/policy.h"
#include "raddle/timing/code/launch.h"
#include "raddle/timing/code/occupancy.h"

namespace raddle::timing {

using policy::GridId;
using policy::kNoGrid;

/// What the dispatcher must know of a launch.
struct GridLaunch {
  std::uint32_t job = 0;  ///< comes back when the grid has entered and when it has ended
  std::uint64_t sequence = 0;
  std::string_view name;
  StreamId stream{};
  Dim3 grid;
  BlockNeeds needs;
  trace::KernelStream* ops = nullptr;
  const DecodedKernel* code = nullptr;
  policy::DeviceParent parent = {};
  std::uint32_t priority = 0;
  TenantId tenant{};
  std::uint32_t first_line = 0;  ///< Launch::first_line
  std::uint32_t max_on_sm = 0;   ///< blocks that an empty SM holds
  std::uint16_t l1d_ways = 0;    ///< Launch::l1d_ways
};

struct Grid {
  GridLaunch is;
  Launch launch;       // what its blocks refer to on the SMs
  Cycle arrival = 0;   // at the management unit
  Cycle begin = 0;     // when its first block may leave
  Cycle first = 0;     // when that one starts on its SM, once it has left
  unsigned entry = 0;  // once it has one
  std::uint32_t blocks = 0;
  std::uint32_t handed = 0;  // blocks that have gone out ...
  std::uint32_t done = 0;    // ... and of these, have ended
  std::vector<bool> is_handed;
};

class Grids {
 public:
  GridId add(const GridLaunch& launch, Cycle arrival) {
    const GridId id = vacant_number();
    Grid& grid = grids_[id];
    grid.is = launch;
    grid.arrival = arrival;
    grid.blocks = static_cast<std::uint32_t>(launch.grid.count());
    grid.handed = 0;
    grid.done = 0;
    grid.is_handed.assign(grid.blocks, false);
    states_[id] = {};
    return id;
  }
  /// It has ended.
  void remove(GridId id) {
    RADDLE_ASSERT(states_[id].left == 0 && grids_[id].done == grids_[id].blocks);
    free_.push_back(id);
  }
  Grid& operator[](GridId id) { return grids_[id]; }
  const Grid& operator[](GridId id) const { return grids_[id]; }
  policy::GridState& state(GridId id) { return states_[id]; }
  std::span<const policy::GridState> states() const { return states_; }

  policy::GridInfo info(GridId id) const {
    const Grid& grid = grids_[id];
    const GridLaunch& is = grid.is;
    return {.id = id,
            .sequence = is.sequence,
            .kernel = is.name,
            .stream = is.stream,
            .grid = is.grid,
            .blocks = grid.blocks,
            .priority = is.priority,
            .parent = is.parent,
            .tenant = is.tenant,
            .entry = std::nullopt,
            .max_on_sm = is.max_on_sm};
  }

 private:
  static constexpr std::size_t kResting = 64;  // numbers that are not given out again at once
  GridId vacant_number() {
    if (free_.size() > kResting) {
      const GridId id = free_.front();
      free_.pop_front();
      return id;
    }
    grids_.emplace_back();
    states_.emplace_back();
    return static_cast<GridId>(grids_.size() - 1);
  }

  std::deque<Grid> grids_;  // SMs point into it
  std::vector<policy::GridState> states_;
  std::deque<GridId> free_;
};

/// Grids in order; a grid is in one list at most.
class GridList {
 public:
  GridId first() const { return first_; }
  std::size_t count() const { return count_; }
  bool empty() const { return count_ == 0; }
  void add(Grids& grids, GridId id) {
    policy::GridState& state = grids.state(id);
    state.next = kNoGrid;
    state.previous = last_;
    (last_ == kNoGrid ? first_ : grids.state(last_).next) = id;
    last_ = id;
    ++count_;
  }
  /// Precondition: it is in this list.
  void remove(Grids& grids, GridId id) {
    const policy::GridState state = grids.state(id);
    RADDLE_ASSERT(count_ != 0);
    RADDLE_ASSERT(state.previous != kNoGrid || first_ == id);
    (state.previous == kNoGrid ? first_ : grids.state(state.previous).next) = state.next;
    (state.next == kNoGrid ? last_ : grids.state(state.next).previous) = state.previous;
    --count_;
  }

 private:
  GridId first_ = kNoGrid, last_ = kNoGrid;
  std::size_t count_ = 0;
};

}  // namespace raddle::timing
