#include "raddle/timing/sm/lsu.h"

#include <algorithm>
#include <tuple>

#include "raddle/timing/sm/denovo_coherent_l1.h"
#include "raddle/timing/sm/gpu_coherent_l1.h"
#include "raddle/timing/sm/lsu_migration.h"
#include "raddle/timing/sm/lsu_reports.h"
#include "raddle/timing/spec/address_regions.h"

namespace raddle::timing {

namespace {
using stats::Refusal;
}  // namespace

template <L1Protocol L1>
Lsu<L1>::Lsu(const LsuSpec& spec, const AddressMap& map)
    : LsuCore(spec, map), l1_(spec), shares_(spec.kernel_slots) {}

// --- issue ---------------------------------------------------------------------------------------

template <L1Protocol L1>
bool Lsu<L1>::start_block(Cycle now, const Launch& launch, bool flush) {
  const bool first = sequence_[launch.slot] != launch.sequence;
  if (first) {
    sequence_[launch.slot] = launch.sequence;
    tenant_[launch.slot] = launch.tenant;
    if (const_cache_.present()) const_cache_.forget(launch.slot);
    if (knobs_ != nullptr) share_ways();
  }
  if (flush && !no_l1_) {
    l1_.kernel_starts(now, launch.slot);
    if constexpr (requires { l1_.resize(now, 0u); })
      if (launch.l1d_ways != 0) l1_.resize(now, launch.l1d_ways);
    wake_heads();
  }
  return first;
}

template <L1Protocol L1>
void Lsu<L1>::enter_passes(const Owner& owner, unsigned passes) {
  LsuQueues::Queue& queue = queues_.of(owner.tenant);
  Entry& e = queue.queue.emplace();
  e.owner = owner;
  e.route = owner.code->route;
  e.passes = static_cast<std::uint8_t>(passes);
}

template <L1Protocol L1>
void Lsu<L1>::enter_distant(const Owner& owner, unsigned rows, unsigned lanes) {
  enter_passes(owner, cluster_.present() ? trace::kDistant + rows : std::max(rows, lanes));
}

template <L1Protocol L1>
unsigned Lsu<L1>::enter_lines(Cycle now, const Owner& owner, const std::uint32_t* payload,
                              unsigned transactions, std::uint32_t base) {
  if (half_warps_) [[unlikely]]
    std::tie(payload, transactions) = halves_.split(payload, transactions);
  if (sector_banks_ && transactions > 2)
    payload = banks_.order(payload, transactions, lines_, lines_per_cycle_);
  LsuQueues::Queue& queue = queues_.of(owner.tenant);
  Entry& e = queue.queue.emplace();
  e.owner = owner;
  e.route = owner.code->route;
  e.bypass = owner.code->bypass_l1 || no_l1_;
  e.passes = static_cast<std::uint8_t>(transactions);
  e.base = base;
  queue.transactions.push(payload, transactions);
  const std::uint32_t* first = payload;
  unsigned n = transactions;
  if (!lines_.one_for_one()) {
    LineMap::Accesses line;
    n = 0;
    for (unsigned i = 0; i < transactions; ++i, payload += trace::kTransactionWords)
      n += lines_.convert({payload[0], payload[1], payload[2]}, base, line);
  }
  l1_.prefetch_find(base + first[0]);
  if (!e.returns_data()) return n;
  e.load = loads_.enter(now, owner, n);
  if (loads_.keeps_descriptors()) [[unlikely]]
    loads_.describe(e.load, first, transactions, base,
                    lines_.one_for_one() && lines_.whole_lines());
  return 1;
}

// --- a scheme ------------------------------------------------------------------------------------

template <L1Protocol L1>
void Lsu<L1>::obey(Cycle at, const policy::Knobs& knobs) {
  knobs_ = &knobs;
  queues_.obey(knobs);
  port_.obey(at, knobs);
  queues_.wake();
  share_ways();
}

/// Launch slots fill the ways of the tenants that have them.
template <L1Protocol L1>
void Lsu<L1>::share_ways() {
  for (unsigned slot = 0; slot < shares_.holders(); ++slot)
    shares_.set(slot, knobs_->of(tenant_[slot]).l1d_ways);
  l1_.share_ways(shares_.any() ? &shares_ : nullptr);
}

/// A store of a whole entry or a load of it, which no L1D keeps. DeNovo's banks know no such store;
/// there it is a load.
template <L1Protocol L1>
bool Lsu<L1>::send_queue_access(const QueueRequest& request, SmKernelCounters& counters) {
  RADDLE_ASSERT(request.id < QueueRequest::kMaxIds);
  if (!l1_.can_send(*this, request.kernel)) return false;
  const Address at = kQueueBase + Address{request.place} * kQueueEntryBytes;
  constexpr auto kWords = static_cast<std::uint32_t>(low_bits(kQueueEntryBytes / 4));
  const std::uint32_t words = kWords << at % trace::kLineBytes / 4;
  LineMap::Accesses line;
  lines_.convert({static_cast<std::uint32_t>(at / trace::kLineBytes), words, 1}, 0, line);
  Message m;
  m.line = line[0].line;
  m.sm = static_cast<std::uint16_t>(sm_);
  m.tag = request.fetch ? static_cast<std::uint16_t>(kQueue | request.id) : kQueueStore;
  m.sectors = line[0].sectors;
  m.kernel = request.kernel;
  if (!request.fetch && l1_.answers() == nullptr) m.kind = MessageKind::Write;
  l1_.mark_constant(m);
  ++counters[request.kernel].requests;
  ++queue_accesses_;
  enqueue(m);
  return true;
}

template <L1Protocol L1>
void Lsu<L1>::send_copy(const Owner& owner, const LineAccess& line, MessageKind kind,
                        std::uint16_t tag, SmKernelCounters& counters) {
  Message m;
  m.line = line.line;
  m.sm = static_cast<std::uint16_t>(sm_);
  m.tag = kBulk | tag;
  m.sectors = line.sectors;
  m.kind = l1_.answers() == nullptr ? kind : MessageKind::Read;
  m.meeting = kind == MessageKind::Reduce ? line.meeting() : std::uint8_t{0};
  m.kernel = owner.kernel;
  l1_.mark_constant(m);
  stats::SmCounters& count = counters[owner.kernel];
  ++count.requests;
  if (kind == MessageKind::Write) ++count.l1d_stores;
  if (kind == MessageKind::Reduce) ++count.atomics;
  enqueue(m);
}

// --- each cycle ----------------------------------------------------------------------------------

/// Queues take turns; if none goes on, the turn is whose it was.
template <L1Protocol L1>
inline bool Lsu<L1>::serve_one(Cycle now, EventWheel& wheel, SmKernelCounters& counters) {
  if (free_at_ > now) return false;
  if (!queues_.divided()) [[likely]]
    return serve_oldest(now, wheel, counters);
  for (unsigned tries = 0; tries < queues_.count(); ++tries) {
    const bool served = serve_oldest(now, wheel, counters);
    queues_.turn();
    if (served) return true;
  }
  return false;
}

template <L1Protocol L1>
bool Lsu<L1>::serve_several(Cycle now, EventWheel& wheel, SmKernelCounters& counters) {
  const bool drained = l1_.drains() && l1_.drain(*this, counters);
  unsigned banks = sector_banks_ ? next_banks() : 0;
  if (!serve_one(now, wheel, counters)) return drained;
  for (unsigned more = lines_per_cycle_ - 1; more != 0 && free_at_ == now + 1; --more) {
    if (sector_banks_) {
      const unsigned next = next_banks();
      if ((banks & next) != 0) break;
      banks |= next;
    }
    free_at_ = now;
    serve_one(now, wheel, counters);
    free_at_ = std::max(free_at_, now + 1);
  }
  return true;
}

template <L1Protocol L1>
bool Lsu<L1>::serve_oldest(Cycle now, EventWheel& wheel, SmKernelCounters& counters) {
  LsuQueues::Queue& queue = queues_.served();
  if (queue.queue.empty() || (queue.stuck && skip_)) return false;
  Entry& e = queue.queue.front();
  stats::SmCounters& count = counters[e.owner.kernel];
  const bool passes = e.in_passes();
  if (!(passes ? serve_passes(now, e, wheel, count) : serve_line(now, e, wheel, count))) {
    queues_.note_refusal(now, count);
    return false;
  }
  queues_.note_service(now, e.owner.kernel, count);
  if (passes) {
    queue.queue.pop();
    return true;
  }
  free_at_ = now + 1;
  if (queue.head.at == queue.head.size && e.passes == 0) {
    if (e.returns_data()) loads_.served(now, e.load);
    queue.queue.pop();
  }
  return true;
}

template <L1Protocol L1>
void Lsu<L1>::settle(Cycle at, unsigned kernel, stats::SmCounters& count) const {
  queues_.settle(at, kernel, count);
  const std::uint64_t over = count.l1d_fills + cancelled_[kernel].requests;
  count.l1d_miss_cycles += (count.l1d_misses + count.l1d_store_misses - over) * at;
}

template <L1Protocol L1>
bool Lsu<L1>::serve_passes(Cycle now, const Entry& e, EventWheel& wheel, stats::SmCounters& count) {
  const bool shared = e.route == Route::Shared;
  if (!shared && const_cache_.present() && !serve_const(now, e, wheel, count)) return false;
  if (shared) {
    ++count.shared_accesses;
    if (e.passes > trace::kDistant) [[unlikely]]
      return serve_distant(now, e, wheel, count);
    count.shared_passes += e.passes;
  } else {
    ++count.const_accesses;
  }
  free_at_ = now + e.passes;
  if (!shared && const_cache_.present()) return true;
  write_back(now + (shared ? shared_latency_ : const_latency_) + e.passes - 1, e.owner, wheel);
  return true;
}

/// Shared memory of another block of the cluster. Only the way there is in it: what the access
/// takes of that SM's shared memory is left out.
template <L1Protocol L1>
bool Lsu<L1>::serve_distant(Cycle now, const Entry& e, EventWheel& wheel,
                            stats::SmCounters& count) {
  const unsigned rows = e.passes - trace::kDistant;
  count.shared_passes += rows;
  const Cycle taken = Cycle{rows} * cluster_.row_cycles;
  free_at_ = now + taken;
  write_back(now + cluster_.latency_cycles + taken - 1, e.owner, wheel);
  return true;
}

template <L1Protocol L1>
bool Lsu<L1>::serve_const(Cycle now, const Entry& e, EventWheel& wheel, stats::SmCounters& count) {
  using Outcome = ConstCache<Owner>::Outcome;
  auto [outcome, request] = const_cache_.load(e.owner.kernel, e.owner.code->const_at,
                                              l1_.can_send(*this, e.owner.kernel), e.owner);
  switch (outcome) {
    case Outcome::Hit:
      ++count.const_hits;
      write_back(now + const_latency_ + e.passes - 1, e.owner, wheel);
      break;
    case Outcome::PendingHit:
      break;
    case Outcome::Miss:
      ++count.const_misses;
      ++count.requests;
      request.sm = static_cast<std::uint16_t>(sm_);
      request.tag |= kConst;
      l1_.mark_constant(request);
      enqueue(request);
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

template <L1Protocol L1>
void Lsu<L1>::open_transaction(Entry& e) {
  LsuQueues::Queue& queue = queues_.served();
  LsuQueues::Head& head = queue.head;
  const trace::Transaction transaction = queue.transactions.pop();
  --e.passes;
  head.size = static_cast<std::uint8_t>(lines_.convert(transaction, e.base, head.line));
  head.at = 0;
  head.lanes = transaction.lanes;
  if (e.passes != 0 && lines_.one_for_one())
    l1_.prefetch_load(e.base + queue.transactions.next().line);
}

template <L1Protocol L1>
inline bool Lsu<L1>::serve_line(Cycle now, Entry& e, EventWheel& wheel, stats::SmCounters& count) {
  LsuQueues::Head& head = queues_.served().head;
  if (head.at == head.size) open_transaction(e);
  const Served served = l1_.serve(*this, now, e, head.line[head.at], wheel, count);
  if (served == Served::Done) ++head.at;
  return served != Served::Refused;
}

template <L1Protocol L1>
Cycle Lsu<L1>::next_event(Cycle now) const {
  Cycle n = kNever;
  queues_.each([&](const LsuQueues::Queue& queue) {
    if (!queue.queue.empty() && !queue.stuck) n = std::max(now + 1, free_at_);
  });
  n = std::min(n, l1_.next_event(*this, now));
  return port_.waits() ? std::min(n, port_.next_departure(now)) : n;
}

template <L1Protocol L1>
bool Lsu<L1>::idle() const {
  bool empty = true;
  queues_.each([&](const LsuQueues::Queue& queue) { empty = empty && queue.queue.empty(); });
  return l1_.idle() && empty && !port_.waits() && queue_accesses_ == 0 && loads_.taken() == 0 &&
         const_cache_.missing_lines() == 0;
}

template class Lsu<GpuCoherentL1>;
template class Lsu<DenovoCoherentL1>;

}  // namespace raddle::timing
