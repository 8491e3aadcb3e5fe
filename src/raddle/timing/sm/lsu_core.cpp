#include "raddle/timing/sm/lsu_core.h"

namespace raddle::timing {

LsuCore::LsuCore(const LsuSpec& spec, const AddressMap& map)
    : queues_(spec.queue, spec.l1d.coalescing == Coalescing::HalfWarp
                              ? unsigned{HalfWarps::kMaximum}
                              : unsigned{trace::kMaxTransactions}),
      loads_(spec.loads_in_flight),
      lines_(spec.lines),
      lines_per_cycle_(spec.lines_per_cycle),
      half_warps_(spec.l1d.coalescing == Coalescing::HalfWarp),
      sector_banks_(spec.sector_banks),
      no_l1_(!spec.l1d.present()),
      sm_(spec.sm),
      hit_latency_(spec.l1d.hit_latency_cycles),
      shared_latency_(spec.shared_latency),
      const_latency_(spec.const_latency),
      cluster_(spec.cluster),
      port_(spec, map),
      const_cache_(spec.constants),
      cancelled_(spec.kernel_slots),
      sequence_(spec.kernel_slots, ~std::uint64_t{0}) {
  RADDLE_ASSERT(loads_.slots() < kConst);  // a load's number goes into a tag
}

/// The result of a shared or constant access is there at `done`.
void LsuCore::write_back(Cycle done, const Owner& owner, EventWheel& wheel) {
  const DecodedInst& in = *owner.code;
  if (owner.warp == Owner::kForeign) [[unlikely]]
    return wheel.push(done, Event::foreign());
  if (in.destination == DecodedInst::kMultiple)
    wheel.push(done, Event::write_multiple(owner.warp, owner.inst));
  else if (in.destination != DecodedInst::kNone)
    wheel.push(done, Event::write(owner.warp, in.destination));
}

unsigned LsuCore::next_banks() const {
  constexpr unsigned kAllBanks = 0xff;
  const LsuQueues::Queue& queue = queues_.served();
  if (queue.queue.empty()) return 0;
  if (queue.queue.front().in_passes()) return kAllBanks;
  const LsuQueues::Head& head = queue.head;
  if (head.at != head.size) return head.line[head.at].sectors;
  return lines_.sectors(queue.transactions.next().words);
}

void LsuCore::send(const Entry& e, const LineAccess& a, MessageKind kind, std::uint16_t tag,
                   std::uint8_t sectors, stats::SmCounters& count) {
  ++count.requests;
  const bool adds = kind == MessageKind::Atomic || kind == MessageKind::Reduce;
  enqueue({.line = a.line,
           .sm = static_cast<std::uint16_t>(sm_),
           .tag = tag,
           .sectors = sectors,
           .kind = kind,
           .meeting = adds ? a.meeting() : std::uint8_t{0},
           .kernel = e.owner.kernel},
          e.returns_data() ? e.load : kNoLoad);
}

policy::L1Access LsuCore::observed(Cycle now, const Entry& e, const LineAccess& a,
                                   std::uint8_t kept, policy::L1Outcome outcome) const {
  const policy::L1Kind kind = e.route == Route::Load    ? policy::L1Kind::Load
                              : e.route == Route::Store ? policy::L1Kind::Store
                                                        : policy::L1Kind::Atomic;
  return {.at = now,
          .line = a.line,
          .inst = e.owner.inst,
          .lanes = queues_.served().head.lanes,
          .sectors = lines_.widened(a.sectors),
          .keeps = kept,
          .warp = e.owner.warp,
          .kernel = e.owner.kernel,
          .kind = kind,
          .local = e.owner.code->local,
          .bypass = e.bypass,
          .outcome = outcome,
          .tenant = e.owner.tenant};
}

}  // namespace raddle::timing
