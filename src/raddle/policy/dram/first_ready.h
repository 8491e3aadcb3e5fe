// The order "first ready, first come, first served" (FR-FCFS) with an open-page policy: the oldest
// request whose row is open and can be accessed now; else the oldest whose row can be closed or
// opened now, but no row is closed while a waiting request still hits it. Rixner et al., "Memory
// Access Scheduling", ISCA 2000, section 4.
#pragma once
#include <optional>

#include "raddle/policy/dram/policy.h"

namespace raddle::policy {

struct FirstReady {
  unsigned slot = 0;
  bool row_hit = false;  ///< the request's row is open, so this command serves it
};

inline std::optional<FirstReady> first_ready(const DramView& view) {
  const Mask128 hits = view.row_hits & view.issuable;
  if (hits.any()) return FirstReady{view.age.oldest(hits), true};
  const Mask128 others = view.issuable - view.closes_wanted_row;
  if (!others.any()) return std::nullopt;
  return FirstReady{view.age.oldest(others), false};
}

}  // namespace raddle::policy
