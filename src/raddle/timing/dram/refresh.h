// Refresh of a DRAM channel: every tREFI all banks with one command, or every tREFI / banks the
// next bank with a command of its own. When it is due, its banks take no more requests; as soon as
// tRAS, tRTP and tWR allow they are closed, tRP later comes REF, and after tRFC they serve again.
// Refreshes are never postponed, and all channels refresh at the same time.
//
// While the queue is empty nothing happens: what was due then is made up for at the next request,
// as if it had happened in time, and counted for that request's kernel.
//
// Contract: step(m) is called in the cycle at() and whenever the channel acts after it, until at()
// is later. It sends at most one command, over a row bus.
#pragma once
#include <cstdint>

#include "raddle/base/mask.h"
#include "raddle/stats/counters.h"
#include "raddle/timing/dram/banks.h"
#include "raddle/timing/dram/request.h"
#include "raddle/timing/spec/dram_spec.h"

namespace raddle::timing {

class DramRefresh {
 public:
  /// What a refresh acts on.
  struct Target {
    DramBanks& banks;
    const Mask128& writes;          ///< of the queue, as DramBanks wants them
    stats::DramCounters& counters;  ///< of the kernel that pays
    DramObserver* observer;         ///< may be null
  };

  explicit DramRefresh(const DramSpec& spec)
      : all_banks_(spec.refresh == Refresh::AllBank),
        banks_(spec.banks),
        interval_(spec.refresh_interval()) {
    if (spec.refresh != Refresh::None) at_ = due_ = interval_;
  }
  /// When it has something to do; kNever: there is no refresh.
  std::uint64_t at() const { return at_; }
  /// The refresh that is due or under way does what it can at m >= at(). Whether it has sent a
  /// command.
  bool step(std::uint64_t m, bool row_bus_free, const Target& target);
  /// Performs what was due before m while the queue was empty. row_bus_free(cycle): in that cycle.
  template <class RowBusFree>
  void catch_up(std::uint64_t m, const Target& target, RowBusFree row_bus_free) {
    skip_rounds(m, target);
    while (at_ < m) step(at_, row_bus_free(at_), target);
  }

 private:
  void skip_rounds(std::uint64_t m, const Target& target);
  std::uint64_t close(std::uint64_t m, const Target& target) const;
  void send(std::uint64_t m, const Target& target);
  // Banks of the refresh that is due.
  unsigned first() const { return all_banks_ ? 0 : bank_; }
  unsigned end() const { return all_banks_ ? banks_ : bank_ + 1; }

  bool all_banks_;
  unsigned banks_;
  std::uint64_t interval_;
  std::uint64_t due_ = kNever, at_ = kNever;
  unsigned bank_ = 0;  // the next, where one is done alone
  bool under_way_ = false;
};

}  // namespace raddle::timing
