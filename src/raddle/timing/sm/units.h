// Execution units of an SM and the operand collectors in front of them: which of them are taken,
// and which warps that keeps from issuing. Every scheduler has a unit of each kind, or all share
// one (sm.shared_units). A unit is taken for `interval` cycles by one instruction; when it is free
// again comes back through the event wheel. Operand collection is in operands.h.
//
// A unit that multiplies for warpgroups accepts products before it has computed those before them
// (product_queue.h).
//
// Left out: ports between units and the register file, dual issue.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "raddle/timing/code/decoded_kernel.h"
#include "raddle/timing/sm/event_wheel.h"
#include "raddle/timing/sm/operands.h"
#include "raddle/timing/sm/product_queue.h"
#include "raddle/timing/sm/warps.h"

namespace raddle::timing {

class ExecutionUnits {
 public:
  ExecutionUnits(const SmSpec& spec, const SchedulerSlots& slots) : slots_(slots) {
    for (unsigned u = 0; u < kUnits; ++u)
      if (spec.shared_unit[u]) shared_ |= 1u << u;
    if (spec.operands.collectors != 0)
      collectors_.assign(spec.schedulers, OperandCollectors(spec.operands));
    if (spec.warpgroup.interval_cycles == 0) return;
    products_.assign(spec.schedulers, ProductQueue(spec));
    product_unit_ =
        static_cast<unsigned>(spec.cost[static_cast<unsigned>(trace::OpClass::Tensor)].unit);
  }
  bool shared(unsigned unit) const { return (shared_ >> unit & 1) != 0; }
  /// Warps whose next instruction goes to this unit.
  WarpMask wanting(Unit unit) const { return wanting_[static_cast<unsigned>(unit)]; }
  WarpMask wanting(unsigned unit) const { return wanting_[unit]; }
  /// Of these warps those whose unit and operand collector are free.
  WarpMask free_for(WarpMask warps) const { return warps & ~blocked_ & ~collecting_; }

  /// The warp's next instruction goes to the unit.
  void want(unsigned warp, Unit unit) {
    const auto u = static_cast<unsigned>(unit);
    wanting_[u] |= bit_of(warp);
    blocked_ |= busy_[u] & bit_of(warp);
  }
  /// It has issued. Precondition: it was free to.
  void issued(unsigned warp, Unit unit) { wanting_[static_cast<unsigned>(unit)] &= ~bit_of(warp); }
  /// It is not to issue after all.
  void withdraw(unsigned warp, Unit unit) {
    wanting_[static_cast<unsigned>(unit)] &= ~bit_of(warp);
    blocked_ &= ~bit_of(warp);
  }
  /// An instruction of more than one cycle takes its unit.
  void take(Cycle now, unsigned scheduler, const DecodedInst& in, EventWheel& wheel) {
    take_until(now + in.interval, scheduler, in, wheel);
  }
  bool has_queue(Unit unit) const { return static_cast<unsigned>(unit) == product_unit_; }
  /// The same where the unit accepts some before it has computed them. Returns by how many cycles
  /// it begins late.
  [[gnu::noinline]] Cycle enter_queue(Cycle now, unsigned scheduler, const DecodedInst& in,
                                      EventWheel& wheel) {
    ProductQueue& queue = products_[shared(static_cast<unsigned>(in.unit)) ? 0 : scheduler];
    const Cycle late = queue.issued(now, in);
    if (queue.accepts_at() > now + 1) take_until(queue.accepts_at(), scheduler, in, wheel);
    return late;
  }
  /// By how many cycles its operands are late.
  [[gnu::always_inline]] Cycle collect(Cycle now, unsigned scheduler, const DecodedInst& in,
                                       EventWheel& wheel) {
    if (collectors_.empty() || in.bank_reads == 0) return 0;
    const Cycle late = collectors_[scheduler].collect(now, in.bank_reads);
    const Cycle free = collectors_[scheduler].free_at();
    if (free > now + 1) {
      collecting_ |= slots_[scheduler];
      wheel.push_unit(free, event_bit(kCollectors, scheduler));
    }
    return late;
  }
  /// What the wheel gives back; returns those of the ready warps that may issue now.
  WarpMask release(std::uint32_t events, WarpMask ready) {
    WarpMask out = 0;
    for (std::uint32_t m = events; m != 0; m &= m - 1) {
      const unsigned unit = lowest(m) / SmSpec::kMaxSchedulers;
      WarpMask group = slots_[lowest(m) % SmSpec::kMaxSchedulers];
      if (unit == kCollectors) {
        collecting_ &= ~group;
        out |= ready & group;
        continue;
      }
      if (shared(unit)) group = ~WarpMask{0};
      busy_[unit] &= ~group;
      blocked_ &= ~(wanting_[unit] & group);
      out |= wanting_[unit] & ready & group;
    }
    return out;
  }
  /// Null, or what does not hold between cycles: a warp at an instruction wants one unit, others
  /// want none.
  const char* broken(WarpMask at_instruction) const {
    WarpMask all = 0;
    WarpMask blocked = 0;
    for (unsigned u = 0; u < kUnits; ++u) {
      if ((all & wanting_[u]) != 0) return "a warp wants one unit";
      all |= wanting_[u];
      blocked |= wanting_[u] & busy_[u];
    }
    if (all != at_instruction) return "who is at an instruction wants a unit, nobody else does";
    if (blocked != blocked_) return "blocked are those who want a unit that is taken";
    return nullptr;
  }

 private:
  [[gnu::always_inline]] void take_until(Cycle free, unsigned scheduler, const DecodedInst& in,
                                         EventWheel& wheel) {
    const auto unit = static_cast<unsigned>(in.unit);
    WarpMask slots = slots_[scheduler];
    if (shared(unit)) {
      slots = ~WarpMask{0};
      scheduler = 0;
    }
    busy_[unit] |= slots;
    blocked_ |= wanting_[unit] & slots;
    wheel.push_unit(free, event_bit(unit, scheduler));
  }

  static constexpr unsigned kCollectors = kUnits;  // beside the units, in the wheel
  static_assert((kCollectors + 1) * SmSpec::kMaxSchedulers <= EventWheel::kUnitBits);
  static constexpr unsigned event_bit(unsigned unit, unsigned scheduler) {
    return SmSpec::kMaxSchedulers * unit + scheduler;
  }

  SchedulerSlots slots_;
  std::array<WarpMask, kUnits> wanting_{};
  std::array<WarpMask, kUnits> busy_{};  // all slots of the schedulers whose unit is taken
  WarpMask blocked_ = 0;                 // of wanting_[u] & busy_[u], over all units
  WarpMask collecting_ = 0;              // all slots of the schedulers without an operand collector
  std::uint32_t shared_ = 0;             // bit u: all schedulers share the unit
  std::vector<OperandCollectors> collectors_;  // one for each scheduler, or none
  std::vector<ProductQueue> products_;         // the same
  unsigned product_unit_ = kUnits;             // whose they are; kUnits: none
};

}  // namespace raddle::timing
