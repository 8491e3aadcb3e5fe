// The profile of a run: what SMs have counted by machine instruction, put together by code.
#pragma once
#include <memory>
#include <span>

#include "raddle/timing/gpu/decoded_codes.h"
#include "raddle/timing/gpu/gpu.h"
#include "raddle/timing/sm/instruction_profile.h"
#include "raddle/timing/sm/sm.h"

namespace raddle::timing {

/// Up to `now`. `looks`: of the SMs, from the beginning. Precondition: the SMs keep a profile with
/// these looks, and `codes` forgets none.
Profile profile_of(const DecodedCodes& codes, std::span<const std::unique_ptr<Sm>> sms,
                   SamplingTimes samplings, Cycle now);

}  // namespace raddle::timing
