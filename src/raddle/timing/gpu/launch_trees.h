// Launches that kernels make: which of them may go to the kernel management unit, and when a launch
// of the host is complete with all that descends from it (trace/device_launch.h).
//
// A child may go when its parent's warp has issued the launch and everything it comes after is
// complete; a tail launch when, besides, its parent has ended and all else that the parent made is
// complete. A launch is complete when its blocks have ended and all its children are complete.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "raddle/base/types.h"
#include "raddle/timing/code/launch.h"
#include "raddle/trace/device_launch.h"

namespace raddle::timing {

class LaunchTrees {
 public:
  /// The launches are jobs first, first + 1, ...; the first is the host's, its origin says nothing.
  void add(std::uint32_t first, std::span<const trace::DeviceOrigin> origins);
  /// The job belongs to a tree that is not complete.
  bool has(std::uint32_t job) const { return nodes_.contains(job); }
  bool empty() const { return nodes_.empty(); }
  /// Throws RunError when the warp makes more launches than it has children: the op stream and the
  /// tree do not fit.
  void launched(const DeviceLaunches& launches);
  /// The job's last block has ended. Throws RunError when it has not launched all its children.
  void ended(std::uint32_t job, Cycle at);

  struct Ready {
    std::uint32_t job;
    Cycle at;  ///< with the management unit
  };
  struct Complete {
    std::uint32_t job;  ///< of the host
    Cycle at;
  };
  /// Since they were last cleared by the caller.
  std::vector<Ready>& ready() { return ready_; }
  std::vector<Complete>& complete() { return complete_; }

  struct Parent {
    std::uint32_t job, block, sm, depth;
  };
  /// Of a launch that a kernel made and that is ready. Precondition: has(job).
  Parent parent(std::uint32_t job) const;

 private:
  struct Node {
    trace::DeviceOrigin origin;
    std::uint32_t parent = 0, sm = 0;        // jobs
    std::uint32_t waits = 0;                 // launches it comes after that are not complete
    std::uint32_t open = 0, open_tails = 0;  // children that are not complete
    std::uint32_t to_launch = 0;             // children
    bool issued = false, went = false, ended = false, quiet = false;
    Cycle free_at = 0;      // the latest of what it had to wait for
    Cycle complete_at = 0;  // the latest end of its own and of its children
    std::vector<std::uint32_t> followers, tails;
  };
  void go_if_free(std::uint32_t job);
  bool over(Node& node);
  void settle(std::uint32_t job);

  std::map<std::uint32_t, Node> nodes_;
  struct Calls {
    std::vector<std::uint32_t> jobs;  // of one warp, in order of the calls
    std::size_t next = 0;
  };
  struct WarpOf {
    std::uint32_t job, block, warp;
    auto operator<=>(const WarpOf&) const = default;
  };
  std::map<WarpOf, Calls> calls_;
  std::map<std::uint32_t, std::uint32_t> sizes_;  // launches of a tree, by its first job
  std::vector<Ready> ready_;
  std::vector<Complete> complete_;
};

}  // namespace raddle::timing
