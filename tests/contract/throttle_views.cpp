// The throttle suite: a little SM whose blocks come and go, whose warps issue what they may, wait
// at barriers and load through an L1D that is invented event by event.
#include <map>
#include <optional>

#include "contract/seeded_views.h"
#include "raddle/base/rng.h"
#include "support/fake_sm.h"
#include "support/no_fields.h"

namespace raddle::contract {

namespace {

using policy::Admission;
using policy::ThrottlePolicy;
using policy::ThrottleView;
using policy::WarpMask;

constexpr WarpMask bit(unsigned w) { return WarpMask{1} << w; }

class Statistics final : public test::NoFields {
 public:
  explicit Statistics(ThrottlePolicy& policy) { policy.visit_statistics(*this); }
  void field(std::string_view name, std::uint64_t& value, Range<std::uint64_t>, std::string_view,
             std::string_view) override {
    number[std::string(name)] = value;
  }
  std::map<std::string, std::uint64_t> number;
};

class RandomSm {
 public:
  RandomSm(std::uint64_t seed, unsigned slots, std::initializer_list<ThrottlePolicy*> notified)
      : rng_(seed, "throttle"), slots_(slots), notified_(notified) {
    watch([&](policy::SmObserver& o) { o.attach(sm_); });
  }

  ThrottleView view() const { return {running_, waiting_, age_, block_of_, now_, of_tenant_}; }
  Cycle now() const { return now_; }
  WarpMask running() const { return running_; }
  /// What comes before the schedulers' turn.
  void begin_cycle() {
    if (rng_.below(700) == 0)
      notify([&](auto& p) {
        p.on_kernel_start(now_);
        p.ask_again();
      });
    if (rng_.below(24) == 0) start_block();
    if (rng_.below(30) == 0) fill();
    while (!loads_.empty() && rng_.below(4) == 0) end_load();
    open_barriers();
    wait();
  }
  /// Each warp may do something; loads only if admitted to.
  void end_cycle(const Admission& a) {
    for (WarpMask m = running_ & ~waiting_ & rng_.next() & rng_.next(); m != 0; m &= m - 1) {
      const unsigned w = lowest(m);
      const bool load = rng_.below(3) == 0;
      if ((a.issue >> w & 1) == 0 || (load && (a.load >> w & 1) == 0)) continue;
      notify([&](auto& p) { p.on_issue(w); });
      sm_.issue(w, now_);
      if (load) start_load(w);
      const unsigned what = rng_.below(160);
      if (what == 0) end_warp(w);
      else if (what < 4) wait_at_barrier(w);
      else if (load) serve(w);
    }
    if (rng_.below(8) == 0) serve(rng_.below(slots_));  // an older load, of a warp that has ended
    ++now_;
  }
  /// Nothing comes any more but data, nobody does anything, time goes by.
  void come_to_rest() {
    while (!loads_.empty()) end_load();
  }
  void pass(Cycle until) { now_ = until; }
  /// Barriers open, all warps end.
  void clear() {
    waiting_ = 0;
    for (WarpMask m = running_; m != 0; m &= m - 1) end_warp(lowest(m));
  }
  WarpMask at_barrier() const { return waiting_; }

 private:
  template <class F>
  void notify(F f) {
    for (ThrottlePolicy* policy : notified_) f(*policy);
  }
  void watch(auto call) {
    notify([&](ThrottlePolicy& p) {
      if (policy::SmObserver* observer = p.sm_observer()) call(*observer);
    });
  }
  /// Some wait for another thing than before; those at barriers, for these. Schedulers lose cycles.
  void wait() {
    sm_.scheduler_cycles[static_cast<unsigned>(policy::StallReason::Lsu)] += rng_.below(2);
    const bool barriers = (sm_.waiting(policy::WarpWait::Barrier) ^ waiting_) != 0;
    if (!barriers && !moved_ && rng_.below(10) != 0) return;
    const WarpMask free = running_ & ~waiting_ & rng_.next();
    sm_.wait(free, static_cast<policy::WarpWait>(rng_.below(4)));
    sm_.wait(running_ & ~waiting_ & sm_.waiting(policy::WarpWait::Barrier),
             policy::WarpWait::Nothing);
    sm_.wait(waiting_, policy::WarpWait::Barrier);
    moved_ = false;
    watch([&](policy::SmObserver& o) { o.waits_changed(now_); });
  }
  void start_block() {
    const unsigned warps = 1 + rng_.below(8);
    const auto block = static_cast<std::uint8_t>(rng_.below(16));
    if (members_[block] != 0) return;
    if (static_cast<unsigned>(std::popcount(low_bits(slots_) & ~running_)) < warps) return;
    for (unsigned i = 0; i < warps; ++i) {
      const unsigned w = lowest(low_bits(slots_) & ~running_);
      running_ |= bit(w);
      members_[block] |= bit(w);
      block_of_[w] = block;
      age_.insert(w);
      of_tenant_[tenant(block)] |= bit(w);
      sm_.facts[w] = {
          .block_slot = block, .blocks_most = 1u + block % 8u, .started = now_, .code_size = 100};
      sm_.wait(bit(w), policy::WarpWait::Nothing);
      moved_ = true;
      notify([&](auto& p) {
        p.on_warp_start(now_, w);
        p.ask_again();
      });
    }
  }
  void end_warp(unsigned w) {
    running_ &= ~bit(w);
    members_[block_of_[w]] &= ~bit(w);
    age_.remove(w);
    sm_.leave(bit(w));
    moved_ = true;
    of_tenant_[tenant(block_of_[w])] &= ~bit(w);
    notify([&](auto& p) {
      p.on_warp_end(now_, w);
      p.ask_again();
    });
  }
  static unsigned tenant(unsigned block) { return block % 3; }
  void start_load(unsigned w) {
    loads_.push_back(TenantId{static_cast<std::uint8_t>(tenant(block_of_[w]))});
    notify([&](auto& p) { p.on_load(now_, loads_.back()); });
  }
  void end_load() {
    notify([&](auto& p) { p.on_load_done(now_, loads_.front()); });
    loads_.erase(loads_.begin());
  }
  void wait_at_barrier(unsigned w) {
    waiting_ |= bit(w);
    notify([&](auto& p) {
      p.on_barrier(now_);
      p.ask_again();
    });
  }
  void open_barriers() {
    for (const WarpMask members : members_) {
      if (members == 0 || (members & ~waiting_) != 0) continue;
      waiting_ &= ~members;
      notify([&](auto& p) {
        p.on_barrier(now_);
        p.ask_again();
      });
    }
  }
  std::uint32_t line() { return rng_.below(now_ / 2000 % 2 == 0 ? 60 : 6000); }
  policy::L1Eviction eviction() {
    return {now_,
            line(),
            1,
            0,
            static_cast<std::uint8_t>(rng_.below(slots_)),
            static_cast<std::uint8_t>(rng_.below(slots_)),
            static_cast<policy::L1Eviction::Why>(rng_.below(4) * (rng_.below(4) == 0))};
  }
  void hear(auto call) {
    notify([&](ThrottlePolicy& p) {
      if (policy::L1Observer* observer = p.l1_observer()) call(*observer);
    });
  }
  void serve(unsigned w) {
    const policy::L1Eviction out = eviction();
    policy::L1Access a{.at = now_,
                       .line = line(),
                       .inst = rng_.below(50),
                       .lanes = 1,
                       .sectors = 1,
                       .warp = static_cast<std::uint8_t>(w),
                       .tenant = TenantId{static_cast<std::uint8_t>(tenant(block_of_[w]))}};
    a.kind = static_cast<policy::L1Kind>(rng_.below(6) == 0 ? 1 + rng_.below(2) : 0);
    a.outcome = static_cast<policy::L1Outcome>(rng_.below(5));
    if (a.outcome == policy::L1Outcome::Miss) hear([&](auto& o) { o.evicted(out); });
    hear([&](auto& o) { o.access(a); });
  }
  void fill() {
    const policy::L1Eviction out = eviction();
    const policy::L1Fill in{now_, line(), 1, out.used_by};
    hear([&](auto& o) {
      o.evicted(out);
      o.filled(in);
    });
    if (rng_.below(20) == 0) hear([&](auto& o) { o.flushed(now_); });
  }

  Rng rng_;
  unsigned slots_;
  std::vector<ThrottlePolicy*> notified_;
  AgeMatrix64 age_;
  policy::BlockOfWarp block_of_{};
  policy::TenantMasks of_tenant_{};
  std::array<WarpMask, 16> members_{};
  std::vector<TenantId> loads_;  ///< under way, the oldest first
  WarpMask running_ = 0, waiting_ = 0;
  bool moved_ = false;  ///< warps have come or gone, which nobody was told as a wait
  Cycle now_ = 0;
  test::FakeSm sm_;
};

/// Keeps to the last answer until it may have become another.
class Lazy {
 public:
  explicit Lazy(ThrottlePolicy& policy) : policy_(policy) {}
  const Admission& ask(const ThrottleView& view) {
    if (policy_.until() <= view.now) last_ = policy_.ask(view);
    return last_;
  }

 private:
  ThrottlePolicy& policy_;
  Admission last_;
};

std::string play_throttle(const Make<ThrottlePolicy>& make, std::uint64_t seed, unsigned slots) {
  const ThrottlePolicy::Context context{0, slots, seed};
  const std::unique_ptr<ThrottlePolicy> eager = make(context), same = make(context);
  if (!eager->throttles()) return "";
  RandomSm sm(seed, slots, {eager.get(), same.get()});
  Lazy lazy(*same);
  const std::string of = " (" + std::to_string(slots) + " slots, seed " + std::to_string(seed);
  auto where = [&] { return of + ", cycle " + std::to_string(sm.now()) + ")"; };
  auto broken = [&](const Admission& admission) -> std::string {
    const Admission& by_lazy = lazy.ask(sm.view());
    if (admission.until <= sm.now() || by_lazy.until <= sm.now())
      return "an answer does not hold in the cycle of the question" + where();
    const WarpMask other =
        (admission.issue ^ by_lazy.issue) | (admission.issue & (admission.load ^ by_lazy.load));
    if ((other & sm.running()) != 0)
      return "asked in every cycle it answers otherwise than when its answer ends" + where();
    return "";
  };
  for (unsigned i = 0; i < 12'000; ++i) {
    sm.begin_cycle();
    const Admission admission = eager->ask(sm.view());
    if (std::string rule = broken(admission); !rule.empty()) return rule;
    sm.end_cycle(admission);
  }
  // When nothing happens any more, somebody must be let go in the end.
  sm.come_to_rest();
  for (unsigned i = 0; (sm.running() & ~sm.at_barrier()) != 0; ++i) {
    const Admission admission = eager->ask(sm.view());
    if (std::string rule = broken(admission); !rule.empty()) return rule;
    if ((admission.issue & admission.load & sm.running() & ~sm.at_barrier()) != 0) break;
    if (admission.until == kNever || i > 100'000) return "nobody who could go on may" + where();
    sm.pass(admission.until);
  }
  sm.clear();
  if (Statistics(*eager).number != Statistics(*same).number)
    return "statistics depend on how often it was asked: a throttle may be asked in every cycle or "
           "only when its answer may have become another, so count what happens (on_issue(), "
           "on_warp_start() and the like) or an answer that differs from the last, not the calls "
           "of admit()" +
           where();
  return "";
}

}  // namespace

std::string check_throttle(const Make<ThrottlePolicy>& make, std::uint64_t seed) {
  for (unsigned slots : {1u, 8u, 24u, 32u, 48u, 64u})
    for (std::uint64_t part = 0; part < 3; ++part)
      if (std::string broken = play_throttle(make, 3 * seed + part, slots); !broken.empty())
        return broken;
  return "";
}

}  // namespace raddle::contract
