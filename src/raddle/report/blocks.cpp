#include "raddle/report/blocks.h"

#include <algorithm>
#include <tuple>

#include "raddle/base/error.h"

namespace raddle::report {
namespace {

/// Joins up to `most` neighbours of the same lane and launch.
std::vector<Bar> joined(const std::vector<Bar>& bars, std::uint32_t maximum) {
  std::vector<Bar> out;
  for (const Bar& bar : bars) {
    Bar* last = out.empty() ? nullptr : &out.back();
    const bool joins = last != nullptr && last->sm == bar.sm && last->lane == bar.lane &&
                       last->launch == bar.launch && last->count + bar.count <= maximum;
    if (!joins) {
      out.push_back(bar);
      continue;
    }
    last->last_block = bar.last_block;
    last->end = bar.end;
    last->count += bar.count;
    last->stolen += bar.stolen;
  }
  return out;
}

/// Keeps the bars that start before some cycle, the latest that leaves at most `limit`.
Cycle keep_beginning(std::vector<Bar>& bars, std::size_t limit) {
  std::vector<Cycle> starts;
  for (const Bar& bar : bars) starts.push_back(bar.start);
  std::nth_element(starts.begin(), starts.begin() + static_cast<std::ptrdiff_t>(limit),
                   starts.end());
  const Cycle until = starts[limit];
  std::erase_if(bars, [&](const Bar& bar) { return bar.start >= until; });
  return until;
}

}  // namespace

std::vector<Bar> bars_in_lanes(std::span<const timing::BlockSpan> blocks) {
  std::vector<Bar> bars;
  bars.reserve(blocks.size());
  for (const timing::BlockSpan& b : blocks)
    bars.push_back({b.launch, b.sm, 0, b.block, b.block, 1, b.start, b.end, b.stolen ? 1u : 0u});
  std::sort(bars.begin(), bars.end(), [](const Bar& a, const Bar& b) {
    return std::tie(a.sm, a.start, a.launch, a.first_block) <
           std::tie(b.sm, b.start, b.launch, b.first_block);
  });
  std::vector<Cycle> busy_until;  // by lane of the current SM
  for (std::size_t i = 0; i < bars.size(); ++i) {
    if (i == 0 || bars[i].sm != bars[i - 1].sm) busy_until.clear();
    const auto lane = std::find_if(busy_until.begin(), busy_until.end(),
                                   [&](Cycle end) { return end <= bars[i].start; });
    bars[i].lane = static_cast<std::uint32_t>(lane - busy_until.begin());
    if (lane == busy_until.end()) busy_until.push_back(bars[i].end);
    else *lane = bars[i].end;
  }
  std::sort(bars.begin(), bars.end(), [](const Bar& a, const Bar& b) {
    return std::tie(a.sm, a.lane, a.start, a.launch, a.first_block) <
           std::tie(b.sm, b.lane, b.start, b.launch, b.first_block);
  });
  return bars;
}

BarChart bar_chart(std::span<const timing::BlockSpan> blocks, std::size_t limit) {
  RADDLE_ASSERT(limit > 0);
  const std::vector<Bar> all = bars_in_lanes(blocks);
  BarChart chart{all, all.size()};
  while (chart.bars.size() > limit) {
    std::vector<Bar> fewer = joined(all, 2 * chart.merged);
    // Many small launches: joining would blur the picture and save next to nothing.
    if (10 * fewer.size() > 9 * chart.bars.size()) break;
    chart.merged *= 2;
    chart.bars = std::move(fewer);
  }
  if (chart.bars.size() > limit) chart.until = keep_beginning(chart.bars, limit);
  return chart;
}

}  // namespace raddle::report
