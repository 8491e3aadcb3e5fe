// The streaming multiprocessors as numbers: table [sm] of a machine file. Cycles are core-clock
// cycles.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "raddle/base/fields.h"
#include "raddle/timing/sm/l1_spec.h"
#include "raddle/timing/spec_rules.h"
#include "raddle/trace/code.h"

namespace raddle::timing {

/// Execution units of one scheduler (sub-partition).
enum class Unit : std::uint8_t { Int, Fp32, Fp64, Sfu, Tensor, Lsu, Control };
inline constexpr unsigned kUnits = 7;
inline constexpr std::array<std::string_view, kUnits> kUnitNames = {
    "int", "fp32", "fp64", "sfu", "tensor", "lsu", "control"};

/// Cost of one trace::OpClass.
struct OpCost {
  Unit unit = Unit::Int;
  std::uint32_t latency = 4;   ///< issue to dependent issue, cycles
  std::uint32_t interval = 1;  ///< cycles the unit is taken by one warp instruction
  void visit(FieldVisitor& v);
};

struct SmSpec {
  std::uint32_t count = 1, schedulers = 1, warps = 32, blocks = 8, threads = 1024;
  std::uint32_t registers = 32768,
                register_unit = 256;  ///< allocated per warp in multiples of register_unit
  std::uint32_t shared_kib = 48, shared_unit_bytes = 256, max_threads_per_block = 1024;
  std::uint32_t shared_latency_cycles = 24, const_latency_cycles = 8;
  std::uint32_t lsu_queue = 8, loads_in_flight = 128;
  std::array<OpCost, trace::kOpClasses> cost{};
  L1dSpec l1d;
  ConstCacheSpec const_cache;
  void visit(FieldVisitor& v);
};

}  // namespace raddle::timing
