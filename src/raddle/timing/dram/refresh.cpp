// Refresh of a DRAM channel: every tREFI all banks with one command, or every tREFI / banks the
// next bank with a command of its own. When it is due, its banks take no more requests; as soon as
// tRAS, tRTP and tWR allow they are closed, tRP later comes REF, and after tRFC they serve again.
// Refreshes are never postponed, and all channels refresh at the same time.
//
// While the queue is empty nothing happens: what was due then is made up for at the next request,
// as if it had happened in time, and counted for that request's kernel.
#include <algorithm>

#include "raddle/timing/dram/channel.h"

namespace raddle::timing {

/// The refresh that is due or under way does what it can at m. Whether it has sent a command.
bool DramChannel::refresh(std::uint64_t m, bool row_free, unsigned kernel) {
  const bool all = spec_.refresh == Refresh::AllBank;
  const unsigned first = all ? 0 : refresh_bank_, end = all ? spec_.banks : first + 1;
  if (!refreshing_) {
    refreshing_ = true;
    for (unsigned b = first; b < end; ++b) {
      bank_[b].refreshing = true;
      hold_bank(b, kNever);
    }
    options_stale_ = true;
  }
  bool open = false;
  std::uint64_t at = 0;
  for (unsigned b = first; b < end; ++b)
    if (bank_[b].open) {
      open = true;
      at = std::max(at, bank_[b].precharge_at);
    }
  for (unsigned b = first; b < end && !open; ++b) at = std::max(at, bank_[b].activate_at);
  refresh_at_ = std::max(at, m + 1);
  if (at > m || !row_free) return false;
  if (!open) send_refresh(m, first, end, kernel);
  else refresh_at_ = close_for_refresh(m, first, end, kernel);
  return true;
}

/// Returns when REF may follow.
std::uint64_t DramChannel::close_for_refresh(std::uint64_t m, unsigned first, unsigned end,
                                             unsigned kernel) {
  std::uint64_t at = m;
  for (unsigned b = first; b < end; ++b) {
    Bank& bank = bank_[b];
    if (bank.open) {
      close(m, bank);
      ++counters_[kernel].precharges;
    }
    at = std::max(at, bank.activate_at);
  }
  if (observer_ != nullptr)
    observer_->on_command({m,
                           spec_.refresh == Refresh::AllBank ? DramCommandKind::PrechargeAll
                                                             : DramCommandKind::Precharge,
                           first});
  return at;
}

void DramChannel::send_refresh(std::uint64_t m, unsigned first, unsigned end, unsigned kernel) {
  for (unsigned b = first; b < end; ++b) {
    bank_[b].activate_at = m + spec_.tRFC;
    bank_[b].refreshing = false;
    if (bank_[b].slots.any()) hold_bank(b, bank_[b].activate_at);
  }
  if (observer_ != nullptr)
    observer_->on_command(
        {m,
         spec_.refresh == Refresh::AllBank ? DramCommandKind::RefreshAll : DramCommandKind::Refresh,
         first});
  ++counters_[kernel].refreshes;
  refreshing_ = false;
  refresh_bank_ = refresh_bank_ + 1 == spec_.banks ? 0 : refresh_bank_ + 1;
  refresh_due_ += spec_.refresh_interval();
  refresh_at_ = std::max(refresh_due_, m + 1);
}

/// Performs what was due before m while the queue was empty.
void DramChannel::catch_up(std::uint64_t m, unsigned kernel) {
  const std::uint64_t interval = spec_.refresh_interval();
  // After two rounds without requests every bank is closed: whole rounds before them only count.
  const std::uint64_t round = spec_.refresh == Refresh::AllBank ? 1 : spec_.banks;
  if (observer_ == nullptr && !refreshing_ && refresh_due_ + 3 * round * interval < m) {
    const std::uint64_t rounds = (m - refresh_due_) / (round * interval) - 2;
    counters_[kernel].refreshes += rounds * round;
    refresh_due_ += rounds * round * interval;
    refresh_at_ = refresh_due_;
  }
  while (refresh_at_ < m) {
    column_slots_.advance(refresh_at_);
    refresh(refresh_at_, two_buses_ || !column_slots_.taken(), kernel);
  }
}

}  // namespace raddle::timing
