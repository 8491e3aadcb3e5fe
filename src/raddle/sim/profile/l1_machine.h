// What analyses need to know of a machine's L1Ds.
#pragma once
#include "raddle/analysis/replay.h"
#include "raddle/timing/spec/machine.h"

namespace raddle::sim {

struct L1Machine {
  unsigned sms = 1;
  std::uint32_t size_kib = 32, ways = 8;
  analysis::L1Rules rules;
};
L1Machine observed_l1(const timing::MachineSpec& machine);

}  // namespace raddle::sim
