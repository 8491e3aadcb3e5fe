// What every load/store unit has, whatever its L1's protocol, put together from
//   lsu_queues.h     the memory instructions that wait, oldest first
//   load_table.h     the loads under way
//   request_port.h   the miss queue and the port to the interconnect
//   fetch_order.h    who missed first, where warps may leave
// and the constant cache. The L1 protocol (l1_protocol.h) is lent this core in each of its calls;
// lsu.h puts the two together and tells what a load/store unit does.
#pragma once
#include <array>
#include <string>
#include <vector>

#include "raddle/timing/cache/const_cache.h"
#include "raddle/timing/cache/l1_events.h"
#include "raddle/timing/code/launch.h"
#include "raddle/timing/sm/event_wheel.h"
#include "raddle/timing/sm/fetch_order.h"
#include "raddle/timing/sm/half_warps.h"
#include "raddle/timing/sm/line_access.h"
#include "raddle/timing/sm/load_table.h"
#include "raddle/timing/sm/lsu_queues.h"
#include "raddle/timing/sm/memory_instruction.h"
#include "raddle/timing/sm/request_port.h"
#include "raddle/timing/sm/sector_banks.h"
#include "raddle/timing/sm/stall_account.h"
#include "raddle/timing/sm/warp_context.h"

namespace raddle::timing {

class LsuCore {
 public:
  // Tags of reads: the L1's own, below kConst, or one of these and an index. Of waiters in the L1:
  // a load, or a warp's store.
  static constexpr std::uint16_t kBypass = 0x8000, kConst = 0x4000, kStore = 0x8000;
  // Of accesses to queues of the dispatcher: an id below QueueRequest::kMostIds, or a store.
  static constexpr std::uint16_t kQueue = 0xc000, kQueueStore = kQueue | QueueRequest::kMaxIds;
  // Of lines of bulk copies: a tag of tma_unit.h.
  static constexpr std::uint16_t kBulk = 0xf000;
  static_assert(TmaSpec::kMaxInFlight < 0xfff && kQueueStore < kBulk);
  // Of writes that nobody waits for: the L1's write-backs.
  static constexpr std::uint16_t kWriteBack = 0xffff;
  static constexpr std::uint16_t kNoLoad = RequestPort::kNoLoad;
  using Owner = InstructionOwner;
  using Entry = MemoryInstruction;
  using Path = LsuQueues::Path;

  LsuCore(const LsuSpec& spec, const AddressMap& map);
  SmPorts& ports() { return port_.ports(); }
  const SmPorts& ports() const { return port_.ports(); }

  // --- lent to the L1 protocol -------------------------------------------------------------------
  unsigned sm() const { return sm_; }
  const LineMap& lines() const { return lines_; }
  Cycle wire() const { return port_.wire(); }
  /// The slice that a line belongs to.
  NodeId home(std::uint32_t line) const { return port_.home(line); }
  Cycle hit_latency() const { return hit_latency_; }
  bool no_l1() const { return no_l1_; }
  /// A warp waits for its memory operations to be over.
  bool release() const { return release_; }

  /// Room in the miss queue for what leaves of itself.
  bool queue_full() const { return port_.full(); }
  /// Room in it for an access of the launch in that slot.
  bool queue_takes(unsigned kernel) const {
    return !port_.full() && (!port_.limits_tenants() || port_.takes(tenant_[kernel]));
  }
  /// Puts a request, whose kernel is known, into the miss queue. `load`: whose departure is noted.
  void enqueue(const Message& m, std::uint16_t load = kNoLoad) {
    port_.enqueue(m, tenant_[m.kernel], load);
    if (fetch_order_.kept() && is_fetch(m)) [[unlikely]]
      fetch_order_.asked(m.tag);
  }
  /// Asks the L2 for what an access needs.
  void send(const Entry& e, const LineAccess& a, MessageKind kind, std::uint16_t tag,
            std::uint8_t sectors, stats::SmCounters& count);

  /// The oldest instruction, and whether it may go on (lsu_queues.h).
  bool head_refused() const { return queues_.head_refused(); }
  bool any_head_refused() const { return queues_.any_head_refused(); }
  Path& head_path() { return queues_.served().head.path; }
  bool refuse(stats::Refusal why) {
    queues_.refuse(why);
    return false;
  }
  void wake_heads() { queues_.wake(); }
  void wake_heads_from(stats::Refusal why) { queues_.wake_from(why); }
  void wake_heads_by(std::uint32_t line) { queues_.wake_by(line); }

  /// What observers are told of an access. `kept`: sectors that it leaves valid.
  policy::L1Access observed(Cycle now, const Entry& e, const LineAccess& a, std::uint8_t kept,
                            policy::L1Outcome outcome) const;
  /// One line of a load is there, from outside; sink.loaded(owner) if it was the last.
  template <class Sink>
  void missed_transaction(Cycle now, unsigned load, SmKernelCounters& counters, Sink& sink) {
    loads_.arrived(now, load, counters, [&](const Owner& owner) { sink.loaded(owner); });
  }
  static void count_served(const Message& m, stats::SmCounters& count) {
    ++count.served[static_cast<unsigned>(m.dram_accesses != 0 ? stats::ServedFrom::Memory
                                                              : stats::ServedFrom::L2)];
  }

  /// Shared memory is taken for so long by another unit.
  void occupy(Cycle now, unsigned cycles) { free_at_ = std::max(free_at_, now) + cycles; }

  // --- the port (request_port.h) -----------------------------------------------------------------
  void send_transfers_of(SegmentQueue& transfers) { port_.send_transfers_of(transfers); }
  void rank_requests_by(const WarpTable& warps) { port_.rank_requests_by(warps); }
  stats::SharingCounters sharing(Cycle at, unsigned kernel) const {
    return port_.sharing(at, kernel);
  }
  stats::SharingCounters sharing(Cycle at) const { return port_.sharing(at); }

 protected:
  struct Cancelled {
    std::uint64_t requests = 0;
  };
  /// A request for an MSHR's data.
  static bool is_fetch(const Message& m) {
    return m.kind == MessageKind::Read && (m.tag & (kBypass | kConst)) == 0;
  }
  /// Banks of the L1D that the next access takes, one for each sector of a line; of passes all.
  unsigned next_banks() const;
  bool inject_request(Cycle now) {
    if (!port_.may_inject(now)) return false;
    const RequestPort::Sent sent = port_.inject(now);
    if (sent.load != kNoLoad) loads_.departed(now, sent.load);
    if (sent.request) queues_.wake_from(stats::Refusal::MissQueue);
    return sent.packet;
  }
  static void write_back(Cycle done, const Owner& owner, EventWheel& wheel);

  LsuQueues queues_;
  LoadTable loads_;
  LineMap lines_;
  const unsigned lines_per_cycle_;
  const bool half_warps_;  // sm.l1d.coalescing = "half_warp"
  const bool sector_banks_;
  bool skip_ = true, no_l1_;
  bool release_ = false;
  unsigned sm_;
  Cycle free_at_ = 0;
  Cycle hit_latency_, shared_latency_, const_latency_;
  ClusterSpec cluster_;
  RequestPort port_;
  ConstCache<Owner> const_cache_;
  FetchOrder fetch_order_;
  stats::PerKernel<Cancelled> cancelled_;        // fetches that count as misses and never come
  std::vector<std::uint64_t> sequence_;          // of the launch last seen in each slot
  std::array<TenantId, kKernelSlots> tenant_{};  // ... whose it is
  unsigned queue_accesses_ = 0;                  // that have not been answered
  HalfWarps halves_;
  SectorBanks banks_;
};

}  // namespace raddle::timing
