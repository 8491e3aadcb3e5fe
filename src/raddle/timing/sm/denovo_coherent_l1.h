// DeNovo's L1 (cache/denovo_l1.h) behind a load/store unit: atomics are performed in it, and a
// second port takes answers to other SMs and to the slices into the reply network, whose receivers
// always accept.
#pragma once
#include <algorithm>
#include <memory>
#include <string>

#include "raddle/timing/cache/denovo_l1.h"
#include "raddle/timing/cache/l1d.h"
#include "raddle/timing/sm/l1_protocol.h"
#include "raddle/timing/wire/request_queue.h"

namespace raddle::timing {

class DenovoCoherentL1 {
 public:
  using Entry = LsuCore::Entry;
  explicit DenovoCoherentL1(const LsuSpec& spec);

  Served serve(LsuCore& core, Cycle now, const Entry& e, const LineAccess& a, EventWheel& wheel,
               stats::SmCounters& count);
  template <class Sink>
  void receive(LsuCore& core, Cycle now, const Message& m, SmKernelCounters& counters, Sink& sink) {
    core.wake_heads();
    l1_.receive(now, m, Completion<Sink>{core, now, counters, sink, m.kernel});
    take_answers(now);
  }
  bool can_send(const LsuCore& core, unsigned kernel) const {
    return core.queue_takes(kernel) && l1_.write_backs().empty();
  }
  /// A bank answers requests for words.
  void mark_constant(Message& request) const { request.words = 0xffff; }

  bool drains() const { return drains_ && (!l1_.write_backs().empty() || l1_.any_registration()); }
  bool drain(LsuCore& core, SmKernelCounters& counters);
  bool send_answer(LsuCore& core, Cycle now);
  Cycle next_event(const LsuCore& core, Cycle now) const;
  Cycle answer_credits_at() const {
    return lacks_answer_credits_ ? ports_.credit_in.next_arrival() : kNever;
  }
  AnswerPorts* answers() { return &ports_; }

  void kernel_starts(Cycle now, unsigned) { l1_.acquire(now); }
  void acquire(Cycle now) { l1_.acquire(now); }
  void prefetch_find(std::uint32_t) const {}
  void prefetch_load(std::uint32_t) const {}
  void prefetch_reply(const Message&) const {}

  void share_ways(const WayShares* shares) { l1_.share_ways(shares); }
  /// Its words are replaced by order of use; machines that ask for something else are refused.
  void replace_by(std::unique_ptr<policy::ReplacementPolicy>, const TenantId*) {
    RADDLE_ASSERT(false);
  }
  policy::ReplacementPolicy* replacement() const { return nullptr; }
  void bypass_by(std::unique_ptr<policy::BypassPolicy>) { RADDLE_ASSERT(false); }
  policy::BypassPolicy* bypass() const { return nullptr; }

  bool idle() const { return l1_.idle() && answers_.empty(); }
  unsigned missing_lines() const { return l1_.missing(); }
  unsigned mshrs_taken() const { return l1_.missing(); }
  MaxTaken& max_mshrs() { return l1_.max_mshrs(); }
  void describe(std::string& out) const;
  void observe(policy::L1Observer& observer) { l1_.observe(observer); }
  L1Events* events() { return l1_.events(); }

  // --- loads that leave with their warp: none does -----------------------------------------------
  static constexpr bool kMigrates = false;
  unsigned waits(std::uint32_t, std::uint8_t, std::uint16_t) const { return L1d::kNoMshr; }
  bool cancel(unsigned, std::uint16_t) { return false; }
  template <class F>
  void each_waiter(unsigned, F) const {}
  std::uint8_t missing_sectors(unsigned) const { return 0; }
  void abandon(unsigned) {}
  void unclaimed(unsigned) {}
  unsigned mshrs() const { return 0; }
  bool waited_for(unsigned) const { return false; }

  DenovoL1& cache() { return l1_; }
  const DenovoL1& cache() const { return l1_; }

 private:
  /// What becomes of a message.
  template <class Sink>
  struct Completion {
    LsuCore& core;
    Cycle now;
    SmKernelCounters& counters;
    Sink& sink;
    unsigned kernel;
    void completed(std::uint16_t waiter, stats::ServedFrom from) {
      ++counters[kernel].served[static_cast<unsigned>(from)];
      if ((waiter & LsuCore::kStore) != 0) sink.acknowledged(waiter & ~LsuCore::kStore);
      else core.missed_transaction(now, waiter, counters, sink);
    }
    void acknowledged(unsigned warp) { sink.acknowledged(warp); }
    void answered(MessageKind kind) {
      stats::SmCounters& count = counters[kernel];
      ++count.replies;
      if (kind != MessageKind::Read) return;
      ++count.l1d_fills;
      count.l1d_miss_cycles += now;
    }
  };
  /// A store that waits for a way or a write-back may wait for registrations of its own SM.
  bool may_register(const LsuCore& core) const {
    return l1_.any_registration() &&
           (core.release() || l1_.stores_full() || core.any_head_refused());
  }
  void count_access(const Entry& e, const DenovoL1::Answer& answer, Cycle now,
                    stats::SmCounters& count) const;
  void notify(const LsuCore& core, Cycle now, const Entry& e, const LineAccess& a,
              const DenovoL1::Answer& answer);
  void send(LsuCore& core, std::uint16_t load, stats::SmCounters& count);
  void take_answers(Cycle now);
  Cycle next_answer(Cycle now) const;

  bool drains_;
  DenovoL1 l1_;
  RequestQueue answers_;  // at: when it may leave
  FlitTable flits_;
  PortPace pace_;
  AnswerPorts ports_;
  unsigned credits_, answer_cycles_;
  bool lacks_answer_credits_ = false;
  Cycle free_at_ = 0;  // of the second port
};
static_assert(L1Protocol<DenovoCoherentL1>);

}  // namespace raddle::timing
