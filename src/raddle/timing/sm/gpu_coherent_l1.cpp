#include "raddle/timing/sm/gpu_coherent_l1.h"

namespace raddle::timing {

namespace {
using stats::Refusal;
}  // namespace

GpuCoherentL1::GpuCoherentL1(const LsuSpec& spec)
    : ideal_(spec.ideal_l1d),
      drains_(spec.l1d.keeps_dirty() || spec.l1d.store_buffer != 0),
      invalidates_(spec.l1d.invalidate_at_acquire),
      policy_(spec.l1d.write_policy),
      local_policy_(spec.l1d.local_write_policy),
      l1d_(spec.l1d, spec.unclaimed),
      store_buffer_(spec.l1d.store_buffer) {}

/// ideal.l1d: nothing is looked up, nothing is kept.
Served GpuCoherentL1::hit_always(LsuCore& core, Cycle now, const Entry& e, const LineAccess& a,
                                 EventWheel& wheel, stats::SmCounters& count) {
  if (l1d_.events() != nullptr) notify_access(core, now, e, a, policy::L1Outcome::Hit);
  ++count.l1d_accesses;
  ++count.l1d_hits;
  ++count.served[static_cast<unsigned>(stats::ServedFrom::L1)];
  wheel.push(now + core.hit_latency(), Event::transaction(e.load));
  return Served::Done;
}

/// The policy is asked once for a line, however often it is refused.
Served GpuCoherentL1::load_or_pass(LsuCore& core, Cycle now, const Entry& e, const LineAccess& a,
                                   EventWheel& wheel, stats::SmCounters& count) {
  using Path = LsuCore::Path;
  if (ideal_) return load(core, now, e, a, wheel, count);
  if (core.head_path() == Path::Undecided) {
    const L1d::Finding found =
        l1d_.look({a.line, core.lines().widened(a.sectors), e.owner.kernel, e.load});
    const bool past =
        !found.hits && bypass_->ask({now, a.line, e.owner.inst, e.owner.warp, e.owner.tenant,
                                     found.pending, found.lacks_way, found.refused});
    core.head_path() = past ? Path::Past : Path::Cache;
  }
  const Served served = core.head_path() == Path::Past ? pass_by(core, now, e, a, count)
                                                       : load(core, now, e, a, wheel, count);
  if (served == Served::Done) core.head_path() = Path::Undecided;
  return served;
}

Served GpuCoherentL1::store(LsuCore& core, Cycle now, const Entry& entry, const LineAccess& access,
                            EventWheel& wheel, stats::SmCounters& count) {
  const bool local = entry.owner.code->local;
  const WritePolicy policy = local ? local_policy_ : policy_;
  const auto waiter = static_cast<std::uint16_t>(LsuCore::kStore | entry.owner.warp);
  const bool buffered = sends_stores(policy) && store_buffer_.present();
  const bool can = buffered ? l1d_.write_backs().empty() && store_buffer_.takes(access.line)
                            : can_send(core, entry.owner.kernel);
  const std::uint8_t sectors =
      keeps_dirty(policy) ? core.lines().widened(access.sectors) : access.sectors;
  const std::uint8_t whole = policy == WritePolicy::WriteThroughValidate
                                 ? core.lines().narrowed(core.lines().whole(access.words))
                                 : std::uint8_t{0};
  const L1d::Answer answer =
      l1d_.store(now, {access.line, sectors, entry.owner.kernel, waiter}, whole, local, can, count);
  if (l1d_.events() != nullptr) [[unlikely]]
    notify(core, now, entry, access, answer);
  switch (answer.outcome) {
    case L1d::Outcome::Blocked:
      return refuse(core,
                    buffered && l1d_.write_backs().empty() ? Refusal::StoreBuffer : answer.why);
    case L1d::Outcome::Hit:
      wheel.push(now + 1, Event::acknowledge(entry.owner.warp));
      break;
    case L1d::Outcome::Miss:
      if (answer.ask != 0)
        core.send(entry, access, MessageKind::Read, answer.mshr, answer.ask, count);
      break;
    case L1d::Outcome::Forward:
      forward_store(core, entry, access, now, wheel, count);
  }
  ++count.l1d_stores;
  count.l1d_store_hits += l1d_.last_way() != Tags::kAbsent;
  return Served::Done;
}

/// A store goes on to the L2: combined with others, or at once.
void GpuCoherentL1::forward_store(LsuCore& core, const Entry& e, const LineAccess& a, Cycle now,
                                  EventWheel& wheel, stats::SmCounters& count) {
  if (!store_buffer_.present())
    return core.send(e, a, MessageKind::Write, e.owner.warp, a.sectors, count);
  using Taken = StoreBuffer::Taken;
  const Taken taken = store_buffer_.put(a.line, a.sectors, e.owner.warp, e.owner.kernel);
  count.stores_combined += taken != Taken::Fresh;
  if (taken == Taken::AlreadyWaitedFor) wheel.push(now + 1, Event::acknowledge(e.owner.warp));
}

/// Accesses that do not use the L1D: atomics, reductions, bypassing loads and stores. What the L1D
/// holds of the line goes first, if dirty in a cycle of its own; a bypassing load leaves a clean
/// line alone.
Served GpuCoherentL1::pass_by(LsuCore& core, Cycle now, const Entry& e, const LineAccess& a,
                              stats::SmCounters& count) {
  if (!can_send(core, e.owner.kernel)) {
    if (l1d_.events() != nullptr && !core.head_refused()) [[unlikely]]
      notify_access(core, now, e, a, policy::L1Outcome::Refused);
    return refuse(core, Refusal::MissQueue);
  }
  const bool removes = !core.no_l1() && (e.route != Route::Load || drains_);
  if (removes && l1d_.remove(now, a.line, e.owner.kernel)) return Served::Again;
  if (l1d_.events() != nullptr) [[unlikely]]
    notify_access(core, now, e, a, policy::L1Outcome::Forwarded);
  switch (e.route) {
    case Route::Load:
      core.send(e, a, MessageKind::Read, LsuCore::kBypass | e.load, a.sectors, count);
      break;
    case Route::Store:
      ++count.l1d_stores;
      core.send(e, a, MessageKind::Write, e.owner.warp, a.sectors, count);
      break;
    case Route::Atomic:
      ++count.atomics;
      core.send(e, a, MessageKind::Atomic, e.load, a.sectors, count);
      break;
    default:
      ++count.atomics;
      core.send(e, a, MessageKind::Reduce, e.owner.warp, a.sectors, count);
  }
  return Served::Done;
}

/// What waits for room in the miss queue and has left the cache already.
bool GpuCoherentL1::drain(LsuCore& core, SmKernelCounters& counters) {
  bool any = false;
  if (auto& out = l1d_.write_backs(); !out.empty() && !core.queue_full()) {
    const L1d::WriteBack& w = out.front();
    core.enqueue({w.line, static_cast<std::uint16_t>(core.sm()), LsuCore::kWriteBack, w.sectors,
                  MessageKind::Write, 0, w.kernel});
    ++counters[w.kernel].requests;
    ++counters[w.kernel].l1d_write_backs;
    ++write_backs_out_;
    out.pop();
    any = true;
  }
  if (may_drain_stores(core) && !core.queue_full()) {
    const StoreBuffer::OutgoingRequest w = store_buffer_.send();
    core.enqueue({w.line, static_cast<std::uint16_t>(core.sm()),
                  static_cast<std::uint16_t>(kStoreEntry + w.entry),
                  static_cast<std::uint8_t>(w.parts), MessageKind::Write, 0, w.kernel});
    ++counters[w.kernel].requests;
    any = true;
  }
  if (any) core.wake_heads_from(Refusal::MissQueue);
  return any;
}

/// What has become of an access to the L1D.
void GpuCoherentL1::notify(const LsuCore& core, Cycle now, const Entry& e, const LineAccess& a,
                           const L1d::Answer& answer) {
  L1Events& events = *l1d_.events();
  switch (answer.outcome) {
    case L1d::Outcome::Blocked:
      if (!core.head_refused()) notify_access(core, now, e, a, policy::L1Outcome::Refused);
      return;
    case L1d::Outcome::Hit:
      events.used(l1d_.last_way(), e.owner.warp);
      return notify_access(core, now, e, a, policy::L1Outcome::Hit);
    case L1d::Outcome::Forward:
      if (l1d_.last_way() != Tags::kAbsent) events.used(l1d_.last_way(), e.owner.warp);
      return notify_access(core, now, e, a, policy::L1Outcome::Forwarded);
    case L1d::Outcome::Miss:
      break;
  }
  if (answer.ask != 0 && l1d_.first_request(answer.mshr, answer.ask))
    events.requested(answer.mshr, e.owner.warp);
  if (l1d_.reserved_way(answer.mshr) != Tags::kAbsent)
    events.used(l1d_.reserved_way(answer.mshr), e.owner.warp);
  notify_access(core, now, e, a,
                answer.ask != 0 ? policy::L1Outcome::Miss : policy::L1Outcome::PendingHit);
}

void GpuCoherentL1::notify_access(const LsuCore& core, Cycle now, const Entry& e,
                                  const LineAccess& a, policy::L1Outcome outcome) {
  l1d_.events()->access(core.observed(now, e, a, kept(core, e, a), outcome));
}

/// What a store leaves valid of a line, by write policy.
std::uint8_t GpuCoherentL1::kept(const LsuCore& core, const Entry& e, const LineAccess& a) const {
  if (e.route != Route::Store || e.bypass) return 0;
  switch (e.owner.code->local ? local_policy_ : policy_) {
    case WritePolicy::WriteThrough:
    case WritePolicy::WriteEvict:
      return 0;
    case WritePolicy::WriteBack:
    case WritePolicy::WriteValidate:
      return core.lines().widened(a.sectors);
    case WritePolicy::WriteBackAround:
      return l1d_.last_way() == Tags::kAbsent ? std::uint8_t{0} : core.lines().widened(a.sectors);
    case WritePolicy::WriteThroughValidate:
      return l1d_.last_way() == Tags::kAbsent ? std::uint8_t{0}
                                              : core.lines().narrowed(core.lines().whole(a.words));
  }
  return 0;
}

}  // namespace raddle::timing
