// What a scheduler's tensor unit has accepted of the products of warpgroups (sm.warpgroup). It
// computes them in order, one after another; a warp issues the next as long as fewer than `queue`
// have been accepted and not computed, and only then waits for the unit. Other instructions of the
// unit are accepted alone, and begin when what was accepted before them has been computed.
//
// Source of the rule: FlashGPU-Sim's configuration of an H100 (tests/baselines): the clock of a
// kernel shows that an SM accepts six products with A in shared memory, five with A in registers.
// Left out: that the four warps of a group begin together.
#pragma once
#include <algorithm>
#include <array>

#include "raddle/timing/code/decoded_kernel.h"
#include "raddle/timing/sm/event_wheel.h"

namespace raddle::timing {

class ProductQueue {
 public:
  explicit ProductQueue(const SmSpec& spec) {
    const Unit unit = spec.cost[static_cast<unsigned>(trace::OpClass::Tensor)].unit;
    // From the beginning of an instruction to its result.
    Cycle longest = WarpgroupSpec::kMaxInterval + spec.warpgroup.latency_cycles;
    for (const OpCost& cost : spec.cost)
      if (cost.unit == unit) longest = std::max<Cycle>(longest, cost.latency);
    longest += spec.operands.latest() + 1;
    RADDLE_ASSERT(longest < EventWheel::kHorizon);
    ahead_ = EventWheel::kHorizon - longest;
  }

  /// An instruction is issued; returns by how many cycles it begins late.
  Cycle issued(Cycle now, const DecodedInst& in) {
    const Cycle begin = std::max(now, end_);
    end_ = begin + in.interval;
    ends_[next_ % kPlaces] = end_;
    ++next_;
    const unsigned accepted = std::max<unsigned>(in.product, 1);
    accepts_at_ = ends_[(next_ - accepted) % kPlaces];
    // Results come back through the wheel of events, which is only so long.
    if (end_ > ahead_) accepts_at_ = std::max(accepts_at_, end_ - ahead_);
    return begin - now;
  }
  /// From when it takes another.
  Cycle accepts_at() const { return accepts_at_; }

 private:
  static constexpr unsigned kPlaces = WarpgroupSpec::kMaxQueue;

  Cycle ahead_ = 0;  // by how much an instruction may begin late
  Cycle end_ = 0, accepts_at_ = 0;
  std::array<Cycle, kPlaces> ends_{};  // when each of the youngest has been computed
  unsigned next_ = 0;
};

}  // namespace raddle::timing
