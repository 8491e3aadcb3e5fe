// The column commands of a DRAM channel that are already decided. A request's bursts are planned
// when its first goes out: each at the first cycle that keeps the distance from those of its own
// bank group and, by `distance`, from every other; so the bursts of other groups can be planned in
// between. Two bit masks of the coming cycles: where a command goes out, and where none can begin.
#pragma once
#include <bit>
#include <cstdint>
#include <vector>

#include "raddle/base/error.h"

namespace raddle::timing {

class ColumnSlots {
 public:
  /// `distance`: between any two commands. `step`: between those of a request, `widest` if others
  /// are to fit in between. `most`: bursts of a request.
  ColumnSlots(std::uint32_t distance, std::uint32_t step, std::uint32_t widest, unsigned maximum)
      : distance_(distance),
        step_(step),
        ahead_(kReach - 1 - 2 * distance - (maximum - 1) * widest) {
    RADDLE_ASSERT(2 * distance + (maximum - 1) * widest < kReach);
    Train train;
    for (unsigned i = 0; i < maximum; ++i) {
      train.taken |= Bits{1} << i * step;
      train.blocked |= around(i * step);
      alone_.push_back(train);
    }
  }
  /// Forgets what is before `m`. Never goes back.
  void advance(std::uint64_t m) {
    const std::uint64_t by = m - base_;
    base_ = m;
    now_.taken = by >= kReach ? 0 : now_.taken >> by;
    now_.blocked = by >= kReach ? 0 : now_.blocked >> by;
  }
  /// Whether a command goes out in the cycle of the last advance().
  bool taken() const { return (now_.taken & 1) != 0; }
  /// Whether the first burst of a request may go out in the cycle of the last advance().
  bool free() const { return base_ + ahead_ >= last_ && (now_.blocked & 1) == 0; }
  /// The first such cycle from `m`.
  std::uint64_t next_free(std::uint64_t m) const {
    return m >= last_ + distance_ ? m : unblocked(m + ahead_ >= last_ ? m : last_ - ahead_);
  }
  /// The first cycle from `m` in which no command goes out.
  std::uint64_t next_untaken(std::uint64_t m) const {
    return m > last_ ? m : m + ones(now_.taken >> (m - base_));
  }
  /// The first cycle from `m` that keeps the distance from all: for a request's later bursts.
  std::uint64_t unblocked(std::uint64_t m) const {
    return m >= last_ + distance_ ? m : m + ones(now_.blocked >> (m - base_));
  }
  /// Plans `bursts` commands at `step` or more from one another, the first at `m`. Returns the
  /// last. Preconditions: advance(m) was the last advance, and free().
  std::uint64_t plan(std::uint64_t m, unsigned bursts, std::uint32_t step) {
    if (step == step_ && m + step >= last_ + distance_) {  // nothing is in between
      now_.taken |= alone_[bursts - 1].taken;
      now_.blocked |= alone_[bursts - 1].blocked;
      m += (bursts - 1) * step;
      if (m > last_) last_ = m;
      return m;
    }
    take(m);
    for (; bursts > 1; --bursts) take(m = unblocked(m + step));
    return m;
  }
  /// One command at `m`, which is unblocked.
  void take(std::uint64_t m) {
    const auto at = static_cast<unsigned>(m - base_);
    now_.taken |= Bits{1} << at;
    now_.blocked |= around(at);
    if (m > last_) last_ = m;
  }

 private:
  using Bits = std::uint64_t;
  static constexpr unsigned kReach = 64;
  struct Train {
    Bits taken = 0, blocked = 0;
  };
  static unsigned ones(Bits bits) { return static_cast<unsigned>(std::countr_one(bits)); }
  Bits around(unsigned at) const {
    const Bits near = (Bits{1} << (2 * distance_ - 1)) - 1;
    return at >= distance_ - 1 ? near << (at + 1 - distance_) : near >> (distance_ - 1 - at);
  }

  std::uint32_t distance_, step_, ahead_;
  std::uint64_t base_ = 0;  // of bit 0
  std::uint64_t last_ = 0;  // the last command planned; a cycle 0 that never was does no harm
  Train now_;
  std::vector<Train> alone_;  // of a request, by bursts - 1, when nothing is in its way
};

}  // namespace raddle::timing
