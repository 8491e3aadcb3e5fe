// From PTX instructions to the machine's: what never reaches silicon goes, what costs several
// instructions becomes several. Rules with their sources: rules.cpp, docs/lowering.md.
#pragma once
#include "raddle/lowering/lowering_spec.h"
#include "raddle/trace/lowered.h"

namespace raddle::lowering {

/// The kernel as `spec`'s machine executes it; LoweredCode::live is only filled if it is wanted.
trace::LoweredCode lower(const trace::KernelCode& code, const LoweringSpec& spec,
                         bool wants_live = false);

}  // namespace raddle::lowering
