#include "raddle/timing/gpu/empty_times.h"

#include <algorithm>

#include "raddle/base/error.h"

namespace raddle::timing {

void EmptyTimes::started(std::span<const BlockSpan> blocks, Cycle up_to) {
  for (; seen_ < blocks.size() && blocks[seen_].start <= up_to; ++seen_) {
    if (present_++ != 0) continue;
    if (const Cycle start = blocks[seen_].start; since_ < start) past_.push_back({since_, start});
  }
}

/// In the cycle of its end a block's last warp may have issued.
void EmptyTimes::ended(std::span<const BlockSpan> blocks, Cycle at) {
  started(blocks, at);
  RADDLE_ASSERT(present_ != 0);
  if (--present_ == 0) since_ = at + 1;
}

std::vector<Interval> EmptyTimes::until(std::span<const BlockSpan> blocks, Cycle at) const {
  EmptyTimes then = *this;
  then.started(blocks, at);
  if (then.present_ == 0) then.past_.push_back({then.since_, at});
  std::erase_if(then.past_, [&](const Interval& empty) { return empty.from >= at; });
  if (!then.past_.empty()) then.past_.back().to = std::min(then.past_.back().to, at);
  return std::move(then.past_);
}

std::vector<Interval> common_times(std::span<const Interval> a, std::vector<Interval> b) {
  std::ranges::sort(b, {}, &Interval::from);
  std::vector<Interval> out;
  Cycle counted = 0;       // up to where cycles of b have been counted
  auto first = a.begin();  // that may still meet what is left of b
  for (Interval one : b) {
    one.from = std::max(one.from, counted);
    if (one.from >= one.to) continue;
    counted = one.to;
    while (first != a.end() && first->to <= one.from) ++first;
    for (auto with = first; with != a.end() && with->from < one.to; ++with)
      out.push_back({std::max(with->from, one.from), std::min(with->to, one.to)});
  }
  return out;
}

}  // namespace raddle::timing
