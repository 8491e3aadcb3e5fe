// Who may issue, beside what hardware hazards allow: the throttle policy's answer
// (throttle_gate.h), the blocks that a scheme keeps inactive (active_blocks.h) and tenants that
// have spent their quota (issue_quota.h). It takes care that
// - the throttle hears of what it wants to know, and is asked when its answer may hold no longer;
// - before another answer holds, warps are counted as they were under the old one
//   (stall_account.h);
// - the schedulers of warps for which another thing holds now look again (scoreboard.h).
#pragma once
#include <algorithm>
#include <memory>

#include "raddle/base/error.h"
#include "raddle/timing/sm/active_blocks.h"
#include "raddle/timing/sm/issue_quota.h"
#include "raddle/timing/sm/scoreboard.h"
#include "raddle/timing/sm/stall_account.h"
#include "raddle/timing/sm/throttle_gate.h"

namespace raddle::timing {

class IssueGate {
 public:
  /// Both must outlive the gate.
  IssueGate(const policy::Choice<policy::ThrottlePolicy>* throttle,
            const policy::ThrottlePolicy::Context& context, Scoreboard& board, StallAccount& stalls)
      : throttle_(throttle, context), board_(board), stalls_(stalls) {}
  bool throttles() const { return throttle_.present(); }
  /// Anybody may hold warps back: a throttle or a scheme.
  bool present() const { return throttle_.present() || active_ != nullptr; }
  policy::ThrottlePolicy* throttle() const { return throttle_.policy(); }

  // --- each cycle --------------------------------------------------------------------------------
  /// Before warps are picked. `always`: the throttle is asked in any case.
  [[gnu::always_inline]] void update(Cycle now, bool always) {
    if (throttle_.present() && (now >= throttle_.until() || always))
      take_over(now, throttle_.ask(now, board_.warps()));
    if (quota_ != nullptr) [[unlikely]]
      renew_quota(now);
  }
  /// When it may have another answer if nothing happens before.
  Cycle next_event(Cycle now) const {
    Cycle next = throttle_.present() ? std::max(now + 1, throttle_.until()) : kNever;
    if (quota_ != nullptr && board_.warps().running() != 0)
      next = std::min(next, std::max(now + 1, quota_->deadline()));
    return next;
  }
  /// Warps that may not issue loads; those that may not issue at all are among them.
  WarpMask no_load() const { return throttle_.no_load(); }
  /// Of these warps those that are not let issue what they have next.
  WarpMask denied(WarpMask warps) const {
    return throttle_.denied(warps, board_.units().wanting(Unit::Lsu), board_.warps());
  }
  /// The warp issues. True: its tenant's quota is spent with that, which holds for the others from
  /// the next hold() on.
  bool issued(unsigned w) {
    if (throttle_.present()) [[unlikely]]
      throttle_.issued(w);
    return quota_ != nullptr && quota_->issued(board_[w].launch->tenant);
  }
  /// What a scheme holds back now, in addition to the throttle's last answer.
  void hold(Cycle now) {
    RADDLE_ASSERT(active_ != nullptr);
    const WarpTable& warps = board_.warps();
    const WarpMask spent = quota_ != nullptr ? quota_->held(warps.of_tenant) : 0;
    throttle_.hold(active_->held() | spent);
    take_over(now, throttle_.answer(warps.running()));
  }
  /// So many warps have been there since the last call: to be called before they change.
  void count_warps(Cycle now) {
    stalls_.count_warps(now, board_.warps().running(), throttle_.no_load());
  }

  // --- a scheme ----------------------------------------------------------------------------------
  /// The knobs hold from cycle `at` on, and must live until the next call.
  void obey(Cycle at, const policy::Knobs& knobs) {
    if (active_ == nullptr) active_ = std::make_unique<ActiveBlocks>();
    active_->obey(knobs);
    if (!IssueQuota::limits(knobs)) quota_ = nullptr;
    else if (quota_ == nullptr) quota_ = std::make_unique<IssueQuota>();
    if (quota_ != nullptr) quota_->obey(at, knobs);
    hold(at);
    if (throttle_.present()) throttle_.policy()->ask_again();
  }
  void block_started(Cycle now, TenantId tenant, unsigned slot, WarpMask warps) {
    if (active_ == nullptr) return;
    active_->started(tenant, slot, warps);
    hold(now);
  }
  void block_ended(Cycle now, unsigned slot) {
    if (active_ == nullptr) return;
    active_->ended(slot);
    hold(now);
  }
  /// The warp's slot is free.
  void warp_left(unsigned w) {
    if (active_ != nullptr) active_->left(bit_of(w));
  }

  // --- what the throttle is told -----------------------------------------------------------------
  void kernel_started(Cycle now) {
    if (throttle_.present()) throttle_.kernel_started(now);
  }
  void warp_started(Cycle now, unsigned w) {
    if (throttle_.present()) throttle_.warp_started(now, w);
  }
  /// It has no instruction left, or goes away: nothing is kept from it.
  void warp_ended(Cycle now, unsigned w) {
    throttle_.forget(w);
    if (throttle_.present()) throttle_.warp_ended(now, w);
  }
  void barrier(Cycle now) {
    if (throttle_.present()) throttle_.barrier(now);
  }
  void load_issued(Cycle now, TenantId tenant) {
    if (throttle_.present()) throttle_.load_issued(now, tenant);
  }
  void load_done(Cycle now, TenantId tenant) {
    if (throttle_.present()) throttle_.load_done(now, tenant);
  }

 private:
  // What held until now is counted; then the answer is taken over, and the schedulers of the warps
  // it concerns look again.
  void take_over(Cycle now, const ThrottleGate::Answer& answer) {
    const WarpMask changes = throttle_.changes(answer);
    if (changes == 0) return;
    count_warps(now);
    throttle_.adopt(answer);
    board_.look_again(changes & board_.warps().ready);
  }
  void renew_quota(Cycle now) {
    const WarpTable& warps = board_.warps();
    if (quota_->renew(now, warps.ready, warps.running(), warps.of_tenant)) hold(now);
  }

  ThrottleGate throttle_;
  Scoreboard& board_;
  StallAccount& stalls_;
  std::unique_ptr<ActiveBlocks> active_;  // null without a scheme
  std::unique_ptr<IssueQuota> quota_;     // null unless it limits what a tenant issues
};

}  // namespace raddle::timing
