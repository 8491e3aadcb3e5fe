// Loads and atomics under way in a load/store unit, one slot each, from their issue to the arrival
// of their last data. Counts where a load's time goes:
// until its last line was taken by the cache (load_lsu_cycles), then, if the last data to come was
// an L1 hit's, load_hit_cycles, else until the last request of the load had left the SM
// (load_queue_cycles) and until the data came (load_outside_cycles).
//
// Where warps may leave, it also keeps the addresses of each load until its data have come.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

#include "raddle/base/error.h"
#include "raddle/timing/sm/half_warps.h"
#include "raddle/timing/sm/memory_instruction.h"
#include "raddle/timing/sm/stall_account.h"

namespace raddle::timing {

class LoadTable {
 public:
  struct alignas(32) InFlight {  // two to a line of the host
    InstructionOwner owner;
    std::uint16_t left = 0;                               ///< accesses whose data have not come
    std::uint32_t entered = 0, served = 0, departed = 0;  ///< 32 bits of the cycle
  };
  static_assert(sizeof(InFlight) == 32);
  /// Where a load's data are, as long as it is under way.
  struct Descriptor {
    std::uint32_t base = 0;
    unsigned transactions = 0;
    bool distinct = false;  ///< each piece is a line of its own, fetched as a whole
    std::array<trace::Transaction, HalfWarps::kMaximum> transaction;
  };

  explicit LoadTable(unsigned slots) : loads_(slots), free_(slots) {
    std::iota(free_.rbegin(), free_.rend(), std::uint16_t{0});
  }
  unsigned slots() const { return static_cast<unsigned>(loads_.size()); }
  unsigned taken() const { return static_cast<unsigned>(loads_.size() - free_.size()); }
  bool full() const { return free_.empty(); }
  /// A load that was taken out just now was the first to make room.
  bool was_full() const { return free_.size() == 1; }
  const InFlight& operator[](unsigned load) const { return loads_[load]; }

  /// A load of so many accesses takes a slot, which is returned. Precondition: one is free.
  std::uint16_t enter(Cycle now, const InstructionOwner& owner, unsigned accesses) {
    RADDLE_ASSERT(!free_.empty());
    const std::uint16_t load = free_.back();
    free_.pop_back();
    InFlight& entry = loads_[load];
    entry.owner = owner;
    entry.left = static_cast<std::uint16_t>(accesses);
    entry.entered = entry.departed = static_cast<std::uint32_t>(now);
    return load;
  }
  /// The cache has taken its last access.
  void served(Cycle now, unsigned load) { loads_[load].served = static_cast<std::uint32_t>(now); }
  /// One of its requests has left the SM.
  void departed(Cycle now, unsigned load) {
    loads_[load].departed = static_cast<std::uint32_t>(now);
  }
  /// Data of one access have come, from the L1 or from outside: loaded(owner) if they are the last.
  template <class Loaded>
  void hit(Cycle now, unsigned load, SmKernelCounters& counters, Loaded&& loaded) {
    InFlight& entry = loads_[load];
    if (--entry.left != 0) return;
    stats::SmCounters& count = counters[entry.owner.kernel];
    count_load(now, entry, count);
    count.load_hit_cycles += static_cast<std::uint32_t>(now) - entry.served;
    free_.push_back(static_cast<std::uint16_t>(load));
    loaded(entry.owner);
  }
  template <class Loaded>
  void arrived(Cycle now, unsigned load, SmKernelCounters& counters, Loaded&& loaded) {
    InFlight& entry = loads_[load];
    if (--entry.left != 0) return;
    stats::SmCounters& count = counters[entry.owner.kernel];
    count_load(now, entry, count);
    const std::uint32_t rest = static_cast<std::uint32_t>(now) - entry.served;
    const std::uint32_t outside = std::min(rest, static_cast<std::uint32_t>(now) - entry.departed);
    count.load_outside_cycles += outside;
    count.load_queue_cycles += rest - outside;
    free_.push_back(static_cast<std::uint16_t>(load));
    loaded(entry.owner);
  }

  // --- loads that leave with their warp (lsu_migration.h) ----------------------------------------
  /// From now on there are descriptors. Precondition: no load is under way.
  void keep_descriptors() {
    RADDLE_ASSERT(taken() == 0);
    descriptors_.resize(loads_.size());
  }
  bool keeps_descriptors() const { return !descriptors_.empty(); }
  /// `payload`: of the stream. `whole_lines`: each piece is one access, which brings its line.
  void describe(unsigned load, const std::uint32_t* payload, unsigned transactions,
                std::uint32_t base, bool whole_lines);
  const Descriptor& descriptor(unsigned load) const {
    RADDLE_ASSERT(load < descriptors_.size());
    return descriptors_[load];
  }
  /// The load will not be told of one of its accesses, of which it waits for some.
  void cancel_access(unsigned load) {
    RADDLE_ASSERT(loads_[load].left != 0);
    --loads_[load].left;
  }
  /// Its slot is free. Precondition: all its accesses are cancelled.
  void cancel(unsigned load) {
    RADDLE_ASSERT(loads_[load].left == 0);
    free_.push_back(static_cast<std::uint16_t>(load));
  }

 private:
  static void count_load(Cycle now, const InFlight& load, stats::SmCounters& count) {
    ++count.loads;
    count.load_cycles += static_cast<std::uint32_t>(now) - load.entered;
    count.load_lsu_cycles += load.served - load.entered;
  }

  std::vector<InFlight> loads_;
  std::vector<std::uint16_t> free_;      // stack
  std::vector<Descriptor> descriptors_;  // by load, if they are kept
};

inline void LoadTable::describe(unsigned load, const std::uint32_t* payload, unsigned transactions,
                                std::uint32_t base, bool whole_lines) {
  RADDLE_ASSERT(transactions <= HalfWarps::kMaximum);
  Descriptor& out = descriptors_[load];
  out.base = base;
  out.transactions = transactions;
  out.distinct = whole_lines;
  for (unsigned i = 0; i < transactions; ++i, payload += trace::kTransactionWords) {
    out.transaction[i] = {payload[0], payload[1], payload[2]};
    out.distinct =
        out.distinct && (i == 0 || out.transaction[i - 1].line < out.transaction[i].line);
  }
}

}  // namespace raddle::timing
