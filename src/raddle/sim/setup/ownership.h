// Whether the caches of a machine own lines, as its coherence policy has them.
#pragma once
#include "raddle/sim/setup/setup.h"

namespace raddle::sim {

/// CoherenceRules::ownership of the policy chosen.
inline bool caches_own_lines(const Setup& setup) {
  return setup.coherence->make({})->rules().ownership;
}

}  // namespace raddle::sim
