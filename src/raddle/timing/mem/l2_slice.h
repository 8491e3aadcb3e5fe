// One slice of the L2: sectored, set-associative, LRU.
//
// Time. One look-up per interval_cycles, in order. Whatever a request finds, its reply leaves
// hit_latency_cycles after its data are there: a hit's at the look-up, a miss's when DRAM has
// delivered (the miss itself goes to DRAM at the look-up). Replies leave in order of readiness, one
// flit a cycle. The queue in front is the network's (noc.queue_flits); behind it the pipeline holds
// as many replies as it has cycles, and out_queue more. When it is full, or no MSHR, merge slot,
// DRAM queue place or write-back place is free, the head waits and with it, through credits, the
// network.
//
// Writes. Byte masks are not carried. write_validate: a sector written counts as whole, nothing is
// fetched. fetch_on_write: every written sector counts as partial, so what is absent of it is
// fetched first, and the acknowledgement follows the data. write_around: a line that is absent
// takes no way; the write goes to DRAM. A write to a present line hits in the first and the last,
// whatever sectors are there. write_through sends every write and atomic on to DRAM at its look-up
// as well and leaves nothing dirty. Of a set no more than dirty_ways lines are dirty: before one
// more becomes so, the one used longest ago is written back and stays, clean. Writes that merged
// with the miss of a read may leave more of them dirty: a look-up or data from DRAM write back one
// line at most, so that a later write to the set puts it right.
//
// With dram_granularity = line every fetch and every write-back moves all sectors of a line, and
// the wires to the SMs still carry the sectors that a request touches.
//
// Atomics and reductions are performed here: their sectors are fetched if absent, become dirty, and
// the slice performs atomic_sectors sectors of a line per atomic_interval_cycles, or in the longer
// time that lanes take which meet in one word.
//
// DRAM accesses. Each reply tells how many its request has caused: one for the sectors it asked
// for, one for a dirty line its write or its data pushed out or made clean, one for a write passed
// on; a request that merges with another's miss causes none. A write-back is charged to the kernel
// whose request pushed the line out.
//
// Counters, by the request's kernel: a miss asks DRAM for sectors (or is a write whose line was
// absent); a pending hit waits for sectors on their way. A request's time from arrival to departure
// is tiled by queue_cycles to the look-up (of which blocked_cycles refused), miss_cycles at DRAM,
// pending_cycles for data others asked for, atomic_cycles for the atomic unit, pipeline_cycles,
// reply_cycles for the network. audit() compares the two.
//
// Halves. A request of an SM at the other half is served like any; what crosses between the halves
// for it (l2_fabric.h) goes at the look-up of a hit or a write, and when the data of a miss come.
// Replies do not wait for that, the next look-up does if the fabric has more to do than it holds.
//
// Replies that are sure to leave soon are handed to the wire ahead of time, stamped with their
// cycle: a tick less for most requests, and exact, since nothing can overtake them.
//
// Left out: byte masks, ordering of a write-back against a later read of the same line in DRAM
// (function is decoupled, so only time is concerned).
#pragma once
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "raddle/base/ring.h"
#include "raddle/policy/l2_replacement/policy.h"
#include "raddle/policy/observer.h"
#include "raddle/stats/counters.h"
#include "raddle/timing/cache/host_traffic.h"
#include "raddle/timing/cache/mshr.h"
#include "raddle/timing/cache/replacement.h"
#include "raddle/timing/cache/tags.h"
#include "raddle/timing/cache/way_shares.h"
#include "raddle/timing/dram/channel.h"
#include "raddle/timing/mem/l2_fabric.h"
#include "raddle/timing/spec/parts.h"
#include "raddle/timing/wire/address_map.h"
#include "raddle/timing/wire/flits.h"
#include "raddle/timing/wire/memory_ports.h"
#include "raddle/timing/wire/request_queue.h"

namespace raddle::timing {

/// Sectors on their way to DRAM.
struct WriteBack {
  std::uint32_t line = 0;
  std::uint16_t sm = 0;
  std::uint8_t sectors = 0, slice = 0, kernel = 0;
  TenantId tenant{};  ///< as kernel: whose request writes, or pushed the line out
  /// Of the core that writes. A line that is pushed out has none: nobody waits for it.
  std::uint8_t core_rank = policy::kLastCoreRank;
};

class L2Slice {
 public:
  /// `place` counts inside the partition. References must outlive the slice.
  L2Slice(const PartitionSpec& partition, const AddressMap& map, unsigned place, DramChannel& dram,
          Ring<WriteBack>& write_backs);

  SlicePorts& ports() { return ports_; }
  /// A blocked head waits for this partition, not for the network, and credits matter only to one
  /// who lacks them.
  Cycle next_arrival() const {
    Cycle head = wait_ == Wait::Nothing ? ports_.from_noc.next_arrival() : kNever;
    return lacks_credits_ ? std::min(head, ports_.credit_in.next_arrival()) : head;
  }
  /// Returns next_event(now + 1).
  Cycle tick(Cycle now);
  /// First cycle at or after `from` at which it can act, if nothing happens in the other parts of
  /// the partition.
  Cycle next_event(Cycle from) const;
  /// Data from DRAM; before tick(now).
  void fill(Cycle now, const DramReply& reply);
  /// First cycle at or after `from` at which a head that waits for the partition can go on; kNever
  /// if none does or nothing has changed.
  Cycle retry_at(Cycle from) const {
    return wait_ >= Wait::WriteBacks && may_go_on(from) ? std::max(from, look_up_free_) : kNever;
  }
  /// Hints what the requests that arrive before `end` and the next replies will touch.
  void prefetch(Cycle end) {
    replies_.prefetch();
    const unsigned known = sets_.size();
    ports_.from_noc.each(known, end, [&](const Message& m) {
      if (sets_.full()) return;
      sets_.push(map_.set(m.line));
      tags_.prefetch(sets_[sets_.size() - 1]);
      mshrs_.prefetch_find(m.line);
    });
    unsigned n = known;
    ports_.from_noc.each(known, end, [&](const Message& m) {
      if (n < sets_.size()) tags_.prefetch_line(sets_[n++], m.line);
    });
  }
  /// Hints that data of this MSHR will come; then, what they will touch, from near to far.
  void prefetch_entry(unsigned mshr, std::uint32_t line) const {
    mshrs_.prefetch_arrive(mshr, line);
  }
  void prefetch_set(unsigned mshr) const { tags_.prefetch(mshrs_.first(mshr).set()); }
  void prefetch_victim(unsigned mshr) const { tags_.prefetch_victim(mshrs_.first(mshr).set()); }
  /// Everything is gone, dirty data too. Precondition: nothing is under way.
  void forget() { tags_.invalidate_all(); }
  /// An access of the host, while no request is under way.
  void host(const HostLine& access, HostEffects& effects);
  /// From now on misses of a tenant fill the ways that `shares` gives it; null: any way. They must
  /// outlive the slice.
  void share_ways(const WayShares* shares) { shares_ = shares; }
  /// The policy decides whose way a line gets. Precondition: nothing has come yet.
  void replace_by(std::unique_ptr<policy::L2ReplacementPolicy> policy) {
    policy_ = policy.get();
    replacement_ =
        std::make_unique<Replacement>(std::move(policy), tags_.handles(), kTenants.data());
  }
  /// Must outlive the slice.
  void observe(policy::L2Observer& observer) { observer_ = &observer; }
  /// Null where the order of use decides.
  policy::L2ReplacementPolicy* replacement() const { return policy_; }
  /// false: a blocked head tries again every cycle, and replies are not handed over ahead of time.
  void set_skip(bool skip);
  /// Replies may be handed over (and counted) ahead of time: no more than kMaxAhead cycles, never
  /// without skip.
  static constexpr Cycle kMaxAhead = 64;
  void set_ahead(bool ahead);

  bool idle() const;
  void describe(std::string& out) const;
  stats::L2Counters counters() const { return count_.total(); }
  const stats::L2Counters& counters(unsigned kernel) const { return count_[kernel]; }
  /// Adds one sentence per law of conservation that does not hold.
  void audit(std::vector<std::string>& broken) const;

 private:
  /// A slice knows tenants, where an L1D knows launch slots.
  static constexpr std::array<TenantId, kMaxTenants> kTenants = [] {
    std::array<TenantId, kMaxTenants> all{};
    for (unsigned t = 0; t < kMaxTenants; ++t) all[t] = TenantId{static_cast<std::uint8_t>(t)};
    return all;
  }();
  /// What the oldest request waits for: it is looked up again only when that has changed.
  enum class Wait : std::uint8_t { Nothing, Mshr, Replies, WriteBacks, DramSlot };
  static constexpr unsigned kHints = 16;  // requests on their way that are prefetched for
  unsigned head_set() {
    if (sets_.empty()) sets_.push(map_.set(ports_.from_noc.front().line));
    return sets_.front();
  }
  Wait look_up(Cycle now);
  Wait hit_always(Cycle now, const Message& m);
  Wait write(Cycle now, const Message& m, unsigned at);
  Wait read(Cycle now, const Message& m, unsigned at);
  Wait miss(Cycle now, const Message& m, std::uint8_t missing, bool passed_on);
  void serve(Cycle now, const Message& m, unsigned dram_accesses);
  void reply(Cycle now, const Message& m, unsigned dram_accesses);
  unsigned install(unsigned set, const Message& m, std::uint8_t sectors, unsigned& at);
  void write_back(std::uint32_t line, std::uint8_t sectors, const Message& m);
  /// The line that has to be made clean before that at `at`, or one that is absent, becomes dirty.
  unsigned in_excess(unsigned set, unsigned at) const {
    if (spec_.dirty_ways >= spec_.ways || (at != Tags::kAbsent && tags_.dirty(at) != 0))
      return Tags::kAbsent;
    const Tags::DirtyLines dirty = tags_.dirty_lines(set);
    return dirty.count < spec_.dirty_ways ? Tags::kAbsent : dirty.oldest;
  }
  /// Makes it clean; returns the accesses to DRAM this causes.
  unsigned clean(unsigned at, const Message& m);
  Tags::Victim place(unsigned set, std::uint32_t line, unsigned tenant, Tags::WayMask among,
                     unsigned& at);
  void used(Cycle now, const Message& m, unsigned at) {
    if (replacement_ != nullptr) [[unlikely]]
      replacement_->accessed(now, tags_, head_set(), m.line, index(m.tenant), at);
  }
  void pass_on(const Message& m);
  void accept(Cycle now);
  void perform_atomic(Cycle now);
  void send_replies(Cycle now);
  bool has_credits(Cycle now, unsigned flits);
  void notify(const Message& m, policy::L2Outcome outcome) {
    if (observer_ != nullptr) [[unlikely]]
      observer_->access(m.line, m.sectors, m.kernel, outcome);
  }
  /// What crosses the fabric for the request, whose line is at `at` (kAbsent: passed on to DRAM).
  /// The next look-up waits while the fabric has more to do than it has room for.
  void cross(Cycle now, const Message& m, unsigned at) {
    if (!fabric_.present()) return;
    const unsigned sectors = fabric_.crossing(m, at);
    count_[m.kernel].crossings += sectors;
    look_up_free_ = std::max(look_up_free_, fabric_.slot_at(now, sectors));
  }
  bool write_backs_full() const { return write_backs_.size() >= spec_.write_back_queue; }
  /// The first cycle in which the pipeline has room for one more reply, or kNever if that depends
  /// on credits.
  Cycle reply_slot_at() const {
    const unsigned inside = replies_.size() + atomics_.size();
    if (inside + outgoing_.size() < reply_limit_) return 0;
    return inside < reply_limit_ ? outgoing_[inside + outgoing_.size() - reply_limit_] + 1 : kNever;
  }
  /// Whether the head waits for nothing, or what it waits for has come.
  bool may_go_on(Cycle now) const {
    switch (wait_) {
      case Wait::Nothing:
        break;
      case Wait::Mshr:
        return false;  // a fill ends the wait for an MSHR
      case Wait::Replies:
        return reply_slot_at() <= now;
      case Wait::WriteBacks:
        return !write_backs_full();
      case Wait::DramSlot:
        return dram_.free_slots() != 0;
    }
    return true;
  }

  /// A request that waits for sectors of the line of its MSHR; since: for those that others asked
  /// for.
  struct Waiter {
    std::uint16_t sm = 0, tag = 0;
    std::uint8_t sectors = 0;
    MessageKind kind = MessageKind::Read;
    std::uint8_t meeting = 0, kernel = 0;
    // Set, tenant and accesses to DRAM, of 0 to 2: no bit fields, as in Mshrs::Entry.
    std::uint32_t packed = 0;
    std::uint32_t since = 0;
    static std::uint32_t pack(std::uint32_t set, TenantId tenant, std::uint32_t dram_accesses) {
      static_assert(kMaxTenants <= 16);
      return set << 8 | std::uint32_t{index(tenant)} << 4 | dram_accesses;
    }
    std::uint32_t set() const { return packed >> 8; }
    std::uint32_t dram_accesses() const { return packed & 0xf; }
    void add_dram_access() { ++packed; }
    Message message(std::uint32_t line) const {
      Message m{.line = line,
                .sm = sm,
                .tag = tag,
                .sectors = sectors,
                .kind = kind,
                .meeting = meeting,
                .kernel = kernel};
      m.tenant = static_cast<TenantId>(packed >> 4 & 0xf);
      return m;
    }
  };

  // What every tick looks at, together.
  Wait wait_ = Wait::Nothing;
  bool skip_ = true, refused_ = false, lacks_credits_ = false;
  unsigned credits_, reply_limit_;
  Cycle send_at_ = kNever;  // when the first of replies_ could leave, credits apart
  Cycle look_up_free_ = 0, atomic_free_ = 0, inject_free_ = 0, refused_since_ = 0;
  RequestQueue replies_;      // at: when the reply may leave
  RequestQueue atomics_;      // at: when the data were there
  Ring<std::uint32_t> sets_;  // of the oldest requests, as far as they are known
  Ring<Cycle> outgoing_;      // when replies leave, or have left, that are on the wire already
  Cycle latency_, ahead_;     // ahead: how early a reply may be put on the wire
  unsigned id_, place_;       // in the machine, in the partition
  unsigned node_;             // id_ as an endpoint of the networks
  DramChannel& dram_;
  Ring<WriteBack>& write_backs_;
  const AddressMap& map_;
  L2Spec spec_;
  bool ideal_;                     // every request hits
  std::uint8_t line_sectors_ = 0;  // all of a line if DRAM moves lines, else none
  Tags tags_;
  L2Fabric fabric_;
  Mshrs<Waiter> mshrs_;
  const WayShares* shares_ = nullptr;
  std::unique_ptr<Replacement> replacement_;       // null: the order of use
  policy::L2ReplacementPolicy* policy_ = nullptr;  // its
  policy::L2Observer* observer_ = nullptr;         // null: nobody
  SlicePorts ports_;
  FlitTable request_flits_, reply_flits_;
  PortPace pace_;
  stats::PerKernel<stats::L2Counters> count_;
  std::uint64_t resident_cycles_ = 0;  // departures less arrivals
};

}  // namespace raddle::timing
