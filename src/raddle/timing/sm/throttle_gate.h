// The throttle policy's side of an SM: what the policy is told, when it is asked, and which warps
// its last answer keeps from issuing. Without a throttle, or with one that never throttles, every
// warp may issue and nothing is asked. What a scheme holds back (active_blocks.h) is added to the
// answer.
#pragma once
#include <memory>
#include <utility>

#include "raddle/policy/registry.h"
#include "raddle/policy/throttle/policy.h"
#include "raddle/timing/sm/warps.h"

namespace raddle::timing {

class ThrottleGate {
 public:
  /// Of the running warps those that may not issue loads, and those that may not issue at all,
  /// which may not issue loads either.
  struct Answer {
    WarpMask no_load = 0;
    WarpMask no_issue = 0;
  };
  ThrottleGate(const policy::Choice<policy::ThrottlePolicy>* choice,
               const policy::ThrottlePolicy::Context& context) {
    if (choice == nullptr) return;
    policy_ = choice->make(context);
    if (!policy_->throttles()) policy_ = nullptr;
  }
  bool present() const { return policy_ != nullptr; }
  policy::ThrottlePolicy* policy() const { return policy_.get(); }
  /// The last answer may hold no longer from this cycle on.
  Cycle until() const { return policy_->until(); }
  WarpMask no_load() const { return answer_.no_load; }

  Answer ask(Cycle now, const WarpTable& warps) {
    const WarpMask running = warps.running();
    admission_ = policy_->ask({running, warps.at_barrier & running, warps.age, warps.block_of, now,
                               warps.of_tenant, warps.knobs});
    RADDLE_ASSERT(admission_.until > now);
    return answer(running);
  }
  /// The throttle's last answer for these running warps, and none of those that are held.
  Answer answer(WarpMask running) const {
    const WarpMask issue = admission_.issue & ~held_;
    return {running & ~(issue & admission_.load), running & ~issue};
  }
  /// Warps that may not issue, whatever the throttle says.
  void hold(WarpMask warps) { held_ = warps; }
  /// Warps for which another thing holds then.
  WarpMask changes(const Answer& answer) const {
    return (answer.no_issue ^ answer_.no_issue) | (answer.no_load ^ answer_.no_load);
  }
  void adopt(const Answer& answer) { answer_ = answer; }
  /// Of these warps those that are not let issue what they have next. `loads`: those that have a
  /// memory instruction next.
  WarpMask denied(WarpMask warps, WarpMask memory, const WarpTable& table) const {
    WarpMask out = warps & answer_.no_issue;
    for (WarpMask m = warps & answer_.no_load & memory; m != 0; m &= m - 1)
      if (table[lowest(m)].next->route == Route::Load) out |= m & -m;
    return out;
  }

  // --- what the policy is told; asked again after each but issued() and loads -------------------
  void kernel_started(Cycle now) {
    policy_->on_kernel_start(now);
    policy_->ask_again();
  }
  void warp_started(Cycle now, unsigned warp) {
    policy_->on_warp_start(now, warp);
    policy_->ask_again();
  }
  void warp_ended(Cycle now, unsigned warp) {
    policy_->on_warp_end(now, warp);
    policy_->ask_again();
  }
  void barrier(Cycle now) {
    policy_->on_barrier(now);
    policy_->ask_again();
  }
  void issued(unsigned warp) { policy_->on_issue(warp); }
  void load_issued(Cycle now, TenantId tenant) { policy_->on_load(now, tenant); }
  void load_done(Cycle now, TenantId tenant) { policy_->on_load_done(now, tenant); }
  /// The slot has no running warp any more: nothing is kept from it.
  void forget(unsigned warp) {
    answer_.no_load &= ~bit_of(warp);
    answer_.no_issue &= ~bit_of(warp);
  }

 private:
  std::unique_ptr<policy::ThrottlePolicy> policy_;
  policy::Admission admission_;
  WarpMask held_ = 0;
  Answer answer_;
};

}  // namespace raddle::timing
