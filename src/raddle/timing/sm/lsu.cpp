#include "raddle/timing/sm/lsu.h"

#include <algorithm>
#include <numeric>

#include "raddle/timing/noc/network.h"

namespace raddle::timing {

namespace {
using stats::Refusal;

std::unique_ptr<DenovoL1> make_denovo(const MachineSpec& machine, unsigned sm) {
  if (!machine.coherence.ownership) return nullptr;
  return std::make_unique<DenovoL1>(machine.sm.l1d, sm, machine.sm.count, machine.l2.slices);
}
}  // namespace

Lsu::Lsu(const MachineSpec& machine, const AddressMap& map, unsigned sm)
    : map_(map),
      lines_(machine),
      flits_(packet_size(machine), Direction::Request),
      answer_flits_(packet_size(machine), Direction::Reply),
      pace_(machine),
      answer_pace_(machine),
      sm_(sm),
      wire_(machine.noc.latency_cycles),
      hit_latency_(machine.sm.l1d.hit_latency_cycles),
      shared_latency_(machine.sm.shared_latency_cycles),
      const_latency_(machine.sm.const_latency_cycles),
      no_l1_(!machine.sm.l1d.present()),
      drains_(machine.sm.l1d.keeps_dirty() || machine.sm.l1d.store_buffer != 0),
      policy_(machine.sm.l1d.write_policy),
      local_policy_(machine.sm.l1d.local_write_policy),
      queue_(machine.sm.lsu_queue),
      pieces_(machine.sm.lsu_queue),
      l1d_(machine.sm.l1d),
      store_buffer_(machine.sm.l1d.store_buffer),
      const_cache_(machine),
      denovo_(make_denovo(machine, sm)),
      answers_(denovo_ == nullptr ? 1 : denovo_->responses().capacity()),
      loads_(machine.sm.loads_in_flight),
      free_loads_(machine.sm.loads_in_flight),
      miss_queue_(machine.sm.l1d.miss_queue),
      ports_(port_capacity(machine), machine.coherence.ownership ? port_capacity(machine) : 1),
      credits_(machine.noc.queue_flits),
      answer_credits_(machine.noc.queue_flits),
      answer_cycles_(machine.coherence.answer_cycles) {
  std::iota(free_loads_.rbegin(), free_loads_.rend(), std::uint16_t{0});
  sequence_.fill(~std::uint64_t{0});
}

// --- issue ---------------------------------------------------------------------------------------

bool Lsu::start_block(Cycle now, const Launch& launch, bool flush) {
  const bool first = sequence_[launch.slot] != launch.sequence;
  if (first) {
    sequence_[launch.slot] = launch.sequence;
    if (const_cache_.present()) const_cache_.forget(launch.slot);
  }
  if (flush && !no_l1_) {
    if (denovo_ != nullptr) denovo_->acquire(now);
    else l1d_.flush(now, launch.slot);
    stuck_ = false;
  }
  return first;
}

void Lsu::enter_passes(const Owner& owner, unsigned passes) {
  Entry& e = queue_.emplace();
  e.owner = owner, e.route = owner.code->route;
  e.passes = static_cast<std::uint8_t>(passes);
}

unsigned Lsu::enter_lines(Cycle now, const Owner& owner, const std::uint32_t* payload,
                          unsigned pieces, std::uint32_t base) {
  Entry& e = queue_.emplace();
  e.owner = owner, e.route = owner.code->route, e.bypass = owner.code->bypass_l1 || no_l1_;
  e.passes = static_cast<std::uint8_t>(pieces), e.base = base;
  pieces_.push(payload, pieces);
  const std::uint32_t* first = payload;
  unsigned n = pieces;
  if (!lines_.one_for_one()) {
    LineMap::Accesses line;
    n = 0;
    for (unsigned i = 0; i < pieces; ++i, payload += trace::kPieceWords)
      n += lines_.convert({payload[0], payload[1], payload[2]}, base, line);
  }
  if (e.route != Route::Load && e.route != Route::Atomic) return n;
  e.load = free_loads_.back();
  free_loads_.pop_back();
  InFlight& f = loads_[e.load];
  f.owner = owner, f.left = static_cast<std::uint16_t>(n);
  f.entered = f.departed = static_cast<std::uint32_t>(now);
  if (!descriptors_.empty()) [[unlikely]]
    keep_descriptor(e.load, first, pieces, base);
  return 1;
}

// --- each cycle ----------------------------------------------------------------------------------

bool Lsu::serve(Cycle now, EventWheel& wheel, SmKernelCounters& counters, bool release) {
  release_ = release;
  const bool drained = drains_ && drain(counters);
  if (queue_.empty() || free_at_ > now || (stuck_ && skip_)) return drained;
  Entry& e = queue_.front();
  stats::SmCounters& count = counters[e.owner.kernel];
  const bool passes = e.route == Route::Shared || e.route == Route::Const;
  if (!(passes ? serve_passes(now, e, wheel, count) : serve_line(now, e, wheel, count)))
    return refused(now, count) || drained;
  if (refused_) add_refused(now, e.owner.kernel, count);
  refused_ = stuck_ = false;
  if (passes) {
    queue_.pop();
    return true;
  }
  free_at_ = now + 1;
  if (head_.at == head_.size && e.passes == 0) {
    if (e.route == Route::Load || e.route == Route::Atomic)
      loads_[e.load].served = static_cast<std::uint32_t>(now);
    queue_.pop();
  }
  return true;
}

/// What waits for room in the miss queue and has left the cache already.
bool Lsu::drain(SmKernelCounters& counters) {
  if (denovo_ != nullptr) [[unlikely]]
    return drain_coherent(counters);
  bool any = false;
  if (auto& out = l1d_.write_backs(); !out.empty() && !miss_queue_.full()) {
    const L1d::WriteBack& w = out.front();
    miss_queue_.push({{w.line, static_cast<std::uint16_t>(sm_), kWriteBack, w.sectors,
                       MessageKind::Write, 0, w.kernel}});
    ++counters[w.kernel].requests, ++counters[w.kernel].l1d_write_backs;
    ++write_backs_out_;
    out.pop();
    any = true;
  }
  if (may_drain_stores() && !miss_queue_.full()) {
    const StoreBuffer::Leaving w = store_buffer_.send();
    miss_queue_.push({{w.line, static_cast<std::uint16_t>(sm_),
                       static_cast<std::uint16_t>(kStoreEntry + w.entry),
                       static_cast<std::uint8_t>(w.parts), MessageKind::Write, 0, w.kernel}});
    ++counters[w.kernel].requests;
    any = true;
  }
  if (any && why_ == Refusal::MissQueue) stuck_ = false;
  return any;
}

/// The head cannot go on; nothing has changed but what is counted.
bool Lsu::refused(Cycle now, stats::SmCounters& count) {
  if (refused_ && why_ != refused_for_) add_refused(now, queue_.front().owner.kernel, count);
  if (!refused_ || why_ != refused_for_) refused_since_ = now;
  refused_for_ = why_;
  refused_ = stuck_ = true;
  return false;
}

void Lsu::settle(Cycle at, unsigned kernel, stats::SmCounters& count) const {
  add_refused(at, kernel, count);
  const std::uint64_t over = count.l1d_fills + withdrawn_[kernel].requests;
  count.l1d_miss_cycles += (count.l1d_misses + count.l1d_store_misses - over) * at;
}

void Lsu::add_refused(Cycle at, unsigned kernel, stats::SmCounters& count) const {
  if (!refused_ || queue_.front().owner.kernel != kernel) return;
  count.l1d_reservation_fails += at - refused_since_;
  count.l1d_refused[static_cast<unsigned>(refused_for_)] += at - refused_since_;
}

bool Lsu::serve_passes(Cycle now, const Entry& e, EventWheel& wheel, stats::SmCounters& count) {
  const bool shared = e.route == Route::Shared;
  if (!shared && const_cache_.present() && !serve_const(now, e, wheel, count)) return false;
  if (shared) ++count.shared_accesses, count.shared_passes += e.passes;
  else ++count.const_accesses;
  free_at_ = now + e.passes;
  if (!shared && const_cache_.present()) return true;
  write_back(now + (shared ? shared_latency_ : const_latency_) + e.passes - 1, e.owner, wheel);
  return true;
}

/// The result of a shared or constant access is there at `done`.
void Lsu::write_back(Cycle done, const Owner& owner, EventWheel& wheel) {
  const DecodedInst& in = *owner.code;
  if (in.destination == DecodedInst::kMultiple)
    wheel.push(done, Event::write_multiple(owner.warp, owner.inst));
  else if (in.destination != DecodedInst::kNone)
    wheel.push(done, Event::write(owner.warp, in.destination));
}

bool Lsu::serve_const(Cycle now, const Entry& e, EventWheel& wheel, stats::SmCounters& count) {
  using Outcome = ConstCache<Owner>::Outcome;
  auto [outcome, request] =
      const_cache_.load(e.owner.kernel, e.owner.code->const_at, can_send(), e.owner);
  switch (outcome) {
    case Outcome::Hit:
      ++count.const_hits;
      write_back(now + const_latency_ + e.passes - 1, e.owner, wheel);
      break;
    case Outcome::PendingHit:
      break;
    case Outcome::Miss:
      ++count.const_misses, ++count.requests;
      request.sm = static_cast<std::uint16_t>(sm_);
      request.tag |= kConst;
      if (denovo_ != nullptr) request.words = 0xffff;
      miss_queue_.push({request});
      break;
    case Outcome::NoMshr:
      return refuse(Refusal::Mshr);
    case Outcome::NoMerge:
      return refuse(Refusal::Merge);
    case Outcome::CannotSend:
      return refuse(Refusal::MissQueue);
  }
  return true;
}

void Lsu::open_piece(Entry& e) {
  const trace::Piece piece = pieces_.pop();
  --e.passes;
  head_.size = static_cast<std::uint8_t>(lines_.convert(piece, e.base, head_.line));
  head_.at = 0, head_.lanes = piece.lanes;
  if (e.passes != 0 && lines_.one_for_one()) l1d_.prefetch_load(e.base + pieces_.next().line);
}

inline bool Lsu::serve_line(Cycle now, Entry& e, EventWheel& wheel, stats::SmCounters& count) {
  if (head_.at == head_.size) open_piece(e);
  const LineAccess& a = head_.line[head_.at];
  bool done = false;
  if (denovo_ != nullptr) [[unlikely]]
    done = serve_coherent(now, e, a, wheel, count);
  else if (e.route == Route::Load && !e.bypass) done = load(now, e, a, wheel, count);
  else if (e.route == Route::Store && !e.bypass) done = store(now, e, a, wheel, count);
  else return pass_by(now, e, a, count);
  head_.at += done;
  return done;
}

bool Lsu::load(Cycle now, const Entry& e, const LineAccess& a, EventWheel& wheel,
               stats::SmCounters& count) {
  const L1d::Answer l = l1d_.load(now, {a.line, lines_.widened(a.sectors), e.owner.kernel, e.load},
                                  can_send(), count);
  if (l1d_.events() != nullptr) [[unlikely]]
    tell(now, e, a, l);
  if (l.outcome == L1d::Outcome::Blocked) return refuse(l.why);
  if (l.outcome == L1d::Outcome::Hit) {
    wheel.push(now + hit_latency_, Event::piece(e.load));
    ++count.served[static_cast<unsigned>(stats::ServedFrom::L1)];
  } else if (l.ask != 0) send(e, a, MessageKind::Read, l.mshr, l.ask, count);
  return true;
}

bool Lsu::store(Cycle now, const Entry& e, const LineAccess& a, EventWheel& wheel,
                stats::SmCounters& count) {
  const bool local = e.owner.code->local;
  const WritePolicy policy = local ? local_policy_ : policy_;
  const bool forwards = !keeps_dirty(policy);
  const auto waiter = static_cast<std::uint16_t>(kStore | e.owner.warp);
  const bool buffered = forwards && store_buffer_.present();
  const bool can =
      buffered ? l1d_.write_backs().empty() && store_buffer_.takes(a.line) : can_send();
  const std::uint8_t sectors = forwards ? a.sectors : lines_.widened(a.sectors);
  const std::uint8_t whole = policy == WritePolicy::WriteThroughValidate
                                 ? lines_.narrowed(lines_.whole(a.words))
                                 : std::uint8_t{0};
  const L1d::Answer s =
      l1d_.store(now, {a.line, sectors, e.owner.kernel, waiter}, whole, local, can, count);
  if (l1d_.events() != nullptr) [[unlikely]]
    tell(now, e, a, s);
  switch (s.outcome) {
    case L1d::Outcome::Blocked:
      return refuse(buffered && l1d_.write_backs().empty() ? Refusal::StoreBuffer : s.why);
    case L1d::Outcome::Hit:
      wheel.push(now + 1, Event::acknowledge(e.owner.warp));
      break;
    case L1d::Outcome::Miss:
      if (s.ask != 0) send(e, a, MessageKind::Read, s.mshr, s.ask, count);
      break;
    case L1d::Outcome::Forward:
      forward_store(now, e, a, wheel, count);
  }
  ++count.l1d_stores;
  count.l1d_store_hits += l1d_.last_way() != Tags::kAbsent;
  return true;
}

/// A store goes on to the L2: combined with others, or at once.
void Lsu::forward_store(Cycle now, const Entry& e, const LineAccess& a, EventWheel& wheel,
                        stats::SmCounters& count) {
  if (!store_buffer_.present())
    return send(e, a, MessageKind::Write, e.owner.warp, a.sectors, count);
  using Taken = StoreBuffer::Taken;
  const Taken taken = store_buffer_.put(a.line, a.sectors, e.owner.warp, e.owner.kernel);
  count.stores_combined += taken != Taken::Fresh;
  if (taken == Taken::AlreadyWaitedFor) wheel.push(now + 1, Event::acknowledge(e.owner.warp));
}

/// Accesses that do not use the L1D: atomics, reductions, bypassing loads and stores. What the L1D
/// holds of the line goes first, if dirty in a cycle of its own; a bypassing load leaves a clean
/// line alone.
bool Lsu::pass_by(Cycle now, const Entry& e, const LineAccess& a, stats::SmCounters& count) {
  if (!can_send()) {
    if (l1d_.events() != nullptr && !refused_) [[unlikely]]
      tell_access(now, e, a, policy::L1Outcome::Refused);
    return refuse(Refusal::MissQueue);
  }
  const bool removes = !no_l1_ && (e.route != Route::Load || drains_);
  if (removes && l1d_.remove(now, a.line, e.owner.kernel)) return true;
  if (l1d_.events() != nullptr) [[unlikely]]
    tell_access(now, e, a, policy::L1Outcome::Forwarded);
  switch (e.route) {
    case Route::Load:
      send(e, a, MessageKind::Read, kBypass | e.load, a.sectors, count);
      break;
    case Route::Store:
      ++count.l1d_stores;
      send(e, a, MessageKind::Write, e.owner.warp, a.sectors, count);
      break;
    case Route::Atomic:
      ++count.atomics;
      send(e, a, MessageKind::Atomic, e.load, a.sectors, count);
      break;
    default:
      ++count.atomics;
      send(e, a, MessageKind::Reduce, e.owner.warp, a.sectors, count);
  }
  ++head_.at;
  return true;
}

void Lsu::send(const Entry& e, const LineAccess& a, MessageKind kind, std::uint16_t tag,
               std::uint8_t sectors, stats::SmCounters& count) {
  ++count.requests;
  const bool loads = e.route == Route::Load || e.route == Route::Atomic;
  miss_queue_.push(
      {{a.line, static_cast<std::uint16_t>(sm_), tag, sectors, kind, a.lanes, e.owner.kernel},
       loads ? e.load : kNoLoad});
}

bool Lsu::inject_request(Cycle now) {
  if (miss_queue_.empty() || inject_at_ > now) return false;
  const auto& [m, load] = miss_queue_.front();
  const unsigned flits = flits_.flits(m);
  lacks_credits_ = !has_credits(now, flits);
  if (lacks_credits_) return false;
  credits_ -= flits, inject_at_ = pace_.send(now, flits);
  if (load != kNoLoad) loads_[load].departed = static_cast<std::uint32_t>(now);
  Message request = m;
  request.to = map_.home(m.line);
  ports_.to_noc.push(now + wire_, request);
  ports_.noc_box->post(now + wire_, sm_);
  miss_queue_.pop();
  if (why_ == Refusal::MissQueue) stuck_ = false;
  return true;
}

Cycle Lsu::next_event(Cycle now) const {
  Cycle n = kNever;
  if (!queue_.empty() && !stuck_) n = std::max(now + 1, free_at_);
  if (denovo_ != nullptr) n = std::min(n, next_coherent(now));
  else if (drains_ && !miss_queue_.full() && (!l1d_.write_backs().empty() || may_drain_stores()))
    n = now + 1;
  if (!miss_queue_.empty())
    n = std::min(n,
                 lacks_credits_ ? ports_.credit_in.next_arrival() : std::max(now + 1, inject_at_));
  return n;
}

bool Lsu::has_credits(Cycle now, unsigned flits) {
  if (credits_ < flits) credits_ += take_credits_of(ports_.credit_in, now);
  return credits_ >= flits;
}

bool Lsu::idle() const {
  if (denovo_ != nullptr && (!denovo_->idle() || !answers_.empty())) return false;
  return queue_.empty() && miss_queue_.empty() && free_loads_.size() == loads_.size() &&
         l1d_.missing_lines() == 0 && const_cache_.missing_lines() == 0 && store_buffer_.empty() &&
         l1d_.write_backs().empty() && write_backs_out_ == 0;
}

}  // namespace raddle::timing
