#include "raddle/timing/spec/sm_spec.h"

#include <bit>

#include "raddle/base/limits.h"
#include "raddle/timing/spec/machine.h"

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

void FetchSpec::visit(FieldVisitor& v) {
  v.field("cycles", cycles, R{0, 64}, "cycles",
          "fetch and decode: how much later the first instruction behind a jump can issue");
  v.field("buffer", buffer, R{1, 8}, "", "instructions in a warp's buffer");
  v.field("cache_kib", cache_kib, R{0, 1024}, "KiB",
          "capacity of an instruction cache; 0 = every instruction is there");
  v.field("cache_line_bytes", cache_line_bytes, R{32, 512}, "bytes", "its line");
  v.field("cache_ways", cache_ways, R{1, 64}, "", "lines of its sets");
  v.field("instruction_bytes", instruction_bytes, R{4, 32}, "bytes",
          "size of a machine instruction");
  v.field("miss_latency_cycles", miss_latency_cycles, R{1, kLongestDelay}, "cycles",
          "how much later instructions come that are not in the cache");
  v.field("cache_per_scheduler", cache_per_scheduler,
          "each scheduler has a cache of its own instead of one for the SM");
  v.field("stream_lines", stream_lines, R{0, 64}, "",
          "lines that a stream buffer brings by itself behind a missing one; 0 = none");
  v.field("stream_interval_cycles", stream_interval_cycles, R{1, 255}, "cycles",
          "from a line of that stream to the next");
  v.field("l1_kib", l1_kib, R{0, 1024}, "KiB",
          "capacity of the SM's cache behind those; 0 = everything is there");
  v.field("l1_ways", l1_ways, R{1, 64}, "", "lines of its sets");
  v.field("l1_miss_latency_cycles", l1_miss_latency_cycles, R{1, kLongestDelay}, "cycles",
          "how much later instructions come that are not in it");
  v.field("l1_stream_interval_cycles", l1_stream_interval_cycles, R{1, 255}, "cycles",
          "from a line of its stream to the next");
  v.field("launch_kib", launch_kib, R{0, 1024}, "KiB",
          "code of its kernel that a launch brings into that cache, an l1 miss after it begins");
}

void OperandSpec::visit(FieldVisitor& v) {
  v.field("collectors", collectors, R{0, kMaxCollectors}, "",
          "operand collectors of a scheduler; 0 = operands never come late");
  v.field("banks", banks, R{1, kMaxBanks}, "",
          "register banks of a scheduler, each delivers an operand of 32 lanes a cycle");
  v.field("cycles", cycles, R{1, 64}, "cycles",
          "collection without conflict, part of the latencies of sm.cost");
}

void WarpgroupSpec::visit(FieldVisitor& v) {
  v.field("interval_cycles", interval_cycles, R{0, kMaxInterval}, "cycles",
          "a scheduler's tensor unit is taken by 4096 multiply-adds of f16 of a warpgroup's "
          "product; 0 = as by other products (sm.cost.tensor), which the warp waits for");
  v.field("latency_cycles", latency_cycles, R{0, kLongestDelay - kMaxInterval}, "cycles",
          "of such a product beside the time that it takes the unit");
  v.field("shared_bytes", shared_bytes, R{0, 1024}, "bytes",
          "that shared memory gives an SM's products in a cycle; 0 = no product waits for that");
  v.field("queue", queue, R{1, kMaxQueue}, "products",
          "that a scheduler's tensor unit accepts before it has computed the first of them, A in "
          "shared memory; a warp that has more to issue waits");
  v.field("register_queue", register_queue, R{1, kMaxQueue}, "products",
          "the same, A in registers");
}

void TmaSpec::visit(FieldVisitor& v) {
  v.field("interval_cycles", interval_cycles, R{0, 255}, "cycles",
          "between two lines that the unit for bulk and tensor copies asks for; 0 = no such unit, "
          "the load/store unit makes them");
  v.field("latency_cycles", latency_cycles, R{0, kLongestDelay}, "cycles",
          "from the issue of a copy to its first line");
  v.field("copy_cycles", copy_cycles, R{1, 255}, "cycles",
          "a copy takes the unit at least so long");
  v.field("lines_in_flight", lines_in_flight, R{1, kMaxInFlight}, "",
          "lines that the unit has asked for and that have not come");
  v.field("descriptors", descriptors, R{1, 4096}, "",
          "descriptors of tensors that the unit keeps; others cost a read of 128 bytes");
  v.field("shared_cycles", shared_cycles, R{0, 4}, "cycles",
          "shared memory is taken by a line that is written or read there");
}

void ClusterSpec::visit(FieldVisitor& v) {
  v.field(
      "latency_cycles", latency_cycles, R{0, 500}, "cycles",
      "from issue of a load from another block's shared memory to the issue of its user; 0 = as "
      "the block's own");
  v.field("row_cycles", row_cycles, R{1, kMaxRowCycles}, "cycles",
          "such an access takes the load/store unit for each 128 bytes");
}

void BarrierObjectSpec::visit(FieldVisitor& v) {
  v.field("visible_cycles", visible_cycles, R{0, kLongestDelay}, "cycles",
          "from an arrival at a barrier object to the next instruction of a warp that waits for "
          "it; 0 = sm.cost.barrier.latency");
  v.field("test_cycles", test_cycles, R{0, kLongestDelay}, "cycles",
          "from a test of a barrier object to what needs its answer; 0 = the same");
  v.field("interval_cycles", interval_cycles, R{0, 4}, "cycles",
          "between two arrivals at barrier objects that an SM counts");
}

std::uint32_t RegisterFile::granted(std::uint32_t per_thread) const {
  constexpr std::uint64_t kMaximum = ~std::uint32_t{0};
  const std::uint64_t own = (std::uint64_t{per_thread} * kLanes + unit - 1) / unit * unit;
  return static_cast<std::uint32_t>(std::min(own, kMaximum));
}

std::uint32_t RegisterFile::of_warp(std::uint32_t per_thread) const {
  const std::uint32_t own = granted(per_thread);
  if (own == 0 || partitions == 1) return own;
  const std::uint32_t fit = registers / partitions / own * partitions;
  return fit == 0 ? registers + 1 : registers / fit;
}

void SmSpec::visit(FieldVisitor& visitor) {
  visitor.field("count", count, R{1, kMaxSms}, "", "streaming multiprocessors");
  visitor.field("schedulers", schedulers, R{1, kMaxSchedulers}, "",
                "warp schedulers of an SM, each with its own units but for shared_units");
  visitor.field("warps", warps, R{1, kMaxWarps}, "", "warp slots of an SM");
  visitor.field("blocks", blocks, R{1, 64}, "", "thread blocks resident on an SM at most");
  visitor.field("threads", threads, R{32, 2048}, "", "threads resident on an SM at most");
  visitor.field("registers", registers, R{1024, 1u << 20}, "", "32-bit registers of an SM");
  visitor.field("register_unit", register_unit, R{1, 4096}, "",
                "registers are given to a warp in multiples of this");
  visitor.field("register_partitions", register_partitions, R{1, 8}, "",
                "equal parts of the registers; those of a warp lie in one");
  visitor.field("shared_kib", shared_kib, R{0, 512}, "KiB", "shared memory of an SM");
  visitor.field("shared_unit_bytes", shared_unit_bytes, R{1, 4096}, "bytes",
                "shared memory is given to a block in multiples of this");
  visitor.field(
      "shared_reserved_bytes", shared_reserved_bytes, R{0, 65536}, "bytes",
      "shared memory of each block that the system keeps for itself, beside what its kernel has");
  visitor.field("max_threads_per_block", max_threads_per_block, R{32, 1024}, "",
                "largest block a launch may ask for");
  visitor.field("shared_latency_cycles", shared_latency_cycles, R{1, kLongestDelay}, "cycles",
                "from issue of a conflict-free shared-memory load to the issue of its user");
  visitor.field("const_latency_cycles", const_latency_cycles, R{1, kLongestDelay}, "cycles",
                "the same for constants and kernel parameters that hit");
  visitor.field("barrier_interval_cycles", barrier_interval_cycles, R{0, 4}, "cycles",
                "between two warps that an SM counts at barriers");
  visitor.field("lsu_queue", lsu_queue, R{1, 64}, "",
                "memory instructions waiting in the load/store unit");
  visitor.field("lsu_lines", lsu_lines, R{1, 4}, "",
                "lines or sectors (sm.l1d.coalescing) that the load/store unit serves in a cycle");
  visitor.field("lsu_sector_banks", lsu_sector_banks,
                "the L1D has a bank for each sector of a line: in a cycle a bank serves one line");
  visitor.field("loads_in_flight", loads_in_flight, R{1, 4096}, "",
                "loads and atomics of an SM whose data has not come back");
  visitor.enter("cost", "unit, latency and initiation interval by class of operation");
  for (unsigned op_class = 0; op_class < trace::kOpClasses; ++op_class)
    visitor.nested(trace::kOpClassNames[op_class], cost[op_class],
                   "cost of one class of operation");
  visitor.leave();
  visitor.enter("shared_units",
                "units of which the schedulers share one instead of having one each");
  for (unsigned unit = 0; unit < kUnits; ++unit)
    visitor.field(kUnitNames[unit], shared_unit[unit],
                  "the unit takes instructions of all schedulers");
  visitor.leave();
  visitor.nested("fetch", fetch, "instruction fetch");
  visitor.nested("operands", operands, "operand collection");
  visitor.nested("warpgroup", warpgroup, "products of warpgroups (wgmma)");
  visitor.nested("tma", tma, "bulk and tensor copies (TMA)");
  visitor.nested("cluster", cluster, "distributed shared memory");
  visitor.nested("barrier_objects", barrier_objects, "barriers in shared memory (mbarrier)");
  visitor.nested("l1d", l1d, "first-level data cache");
  visitor.nested("const_cache", const_cache, "first-level constant cache");
}

namespace {
void check_fetch(const FetchSpec& f, SpecRules& r) {
  if (f.cache_kib == 0) return;
  r.require(divides(f.cache_line_bytes * f.cache_ways, f.cache_kib * 1024),
            "sm.fetch.cache_line_bytes x sm.fetch.cache_ways must divide sm.fetch.cache_kib",
            {{"sm.fetch.cache_kib", f.cache_kib},
             {"sm.fetch.cache_line_bytes", f.cache_line_bytes},
             {"sm.fetch.cache_ways", f.cache_ways}});
  r.require(divides(f.instruction_bytes, f.cache_line_bytes) &&
                std::has_single_bit(f.cache_line_bytes / f.instruction_bytes),
            "sm.fetch.cache_line_bytes must be a power of two times sm.fetch.instruction_bytes",
            {{"sm.fetch.instruction_bytes", f.instruction_bytes},
             {"sm.fetch.cache_line_bytes", f.cache_line_bytes}});
  if (f.l1_kib != 0)
    r.require(divides(f.cache_line_bytes * f.l1_ways, f.l1_kib * 1024),
              "sm.fetch.cache_line_bytes x sm.fetch.l1_ways must divide sm.fetch.l1_kib",
              {{"sm.fetch.l1_kib", f.l1_kib},
               {"sm.fetch.cache_line_bytes", f.cache_line_bytes},
               {"sm.fetch.l1_ways", f.l1_ways}});
  const std::uint32_t longest =
      f.cycles + f.miss_latency_cycles + (f.l1_kib != 0 ? f.l1_miss_latency_cycles : 0);
  r.require(longest <= kLongestDelay,
            "sm.fetch.cycles + sm.fetch.miss_latency_cycles + sm.fetch.l1_miss_latency_cycles "
            "must not exceed " +
                std::to_string(kLongestDelay),
            {{"sm.fetch.cycles", f.cycles},
             {"sm.fetch.miss_latency_cycles", f.miss_latency_cycles},
             {"sm.fetch.l1_miss_latency_cycles", f.l1_miss_latency_cycles}});
}

void check_operands(const SmSpec& s, SpecRules& r) {
  if (s.operands.collectors == 0) return;
  for (unsigned c = 0; c < trace::kOpClasses; ++c) {
    std::string key = std::string("sm.cost.") + trace::kOpClassNames[c] + ".latency";
    r.require(s.cost[c].latency + s.operands.latest() <= kLongestDelay,
              key + " and what sm.operands.collectors can add to it are too long together",
              {{key, s.cost[c].latency}, {"sm.operands.collectors", s.operands.collectors}});
    r.require(s.cost[c].latency >= s.operands.cycles,
              "sm.operands.cycles is part of " + key + " and must not exceed it",
              {{"sm.operands.cycles", s.operands.cycles}, {key, s.cost[c].latency}});
  }
  const std::uint32_t product = s.warpgroup.latency_cycles + WarpgroupSpec::kMaxInterval;
  r.require(
      product + s.operands.latest() <= kLongestDelay,
      "a product of sm.warpgroup.latency_cycles and what sm.operands.collectors can add to it "
      "are too long together",
      {{"sm.warpgroup.latency_cycles", s.warpgroup.latency_cycles},
       {"sm.operands.collectors", s.operands.collectors}});
}

void check_barriers(const SmSpec& s, SpecRules& r) {
  const std::uint32_t barrier = s.cost[static_cast<std::size_t>(trace::OpClass::Barrier)].latency;
  r.require(barrier + s.barrier_interval_cycles * SmSpec::kMaxWarps <= kLongestDelay,
            "sm.cost.barrier.latency and what sm.barrier_interval_cycles adds to it for 64 warps "
            "are too long together",
            {{"sm.cost.barrier.latency", barrier},
             {"sm.barrier_interval_cycles", s.barrier_interval_cycles}});
  const BarrierObjectSpec& objects = s.barrier_objects;
  r.require(
      std::max(objects.visible_cycles, barrier) + objects.interval_cycles * SmSpec::kMaxWarps <=
          kLongestDelay,
      "sm.barrier_objects.visible_cycles and what sm.barrier_objects.interval_cycles adds to it "
      "for 64 warps are too long together",
      {{"sm.barrier_objects.visible_cycles", objects.visible_cycles},
       {"sm.barrier_objects.interval_cycles", objects.interval_cycles}});
}
}  // namespace

void check_sm(const MachineSpec& m, SpecRules& r) {
  const SmSpec& s = m.sm;
  r.require(!s.lsu_sector_banks || s.l1d.coalescing == Coalescing::Line,
            "sm.lsu_sector_banks needs sm.l1d.coalescing = \"line\"",
            {{"sm.lsu_sector_banks", s.lsu_sector_banks}});
  check_barriers(s, r);
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
  check_fetch(s.fetch, r);
  check_operands(s, r);
  check_l1(m, r);
}

}  // namespace raddle::timing
