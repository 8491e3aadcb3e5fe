// Device memory as numbers: table [dram] of a machine file.
#pragma once
#include <cstdint>

#include "raddle/base/fields.h"
#include "raddle/timing/spec_rules.h"

namespace raddle::timing {

/// Timing in memory-clock (command) cycles, JEDEC names.
struct DramSpec {
  std::uint32_t channels = 8, clock_mhz = 800, banks = 16, bank_groups = 4, row_bytes = 2048,
                queue = 64;
  std::uint32_t bus_bytes_per_cycle = 16;  ///< data moved per command cycle by one channel
  std::uint32_t burst_bytes = 32;          ///< one column command
  std::uint32_t interleave_bytes = 256;    ///< consecutive bytes that stay in one channel
  std::uint32_t tCL = 12, tRCD = 12, tRP = 12, tRAS = 28, tRC = 40, tCCD = 2, tRRD = 3, tWTR = 5,
                tWR = 12, tRTP = 3;
  std::uint32_t extra_latency_cycles = 0;  ///< controller and wire, core cycles, added to each read
  std::uint32_t drain_high = 32, drain_low = 8;
  void visit(FieldVisitor& v);
};

}  // namespace raddle::timing
