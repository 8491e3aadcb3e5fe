// Counters of the machine: plain integers, incremented where things happen, each with a unit and a
// meaning. Intervals and kernels are differences of snapshots.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "raddle/base/fields.h"
#include "raddle/base/limits.h"

namespace raddle::stats {

/// Why a scheduler issued nothing in a cycle. Every scheduler-cycle is issued or has exactly one
/// reason; when several hold, the first in this order that applies to the nearest-to-ready warp is
/// taken (docs/architecture.md).
enum class Stall : std::uint8_t {
  Idle,        ///< no warp resident, for another reason than Launch
  Barrier,     ///< every resident warp waits at a barrier
  Memory,      ///< an operand is still on its way from memory
  Dependence,  ///< an operand is still being computed
  Unit,        ///< operands are there, the execution unit is busy
  Lsu,         ///< operands are there, the load/store unit accepts nothing
  Fence,       ///< waits for earlier memory operations to be visible
  Sleep,       ///< nanosleep
  Fetch,       ///< the next instruction is not in the buffer
  Throttled,   ///< operands and unit are there, the throttle policy does not let the warp issue
  Launch,      ///< no block is on any SM, and a launch is on its way to one
};
inline constexpr unsigned kStalls = 11;
inline constexpr std::array<std::string_view, kStalls> kStallNames = {
    "idle",  "barrier", "memory", "dependence", "unit",  "lsu",
    "fence", "sleep",   "fetch",  "throttled",  "launch"};

/// Sums member by member: every counter struct here is nothing but std::uint64_t.
template <class Counters>
Counters& accumulate(Counters& into, const Counters& from, std::int64_t sign = 1) {
  static_assert(sizeof(Counters) % sizeof(std::uint64_t) == 0);
  auto* a = reinterpret_cast<std::uint64_t*>(&into);
  const auto* b = reinterpret_cast<const std::uint64_t*>(&from);
  for (std::size_t i = 0; i < sizeof(Counters) / sizeof(std::uint64_t); ++i)
    a[i] += static_cast<std::uint64_t>(sign) * b[i];
  return into;
}

using raddle::kKernelSlots;

/// A component's counters, kept apart by the launch slot they were counted for.
template <class Counters>
class PerKernel {
 public:
  /// For so many slots: kernel_slots() of the machine.
  explicit PerKernel(unsigned slots) : slot_(slots) {}
  unsigned slots() const { return static_cast<unsigned>(slot_.size()); }
  Counters& operator[](unsigned slot) { return slot_[slot]; }
  const Counters& operator[](unsigned slot) const { return slot_[slot]; }
  Counters total() const {
    Counters sum;
    for (const Counters& c : slot_) accumulate(sum, c);
    return sum;
  }

 private:
  std::vector<Counters> slot_;
};

/// Why the oldest instruction of a load/store unit could not go on.
enum class Refusal : std::uint8_t {
  Mshr,         ///< no MSHR is free
  Merge,        ///< the line's MSHR holds as many accesses as it can
  Way,          ///< every way of the set waits for its data
  MissQueue,    ///< no room towards the interconnect
  StoreBuffer,  ///< no entry is free
  WriteBack,    ///< DeNovo: the line is on its way to the L2
};
inline constexpr unsigned kRefusals = 6;
inline constexpr std::array<std::string_view, kRefusals> kRefusalNames = {
    "mshr", "merge", "way", "miss_queue", "store_buffer", "write_back"};

/// Where the last data of a load's line access came from. What waited for another's miss is counted
/// as that came.
enum class ServedFrom : std::uint8_t {
  L1,
  RemoteL1,  ///< DeNovo: the L1 where the words are registered
  L2,
  Memory,
};
inline constexpr unsigned kServedFrom = 4;
inline constexpr std::array<std::string_view, kServedFrom> kServedFromNames = {"l1", "remote_l1",
                                                                               "l2", "memory"};

/// Classes of operation an instruction is counted under: trace::OpClass, which this room does not
/// know.
inline constexpr unsigned kOpClasses = 17;

/// What an SM's warps do; kept by kernel.
struct SmCounters {
  std::uint64_t issued = 0;                                             ///< warp instructions
  std::uint64_t thread_instructions = 0;                                ///< lanes active at issue
  std::array<std::uint64_t, kOpClasses> class_issued{}, class_lanes{};  ///< the same by class
  std::uint64_t register_reads = 0,
                register_writes = 0;      ///< operands of 32 lanes, predicates not counted
  std::uint64_t operand_wait_cycles = 0;  ///< by which operands were collected late
  std::array<std::uint64_t, kStalls>
      stall{};  ///< scheduler-cycles for which a warp of the kernel was the nearest to ready
  std::uint64_t l1d_accesses = 0, l1d_hits = 0, l1d_pending_hits = 0,
                l1d_misses = 0;  ///< line accesses by loads
  std::uint64_t l1d_stores = 0, l1d_evictions = 0, l1d_fills = 0;
  std::uint64_t l1d_store_hits = 0;  ///< of the stores, those that wrote into a present line
  std::uint64_t l1d_reservation_fails =
      0;  ///< cycles the LSU head waited for MSHR, merge slot or miss queue
  std::array<std::uint64_t, kRefusals> l1d_refused{};  ///< the same by cause
  std::uint64_t l1d_miss_cycles = 0;                   ///< sum over fills of the time from the miss
  std::uint64_t l1d_store_misses = 0, l1d_write_backs = 0,
                stores_combined = 0;  ///< fetches for stores; dirty lines that left; in the buffer
  std::uint64_t requests = 0, replies = 0;   ///< into the miss queue; back
  std::uint64_t loads = 0, load_cycles = 0;  ///< complete, atomics included; issue to write-back
  std::uint64_t load_lsu_cycles = 0, load_hit_cycles = 0, load_queue_cycles = 0,
                load_outside_cycles = 0;  ///< parts of load_cycles (lsu.h)
  std::uint64_t atomics = 0;
  std::array<std::uint64_t, kServedFrom> served{};  ///< line accesses of loads and atomics
  std::uint64_t registrations = 0;  ///< DeNovo: sent to the L2; write-backs as above
  std::uint64_t shared_accesses = 0, shared_passes = 0;
  std::uint64_t const_accesses = 0, const_hits = 0, const_misses = 0;
  std::uint64_t blocks = 0;
};

/// What sharing the GPU costs; kept by kernel, all 0 without a scheme (policy/scheme).
struct SharingCounters {
  /// SM-cycles in which the oldest request of the launch's tenant was the launch's and had no
  /// token; the port to the interconnect looks whenever it is free.
  std::uint64_t token_wait_cycles = 0;
  std::uint64_t starved_intervals = 0;  ///< of the SMs' intervals of tokens, those with such cycles
};

/// What an SM's schedulers do, whomever they serve.
struct SchedulerCounters {
  std::array<std::uint64_t, kStalls> stall{};  ///< scheduler-cycles without an issue, by reason
  std::uint64_t warp_cycles = 0;  ///< cycles x warps that have not issued their last instruction
  std::uint64_t throttled_warp_cycles = 0;  ///< of these: may not issue, or no loads
};

/// What packets a network delivers are about; the reply of a kind is counted under it.
inline constexpr unsigned kNocKinds = 5;
inline constexpr std::array<std::string_view, kNocKinds> kNocKindNames = {"read", "write", "atomic",
                                                                          "reduce", "write_back"};
struct NocTraffic {
  std::uint64_t packets = 0, flits = 0;
  std::uint64_t bytes = 0;      ///< header and data, without the padding of the last flit
  std::uint64_t flit_hops = 0;  ///< flits x links between routers (crossbar: 1)
};
/// All packets, and those of each kind.
struct NocCounters : NocTraffic {
  std::array<NocTraffic, kNocKinds> kind{};
};

/// One port of a network. Cycles are the network's; it is busy for one per flit.
struct NocPort {
  std::uint64_t packets = 0, flits = 0;
  std::uint64_t blocked_credit = 0;       ///< cycles a packet (mesh: flit) waited for a credit
  std::uint64_t blocked_arbitration = 0;  ///< ... and lost against others
};

/// How each is counted: timing/mem/l2_slice.h.
struct L2Counters {
  std::uint64_t reads = 0, writes = 0, atomics = 0;
  std::uint64_t hits = 0, pending_hits = 0,
                misses = 0;  ///< reads + writes + atomics = hits + pending_hits + misses
  std::uint64_t evictions = 0;
  std::uint64_t crossings = 0;  ///< sectors to and from the SMs at the L2's other half
  std::uint64_t fetches = 0, write_backs = 0, passed_on = 0;  ///< accesses to DRAM, by reason
  std::array<std::uint64_t, 3> replies{};  ///< by the accesses to DRAM their requests caused
  std::uint64_t forwards = 0, takes = 0, invalidations = 0,
                recalls = 0;  ///< DeNovo: messages to owners
  /// The waits that tile the time of answered requests in their slice.
  std::uint64_t queue_cycles = 0, miss_cycles = 0, pending_cycles = 0, atomic_cycles = 0,
                pipeline_cycles = 0, reply_cycles = 0;
  std::uint64_t blocked_cycles = 0;  ///< part of queue_cycles: the head was refused
};

/// Cycles are memory cycles (dram.clock_mhz); core cycles with dram.model = "fixed".
struct DramCounters {
  std::uint64_t reads = 0, writes = 0;          ///< requests
  std::uint64_t bytes = 0, written_bytes = 0;   ///< in whole bursts; written ones among all
  std::uint64_t activates = 0, precharges = 0;  ///< banks opened and closed
  std::uint64_t row_hits = 0;                   ///< requests for which no row had to be opened
  std::uint64_t queue_cycles = 0;     ///< sum over requests: arrival to first column command
  std::uint64_t bus_busy_cycles = 0;  ///< data on the bus
  std::uint64_t refreshes = 0;  ///< commands, for the kernel of the oldest request waiting then or
                                ///< the next to come
  NocTraffic legs;  ///< packets between L2 slices and controllers, where a mesh carries them
};

/// The whole machine.
struct GpuCounters {
  SmCounters sm;
  SharingCounters sharing;
  SchedulerCounters scheduler;
  NocCounters request, reply;
  L2Counters l2;
  DramCounters dram;
};

}  // namespace raddle::stats
