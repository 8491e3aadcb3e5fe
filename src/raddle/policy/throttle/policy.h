// Level "throttle": which warps of an SM may issue at all, and which may issue loads. One instance
// per SM, whatever the number of its schedulers. It stands before the warp policies: a throttle
// takes warps away, each scheduler's warp policy picks from those that are left ("intersection
// logic" of Rogers, O'Connor, Aamodt, "Cache-Conscious Wavefront Scheduling", MICRO 2012, figure
// 5).
//
// The SM asks for an Admission and keeps to it until it may have become another: until the cycle
// the answer names, or until something happened that the throttle was told of. Asked more often, in
// every cycle even, a throttle must give the same answers: an admission is a function of what was
// told and of the cycle, and what decays with time is computed from the cycle (tested: contract
// suite, --no-skip).
#pragma once
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "raddle/base/age.h"
#include "raddle/base/fields.h"
#include "raddle/base/types.h"
#include "raddle/policy/observer.h"
#include "raddle/policy/warp/policy.h"

namespace raddle::policy {

/// By warp slot of the SM: the slot of its thread block. Of slots without a warp: meaningless.
using BlockOfWarp = std::array<std::uint8_t, 64>;

/// All a throttle may see. Valid during the call only.
struct ThrottleView {
  WarpMask running;        ///< of the SM: holds a warp whose last instruction has not issued
  WarpMask at_barrier;     ///< of these: waits at a barrier of its block
  const AgeMatrix64& age;  ///< order of assignment to the SM; knows every running warp
  const BlockOfWarp& block_of;
  Cycle now;
  const TenantMasks& of_tenant = kNobodysWarps;
  const Knobs* knobs = nullptr;  ///< what the scheme has set; null without; asked again on a change
};

/// Bits of slots without a running warp mean nothing.
struct Admission {
  WarpMask issue = ~WarpMask{0};  ///< may issue what is no load of global or local memory ...
  WarpMask load = ~WarpMask{0};   ///< ... and, if in `issue` too, such loads
  /// First cycle in which the answer may be another if nothing is told before; after view.now.
  Cycle until = kNever;
};

/// A strategy that may observe. Order inside a cycle: what arrives (starts of warps, data for the
/// L1D), results (barriers opening, warps that end), ask(), issues (barriers, warps that end), then
/// the L1D serves an access. The schedulers of the SM all issue under one admission.
class ThrottlePolicy {
 public:
  static constexpr std::string_view kLevel = "throttle";
  struct Context {
    unsigned sm = 0;
    unsigned warps = 64;  ///< slots of the SM
    std::uint64_t seed = 0;
    unsigned schedulers = 1;  ///< of the SM
  };
  virtual ~ThrottlePolicy() = default;
  /// false: every warp may always do everything; the SM neither asks nor tells anything.
  virtual bool throttles() const { return true; }

  /// What holds from view.now on.
  Admission ask(const ThrottleView& view) {
    const Admission answer = admit(view);
    until_ = answer.until;
    return answer;
  }
  Cycle until() const { return until_; }
  /// The last answer may be wrong. The SM says so after each of the calls below but on_issue() and
  /// those about loads; there, and when it has learnt something from the L1D, the throttle does.
  void ask_again() { until_ = 0; }

  /// A warp has taken a slot / has issued its last instruction. The slot may be taken again when
  /// the warp's memory operations are over.
  virtual void on_warp_start(Cycle /*now*/, unsigned /*slot*/) {}
  virtual void on_warp_end(Cycle /*now*/, unsigned /*slot*/) {}
  /// A running warp has issued an instruction.
  virtual void on_issue(unsigned /*slot*/) {}
  /// A warp's load or atomic of global or local memory is under way in this SM / no longer, as all
  /// its data are there or the warp has gone to another SM with it.
  virtual void on_load(Cycle /*now*/, TenantId) {}
  virtual void on_load_done(Cycle /*now*/, TenantId) {}
  /// Warps have come to wait at a barrier or have stopped waiting.
  virtual void on_barrier(Cycle /*now*/) {}
  /// The first block of a launch has come; before its warps start.
  virtual void on_kernel_start(Cycle /*now*/) {}
  /// If not null: told what happens in the SM's L1D (observer.h), as long as the policy lives.
  virtual L1Observer* l1_observer() { return nullptr; }
  /// If not null: shown the SM's warps and load/store unit (sm_view.h), as long as it lives.
  virtual SmObserver* sm_observer() { return nullptr; }
  /// Counters, summed over instances in the result. When no warp is there.
  virtual void visit_statistics(FieldVisitor&) {}

 protected:
  virtual Admission admit(const ThrottleView& view) = 0;

 private:
  Cycle until_ = 0;
};

}  // namespace raddle::policy
