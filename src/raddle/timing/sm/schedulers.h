// The schedulers of an SM: one warp policy each, and whose turn it is where they meet (the way into
// the load/store unit, and units they share, take one instruction a cycle, and the scheduler after
// the one that used them last is asked first). Each owns the same number of warp slots; new warps
// are dealt to them round-robin, skipping those that are full.
#pragma once
#include <array>
#include <memory>
#include <string>

#include "raddle/base/error.h"
#include "raddle/policy/fault.h"
#include "raddle/policy/registry.h"
#include "raddle/timing/sm/warps.h"

namespace raddle::timing {

class Schedulers {
 public:
  Schedulers(const SmSpec& spec, unsigned sm, const policy::Choice<policy::WarpPolicy>& choice,
             std::uint64_t seed)
      : slots_(spec), policy_name_(choice.name()) {
    for (unsigned s = 0; s < count(); ++s)
      policy_[s] = choice.make({sm, s, slots_.first_slot(s), slots_.slots_of_each(), seed});
  }
  unsigned count() const { return slots_.schedulers(); }
  const SchedulerSlots& slots() const { return slots_; }
  policy::WarpPolicy& policy(unsigned scheduler) const { return *policy_[scheduler]; }

  /// The scheduler that is asked first.
  unsigned first() const { return turn_; }
  /// This one has used what they share.
  void has_used_shared(unsigned scheduler) { turn_ = slots_.after(scheduler); }

  /// The warp that a scheduler issues, one of `ready`; kNobody: its policy declines.
  /// `memory`: those whose next instruction goes to the load/store unit.
  [[gnu::always_inline]] unsigned pick(Cycle now, unsigned scheduler, WarpMask ready,
                                       WarpMask memory, const WarpTable& warps) {
    const unsigned w =
        policy_[scheduler]->pick({ready, warps.resident & slots_[scheduler], warps.age, now, memory,
                                  warps.of_tenant, warps.knobs});
    if (w >= SmSpec::kMaxWarps || !has(ready, w)) [[unlikely]]
      check_declined(scheduler, w);
    return w;
  }
  /// The slot of a new warp. Precondition: one is free.
  unsigned deal(WarpMask resident) {
    for (unsigned n = 0; n < count(); ++n) {
      const unsigned scheduler = deal_turn_;
      deal_turn_ = slots_.after(deal_turn_);
      if (const WarpMask free = slots_[scheduler] & ~resident; free != 0) return lowest(free);
    }
    assertion_failed("a warp slot is free for every warp that comes", __FILE__, __LINE__);
  }
  void warp_started(unsigned warp) { policy_[slots_.scheduler_of(warp)]->on_warp_start(warp); }
  void warp_left(unsigned warp) { policy_[slots_.scheduler_of(warp)]->on_warp_end(warp); }

 private:
  [[gnu::noinline]] void check_declined(unsigned scheduler, unsigned w) const {
    if (w == policy::WarpPolicy::kInvalidId && policy_[scheduler]->may_decline()) return;
    policy::wrong_answer("warp=" + policy_name_, "picks a warp that is ready, and scheduler " +
                                                     std::to_string(scheduler) + " was given " +
                                                     std::to_string(w));
  }
  SchedulerSlots slots_;
  std::array<std::unique_ptr<policy::WarpPolicy>, SmSpec::kMaxSchedulers> policy_;
  std::string policy_name_;
  unsigned turn_ = 0, deal_turn_ = 0;
};

}  // namespace raddle::timing
