#include "raddle/timing/dram/channel.h"

#include <algorithm>
#include <bit>

#include "raddle/base/error.h"
#include "raddle/policy/dram/rank_first.h"
#include "raddle/policy/fault.h"

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
    return d.queue + static_cast<unsigned>(served / d.fixed_interval_cycles) + 8;
  }
  std::uint64_t extra = (d.extra_latency_cycles + longest_way) * d.clock_mhz / spec.core_mhz;
  std::uint64_t cycle = d.clock_mhz / spec.core_mhz;  // memory cycles of one core cycle
  std::uint64_t planned = bursts_of_line(spec) * d.widest_step();
  return static_cast<unsigned>((d.tCL + d.burst_cycles() + extra + 2 * cycle + 2 * planned) /
                               d.step(false)) +
         8;
}

ColumnSlots column_slots(const ChannelSpec& spec) {
  const DramSpec& d = spec.dram;
  return {d.step(false), d.step(true), d.widest_step(), bursts_of_line(spec)};
}

}  // namespace

DramChannel::DramChannel(const ChannelSpec& spec, const AddressMap& map,
                         std::unique_ptr<policy::DramPolicy> policy)
    : spec_(spec.dram),
      map_(map),
      ways_(spec),
      clock_(spec_.clock_mhz, spec.core_mhz),
      policy_(std::move(policy)),
      two_buses_(spec_.command_buses == 2),
      capacity_(spec_.queue),
      sector_bytes_(spec.sector_bytes),
      burst_cycles_(spec_.burst_cycles()),
      step_s_(spec_.step(false)),
      step_l_(spec_.step(true)),
      read_to_write_(spec_.read_to_write()),
      bank_(spec_.banks),
      by_group_{step_l_ > step_s_ || spec_.tWTRL > spec_.tWTRS, step_l_ > step_s_,
                spec_.tRRDL > spec_.tRRDS},
      column_slots_(column_slots(spec)),
      replies_(replies_in_flight(spec, ways_.longest())),
      starts_(spec_.queue),
      counters_(spec.kernel_slots) {
  RADDLE_ASSERT(capacity_ >= 1 && capacity_ <= kSlots);
  RADDLE_ASSERT(spec_.banks >= 1 && spec_.banks <= kBanks && spec_.bank_groups <= kGroups);
  for (unsigned b = 0; b < spec_.banks; ++b)
    bank_[b].group = static_cast<std::uint8_t>(b % spec_.bank_groups);
  for (unsigned mask = 0; mask < 256; ++mask)
    bursts_[mask] = bursts_for(mask, spec_.burst_bytes, sector_bytes_);
  if (spec_.refresh != Refresh::None) refresh_at_ = refresh_due_ = spec_.refresh_interval();
}

void DramChannel::push(Cycle now, const DramRequest& request) {
  RADDLE_ASSERT(room() > 0 && request.sectors != 0 && request.kernel < counters_.slots());
  ways_.count(request.slice, request.sectors, request.write, counters_[request.kernel].legs);
  if (spec_.model == DramModel::Fixed) return push_fixed(now, request);
  const std::uint64_t m = clock_.first_from(now == ticked_ ? now + 1 : now);
  if (size_ == 0 && refresh_at_ < m) catch_up(m, request.kernel);
  if (m != 0) timers_.expire(m - 1);  // none is left: the wheel moves on
  const unsigned e = used_.word(0) != ~0ull ? lowest(~used_.word(0)) : 64 + lowest(~used_.word(1));
  const AddressMap::DramPlace at = map_.dram(request.line);
  slot_[e] = {now, m, at.column, request};
  row_[e] = at.row;
  opened_.clear(e);
  tag_[e] = {request.sm,
             request.kernel,
             request.write,
             static_cast<std::uint8_t>(at.bank),
             TenantId{request.tenant},
             rank_[request.tenant],
             request.core_rank};
  plan(std::min(std::min(next_attempt_, refresh_at_), arrive(e, m)));
  declined_until_ = 0;
}

void DramChannel::obey(Cycle at, const policy::Knobs& knobs) {
  ranked_ = false;
  for (unsigned t = 0; t < kMostTenants; ++t) {
    rank_[t] = knobs.tenant[t].dram_rank;
    ranked_ = ranked_ || rank_[t] != rank_[0];
  }
  used_.each([this](unsigned e) { tag_[e].rank = rank_[index(tag_[e].tenant)]; });
  ask_again(at);
}

void DramChannel::learn(Cycle at, std::span<const policy::TenantCounts, kMostTenants> counts) {
  policy_->learn(counts);
  ask_again(at);
}

/// From core cycle `at` on the same view may get another answer.
void DramChannel::ask_again(Cycle at) {
  if (size_ == 0 || spec_.model == DramModel::Fixed) return;
  declined_until_ = 0;
  plan(std::min(next_attempt_, clock_.first_from(at)));
}

/// Returns when the new request changes what can be done.
inline std::uint64_t DramChannel::arrive(unsigned e, std::uint64_t m) {
  Bank& bank = bank_[tag_[e].bank];
  used_.set(e);
  bank.slots.set(e);
  age_.insert(e);
  ++size_;
  group_slots_[bank.group].set(e);
  if (tag_[e].write) {
    writes_.set(e);
    ++writes_queued_;
  }
  if (!bank.open) closed_.set(e);
  else if (bank.row == row_[e]) row_hit_.set(e);
  note_wanted_row(bank);
  await(e, m);
  options_stale_ = true;
  // Unless the policy has declined or the direction may turn, nothing before its own first command.
  if (declined_until_ != 0 || tag_[e].write || writing_) return m;
  if (!ready_.test(e)) return timers_.next();
  if (row_hit_.test(e)) return column_slots_.next_free(std::max(m, column_at_[0]));
  return closed_.test(e) ? std::max(m, activate_at_) : m;
}

/// Lets a new request go as soon as its bank allows.
inline void DramChannel::await(unsigned e, std::uint64_t m) {
  unsigned b = tag_[e].bank;
  const Bank& bank = bank_[b];
  if (bank.refreshing) return;
  std::uint64_t at = !bank.open         ? bank.activate_at
                     : row_hit_.test(e) ? bank.column_at
                                        : bank.precharge_at;
  if (at <= m) ready_.set(e);
  else timers_.set_no_later(b, at);
}

inline void DramChannel::plan(std::uint64_t m) {
  if (m == next_attempt_) return;
  next_attempt_ = m;
  due_ = m == kNever ? kNever : clock_.core_at(m);
}

void DramChannel::tick(Cycle now) {
  if (spec_.model == DramModel::Fixed) return tick_fixed(now);
  if (!skip_)
    for (std::uint64_t m = clock_.first_from(now); m <= clock_.other_at(now); ++m) attempt(m);
  while (due_ <= now) attempt(next_attempt_);
  ticked_ = now;
}

void DramChannel::attempt(std::uint64_t m) {
  if (size_ == 0) return plan(kNever);
  if (m < declined_until_) return;
  column_slots_.advance(m);
  expire_timers(m);
  const bool bus = two_buses_ || !column_slots_.taken();
  Free free{bus, bus};
  if (m >= refresh_at_ && refresh(m, bus, tag_[age_.oldest(used_)].kernel)) {
    free.row = false;
    free.column = two_buses_;
  }
  if (options_stale_) refresh_options();
  decide(m, free);
}

/// Asks the policy, on two buses up to twice.
inline void DramChannel::decide(std::uint64_t m, Free free) {
  do {
    // Made in its place: a copy of words just stored would wait for them.
    policy::DramView view{{}, {}, issuable(m, free), {}, age_, tag_, m};
    if (!view.issuable.any()) break;
    view.candidates = options_.candidates;
    view.row_hits = options_.candidates & row_hit_;
    view.closes_wanted_row = view.issuable & options_.precharges & of_wanted_row_[writing_];
    const std::optional<unsigned> chosen =
        ranked_ ? policy::pick_by_rank(*policy_, view) : policy_->pick(view);
    if (!chosen) {
      declined_until_ =
          free.row && free.column ? std::min(next_change(m), policy_->changes_after(m)) : m + 1;
      return plan(declined_until_);
    }
    if (*chosen >= kSlots || !view.issuable.test(*chosen))
      policy::wrong_answer("dram", "names a request whose next command can go out");
    declined_until_ = 0;
    (row_hit_.test(*chosen) ? free.column : free.row) = false;
    issue(m, *chosen);
    refresh_options();
  } while (two_buses_ && size_ != 0);
  plan(size_ == 0 ? kNever : next_chance(m));
}

/// Which direction is served, and what of it could go out.
inline void DramChannel::refresh_options() {
  draining_ = writes_queued_ >= spec_.drain_high || (draining_ && writes_queued_ > spec_.drain_low);
  writing_ = writes_queued_ != 0 && (draining_ || writes_queued_ == size_);
  Options& o = options_;
  o.candidates = writing_ ? writes_ : used_ - writes_;
  Mask128 ready = o.candidates & ready_;
  o.columns = ready & row_hit_;
  o.activates = ready & closed_;
  o.precharges = ready - row_hit_ - closed_;
  options_stale_ = false;
}

inline Mask128 DramChannel::issuable(std::uint64_t m, Free free) {
  Mask128 can = options_.precharges.when(free.row);
  if (free.row && activate_at_ <= m && options_.activates.any())
    can |= options_.activates - late_slots(kActivate, m);
  if (free.column && column_at_[writing_] <= m && options_.columns.any() && column_slots_.free())
    can |= options_.columns - late_slots(writing_ ? kWrite : kRead, m);
  return can;
}

// Here and below all groups are asked: to keep account of those that are late costs as much.

/// Requests of groups that may not yet send a command of the kind at m.
inline Mask128 DramChannel::late_slots(Kind kind, std::uint64_t m) const {
  Mask128 slots;
  if (!by_group_[kind]) return slots;
  for (unsigned g = 0; g < spec_.bank_groups; ++g)
    slots |= group_slots_[g].when(group_at_[kind][g] > m);
  return slots;
}

/// The first cycle from m in which the group of one of the `options` may send a command of the
/// kind.
inline std::uint64_t DramChannel::group_time(Kind kind, const Mask128& options,
                                             std::uint64_t m) const {
  if (!by_group_[kind]) return m;
  std::uint64_t first = kNever;
  for (unsigned g = 0; g < spec_.bank_groups; ++g) {
    const std::uint64_t at = std::max(group_at_[kind][g], m);
    first = std::min(first, (options & group_slots_[g]).any() ? at : kNever);
  }
  return first;
}

inline void DramChannel::delay_group(Kind kind, unsigned group, std::uint64_t at) {
  group_at_[kind][group] = std::max(group_at_[kind][group], at);
}

/// Says anew which requests of the bank would close a row that others hit. Bits of slots that are
/// not used mean nothing.
inline void DramChannel::note_wanted_row(const Bank& bank) {
  const Mask128 hits = bank.slots & row_hit_;
  of_wanted_row_[0] = (of_wanted_row_[0] - bank.slots) | bank.slots.when((hits - writes_).any());
  of_wanted_row_[1] = (of_wanted_row_[1] - bank.slots) | bank.slots.when((hits & writes_).any());
}

/// First cycle after m in which what the policy sees may be different, if nothing is pushed.
std::uint64_t DramChannel::next_change(std::uint64_t m) const {
  std::uint64_t next = std::min(timers_.next(), refresh_at_);
  // What cannot go now, and when it can; also that of single groups.
  if (options_.columns.any()) {
    const Mask128 late = options_.columns & late_slots(writing_ ? kWrite : kRead, m);
    if (column_at_[writing_] > m || !column_slots_.free()) next = std::min(next, next_column(m));
    else if (late.any()) next = std::min(next, group_time(writing_ ? kWrite : kRead, late, m));
  }
  if (options_.activates.any()) {
    const Mask128 late = options_.activates & late_slots(kActivate, m);
    if (activate_at_ > m) next = std::min(next, activate_at_);
    else if (late.any()) next = std::min(next, group_time(kActivate, late, m));
  }
  return next;
}

/// First cycle after m in which something can be issued or a bank's state changes, if nothing is
/// pushed.
inline std::uint64_t DramChannel::next_chance(std::uint64_t m) const {
  std::uint64_t next = std::min(timers_.next(), refresh_at_);
  if (options_.columns.any()) next = std::min(next, next_column(m));
  if (next > m + 1 && (options_.precharges.any() || options_.activates.any()))
    next = std::min(next, next_row(m));
  return next;
}

inline std::uint64_t DramChannel::next_column(std::uint64_t m) const {
  const std::uint64_t from = std::max(m + 1, column_at_[writing_]);
  return column_slots_.next_free(group_time(writing_ ? kWrite : kRead, options_.columns, from));
}

inline std::uint64_t DramChannel::next_row(std::uint64_t m) const {
  const std::uint64_t at = options_.precharges.any() ? m + 1
                                                     : group_time(kActivate, options_.activates,
                                                                  std::max(m + 1, activate_at_));
  return two_buses_ ? at : column_slots_.next_untaken(at);
}

inline void DramChannel::expire_timers(std::uint64_t m) {
  std::uint64_t banks = timers_.expire(m);
  if (banks == 0) return;
  options_stale_ = true;
  for (; banks != 0; banks &= banks - 1) wake_bank(lowest(banks), m);
}

/// A time of the bank has come: which of its requests may go now, and when to look again.
void DramChannel::wake_bank(unsigned b, std::uint64_t m) {
  Bank& bank = bank_[b];
  if (!bank.slots.any() || bank.refreshing) return;
  if (!bank.open) {
    if (bank.activate_at <= m) ready_ |= bank.slots;
    else timers_.set(b, bank.activate_at);
    return;
  }
  const Mask128 hits = bank.slots & row_hit_, others = bank.slots - row_hit_;
  std::uint64_t next = kNever;
  if (bank.column_at <= m) ready_ |= hits;
  else if (hits.any()) next = bank.column_at;
  if (bank.precharge_at <= m) ready_ |= others;
  else if (others.any()) next = std::min(next, bank.precharge_at);
  if (next != kNever) timers_.set(b, next);
}

/// None of the bank's requests may go before `at`.
void DramChannel::hold_bank(unsigned b, std::uint64_t at) {
  ready_ -= bank_[b].slots;
  if (at == kNever) timers_.unset(b);
  else timers_.set(b, at);
}

inline void DramChannel::issue(std::uint64_t m, unsigned e) {
  if (row_hit_.test(e)) column(m, e);
  else if (closed_.test(e)) activate(m, e);
  else precharge(m, e);
}

inline void DramChannel::activate(std::uint64_t m, unsigned e) {
  Bank& bank = bank_[tag_[e].bank];
  tell(m, DramCommandKind::Activate, e);
  bank.open = true;
  bank.row = row_[e];
  bank.opened_at = m;
  bank.column_at = m + spec_.tRCD;
  bank.precharge_at = m + spec_.tRAS;
  window_end_[oldest_window_] = m + spec_.tFAW;
  oldest_window_ = (oldest_window_ + 1) % 4;
  activate_at_ = std::max(m + spec_.tRRDS, window_end_[oldest_window_]);
  if (by_group_[kActivate]) delay_group(kActivate, bank.group, m + spec_.tRRDL);
  closed_ -= bank.slots;
  bank.slots.each([&](unsigned i) {
    if (row_[i] == bank.row) row_hit_.set(i);
  });
  note_wanted_row(bank);
  hold_bank(tag_[e].bank, bank.column_at);  // tRCD is not above tRAS
  opened_.set(e);
  ++counters_of(e).activates;
}

inline void DramChannel::precharge(std::uint64_t m, unsigned e) {
  const unsigned b = tag_[e].bank;
  tell(m, DramCommandKind::Precharge, e);
  close(m, bank_[b]);
  hold_bank(b, bank_[b].activate_at);
  ++counters_of(e).precharges;
}

void DramChannel::close(std::uint64_t m, Bank& bank) {
  bank.open = false;
  bank.activate_at = std::max(m + spec_.tRP, bank.opened_at + spec_.tRC);
  row_hit_ -= bank.slots;
  closed_ |= bank.slots;
  note_wanted_row(bank);
}

/// Distance of a request's bursts. Where the group's own leaves less than two steps of the bus, a
/// burst of another group fits in between only if it is made two.
inline std::uint32_t DramChannel::step_of(unsigned group) const {
  if (step_l_ == step_s_ || step_l_ >= 2 * step_s_) return step_l_;
  return (options_.columns - group_slots_[group]).any() ? 2 * step_s_ : step_l_;
}

inline void DramChannel::column(std::uint64_t m, unsigned e) {
  const Slot& slot = slot_[e];
  Bank& bank = bank_[tag_[e].bank];
  const DramCommandKind kind = slot.request.write ? DramCommandKind::Write : DramCommandKind::Read;
  const unsigned bursts = bursts_[slot.request.sectors];
  const std::uint32_t step = bursts > 1 ? step_of(bank.group) : step_l_;
  std::uint64_t last = m;
  tell(m, kind, e);
  if (observer_ == nullptr) {
    last = column_slots_.plan(m, bursts, step);
  } else {  // one after the other gives the same cycles
    column_slots_.plan(m, 1, step);
    for (unsigned i = 1; i < bursts; ++i) {
      column_slots_.take(last = column_slots_.unblocked(last + step));
      tell(last, kind, e);
    }
  }
  move_data(last, bursts, e);
  stats::DramCounters& c = counters_of(e);
  c.row_hits += !opened_.test(e);
  c.queue_cycles += m - slot.queued;
  remove(e);
  // Who wants another row has to wait longer now; for the others nothing has changed.
  const Mask128 others = bank.slots - row_hit_;
  if (!others.any()) return;
  ready_ -= others;
  timers_.set(tag_[e].bank, bank.precharge_at);
}

/// The consequences of `bursts` column commands, of which the last goes out at `last`.
inline void DramChannel::move_data(std::uint64_t last, unsigned bursts, unsigned e) {
  Bank& bank = bank_[tag_[e].bank];
  stats::DramCounters& c = counters_of(e);
  if (tag_[e].write) {
    const std::uint64_t end = last + spec_.tCWL + burst_cycles_;
    if (by_group_[kWrite]) delay_group(kWrite, bank.group, last + step_l_);
    if (spec_.tWTRL > spec_.tWTRS) delay_group(kRead, bank.group, end + spec_.tWTRL);
    column_at_[0] = std::max(column_at_[0], end + spec_.tWTRS);
    bank.precharge_at = std::max(bank.precharge_at, end + spec_.tWR);
    ++c.writes;
    c.written_bytes += bursts * spec_.burst_bytes;
  } else {
    if (step_l_ > step_s_) delay_group(kRead, bank.group, last + step_l_);
    column_at_[1] = std::max(column_at_[1], last + read_to_write_);
    bank.precharge_at = std::max(bank.precharge_at, last + spec_.tRTP);
    reply(clock_.core_at(last + spec_.tCL + burst_cycles_) + spec_.extra_latency_cycles,
          slot_[e].since, slot_[e].request);
    ++c.reads;
  }
  c.bytes += bursts * spec_.burst_bytes;
  c.bus_busy_cycles += bursts * burst_cycles_;
}

/// The data leave the controller at `at`. Replies are in order of completion: a short request may
/// be done before the rest of a long one, a near slice's before a far one's.
void DramChannel::reply(Cycle at, Cycle since, const DramRequest& r) {
  at += ways_.round_trip(r.slice);
  replies_.push({at, since, r.line, r.tag, r.sectors, r.slice});
  for (unsigned i = replies_.size() - 1; i != 0 && replies_[i - 1].at > at; --i)
    std::swap(replies_[i - 1], replies_[i]);
}

inline void DramChannel::remove(unsigned e) {
  if (writes_.test(e)) --writes_queued_;
  used_.clear(e);
  writes_.clear(e);
  row_hit_.clear(e);
  ready_.clear(e);
  Bank& bank = bank_[tag_[e].bank];
  bank.slots.clear(e);
  group_slots_[bank.group].clear(e);
  note_wanted_row(bank);
  age_.remove(e);
  --size_;
}

inline void DramChannel::tell(std::uint64_t m, DramCommandKind kind, unsigned e) const {
  if (observer_ == nullptr) return;
  const Slot& slot = slot_[e];
  std::uint32_t b = tag_[e].bank;
  std::uint32_t row = kind == DramCommandKind::Activate ? row_[e] : bank_[b].row;
  observer_->on_command({m, kind, b, row, slot.column, slot.request.line});
}

void DramChannel::describe(std::string& out) const {
  out += "dram queue " + std::to_string(size_) + "/" + std::to_string(capacity_) + " (" +
         std::to_string(writes_queued_) + " writes" + (writing_ ? ", writing" : "") + "), " +
         std::to_string(replies_.size()) + " replies on their way";
  if (size_ != 0) {
    unsigned e = age_.oldest(used_);
    out += "; oldest: " + std::string(slot_[e].request.write ? "write" : "read") + " of line " +
           std::to_string(slot_[e].request.line) + ", bank " + std::to_string(tag_[e].bank) +
           (row_hit_.test(e)  ? ", row open"
            : closed_.test(e) ? ", bank closed"
                              : ", another row open") +
           (ready_.test(e) ? "" : ", bank timing");
  }
  out += "\n";
}

}  // namespace raddle::timing
