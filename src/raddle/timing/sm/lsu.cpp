#include "raddle/timing/sm/lsu.h"

#include <algorithm>
#include <numeric>

#include "raddle/timing/noc/network.h"

namespace raddle::timing {

Lsu::Lsu(const MachineSpec& machine, unsigned sm)
    : lines_(machine),
      flits_(packet_size(machine), Direction::Request),
      pace_(machine),
      sm_(sm),
      wire_(machine.noc.latency_cycles),
      hit_latency_(machine.sm.l1d.hit_latency_cycles),
      shared_latency_(machine.sm.shared_latency_cycles),
      const_latency_(machine.sm.const_latency_cycles),
      queue_(machine.sm.lsu_queue),
      l1d_(machine.sm.l1d),
      loads_(machine.sm.loads_in_flight),
      free_loads_(machine.sm.loads_in_flight),
      miss_queue_(machine.sm.l1d.miss_queue),
      ports_(port_capacity(machine)),
      credits_(machine.noc.queue_flits) {
  std::iota(free_loads_.rbegin(), free_loads_.rend(), std::uint16_t{0});
}

void Lsu::enter_passes(const Owner& owner, unsigned passes) {
  Entry& e = queue_.emplace();
  e.owner = owner, e.route = owner.code->route;
  e.lines = static_cast<std::uint8_t>(passes), e.position = 0;
}

unsigned Lsu::enter_lines(const Owner& owner, const std::uint32_t* payload, unsigned pieces,
                          std::uint32_t base) {
  Entry& e = queue_.emplace();
  e.owner = owner, e.route = owner.code->route, e.bypass = owner.code->bypass_l1, e.position = 0;
  unsigned n = 0;
  for (unsigned i = 0; i < pieces; ++i, payload += trace::kPieceWords)
    n += lines_.convert({payload[0], payload[1], payload[2]}, base, e.line + n);
  e.lines = static_cast<std::uint8_t>(n);
  if (e.route == Route::Load || e.route == Route::Atomic) {
    e.load = free_loads_.back();
    free_loads_.pop_back();
    loads_[e.load] = {owner, e.lines};
  }
  return n;
}

bool Lsu::serve(Cycle now, EventWheel& wheel, SmKernelCounters& counters) {
  if (queue_.empty() || free_at_ > now || (stuck_ && skip_)) return false;
  Entry& e = queue_.front();
  stats::SmCounters& count = counters[e.owner.kernel];
  if (e.route == Route::Shared || e.route == Route::Const) {
    serve_passes(now, e, wheel, count);
    queue_.pop();
    return true;
  }
  if (!serve_line(now, e, wheel, count)) {
    if (!refused_) refused_since_ = now;
    refused_ = stuck_ = true;
    needs_room_ = miss_queue_.full();
    return false;
  }
  if (refused_) count.l1d_reservation_fails += now - refused_since_;
  refused_ = stuck_ = false;
  if (++e.position == e.lines) queue_.pop();
  free_at_ = now + 1;
  return true;
}

void Lsu::serve_passes(Cycle now, const Entry& e, EventWheel& wheel, stats::SmCounters& count) {
  bool shared = e.route == Route::Shared;
  if (shared) ++count.shared_accesses, count.shared_passes += e.lines;
  else ++count.const_accesses;
  free_at_ = now + e.lines;
  Cycle done = now + (shared ? shared_latency_ : const_latency_) + e.lines - 1;
  const DecodedInst& in = *e.owner.code;
  if (in.destination == DecodedInst::kSeveral)
    wheel.push(done, Event::write_several(e.owner.warp, e.owner.inst));
  else if (in.destination != DecodedInst::kNone)
    wheel.push(done, Event::write(e.owner.warp, in.destination));
}

bool Lsu::serve_line(Cycle now, Entry& e, EventWheel& wheel, stats::SmCounters& count) {
  const LineAccess& a = e.line[e.position];
  if (e.route == Route::Load) return load(now, e, a, wheel, count);
  if (miss_queue_.full()) return false;
  switch (e.route) {
    case Route::Store:
      ++count.l1d_stores;
      if (!e.bypass) l1d_.store(a.line);
      else l1d_.invalidate(a.line);
      send(e, a, MessageKind::Write, e.owner.warp, a.sectors);
      break;
    case Route::Atomic:
    case Route::Reduce:
      ++count.atomics;
      l1d_.invalidate(a.line);
      if (e.route == Route::Atomic) send(e, a, MessageKind::Atomic, e.load, a.sectors);
      else send(e, a, MessageKind::Reduce, e.owner.warp, a.sectors);
      break;
    default:
      assertion_failed("instruction has lines", __FILE__, __LINE__);
  }
  return true;
}

bool Lsu::load(Cycle now, const Entry& e, const LineAccess& a, EventWheel& wheel,
               stats::SmCounters& count) {
  if (e.bypass) {
    if (miss_queue_.full()) return false;
    send(e, a, MessageKind::Read, static_cast<std::uint16_t>(kBypass | e.load), a.sectors);
    return true;
  }
  L1d::Load l =
      l1d_.load(now, a.line, lines_.widened(a.sectors), e.load, !miss_queue_.full(), count);
  switch (l.outcome) {
    case L1d::Outcome::Hit:
      wheel.push(now + hit_latency_, Event::piece(e.load));
      return true;
    case L1d::Outcome::Blocked:
      return false;
    case L1d::Outcome::Miss:
      break;
  }
  if (l.ask != 0) send(e, a, MessageKind::Read, l.mshr, l.ask);
  return true;
}

void Lsu::send(const Entry& e, const LineAccess& a, MessageKind kind, std::uint16_t tag,
               std::uint8_t sectors) {
  miss_queue_.push(
      {a.line, static_cast<std::uint16_t>(sm_), tag, sectors, kind, a.lanes, e.owner.kernel});
}

bool Lsu::inject(Cycle now) {
  if (miss_queue_.empty() || inject_at_ > now) return false;
  const Message& m = miss_queue_.front();
  unsigned flits = flits_.flits(m);
  if (credits_ < flits) return false;
  credits_ -= flits, inject_at_ = pace_.send(now, flits);
  ports_.to_noc.push(now + wire_, m);
  ports_.noc_box->post(now + wire_, sm_);
  miss_queue_.pop();
  if (needs_room_) stuck_ = false;
  return true;
}

Cycle Lsu::next_event(Cycle now) const {
  Cycle n = kNever;
  if (!queue_.empty() && !stuck_) n = std::max(now + 1, free_at_);
  if (!miss_queue_.empty() && credits_ >= flits_.flits(miss_queue_.front()))
    n = std::min(n, std::max(now + 1, inject_at_));
  return n;
}

void Lsu::take_credits(Cycle now) {
  while (ports_.credit_in.next_arrival() <= now) {
    credits_ += ports_.credit_in.front();
    ports_.credit_in.pop();
  }
}

bool Lsu::idle() const {
  return queue_.empty() && miss_queue_.empty() && free_loads_.size() == loads_.size() &&
         l1d_.missing_lines() == 0;
}

void Lsu::describe(std::string& out) const {
  out += "load/store unit: " + std::to_string(queue_.size()) + " of " +
         std::to_string(queue_.capacity()) + " instructions, " +
         std::to_string(loads_.size() - free_loads_.size()) + " loads in flight, " +
         std::to_string(l1d_.missing_lines()) + " lines missing, miss queue " +
         std::to_string(miss_queue_.size()) + " of " + std::to_string(miss_queue_.capacity()) +
         ", " + std::to_string(credits_) + " flit credits";
  if (!refused_) return;
  const Entry& e = queue_.front();
  bool cached = e.route == Route::Load && !e.bypass;
  out += "; its head (warp slot " + std::to_string(e.owner.warp) + ") is blocked: ";
  out += cached ? l1d_.obstacle(e.line[e.position].line, !miss_queue_.full())
                : "the miss queue is full";
}

}  // namespace raddle::timing
