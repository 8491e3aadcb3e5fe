// Level "scheme": shares the GPU among tenants. One instance per GPU, with a period of its own: now
// and then it looks at what each tenant has done since it last looked, and sets knobs that the
// machine's units and the local policies of the other levels obey (knobs.h). That is where systems
// belong that act on several levels at once, such as a partition of the SMs with caps of blocks,
// bandwidth and cache ways that feedback adjusts.
//
// Knobs change between windows of the clock (the length of the shortest wire, a few cycles), in the
// first cycle of a window: that is the precision of a scheme's period, and what makes its effect
// the same for any number of threads. Left out: the time that a scheme's messages and its own
// computation would take; a scheme that models them delays its knobs itself.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "raddle/base/fields.h"
#include "raddle/base/types.h"
#include "raddle/policy/scheme/knobs.h"
#include "raddle/policy/scheme/resources.h"

namespace raddle::policy {

/// Reasons of stalls in the order of stats::Stall.
inline constexpr unsigned kStallReasons = 11;

/// What was counted for a tenant since the scheme last looked.
struct TenantCounts {
  std::uint64_t instructions = 0, thread_instructions = 0;
  /// Scheduler-cycles in which a warp of the tenant was the nearest to ready and did not issue.
  std::array<std::uint64_t, kStallReasons> stall{};
  std::uint64_t memory_instructions = 0;         ///< loads and atomics that are complete
  std::uint64_t l1d_accesses = 0, l1d_hits = 0;  ///< lines, by loads
  std::uint64_t l1d_reservation_fails = 0;       ///< cycles in which the next access was refused
  std::uint64_t requests = 0;                    ///< into the miss queues
  /// SM-cycles in which the oldest request of the tenant had no token (Knobs::request_tokens).
  std::uint64_t token_wait_cycles = 0;
  /// On each SM, intervals of tokens in which its oldest request has waited for one.
  std::uint64_t starved_intervals = 0;
  std::uint64_t request_packets = 0, request_flits = 0, request_bytes = 0;  ///< SM to L2
  std::uint64_t read_packets = 0;                                           ///< of request_packets
  std::uint64_t reply_packets = 0, reply_flits = 0, reply_bytes = 0;        ///< L2 to SM
  std::uint64_t dram_accesses = 0;  ///< that answered requests have caused, as their replies tell
  std::uint64_t dram_reads = 0, dram_writes = 0, dram_bytes = 0;
  std::uint64_t dram_busy_cycles = 0;  ///< of the data buses, in memory cycles
  std::uint64_t blocks_ended = 0;
};

struct TenantView {
  TenantCounts counts;
  std::span<const std::uint32_t> resident_blocks;  ///< now, by SM; those on their way included
  /// Now, by SM: in warp slots, those that have ended and wait for their data included.
  std::span<const std::uint32_t> resident_warps;
  /// Of each resource, the most that a block takes in any launch so far that could go; and how many
  /// of its blocks an SM holds when the tenant is alone: as many as fit, but no more than the grid
  /// has for each SM, in the launch with most. 0 before the first launch.
  BlockResources block = {};
  std::uint32_t max_blocks = 0;
};

/// All a scheme may see. Valid during the call only.
struct SchemeView {
  Cycle now;
  Cycle since;           ///< when it last looked; counts are of [since, now)
  std::uint8_t present;  ///< bit t: tenant t has launches that are not complete
  std::span<const TenantView, kMaxTenants> tenant;

  bool has(unsigned t) const { return (present >> t & 1) != 0; }
};

/// What the machine can move at most, and what a request costs, in bytes.
struct BandwidthFacts {
  double cycles = 1;               ///< of the interconnect in a core cycle
  double reply_bytes = 512;        ///< that the L2 sends all SMs in a cycle of the interconnect
  double dram_bytes = 256;         ///< that all memory channels move in one
  double read_reply_bytes = 160;   ///< of a reply with a line, in whole flits
  double dram_access_bytes = 128;  ///< a line of the L2
};

/// A strategy. The same calls must give the same answers, and what depends on time may depend on
/// differences of cycles only: a run that starts later goes the same way.
class SchemePolicy {
 public:
  static constexpr std::string_view kLevel = "scheme";
  struct Context {
    unsigned sms = 1;
    unsigned l1d_ways = 4, l2_ways = 16;
    std::uint64_t seed = 0;
    SmResources sm;
    std::uint32_t miss_queue = 128;  ///< entries of an SM's
    std::uint32_t lsu_queue = 8;     ///< memory instructions that an SM's load/store unit queues
    BandwidthFacts bandwidth;
    /// By tenant: thread instructions per cycle of the GPU; 0 = not known.
    std::array<double, kMaxTenants> ipc_alone{};
  };
  virtual ~SchemePolicy() = default;
  /// false: tenants share as if there was no scheme; it is never asked.
  virtual bool shares() const { return true; }
  /// Does it go by Context::ipc_alone? Then a co-run runs its tenants alone before.
  virtual bool wants_ipc_alone() const { return false; }
  /// Where it has to watch the tenants before it decides, the fewest cycles that takes.
  virtual Cycle decides_after() const { return 0; }
  /// Called before the first cycle in which anything can happen, whenever the set of tenants that
  /// are present has changed or TenantView::block or max_blocks of one has grown, and in the cycle
  /// named by the last answer. Changes `knobs`, which are as it left them. Returns when it wants to
  /// look again, after view.now; kNever: only on such changes. Throws InputError when these tenants
  /// cannot share the machine as the scheme has them do.
  virtual Cycle look(const SchemeView& view, Knobs& knobs) = 0;
  virtual void visit_statistics(FieldVisitor&) {}
};

}  // namespace raddle::policy
