// Level "dram": which queued request a DRAM channel serves with its next command. One instance per
// channel.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "raddle/base/age.h"
#include "raddle/base/fields.h"
#include "raddle/base/mask.h"
#include "raddle/base/types.h"
#include "raddle/policy/scheme/policy.h"

namespace raddle::policy {

/// Ranks of cores, for policies that want them (DramPolicy::wants_core_ranks): how many eighths of
/// its warps a core has ready, so the first is the most critical. The last is also that of requests
/// for which no core waits.
inline constexpr unsigned kCoreRanks = 8;
inline constexpr std::uint8_t kLastCoreRank = kCoreRanks - 1;
/// What a rank takes in the header of a request. Three bits would do; packets are counted in bytes.
inline constexpr std::uint32_t kCoreRankBytes = 1;

/// Who sent a request.
struct DramTag {
  std::uint16_t sm = 0;
  std::uint8_t kernel = 0;
  bool write = false;
  std::uint8_t bank = 0;
  /// Whose launch it is that asks, or that pushed out the line which is written back.
  TenantId tenant{};
  std::uint8_t rank = 0;                   ///< of the tenant, as a scheme says: lower goes first
  std::uint8_t core_rank = kLastCoreRank;  ///< means something only to who wants it
};

/// Banks of a channel, at most.
inline constexpr unsigned kMaxBanks = 64;

/// All a DRAM policy may see; bit i stands for queue slot i. The channel has applied its read/write
/// turnaround already: only requests of the direction being served are candidates. Where a scheme
/// ranks tenants, it shows the requests of one rank after the other, the first rank first
/// (dram/rank_first.h), so a policy has to do nothing about ranks.
struct DramView {
  Mask128 candidates;  ///< never empty
  Mask128 row_hits;    ///< of the candidates: their row is open
  Mask128 issuable;    ///< of the candidates: their next command (column, activate or precharge)
                       ///< breaks no timing now
  Mask128 closes_wanted_row;  ///< of the issuable: the next command is a precharge of a row that
                              ///< another candidate still hits
  const AgeMatrix128& age;    ///< order of arrival
  std::span<const DramTag> tags;  ///< by queue slot
  std::uint64_t now;              ///< memory-clock cycle
};

/// A strategy: names the request whose next command goes out, one command a cycle.
class DramPolicy {
 public:
  static constexpr std::string_view kLevel = "dram";
  struct Context {
    unsigned channel = 0, banks = 16;
    std::uint64_t seed = 0;
    std::uint32_t core_mhz = 1, memory_mhz = 1;
  };
  virtual ~DramPolicy() = default;
  /// A member of view.issuable, or nothing. Called only when view.issuable is not empty. Must not
  /// depend on how often it is called while the view stays the same (cycles in which nothing is
  /// issuable are skipped).
  virtual std::optional<unsigned> pick(const DramView& view) = 0;
  /// Requests carry the rank that their core has when they leave it. The same for all instances.
  virtual bool wants_core_ranks() const { return false; }
  /// Every so many cycles of the core learn() is called, of all instances in the same cycle; 0:
  /// never. The same for all instances.
  virtual Cycle wants_tenants_every() const { return 0; }
  /// What each tenant has done on the whole GPU since the last time, by tenant.
  virtual void learn(std::span<const TenantCounts, kMaxTenants>) {}
  /// The next memory cycle after `now` in which pick() may answer otherwise though all of its view
  /// but `now` is the same; kNever: none. Asked when pick() has wanted nothing.
  virtual std::uint64_t changes_after(std::uint64_t) const { return kNever; }
  virtual void visit_statistics(FieldVisitor&) {}
};

}  // namespace raddle::policy
