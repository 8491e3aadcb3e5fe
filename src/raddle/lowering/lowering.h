// From PTX instructions to the machine's: what never reaches silicon goes, what costs several
// instructions becomes several. Rules with their sources: rules.cpp, docs/lowering.md.
#pragma once
#include "raddle/lowering/lowering_spec.h"
#include "raddle/trace/lowered.h"

namespace raddle::lowering {

/// The kernel as `spec`'s machine executes it.
trace::LoweredCode lower(const trace::KernelCode& code, const LoweringSpec& spec);

}  // namespace raddle::lowering
