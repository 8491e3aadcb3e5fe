// The migrate suite: SMs of a 3 x 3 mesh whose warps and misses change at random, and warps that
// are moved and come to their guest some time later. Asked in every cycle or only when it must be,
// a policy orders and counts the same.
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "contract/seeded_views.h"
#include "raddle/base/rng.h"
#include "support/no_fields.h"

namespace raddle::contract {

namespace {

using policy::kNoSm;
using policy::MigratePolicy;
using policy::MigrateView;
using policy::Migration;
using policy::Misses;
using policy::MissesFrom;
using policy::MissPlace;
using policy::PendingMiss;
using policy::WarpMask;
using policy::WarpState;

constexpr unsigned kSide = 3, kSms = kSide * kSide, kWarps = 16, kMshrs = 64, kMerges = 8;

struct Order {
  Cycle at;
  Migration what;
  bool operator==(const Order& o) const {
    return at == o.at && what.sm == o.what.sm && what.slot == o.what.slot && what.to == o.what.to;
  }
};

class Values final : public test::NoFields {
 public:
  using NoFields::field;
  void field(std::string_view name, std::uint64_t& value, Range<std::uint64_t>, std::string_view,
             std::string_view) override {
    of[std::string(name)] = value;
  }
  std::map<std::string, std::uint64_t> of;
};

class Machine final : public MigrateView {
 public:
  explicit Machine(std::uint64_t seed) : rng_(seed, "machine") {
    for (unsigned sm = 0; sm < kSms; ++sm)
      for (unsigned slot = 0; slot < kWarps; ++slot) sms_[sm].home[slot] = sm;
  }
  static MigratePolicy::Context context(std::uint64_t seed) {
    MigratePolicy::Context out;
    out.warps = kWarps;
    out.mshrs = kMshrs;
    out.merges = kMerges;
    out.seed = seed;
    for (unsigned sm = 0; sm < kSms; ++sm) {
      policy::Neighbours n = {kNoSm, kNoSm, kNoSm, kNoSm};
      if (sm % kSide != kSide - 1) n[0] = sm + 1;
      if (sm >= kSide) n[1] = sm - kSide;
      if (sm % kSide != 0) n[2] = sm - 1;
      if (sm + kSide < kSms) n[3] = sm + kSide;
      out.neighbours.push_back(n);
    }
    return out;
  }
  /// What happens before cycle `now`; true: something has.
  bool happen(Cycle now) {
    now_ = now;
    bool any = arrive();
    for (unsigned sm = 0; sm < kSms; ++sm) {
      if (rng_.below(60) != 0) continue;
      change(sm);
      any = true;
    }
    return any;
  }
  /// Before a look: what it is told of.
  void open_look() {
    notified_.clear();
    for (std::uint32_t sm = 0; sm < kSms; ++sm)
      if (std::exchange(changed_[sm], false)) notified_.push_back(sm);
  }
  void fail(const char* what) {
    if (broken_.empty()) broken_ = what;
  }
  const std::vector<Order>& orders() const { return orders_; }
  const std::string& broken() const { return broken_; }

  Cycle now() const override { return now_; }
  std::span<const std::uint16_t> mshrs() const override { return taken_; }
  // Those that have not been sent are the youngest of the outstanding ones.
  bool miss(unsigned sm, const MissPlace& place, PendingMiss& out) const override {
    const Sm& s = sms_[sm];
    const std::size_t first = place.among == Misses::Unsent ? s.sent : 0;
    if (place.position >= s.misses.size() - first) return false;
    out = place.from == MissesFrom::Oldest ? s.misses[first + place.position]
                                           : s.misses[s.misses.size() - 1 - place.position];
    return true;
  }
  WarpMask resident(unsigned sm) const override { return sms_[sm].resident; }
  WarpState warp(unsigned sm, unsigned slot) const override { return sms_[sm].warp[slot]; }
  bool may_leave(unsigned sm, unsigned slot) const override { return sms_[sm].may_leave[slot]; }
  bool fits(unsigned sm, std::span<const unsigned> slots, unsigned to) const override {
    if (to == sm || sms_[to].room < slots.size()) return false;
    for (const unsigned slot : slots)
      if (sms_[sm].home[slot] == to) return false;
    return true;
  }
  unsigned outgoing(unsigned sm) const override { return sms_[sm].outgoing; }
  std::span<const std::uint32_t> changed() const override { return notified_; }
  void move(const Migration& m) override {
    orders_.push_back({now_, m});
    if (m.sm >= kSms || m.to >= kSms || m.slot >= kWarps) return fail("names what there is not");
    Sm& from = sms_[m.sm];
    if ((from.resident >> m.slot & 1) == 0) return fail("moves a warp that is not there");
    if (!from.may_leave[m.slot]) return fail("moves a warp that may not leave");
    if (!fits(m.sm, {&m.slot, 1}, m.to)) return fail("moves a warp to where it does not fit");
    from.resident &= ~(WarpMask{1} << m.slot);
    for (PendingMiss& miss : from.misses) std::erase(miss.warps, m.slot);
    --sms_[m.to].room;
    ++from.outgoing;
    under_way_.push_back({now_ + 5 + rng_.below(40), m.to, from.home[m.slot], m.sm});
    changed_[m.sm] = changed_[m.to] = true;
  }

 private:
  struct Sm {
    WarpMask resident = 0;
    std::array<WarpState, kWarps> warp{};
    std::array<bool, kWarps> may_leave{};
    std::array<unsigned, kWarps> home{};
    std::vector<PendingMiss> misses;
    std::size_t sent = 0;
    unsigned room = 4, outgoing = 0;
  };
  struct UnderWay {
    Cycle arrives;
    unsigned to, home, from;
  };
  bool arrive() {
    bool any = false;
    std::erase_if(under_way_, [&](const UnderWay& w) {
      Sm& to = sms_[w.to];
      if (w.arrives > now_ || ~to.resident << (64 - kWarps) == 0) return false;
      const unsigned slot = lowest(~to.resident);
      to.resident |= WarpMask{1} << slot;
      to.home[slot] = w.home;
      to.warp[slot] = {true, 1, true, now_};
      to.may_leave[slot] = true;
      ++to.room;
      --sms_[w.from].outgoing;
      changed_[w.to] = changed_[w.from] = any = true;
      return true;
    });
    return any;
  }
  void change(unsigned sm) {
    Sm& s = sms_[sm];
    changed_[sm] = true;
    taken_[sm] = static_cast<std::uint16_t>(rng_.below(kMshrs + 1));
    s.room = rng_.below(5);
    for (unsigned slot = 0; slot < kWarps; ++slot) {
      const WarpMask bit = WarpMask{1} << slot;
      if ((s.resident & bit) == 0 && rng_.below(2) == 0) {
        s.resident |= bit;
        s.home[slot] = sm;
        s.warp[slot] = {};
      }
      WarpState& w = s.warp[slot];
      s.may_leave[slot] = rng_.below(4) != 0;
      w.converged = rng_.below(4) != 0;
      w.awaited = rng_.below(4);
    }
    s.misses.clear();
    for (unsigned n = rng_.below(20); n != 0; --n) {
      PendingMiss& miss = s.misses.emplace_back();
      miss.only_loads = rng_.below(8) != 0;
      for (unsigned slot = rng_.below(kWarps); slot < kWarps; slot += 1 + rng_.below(kWarps))
        if ((s.resident >> slot & 1) != 0) miss.warps.push_back(slot);
      miss.waiting = static_cast<unsigned>(miss.warps.size()) + rng_.below(2);
    }
    s.sent = rng_.below(static_cast<std::uint32_t>(s.misses.size()) + 1);
  }

  Rng rng_;
  Cycle now_ = 0;
  std::array<Sm, kSms> sms_;
  std::array<std::uint16_t, kSms> taken_{};
  std::array<bool, kSms> changed_{};
  std::vector<std::uint32_t> notified_;
  std::vector<UnderWay> under_way_;
  std::vector<Order> orders_;
  std::string broken_;
};

struct Outcome {
  std::vector<Order> orders;
  std::map<std::string, std::uint64_t> statistics;
  std::vector<policy::StateCycles> states;
  std::string broken;
};

/// Empty, or of every SM.
bool of_all_time(const std::vector<policy::StateCycles>& states, Cycle at) {
  for (const policy::StateCycles& sm : states)
    if (sm[0] + sm[1] + sm[2] != at) return false;
  return states.empty() || states.size() == kSms;
}

Outcome play(const Make<MigratePolicy>& make, std::uint64_t seed, bool always) {
  constexpr Cycle kEnd = 20'000;
  Machine machine(seed);
  const auto policy = make(Machine::context(seed));
  Outcome out;
  Cycle due = 0;
  for (Cycle now = 0; policy->migrates() && now < kEnd && machine.broken().empty(); ++now) {
    const bool happened = machine.happen(now);
    if (!happened && now < due && !always) continue;
    const std::size_t before = machine.orders().size();
    machine.open_look();
    due = policy->look(machine);
    if (!of_all_time(policy->state_cycles(now + 1), now + 1)) {
      out.broken = "an SM is in one state at a time";
      return out;
    }
    if (due <= now) {
      out.broken = "looks again before time has gone by";
      return out;
    }
    if (machine.orders().size() != before) due = now + 1;  // the SMs are ticked
  }
  out.states = policy->state_cycles(kEnd);
  policy->settle(kEnd);
  if (policy->state_cycles(kEnd) != out.states) machine.fail("settling changes states");
  Values values;
  policy->visit_statistics(values);
  out.orders = machine.orders();
  out.statistics = values.of;
  out.broken = machine.broken();
  return out;
}

}  // namespace

std::string check_migrate(const Make<MigratePolicy>& make, std::uint64_t seed) {
  const Outcome first = play(make, seed, false);
  if (!first.broken.empty()) return first.broken;
  const Outcome again = play(make, seed, false), always = play(make, seed, true);
  if (again.orders != first.orders) return "the same history, other orders";
  if (always.orders != first.orders) return "orders depend on how often it is asked";
  if (always.states != first.states) return "states depend on how often it is asked";
  if (always.statistics != first.statistics) return "counts depend on how often it is asked";
  return "";
}

}  // namespace raddle::contract
