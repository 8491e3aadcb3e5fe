#include "raddle/timing/dram/dram_spec.h"

#include "raddle/timing/gpu/machine.h"

namespace raddle::timing {

namespace {
using R = Range<std::uint32_t>;
}  // namespace

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

void check_dram(const MachineSpec& m, SpecRules& r) {
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

}  // namespace raddle::timing
