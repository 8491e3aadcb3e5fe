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
#include "raddle/timing/sm/sector_banks.h"
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
  /// The oldest instruction, of the front that is served, has been tried in vain, for the reason
  /// given last.
  bool head_refused() const { return front_.refused; }
  /// ... or the oldest of any tenant.
  bool any_head_refused() const {
    return head_refused() || std::ranges::any_of(others_, &Front::refused);
  }
  /// Where the line that is served goes, once somebody has decided that (level "bypass").
  enum class Path : std::uint8_t { Undecided, Cache, Past };
  Path& head_path() { return front_.head.path; }
  bool refuse(stats::Refusal why) {
    front_.why = why;
    return false;
  }
  /// Something has happened that may let the oldest instructions go on.
  void wake_heads() {
    each_front([](Front& f) { f.stuck = false; });
  }
  void wake_heads_from(stats::Refusal why) {
    each_front([&](Front& f) { f.stuck = f.stuck && f.why != why; });
  }
  /// ... namely data of the line. A head waits on for room in the miss queue unless it hits now:
  /// others' data can free what it has, and push out what it lacks, no more.
  void wake_heads_by(std::uint32_t line) {
    each_front([&](Front& f) {
      const bool helped = f.why != stats::Refusal::MissQueue || f.head.at == f.head.size ||
                          f.head.line[f.head.at].line == line;
      f.stuck = f.stuck && !helped;
    });
  }
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
    Path path = Path::Undecided;
    LaneMask lanes = 0;
    LineMap::Accesses line;
  };
  /// Instructions that the L1 serves in order, and how far the oldest has got.
  struct Front {
    static constexpr unsigned kAll = ~0u;
    Front(unsigned instructions, unsigned pieces_of_each, unsigned tenant_number)
        : queue(instructions),
          pieces(instructions, pieces_of_each),
          tenant(tenant_number),
          places(instructions) {}
    bool full() const { return queue.size() >= places; }

    Ring<Entry> queue;
    PieceQueue pieces;
    unsigned tenant;  ///< whose instructions; kAll: of all who have no front of their own
    unsigned places;  ///< at most the queue's
    Head head{};
    Cycle refused_since = 0;
    stats::Refusal why = {}, refused_for = {};
    bool refused = false;  ///< the head has been tried in vain
    bool stuck = false;    ///< ... and nothing that could help has happened since
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
  static void add_refused(const Front& front, Cycle at, unsigned kernel, stats::SmCounters& count);
  void limit_requests(Cycle at, const policy::Knobs& knobs);
  void give_fronts(const policy::Knobs& knobs);
  template <class Core>
  static auto* find_front(Core& core, unsigned tenant) {
    if (core.front_.tenant == tenant) return &core.front_;
    const auto at = std::ranges::find(core.others_, tenant, &Front::tenant);
    return at != core.others_.end() ? &*at : nullptr;
  }
  template <class Core>
  static auto& divided_front(Core& core, unsigned tenant) {
    auto* own = find_front(core, tenant);
    return own != nullptr && own->places != 0 ? *own : *find_front(core, Front::kAll);
  }
  /// The front that an instruction of the tenant enters.
  Front& front_of(TenantId tenant) {
    if (others_.empty()) [[likely]]
      return front_;
    return divided_front(*this, index(tenant));
  }
  /// Warps of tenants whose front is full.
  policy::WarpMask full_fronts(const policy::TenantMasks& of_tenant) const;
  /// Banks of the L1D that the next access takes, one for each sector of a line; of passes all.
  unsigned next_banks() const {
    constexpr unsigned kAllBanks = 0xff;
    if (front_.queue.empty()) return 0;
    const Route route = front_.queue.front().route;
    if (route == Route::Shared || route == Route::Const) return kAllBanks;
    const Head& head = front_.head;
    if (head.at != head.size) return head.line[head.at].sectors;
    return lines_.sectors(front_.pieces.next().words);
  }
  /// The next front is served.
  void turn_fronts() {
    std::swap(front_, others_[turn_]);
    turn_ = (turn_ + 1) % others_.size();
  }
  template <class Visit>
  void each_front(Visit visit) {
    visit(front_);
    for (Front& f : others_) visit(f);
  }
  template <class Visit>
  void each_front(Visit visit) const {
    visit(front_);
    for (const Front& f : others_) visit(f);
  }
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
  const bool sector_banks_;
  FlitTable flits_;
  PortPace pace_;
  ClockRatio clock_;  // of the network
  unsigned sm_;
  Cycle wire_, hit_latency_, shared_latency_, const_latency_;
  Cycle arbiter_ = 0;  // of a scheme: who leaves next; it takes one each cycle
  bool skip_ = true, no_l1_;
  const unsigned pieces_of_each_;  // most pieces of an instruction
  Front front_;                    // that is served
  std::vector<Front> others_;      // that wait for their turn; none if all tenants share one
  std::size_t turn_ = 0;           // ... of others_: who is next
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
  Cycle free_at_ = 0, inject_at_ = 0;
  bool release_ = false;
  unsigned queue_accesses_ = 0;  // that have not been answered
  unsigned credits_;
  bool lacks_credits_ = false;
  bool none_may_leave_ = false;                   // gate_: no tenant with a request has a token
  std::unique_ptr<RequestGate::Counts> sharing_;  // null until somebody is limited
  HalfWarps halves_;
  SectorBanks banks_;
};

}  // namespace raddle::timing
