// The banks of a DRAM channel: the open row of each, the times that bind commands to one bank, and
// for every waiting request what it needs of its bank: a column of the open row, an ACT or a PRE,
// and whether the bank allows that now. Constraints of one bank (JEDEC names): ACT-ACT tRC,
// ACT-RD/WR tRCD, ACT-PRE tRAS, PRE-ACT tRP, REF-ACT tRFC; those of column commands before a PRE
// (tRTP, tWR) come with served(). Constraints between banks are channel_timing.h's.
//
// Contract: requests are named by their slot of the queue; arrive() once, then served() once. Time
// is in memory cycles and never goes back. ready() is right for the cycle of the last wake(); the
// banks concerned are woken when their times come (next_wake()), so nothing is scanned. `writes`:
// which of the queue's slots hold writes.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "raddle/base/error.h"
#include "raddle/base/mask.h"
#include "raddle/timing/dram/bank_timers.h"
#include "raddle/timing/dram/queue.h"
#include "raddle/timing/spec/dram_spec.h"

namespace raddle::timing {

class DramBanks {
 public:
  static constexpr unsigned kBanks = BankTimers::kBanks;
  struct alignas(64) Bank {  // a line of the host
    Mask128 slots;           ///< requests of this bank
    std::uint64_t column_at = 0, precharge_at = 0, activate_at = 0;
    std::uint64_t opened_at = 0;
    std::uint32_t row = 0;
    std::uint8_t group = 0;
    bool open = false, refreshing = false;  ///< refreshing: takes no requests until REF
  };

  explicit DramBanks(const DramSpec& spec)
      : tRCD_(spec.tRCD),
        tRAS_(spec.tRAS),
        tRP_(spec.tRP),
        tRC_(spec.tRC),
        tRFC_(spec.tRFC),
        bank_(spec.banks) {
    RADDLE_ASSERT(spec.banks >= 1 && spec.banks <= kBanks && spec.bank_groups >= 1);
    for (unsigned b = 0; b < spec.banks; ++b)
      bank_[b].group = static_cast<std::uint8_t>(b % spec.bank_groups);
  }
  const Bank& operator[](unsigned b) const { return bank_[b]; }
  unsigned size() const { return static_cast<unsigned>(bank_.size()); }

  // --- what requests need ------------------------------------------------------------------------
  const Mask128& row_hits() const { return row_hit_; }
  const Mask128& closed() const { return closed_; }  ///< their bank has no open row
  const Mask128& ready() const { return ready_; }    ///< the bank allows their next command
  /// Their bank's open row is hit by a request of the direction. Bits of slots that are not used
  /// mean nothing.
  const Mask128& of_wanted_row(bool write) const { return of_wanted_row_[write]; }
  std::uint32_t row_of(unsigned e) const { return row_[e]; }
  /// Nobody has opened the row for it: it was there.
  bool found_open(unsigned e) const { return !opened_.test(e); }

  // --- requests come and go ----------------------------------------------------------------------
  void arrive(unsigned e, unsigned b, std::uint32_t row, std::uint64_t m, const Mask128& writes) {
    Bank& bank = bank_[b];
    row_[e] = row;
    opened_.clear(e);
    bank.slots.set(e);
    if (!bank.open) closed_.set(e);
    else if (bank.row == row) row_hit_.set(e);
    note_wanted_row(bank, writes);
    await(e, b, m);
  }
  /// The last column command of the request has been decided; the bank may close at `precharge_at`
  /// at the earliest. The queue has removed it, so it is not among `writes`.
  void served(unsigned e, unsigned b, std::uint64_t precharge_at, const Mask128& writes) {
    Bank& bank = bank_[b];
    RADDLE_ASSERT(bank.open && bank.slots.test(e) && row_hit_.test(e));
    bank.precharge_at = std::max(bank.precharge_at, precharge_at);
    row_hit_.clear(e);
    ready_.clear(e);
    bank.slots.clear(e);
    note_wanted_row(bank, writes);
    // Who wants another row has to wait longer now; for the others nothing has changed.
    const Mask128 others = bank.slots - row_hit_;
    if (!others.any()) return;
    ready_ -= others;
    timers_.set(b, bank.precharge_at);
  }

  // --- commands ----------------------------------------------------------------------------------
  /// ACT at m, for the request.
  void activate(unsigned e, unsigned b, std::uint64_t m, const Mask128& writes) {
    Bank& bank = bank_[b];
    RADDLE_ASSERT(!bank.open && !bank.refreshing && bank.activate_at <= m);
    bank.open = true;
    bank.row = row_[e];
    bank.opened_at = m;
    bank.column_at = m + tRCD_;
    bank.precharge_at = m + tRAS_;
    closed_ -= bank.slots;
    bank.slots.each([&](unsigned i) {
      if (row_[i] == bank.row) row_hit_.set(i);
    });
    note_wanted_row(bank, writes);
    hold(b, bank.column_at);  // tRCD is not above tRAS
    opened_.set(e);
  }
  /// PRE at m, for a request.
  void precharge(unsigned b, std::uint64_t m, const Mask128& writes) {
    close(b, m, writes);
    hold(b, bank_[b].activate_at);
  }
  /// PRE at m before a refresh, for nobody.
  void close(unsigned b, std::uint64_t m, const Mask128& writes) {
    Bank& bank = bank_[b];
    RADDLE_ASSERT(bank.open && bank.precharge_at <= m);
    bank.open = false;
    bank.activate_at = std::max(m + tRP_, bank.opened_at + tRC_);
    row_hit_ -= bank.slots;
    closed_ |= bank.slots;
    note_wanted_row(bank, writes);
  }
  /// From now on the bank serves nobody, until REF.
  void begin_refresh(unsigned b) {
    bank_[b].refreshing = true;
    hold(b, kNever);
  }
  /// REF at m.
  void refresh(unsigned b, std::uint64_t m) {
    Bank& bank = bank_[b];
    RADDLE_ASSERT(!bank.open && bank.refreshing);
    bank.activate_at = m + tRFC_;
    bank.refreshing = false;
    if (bank.slots.any()) hold(b, bank.activate_at);
  }

  // --- time --------------------------------------------------------------------------------------
  /// The first cycle in which wake() has something to do.
  std::uint64_t next_wake() const { return timers_.next(); }
  /// Times that have come up to m change what is ready. Whether there were any.
  bool wake(std::uint64_t m) {
    std::uint64_t banks = timers_.expire(m);
    if (banks == 0) return false;
    for (; banks != 0; banks &= banks - 1) wake_bank(lowest(banks), m);
    return true;
  }
  /// While nobody waits: time has come to m.
  void advance(std::uint64_t m) { timers_.expire(m); }

 private:
  /// Lets a new request go as soon as its bank allows.
  void await(unsigned e, unsigned b, std::uint64_t m) {
    const Bank& bank = bank_[b];
    if (bank.refreshing) return;
    const std::uint64_t at = !bank.open         ? bank.activate_at
                             : row_hit_.test(e) ? bank.column_at
                                                : bank.precharge_at;
    if (at <= m) ready_.set(e);
    else timers_.set_no_later(b, at);
  }
  /// A time of the bank has come: which of its requests may go now, and when to look again.
  void wake_bank(unsigned b, std::uint64_t m) {
    const Bank& bank = bank_[b];
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
  void hold(unsigned b, std::uint64_t at) {
    ready_ -= bank_[b].slots;
    if (at == kNever) timers_.unset(b);
    else timers_.set(b, at);
  }
  /// Says anew which requests of the bank would close a row that others hit.
  void note_wanted_row(const Bank& bank, const Mask128& writes) {
    const Mask128 hits = bank.slots & row_hit_;
    of_wanted_row_[0] = (of_wanted_row_[0] - bank.slots) | bank.slots.when((hits - writes).any());
    of_wanted_row_[1] = (of_wanted_row_[1] - bank.slots) | bank.slots.when((hits & writes).any());
  }

  std::uint32_t tRCD_, tRAS_, tRP_, tRC_, tRFC_;
  std::vector<Bank> bank_;
  // By slot of the queue; beside one another, since all of a bank are asked.
  std::array<std::uint32_t, DramQueue::kSlots> row_{};
  Mask128 opened_;  // a row was opened for them
  Mask128 row_hit_, closed_, ready_;
  Mask128 of_wanted_row_[2];  // by direction
  BankTimers timers_;         // when wake_bank() has something to change
};

}  // namespace raddle::timing
