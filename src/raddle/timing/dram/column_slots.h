// The column commands of a DRAM channel that are already decided. A request's bursts are planned
// when its first goes out: each at the first cycle that keeps the distance from those of its own
// bank group and, by `distance`, from every other; so the bursts of other groups can be planned in
// between. Two bit masks of the coming cycles: where a command goes out, and where none can begin.
#pragma once
#include <bit>
#include <cstdint>

#include "raddle/base/error.h"
#include "raddle/base/mask.h"

namespace raddle::timing {

class ColumnSlots {
 public:
  /// `distance`: between any two commands. `longest`: from the first burst of a request to its
  /// last, if nothing is in between.
  ColumnSlots(std::uint32_t distance, std::uint32_t longest)
      : distance_(distance), ahead_(kReach - 1 - 2 * distance - longest) {
    RADDLE_ASSERT(2 * distance + longest < kReach);
  }
  /// Forgets what is before `m`. Never goes back.
  void advance(std::uint64_t m) {
    if (m == base_) return;
    const std::uint64_t by = m - base_;
    base_ = m;
    taken_ = by >= kReach ? 0 : taken_ >> by;
    blocked_ = by >= kReach ? 0 : blocked_ >> by;
  }
  /// Whether a command goes out at `m`.
  bool taken(std::uint64_t m) const { return m <= last_ && (taken_ >> (m - base_) & 1) != 0; }
  /// Whether the first burst of a request may go out at `m`.
  bool free(std::uint64_t m) const {
    return m >= last_ + distance_ || (m + ahead_ >= last_ && !blocked(m));
  }
  /// The first such cycle from `m`.
  std::uint64_t next_free(std::uint64_t m) const {
    return m >= last_ + distance_ ? m : unblocked(m + ahead_ >= last_ ? m : last_ - ahead_);
  }
  /// The first cycle from `m` in which no command goes out.
  std::uint64_t next_untaken(std::uint64_t m) const {
    return m > last_ ? m : m + ones(taken_ >> (m - base_));
  }
  /// Plans `bursts` commands, the first at `m`, `step` apart or more. Returns the last.
  /// Precondition: free(m), and advance(m) has been called.
  std::uint64_t plan(std::uint64_t m, unsigned bursts, std::uint32_t step) {
    take(m);
    for (; bursts > 1; --bursts) take(m = unblocked(m + step));
    return m;
  }
  /// The first cycle from `m` that keeps the distance; as free(), but for later bursts.
  std::uint64_t unblocked(std::uint64_t m) const {
    return m >= last_ + distance_ ? m : m + ones(blocked_ >> (m - base_));
  }

 private:
  using Bits = unsigned __int128;
  static constexpr unsigned kReach = 128;
  static unsigned ones(Bits bits) {
    auto low = static_cast<std::uint64_t>(bits);
    return ~low != 0
               ? static_cast<unsigned>(std::countr_one(low))
               : 64 +
                     static_cast<unsigned>(std::countr_one(static_cast<std::uint64_t>(bits >> 64)));
  }
  bool blocked(std::uint64_t m) const { return (blocked_ >> (m - base_) & 1) != 0; }
  void take(std::uint64_t m) {
    const auto at = static_cast<unsigned>(m - base_);
    const Bits near = (Bits{1} << (2 * distance_ - 1)) - 1;
    taken_ |= Bits{1} << at;
    blocked_ |= at >= distance_ - 1 ? near << (at + 1 - distance_) : near >> (distance_ - 1 - at);
    if (m > last_) last_ = m;
  }

  std::uint32_t distance_, ahead_;
  std::uint64_t base_ = 0;  // of bit 0
  std::uint64_t last_ = 0;  // the last command planned; a cycle 0 that never was does no harm
  Bits taken_ = 0, blocked_ = 0;
};

}  // namespace raddle::timing
