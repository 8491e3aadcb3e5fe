// What a scheme sets and units and local policies obey, for each tenant. A value: copied when it is
// taken over, between windows of the clock, so all obey from the same cycle on.
//
// Who obeys: block_cap the block dispatcher (timing/gpu/block_caps.h); active_blocks the SMs' issue
// (timing/sm/active_blocks.h); request_tokens and miss_queue the SMs' miss queues
// (timing/sm/request_gate.h), which then also go by priority; lsu_queue the SMs' load/store units
// (timing/sm/lsu_core.h); arbiter_cycles the SMs' port to the
// interconnect (timing/sm/lsu_core.h); issue_quota the SMs' issue (timing/sm/issue_quota.h);
// priority also warp and throttle policies that read it in their views; l1d_ways and l2_ways the
// caches' replacement (timing/cache/way_shares.h); dram_rank the DRAM channels, before their
// policy's own order (policy/dram/rank_first.h). A scheme that sets a knob which the machine at
// hand has nobody to obey (ranks where dram.model is "fixed", ways of an L1D that is not there or
// of a cache with more than 64) is refused by the simulator.
#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "raddle/base/types.h"

namespace raddle::policy {

inline constexpr std::uint32_t kNoLimit = std::numeric_limits<std::uint32_t>::max();

struct TenantKnobs {
  /// Resident blocks by SM; empty: as many as fit. 0 keeps the tenant off the SM. Blocks that are
  /// there when a cap falls stay until their end.
  std::vector<std::uint32_t> block_cap;
  /// On each SM, of the tenant's blocks the first so many in order of arrival may issue.
  std::uint32_t active_blocks = kNoLimit;
  /// Requests that each SM may send to the L2 in each interval of Knobs::token_interval; what is
  /// not used is lost. Above 0, at most kMaxTokens, or infinite.
  double request_tokens = std::numeric_limits<double>::infinity();
  static constexpr double kMaxTokens = 1e6;
  /// Of its loads and stores, so many requests at most wait in the miss queue of an SM. What leaves
  /// of itself (write-backs, buffered stores, registrations) needs room in the queue only.
  std::uint32_t miss_queue = kNoLimit;
  /// Of its memory instructions, so many at most wait in an SM's load/store unit; the L1D serves
  /// those of each tenant that is limited in order, and the tenants in turn, so nobody waits behind
  /// another's access that has been refused. kNoLimit: it shares one queue with all others like it.
  std::uint32_t lsu_queue = kNoLimit;
  /// Ways of each set that its misses may fill, one bit for each, at least one; it hits in all. Of
  /// the L1Ds (constant caches apart) and of the L2.
  std::uint64_t l1d_ways = ~std::uint64_t{0};
  std::uint64_t l2_ways = ~std::uint64_t{0};
  std::uint8_t dram_rank = 0;  ///< lower is served first
  std::uint8_t priority = 0;   ///< higher goes first, where nothing else says who does
  /// Warp instructions that each SM issues in an epoch. Above 0.
  std::uint32_t issue_quota = kNoLimit;

  std::uint32_t cap(unsigned sm) const { return block_cap.empty() ? kNoLimit : block_cap[sm]; }
  friend bool operator==(const TenantKnobs&, const TenantKnobs&) = default;
};

struct Knobs {
  std::array<TenantKnobs, kMaxTenants> tenant{};
  std::uint32_t token_interval = 200;  ///< cycles of the interconnect
  /// Core cycles by which every request of an SM comes later: the arbiter that picks them.
  std::uint32_t arbiter_cycles = 0;
  static constexpr std::uint32_t kMaxArbiterCycles = 8;
  /// An SM gives all tenants their issue_quota anew when none that has some left has a warp that is
  /// ready while another has (or, with issue_by_all, when every tenant with warps has spent its
  /// quota), and after so many core cycles anyway.
  std::uint32_t issue_epoch = 2000;
  bool issue_by_all = false;

  const TenantKnobs& of(TenantId id) const { return tenant[index(id)]; }
  friend bool operator==(const Knobs&, const Knobs&) = default;
};

}  // namespace raddle::policy
