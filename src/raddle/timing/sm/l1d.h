// First-level data cache of an SM: any number of sets (modulo), sectors or whole lines, LRU, misses
// merged in MSHRs. A line gets its way when data arrives, or at the miss (reserve_on_miss), where
// it cannot be pushed out until then. Stores never allocate: write_through keeps a line that is
// present, write_evict removes it. Left out: banks and ports beyond one line a cycle, byte masks,
// data.
#pragma once
#include <cstdint>
#include <vector>

#include "raddle/base/types.h"
#include "raddle/stats/counters.h"
#include "raddle/timing/gpu/machine.h"
#include "raddle/timing/mem/address_map.h"
#include "raddle/timing/mem/mshr.h"
#include "raddle/timing/mem/tags.h"

namespace raddle::timing {

class L1d {
 public:
  enum class Outcome : std::uint8_t { Hit, Miss, Blocked };
  struct Load {
    Outcome outcome;
    std::uint8_t ask;    ///< Miss: sectors to request, 0 when they are on their way already
    std::uint16_t mshr;  ///< Miss: tag of the request
  };

  explicit L1d(const L1dSpec& spec);
  /// One line access. `waiter` comes back from fill() after a Miss. `can_send`: a request could be
  /// queued now. Blocked changes nothing: try again when a fill has come or can_send has changed.
  Load load(Cycle now, std::uint32_t line, std::uint8_t sectors, std::uint16_t waiter,
            bool can_send, stats::SmCounters& count);
  /// Data of a request has come; done(waiter) for each access now complete.
  template <class Done>
  void fill(Cycle now, std::uint16_t mshr, std::uint8_t sectors, stats::SmCounters& count,
            Done done) {
    install(now, mshr, sectors, count);
    if (mshrs_.arrive(mshr, sectors, done)) unlock(mshr);
  }
  void store(std::uint32_t line);
  /// Removes a line (atomics are performed at the L2).
  void invalidate(std::uint32_t line);
  /// Drops everything that is not on its way.
  void flush();
  unsigned missing_lines() const { return mshrs_.used(); }
  /// Why a load of this line would be Blocked, in words.
  const char* obstacle(std::uint32_t line, bool can_send) const;

 private:
  unsigned set_of(std::uint32_t line) const { return line - sets_.quotient(line) * sets_.value(); }
  unsigned find(std::uint32_t line) const { return tags_.find(set_of(line), line); }
  unsigned place(std::uint32_t line, stats::SmCounters& count);
  void install(Cycle now, std::uint16_t mshr, std::uint8_t sectors, stats::SmCounters& count);
  void unlock(std::uint16_t mshr);

  Divisor sets_;
  bool reserve_, evict_on_store_;
  Tags tags_;
  Mshrs<std::uint16_t> mshrs_;
  std::vector<std::uint32_t> reserved_;  // reserve_on_miss, by MSHR: where its line is
  std::vector<Cycle> since_;             // by MSHR and lowest sector of the request
};

}  // namespace raddle::timing
