// Launches of kernels that wait for their first block, over time: how long the queues were,
// whichever policy kept them. Counted from when launches began and ended to wait (launch_tree.h).
#pragma once
#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "raddle/report/launch_tree.h"

namespace raddle::report {

/// By interval of equal length, the last one shorter.
struct LaunchQueue {
  Cycle interval = 1;
  std::vector<double> waiting;  ///< launches, mean over the interval
  /// Of those that the blocks of one SM have made, the SM with most in this interval.
  std::vector<double> longest_of_an_sm;
};

/// Preconditions: intervals > 0; no launch waits beyond `cycles`.
LaunchQueue launch_queue(std::span<const DeviceLaunch> launches, Cycle cycles,
                         std::size_t intervals);

nlohmann::ordered_json to_json(const LaunchQueue& queue);

}  // namespace raddle::report
