// What an SM says when nothing moves any more: which warp stands at which line of the PTX and what
// it waits for.
#include "raddle/base/mask.h"
#include "raddle/timing/sm/sm.h"

namespace raddle::timing {

void Sm::describe(std::string& out, unsigned most) const {
  auto total = static_cast<unsigned>(std::popcount(resident_));
  out += "SM " + std::to_string(id_) + ": " + std::to_string(total) + " warps\n";
  unsigned told = 0;
  for (Mask m = resident_; m != 0 && told < most; m &= m - 1, ++told) describe_warp(out, lowest(m));
  if (total > told) out += "  ... and " + std::to_string(total - told) + " more\n";
  out += "  ";
  lsu_.describe(out);
  out += "\n";
}

std::vector<std::string> Sm::audit() const {
  std::vector<std::string> broken;
  lsu_.audit(counters_, broken);
  return broken;
}

void Sm::describe_warp(std::string& out, unsigned w) const {
  const Warp& warp = warps_[w];
  const trace::KernelCode& code = warp.launch->code->code();
  out += "  warp " + std::to_string(warp.index) + " of block " +
         std::to_string(blocks_[warp.block].id) + " of kernel '" + code.name + "' ";
  if ((ended_ >> w & 1) != 0) {
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

void Sm::describe_wait(std::string& out, unsigned w) const {
  const Warp& warp = warps_[w];
  auto in = [w](Mask m) { return (m >> w & 1) != 0; };
  if (in(sleeping_)) {
    out += "asleep until cycle " + std::to_string(wake_[w]);
  } else if (in(fetching_)) {
    out += "to be fetched";
  } else if (in(memory_wait_)) {
    out += "for an operand from memory";
  } else if (in(fence_wait_)) {
    out += "for " + std::to_string(warp.outstanding) + " earlier memory operations to be visible";
  } else if (in(at_barrier_)) {
    const Block& block = blocks_[warp.block];
    const Barrier& barrier = block.barrier[warp.mask & 15];
    unsigned expected = barrier.expected != 0 ? barrier.expected : block.running;
    out += "at barrier " + std::to_string(warp.mask & 15) + ": " + std::to_string(barrier.arrived) +
           " of " + std::to_string(expected) + " warps have come; not waiting there: warp";
    const char* comma = " ";
    for (Mask m = block.warps & ~barrier.waiting & ~ended_; m != 0; m &= m - 1, comma = ", ")
      out += comma + std::to_string(warps_[lowest(m)].index);
    if (*comma == ' ') out += " none";
  } else if (!in(ready_)) {
    out += "for the result of an earlier instruction";
  } else {
    out += warp.next->unit == Unit::Lsu ? "for the load/store unit" : "for its execution unit";
  }
}

}  // namespace raddle::timing
