#include "raddle/timing/gpu/machine.h"

#include <algorithm>
#include <bit>

#include "raddle/timing/memory_ports.h"

namespace raddle::timing {

namespace {
using R = Range<std::uint32_t>;
constexpr std::array<std::string_view, 2> kWritePolicyNames = {"write_through", "write_evict"};
// The engine keeps fixed delays in a wheel of this many cycles and arrivals in words of 64.
constexpr std::uint32_t kLongestDelay = 960, kLongestNocWire = 32, kLongestDispatchWire = 48;
}  // namespace

void OpCost::visit(FieldVisitor& v) {
  v.choice("unit", unit, kUnitNames, "execution unit that performs the class");
  v.field("latency", latency, R{1, kLongestDelay}, "cycles",
          "from issue to the issue of an instruction that needs the result");
  v.field("interval", interval, R{1, 255}, "cycles",
          "how long one warp instruction takes the unit");
}

void L1dSpec::visit(FieldVisitor& v) {
  v.field("size_kib", size_kib, R{1, 1024}, "KiB", "capacity of one SM's data cache");
  v.field("line_bytes", line_bytes, R{64, 128}, "bytes", "cache line, 64 or 128");
  v.field("sector_bytes", sector_bytes, R{16, 128}, "bytes",
          "part of a line that is fetched and valid by itself; line_bytes = whole lines");
  v.field("ways", ways, R{1, 256}, "", "lines of a set");
  v.field("hit_latency_cycles", hit_latency_cycles, R{1, kLongestDelay}, "cycles",
          "from issue of a load that hits to the issue of an instruction that needs it");
  v.field("mshr_entries", mshr_entries, R{1, 4096}, "", "lines that may be missing at once");
  v.field("mshr_merges", mshr_merges, R{1, 256}, "", "accesses that may wait for one missing line");
  v.field("miss_queue", miss_queue, R{1, 1024}, "",
          "requests between the cache and the interconnect");
  v.choice(
      "write_policy", write_policy, kWritePolicyNames,
      "write_through updates a line that is present, write_evict removes it; neither allocates");
  v.field("reserve_on_miss", reserve_on_miss, "a way is taken at the miss instead of at the fill");
  v.field("flush_at_kernel_start", flush_at_kernel_start,
          "every line is dropped when a kernel starts");
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
          "the same for constant memory and kernel parameters (always hits)");
  v.field("lsu_queue", lsu_queue, R{1, 64}, "",
          "memory instructions waiting in the load/store unit");
  v.field("loads_in_flight", loads_in_flight, R{1, 4096}, "",
          "loads and atomics of an SM whose data has not come back");
  v.enter("cost", "unit, latency and initiation interval by class of operation");
  for (unsigned c = 0; c < trace::kOpClasses; ++c)
    v.nested(trace::kOpClassNames[c], cost[c], "cost of one class of operation");
  v.leave();
  v.nested("l1d", l1d, "first-level data cache");
}

void NocSpec::visit(FieldVisitor& v) {
  v.field("latency_cycles", latency_cycles, R{1, kLongestNocWire}, "cycles",
          "of each link, each way");
  v.field("flit_bytes", flit_bytes, R{8, 256}, "bytes", "what a port moves in one cycle");
  v.field("header_bytes", header_bytes, R{1, 64}, "bytes", "address and command of a packet");
  v.field("queue_flits", queue_flits, R{1, 255}, "flits", "input queue of a port");
}

void L2Spec::visit(FieldVisitor& v) {
  v.field("slices", slices, R{1, 256}, "", "independent slices, addresses spread over them");
  v.field("size_kib", size_kib, R{1, 65536}, "KiB", "capacity of one slice");
  v.field("line_bytes", line_bytes, R{64, 128}, "bytes", "cache line, equal to that of the L1D");
  v.field("sector_bytes", sector_bytes, R{16, 128}, "bytes", "part of a line fetched by itself");
  v.field("ways", ways, R{1, 256}, "", "lines of a set");
  v.field("hit_latency_cycles", hit_latency_cycles, R{1, kLongestDelay}, "cycles",
          "from arrival of a request that hits to the departure of its reply");
  v.field("mshr_entries", mshr_entries, R{1, 4096}, "", "lines that may be missing at once");
  v.field("mshr_merges", mshr_merges, R{1, 256}, "", "requests that may wait for one missing line");
  v.field("interval_cycles", interval_cycles, R{1, 64}, "cycles",
          "a slice takes one request in that time");
  v.field("atomic_interval_cycles", atomic_interval_cycles, R{1, 64}, "cycles",
          "a slice performs the atomics of one line in that time");
}

void DramSpec::visit(FieldVisitor& v) {
  constexpr R kTiming{1, 1000};
  v.field("channels", channels, R{1, 128}, "", "memory channels");
  v.field("clock_mhz", clock_mhz, R{100, 10000}, "MHz", "command clock");
  v.field("banks", banks, R{1, 64}, "", "banks of a channel");
  v.field("bank_groups", bank_groups, R{1, 16}, "", "groups the banks form");
  v.field("row_bytes", row_bytes, R{256, 16384}, "bytes", "row buffer of a bank");
  v.field("queue", queue, R{2, 128}, "", "requests waiting in a channel");
  v.field("bus_bytes_per_cycle", bus_bytes_per_cycle, R{1, 512}, "bytes",
          "moved by a channel in one command cycle");
  v.field("burst_bytes", burst_bytes, R{8, 256}, "bytes", "moved by one column command");
  v.field("interleave_bytes", interleave_bytes, R{64, 16384}, "bytes",
          "consecutive bytes that stay in one channel");
  v.field("tCL", tCL, kTiming, "memory cycles", "read command to first data");
  v.field("tRCD", tRCD, kTiming, "memory cycles", "activate to column command");
  v.field("tRP", tRP, kTiming, "memory cycles", "precharge to activate");
  v.field("tRAS", tRAS, kTiming, "memory cycles", "activate to precharge");
  v.field("tRC", tRC, kTiming, "memory cycles", "activate to activate of the same bank");
  v.field("tCCD", tCCD, kTiming, "memory cycles", "column command to column command");
  v.field("tRRD", tRRD, kTiming, "memory cycles", "activate to activate of another bank");
  v.field("tWTR", tWTR, kTiming, "memory cycles", "end of write data to read command");
  v.field("tWR", tWR, kTiming, "memory cycles", "end of write data to precharge");
  v.field("tRTP", tRTP, kTiming, "memory cycles", "read command to precharge");
  v.field("extra_latency_cycles", extra_latency_cycles, R{0, 10000}, "cycles",
          "controller and wire, core cycles, added to each read");
  v.field("drain_high", drain_high, R{1, 128}, "", "queued writes that start a write drain");
  v.field("drain_low", drain_low, R{0, 127}, "", "queued writes that end a write drain");
}

void MachineSpec::visit(FieldVisitor& v) {
  v.field("name", name, "name of the machine");
  v.field("source", source, "where its numbers come from");
  v.field("core_clock_mhz", core_clock_mhz, R{100, 10000}, "MHz",
          "clock of SMs, interconnect and L2");
  v.field("launch_latency_cycles", launch_latency_cycles, R{0, 1000000}, "cycles",
          "from a host launch to the first block");
  v.field("dispatch_latency_cycles", dispatch_latency_cycles, R{1, kLongestDispatchWire}, "cycles",
          "from the block dispatcher to an SM and back, each way");
  v.nested("sm", sm, "streaming multiprocessors");
  v.nested("noc", noc, "interconnect between SMs and L2");
  v.nested("l2", l2, "second-level cache");
  v.nested("dram", dram, "device memory");
}

namespace {

/// Collects sentences of the form "<rule> (<key> is <number>, ...)".
class Rules {
 public:
  struct Named {
    std::string_view key;
    std::uint64_t value;
  };
  void require(bool holds, std::string_view rule, std::initializer_list<Named> named) {
    if (holds) return;
    std::string text(rule);
    char open = '(';
    for (const Named& n : named) {
      text += std::string(open == '(' ? " (" : ", ") + std::string(n.key) + " is " +
              std::to_string(n.value);
      open = ',';
    }
    broken_.push_back(text + ")");
  }
  std::vector<std::string> take() { return std::move(broken_); }

 private:
  std::vector<std::string> broken_;
};

bool divides(std::uint64_t part, std::uint64_t whole) { return part != 0 && whole % part == 0; }

void check_sm(const SmSpec& s, Rules& r) {
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
}

void check_cache(std::string_view path, std::uint64_t size_kib, std::uint32_t line,
                 std::uint32_t sector, std::uint32_t ways, Rules& r) {
  auto key = [&](const char* field) { return std::string(path) + field; };
  r.require(line == 64 || line == 128, key(".line_bytes must be 64 or 128"),
            {{key(".line_bytes"), line}});
  r.require(divides(sector, line) && std::has_single_bit(sector),
            key(".sector_bytes must be a power of two that divides line_bytes"),
            {{key(".sector_bytes"), sector}, {key(".line_bytes"), line}});
  r.require(divides(std::uint64_t{ways} * line, size_kib * 1024),
            key(".size_kib must be a whole number of sets (ways x line_bytes)"),
            {{key(".size_kib"), size_kib}, {key(".ways"), ways}, {key(".line_bytes"), line}});
}

void check_caches(const MachineSpec& m, Rules& r) {
  const L1dSpec& l1 = m.sm.l1d;
  check_cache("sm.l1d", l1.size_kib, l1.line_bytes, l1.sector_bytes, l1.ways, r);
  check_cache("l2", m.l2.size_kib, m.l2.line_bytes, m.l2.sector_bytes, m.l2.ways, r);
  r.require(l1.line_bytes == m.l2.line_bytes, "sm.l1d.line_bytes and l2.line_bytes must be equal",
            {{"sm.l1d.line_bytes", l1.line_bytes}, {"l2.line_bytes", m.l2.line_bytes}});
  r.require(divides(m.l2.sector_bytes, l1.sector_bytes),
            "l2.sector_bytes must divide sm.l1d.sector_bytes",
            {{"l2.sector_bytes", m.l2.sector_bytes}, {"sm.l1d.sector_bytes", l1.sector_bytes}});
}

void check_wires(const MachineSpec& m, Rules& r) {
  r.require(m.noc.latency_cycles + m.dispatch_latency_cycles <= 64,
            "noc.latency_cycles + dispatch_latency_cycles must not exceed 64",
            {{"noc.latency_cycles", m.noc.latency_cycles},
             {"dispatch_latency_cycles", m.dispatch_latency_cycles}});
  PacketSize size{m.noc.flit_bytes, m.noc.header_bytes, m.l2.sector_bytes};
  r.require(m.noc.queue_flits >= size.flits(m.l2.line_bytes),
            "noc.queue_flits must hold the largest packet (header_bytes and a whole line)",
            {{"noc.queue_flits", m.noc.queue_flits},
             {"noc.flit_bytes", m.noc.flit_bytes},
             {"noc.header_bytes", m.noc.header_bytes},
             {"l2.line_bytes", m.l2.line_bytes}});
  r.require(size.flits(m.l2.line_bytes) <= 32,
            "a packet with a whole line must not exceed 32 flits",
            {{"noc.flit_bytes", m.noc.flit_bytes}, {"l2.line_bytes", m.l2.line_bytes}});
}

void check_dram(const MachineSpec& m, Rules& r) {
  const DramSpec& d = m.dram;
  r.require(d.drain_low < d.drain_high, "dram.drain_low must be below dram.drain_high",
            {{"dram.drain_low", d.drain_low}, {"dram.drain_high", d.drain_high}});
  r.require(d.drain_high <= d.queue, "dram.drain_high must not exceed dram.queue",
            {{"dram.drain_high", d.drain_high}, {"dram.queue", d.queue}});
  r.require(divides(d.channels, m.l2.slices), "dram.channels must divide l2.slices",
            {{"dram.channels", d.channels}, {"l2.slices", m.l2.slices}});
  r.require(divides(d.bank_groups, d.banks), "dram.bank_groups must divide dram.banks",
            {{"dram.bank_groups", d.bank_groups}, {"dram.banks", d.banks}});
  r.require(divides(d.burst_bytes, m.l2.sector_bytes) || divides(m.l2.sector_bytes, d.burst_bytes),
            "one of dram.burst_bytes and l2.sector_bytes must divide the other",
            {{"dram.burst_bytes", d.burst_bytes}, {"l2.sector_bytes", m.l2.sector_bytes}});
  r.require(d.burst_bytes <= m.l2.line_bytes, "dram.burst_bytes must not exceed l2.line_bytes",
            {{"dram.burst_bytes", d.burst_bytes}, {"l2.line_bytes", m.l2.line_bytes}});
  r.require(divides(m.l2.line_bytes, d.interleave_bytes),
            "dram.interleave_bytes must be a multiple of l2.line_bytes",
            {{"dram.interleave_bytes", d.interleave_bytes}, {"l2.line_bytes", m.l2.line_bytes}});
  r.require(divides(m.l2.line_bytes, d.row_bytes),
            "dram.row_bytes must be a multiple of l2.line_bytes",
            {{"dram.row_bytes", d.row_bytes}, {"l2.line_bytes", m.l2.line_bytes}});
  r.require(d.tRC >= d.tRAS + d.tRP, "dram.tRC must be at least tRAS + tRP",
            {{"dram.tRC", d.tRC}, {"dram.tRAS", d.tRAS}, {"dram.tRP", d.tRP}});
  r.require(d.tRAS >= d.tRCD, "dram.tRAS must be at least tRCD",
            {{"dram.tRAS", d.tRAS}, {"dram.tRCD", d.tRCD}});
}

}  // namespace

std::vector<std::string> MachineSpec::violations() const {
  Rules rules;
  check_sm(sm, rules);
  check_caches(*this, rules);
  check_wires(*this, rules);
  check_dram(*this, rules);
  return rules.take();
}

}  // namespace raddle::timing
