// Memory instructions that wait in a load/store unit, oldest first, and how far the oldest has got.
// There is one queue for all, or, where a scheme gives tenants queues of their own (knob
// lsu_queue), one for each of those and one for the rest; they are served in turn.
//
// Refusals. An oldest instruction that cannot go on says why (refuse()); it is tried again when
// something has happened that may help (wake...()), or in every cycle where skipping is off. The
// cycles in which it waits are counted by cause when the cause changes or it goes on.
#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "raddle/base/error.h"
#include "raddle/base/ring.h"
#include "raddle/policy/scheme/knobs.h"
#include "raddle/policy/warp/policy.h"
#include "raddle/stats/counters.h"
#include "raddle/timing/sm/line_access.h"
#include "raddle/timing/sm/memory_instruction.h"
#include "raddle/timing/sm/piece_queue.h"

namespace raddle::timing {

class LsuQueues {
 public:
  /// Where the line that is served goes, once somebody has decided that (level "bypass").
  enum class Path : std::uint8_t { Undecided, Cache, Past };
  /// Of the oldest instruction, the accesses of the piece it is at.
  struct Head {
    std::uint8_t size = 0, at = 0;
    Path path = Path::Undecided;
    LaneMask lanes = 0;
    LineMap::Accesses line;
  };
  /// Instructions that the L1 serves in order, and how far the oldest has got.
  struct Queue {
    static constexpr unsigned kAll = ~0u;
    Queue(unsigned instructions, unsigned transactions_of_each, unsigned tenant_number)
        : queue(instructions),
          transactions(instructions, transactions_of_each),
          tenant(tenant_number),
          places(instructions) {}
    bool full() const { return queue.size() >= places; }

    Ring<MemoryInstruction> queue;
    TransactionQueue transactions;
    unsigned tenant;  ///< whose instructions; kAll: of all who have no queue of their own
    unsigned places;  ///< at most the ring's
    Head head{};
    Cycle refused_since = 0;
    stats::Refusal why = {}, refused_for = {};
    bool refused = false;  ///< the head has been tried in vain
    bool stuck = false;    ///< ... and nothing that could help has happened since
  };

 private:
  template <class Queues>
  static auto* find(Queues& queues, unsigned tenant) {
    if (queues.served_.tenant == tenant) return &queues.served_;
    const auto at = std::ranges::find(queues.others_, tenant, &Queue::tenant);
    return at != queues.others_.end() ? &*at : nullptr;
  }
  template <class Queues>
  static auto& entry_of(Queues& queues, unsigned tenant) {
    auto* own = find(queues, tenant);
    return own != nullptr && own->places != 0 ? *own : *find(queues, Queue::kAll);
  }

 public:
  LsuQueues(unsigned instructions, unsigned transactions_of_each)
      : transactions_of_each_(transactions_of_each),
        served_(instructions, transactions_of_each, Queue::kAll) {}

  /// The one that is served now, and is to be asked first.
  Queue& served() { return served_; }
  const Queue& served() const { return served_; }
  /// Tenants have queues of their own.
  bool divided() const { return !others_.empty(); }
  unsigned count() const { return static_cast<unsigned>(others_.size()) + 1; }
  /// The next one is served.
  void turn() {
    RADDLE_ASSERT(turn_ < others_.size());
    std::swap(served_, others_[turn_]);
    turn_ = (turn_ + 1) % others_.size();
  }
  template <class Visit>
  void each(Visit visit) {
    visit(served_);
    for (Queue& queue : others_) visit(queue);
  }
  template <class Visit>
  void each(Visit visit) const {
    visit(served_);
    for (const Queue& queue : others_) visit(queue);
  }

  // --- entry -------------------------------------------------------------------------------------
  /// The one that an instruction of the tenant enters.
  Queue& of(TenantId tenant) {
    if (others_.empty()) [[likely]]
      return served_;
    return entry_of(*this, index(tenant));
  }
  /// An oldest instruction is there, and has not been tried in vain since something happened.
  bool any_may_go() const {
    const auto may_go = [](const Queue& one) { return !one.queue.empty() && !one.stuck; };
    return may_go(served_) || (!others_.empty() && std::ranges::any_of(others_, may_go));
  }
  /// No queue is full that an instruction may enter.
  bool all_accept() const {
    bool full = false;
    each([&](const Queue& queue) { full = full || (queue.places != 0 && queue.full()); });
    return !full;
  }
  /// Of these warps those whose tenant's queue is full.
  policy::WarpMask keeps_out(policy::WarpMask warps, const policy::TenantMasks& of_tenant) const {
    if (others_.empty()) [[likely]]
      return served_.full() ? warps : 0;
    return warps & of_full(of_tenant);
  }
  /// What a tenant has in a queue of its own is served there to its end; what it had in the common
  /// one, likewise.
  void obey(const policy::Knobs& knobs);

  // --- refusals ----------------------------------------------------------------------------------
  /// The oldest instruction, of the queue that is served, has been tried in vain, for the reason
  /// given last.
  bool head_refused() const { return served_.refused; }
  /// ... or the oldest of any.
  bool any_head_refused() const {
    return head_refused() || std::ranges::any_of(others_, &Queue::refused);
  }
  void refuse(stats::Refusal why) { served_.why = why; }
  /// The head cannot go on; nothing has changed but what is counted.
  void note_refusal(Cycle now, stats::SmCounters& count);
  /// The head goes on. What it takes may be what those of other queues then lack.
  void note_service(Cycle now, unsigned kernel, stats::SmCounters& count) {
    Queue& queue = served_;
    if (queue.refused) add_refused(queue, now, kernel, count);
    queue.refused = queue.stuck = false;
    if (divided()) [[unlikely]]
      wake();
  }
  /// Adds the cycles since the present refusals began to a copy of a kernel's counters.
  void settle(Cycle at, unsigned kernel, stats::SmCounters& count) const {
    each([&](const Queue& queue) { add_refused(queue, at, kernel, count); });
  }
  /// Something has happened that may let the oldest instructions go on.
  void wake() {
    each([](Queue& queue) { queue.stuck = false; });
  }
  void wake_from(stats::Refusal why) {
    each([&](Queue& queue) { queue.stuck = queue.stuck && queue.why != why; });
  }
  /// ... namely data of the line. A head waits on for room in the miss queue unless it hits now:
  /// others' data can free what it has, and push out what it lacks, no more.
  void wake_by(std::uint32_t line) {
    each([&](Queue& queue) {
      const Head& head = queue.head;
      const bool helped = queue.why != stats::Refusal::MissQueue || head.at == head.size ||
                          head.line[head.at].line == line;
      queue.stuck = queue.stuck && !helped;
    });
  }

 private:
  static void add_refused(const Queue& queue, Cycle at, unsigned kernel, stats::SmCounters& count);
  policy::WarpMask of_full(const policy::TenantMasks& of_tenant) const;

  const unsigned transactions_of_each_;  // most pieces of an instruction
  Queue served_;
  std::vector<Queue> others_;  // that wait for their turn; none if all tenants share one
  std::size_t turn_ = 0;       // ... of others_: who is next
};

}  // namespace raddle::timing
