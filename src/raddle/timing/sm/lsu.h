// Load/store unit of an SM: a queue of memory instructions served in order, the L1D, the store
// buffer, the constant cache, and the port to the interconnect.
//
// Each cycle it serves one line (or sector, or line of half a warp: coalescing) of the oldest
// instruction, or one pass of a shared-memory access, or one address of a constant access; with
// sm.lsu_lines = n, n lines or whatever takes one cycle, also of instructions behind one another,
// and with sm.lsu_sector_banks only lines of which no two touch sectors at the same place. A
// line that finds no MSHR, merge slot, way, store-buffer entry or room in the miss queue stalls
// everything behind it. A miss leaves for the interconnect at once; its trip through the cache
// pipeline is part of the L2's latency.
//
// Order inside a cycle: a write-back and a store-buffer entry enter the miss queue if they may,
// then the oldest instruction is served, then one packet leaves the queue. Without an L1D
// (size_kib = 0) every access bypasses.
//
// A load's life from issue to write-back is counted in parts that add up (load_table.h).
//
// What the L1D does is its protocol's (l1_protocol.h), a parameter of the unit; the rest is the
// core (lsu_core.h), which the protocol is lent.
//
// Left out: replays, address translation.
#pragma once
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "raddle/policy/migrate/policy.h"
#include "raddle/timing/sm/l1_protocol.h"
#include "raddle/timing/sm/lsu_core.h"

namespace raddle::timing {

template <L1Protocol L1>
class Lsu : public LsuCore {
 public:
  /// `map` tells home banks and must outlive the unit.
  Lsu(const LsuSpec& spec, const AddressMap& map);
  void set_skip(bool skip) { skip_ = skip; }
  /// The observer must outlive the unit.
  void observe(policy::L1Observer& observer) { l1_.observe(observer); }
  /// Knobs of a scheme hold from cycle `at` on; they must live until the next call.
  void obey(Cycle at, const policy::Knobs& knobs);
  /// The policy decides whose way a miss of the L1D gets. Precondition: idle().
  void replace_by(std::unique_ptr<policy::ReplacementPolicy> policy) {
    l1_.replace_by(std::move(policy), tenant_.data());
  }
  L1& l1() { return l1_; }
  const L1& l1() const { return l1_; }

  // --- issue -------------------------------------------------------------------------------------
  /// A block of the launch arrives; true: the first one, which starts the kernel here.
  bool start_block(Cycle now, const Launch& launch, bool flush);
  /// For observers.
  void warp_started(const policy::WarpStart& start) {
    if (L1Events* events = l1_.events()) events->warp_started(start);
  }
  /// May an instruction enter now? Where tenants have queues of their own: in each of them?
  bool accepts() const { return queues_.all_accept() && !loads_.full(); }
  /// A load is over: were there no load slots before that?
  bool lacked_load_slots() const { return loads_.was_full(); }
  /// Of warps whose next instruction is for this unit, those that it accepts nothing from.
  policy::WarpMask keeps_out(policy::WarpMask warps, const policy::TenantMasks& of_tenant) const {
    return loads_.full() ? warps : queues_.keeps_out(warps, of_tenant);
  }
  /// Shared or constant access of so many passes. Precondition for all: its warp is not kept out.
  void enter_passes(const Owner& owner, unsigned passes);
  /// Access to so many rows of shared memory of another block of the cluster. Where the machine
  /// knows no such way, it is one to the own, with a pass for each lane or row.
  void enter_distant(const Owner& owner, unsigned rows, unsigned lanes);
  /// Global or local access; `pieces` points to the stream's payload. Returns how many operations
  /// it becomes: each of them ends by itself if it is a store or a reduction.
  unsigned enter_lines(Cycle now, const Owner& owner, const std::uint32_t* payload,
                       unsigned transactions, std::uint32_t base);

  /// An access to a queue of the dispatcher leaves; false: it cannot now.
  bool send_queue_access(const QueueRequest& request, SmKernelCounters& counters);

  /// A line of a bulk copy leaves. Precondition: queue_takes(). DeNovo's banks know no such stores;
  /// there they are loads.
  void send_copy(const Owner& owner, const LineAccess& line, MessageKind kind, std::uint16_t tag,
                 SmKernelCounters& counters);

  // --- each cycle --------------------------------------------------------------------------------
  /// Could serve() do anything?
  bool has_work(Cycle now) const {
    return (free_at_ <= now && queues_.any_may_go()) || l1_.drains();
  }
  /// Serves the oldest instruction; true if anything changed. `release`: a warp waits for its
  /// memory operations to be over.
  bool serve(Cycle now, EventWheel& wheel, SmKernelCounters& counters, bool release) {
    release_ = release;
    if (lines_per_cycle_ != 1 || queues_.divided() || l1_.drains())
      return serve_several(now, wheel, counters);
    return free_at_ <= now && serve_oldest(now, wheel, counters);
  }
  /// Sends one packet, and one of the L1's answers to others; true if it did.
  bool inject(Cycle now) {
    const bool answered = l1_.send_answer(*this, now);
    return inject_request(now) || answered;
  }
  /// Next cycle at which serve() or inject() could do something, given that they did nothing at
  /// `now`.
  Cycle next_event(Cycle now) const;
  /// When the credits come that a request or an answer waits for; to others they do not matter.
  Cycle credits_at() const { return std::min(port_.credits_at(), l1_.answer_credits_at()); }
  /// A warp has acquired: what others have written before must be seen.
  void acquire(Cycle now) {
    if (!no_l1_) l1_.acquire(now);
  }

  /// Hints that the replies before `end` will soon come, so that the MSHRs they concern are near
  /// when they do. Hints for what those name cost as much as they save.
  void prefetch_replies(Cycle end) const {
    ports().from_noc.each(end, [&](const Message& m) { l1_.prefetch_reply(m); });
  }

  // --- warps that leave and arrive (lsu_migration.h) -------------------------------------------
  /// From now on the addresses of loads are kept until their data have come. Precondition: idle().
  void keep_descriptors() {
    loads_.keep_descriptors();
    fetch_order_.keep(l1_.mshrs());
  }
  /// Do the warp's memory operations keep it here? `pending`: the registers it waits for;
  /// `outstanding`: its operations. `seen`: all that was due up to that cycle has happened.
  ExportRefusal may_leave(Cycle seen, unsigned warp, const DecodedKernel& code, RegisterSet pending,
                          unsigned outstanding) const;
  /// Forgets the warp's loads, which become descriptors. Precondition: may_leave() is None.
  std::vector<PendingLoad> take_loads(Cycle now, unsigned warp, SmKernelCounters& counters,
                                      MigrationCounters& migration);
  /// An MSHR of the L1D; false: there are fewer.
  bool miss(const policy::MissPlace& place, policy::PendingMiss& out);
  /// A load goes on from its descriptor. Precondition: accepts().
  void enter_again(Cycle now, const Owner& owner, const PendingLoad& load);

  // --- completions -------------------------------------------------------------------------------
  /// A reply. `sink` has loaded(owner) for each load now complete, acknowledged(warp) for a write
  /// or reduction, constant(owner) for a constant load, fetched(id) for an entry of a queue.
  template <class Sink>
  void reply(Cycle now, const Message& m, SmKernelCounters& counters, Sink sink) {
    if ((m.tag & kConst) == 0 || m.tag == kWriteBack)
      return l1_.receive(*this, now, m, counters, sink);
    ++counters[m.kernel].replies;
    if ((m.tag & kBulk) == kBulk) {
      if (m.kind == MessageKind::Read) count_served(m, counters[m.kernel]);
      return sink.copied(static_cast<std::uint16_t>(m.tag & ~kBulk));
    }
    if ((m.tag & kQueue) == kQueue) {
      RADDLE_ASSERT(queue_accesses_ != 0);
      --queue_accesses_;
      if (m.tag != kQueueStore) sink.fetched(m.tag & ~kQueue);
      return;
    }
    wake_heads();
    const_cache_.fill(m.tag & ~kConst, [&](const Owner& o) { sink.constant(o); });
  }
  /// One line of a load is there, after an L1 hit.
  template <class Loaded>
  void hit_transaction(Cycle now, unsigned load, SmKernelCounters& counters, Loaded loaded) {
    loads_.hit(now, load, counters, loaded);
  }

  /// Adds to a copy of a kernel's counters what is still under way at `at`: the refusal of the
  /// present head, the time since the misses.
  void settle(Cycle at, unsigned kernel, stats::SmCounters& count) const;
  bool idle() const;
  /// As policies see it.
  policy::LsuFacts facts() const {
    policy::LsuFacts out;
    out.mshrs = l1_.mshrs();
    out.mshrs_taken = out.mshrs != 0 ? l1_.mshrs_taken() : 0;
    out.queue = port_.capacity();
    out.queue_taken = port_.queued();
    out.loads = loads_.slots();
    out.loads_taken = loads_.taken();
    out.accepts = accepts();
    return out;
  }
  void describe(std::string& out) const;
  /// Adds a sentence for each law of conservation that the counters break.
  void audit(const SmKernelCounters& counters, std::vector<std::string>& broken) const;

 private:
  /// serve() where more than one instruction or line may go on, or something else.
  bool serve_several(Cycle now, EventWheel& wheel, SmKernelCounters& counters);
  /// One queue's oldest instruction, the first that goes on; true if anything changed.
  bool serve_one(Cycle now, EventWheel& wheel, SmKernelCounters& counters);
  /// The oldest instruction of the queue that is served.
  bool serve_oldest(Cycle now, EventWheel& wheel, SmKernelCounters& counters);
  bool serve_passes(Cycle now, const Entry& e, EventWheel& wheel, stats::SmCounters& count);
  [[gnu::noinline]] bool serve_distant(Cycle now, const Entry& e, EventWheel& wheel,
                                       stats::SmCounters& count);
  [[gnu::noinline]] bool serve_const(Cycle now, const Entry& e, EventWheel& wheel,
                                     stats::SmCounters& count);
  void open_transaction(Entry& e);
  [[gnu::always_inline]] bool serve_line(Cycle now, Entry& e, EventWheel& wheel,
                                         stats::SmCounters& count);
  // lsu_migration.h
  unsigned lines_waited_for(unsigned load) const;
  template <class Visit>
  void each_access_waited_for(unsigned load, Visit visit) const;
  void cancel_load(Cycle now, unsigned load, SmKernelCounters& counters,
                   MigrationCounters& migration);
  unsigned unsent(const policy::MissPlace& place) const;
  unsigned outstanding(const policy::MissPlace& place);
  void withdraw_request(Cycle now, unsigned mshr, SmKernelCounters& counters,
                        MigrationCounters& migration);

  void share_ways();

  L1 l1_;
  const policy::Knobs* knobs_ = nullptr;
  WayShares shares_;  // by launch slot
};

}  // namespace raddle::timing
