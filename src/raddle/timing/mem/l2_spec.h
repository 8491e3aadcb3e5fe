// The second-level cache as numbers: table [l2] of a machine file. Cycles are core-clock cycles.
#pragma once
#include <cstdint>

#include "raddle/base/fields.h"
#include "raddle/timing/spec_rules.h"

namespace raddle::timing {

struct L2Spec {
  std::uint32_t slices = 8, size_kib = 128, line_bytes = 128, sector_bytes = 32,
                ways = 8;  ///< size per slice
  std::uint32_t hit_latency_cycles = 60, mshr_entries = 32, mshr_merges = 4, interval_cycles = 1;
  std::uint32_t atomic_interval_cycles = 4;  ///< a slice performs one line of atomics in that time
  std::uint32_t sets() const { return size_kib * 1024 / (line_bytes * ways); }
  void visit(FieldVisitor& v);
};

}  // namespace raddle::timing
