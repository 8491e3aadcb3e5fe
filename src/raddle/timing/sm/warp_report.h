// What a warp does, for people who look at a machine that stands still: at which line of the PTX it
// is and what it waits for.
#pragma once
#include <string>

#include "raddle/timing/sm/barriers.h"
#include "raddle/timing/sm/warps.h"
#include "raddle/timing/sm/warps_abroad.h"

namespace raddle::timing {

/// What it reads of an SM.
struct WarpReport {
  const WarpTable& warps;
  const BlockTable& blocks;
  const WarpsAbroad& abroad;
};
/// Adds a line. Precondition: the warp is resident.
void describe_warp(std::string& out, const WarpReport& sm, unsigned w);

}  // namespace raddle::timing
