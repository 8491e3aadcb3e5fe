// Level "l2_replacement": which line of a set of an L2 slice gives its way to the line of a miss.
// One instance for each slice. All that level "replacement" says of an L1D holds here; an L2 is
// never emptied, and a line takes its way when its data have come, or at once if a write brings it.
#pragma once
#include <cstdint>
#include <string_view>

#include "raddle/policy/replacement/policy.h"

namespace raddle::policy {

class L2ReplacementPolicy : public ReplacementPolicy {
 public:
  static constexpr std::string_view kLevel = "l2_replacement";
  struct Context {
    unsigned slice = 0, sets = 1, ways = 1;
    std::uint64_t seed = 0;
  };
};

}  // namespace raddle::policy
