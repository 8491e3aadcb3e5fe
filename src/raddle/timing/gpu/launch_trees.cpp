#include "raddle/timing/gpu/launch_trees.h"

#include <algorithm>
#include <string>

#include "raddle/base/error.h"

namespace raddle::timing {

namespace {
[[noreturn]] void mismatch(const std::string& what) {
  throw RunError("launches by kernels do not fit the op stream: " + what);
}
}  // namespace

void LaunchTrees::add(std::uint32_t first, std::span<const trace::DeviceOrigin> origins) {
  sizes_[first] = static_cast<std::uint32_t>(origins.size());
  for (std::uint32_t i = 0; i < origins.size(); ++i) {
    Node& node = nodes_[first + i];
    if (i == 0) {
      node.issued = node.went = true;
      node.parent = first;
      continue;
    }
    const trace::DeviceOrigin& origin = node.origin = origins[i];
    node.parent = first + origin.parent;
    RADDLE_ASSERT(origin.parent < i);
    Node& parent = nodes_[node.parent];
    ++(origin.tail ? parent.open_tails : parent.open);
    ++parent.to_launch;
    if (origin.tail) parent.tails.push_back(first + i);
    for (const std::uint32_t earlier : origin.after) {
      RADDLE_ASSERT(earlier < i);
      nodes_[first + earlier].followers.push_back(first + i);
      ++node.waits;
    }
    calls_[{node.parent, origin.block, origin.warp}].jobs.push_back(first + i);
  }
  for (std::uint32_t i = 0; i < origins.size(); ++i)
    for (auto at = calls_.lower_bound({first + i, 0, 0});
         at != calls_.end() && at->first.job == first + i; ++at)
      std::ranges::sort(at->second.jobs, {},
                        [&](std::uint32_t job) { return nodes_.at(job).origin.call; });
}

void LaunchTrees::launched(const DeviceLaunches& launches) {
  const auto found = calls_.find({launches.job, launches.block, launches.warp});
  const std::size_t left =
      found == calls_.end() ? 0 : found->second.jobs.size() - found->second.next;
  if (left < launches.count)
    mismatch("block " + std::to_string(launches.block) + " warp " + std::to_string(launches.warp) +
             " launches " + std::to_string(launches.count) + " kernels, " + std::to_string(left) +
             " are left");
  nodes_.at(launches.job).to_launch -= launches.count;
  for (std::uint32_t n = 0; n < launches.count; ++n) {
    const std::uint32_t job = found->second.jobs[found->second.next++];
    Node& child = nodes_.at(job);
    child.issued = true;
    child.sm = launches.sm;
    child.free_at = std::max(child.free_at, launches.at);
    go_if_free(job);
  }
}

void LaunchTrees::go_if_free(std::uint32_t job) {
  Node& node = nodes_.at(job);
  if (node.went || !node.issued || node.waits != 0) return;
  if (node.origin.tail && !nodes_.at(node.parent).quiet) return;
  node.went = true;
  ready_.push_back({job, node.free_at});
}

void LaunchTrees::ended(std::uint32_t job, Cycle at) {
  Node& node = nodes_.at(job);
  if (node.to_launch != 0)
    mismatch(std::to_string(node.to_launch) + " launches were not made by their parent");
  node.ended = true;
  node.complete_at = std::max(node.complete_at, at);
  settle(job);
}

/// All of the job but its tail launches is over: they may go. True when the job is complete.
bool LaunchTrees::over(Node& node) {
  if (!node.ended || node.open != 0) return false;
  if (!node.quiet) {
    node.quiet = true;
    for (const std::uint32_t tail : node.tails) {
      Node& child = nodes_.at(tail);
      child.free_at = std::max(child.free_at, node.complete_at);
      go_if_free(tail);
    }
  }
  return node.open_tails == 0;
}

// Tail launches may follow each other without end, each its parent's child: a loop up the tree.
void LaunchTrees::settle(std::uint32_t job) {
  for (;;) {
    Node& node = nodes_.at(job);
    if (!over(node)) return;
    for (const std::uint32_t follower : node.followers) {
      Node& next = nodes_.at(follower);
      next.free_at = std::max(next.free_at, node.complete_at);
      --next.waits;
      go_if_free(follower);
    }
    if (node.parent == job) break;
    Node& parent = nodes_.at(node.parent);
    parent.complete_at = std::max(parent.complete_at, node.complete_at);
    --(node.origin.tail ? parent.open_tails : parent.open);
    job = node.parent;
  }
  const std::uint32_t size = sizes_.at(job);
  complete_.push_back({job, nodes_.at(job).complete_at});
  sizes_.erase(job);
  nodes_.erase(nodes_.lower_bound(job), nodes_.lower_bound(job + size));
  calls_.erase(calls_.lower_bound({job, 0, 0}), calls_.lower_bound({job + size, 0, 0}));
}

LaunchTrees::Parent LaunchTrees::parent(std::uint32_t job) const {
  const Node& node = nodes_.at(job);
  return {node.parent, node.origin.block, node.sm, node.origin.depth};
}

}  // namespace raddle::timing
