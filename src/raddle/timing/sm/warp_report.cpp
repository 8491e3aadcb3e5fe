#include "raddle/timing/sm/warp_report.h"

#include "raddle/base/demangle.h"
#include "raddle/base/mask.h"

namespace raddle::timing {

namespace {

void describe_barrier(std::string& out, const WarpReport& sm, unsigned w) {
  const Warp& warp = sm.warps[w];
  const Block& block = sm.blocks[warp.block];
  const unsigned id = trace::BarrierRecord{warp.mask}.id();
  const Barrier& barrier = block.barrier[id];
  out += "at barrier " + std::to_string(id) + ": " + std::to_string(barrier.arrived) + " of " +
         std::to_string(BlockTable::expected(block, barrier)) + " warps have come; ";
  const WarpMask missing = block.warps & ~barrier.waiting & ~sm.warps.ended;
  if (missing == 0) {
    out += "all warps of the block that have not ended are among them";
    return;
  }
  out += "not waiting there: warp";
  const char* comma = " ";
  for (WarpMask m = missing; m != 0; m &= m - 1) {
    out += comma + std::to_string(sm.warps[lowest(m)].index);
    comma = ", ";
  }
}

/// Of those that the warp waits for, the first in its record.
void describe_object(std::string& out, const Warp& warp) {
  const auto first = trace::ObjectChange::of(warp.cursor.at + trace::kRecordWords);
  out += "for phase " + std::to_string(first.value) + " of the barrier object at shared address " +
         std::to_string(8 * first.object);
}

void describe_wait(std::string& out, const WarpReport& sm, unsigned w) {
  const Warp& warp = sm.warps[w];
  auto in = [w](WarpMask m) { return has(m, w); };
  if (in(sm.warps.sleeping)) {
    out += "asleep until cycle " + std::to_string(sm.warps.wakes_at(w));
  } else if (in(sm.warps.fetching)) {
    out += "to be fetched";
  } else if (in(sm.warps.memory_wait)) {
    out += "for an operand from memory";
  } else if (in(sm.warps.fence_wait) && warp.next->beside != Beside::None) {
    out += "until at most " + std::to_string(warp.next->groups_left()) + " groups are under way";
  } else if (in(sm.warps.fence_wait)) {
    out += "for " + std::to_string(warp.outstanding) + " earlier memory operations to be visible";
  } else if (in(sm.warps.at_barrier) && warp.next->route == Route::Object) {
    describe_object(out, warp);
  } else if (in(sm.warps.at_barrier)) {
    describe_barrier(out, sm, w);
  } else if (!in(sm.warps.ready)) {
    out += "for the result of an earlier instruction";
  } else {
    out += warp.next->unit == Unit::Lsu ? "for the load/store unit" : "for its execution unit";
  }
}

}  // namespace

void describe_warp(std::string& out, const WarpReport& sm, unsigned w) {
  const Warp& warp = sm.warps[w];
  const trace::KernelCode& code = warp.launch->code->code();
  out += "  warp " + std::to_string(warp.index) + " of block " +
         std::to_string(sm.abroad.block_id(w, sm.warps, sm.blocks)) + " of kernel '" +
         short_name(code.name) + "' ";
  if (has(sm.warps.ended, w)) {
    out += "has ended, its memory operations have not\n";
    return;
  }
  const trace::StaticInst& in =
      code.instructions[static_cast<std::size_t>(warp.next - warp.launch->code->instructions())];
  out += "waits at " + code.file + ":" + std::to_string(in.line);
  if (in.opcode < code.opcode_names.size()) out += " (" + code.opcode_names[in.opcode] + ")";
  out += " ";
  describe_wait(out, sm, w);
  out += "\n";
}

}  // namespace raddle::timing
