// The warp suite: a little SM whose warps come, go and stall at random.
#include <vector>

#include "contract/seeded_views.h"
#include "raddle/base/rng.h"
#include "support/fake_sm.h"

namespace raddle::contract {

namespace {

using policy::WarpMask;
using policy::WarpPolicy;

class RandomWarps {
 public:
  RandomWarps(std::uint64_t seed, WarpPolicy::Context context)
      : rng_(seed, "warps"), context_(context) {}

  /// Moves on a cycle; false when nothing is ready (then nobody is asked).
  bool step(std::initializer_list<WarpPolicy*> notified) {
    ++now_;
    notified_ = notified;
    const WarpMask own =
        low_bits(context_.first_slot + context_.slots) & ~low_bits(context_.first_slot);
    if (rng_.below(8) == 0) toggle(context_.first_slot + rng_.below(context_.slots));
    if (rng_.below(512) == 0)  // a kernel ends, the next one fills the scheduler
      for (unsigned i = 0; i < context_.slots; ++i) toggle(context_.first_slot + i);
    // From hardly anything ready to nearly everything, in phases.
    WarpMask ready = rng_.next();
    for (unsigned phase = static_cast<unsigned>(now_ >> 6) % 4; phase > 0; --phase)
      ready &= rng_.next();
    if (rng_.below(16) == 0) ready = ~WarpMask{0};
    ready_ = ready & age_.members() & own;
    memory_ = rng_.next() & rng_.next() & age_.members();
    wait();
    return ready_ != 0;
  }
  const policy::SmView& sm() const { return sm_; }
  void issue(unsigned slot) { sm_.issue(slot, now_); }
  policy::WarpView view() const {
    return {ready_, age_.members(), age_, now_, memory_, of_tenant_};
  }

 private:
  /// Who waits for what, and a load/store unit that fills up and drains.
  void wait() {
    sm_.wait(age_.members(), policy::WarpWait::Memory);
    sm_.wait(rng_.next() & age_.members(), policy::WarpWait::Dependence);
    sm_.wait(ready_, policy::WarpWait::Nothing);
    for (WarpMask m = age_.members(); m != 0; m &= m - 1) {
      policy::WarpFacts& warp = sm_.facts[lowest(m)];
      const bool global = (memory_ & m & -m) != 0 && warp.next % 4 != 0;
      warp.kind = global ? policy::InstKind::Load : policy::InstKind::Arithmetic;
    }
    sm_.load_store.mshrs = sm_.load_store.queue = 32;
    sm_.load_store.mshrs_taken = rng_.below(33);
    sm_.load_store.queue_taken = rng_.below(33);
  }
  void toggle(unsigned slot) {
    const bool ends = (age_.members() >> slot & 1) != 0;
    if (ends) sm_.leave(WarpMask{1} << slot);
    else sm_.facts[slot] = {.started = now_, .next = rng_.below(50), .code_size = 60};
    if (ends) age_.remove(slot);
    else age_.insert(slot);
    for (WarpMask& warps : of_tenant_) warps &= ~(WarpMask{1} << slot);
    if (!ends) of_tenant_[rng_.below(3)] |= WarpMask{1} << slot;
    for (WarpPolicy* policy : notified_) {
      if (ends) policy->on_warp_end(slot);
      else policy->on_warp_start(slot);
    }
  }
  Rng rng_;
  WarpPolicy::Context context_;
  AgeMatrix64 age_;
  policy::TenantMasks of_tenant_{};
  std::vector<WarpPolicy*> notified_;
  test::FakeSm sm_;
  WarpMask ready_ = 0, memory_ = 0;
  Cycle now_ = 0;
};

std::string play_warps(const Make<WarpPolicy>& make, std::uint64_t seed,
                       const WarpPolicy::Context& context) {
  RandomWarps warps(seed, context);
  std::unique_ptr<WarpPolicy> one = make(context), same = make(context);
  for (WarpPolicy* policy : {one.get(), same.get()})
    if (policy::SmObserver* observer = policy->sm_observer()) observer->attach(warps.sm());
  for (unsigned i = 0; i < 20'000; ++i) {
    if (!warps.step({one.get(), same.get()})) continue;
    const policy::WarpView view = warps.view();
    const unsigned pick = one->pick(view);
    const std::string where = " (cycle " + std::to_string(view.now) + ", slots from " +
                              std::to_string(context.first_slot) + ")";
    const bool declines = pick == WarpPolicy::kInvalidId && one->may_decline();
    if (!declines && (pick >= 64 || (view.ready >> pick & 1) == 0))
      return "picked warp " + std::to_string(pick) + ", which is not ready" + where;
    if (same->pick(view) != pick)
      return "a second instance decided otherwise on the same views" + where;
    if (!declines) warps.issue(pick);
  }
  return "";
}

}  // namespace

std::string check_warp(const Make<WarpPolicy>& make, std::uint64_t seed) {
  // The shapes machines have: one scheduler of 32, 48, 64 warps; two of 24, four of 16.
  for (unsigned slots : {1u, 16u, 24u, 32u, 48u, 64u})
    for (unsigned first = 0; first + slots <= 64; first += slots) {
      WarpPolicy::Context context;
      context.scheduler = first / slots;
      context.first_slot = first;
      context.slots = slots;
      context.seed = seed;
      if (slots == 1 && first > 4) break;
      if (std::string broken = play_warps(make, seed + first, context); !broken.empty())
        return broken;
    }
  return "";
}

}  // namespace raddle::contract
