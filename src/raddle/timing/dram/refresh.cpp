#include "raddle/timing/dram/refresh.h"

#include <algorithm>

#include "raddle/base/error.h"

namespace raddle::timing {

bool DramRefresh::step(std::uint64_t m, bool row_bus_free, const Target& target) {
  RADDLE_ASSERT(m >= at_);
  DramBanks& banks = target.banks;
  if (!under_way_) {
    under_way_ = true;
    for (unsigned b = first(); b < end(); ++b) banks.begin_refresh(b);
  }
  bool open = false;
  std::uint64_t at = 0;
  for (unsigned b = first(); b < end(); ++b)
    if (banks[b].open) {
      open = true;
      at = std::max(at, banks[b].precharge_at);
    }
  for (unsigned b = first(); b < end() && !open; ++b) at = std::max(at, banks[b].activate_at);
  at_ = std::max(at, m + 1);
  if (at > m || !row_bus_free) return false;
  if (!open) send(m, target);
  else at_ = close(m, target);
  return true;
}

/// Returns when REF may follow.
std::uint64_t DramRefresh::close(std::uint64_t m, const Target& target) const {
  std::uint64_t at = m;
  for (unsigned b = first(); b < end(); ++b) {
    if (target.banks[b].open) {
      target.banks.close(b, m, target.writes);
      ++target.counters.precharges;
    }
    at = std::max(at, target.banks[b].activate_at);
  }
  if (target.observer != nullptr)
    target.observer->on_command(
        {.at = m,
         .kind = all_banks_ ? DramCommandKind::PrechargeAll : DramCommandKind::Precharge,
         .bank = first()});
  return at;
}

void DramRefresh::send(std::uint64_t m, const Target& target) {
  for (unsigned b = first(); b < end(); ++b) target.banks.refresh(b, m);
  if (target.observer != nullptr)
    target.observer->on_command(
        {.at = m,
         .kind = all_banks_ ? DramCommandKind::RefreshAll : DramCommandKind::Refresh,
         .bank = first()});
  ++target.counters.refreshes;
  under_way_ = false;
  bank_ = bank_ + 1 == banks_ ? 0 : bank_ + 1;
  due_ += interval_;
  at_ = std::max(due_, m + 1);
}

/// After two rounds without requests every bank is closed: whole rounds before them only count.
void DramRefresh::skip_rounds(std::uint64_t m, const Target& target) {
  const std::uint64_t round = all_banks_ ? 1 : banks_;
  if (target.observer != nullptr || under_way_ || due_ + 3 * round * interval_ >= m) return;
  const std::uint64_t rounds = (m - due_) / (round * interval_) - 2;
  target.counters.refreshes += rounds * round;
  due_ += rounds * round * interval_;
  at_ = due_;
}

}  // namespace raddle::timing
