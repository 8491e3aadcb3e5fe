// The load/store unit's part in a warp's departure and arrival (warp_context.h): definitions for
// lsu.cpp.
#pragma once
#include <algorithm>

#include "raddle/timing/sm/lsu.h"

namespace raddle::timing {

/// visit(piece, access, MSHR) for each access of a load whose data an MSHR waits for.
template <L1Protocol L1>
template <class Visit>
void Lsu<L1>::each_access_waited_for(unsigned load, Visit visit) const {
  const LoadTable::Descriptor& from = loads_.descriptor(load);
  LineMap::Accesses accesses;
  for (unsigned i = 0; i < from.transactions; ++i) {
    const unsigned n = lines_.convert(from.transaction[i], from.base, accesses);
    for (unsigned k = 0; k < n; ++k) {
      const LineAccess& a = accesses[k];
      const unsigned mshr =
          l1_.waits(a.line, lines_.widened(a.sectors), static_cast<std::uint16_t>(load));
      if (mshr != L1d::kNoMshr) visit(i, a, mshr);
    }
  }
}

template <L1Protocol L1>
unsigned Lsu<L1>::lines_waited_for(unsigned load) const {
  unsigned out = 0;
  each_access_waited_for(load, [&](unsigned, const LineAccess&, unsigned) { ++out; });
  return out;
}

template <L1Protocol L1>
ExportRefusal Lsu<L1>::may_leave(Cycle seen, unsigned warp, const DecodedKernel& code,
                                 RegisterSet pending, unsigned outstanding) const {
  if (!L1::kMigrates || !loads_.keeps_descriptors()) return ExportRefusal::Unsupported;
  RADDLE_ASSERT(!queues_.divided());  // a machine whose warps leave obeys no scheme
  const Ring<Entry>& queue = queues_.served().queue;
  for (unsigned i = 0; i < queue.size(); ++i)
    if (queue[i].owner.warp == warp) return ExportRefusal::InQueue;
  unsigned loads = 0;
  bool all_waited_for = true;
  for (unsigned load = 0; load < loads_.slots() && loads != outstanding; ++load) {
    const LoadTable::InFlight& f = loads_[load];
    if (f.left == 0 || f.owner.warp != warp) continue;
    const DecodedInst& in = *f.owner.code;
    if (in.route != Route::Load) return ExportRefusal::OperationUnderWay;
    ++loads;
    // To count is dear: of lines that differ none comes from the L1D any more once the last was
    // served so long ago. Past the L1D nothing waits in an MSHR.
    const bool none_hits = loads_.descriptor(load).distinct && !in.bypass_l1 && !no_l1_ &&
                           static_cast<std::uint32_t>(seen) - f.served >= hit_latency_;
    all_waited_for = all_waited_for && (none_hits || lines_waited_for(load) == f.left);
    if (in.destination == DecodedInst::kMultiple) pending -= code.multiple_destinations(in);
    else if (in.destination != DecodedInst::kNone) pending.clear(in.destination);
  }
  if (pending.any()) return ExportRefusal::ResultUnderWay;
  if (loads != outstanding) return ExportRefusal::OperationUnderWay;
  return all_waited_for ? ExportRefusal::None : ExportRefusal::HitUnderWay;
}

/// The MSHR at a place of a queue of `size`, or kNoMshr; at(i): the MSHR that is there, or kNoMshr
/// where it does not count.
template <class At>
unsigned mshr_at(const policy::MissPlace& place, unsigned size, At at) {
  const bool oldest = place.from == policy::MissesFrom::Oldest;
  unsigned before = 0;
  for (unsigned i = 0; i < size; ++i) {
    const unsigned mshr = at(oldest ? i : size - 1 - i);
    if (mshr != L1d::kNoMshr && before++ == place.position) return mshr;
  }
  return L1d::kNoMshr;
}

template <L1Protocol L1>
unsigned Lsu<L1>::unsent(const policy::MissPlace& place) const {
  return mshr_at(place, port_.queued(), [&](unsigned i) -> unsigned {
    const Message& m = port_[i].message;
    return is_fetch(m) ? m.tag : L1d::kNoMshr;
  });
}

template <L1Protocol L1>
unsigned Lsu<L1>::outstanding(const policy::MissPlace& place) {
  const auto is_over = [&](const FetchOrder::Fetch& fetch) {
    return fetch_order_.is_old(fetch) || !l1_.waited_for(fetch.mshr);
  };
  fetch_order_.forget(is_over);
  return mshr_at(place, fetch_order_.size(), [&](unsigned i) -> unsigned {
    return is_over(fetch_order_[i]) ? L1d::kNoMshr : fetch_order_[i].mshr;
  });
}

template <L1Protocol L1>
bool Lsu<L1>::miss(const policy::MissPlace& place, policy::PendingMiss& out) {
  const unsigned mshr = place.among == policy::Misses::Unsent ? unsent(place) : outstanding(place);
  if (mshr == L1d::kNoMshr) return false;
  out.waiting = 0;
  out.warps.clear();
  out.only_loads = true;
  l1_.each_waiter(mshr, [&](std::uint16_t waiter) {
    ++out.waiting;
    if (waiter >= loads_.slots()) {
      out.only_loads = false;
      return;
    }
    const unsigned warp = loads_[waiter].owner.warp;
    if (std::ranges::find(out.warps, warp) == out.warps.end()) out.warps.push_back(warp);
  });
  return true;
}

template <L1Protocol L1>
std::vector<PendingLoad> Lsu<L1>::take_loads(Cycle now, unsigned warp, SmKernelCounters& counters,
                                             MigrationCounters& migration) {
  std::vector<PendingLoad> out;
  for (unsigned load = 0; load < loads_.slots(); ++load) {
    const LoadTable::InFlight& f = loads_[load];
    if (f.left == 0 || f.owner.warp != warp) continue;
    const LoadTable::Descriptor& from = loads_.descriptor(load);
    std::array<std::uint32_t, trace::kMaxTransactions> words{};
    each_access_waited_for(load, [&](unsigned transaction, const LineAccess& a, unsigned) {
      words[transaction] |= lines_.words_of_transaction(a, from.base);
    });
    PendingLoad& pending = out.emplace_back();
    pending.inst = f.owner.inst;
    pending.base = from.base;
    for (unsigned i = 0; i < from.transactions; ++i)
      if (words[i] != 0)
        pending.transactions.push_back(
            {from.transaction[i].line, words[i], from.transaction[i].lanes});
    RADDLE_ASSERT(!pending.transactions.empty());
    cancel_load(now, load, counters, migration);
  }
  wake_heads();
  return out;
}

/// Nobody is told of the load's data any more; its slot is free.
template <L1Protocol L1>
void Lsu<L1>::cancel_load(Cycle now, unsigned load, SmKernelCounters& counters,
                          MigrationCounters& migration) {
  port_.forget_load(load);
  std::vector<unsigned> left_alone;
  each_access_waited_for(load, [&](unsigned, const LineAccess&, unsigned mshr) {
    loads_.cancel_access(load);
    ++migration.lines_out;
    if (left_alone.empty() || left_alone.back() != mshr) left_alone.push_back(mshr);
  });
  for (const unsigned mshr : left_alone)
    if (l1_.cancel(mshr, static_cast<std::uint16_t>(load)))
      withdraw_request(now, mshr, counters, migration);
  ++migration.loads_out;
  loads_.cancel(load);
}

/// Nobody waits for the MSHR. If none of its requests has left, they never do; else what comes is
/// an orphan: it goes into the cache, and nobody is told.
template <L1Protocol L1>
void Lsu<L1>::withdraw_request(Cycle now, unsigned mshr, SmKernelCounters& counters,
                               MigrationCounters& migration) {
  const auto asks_for_it = [&](const Message& m) { return is_fetch(m) && m.tag == mshr; };
  std::uint8_t queued = 0;
  for (unsigned i = 0; i < port_.queued(); ++i)
    if (asks_for_it(port_[i].message)) queued |= port_[i].message.sectors;
  if (queued != l1_.missing_sectors(mshr)) {
    ++migration.unclaimed;
    l1_.unclaimed(mshr);
    return;
  }
  port_.withdraw([&](const Message& m) {
    if (!asks_for_it(m)) return false;
    stats::SmCounters& count = counters[m.kernel];
    --count.requests;
    count.l1d_miss_cycles += now;  // the miss subtracted its own cycle
    ++cancelled_[m.kernel].requests;
    ++migration.cancelled;
    return true;
  });
  l1_.abandon(mshr);
}

template <L1Protocol L1>
void Lsu<L1>::enter_again(Cycle now, const Owner& owner, const PendingLoad& load) {
  RADDLE_ASSERT(accepts());
  RADDLE_ASSERT(owner.code->route == Route::Load);
  RADDLE_ASSERT(load.transactions.size() <= trace::kMaxTransactions);
  std::array<std::uint32_t, trace::kMaxTransactions * trace::kTransactionWords> payload;
  std::uint32_t* at = payload.data();
  for (const trace::Transaction& p : load.transactions) {
    *at++ = p.line;
    *at++ = p.words;
    *at++ = p.lanes;
  }
  enter_lines(now, owner, payload.data(), static_cast<unsigned>(load.transactions.size()),
              load.base);
}

}  // namespace raddle::timing
