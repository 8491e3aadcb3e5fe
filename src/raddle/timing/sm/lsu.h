// Load/store unit of an SM: a queue of memory instructions served in order, the L1D, the store
// buffer, the constant cache, and the port to the interconnect.
//
// Each cycle it serves one line (or sector: coalescing) of the oldest instruction, or one pass of a
// shared-memory access, or one address of a constant access. A line that finds no MSHR, merge slot,
// way, store-buffer entry or room in the miss queue stalls everything behind it. A miss leaves for
// the interconnect at once; its trip through the cache pipeline is part of the L2's latency.
//
// Order inside a cycle: a write-back and a store-buffer entry enter the miss queue if they may,
// then the oldest instruction is served, then one packet leaves the queue. Without an L1D
// (size_kib = 0) every access bypasses.
//
// A load's life from issue to write-back is counted in parts that add up: until its last line was
// taken by the cache (load_lsu_cycles), then, if the last data to come was an L1 hit's,
// load_hit_cycles, else until the last request of the load had left the SM (load_queue_cycles) and
// until the data came (load_outside_cycles).
//
// Under DeNovo (cache/denovo_l1.h) the L1D is another one, atomics are performed in it, and a
// second port takes answers to other SMs and to the slices into the reply network (lsu_denovo.cpp).
//
// Left out: replays, address translation.
#pragma once
#include <array>
#include <string>
#include <vector>

#include "raddle/base/ring.h"
#include "raddle/timing/cache/const_cache.h"
#include "raddle/timing/cache/denovo_l1.h"
#include "raddle/timing/cache/l1d.h"
#include "raddle/timing/cache/store_buffer.h"
#include "raddle/timing/code/launch.h"
#include "raddle/timing/sm/event_wheel.h"
#include "raddle/timing/sm/line_access.h"
#include "raddle/timing/sm/piece_queue.h"
#include "raddle/timing/sm/stall_account.h"
#include "raddle/timing/sm/warp_context.h"
#include "raddle/timing/wire/flits.h"
#include "raddle/timing/wire/memory_ports.h"
#include "raddle/timing/wire/request_queue.h"

namespace raddle::timing {

class Lsu {
 public:
  /// Whose instruction, for completion.
  struct Owner {
    std::uint8_t warp = 0;
    std::uint8_t kernel = 0;
    TenantId tenant{};
    std::uint32_t inst = 0;
    const DecodedInst* code = nullptr;
  };

  /// `map` tells home banks and must outlive the unit.
  Lsu(const MachineSpec& machine, const AddressMap& map, unsigned sm);
  SmPorts& ports() { return ports_; }
  void set_skip(bool skip) { skip_ = skip; }
  /// The observer must outlive the unit.
  void observe(policy::L1Observer& observer);

  // --- issue -------------------------------------------------------------------------------------
  /// A block of the launch arrives; true: the first one, which starts the kernel here.
  bool start_block(Cycle now, const Launch& launch, bool flush);
  /// For observers.
  void warp_started(const policy::WarpStart& start) {
    if (events() != nullptr) events()->warp_started(start);
  }
  /// May an instruction enter now?
  bool accepts() const { return !queue_.full() && !free_loads_.empty(); }
  /// Shared or constant access of so many passes. Precondition for all: accepts().
  void enter_passes(const Owner& owner, unsigned passes);
  /// Global or local access; `pieces` points to the stream's payload. Returns how many operations
  /// it becomes: each of them ends by itself if it is a store or a reduction.
  unsigned enter_lines(Cycle now, const Owner& owner, const std::uint32_t* payload, unsigned pieces,
                       std::uint32_t base);

  // --- each cycle --------------------------------------------------------------------------------
  /// Serves the oldest instruction; true if anything changed. `release`: a warp waits for its
  /// memory operations to be over.
  bool serve(Cycle now, EventWheel& wheel, SmKernelCounters& counters, bool release);
  /// Sends one packet; true if it did.
  bool inject(Cycle now) {
    const bool answered = denovo_ != nullptr && inject_answer(now);
    return inject_request(now) || answered;
  }
  /// Next cycle at which serve() or inject() could do something, given that they did nothing at
  /// `now`.
  Cycle next_event(Cycle now) const;
  /// When the credits come that a request or an answer waits for; to others they do not matter.
  Cycle credits_at() const {
    const Cycle at = lacks_credits_ ? ports_.credit_in.next_arrival() : kNever;
    return lacks_answer_credits_ ? std::min(at, ports_.reply_credit_in.next_arrival()) : at;
  }
  /// A fence of a warp is over: what others have written since must be seen.
  void acquire(Cycle now) {
    if (denovo_ != nullptr) denovo_->acquire(now);
  }

  /// The L1D under DeNovo, else null.
  DenovoL1* denovo() const { return denovo_.get(); }

  /// Hints that the replies before `end` will soon come, so that the MSHRs they concern are near
  /// when they do. Hints for what those name cost as much as they save.
  void prefetch_replies(Cycle end) const {
    if (denovo_ != nullptr) return;
    ports_.from_noc.each(end, [&](const Message& m) {
      if (m.kind == MessageKind::Read && m.tag < kConst) l1d_.prefetch_fill(m.tag, m.line);
    });
  }

  // --- warps that leave and arrive (lsu_migration.cpp) -------------------------------------------
  /// From now on the addresses of loads are kept until their data have come. Precondition: idle().
  void keep_descriptors() { descriptors_.resize(loads_.size()); }
  /// Do the warp's memory operations keep it here? `pending`: the registers it waits for;
  /// `outstanding`: its operations.
  ExportRefusal may_leave(unsigned warp, const DecodedKernel& code, RegisterSet pending,
                          unsigned outstanding) const;
  /// Forgets the warp's loads, which become descriptors. Precondition: may_leave() is None.
  std::vector<PendingLoad> take_loads(Cycle now, unsigned warp, SmKernelCounters& counters,
                                      MigrationCounters& migration);
  /// Loads that could enter in one cycle.
  unsigned load_room() const {
    return std::min(queue_.room(), static_cast<unsigned>(free_loads_.size()));
  }
  /// A load goes on from its descriptor. Precondition: accepts().
  void enter_again(Cycle now, const Owner& owner, const PendingLoad& load);

  // --- completions -------------------------------------------------------------------------------
  /// A reply. `sink` has loaded(owner) for each load now complete, acknowledged(warp) for a write
  /// or reduction, constant(owner) for a constant load.
  template <class Sink>
  void reply(Cycle now, const Message& m, SmKernelCounters& counters, Sink sink) {
    if (denovo_ != nullptr) [[unlikely]]
      return coherent_reply(now, m, counters, sink);
    stats::SmCounters& count = counters[m.kernel];
    ++count.replies;
    if (m.kind == MessageKind::Write) return written(m.tag, sink);
    if (m.kind == MessageKind::Reduce) return sink.acknowledged(m.tag);
    if (m.kind == MessageKind::Atomic || (m.tag & kBypass) != 0) {
      const unsigned load = m.tag & ~kBypass;
      count_served(m, count);
      return missed_piece(now, load, counters, sink);
    }
    if ((m.tag & kConst) != 0) {
      stuck_ = false;
      return const_cache_.fill(m.tag & ~kConst, [&](const Owner& o) { sink.constant(o); });
    }
    if (helps_head(m.line)) stuck_ = false;
    l1d_.fill(now, m.tag, m.sectors, m.kernel, count, [&](std::uint16_t waiter) {
      if ((waiter & kStore) != 0) return sink.acknowledged(waiter & ~kStore);
      count_served(m, count);
      missed_piece(now, waiter, counters, sink);
    });
  }
  /// One line of a load is there, after an L1 hit.
  template <class Loaded>
  void hit_piece(Cycle now, unsigned load, SmKernelCounters& counters, Loaded loaded) {
    InFlight& f = loads_[load];
    if (--f.left != 0) return;
    stats::SmCounters& count = counters[f.owner.kernel];
    count_load(now, f, count);
    count.load_hit_cycles += static_cast<std::uint32_t>(now) - f.served;
    free_loads_.push_back(static_cast<std::uint16_t>(load));
    loaded(f.owner);
  }

  /// Adds to a copy of a kernel's counters what is still under way at `at`: the refusal of the
  /// present head, the time since the misses.
  void settle(Cycle at, unsigned kernel, stats::SmCounters& count) const;
  bool idle() const;
  void describe(std::string& out) const;
  /// Adds a sentence for each law of conservation that the counters break.
  void audit(const SmKernelCounters& counters, std::vector<std::string>& broken) const;

 private:
  // Tags of reads: an MSHR of the L1D, or one of these and an index. Of writes: a warp, an entry of
  // the store buffer, or nobody waits. Of waiters in the L1D: a load, or a warp's store.
  static constexpr std::uint16_t kBypass = 0x8000, kConst = 0x4000, kStore = 0x8000;
  static constexpr std::uint16_t kStoreEntry = 0x100, kWriteBack = 0xffff;
  static constexpr std::uint16_t kNoLoad = 0xffff;
  struct Entry {
    Owner owner;
    Route route = Route::Load;
    bool bypass = false;
    std::uint8_t passes = 0;  ///< or pieces not yet begun
    std::uint16_t load = 0;
    std::uint32_t base = 0;
  };
  struct Withdrawn {
    std::uint64_t requests = 0;
  };
  struct alignas(32) InFlight {  // two to a line of the host
    Owner owner;
    std::uint16_t left = 0;
    std::uint32_t entered = 0, served = 0, departed = 0;  ///< 32 bits of the cycle
  };
  struct Leaving {
    Message message;
    std::uint16_t load = kNoLoad;  ///< whose departure is noted
  };
  /// Where a load's data are, as long as it is under way.
  struct Descriptor {
    std::uint32_t base = 0;
    unsigned pieces = 0;
    std::array<trace::Piece, trace::kMaxPieces> piece;
  };
  /// Of the oldest instruction, the accesses of the piece it is at.
  struct Head {
    std::uint8_t size = 0, at = 0;
    LaneMask lanes = 0;
    LineMap::Accesses line;
  };

  template <class Sink>
  void missed_piece(Cycle now, unsigned load, SmKernelCounters& counters, Sink& sink) {
    InFlight& f = loads_[load];
    if (--f.left != 0) return;
    stats::SmCounters& count = counters[f.owner.kernel];
    count_load(now, f, count);
    const std::uint32_t rest = static_cast<std::uint32_t>(now) - f.served;
    const std::uint32_t outside = std::min(rest, static_cast<std::uint32_t>(now) - f.departed);
    count.load_outside_cycles += outside, count.load_queue_cycles += rest - outside;
    free_loads_.push_back(static_cast<std::uint16_t>(load));
    sink.loaded(f.owner);
  }
  static void count_served(const Message& m, stats::SmCounters& count) {
    ++count.served[static_cast<unsigned>(m.dram_accesses != 0 ? stats::ServedFrom::Memory
                                                              : stats::ServedFrom::L2)];
  }
  /// What becomes of a message of DeNovo's.
  template <class Sink>
  struct Coherent {
    Lsu& lsu;
    Cycle now;
    SmKernelCounters& counters;
    Sink& sink;
    unsigned kernel;
    void completed(std::uint16_t waiter, stats::ServedFrom from) {
      ++counters[kernel].served[static_cast<unsigned>(from)];
      if ((waiter & kStore) != 0) sink.acknowledged(waiter & ~kStore);
      else lsu.missed_piece(now, waiter, counters, sink);
    }
    void acknowledged(unsigned warp) { sink.acknowledged(warp); }
    void answered(MessageKind kind) {
      stats::SmCounters& count = counters[kernel];
      ++count.replies;
      if (kind == MessageKind::Read) ++count.l1d_fills, count.l1d_miss_cycles += now;
    }
  };
  // DeNovo's ways are kept out of line, so that the others stay short.
  template <class Sink>
  [[gnu::noinline]] void coherent_reply(Cycle now, const Message& m, SmKernelCounters& counters,
                                        Sink& sink) {
    stuck_ = false;
    if (m.kind == MessageKind::Read && (m.tag & kConst) != 0) {
      ++counters[m.kernel].replies;
      return const_cache_.fill(m.tag & ~kConst, [&](const Owner& o) { sink.constant(o); });
    }
    denovo_->receive(now, m, Coherent<Sink>{*this, now, counters, sink, m.kernel});
    take_answers(now);
  }
  static void count_load(Cycle now, const InFlight& f, stats::SmCounters& count) {
    ++count.loads;
    count.load_cycles += static_cast<std::uint32_t>(now) - f.entered;
    count.load_lsu_cycles += f.served - f.entered;
  }
  template <class Sink>
  void written(std::uint16_t tag, Sink& sink) {
    if (tag == kWriteBack) {
      --write_backs_out_;
    } else if (tag < kStoreEntry) {
      sink.acknowledged(tag);
    } else {
      stuck_ = false;
      store_buffer_.acknowledge(tag - kStoreEntry, [&](unsigned warp) { sink.acknowledged(warp); });
    }
  }

  /// Whether data of the line can end the head's wait. For room in the miss queue it waits on,
  /// unless it hits now: others' data can free what it has, and push out what it lacks, no more.
  bool helps_head(std::uint32_t line) const {
    return why_ != stats::Refusal::MissQueue || head_.at == head_.size ||
           head_.line[head_.at].line == line;
  }
  bool can_send() const { return !miss_queue_.full() && l1d_.write_backs().empty(); }
  bool may_drain_stores() const {
    return store_buffer_.any_waiting() && (release_ || store_buffer_.full());
  }
  /// A store that waits for a way or a write-back may wait for registrations of its own SM.
  bool may_register() const {
    return denovo_->any_registration() && (release_ || denovo_->stores_full() || refused_);
  }
  // lsu_denovo.cpp
  bool can_send_coherent() const { return !miss_queue_.full() && denovo_->write_backs().empty(); }
  [[gnu::noinline]] bool serve_coherent(Cycle now, const Entry& e, const LineAccess& a,
                                        EventWheel& wheel, stats::SmCounters& count);
  void send_coherent(std::uint16_t load, stats::SmCounters& count);
  [[gnu::noinline]] bool drain_coherent(SmKernelCounters& counters);
  void take_answers(Cycle now);
  [[gnu::noinline]] bool inject_answer(Cycle now);
  [[gnu::noinline]] Cycle next_coherent(Cycle now) const;
  Cycle next_answer(Cycle now) const;
  void take_answer_credits(Cycle now);
  bool drain(SmKernelCounters& counters);
  bool refused(Cycle now, stats::SmCounters& count);
  bool inject_request(Cycle now);
  bool has_credits(Cycle now, unsigned flits);
  void add_refused(Cycle at, unsigned kernel, stats::SmCounters& count) const;
  void open_piece(Entry& e);
  void keep_descriptor(unsigned load, const std::uint32_t* payload, unsigned pieces,
                       std::uint32_t base);
  unsigned lines_waited_for(unsigned load) const;
  template <class Visit>
  void each_access_waited_for(unsigned load, Visit visit) const;
  void cancel_load(Cycle now, unsigned load, SmKernelCounters& counters,
                   MigrationCounters& migration);
  void withdraw_request(Cycle now, unsigned mshr, SmKernelCounters& counters,
                        MigrationCounters& migration);
  static bool is_fetch(const Message& m) {
    return m.kind == MessageKind::Read && (m.tag & (kBypass | kConst)) == 0;
  }
  bool serve_passes(Cycle now, const Entry& e, EventWheel& wheel, stats::SmCounters& count);
  static void write_back(Cycle done, const Owner& owner, EventWheel& wheel);
  bool serve_const(Cycle now, const Entry& e, EventWheel& wheel, stats::SmCounters& count);
  [[gnu::always_inline]] bool serve_line(Cycle now, Entry& e, EventWheel& wheel,
                                         stats::SmCounters& count);
  bool load(Cycle now, const Entry& e, const LineAccess& a, EventWheel& wheel,
            stats::SmCounters& count);
  bool store(Cycle now, const Entry& e, const LineAccess& a, EventWheel& wheel,
             stats::SmCounters& count);
  void forward_store(Cycle now, const Entry& e, const LineAccess& a, EventWheel& wheel,
                     stats::SmCounters& count);
  bool pass_by(Cycle now, const Entry& e, const LineAccess& a, stats::SmCounters& count);
  bool refuse(stats::Refusal why) {
    why_ = why;
    return false;
  }
  void send(const Entry& e, const LineAccess& a, MessageKind kind, std::uint16_t tag,
            std::uint8_t sectors, stats::SmCounters& count);
  void tell(Cycle now, const Entry& e, const LineAccess& a, const L1d::Answer& answer);
  void tell(Cycle now, const Entry& e, const LineAccess& a, const DenovoL1::Answer& answer);
  L1Events* events() { return denovo_ == nullptr ? l1d_.events() : denovo_->events(); }
  void tell_access(Cycle now, const Entry& e, const LineAccess& a, policy::L1Outcome outcome);
  std::uint8_t kept(const Entry& e, const LineAccess& a) const;

  const AddressMap& map_;
  LineMap lines_;
  FlitTable flits_, answer_flits_;
  PortPace pace_, answer_pace_;
  unsigned sm_;
  Cycle wire_, hit_latency_, shared_latency_, const_latency_;
  bool skip_ = true, no_l1_, drains_;
  WritePolicy policy_, local_policy_;
  Ring<Entry> queue_;
  PieceQueue pieces_;
  Head head_;
  L1d l1d_;
  StoreBuffer store_buffer_;
  ConstCache<Owner> const_cache_;
  std::unique_ptr<DenovoL1> denovo_;  // instead of the two above, or null
  RequestQueue answers_;              // of denovo_; at: when it may leave
  std::vector<InFlight> loads_;
  std::vector<std::uint16_t> free_loads_;  // stack
  std::vector<Descriptor> descriptors_;    // by load, if they are kept
  stats::PerKernel<Withdrawn> withdrawn_;  // fetches that count as misses and never come
  Ring<Leaving> miss_queue_;
  SmPorts ports_;
  std::array<std::uint64_t, stats::kKernelSlots> sequence_;  // of the launch last seen in each slot
  Cycle free_at_ = 0, inject_at_ = 0, refused_since_ = 0;
  stats::Refusal why_ = {}, refused_for_ = {};
  bool refused_ = false;  // the head has been tried in vain
  bool stuck_ = false;    // ... and nothing that could help has happened since
  bool release_ = false;
  unsigned credits_, write_backs_out_ = 0;
  unsigned answer_credits_, answer_cycles_;
  bool lacks_credits_ = false, lacks_answer_credits_ = false;
  Cycle answer_at_ = 0;  // when the second port is free
};

}  // namespace raddle::timing
