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

namespace raddle::policy {

/// Reasons of stalls in the order of stats::Stall.
inline constexpr unsigned kStallReasons = 10;

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
};

/// All a scheme may see. Valid during the call only.
struct SchemeView {
  Cycle now;
  Cycle since;           ///< when it last looked; counts are of [since, now)
  std::uint8_t present;  ///< bit t: tenant t has launches that are not complete
  std::span<const TenantView, kMostTenants> tenant;

  bool has(unsigned t) const { return (present >> t & 1) != 0; }
};

/// A strategy. The same calls must give the same answers, and what depends on time may depend on
/// differences of cycles only: a run that starts later goes the same way.
class SchemePolicy {
 public:
  static constexpr std::string_view kLevel = "scheme";
  struct Context {
    unsigned sms = 1;
    unsigned blocks = 32;  ///< slots of an SM
    unsigned warps = 64;
    unsigned l1d_ways = 4, l2_ways = 16;
    std::uint64_t seed = 0;
  };
  virtual ~SchemePolicy() = default;
  /// false: tenants share as if there was no scheme; it is never asked.
  virtual bool shares() const { return true; }
  /// Called before the first cycle in which anything can happen, whenever the set of tenants that
  /// are present has changed, and in the cycle named by the last answer. Changes `knobs`, which
  /// are as it left them. Returns when it wants to look again, after view.now; kNever: only
  /// when tenants come and go.
  virtual Cycle look(const SchemeView& view, Knobs& knobs) = 0;
  virtual void visit_statistics(FieldVisitor&) {}
};

}  // namespace raddle::policy
