#include "raddle/timing/dram/channel.h"

#include <algorithm>
#include <bit>

#include "raddle/base/error.h"

namespace raddle::timing {
namespace {

constexpr std::uint32_t kTurnaround = 2;  // data bus idle between reading and writing

/// Column commands needed for the sectors of `mask`.
std::uint8_t bursts_for(unsigned mask, std::uint32_t burst_bytes, std::uint32_t sector_bytes) {
  if (burst_bytes <= sector_bytes)
    return static_cast<std::uint8_t>(static_cast<unsigned>(std::popcount(mask)) *
                                     (sector_bytes / burst_bytes));
  unsigned per_burst = burst_bytes / sector_bytes, bursts = 0;
  for (; mask != 0; mask >>= per_burst) bursts += (mask & low_bits(per_burst)) != 0;
  return static_cast<std::uint8_t>(bursts);
}

/// Most replies between column command and delivery: one per step of the data bus, and some that
/// are due.
unsigned replies_in_flight(const MachineSpec& machine, std::uint32_t burst_cycles) {
  const DramSpec& d = machine.dram;
  std::uint64_t extra =
      std::uint64_t{d.extra_latency_cycles} * d.clock_mhz / machine.core_clock_mhz;
  std::uint64_t cycle = d.clock_mhz / machine.core_clock_mhz;  // memory cycles of one core cycle
  std::uint32_t step = std::max(d.tCCD, burst_cycles);
  return static_cast<unsigned>((d.tCL + burst_cycles + extra + 2 * cycle) / step) + 8;
}

std::uint32_t cycles_of_burst(const DramSpec& d) {
  return (d.burst_bytes + d.bus_bytes_per_cycle - 1) / d.bus_bytes_per_cycle;
}

}  // namespace

DramChannel::DramChannel(const MachineSpec& machine, const AddressMap& map,
                         std::unique_ptr<policy::DramPolicy> policy)
    : spec_(machine.dram),
      map_(map),
      clock_(machine.dram.clock_mhz, machine.core_clock_mhz),
      policy_(std::move(policy)),
      capacity_(machine.dram.queue),
      burst_cycles_(cycles_of_burst(machine.dram)),
      step_(std::max(machine.dram.tCCD, burst_cycles_)),
      bank_(machine.dram.banks),
      replies_(replies_in_flight(machine, burst_cycles_)) {
  RADDLE_ASSERT(capacity_ >= 1 && capacity_ <= kSlots);
  RADDLE_ASSERT(spec_.banks >= 1 && spec_.banks <= kBanks);
  for (unsigned mask = 0; mask < 256; ++mask)
    bursts_[mask] = bursts_for(mask, spec_.burst_bytes, machine.l2.sector_bytes);
}

void DramChannel::push(Cycle now, const DramRequest& request) {
  RADDLE_ASSERT(room() > 0 && request.sectors != 0);
  std::uint64_t m = clock_.first_from(now == ticked_ ? now + 1 : now);
  unsigned e = used_.word(0) != ~0ull ? lowest(~used_.word(0)) : 64 + lowest(~used_.word(1));
  AddressMap::DramPlace at = map_.dram(request.line);
  Bank& bank = bank_[at.bank];
  slot_[e] = {now, m, at.row, at.column, request, false};
  tag_[e] = {request.sm, request.kernel, request.write, static_cast<std::uint8_t>(at.bank)};
  used_.set(e), bank.slots.set(e), age_.insert(e), ++size_;
  if (request.write) writes_.set(e), ++writes_queued_;
  if (!bank.open) closed_.set(e);
  else if (bank.row == at.row) row_hit_.set(e);
  await(e, m);
  options_stale_ = true;
  // A request that waits for its bank changes nothing yet, unless the policy has declined or the
  // direction may turn.
  bool waits = !ready_.test(e) && declined_until_ == 0 && !request.write && !writing_;
  plan(std::min(next_attempt_, waits ? next_timer_ : m));
  declined_until_ = 0;
}

/// Lets a new request go as soon as its bank allows.
void DramChannel::await(unsigned e, std::uint64_t m) {
  unsigned b = tag_[e].bank;
  const Bank& bank = bank_[b];
  std::uint64_t at = !bank.open         ? bank.activate_at
                     : row_hit_.test(e) ? bank.column_at
                                        : bank.precharge_at;
  if (at <= m) ready_.set(e);
  else if (at < bank.timer) set_timer(b, at);
}

void DramChannel::plan(std::uint64_t m) {
  if (m == next_attempt_) return;
  next_attempt_ = m;
  due_ = m == kNever ? kNever : clock_.core_at(m);
}

void DramChannel::tick(Cycle now) {
  if (!skip_)
    for (std::uint64_t m = clock_.first_from(now); m <= clock_.memory_at(now); ++m) attempt(m);
  while (due_ <= now) attempt(next_attempt_);
  ticked_ = now;
}

void DramChannel::attempt(std::uint64_t m) {
  if (m < declined_until_) return;
  if (m >= next_timer_) expire_timers(m);
  if (options_stale_) refresh_options();
  Mask128 can = bus_taken(m) ? Mask128{} : issuable(m);
  if (!can.any()) return plan(next_chance(m));
  policy::DramView view{options_.candidates,
                        options_.candidates & row_hit_,
                        can,
                        closing_wanted_rows(),
                        age_,
                        tag_,
                        m};
  std::optional<unsigned> chosen = policy_->pick(view);
  if (!chosen) {
    declined_until_ = next_change(m);
    return plan(declined_until_);
  }
  RADDLE_ASSERT(*chosen < kSlots && can.test(*chosen));
  declined_until_ = 0;
  issue(m, *chosen);
  refresh_options();
  plan(next_chance(m));
}

/// Which direction is served, and what of it could go out.
void DramChannel::refresh_options() {
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

Mask128 DramChannel::issuable(std::uint64_t m) const {
  Mask128 can = options_.precharges;
  if (column_at_[writing_] <= m) can |= options_.columns;
  if (activate_at_ <= m) can |= options_.activates;
  return can;
}

Mask128 DramChannel::closing_wanted_rows() const {
  Mask128 closing, left = options_.precharges;
  if (!left.any()) return closing;
  Mask128 hits = options_.candidates & row_hit_;
  while (hits.any() && left.any()) {
    const Mask128& slots = bank_[tag_[left.first()].bank].slots;
    if ((slots & hits).any()) closing |= left & slots;
    left -= slots;
  }
  return closing;
}

bool DramChannel::bus_taken(std::uint64_t m) const {
  return train_ && m <= train_last_ && static_cast<std::uint32_t>(m - train_from_) % step_ == 0;
}

/// First cycle after m in which what the policy sees is different, if nothing is pushed.
std::uint64_t DramChannel::next_change(std::uint64_t m) const {
  std::uint64_t next = next_timer_;
  if (options_.columns.any() && column_at_[writing_] > m)
    next = std::min(next, column_at_[writing_]);
  if (options_.activates.any() && activate_at_ > m) next = std::min(next, activate_at_);
  return next;
}

/// First cycle after m in which something can be issued or a bank's state changes, if nothing is
/// pushed.
std::uint64_t DramChannel::next_chance(std::uint64_t m) const {
  std::uint64_t next = std::max(next_timer_, m + 1);
  if (options_.columns.any()) next = std::min(next, std::max(m + 1, column_at_[writing_]));
  if (options_.activates.any()) next = std::min(next, std::max(m + 1, activate_at_));
  if (options_.precharges.any()) next = m + 1;
  if (next == kNever || !bus_taken(next)) return next;
  return step_ == 1 ? train_last_ + 1 : next + 1;
}

void DramChannel::expire_timers(std::uint64_t m) {
  next_timer_ = kNever;
  options_stale_ = true;
  for (std::uint64_t left = timed_banks_; left != 0; left &= left - 1) {
    unsigned b = lowest(left);
    if (bank_[b].timer <= m) refresh_bank(b, m);
    next_timer_ = std::min(next_timer_, bank_[b].timer);
  }
}

/// Which of the bank's requests may send their next command at m, and when to look again.
void DramChannel::refresh_bank(unsigned b, std::uint64_t m) {
  Bank& bank = bank_[b];
  Mask128 ready;
  std::uint64_t next = kNever;
  auto allow = [&](const Mask128& slots, std::uint64_t at) {
    if (!slots.any()) return;
    if (at <= m) ready |= slots;
    else next = std::min(next, at);
  };
  if (bank.open) {
    allow(bank.slots & row_hit_, bank.column_at);
    allow(bank.slots - row_hit_, bank.precharge_at);
  } else {
    allow(bank.slots, bank.activate_at);
  }
  ready_ = (ready_ - bank.slots) | ready;
  set_timer(b, next);
}

void DramChannel::set_timer(unsigned b, std::uint64_t at) {
  bank_[b].timer = at;
  timed_banks_ = at == kNever ? timed_banks_ & ~(1ull << b) : timed_banks_ | 1ull << b;
  next_timer_ = std::min(next_timer_, at);
}

void DramChannel::issue(std::uint64_t m, unsigned e) {
  if (row_hit_.test(e)) column(m, e);
  else if (closed_.test(e)) activate(m, e);
  else precharge(m, e);
}

void DramChannel::activate(std::uint64_t m, unsigned e) {
  Bank& bank = bank_[tag_[e].bank];
  tell(m, DramCommandKind::Activate, e);
  bank.open = true, bank.row = slot_[e].row, bank.opened_at = m;
  bank.column_at = m + spec_.tRCD, bank.precharge_at = m + spec_.tRAS;
  activate_at_ = m + spec_.tRRD;
  closed_ -= bank.slots;
  bank.slots.each([&](unsigned i) {
    if (slot_[i].row == bank.row) row_hit_.set(i);
  });
  slot_[e].opened = true, ++counters_.activates;
  refresh_bank(tag_[e].bank, m);
}

void DramChannel::precharge(std::uint64_t m, unsigned e) {
  Bank& bank = bank_[tag_[e].bank];
  tell(m, DramCommandKind::Precharge, e);
  bank.open = false;
  bank.activate_at = std::max(m + spec_.tRP, bank.opened_at + spec_.tRC);
  row_hit_ -= bank.slots, closed_ |= bank.slots;
  ++counters_.precharges;
  refresh_bank(tag_[e].bank, m);
}

void DramChannel::column(std::uint64_t m, unsigned e) {
  const Slot& slot = slot_[e];
  Bank& bank = bank_[tag_[e].bank];
  bool write = slot.request.write;
  unsigned bursts = bursts_[slot.request.sectors];
  if (observer_ != nullptr)
    for (unsigned i = 0; i < bursts; ++i)
      tell(m + i * step_, write ? DramCommandKind::Write : DramCommandKind::Read, e);
  train_ = true, train_from_ = m, train_last_ = m + (bursts - 1) * step_;
  move_data(train_last_, bursts, e);
  counters_.row_hits += !slot.opened, counters_.queue_cycles += m - slot.queued;
  remove(e);
  // Who wants another row has to wait longer now; for the others nothing has changed.
  if ((bank.slots - row_hit_).any()) refresh_bank(tag_[e].bank, m);
}

/// The consequences of `bursts` column commands of which the last goes out at `last`.
void DramChannel::move_data(std::uint64_t last, unsigned bursts, unsigned e) {
  const DramRequest& request = slot_[e].request;
  Bank& bank = bank_[tag_[e].bank];
  std::uint64_t end = last + spec_.tCL + burst_cycles_;
  column_at_[request.write] = last + step_;
  if (request.write) {
    column_at_[0] = std::max(last + step_, end + spec_.tWTR);
    bank.precharge_at = std::max(bank.precharge_at, end + spec_.tWR);
    ++counters_.writes;
  } else {
    column_at_[1] = std::max(last + step_, last + burst_cycles_ + kTurnaround);
    bank.precharge_at = std::max(bank.precharge_at, last + spec_.tRTP);
    Cycle at = clock_.core_at(end) + spec_.extra_latency_cycles;
    replies_.push({at, slot_[e].since, request.line, request.tag, request.sectors, request.slice});
    ++counters_.reads;
  }
  counters_.bytes += bursts * spec_.burst_bytes,
      counters_.bus_busy_cycles += bursts * burst_cycles_;
}

void DramChannel::remove(unsigned e) {
  if (writes_.test(e)) --writes_queued_;
  used_.clear(e), writes_.clear(e), row_hit_.clear(e), ready_.clear(e);
  bank_[tag_[e].bank].slots.clear(e);
  age_.remove(e), --size_;
}

void DramChannel::tell(std::uint64_t m, DramCommandKind kind, unsigned e) const {
  if (observer_ == nullptr) return;
  const Slot& slot = slot_[e];
  std::uint32_t b = tag_[e].bank;
  std::uint32_t row = kind == DramCommandKind::Activate ? slot.row : bank_[b].row;
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
