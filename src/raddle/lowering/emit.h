// From a plan to machine instructions with registers.
#pragma once
#include "raddle/lowering/plan.h"
#include "raddle/trace/lowered.h"

namespace raddle::lowering {

trace::LoweredCode emit(const Plan& plan, Generation generation, bool wants_live = false);

}  // namespace raddle::lowering
