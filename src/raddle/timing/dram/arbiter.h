// Which request of a DRAM channel sends its next command: reads come before writes until drain_high
// writes wait; then writes are served down to drain_low. Writes are also served while there is no
// read. Among the requests of the direction that the timing lets go the policy chooses, rank by
// rank
// where a scheme has ranked tenants.
//
// Contract: the arbiter only reads what it is shown (queue, banks, channel timing) and sends
// nothing. Whoever changes the queue or the banks says changed(); after each command the channel
// calls update() and asks again. All answers are for the memory cycle m of the last advance() and
// wake().
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "raddle/base/mask.h"
#include "raddle/policy/dram/policy.h"
#include "raddle/policy/dram/rank_first.h"
#include "raddle/policy/fault.h"
#include "raddle/timing/dram/banks.h"
#include "raddle/timing/dram/channel_timing.h"
#include "raddle/timing/dram/queue.h"
#include "raddle/timing/spec/dram_spec.h"

namespace raddle::timing {

class DramArbiter {
 public:
  /// Command buses that are free in this memory cycle.
  struct Buses {
    bool row, column;
  };
  struct Answer {
    enum class Kind : std::uint8_t { Nothing, Declined, Request } kind;
    unsigned slot = 0;
  };

  DramArbiter(const DramSpec& spec, std::unique_ptr<policy::DramPolicy> policy)
      : policy_(std::move(policy)), drain_high_(spec.drain_high), drain_low_(spec.drain_low) {}
  policy::DramPolicy& policy() { return *policy_; }
  /// Writes are served.
  bool writing() const { return writing_; }
  /// Who may send a column command as far as its bank is concerned.
  const Mask128& columns() const { return columns_; }

  /// Before this cycle the policy wants nothing of what it has seen; 0: it has not declined.
  std::uint64_t declined_until() const { return declined_until_; }
  void decline_until(std::uint64_t m) { declined_until_ = m; }
  /// The policy may answer otherwise.
  void ask_again() { declined_until_ = 0; }
  void learn(std::span<const policy::TenantCounts, kMaxTenants> counts) { policy_->learn(counts); }

  void changed() { stale_ = true; }
  bool stale() const { return stale_; }
  /// Which direction is served, and what of it could go out.
  void update(const DramQueue& queue, const DramBanks& banks) {
    const unsigned writes = queue.writes_queued();
    draining_ = writes >= drain_high_ || (draining_ && writes > drain_low_);
    writing_ = writes != 0 && (draining_ || writes == queue.size());
    candidates_ = writing_ ? queue.writes() : queue.used() - queue.writes();
    const Mask128 ready = candidates_ & banks.ready();
    columns_ = ready & banks.row_hits();
    activates_ = ready & banks.closed();
    precharges_ = ready - banks.row_hits() - banks.closed();
    stale_ = false;
  }
  /// Asks the policy. Nothing: no request may send a command over the buses that are free.
  Answer choose(std::uint64_t m, Buses buses, const DramQueue& queue, const DramBanks& banks,
                const ChannelTiming& timing) {
    // Made in its place: a copy of words just stored would wait for them.
    policy::DramView view{.candidates = {},
                          .row_hits = {},
                          .issuable = issuable(m, buses, timing),
                          .closes_wanted_row = {},
                          .age = queue.age(),
                          .tags = queue.tags(),
                          .now = m};
    if (!view.issuable.any()) return {Answer::Kind::Nothing};
    view.candidates = candidates_;
    view.row_hits = candidates_ & banks.row_hits();
    view.closes_wanted_row = view.issuable & precharges_ & banks.of_wanted_row(writing_);
    const std::optional<unsigned> chosen =
        queue.ranked() ? policy::pick_by_rank(*policy_, view) : policy_->pick(view);
    if (!chosen) return {Answer::Kind::Declined};
    if (*chosen >= DramQueue::kSlots || !view.issuable.test(*chosen))
      policy::wrong_answer("dram", "names a request whose next command can go out");
    declined_until_ = 0;
    return {Answer::Kind::Request, *chosen};
  }
  /// First cycle after m in which what the policy sees, or what it answers to the same, may be
  /// different, if nothing is pushed and no bank is woken.
  std::uint64_t next_change(std::uint64_t m, const ChannelTiming& timing) const {
    std::uint64_t next = policy_->changes_after(m);
    // What cannot go now, and when it can; also that of single groups.
    if (columns_.any()) {
      const ChannelTiming::Kind kind = ChannelTiming::column_kind(writing_);
      const Mask128 late = columns_ & timing.late(kind, m);
      if (!timing.column_free(writing_, m)) next = std::min(next, next_column(m, timing));
      else if (late.any()) next = std::min(next, timing.group_time(kind, late, m));
    }
    if (activates_.any()) {
      const Mask128 late = activates_ & timing.late(ChannelTiming::kActivate, m);
      if (!timing.activate_free(m)) next = std::min(next, timing.activate_at());
      else if (late.any())
        next = std::min(next, timing.group_time(ChannelTiming::kActivate, late, m));
    }
    return next;
  }
  /// First cycle after m, and before `next`, in which something can be issued, if nothing is pushed
  /// and no bank is woken; otherwise `next`.
  std::uint64_t next_chance(std::uint64_t m, std::uint64_t next, bool two_buses,
                            const ChannelTiming& timing) const {
    if (columns_.any()) next = std::min(next, next_column(m, timing));
    if (next > m + 1 && (precharges_.any() || activates_.any()))
      next = std::min(next, next_row(m, two_buses, timing));
    return next;
  }

 private:
  Mask128 issuable(std::uint64_t m, Buses buses, const ChannelTiming& timing) const {
    Mask128 can = precharges_.when(buses.row);
    if (buses.row && timing.activate_free(m) && activates_.any())
      can |= activates_ - timing.late(ChannelTiming::kActivate, m);
    if (buses.column && timing.column_free(writing_, m) && columns_.any())
      can |= columns_ - timing.late(ChannelTiming::column_kind(writing_), m);
    return can;
  }
  std::uint64_t next_column(std::uint64_t m, const ChannelTiming& timing) const {
    return timing.column_time(writing_, columns_, m + 1);
  }
  std::uint64_t next_row(std::uint64_t m, bool two_buses, const ChannelTiming& timing) const {
    const std::uint64_t at = precharges_.any() ? m + 1 : timing.activate_time(activates_, m + 1);
    return two_buses ? at : timing.next_untaken(at);
  }

  std::unique_ptr<policy::DramPolicy> policy_;
  unsigned drain_high_, drain_low_;
  bool draining_ = false, writing_ = false;
  bool stale_ = false;
  // Requests of the direction; of these those whose bank allows their next command, by its kind.
  Mask128 candidates_, columns_, activates_, precharges_;
  std::uint64_t declined_until_ = 0;
};

}  // namespace raddle::timing
