// Issue rate control of an SM: which of the requests in its miss queue leaves next, where a scheme
// limits what a tenant may send (knobs request_tokens and miss_queue of policy/scheme/knobs.h). The
// issue rate controller of CCBP (Lin et al., TACO 2019): each tenant has a queue of its own, in
// which nothing overtakes, and tokens, of which every request that leaves takes one. Tokens do not
// pile up: with each interval the tenant has anew what it is granted. Parts of a token are carried
// over, so that a grant of 1.5 gives one and two in turn.
//
// Of the tenants that have a request and a token, those of the highest priority (knob) go first,
// in turn among equals. All share the storage of one miss queue, in which the queue of a tenant is
// its requests in order; so a request never overtakes an older one for its line, whose tenant may
// be another only where an access of one tenant pushes out a line of another.
//
// The time that the arbiter takes is the port's (Knobs::arbiter_cycles, lsu_core.h).
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "raddle/base/error.h"
#include "raddle/policy/scheme/knobs.h"
#include "raddle/stats/counters.h"
#include "raddle/timing/wire/clock.h"
#include "raddle/timing/wire/message.h"

namespace raddle::timing {

class RequestGate {
 public:
  using Counts = stats::PerKernel<stats::SharingCounters>;
  static constexpr unsigned kInvalidId = ~0u;

  /// `clock`: of the network against the core. `counts` must outlive the gate.
  RequestGate(const ClockRatio& clock, Counts& counts) : clock_(clock), counts_(counts) {}
  /// Whether the knobs limit anybody: else there need not be a gate.
  static bool limits(const policy::Knobs& knobs) {
    return std::ranges::any_of(knobs.tenant, [](const policy::TenantKnobs& t) {
      return std::isfinite(t.request_tokens) || t.miss_queue != policy::kNoLimit;
    });
  }
  /// Holds from cycle `at` on. Who gets another grant gets it at once, and an interval begins.
  void obey(Cycle at, const policy::Knobs& knobs) {
    for (unsigned t = 0; t < kMaxTenants; ++t) {
      Tenant& tenant = tenants_[t];
      const policy::TenantKnobs& of = knobs.tenant[t];
      tenant.places = of.miss_queue;
      tenant.priority = of.priority;
      const std::uint64_t grant = fixed(of.request_tokens);
      if (grant == tenant.grant && knobs.token_interval == interval_) continue;
      tenant.grant = grant;
      tenant.since = clock_.other_at(at);
      tenant.interval = 0;
      tenant.starved = kNever;
      tenant.tokens = granted(tenant);
    }
    RADDLE_ASSERT(knobs.token_interval != 0);
    interval_ = knobs.token_interval;
  }
  /// Room for one more of the tenant's requests, if there is room in the queue.
  bool takes(TenantId tenant) const { return of(tenant).queued < of(tenant).places; }
  /// A request of the tenant is in the queue.
  void entered(TenantId tenant) { ++tenants_[index(tenant)].queued; }

  /// The place of the request that leaves next, among `size` in order of their entry; kNobody: none
  /// may. `message(i)` is the i-th. To be asked whenever one could leave.
  template <class MessageAt>
  unsigned next(Cycle now, unsigned size, MessageAt message) {
    unsigned best = kInvalidId, seen = 0;
    tokens_at_ = kNever;
    for (unsigned i = 0; i < size; ++i) {
      const Message& m = message(i);
      const unsigned t = index(m.tenant);
      if ((seen >> t & 1) != 0) continue;
      seen |= 1u << t;
      if (!has_token(now, t)) {
        note(now, t, m.kernel);
        count_starved(t, m.kernel);
        tokens_at_ = std::min(tokens_at_, refill(tenants_[t]));
        continue;
      }
      note(now, t, kNoSlot);
      if (best != kInvalidId && !before(t, index(message(best).tenant))) continue;
      bool first_of_line = true;
      for (unsigned older = 0; older < i; ++older)
        first_of_line = first_of_line && message(older).line != m.line;
      if (first_of_line) best = i;
    }
    return best;
  }
  /// When the first of the tenants that wait has tokens again, as of the last next().
  Cycle tokens_at() const { return tokens_at_; }
  /// The request that next() has named leaves.
  void left(const Message& m) {
    Tenant& tenant = tenants_[index(m.tenant)];
    RADDLE_ASSERT(tenant.queued != 0 && tenant.tokens != 0);
    --tenant.queued;
    if (tenant.grant != kUnlimited) --tenant.tokens;
    turn_ = index(m.tenant) + 1;
  }
  /// Cycles until `at` in which a launch's request has waited, those that the counts do not have.
  Cycle waiting(Cycle at, unsigned kernel) const {
    Cycle sum = 0;
    for (const Tenant& t : tenants_)
      if (t.waits == kernel) sum += at - t.waits_since;
    return sum;
  }
  /// Of all launches.
  Cycle waiting(Cycle at) const {
    Cycle sum = 0;
    for (const Tenant& t : tenants_)
      if (t.waits != kNoSlot) sum += at - t.waits_since;
    return sum;
  }
  /// Puts them there: the gate is not asked any more.
  void close(Cycle at) {
    for (unsigned t = 0; t < kMaxTenants; ++t) note(at, t, kNoSlot);
  }

 private:
  static constexpr std::uint64_t kUnlimited = ~std::uint64_t{0};
  static constexpr unsigned kFraction = 16;  // bits of a grant behind the point
  static constexpr std::uint16_t kNoSlot = kKernelSlots;
  struct Tenant {
    std::uint64_t grant = kUnlimited;  // in each interval
    std::uint64_t since = 0;           // network cycle of the first interval's begin
    std::uint64_t interval = 0;        // the last whose tokens were given
    std::uint64_t starved = kNever;    // the last in which a request has waited for one
    std::uint64_t tokens = ~std::uint64_t{0};
    std::uint32_t places = policy::kNoLimit, queued = 0;
    std::uint8_t priority = 0;
    std::uint16_t waits = kNoSlot;  // launch slot of its oldest request, if that has no token ...
    Cycle waits_since = 0;          // ... since then
  };
  const Tenant& of(TenantId tenant) const { return tenants_[index(tenant)]; }
  static std::uint64_t fixed(double tokens) {
    if (!std::isfinite(tokens)) return kUnlimited;
    RADDLE_ASSERT(tokens > 0 && tokens <= 1e6);
    return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::ldexp(tokens, kFraction)));
  }
  /// In its present interval: from sums, so that it does not matter which intervals were looked at.
  static std::uint64_t granted(const Tenant& t) {
    if (t.grant == kUnlimited) return ~std::uint64_t{0};
    return ((t.interval + 1) * t.grant >> kFraction) - (t.interval * t.grant >> kFraction);
  }
  bool has_token(Cycle now, unsigned t) {
    Tenant& tenant = tenants_[t];
    if (tenant.grant == kUnlimited) return true;
    const std::uint64_t interval = (clock_.other_at(now) - tenant.since) / interval_;
    if (interval != tenant.interval) {
      tenant.interval = interval;
      tenant.tokens = granted(tenant);
    }
    return tenant.tokens != 0;
  }
  Cycle refill(const Tenant& t) const {
    return clock_.core_at(t.since + (t.interval + 1) * interval_);
  }
  /// Whether tenant a goes before tenant b.
  bool before(unsigned a, unsigned b) const {
    if (tenants_[a].priority != tenants_[b].priority)
      return tenants_[a].priority > tenants_[b].priority;
    const auto from_turn = [&](unsigned t) { return (t + kMaxTenants - turn_) % kMaxTenants; };
    return from_turn(a) < from_turn(b);
  }
  /// From now on the request of that slot is what the tenant's wait is charged to.
  void note(Cycle now, unsigned t, std::uint16_t slot) {
    Tenant& tenant = tenants_[t];
    if (tenant.waits == slot) return;
    if (tenant.waits != kNoSlot)
      counts_[tenant.waits].token_wait_cycles += now - tenant.waits_since;
    tenant.waits = slot;
    tenant.waits_since = now;
  }

  /// Once for each interval, however often it is looked at: a wait lasts to its end.
  void count_starved(unsigned t, unsigned slot) {
    Tenant& tenant = tenants_[t];
    if (tenant.starved == tenant.interval) return;
    tenant.starved = tenant.interval;
    ++counts_[slot].starved_intervals;
  }

  ClockRatio clock_;
  Counts& counts_;
  std::array<Tenant, kMaxTenants> tenants_;
  std::uint32_t interval_ = 0;  // network cycles
  unsigned turn_ = 0;           // whose turn it is among tenants of one priority
  Cycle tokens_at_ = kNever;
};

}  // namespace raddle::timing
