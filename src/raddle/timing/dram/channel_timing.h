// What the banks of a DRAM channel share: the data bus, the bank groups and the power for ACT.
// Constraints (JEDEC names, S between bank groups, L inside one): ACT-ACT tRRD_S/L, five ACT in
// more
// than tFAW, RD-RD and WR-WR max(tCCD_S/L, burst), end of write data-RD tWTR_S/L, RD-WR so that the
// data bus is idle for `turnaround` cycles. Those of one bank are banks.h's.
//
// Contract: requests are named by their slot of the queue; they belong to their bank's group from
// arrive() to remove(). advance(m) comes before all that is asked of cycle m, and cycles never go
// back.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

#include "raddle/base/error.h"
#include "raddle/base/mask.h"
#include "raddle/timing/dram/column_slots.h"
#include "raddle/timing/spec/dram_spec.h"

namespace raddle::timing {

class ChannelTiming {
 public:
  static constexpr unsigned kGroups = 16;
  /// Commands whose distance depends on the bank group.
  enum Kind : std::uint8_t { kRead, kWrite, kActivate };
  static constexpr Kind column_kind(bool write) { return write ? kWrite : kRead; }

  /// `bursts_of_line`: column commands of one request at most.
  ChannelTiming(const DramSpec& spec, unsigned bursts_of_line)
      : groups_(spec.bank_groups),
        step_s_(spec.step(false)),
        step_l_(spec.step(true)),
        read_to_write_(spec.read_to_write()),
        write_end_(spec.tCWL + spec.burst_cycles()),
        tRRDS_(spec.tRRDS),
        tRRDL_(spec.tRRDL),
        tFAW_(spec.tFAW),
        tWTRS_(spec.tWTRS),
        tWTRL_(spec.tWTRL),
        by_group_{step_l_ > step_s_ || tWTRL_ > tWTRS_, step_l_ > step_s_, tRRDL_ > tRRDS_},
        column_slots_(step_s_, step_l_, spec.widest_step(), bursts_of_line) {
    RADDLE_ASSERT(groups_ >= 1 && groups_ <= kGroups);
  }

  // --- requests ----------------------------------------------------------------------------------
  void arrive(unsigned e, unsigned group) { group_slots_[group].set(e); }
  void remove(unsigned e, unsigned group) { group_slots_[group].clear(e); }

  // --- when commands may go ----------------------------------------------------------------------
  void advance(std::uint64_t m) { column_slots_.advance(m); }
  /// A column command goes out in this cycle.
  bool column_taken() const { return column_slots_.taken(); }
  /// A first column command of the direction may go out at m, the cycle of the last advance(), as
  /// far as its group allows.
  bool column_free(bool write, std::uint64_t m) const {
    return column_at_[write] <= m && column_slots_.free();
  }
  /// The same of ACT.
  bool activate_free(std::uint64_t m) const { return activate_at_ <= m; }
  std::uint64_t activate_at() const { return activate_at_; }
  // All groups are asked: to keep account of those that are late costs as much.
  /// Requests of groups that may not yet send a command of the kind at m.
  Mask128 late(Kind kind, std::uint64_t m) const {
    Mask128 slots;
    if (!by_group_[kind]) return slots;
    for (unsigned g = 0; g < groups_; ++g) slots |= group_slots_[g].when(group_at_[kind][g] > m);
    return slots;
  }
  /// The first cycle from m in which the group of one of the `options` may send a command of the
  /// kind.
  std::uint64_t group_time(Kind kind, const Mask128& options, std::uint64_t m) const {
    if (!by_group_[kind]) return m;
    std::uint64_t first = kNever;
    for (unsigned g = 0; g < groups_; ++g) {
      const std::uint64_t at = std::max(group_at_[kind][g], m);
      first = std::min(first, (options & group_slots_[g]).any() ? at : kNever);
    }
    return first;
  }
  /// The first cycle from m in which one of them may send a column command of the direction.
  std::uint64_t column_time(bool write, const Mask128& options, std::uint64_t m) const {
    const std::uint64_t from = std::max(m, column_at_[write]);
    return column_slots_.next_free(group_time(column_kind(write), options, from));
  }
  /// The same, groups apart.
  std::uint64_t column_time(bool write, std::uint64_t m) const {
    return column_slots_.next_free(std::max(m, column_at_[write]));
  }
  /// The first cycle from m in which one of them may send ACT.
  std::uint64_t activate_time(const Mask128& options, std::uint64_t m) const {
    return group_time(kActivate, options, std::max(m, activate_at_));
  }
  /// The first cycle from m without a column command.
  std::uint64_t next_untaken(std::uint64_t m) const { return column_slots_.next_untaken(m); }

  // --- commands ----------------------------------------------------------------------------------
  void activated(std::uint64_t m, unsigned group) {
    window_end_[oldest_window_] = m + tFAW_;
    oldest_window_ = (oldest_window_ + 1) % 4;
    activate_at_ = std::max(m + tRRDS_, window_end_[oldest_window_]);
    if (by_group_[kActivate]) delay(kActivate, group, m + tRRDL_);
  }
  /// Distance of a request's bursts. Where the group's own leaves less than two steps of the bus, a
  /// burst of another group fits in between only if it is made two. `columns`: who may send a
  /// column command, besides the timing here.
  std::uint32_t step_of(unsigned group, const Mask128& columns) const {
    if (step_l_ == step_s_ || step_l_ >= 2 * step_s_) return step_l_;
    return (columns - group_slots_[group]).any() ? 2 * step_s_ : step_l_;
  }
  std::uint32_t group_step() const { return step_l_; }
  /// Column commands of a request, the first at m. Returns when the last goes out.
  std::uint64_t plan(std::uint64_t m, unsigned bursts, std::uint32_t step) {
    return column_slots_.plan(m, bursts, step);
  }
  /// One more column command, `step` or more after the one at `last`. Returns when it goes out.
  std::uint64_t plan_next(std::uint64_t last, std::uint32_t step) {
    const std::uint64_t at = column_slots_.unblocked(last + step);
    column_slots_.take(at);
    return at;
  }
  /// The last column command of a read goes out at `last`.
  void read(std::uint64_t last, unsigned group) {
    if (step_l_ > step_s_) delay(kRead, group, last + step_l_);
    column_at_[1] = std::max(column_at_[1], last + read_to_write_);
  }
  /// The same of a write; returns the end of its data.
  std::uint64_t wrote(std::uint64_t last, unsigned group) {
    const std::uint64_t end = last + write_end_;
    if (by_group_[kWrite]) delay(kWrite, group, last + step_l_);
    if (tWTRL_ > tWTRS_) delay(kRead, group, end + tWTRL_);
    column_at_[0] = std::max(column_at_[0], end + tWTRS_);
    return end;
  }

 private:
  void delay(Kind kind, unsigned group, std::uint64_t at) {
    group_at_[kind][group] = std::max(group_at_[kind][group], at);
  }

  unsigned groups_;
  std::uint32_t step_s_, step_l_, read_to_write_;
  std::uint32_t write_end_;  // from a write command to the end of its data
  std::uint32_t tRRDS_, tRRDL_, tFAW_, tWTRS_, tWTRL_;
  std::array<Mask128, kGroups> group_slots_;
  std::uint64_t column_at_[2] = {};            // by direction, after one of the other direction
  std::uint64_t activate_at_ = 0;              // after tRRD_S and tFAW
  std::array<std::uint64_t, 4> window_end_{};  // of the last four ACT: when tFAW is over
  unsigned oldest_window_ = 0;
  // By Kind: whether groups wait longer than the channel, and until when each.
  std::array<bool, 3> by_group_;
  std::array<std::array<std::uint64_t, kGroups>, 3> group_at_{};
  ColumnSlots column_slots_;
};

}  // namespace raddle::timing
