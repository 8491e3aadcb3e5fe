// Level "warp": which ready warp a scheduler issues next. One instance per scheduler.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "raddle/base/age.h"
#include "raddle/base/fields.h"
#include "raddle/base/types.h"
#include "raddle/policy/observer.h"
#include "raddle/policy/scheme/knobs.h"
#include "raddle/policy/sm_view.h"

namespace raddle::policy {

/// Bit w stands for warp slot w of the SM.
using WarpMask = std::uint64_t;
/// By tenant: the slots of the SM that hold a warp of it.
using TenantMasks = std::array<WarpMask, kMaxTenants>;
inline constexpr TenantMasks kNobodysWarps{};

/// All a warp policy may see. Valid during the call only.
struct WarpView {
  WarpMask ready;  ///< of this scheduler: may issue this cycle (no hazard, unit free); never empty
  WarpMask resident;  ///< of this scheduler: holds a warp
  /// Order of assignment to the SM: by block, then by warp index in the block
  /// (docs/mechanisms/ccws.md).
  const AgeMatrix64& age;
  Cycle now;
  WarpMask memory = 0;  ///< of the SM: the next instruction goes to the load/store unit
  const TenantMasks& of_tenant = kNobodysWarps;
  const Knobs* knobs = nullptr;  ///< what the scheme has set; null without a scheme
};

/// A strategy. The SM calls pick() at most once a cycle for each scheduler, and only when at least
/// one of its warps is ready; it issues the answer. Warps come and go between calls, each told
/// once.
class WarpPolicy {
 public:
  static constexpr std::string_view kLevel = "warp";
  /// The answer of a policy that may_decline(): nobody issues in this cycle.
  static constexpr unsigned kInvalidId = 64;
  struct Context {
    unsigned sm = 0, scheduler = 0;
    unsigned first_slot = 0,
             slots = 64;  ///< this scheduler owns slots [first_slot, first_slot + slots)
    std::uint64_t seed = 0;
  };
  virtual ~WarpPolicy() = default;
  /// A set bit of view.ready.
  virtual unsigned pick(const WarpView& view) = 0;
  /// May pick() answer kNobody although warps are ready? It is asked again in the next cycle then,
  /// so no cycle is skipped for as long as it declines. Its warps count as throttled.
  virtual bool may_decline() const { return false; }
  /// If not null: told what happens in the SM's L1D (observer.h), as long as the policy lives.
  virtual L1Observer* l1_observer() { return nullptr; }
  /// If not null: shown the SM's warps and load/store unit (sm_view.h), as long as it lives.
  virtual SmObserver* sm_observer() { return nullptr; }
  /// A warp has taken a slot of this scheduler / has left it. A slot may be taken again at once;
  /// what a policy remembers of it does not hold for the next warp.
  virtual void on_warp_start(unsigned /*slot*/) {}
  virtual void on_warp_end(unsigned /*slot*/) {}
  /// Counters, summed over instances in the result.
  virtual void visit_statistics(FieldVisitor&) {}
};

}  // namespace raddle::policy
