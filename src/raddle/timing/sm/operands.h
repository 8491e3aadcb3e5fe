// Operand collection of one scheduler: register banks and the collectors that wait for them. Each
// bank (register number modulo `banks`) delivers one operand of 32 lanes a cycle, in order of
// issue; a register that an instruction names twice is read once. An instruction that has its
// operands after `cycles` cycles is on time: that is part of the latencies of sm.cost. What its
// banks need beyond that, for its own conflicts or for reads still owed to earlier instructions,
// comes on top. It holds a collector until then; collectors are taken in turn, and when the next
// one is taken nothing issues.
//
// Everything follows at the issue from when each bank is free, so a cycle costs nothing. Source of
// the shape: GPGPU-Sim's register file (banks, collector units) with first come, first served in
// place of its arbiter. Left out: writes compete for no bank, the reuse cache of Maxwell and later,
// the delay of an instruction that goes to the load/store unit. Registers are those of the PTX (or
// of the lowering), where a real assembler chooses numbers that avoid conflicts.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

#include "raddle/base/mask.h"
#include "raddle/base/types.h"
#include "raddle/timing/spec/sm_spec.h"

namespace raddle::timing {

class OperandCollectors {
 public:
  explicit OperandCollectors(const OperandSpec& spec)
      : collectors_(spec.collectors), cycles_(spec.cycles) {}

  /// An instruction issues at `now`, one a cycle; `reads` has four bits for each bank, the operands
  /// it delivers, at least one. Returns by how many cycles it is late.
  [[gnu::always_inline]] Cycle collect(Cycle now, std::uint64_t reads) {
    const Cycle on_time = now + cycles_;
    Cycle last = now + 1;
    // Banks that owe nothing and deliver one each are free again before the next instruction.
    if (now < all_free_ || (reads & ~kOneOfEach) != 0) {
      for (std::uint64_t m = reads; m != 0;) {
        const unsigned bank = lowest(m) / 4;
        Cycle& free = bank_free_[bank];
        free = std::max(free, now) + (m >> (4 * bank) & 15);
        last = std::max(last, free);
        m &= ~(std::uint64_t{15} << (4 * bank));
      }
      all_free_ = std::max(all_free_, last);
    }
    const Cycle done = std::max(on_time, last);
    taken_until_[next_] = done;
    if (++next_ == collectors_) next_ = 0;
    return done - on_time;
  }
  /// First cycle in which the collector whose turn it is can be taken.
  Cycle free_at() const { return taken_until_[next_]; }

 private:
  static constexpr std::uint64_t kOneOfEach = 0x1111'1111'1111'1111;

  unsigned collectors_, next_ = 0;
  Cycle cycles_;
  Cycle all_free_ = 0;  // from then on no bank owes anything
  std::array<Cycle, OperandSpec::kMaxBanks> bank_free_{};
  std::array<Cycle, OperandSpec::kMaxCollectors> taken_until_{};
};

}  // namespace raddle::timing
