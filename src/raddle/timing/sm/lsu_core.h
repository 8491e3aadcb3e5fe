// What every load/store unit has, whatever its L1's protocol: the queue of memory instructions, the
// loads under way, the constant cache, the miss queue and the port to the interconnect. The L1
// protocol (l1_protocol.h) is lent this core in each of its calls; lsu.h puts the two together and
// tells what a load/store unit does.
#pragma once
#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "raddle/base/ring.h"
#include "raddle/timing/cache/const_cache.h"
#include "raddle/timing/cache/l1_events.h"
#include "raddle/timing/code/launch.h"
#include "raddle/timing/sm/event_wheel.h"
#include "raddle/timing/sm/half_warps.h"
#include "raddle/timing/sm/line_access.h"
#include "raddle/timing/sm/piece_queue.h"
#include "raddle/timing/sm/request_gate.h"
#include "raddle/timing/sm/stall_account.h"
#include "raddle/timing/sm/warp_context.h"
#include "raddle/timing/wire/flits.h"
#include "raddle/timing/wire/memory_ports.h"
#include "raddle/timing/wire/transfer.h"

namespace raddle::timing {

class LsuCore {
 public:
  // Tags of reads: the L1's own, below kConst, or one of these and an index. Of waiters in the L1:
  // a load, or a warp's store.
  static constexpr std::uint16_t kBypass = 0x8000, kConst = 0x4000, kStore = 0x8000;
  // Of accesses to queues of the dispatcher: an id below QueueRequest::kMostIds, or a store.
  static constexpr std::uint16_t kQueue = 0xc000, kQueueStore = kQueue | QueueRequest::kMostIds;
  // Of writes that nobody waits for: the L1's write-backs.
  static constexpr std::uint16_t kWriteBack = 0xffff;
  static constexpr std::uint16_t kNoLoad = 0xffff;
  /// Owner::warp of an access to shared memory by a warp that is on another SM.
  static constexpr std::uint8_t kForeign = 0xff;
  /// Whose instruction, for completion.
  struct Owner {
    std::uint8_t warp = 0;
    std::uint8_t kernel = 0;
    TenantId tenant{};
    std::uint32_t inst = 0;
    const DecodedInst* code = nullptr;
  };
  /// A memory instruction in the queue.
  struct Entry {
    Owner owner;
    Route route = Route::Load;
    bool bypass = false;
    std::uint8_t passes = 0;  ///< or pieces not yet begun
    std::uint16_t load = 0;
    std::uint32_t base = 0;
  };
  struct Leaving {
    Message message;
    std::uint16_t load = kNoLoad;  ///< whose departure is noted
  };

  LsuCore(const LsuSpec& spec, const AddressMap& map);
  SmPorts& ports() { return ports_; }
  const SmPorts& ports() const { return ports_; }

  // --- lent to the L1 protocol -------------------------------------------------------------------
  unsigned sm() const { return sm_; }
  const LineMap& lines() const { return lines_; }
  Cycle wire() const { return wire_; }
  /// The slice that a line belongs to.
  NodeId home(std::uint32_t line) const { return map_.home(line); }
  Cycle hit_latency() const { return hit_latency_; }
  bool no_l1() const { return no_l1_; }
  /// Room in the miss queue for what leaves of itself.
  bool queue_full() const { return miss_queue_.full(); }
  /// Room in it for an access of the launch in that slot.
  bool queue_takes(unsigned kernel) const {
    return !miss_queue_.full() && (gate_ == nullptr || gate_->takes(tenant_[kernel]));
  }
  /// Puts a request, whose kernel is known, into the miss queue. `load`: whose departure is noted.
  void enqueue(const Message& m, std::uint16_t load = kNoLoad) {
    Leaving& leaving = miss_queue_.emplace();
    leaving.message = m;
    leaving.message.tenant = tenant_[m.kernel];
    leaving.load = load;
    if (!last_asked_.empty() && is_fetch(m)) [[unlikely]]
      asked(m.tag);
    if (gate_ != nullptr) [[unlikely]]
      gate_->entered(leaving.message.tenant);
  }
  /// From now on segments leave through the port in turn with requests. The queue must outlive the
  /// unit.
  void send_transfers_of(SegmentQueue& transfers) { transfers_ = &transfers; }
  /// From now on requests leave with the rank that the SM has then. The table must outlive the
  /// unit.
  void rank_requests_by(const WarpTable& warps) { ranked_by_ = &warps; }
  /// A warp waits for its memory operations to be over.
  bool release() const { return release_; }
  /// The oldest instruction has been tried in vain, for the reason given last.
  bool head_refused() const { return refused_; }
  stats::Refusal why() const { return why_; }
  bool refuse(stats::Refusal why) {
    why_ = why;
    return false;
  }
  /// Something has happened that may let the oldest instruction go on.
  void wake_head() { stuck_ = false; }
  void wake_head_from(stats::Refusal why) {
    if (why_ == why) stuck_ = false;
  }
  /// Whether data of the line can end the head's wait. For room in the miss queue it waits on,
  /// unless it hits now: others' data can free what it has, and push out what it lacks, no more.
  bool helps_head(std::uint32_t line) const {
    return why_ != stats::Refusal::MissQueue || head_.at == head_.size ||
           head_.line[head_.at].line == line;
  }
  /// The access that is served is over.
  void access_done() { ++head_.at; }
  /// Asks the L2 for what an access needs.
  void send(const Entry& e, const LineAccess& a, MessageKind kind, std::uint16_t tag,
            std::uint8_t sectors, stats::SmCounters& count);
  /// What observers are told of an access. `kept`: sectors that it leaves valid.
  policy::L1Access observed(Cycle now, const Entry& e, const LineAccess& a, std::uint8_t kept,
                            policy::L1Outcome outcome) const;
  /// One line of a load is there, from outside; sink.loaded(owner) if it was the last.
  template <class Sink>
  void missed_piece(Cycle now, unsigned load, SmKernelCounters& counters, Sink& sink) {
    InFlight& f = loads_[load];
    if (--f.left != 0) return;
    stats::SmCounters& count = counters[f.owner.kernel];
    count_load(now, f, count);
    const std::uint32_t rest = static_cast<std::uint32_t>(now) - f.served;
    const std::uint32_t outside = std::min(rest, static_cast<std::uint32_t>(now) - f.departed);
    count.load_outside_cycles += outside;
    count.load_queue_cycles += rest - outside;
    free_loads_.push_back(static_cast<std::uint16_t>(load));
    sink.loaded(f.owner);
  }
  stats::SharingCounters sharing(Cycle at, unsigned kernel) const {
    if (sharing_ == nullptr) return {};
    stats::SharingCounters out = (*sharing_)[kernel];
    if (gate_ != nullptr) out.token_wait_cycles += gate_->waiting(at, kernel);
    return out;
  }
  /// Of all launches.
  stats::SharingCounters sharing(Cycle at) const;
  static void count_served(const Message& m, stats::SmCounters& count) {
    ++count.served[static_cast<unsigned>(m.dram_accesses != 0 ? stats::ServedFrom::Memory
                                                              : stats::ServedFrom::L2)];
  }

 protected:
  struct alignas(32) InFlight {  // two to a line of the host
    Owner owner;
    std::uint16_t left = 0;
    std::uint32_t entered = 0, served = 0, departed = 0;  ///< 32 bits of the cycle
  };
  /// Where a load's data are, as long as it is under way.
  struct Descriptor {
    std::uint32_t base = 0;
    unsigned pieces = 0;
    bool distinct = false;  ///< each piece is a line of its own, fetched as a whole
    std::array<trace::Piece, HalfWarps::kMost> piece;
  };
  /// Of the oldest instruction, the accesses of the piece it is at.
  struct Head {
    std::uint8_t size = 0, at = 0;
    LaneMask lanes = 0;
    LineMap::Accesses line;
  };
  static bool is_fetch(const Message& m) {
    return m.kind == MessageKind::Read && (m.tag & (kBypass | kConst)) == 0;
  }
  /// A request for an MSHR's data; numbers rise.
  struct Asked {
    std::uint64_t number = 0;
    std::uint16_t mshr = 0;
  };
  struct Withdrawn {
    std::uint64_t requests = 0;
  };

  static void count_load(Cycle now, const InFlight& f, stats::SmCounters& count) {
    ++count.loads;
    count.load_cycles += static_cast<std::uint32_t>(now) - f.entered;
    count.load_lsu_cycles += f.served - f.entered;
  }
  bool refused(Cycle now, stats::SmCounters& count);
  void add_refused(Cycle at, unsigned kernel, stats::SmCounters& count) const;
  void limit_requests(Cycle at, const policy::Knobs& knobs);
  bool inject_request(Cycle now) { return any_leaving() && inject_at_ <= now && inject_next(now); }
  bool inject_next(Cycle now);
  [[gnu::always_inline]] bool inject_oldest(Cycle now);
  bool inject_in_turn(Cycle now);
  bool inject_segment(Cycle now);
  bool inject_by_tenant(Cycle now);
  [[gnu::always_inline]] void depart(Cycle now, const Leaving& leaving, unsigned flits);
  [[gnu::always_inline]] void put_on_wire(Cycle now, const Message& m, unsigned flits);
  /// Something waits for the port.
  bool any_leaving() const {
    return !miss_queue_.empty() || (transfers_ != nullptr && !transfers_->empty());
  }
  Cycle next_departure(Cycle now) const;
  bool has_credits(Cycle now, unsigned flits);
  static void write_back(Cycle done, const Owner& owner, EventWheel& wheel);
  void asked(std::uint16_t mshr);
  void keep_descriptor(unsigned load, const std::uint32_t* payload, unsigned pieces,
                       std::uint32_t base);

  const AddressMap& map_;
  LineMap lines_;
  const bool half_warps_;  // sm.l1d.coalescing = "half_warp"
  const unsigned lines_per_cycle_;
  FlitTable flits_;
  PortPace pace_;
  ClockRatio clock_;  // of the network
  unsigned sm_;
  Cycle wire_, hit_latency_, shared_latency_, const_latency_;
  Cycle arbiter_ = 0;  // of a scheme: who leaves next; it takes one each cycle
  bool skip_ = true, no_l1_;
  Ring<Entry> queue_;
  PieceQueue pieces_;
  Head head_;
  ConstCache<Owner> const_cache_;
  std::vector<InFlight> loads_;
  std::vector<std::uint16_t> free_loads_;  // stack
  std::vector<Descriptor> descriptors_;    // by load, if they are kept
  std::deque<Asked> asked_;                // likewise: those that are over, too
  std::vector<std::uint64_t> last_asked_;  // by MSHR: number of its last request
  stats::PerKernel<Withdrawn> withdrawn_;  // fetches that count as misses and never come
  Ring<Leaving> miss_queue_;
  SegmentQueue* transfers_ = nullptr;     // null: nobody sends any
  bool segment_next_ = false;             // whose turn it is at the port
  const WarpTable* ranked_by_ = nullptr;  // null: requests carry no rank
  std::unique_ptr<RequestGate> gate_;     // null: requests leave in order of their entry
  SmPorts ports_;
  std::vector<std::uint64_t> sequence_;          // of the launch last seen in each slot
  std::array<TenantId, kKernelSlots> tenant_{};  // ... whose it is
  Cycle free_at_ = 0, inject_at_ = 0, refused_since_ = 0;
  stats::Refusal why_ = {}, refused_for_ = {};
  bool refused_ = false;  // the head has been tried in vain
  bool stuck_ = false;    // ... and nothing that could help has happened since
  bool release_ = false;
  unsigned queue_accesses_ = 0;  // that have not been answered
  unsigned credits_;
  bool lacks_credits_ = false;
  bool none_may_leave_ = false;                   // gate_: no tenant with a request has a token
  std::unique_ptr<RequestGate::Counts> sharing_;  // null until somebody is limited
  HalfWarps halves_;
};

}  // namespace raddle::timing
