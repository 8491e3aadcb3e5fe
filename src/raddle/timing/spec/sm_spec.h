// The streaming multiprocessors as numbers: table [sm] of a machine file. Cycles are core-clock
// cycles.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "raddle/base/fields.h"
#include "raddle/timing/spec/l1_spec.h"
#include "raddle/timing/spec/spec_rules.h"
#include "raddle/trace/code.h"

namespace raddle::timing {

/// Execution units of one scheduler (sub-partition).
enum class Unit : std::uint8_t { Int, Fp32, Fp64, Sfu, Tensor, Lsu, Control };
inline constexpr unsigned kUnits = static_cast<unsigned>(Unit::Control) + 1;
inline constexpr std::array<std::string_view, kUnits> kUnitNames = {
    "int", "fp32", "fp64", "sfu", "tensor", "lsu", "control"};

/// Cost of one trace::OpClass.
struct OpCost {
  Unit unit = Unit::Int;
  std::uint32_t latency = 4;   ///< issue to dependent issue, cycles
  std::uint32_t interval = 1;  ///< cycles the unit is taken by one warp instruction
  void visit(FieldVisitor& v);
};

/// sm.fetch; the model is in front_end.h.
struct FetchSpec {
  std::uint32_t cycles = 0, buffer = 2;
  std::uint32_t cache_kib = 0;  ///< 0 = every line is there
  std::uint32_t cache_line_bytes = 128, cache_ways = 4, instruction_bytes = 16;
  std::uint32_t miss_latency_cycles = 40;
  bool cache_per_scheduler = true;
  std::uint32_t stream_lines = 0, stream_interval_cycles = 1;  ///< 0 lines: no stream buffer
  std::uint32_t l1_kib = 0;  ///< behind those caches; 0: everything is there
  std::uint32_t l1_ways = 4, l1_miss_latency_cycles = 100, l1_stream_interval_cycles = 1;
  std::uint32_t launch_kib = 0;  ///< of a kernel's code that a launch brings into the L1
  std::uint32_t cache_sets() const { return cache_kib * 1024 / (cache_line_bytes * cache_ways); }
  std::uint32_t l1_sets() const { return l1_kib * 1024 / (cache_line_bytes * l1_ways); }
  void visit(FieldVisitor& v);
};

/// sm.operands; the model is in operands.h.
struct OperandSpec {
  static constexpr unsigned kMaxBanks = 16, kMaxCollectors = 16;
  static constexpr unsigned kMaxReads = 15;  ///< of one bank by one instruction, as counted
  std::uint32_t collectors = 0;              ///< 0 = operands are always there on time
  std::uint32_t banks = 4, cycles = 2;
  /// No instruction is later than this.
  std::uint32_t latest() const { return collectors * kMaxReads; }
  void visit(FieldVisitor& v);
};

/// sm.warpgroup: products of a warpgroup (wgmma), which the tensor units make beside their warps.
struct WarpgroupSpec {
  std::uint32_t interval_cycles = 0;  ///< of 4096 multiply-adds of f16; 0: as sm.cost.tensor says
  std::uint32_t latency_cycles = 0;   ///< of a product, beside its interval
  std::uint32_t shared_bytes = 0;     ///< of operands a cycle; 0: they come in no time
  /// Products that a unit has accepted and not computed, at most: with A in shared memory, and
  /// with A in registers.
  std::uint32_t queue = 1, register_queue = 1;
  static constexpr std::uint32_t kMaxQueue = 8;
  static constexpr std::uint32_t kMaxInterval = 255;  ///< that a product takes the unit
  void visit(FieldVisitor& v);
};

/// sm.tma: the unit that makes bulk and tensor copies; the model is in tma_unit.h.
struct TmaSpec {
  static constexpr unsigned kMaxInFlight = 4094;  ///< numbers of copies travel in tags of messages
  std::uint32_t interval_cycles = 0;  ///< between two lines; 0: the load/store unit makes copies
  std::uint32_t latency_cycles = 0;   ///< from the issue of a copy to its first line
  std::uint32_t copy_cycles = 1;      ///< a copy takes the unit for so long at least
  std::uint32_t lines_in_flight = 1;
  std::uint32_t descriptors = 1;    ///< kept
  std::uint32_t shared_cycles = 0;  ///< of shared memory, for each line
  bool present() const { return interval_cycles != 0; }
  void visit(FieldVisitor& v);
};

/// sm.cluster: shared memory of other blocks of the cluster.
struct ClusterSpec {
  static constexpr unsigned kMaxRowCycles = 15;
  std::uint32_t latency_cycles = 0;  ///< 0: it is as near as the block's own
  std::uint32_t row_cycles = 1;      ///< the way is taken by 128 bytes
  bool present() const { return latency_cycles != 0; }
  void visit(FieldVisitor& v);
};

/// sm.barrier_objects: barriers in shared memory (mbarrier). Where a latency is 0 it is that of
/// sm.cost.barrier.
struct BarrierObjectSpec {
  std::uint32_t visible_cycles = 0;   ///< from an arrival to what a warp does that waits for it
  std::uint32_t test_cycles = 0;      ///< from a test to what needs its answer
  std::uint32_t interval_cycles = 0;  ///< between two arrivals that an SM counts
  bool present() const { return visible_cycles != 0; }
  void visit(FieldVisitor& v);
};

/// How an SM hands out registers. A warp's lie in one partition. Where a partition has too few left
/// for another warp nobody gets them; they are charged to the warps that there are, so that as many
/// fit as in the CUDA occupancy calculator.
struct RegisterFile {
  std::uint32_t registers, unit, partitions;
  /// That a warp of a kernel with so many registers a thread has, in whole units.
  std::uint32_t granted(std::uint32_t per_thread) const;
  /// That a warp takes away of those registers; more than there are where none fits.
  std::uint32_t of_warp(std::uint32_t per_thread) const;
};

struct SmSpec {
  /// Sets of warps are one word of 64 bits; the event wheel has a bit for each unit of four
  /// schedulers.
  static constexpr unsigned kMaxWarps = 64, kMaxSchedulers = 4;
  std::uint32_t count = 1, schedulers = 1, warps = 32, blocks = 8, threads = 1024;
  std::uint32_t registers = 32768,
                register_unit = 256;  ///< allocated per warp in multiples of register_unit
  std::uint32_t register_partitions = 1;
  std::uint32_t shared_kib = 48, shared_unit_bytes = 256, max_threads_per_block = 1024;
  std::uint32_t shared_reserved_bytes = 0;  ///< of each block, beside its own
  std::uint32_t shared_latency_cycles = 24, const_latency_cycles = 8;
  std::uint32_t barrier_interval_cycles = 0;  ///< 0: all warps of an SM may arrive at once
  std::uint32_t lsu_queue = 8, lsu_lines = 1, loads_in_flight = 128;
  bool lsu_sector_banks = false;  ///< lines of one cycle share no sector's place
  std::array<OpCost, trace::kOpClasses> cost{};
  std::array<bool, kUnits> shared_unit{};  ///< one unit for all schedulers instead of one for each
  FetchSpec fetch;
  OperandSpec operands;
  WarpgroupSpec warpgroup;
  TmaSpec tma;
  ClusterSpec cluster;
  BarrierObjectSpec barrier_objects;
  L1dSpec l1d;
  ConstCacheSpec const_cache;
  RegisterFile register_file() const { return {registers, register_unit, register_partitions}; }
  void visit(FieldVisitor& v);
};

}  // namespace raddle::timing
