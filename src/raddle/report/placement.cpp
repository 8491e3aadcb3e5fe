#include "raddle/report/placement.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace raddle::report {
namespace {

LaunchPlacement placement_of(std::uint32_t launch, std::vector<timing::BlockSpan> blocks) {
  LaunchPlacement out;
  out.launch = launch;
  std::sort(blocks.begin(), blocks.end(), [](const auto& a, const auto& b) {
    return std::tie(a.start, a.sm, a.block) < std::tie(b.start, b.sm, b.block);
  });
  std::vector<std::uint32_t> started;  // by SM
  for (const timing::BlockSpan& b : blocks) {
    if (out.sm.size() <= b.block) {
      out.sm.resize(b.block + 1, kNoSm);
      out.order.resize(b.block + 1);
    }
    if (started.size() <= b.sm) {
      started.resize(b.sm + 1);
      out.finish.resize(b.sm + 1, kNever);
    }
    out.sm[b.block] = b.sm;
    out.order[b.block] = started[b.sm]++;
    Cycle& finish = out.finish[b.sm];
    finish = finish == kNever ? b.end : std::max(finish, b.end);
    if (b.stolen) out.stolen.push_back(b.block);
  }
  std::sort(out.stolen.begin(), out.stolen.end());
  return out;
}

}  // namespace

std::vector<LaunchPlacement> placement(std::span<const timing::BlockSpan> blocks,
                                       std::size_t limit) {
  std::map<std::uint32_t, std::vector<timing::BlockSpan>> launches;
  for (const timing::BlockSpan& b : blocks) launches[b.launch].push_back(b);
  std::vector<LaunchPlacement> out;
  std::size_t size = 0;
  for (auto& [launch, of] : launches) {
    LaunchPlacement next = placement_of(launch, std::move(of));
    size += next.sm.size() + next.finish.size();
    if (size > limit) break;
    out.push_back(std::move(next));
  }
  return out;
}

}  // namespace raddle::report
