// Launches that kernels made, with who made them: how long each waited between its launch and its
// first block, and on which SMs it ran. For the page of runs, which holds a few thousand rows
// however many launches there are.
//
// Words. A launch starts to wait when nothing but room keeps it from running (KernelResult::start:
// its parent's warp has issued it and what it comes after is complete); the wait ends with the
// start of its first block; before it may hand out blocks, it needs an entry of the kernel
// distributor (KernelResult::begin), and that part of the wait is told apart. Its parent block is
// the block that made it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "raddle/sim/result/result.h"

namespace raddle::report {

/// What several launches waited.
struct Waits {
  Cycle mean = 0, median = 0, p90 = 0, longest = 0;  ///< mean rounded down, others nearest rank
  /// [0]: waits of 0 cycles, [b]: of 2^(b-1) to 2^b - 1. As long as needed.
  std::vector<std::uint64_t> bins;
};
/// Precondition: not empty.
Waits waits_of(std::vector<Cycle> cycles);

/// One launch of a kernel.
struct DeviceLaunch {
  std::uint32_t launch = 0, parent = 0;  ///< into Result::kernels
  std::uint32_t parent_block = 0, parent_sm = 0, depth = 1;
  Cycle start = 0, begin = 0, first = 0, end = 0;  ///< `first`: its first block starts
  std::uint32_t blocks = 0, on_parent_sm = 0;      ///< the latter: where the parent block ran
  std::uint32_t first_sm = 0;                      ///< of its first block
  std::set<std::uint32_t> sms;
  Cycle wait() const { return first - start; }
  Cycle entry_wait() const { return begin - start; }  ///< part of wait()
};

/// Of the launches that kernels made, in order; without those of which no block ran.
std::vector<DeviceLaunch> device_launches(const sim::Result& result);

/// Launches of one kernel by blocks of another, at one depth.
struct LaunchEdge {
  std::string parent, child;
  std::uint32_t depth = 1;
  std::uint64_t launches = 0, blocks = 0, on_parent_sm = 0;
  Cycle entry_waits = 0;  ///< sum
  Waits waits = {};
};

/// What one row of the tree stands for.
enum class Bundle : unsigned {
  Launch,    ///< a launch
  Siblings,  ///< launches of one kernel by one block
  Path,      ///< launches of one kernel by the launches of one row
};

/// Launches that are drawn together; those of the host only where they have descendants.
struct TreeRow {
  static constexpr std::uint32_t kNoParent = ~0u;
  std::uint32_t parent = kNoParent;  ///< row
  std::uint32_t depth = 0;           ///< 0: of the host
  std::uint32_t first_launch = 0;    ///< the first of them, into Result::kernels
  std::uint64_t launches = 0, blocks = 0, on_parent_sm = 0;
  Cycle start = kNever, first = kNever, end = 0;  ///< earliest, earliest, latest
  std::uint32_t first_sm = 0;                     ///< of the block that started first
  Cycle waits = 0, longest = 0;                   ///< sum and most of what they waited
  std::set<std::uint32_t> sms = {};
};

struct LaunchTree {
  std::uint64_t launches = 0;         ///< that kernels made and of which a block ran
  std::vector<LaunchEdge> edges;      ///< by depth, then in order of the first launch
  std::vector<DeviceLaunch> longest;  ///< those that waited longest, the longest first
  Bundle bundle = Bundle::Launch;
  std::size_t rows_left_out = 0;
  std::vector<TreeRow> rows;  ///< each before its children, in order of start
};

/// Launches named in LaunchTree::longest.
inline constexpr std::size_t kMaxLongest = 40;

/// At most `most_rows` rows: siblings and then whole paths share one where there are more.
/// Precondition: most_rows > 0.
LaunchTree launch_tree(const sim::Result& result, std::size_t max_rows);

/// What the page reads; null where no kernel launched one, or nothing was timed.
nlohmann::ordered_json launch_tree_json(const sim::Result& result, std::size_t max_rows);

}  // namespace raddle::report
