// The L1D of a GPU as it is built: caches of different SMs know nothing of each other, stores go to
// the L2 (or stay until they are pushed out, by write policy: cache/l1d.h), atomics are performed
// there, and a launch finds the L1D empty.
#pragma once
#include <memory>
#include <string>
#include <utility>

#include "raddle/timing/cache/l1d.h"
#include "raddle/timing/cache/store_buffer.h"
#include "raddle/timing/sm/l1_protocol.h"

namespace raddle::timing {

class GpuCoherentL1 {
 public:
  using Entry = LsuCore::Entry;
  explicit GpuCoherentL1(const LsuSpec& spec);

  [[gnu::always_inline]] Served serve(LsuCore& core, Cycle now, const Entry& e, const LineAccess& a,
                                      EventWheel& wheel, stats::SmCounters& count) {
    if (e.route == Route::Load && !e.bypass) {
      if (bypass_ != nullptr) [[unlikely]]
        return load_or_pass(core, now, e, a, wheel, count);
      return load(core, now, e, a, wheel, count);
    }
    if (e.route == Route::Store && !e.bypass) return store(core, now, e, a, wheel, count);
    return pass_by(core, now, e, a, count);
  }
  template <class Sink>
  void receive(LsuCore& core, Cycle now, const Message& m, SmKernelCounters& counters, Sink& sink) {
    stats::SmCounters& count = counters[m.kernel];
    ++count.replies;
    if (m.kind == MessageKind::Write) return written(core, m.tag, sink);
    if (m.kind == MessageKind::Reduce) return sink.acknowledged(m.tag);
    if (m.kind == MessageKind::Atomic || (m.tag & LsuCore::kBypass) != 0) {
      const unsigned load = m.tag & ~LsuCore::kBypass;
      LsuCore::count_served(m, count);
      return core.missed_transaction(now, load, counters, sink);
    }
    core.wake_heads_by(m.line);
    l1d_.fill(now, m.tag, m.sectors, m.kernel, count, [&](std::uint16_t waiter) {
      if ((waiter & LsuCore::kStore) != 0) return sink.acknowledged(waiter & ~LsuCore::kStore);
      LsuCore::count_served(m, count);
      core.missed_transaction(now, waiter, counters, sink);
    });
  }
  bool can_send(const LsuCore& core, unsigned kernel) const {
    return core.queue_takes(kernel) && l1d_.write_backs().empty();
  }
  void mark_constant(Message&) const {}

  bool drains() const {
    return drains_ && (!l1d_.write_backs().empty() || store_buffer_.any_waiting());
  }
  bool drain(LsuCore& core, SmKernelCounters& counters);
  bool send_answer(LsuCore&, Cycle) { return false; }
  Cycle next_event(const LsuCore& core, Cycle now) const {
    if (!drains_ || core.queue_full()) return kNever;
    return !l1d_.write_backs().empty() || may_drain_stores(core) ? now + 1 : kNever;
  }
  Cycle answer_credits_at() const { return kNever; }
  AnswerPorts* answers() { return nullptr; }

  void kernel_starts(Cycle now, unsigned kernel) { l1d_.flush(now, kernel); }
  void resize(Cycle now, unsigned ways) { l1d_.resize(now, ways); }
  void acquire(Cycle now) {
    if (invalidates_) l1d_.invalidate(now);
  }
  void prefetch_find(std::uint32_t line) const { l1d_.prefetch_find(line); }
  void prefetch_load(std::uint32_t line) const { l1d_.prefetch_load(line); }
  void prefetch_reply(const Message& m) const {
    if (m.kind == MessageKind::Read && m.tag < LsuCore::kConst) l1d_.prefetch_fill(m.tag, m.line);
  }

  void share_ways(const WayShares* shares) { l1d_.share_ways(shares); }
  void replace_by(std::unique_ptr<policy::ReplacementPolicy> policy, const TenantId* tenants) {
    l1d_.replace_by(std::move(policy), tenants);
  }
  policy::ReplacementPolicy* replacement() const { return l1d_.replacement(); }
  void bypass_by(std::unique_ptr<policy::BypassPolicy> policy) { bypass_ = std::move(policy); }
  policy::BypassPolicy* bypass() const { return bypass_.get(); }

  bool idle() const {
    return l1d_.missing_lines() == 0 && store_buffer_.empty() && l1d_.write_backs().empty() &&
           write_backs_out_ == 0;
  }
  unsigned missing_lines() const { return l1d_.missing_lines(); }
  unsigned mshrs_taken() const { return l1d_.mshrs_taken(); }
  MaxTaken& max_mshrs() { return l1d_.max_mshrs(); }
  void describe(std::string&) const {}
  void observe(policy::L1Observer& observer) { l1d_.observe(observer); }
  L1Events* events() { return l1d_.events(); }

  // --- loads that leave with their warp (lsu_migration.h) ----------------------------------------
  static constexpr bool kMigrates = true;
  unsigned waits(std::uint32_t line, std::uint8_t sectors, std::uint16_t load) const {
    return l1d_.waits(line, sectors, load);
  }
  bool cancel(unsigned mshr, std::uint16_t load) { return l1d_.cancel(mshr, load); }
  unsigned mshrs() const { return l1d_.mshrs(); }
  bool waited_for(unsigned mshr) const { return l1d_.waited_for(mshr); }
  template <class F>
  void each_waiter(unsigned mshr, F visit) const {
    l1d_.each_waiter(mshr, visit);
  }
  std::uint8_t missing_sectors(unsigned mshr) const { return l1d_.missing_sectors(mshr); }
  void abandon(unsigned mshr) { l1d_.abandon(mshr); }
  void unclaimed(unsigned mshr) { l1d_.unclaimed(mshr); }

 private:
  // Tags of writes: a warp, an entry of the store buffer, or LsuCore::kWriteBack.
  static constexpr std::uint16_t kStoreEntry = 0x100;

  template <class Sink>
  void written(LsuCore& core, std::uint16_t tag, Sink& sink) {
    if (tag == LsuCore::kWriteBack) {
      RADDLE_ASSERT(write_backs_out_ != 0);
      --write_backs_out_;
    } else if (tag < kStoreEntry) {
      sink.acknowledged(tag);
    } else {
      core.wake_heads();
      store_buffer_.acknowledge(tag - kStoreEntry, [&](unsigned warp) { sink.acknowledged(warp); });
    }
  }
  bool may_drain_stores(const LsuCore& core) const {
    return store_buffer_.any_waiting() && (core.release() || store_buffer_.full());
  }
  // Most accesses are loads: they are served in line, all others apart.
  [[gnu::always_inline]] Served load(LsuCore& core, Cycle now, const Entry& e, const LineAccess& a,
                                     EventWheel& wheel, stats::SmCounters& count);
  [[gnu::noinline]] Served hit_always(LsuCore& core, Cycle now, const Entry& e, const LineAccess& a,
                                      EventWheel& wheel, stats::SmCounters& count);
  [[gnu::noinline]] Served load_or_pass(LsuCore& core, Cycle now, const Entry& e,
                                        const LineAccess& a, EventWheel& wheel,
                                        stats::SmCounters& count);
  [[gnu::noinline]] Served store(LsuCore& core, Cycle now, const Entry& e, const LineAccess& a,
                                 EventWheel& wheel, stats::SmCounters& count);
  void forward_store(LsuCore& core, const Entry& e, const LineAccess& a, Cycle now,
                     EventWheel& wheel, stats::SmCounters& count);
  [[gnu::noinline]] Served pass_by(LsuCore& core, Cycle now, const Entry& e, const LineAccess& a,
                                   stats::SmCounters& count);
  static Served refuse(LsuCore& core, stats::Refusal why) {
    core.refuse(why);
    return Served::Refused;
  }
  void notify(const LsuCore& core, Cycle now, const Entry& e, const LineAccess& a,
              const L1d::Answer& answer);
  void notify_access(const LsuCore& core, Cycle now, const Entry& e, const LineAccess& a,
                     policy::L1Outcome outcome);
  std::uint8_t kept(const LsuCore& core, const Entry& e, const LineAccess& a) const;

  bool ideal_;  // loads hit
  bool drains_, invalidates_;
  WritePolicy policy_, local_policy_;
  L1d l1d_;
  StoreBuffer store_buffer_;
  unsigned write_backs_out_ = 0;
  std::unique_ptr<policy::BypassPolicy> bypass_;  // null: no load is sent past
};
static_assert(L1Protocol<GpuCoherentL1>);

inline Served GpuCoherentL1::load(LsuCore& core, Cycle now, const Entry& e, const LineAccess& a,
                                  EventWheel& wheel, stats::SmCounters& count) {
  if (ideal_) [[unlikely]]
    return hit_always(core, now, e, a, wheel, count);
  const L1d::Answer l =
      l1d_.load(now, {a.line, core.lines().widened(a.sectors), e.owner.kernel, e.load},
                can_send(core, e.owner.kernel), count);
  if (l1d_.events() != nullptr) [[unlikely]]
    notify(core, now, e, a, l);
  if (l.outcome == L1d::Outcome::Blocked) return refuse(core, l.why);
  if (l.outcome == L1d::Outcome::Hit) {
    wheel.push(now + core.hit_latency(), Event::transaction(e.load));
    ++count.served[static_cast<unsigned>(stats::ServedFrom::L1)];
  } else if (l.ask != 0) core.send(e, a, MessageKind::Read, l.mshr, l.ask, count);
  return Served::Done;
}

}  // namespace raddle::timing
