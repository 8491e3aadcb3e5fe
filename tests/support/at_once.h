// How many of some spans of time, with members begin and end, lie on one cycle.
#pragma once
#include <algorithm>
#include <map>

#include "raddle/base/types.h"

namespace raddle::support {

template <class Spans>
long max_at_once(const Spans& spans) {
  std::map<Cycle, long> change;  // at the end of a span the next one may begin
  for (const auto& span : spans) {
    ++change[span.begin];
    --change[span.end];
  }
  long now = 0, maximum = 0;
  for (const auto& [at, by] : change) maximum = std::max(maximum, now += by);
  return maximum;
}

}  // namespace raddle::support
