// The interconnect as numbers: table [noc] of a machine file. Cycles are core-clock cycles.
#pragma once
#include <cstdint>

#include "raddle/base/fields.h"
#include "raddle/timing/spec_rules.h"

namespace raddle::timing {

struct NocSpec {
  std::uint32_t latency_cycles = 20;  ///< each way of each link, and the engine's window
  std::uint32_t flit_bytes = 32, header_bytes = 8;
  std::uint32_t queue_flits = 64;  ///< credits of one input port
  void visit(FieldVisitor& v);
};

}  // namespace raddle::timing
