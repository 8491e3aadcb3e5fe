// What an SM says to people. When nothing moves any more: which warp stands at which line of the
// PTX and what it waits for, and whether its books balance; when a profile is kept: where warps
// stand.
// Definitions for sm.cpp.
#pragma once
#include "raddle/base/demangle.h"
#include "raddle/base/mask.h"
#include "raddle/timing/sm/sm_of.h"

namespace raddle::timing {

template <L1Protocol L1>
void SmOf<L1>::describe(std::string& out, unsigned most) const {
  auto total = static_cast<unsigned>(std::popcount(warps_.resident));
  out += "SM " + std::to_string(id_) + ": " + std::to_string(total) + " warps\n";
  unsigned told = 0;
  for (WarpMask m = warps_.resident; m != 0 && told < most; m &= m - 1, ++told)
    describe_warp(out, lowest(m));
  if (total > told) out += "  ... and " + std::to_string(total - told) + " more\n";
  out += "  ";
  lsu_.describe(out);
  out += "\n";
}

template <L1Protocol L1>
std::vector<std::string> SmOf<L1>::audit() const {
  std::vector<std::string> broken;
  const std::string name = "SM " + std::to_string(id_) + ": ";
  if (const char* law = warps_.broken()) broken.push_back(name + law);
  if (const char* law = units_.broken(warps_.resident & ~warps_.parked()))
    broken.push_back(name + law);
  lsu_.audit(counters_, broken);
  return broken;
}

template <L1Protocol L1>
void SmOf<L1>::keep_profile(const LookTimes& looks) {
  RADDLE_ASSERT(idle());
  profile_ = std::make_unique<InstructionProfile>(warps_, looks);
  notes_issues_ = true;
  observe(*profile_);
}

/// The looks of all cycles before `now`: since the last tick nothing has changed.
template <L1Protocol L1>
void SmOf<L1>::see_warps(Cycle now) {
  const std::uint64_t times = profile_->looks_before(now);
  if (times == 0) return;
  for (WarpMask m = warps_.resident; m != 0; m &= m - 1)
    if (const unsigned w = lowest(m); warps_[w].next != nullptr) profile_->seen(w, state(w), times);
}

/// Of a resident warp, as the cycle that is over leaves it: stats::kWarpStates.
template <L1Protocol L1>
unsigned SmOf<L1>::state(unsigned w) const {
  using stats::Stall;
  const auto in = [w](WarpMask m) { return has(m, w); };
  const auto is = [](Stall why) { return static_cast<unsigned>(why); };
  if (in(warps_.memory_wait)) return is(Stall::Memory);
  if (in(warps_.fence_wait)) return is(Stall::Fence);
  if (in(warps_.at_barrier)) return is(Stall::Barrier);
  if (in(warps_.sleeping)) return is(Stall::Sleep);
  if (in(warps_.fetching)) return is(Stall::Fetch);
  if (!in(warps_.ready)) return is(Stall::Dependence);
  const WarpMask memory = units_.wanting(Unit::Lsu);
  if (!in(units_.free_for(warps_.ready))) return is(Stall::Unit);
  if (in(throttle_.denied(warps_.ready, memory, warps_))) return is(Stall::Throttled);
  return in(lsu_.keeps_out(memory, warps_.of_tenant)) ? is(Stall::Lsu) : stats::kReady;
}

template <L1Protocol L1>
void SmOf<L1>::describe_warp(std::string& out, unsigned w) const {
  const Warp& warp = warps_[w];
  const trace::KernelCode& code = warp.launch->code->code();
  out += "  warp " + std::to_string(warp.index) + " of block " + std::to_string(block_id(w)) +
         " of kernel '" + short_name(code.name) + "' ";
  if (has(warps_.ended, w)) {
    out += "has ended, its memory operations have not\n";
    return;
  }
  const trace::StaticInst& in =
      code.instructions[static_cast<std::size_t>(warp.next - warp.launch->code->instructions())];
  out += "waits at " + code.file + ":" + std::to_string(in.line);
  if (in.opcode < code.opcode_names.size()) out += " (" + code.opcode_names[in.opcode] + ")";
  out += " ";
  describe_wait(out, w);
  out += "\n";
}

template <L1Protocol L1>
void SmOf<L1>::describe_wait(std::string& out, unsigned w) const {
  const Warp& warp = warps_[w];
  auto in = [w](WarpMask m) { return has(m, w); };
  if (in(warps_.sleeping)) {
    out += "asleep until cycle " + std::to_string(warps_.wakes_at(w));
  } else if (in(warps_.fetching)) {
    out += "to be fetched";
  } else if (in(warps_.memory_wait)) {
    out += "for an operand from memory";
  } else if (in(warps_.fence_wait)) {
    out += "for " + std::to_string(warp.outstanding) + " earlier memory operations to be visible";
  } else if (in(warps_.at_barrier)) {
    describe_barrier(out, w);
  } else if (!in(warps_.ready)) {
    out += "for the result of an earlier instruction";
  } else {
    out += warp.next->unit == Unit::Lsu ? "for the load/store unit" : "for its execution unit";
  }
}

template <L1Protocol L1>
void SmOf<L1>::describe_barrier(std::string& out, unsigned w) const {
  const Warp& warp = warps_[w];
  const Block& block = blocks_[warp.block];
  const unsigned id = trace::BarrierRecord{warp.mask}.id();
  const Barrier& barrier = block.barrier[id];
  out += "at barrier " + std::to_string(id) + ": " + std::to_string(barrier.arrived) + " of " +
         std::to_string(BlockTable::expected(block, barrier)) +
         " warps have come; not waiting there: warp";
  const char* comma = " ";
  for (WarpMask m = block.warps & ~barrier.waiting & ~warps_.ended; m != 0; m &= m - 1) {
    out += comma + std::to_string(warps_[lowest(m)].index);
    comma = ", ";
  }
  if (*comma == ' ') out += " none";
}

}  // namespace raddle::timing
