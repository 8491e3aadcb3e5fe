#include "raddle/timing/sm/lsu_core.h"

#include <numeric>

#include "raddle/timing/noc/network.h"

namespace raddle::timing {

namespace {
using stats::Refusal;
}  // namespace

LsuCore::LsuCore(const MachineSpec& machine, const AddressMap& map, unsigned sm)
    : map_(map),
      lines_(machine),
      half_warps_(machine.sm.l1d.coalescing == Coalescing::HalfWarp),
      lines_per_cycle_(machine.sm.lsu_lines),
      flits_(packet_size(machine), Direction::Request),
      pace_(machine),
      sm_(sm),
      wire_(machine.noc.latency_cycles),
      hit_latency_(machine.sm.l1d.hit_latency_cycles),
      shared_latency_(machine.sm.shared_latency_cycles),
      const_latency_(machine.sm.const_latency_cycles),
      no_l1_(!machine.sm.l1d.present()),
      queue_(machine.sm.lsu_queue),
      pieces_(machine.sm.lsu_queue, half_warps_ ? HalfWarps::kMost : trace::kMaxPieces),
      const_cache_(machine),
      loads_(machine.sm.loads_in_flight),
      free_loads_(machine.sm.loads_in_flight),
      miss_queue_(machine.sm.l1d.miss_queue),
      ports_(port_capacity(machine), machine.coherence.ownership ? port_capacity(machine) : 1),
      credits_(machine.noc.queue_flits) {
  std::iota(free_loads_.rbegin(), free_loads_.rend(), std::uint16_t{0});
  sequence_.fill(~std::uint64_t{0});
}

/// The head cannot go on; nothing has changed but what is counted.
bool LsuCore::refused(Cycle now, stats::SmCounters& count) {
  if (refused_ && why_ != refused_for_) add_refused(now, queue_.front().owner.kernel, count);
  if (!refused_ || why_ != refused_for_) refused_since_ = now;
  refused_for_ = why_;
  refused_ = stuck_ = true;
  return false;
}

void LsuCore::add_refused(Cycle at, unsigned kernel, stats::SmCounters& count) const {
  if (!refused_ || queue_.front().owner.kernel != kernel) return;
  count.l1d_reservation_fails += at - refused_since_;
  count.l1d_refused[static_cast<unsigned>(refused_for_)] += at - refused_since_;
}

/// The result of a shared or constant access is there at `done`.
void LsuCore::write_back(Cycle done, const Owner& owner, EventWheel& wheel) {
  const DecodedInst& in = *owner.code;
  if (in.destination == DecodedInst::kMultiple)
    wheel.push(done, Event::write_multiple(owner.warp, owner.inst));
  else if (in.destination != DecodedInst::kNone)
    wheel.push(done, Event::write(owner.warp, in.destination));
}

void LsuCore::send(const Entry& e, const LineAccess& a, MessageKind kind, std::uint16_t tag,
                   std::uint8_t sectors, stats::SmCounters& count) {
  ++count.requests;
  const bool loads = e.route == Route::Load || e.route == Route::Atomic;
  miss_queue_.push(
      {{a.line, static_cast<std::uint16_t>(sm_), tag, sectors, kind, a.lanes, e.owner.kernel},
       loads ? e.load : kNoLoad});
}

bool LsuCore::inject_request(Cycle now) {
  if (miss_queue_.empty() || inject_at_ > now) return false;
  const auto& [m, load] = miss_queue_.front();
  const unsigned flits = flits_.flits(m);
  lacks_credits_ = !has_credits(now, flits);
  if (lacks_credits_) return false;
  credits_ -= flits;
  inject_at_ = pace_.send(now, flits);
  if (load != kNoLoad) loads_[load].departed = static_cast<std::uint32_t>(now);
  Message request = m;
  request.to = map_.home(m.line);
  request.tenant = tenant_[m.kernel];
  ports_.to_noc.push(now + wire_, request);
  ports_.noc_box->post(now + wire_, sm_);
  miss_queue_.pop();
  if (why_ == Refusal::MissQueue) stuck_ = false;
  return true;
}

bool LsuCore::has_credits(Cycle now, unsigned flits) {
  if (credits_ < flits) credits_ += take_credits_of(ports_.credit_in, now);
  return credits_ >= flits;
}

void LsuCore::keep_descriptor(unsigned load, const std::uint32_t* payload, unsigned pieces,
                              std::uint32_t base) {
  Descriptor& out = descriptors_[load];
  out.base = base;
  out.pieces = pieces;
  for (unsigned i = 0; i < pieces; ++i, payload += trace::kPieceWords)
    out.piece[i] = {payload[0], payload[1], payload[2]};
}

policy::L1Access LsuCore::observed(Cycle now, const Entry& e, const LineAccess& a,
                                   std::uint8_t kept, policy::L1Outcome outcome) const {
  const policy::L1Kind kind = e.route == Route::Load    ? policy::L1Kind::Load
                              : e.route == Route::Store ? policy::L1Kind::Store
                                                        : policy::L1Kind::Atomic;
  return {now,      a.line,       e.owner.inst,   head_.lanes, lines_.widened(a.sectors),
          kept,     e.owner.warp, e.owner.kernel, kind,        e.owner.code->local,
          e.bypass, outcome,      e.owner.tenant};
}

}  // namespace raddle::timing
