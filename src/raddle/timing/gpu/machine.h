// The machine as numbers: what a gpus/*.toml file says. Cycles are core-clock cycles unless a field
// says otherwise.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "raddle/base/fields.h"
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

enum class WritePolicy : std::uint8_t {
  WriteThrough,
  WriteEvict
};  ///< both without write-allocate

struct L1dSpec {
  std::uint32_t size_kib = 32, line_bytes = 128, sector_bytes = 32, ways = 4;
  std::uint32_t hit_latency_cycles = 28;
  std::uint32_t mshr_entries = 64, mshr_merges = 8, miss_queue = 8;
  WritePolicy write_policy = WritePolicy::WriteThrough;
  bool reserve_on_miss = false;  ///< the way is taken at the miss, not at the fill
  bool flush_at_kernel_start = true;
  std::uint32_t sets() const { return size_kib * 1024 / (line_bytes * ways); }
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
  void visit(FieldVisitor& v);
};

struct NocSpec {
  std::uint32_t latency_cycles = 20;  ///< each way of each link, and the engine's window
  std::uint32_t flit_bytes = 32, header_bytes = 8;
  std::uint32_t queue_flits = 64;  ///< credits of one input port
  void visit(FieldVisitor& v);
};

struct L2Spec {
  std::uint32_t slices = 8, size_kib = 128, line_bytes = 128, sector_bytes = 32,
                ways = 8;  ///< size per slice
  std::uint32_t hit_latency_cycles = 60, mshr_entries = 32, mshr_merges = 4, interval_cycles = 1;
  std::uint32_t atomic_interval_cycles = 4;  ///< a slice performs one line of atomics in that time
  std::uint32_t sets() const { return size_kib * 1024 / (line_bytes * ways); }
  void visit(FieldVisitor& v);
};

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

struct MachineSpec {
  std::string name, source;
  std::uint32_t core_clock_mhz = 1000;
  std::uint32_t launch_latency_cycles = 0;     ///< host launch to first block
  std::uint32_t dispatch_latency_cycles = 20;  ///< dispatcher to SM and back; at least the window
  SmSpec sm;
  NocSpec noc;
  L2Spec l2;
  DramSpec dram;
  void visit(FieldVisitor& v);
  /// Cross-field rules; returns one sentence per violation, each naming its keys. Empty = sound.
  std::vector<std::string> violations() const;
};

}  // namespace raddle::timing
