// The figures of what L1Ds hit and miss, of a timing run and of replays.
#pragma once
#include <cstdint>

#include "raddle/analysis/locality.h"
#include "raddle/analysis/replay.h"
#include "raddle/base/fields.h"

namespace raddle::analysis {

/// Of the run, for figures per thousand.
struct Instructions {
  std::uint64_t thread = 0, warp = 0;
};

void visit_replay(FieldVisitor& v, const ReplayCounts& counts, const Instructions& instructions);
void visit_locality(FieldVisitor& v, const LocalityCounts& counts,
                    const Instructions& instructions);

}  // namespace raddle::analysis
