// When no block is on any SM. Written when a block's end is heard of, so it costs nothing per
// cycle.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "raddle/timing/gpu/gpu.h"

namespace raddle::timing {

/// Cycles from, from + 1, ..., to - 1.
struct Interval {
  Cycle from, to;
  bool operator==(const Interval&) const = default;
};

class EmptyTimes {
 public:
  // `blocks`: all that have gone out so far, in that order, which is that of their starts.

  /// A block has ended in that cycle. Precondition: not before the one told last.
  void ended(std::span<const BlockSpan> blocks, Cycle at);
  /// Before cycle `at`, in order.
  std::vector<Interval> until(std::span<const BlockSpan> blocks, Cycle at) const;

 private:
  void started(std::span<const BlockSpan> blocks, Cycle up_to);

  std::vector<Interval> past_;
  std::size_t seen_ = 0;       // blocks that have started
  std::uint64_t present_ = 0;  // of these, have not ended
  Cycle since_ = 0;            // where present_ is 0: the first cycle without a block
};

/// What lies in one of `a` and in one of `b`, in order and disjoint. Precondition: so is a.
std::vector<Interval> common_times(std::span<const Interval> a, std::vector<Interval> b);

}  // namespace raddle::timing
