#include "raddle/timing/dram/channel.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "raddle/base/error.h"

namespace raddle::timing {
namespace {

/// Column commands needed for the sectors of `mask`.
std::uint8_t bursts_for(unsigned mask, std::uint32_t burst_bytes, std::uint32_t sector_bytes) {
  if (burst_bytes <= sector_bytes)
    return static_cast<std::uint8_t>(static_cast<unsigned>(std::popcount(mask)) *
                                     (sector_bytes / burst_bytes));
  unsigned per_burst = burst_bytes / sector_bytes, bursts = 0;
  for (; mask != 0; mask >>= per_burst) bursts += (mask & low_bits(per_burst)) != 0;
  return static_cast<std::uint8_t>(bursts);
}

unsigned bursts_of_line(const ChannelSpec& spec) {
  return std::max(1u, spec.line_bytes / spec.dram.burst_bytes);
}

/// Most replies between decision and delivery: one per step of the data bus, and some that are due.
unsigned replies_in_flight(const ChannelSpec& spec, Cycle longest_way) {
  const DramSpec& d = spec.dram;
  if (d.model == DramModel::Fixed) {
    const Cycle served = d.fixed_latency_cycles + longest_way;
    // Of an ideal one a queue each cycle.
    if (d.fixed_interval_cycles == 0) return d.queue * static_cast<unsigned>(served + 2);
    return d.queue + static_cast<unsigned>(served / d.fixed_interval_cycles) + 8;
  }
  std::uint64_t extra = (d.extra_latency_cycles + longest_way) * d.clock_mhz / spec.core_mhz;
  std::uint64_t cycle = d.clock_mhz / spec.core_mhz;  // memory cycles of one core cycle
  std::uint64_t planned = bursts_of_line(spec) * d.widest_step();
  return static_cast<unsigned>((d.tCL + d.burst_cycles() + extra + 2 * cycle + 2 * planned) /
                               d.step(false)) +
         8;
}

}  // namespace

DramChannel::DramChannel(const ChannelSpec& spec, const AddressMap& map,
                         std::unique_ptr<policy::DramPolicy> policy)
    : spec_(spec.dram),
      map_(map),
      ways_(spec),
      clock_(spec_.clock_mhz, spec.core_mhz),
      two_buses_(spec_.command_buses == 2),
      fixed_model_(spec_.model == DramModel::Fixed),
      sector_bytes_(spec.sector_bytes),
      burst_cycles_(spec_.burst_cycles()),
      queue_(spec_.queue),
      banks_(spec_),
      timing_(spec_, bursts_of_line(spec)),
      arbiter_(spec_, std::move(policy)),
      refresh_(spec_),
      fixed_(spec_),
      replies_(replies_in_flight(spec, ways_.longest())),
      counters_(spec.kernel_slots) {
  for (unsigned mask = 0; mask < 256; ++mask)
    bursts_[mask] = bursts_for(mask, spec_.burst_bytes, sector_bytes_);
}

void DramChannel::push(Cycle now, const DramRequest& request) {
  RADDLE_ASSERT(free_slots() > 0 && request.sectors != 0 && request.kernel < counters_.slots());
  ways_.count(request.slice, request.sectors, request.write, counters_[request.kernel].legs);
  if (fixed_model_) return push_fixed(now, request);
  const std::uint64_t m = clock_.first_from(now == ticked_ ? now + 1 : now);
  if (queue_.empty() && refresh_.at() < m)
    refresh_.catch_up(m, refresh_target(request.kernel), [this](std::uint64_t at) {
      timing_.advance(at);
      return two_buses_ || !timing_.column_taken();
    });
  if (m != 0) banks_.advance(m - 1);  // no bank is due before
  const AddressMap::DramPlace at = map_.dram(request.line);
  const unsigned e =
      queue_.insert({.since = now, .queued = m, .column = at.column, .request = request}, at.bank);
  banks_.arrive(e, at.bank, at.row, m, queue_.writes());
  timing_.arrive(e, banks_[at.bank].group);
  arbiter_.changed();
  plan(std::min(std::min(next_attempt_, refresh_.at()), first_chance(e, m)));
  arbiter_.ask_again();
}

void DramChannel::obey(Cycle at, const policy::Knobs& knobs) {
  queue_.obey(knobs);
  ask_again(at);
}

void DramChannel::learn(Cycle at, std::span<const policy::TenantCounts, kMaxTenants> counts) {
  arbiter_.learn(counts);
  ask_again(at);
}

/// From core cycle `at` on the same view may get another answer.
void DramChannel::ask_again(Cycle at) {
  if (queue_.empty()) return;
  arbiter_.ask_again();
  plan(std::min(next_attempt_, clock_.first_from(at)));
}

/// When the new request changes what can be done: unless the policy has declined or the direction
/// may turn, not before its own first command.
inline std::uint64_t DramChannel::first_chance(unsigned e, std::uint64_t m) const {
  if (arbiter_.declined_until() != 0 || queue_.tag(e).write || arbiter_.writing()) return m;
  if (!banks_.ready().test(e)) return banks_.next_wake();
  if (banks_.row_hits().test(e)) return timing_.column_time(false, m);
  return banks_.closed().test(e) ? std::max(m, timing_.activate_at()) : m;
}

inline void DramChannel::plan(std::uint64_t m) {
  if (m == next_attempt_) return;
  next_attempt_ = m;
  due_ = m == kNever ? kNever : clock_.core_at(m);
}

void DramChannel::tick(Cycle now) {
  if (fixed_model_) {
    fixed_.tick(now);
    due_ = fixed_.due();
    return;
  }
  if (!skip_)
    for (std::uint64_t m = clock_.first_from(now); m <= clock_.other_at(now); ++m) attempt(m);
  while (due_ <= now) attempt(next_attempt_);
  ticked_ = now;
}

void DramChannel::attempt(std::uint64_t m) {
  if (queue_.empty()) return plan(kNever);
  if (m < arbiter_.declined_until()) return;
  timing_.advance(m);
  if (banks_.wake(m)) arbiter_.changed();
  const bool free = two_buses_ || !timing_.column_taken();
  DramArbiter::Buses buses{.row = free, .column = free};
  if (m >= refresh_.at()) {
    arbiter_.changed();
    if (refresh_.step(m, free, refresh_target(queue_.tag(queue_.oldest()).kernel))) {
      buses.row = false;
      buses.column = two_buses_;
    }
  }
  if (arbiter_.stale()) arbiter_.update(queue_, banks_);
  decide(m, buses);
}

/// Asks the arbiter, on two buses up to twice.
inline void DramChannel::decide(std::uint64_t m, DramArbiter::Buses buses) {
  using Kind = DramArbiter::Answer::Kind;
  do {
    const DramArbiter::Answer answer = arbiter_.choose(m, buses, queue_, banks_, timing_);
    if (answer.kind == Kind::Nothing) break;
    if (answer.kind == Kind::Declined) {
      const bool all_free = buses.row && buses.column;
      const std::uint64_t other = std::min(banks_.next_wake(), refresh_.at());
      arbiter_.decline_until(all_free ? std::min(other, arbiter_.next_change(m, timing_)) : m + 1);
      return plan(arbiter_.declined_until());
    }
    (banks_.row_hits().test(answer.slot) ? buses.column : buses.row) = false;
    issue(m, answer.slot);
    arbiter_.update(queue_, banks_);
  } while (two_buses_ && !queue_.empty());
  if (queue_.empty()) return plan(kNever);
  const std::uint64_t other = std::min(banks_.next_wake(), refresh_.at());
  plan(arbiter_.next_chance(m, other, two_buses_, timing_));
}

inline void DramChannel::issue(std::uint64_t m, unsigned e) {
  if (banks_.row_hits().test(e)) column(m, e);
  else if (banks_.closed().test(e)) activate(m, e);
  else precharge(m, e);
}

inline void DramChannel::activate(std::uint64_t m, unsigned e) {
  const unsigned bank = queue_.tag(e).bank;
  report(m, DramCommandKind::Activate, e);
  timing_.activated(m, banks_[bank].group);
  banks_.activate(e, bank, m, queue_.writes());
  ++counters_of(e).activates;
}

inline void DramChannel::precharge(std::uint64_t m, unsigned e) {
  report(m, DramCommandKind::Precharge, e);
  banks_.precharge(queue_.tag(e).bank, m, queue_.writes());
  ++counters_of(e).precharges;
}

inline void DramChannel::column(std::uint64_t m, unsigned e) {
  const DramQueue::Slot& slot = queue_[e];
  const unsigned bank = queue_.tag(e).bank, group = banks_[bank].group;
  const DramCommandKind kind = slot.request.write ? DramCommandKind::Write : DramCommandKind::Read;
  const unsigned bursts = bursts_[slot.request.sectors];
  const std::uint32_t step =
      bursts > 1 ? timing_.step_of(group, arbiter_.columns()) : timing_.group_step();
  std::uint64_t last = m;
  report(m, kind, e);
  if (observer_ == nullptr) {
    last = timing_.plan(m, bursts, step);
  } else {  // one after the other gives the same cycles
    timing_.plan(m, 1, step);
    for (unsigned i = 1; i < bursts; ++i) {
      last = timing_.plan_next(last, step);
      report(last, kind, e);
    }
  }
  const std::uint64_t precharge_at = move_data(last, bursts, e);
  stats::DramCounters& counters = counters_of(e);
  counters.row_hits += banks_.found_open(e);
  counters.queue_cycles += m - slot.queued;
  queue_.remove(e);
  timing_.remove(e, group);
  banks_.served(e, bank, precharge_at, queue_.writes());
}

/// The consequences of `bursts` column commands, of which the last goes out at `last`. Returns when
/// the bank may close after them.
inline std::uint64_t DramChannel::move_data(std::uint64_t last, unsigned bursts, unsigned e) {
  const unsigned group = banks_[queue_.tag(e).bank].group;
  stats::DramCounters& counters = counters_of(e);
  counters.bytes += bursts * spec_.burst_bytes;
  counters.bus_busy_cycles += bursts * burst_cycles_;
  if (queue_.tag(e).write) {
    ++counters.writes;
    counters.written_bytes += bursts * spec_.burst_bytes;
    return timing_.wrote(last, group) + spec_.tWR;
  }
  ++counters.reads;
  timing_.read(last, group);
  reply(clock_.core_at(last + spec_.tCL + burst_cycles_) + spec_.extra_latency_cycles,
        queue_[e].since, queue_[e].request);
  return last + spec_.tRTP;
}

/// The data leave the controller at `at`. Replies are in order of completion: a short request may
/// be done before the rest of a long one, a near slice's before a far one's.
void DramChannel::reply(Cycle at, Cycle since, const DramRequest& request) {
  at += ways_.round_trip(request.slice);
  replies_.push({.at = at,
                 .since = since,
                 .line = request.line,
                 .tag = request.tag,
                 .sectors = request.sectors,
                 .slice = request.slice});
  for (unsigned i = replies_.size() - 1; i != 0 && replies_[i - 1].at > at; --i)
    std::swap(replies_[i - 1], replies_[i]);
}

inline void DramChannel::report(std::uint64_t m, DramCommandKind kind, unsigned e) const {
  if (observer_ == nullptr) return;
  const DramQueue::Slot& slot = queue_[e];
  const std::uint32_t bank = queue_.tag(e).bank;
  const bool opens = kind == DramCommandKind::Activate;
  observer_->on_command({.at = m,
                         .kind = kind,
                         .bank = bank,
                         .row = opens ? banks_.row_of(e) : banks_[bank].row,
                         .column = slot.column,
                         .line = slot.request.line});
}

void DramChannel::push_fixed(Cycle now, const DramRequest& request) {
  const Cycle start = fixed_.push(now);
  stats::DramCounters& counters = counters_[request.kernel];
  const std::uint32_t bytes = bytes_of(request.sectors);
  counters.bytes += bytes;
  counters.queue_cycles += start - now;
  counters.bus_busy_cycles += fixed_.interval();
  if (request.write) {
    ++counters.writes;
    counters.written_bytes += bytes;
  } else {
    ++counters.reads;
    reply(start + fixed_.latency(), now, request);
  }
  due_ = fixed_.due();
}

DramRefresh::Target DramChannel::refresh_target(unsigned kernel) {
  return {.banks = banks_,
          .writes = queue_.writes(),
          .counters = counters_[kernel],
          .observer = observer_};
}

void DramChannel::describe(std::string& out) const {
  const unsigned waiting = queue_.size() + fixed_.size();
  out += "dram queue " + std::to_string(waiting) + "/" + std::to_string(queue_.capacity()) + " (" +
         std::to_string(queue_.writes_queued()) + " writes" +
         (arbiter_.writing() ? ", writing" : "") + "), " + std::to_string(replies_.size()) +
         " replies on their way";
  if (!queue_.empty()) {
    const unsigned oldest = queue_.oldest();
    const DramRequest& request = queue_[oldest].request;
    out += "; oldest: " + std::string(request.write ? "write" : "read") + " of line " +
           std::to_string(request.line) + ", bank " + std::to_string(queue_.tag(oldest).bank) +
           (banks_.row_hits().test(oldest) ? ", row open"
            : banks_.closed().test(oldest) ? ", bank closed"
                                           : ", another row open") +
           (banks_.ready().test(oldest) ? "" : ", bank timing");
  }
  out += "\n";
}

}  // namespace raddle::timing
