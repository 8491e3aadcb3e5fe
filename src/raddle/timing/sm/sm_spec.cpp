#include "raddle/timing/sm/sm_spec.h"

#include "raddle/timing/gpu/machine.h"

namespace raddle::timing {

namespace {
using R = Range<std::uint32_t>;
}  // namespace

void OpCost::visit(FieldVisitor& v) {
  v.choice("unit", unit, kUnitNames, "execution unit that performs the class");
  v.field("latency", latency, R{1, kLongestDelay}, "cycles",
          "from issue to the issue of an instruction that needs the result");
  v.field("interval", interval, R{1, 255}, "cycles",
          "how long one warp instruction takes the unit");
}

void SmSpec::visit(FieldVisitor& v) {
  v.field("count", count, R{1, 256}, "", "streaming multiprocessors");
  v.field("schedulers", schedulers, R{1, 4}, "",
          "warp schedulers of an SM, each with its own units");
  v.field("warps", warps, R{1, 64}, "", "warp slots of an SM");
  v.field("blocks", blocks, R{1, 64}, "", "thread blocks resident on an SM at most");
  v.field("threads", threads, R{32, 2048}, "", "threads resident on an SM at most");
  v.field("registers", registers, R{1024, 1u << 20}, "", "32-bit registers of an SM");
  v.field("register_unit", register_unit, R{1, 4096}, "",
          "registers are given to a warp in multiples of this");
  v.field("shared_kib", shared_kib, R{0, 512}, "KiB", "shared memory of an SM");
  v.field("shared_unit_bytes", shared_unit_bytes, R{1, 4096}, "bytes",
          "shared memory is given to a block in multiples of this");
  v.field("max_threads_per_block", max_threads_per_block, R{32, 2048}, "",
          "largest block a launch may ask for");
  v.field("shared_latency_cycles", shared_latency_cycles, R{1, kLongestDelay}, "cycles",
          "from issue of a conflict-free shared-memory load to the issue of its user");
  v.field("const_latency_cycles", const_latency_cycles, R{1, kLongestDelay}, "cycles",
          "the same for constants and kernel parameters that hit");
  v.field("lsu_queue", lsu_queue, R{1, 64}, "",
          "memory instructions waiting in the load/store unit");
  v.field("loads_in_flight", loads_in_flight, R{1, 4096}, "",
          "loads and atomics of an SM whose data has not come back");
  v.enter("cost", "unit, latency and initiation interval by class of operation");
  for (unsigned c = 0; c < trace::kOpClasses; ++c)
    v.nested(trace::kOpClassNames[c], cost[c], "cost of one class of operation");
  v.leave();
  v.nested("l1d", l1d, "first-level data cache");
  v.nested("const_cache", const_cache, "first-level constant cache");
}

void check_sm(const MachineSpec& m, SpecRules& r) {
  const SmSpec& s = m.sm;
  r.require(divides(s.schedulers, s.warps), "sm.schedulers must divide sm.warps",
            {{"sm.schedulers", s.schedulers}, {"sm.warps", s.warps}});
  r.require(s.threads <= s.warps * kLanes, "sm.threads needs a warp slot for every 32 threads",
            {{"sm.threads", s.threads}, {"sm.warps", s.warps}});
  r.require(s.max_threads_per_block <= s.threads,
            "sm.max_threads_per_block must not exceed sm.threads",
            {{"sm.max_threads_per_block", s.max_threads_per_block}, {"sm.threads", s.threads}});
  for (unsigned c = 0; c < trace::kOpClasses; ++c) {
    std::string key = std::string("sm.cost.") + trace::kOpClassNames[c] + ".unit";
    bool memory = c == static_cast<unsigned>(trace::OpClass::Memory);
    bool lsu = s.cost[c].unit == Unit::Lsu;
    r.require(lsu == memory, memory ? key + " must be lsu" : key + " must not be lsu",
              {{key, static_cast<unsigned>(s.cost[c].unit)}});
  }
  check_l1(m, r);
}

}  // namespace raddle::timing
