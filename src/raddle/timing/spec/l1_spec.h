// The caches of an SM as numbers: tables [sm.l1d] and [sm.const_cache] of a machine file.
#pragma once
#include <cstdint>
#include <string>

#include "raddle/base/fields.h"

namespace raddle::timing {

/// What a store does (l1d.h).
enum class WritePolicy : std::uint8_t {
  WriteThrough,
  WriteEvict,
  WriteBack,
  WriteValidate,
  WriteThroughValidate,
  WriteBackAround,
};
inline bool keeps_dirty(WritePolicy p) {
  return p == WritePolicy::WriteBack || p == WritePolicy::WriteValidate ||
         p == WritePolicy::WriteBackAround;
}
/// Some of its stores go on to the L2.
inline bool sends_stores(WritePolicy p) {
  return !keeps_dirty(p) || p == WritePolicy::WriteBackAround;
}
enum class SetIndex : std::uint8_t { Modulo, Hash };
/// What the load/store unit takes to the cache at once: a line of the warp's access, a sector of
/// it, or a line of what half the warp accesses.
enum class Coalescing : std::uint8_t { Line, Sector, HalfWarp };

struct L1dSpec {
  static constexpr std::uint32_t kMaxWays = 256;  ///< that tags can have
  std::uint32_t size_kib = 32, line_bytes = 128, sector_bytes = 32, ways = 4;
  std::uint32_t hit_latency_cycles = 28;
  std::uint32_t mshr_entries = 64, mshr_merges = 8, miss_queue = 8;
  std::uint32_t store_buffer = 0;
  WritePolicy write_policy = WritePolicy::WriteThrough,
              local_write_policy = WritePolicy::WriteThrough;
  SetIndex index = SetIndex::Modulo;
  Coalescing coalescing = Coalescing::Line;
  bool reserve_on_miss = false;  ///< the way is taken at the miss, not at the fill
  bool flush_at_kernel_start = true;
  bool invalidate_at_acquire = false;
  /// One memory for L1D and shared memory: what a kernel does not need as shared memory is its L1D.
  std::uint32_t unified_kib = 0;   ///< 0: size_kib whatever the kernel
  std::string shared_kib_choices;  ///< what can be set apart as shared memory, ascending
  /// Ways for a kernel of which an SM may hold that much shared memory; 0: as always.
  std::uint32_t ways_beside(std::uint64_t shared_bytes) const;
  /// Most ways of any kernel; sets of the spec's ways that are as much. Precondition: present.
  std::uint32_t max_ways() const;
  std::uint32_t max_sets() const;
  bool present() const { return size_kib != 0; }
  std::uint32_t sets() const { return present() ? size_kib * 1024 / (line_bytes * ways) : 0; }
  bool keeps_dirty() const {
    return timing::keeps_dirty(write_policy) || timing::keeps_dirty(local_write_policy);
  }
  void visit(FieldVisitor& v);
};

struct ConstCacheSpec {
  std::uint32_t size_kib = 0, line_bytes = 64, ways = 4, mshr_entries = 2, mshr_merges = 64;
  bool present() const { return size_kib != 0; }
  std::uint32_t sets() const { return size_kib * 1024 / (line_bytes * ways); }
  void visit(FieldVisitor& v);
};

}  // namespace raddle::timing
