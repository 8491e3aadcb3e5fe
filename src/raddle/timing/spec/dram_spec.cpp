#include "raddle/timing/spec/dram_spec.h"

#include <array>
#include <bit>

#include "raddle/timing/spec/machine.h"

namespace raddle::timing {

namespace {

using R = Range<std::uint32_t>;
constexpr std::array<std::string_view, 2> kModelNames = {"banks", "fixed"};
constexpr std::array<std::string_view, 3> kRefreshNames = {"none", "all_bank", "per_bank"};
constexpr std::array<std::string_view, 3> kHashNames = {"none", "xor", "mix"};
/// Memory cycles in which the column commands of a line must fit: what ColumnSlots plans ahead.
constexpr std::uint32_t kLongestTrain = 31;

void visit_timing(DramSpec& d, FieldVisitor& v) {
  constexpr R kTiming{1, 1000};
  auto timing = [&](std::string_view name, std::uint32_t& value, std::string_view doc) {
    v.field(name, value, kTiming, "memory cycles", doc);
  };
  timing("tCL", d.tCL, "read command to first data");
  timing("tCWL", d.tCWL, "write command to first data");
  timing("tRCD", d.tRCD, "activate to column command");
  timing("tRP", d.tRP, "precharge to activate or refresh");
  timing("tRAS", d.tRAS, "activate to precharge");
  timing("tRC", d.tRC, "activate to activate of the same bank");
  timing("tCCDS", d.tCCDS, "column command to column command of another bank group");
  timing("tCCDL", d.tCCDL, "column command to column command of the same bank group");
  timing("tRRDS", d.tRRDS, "activate to activate of another bank group");
  timing("tRRDL", d.tRRDL, "activate to activate of another bank of the same bank group");
  timing("tFAW", d.tFAW, "time in which at most four banks are activated");
  timing("tWTRS", d.tWTRS, "end of write data to read command of another bank group");
  timing("tWTRL", d.tWTRL, "end of write data to read command of the same bank group");
  timing("tWR", d.tWR, "end of write data to precharge");
  timing("tRTP", d.tRTP, "read command to precharge");
  v.field("turnaround", d.turnaround, R{0, 100}, "memory cycles",
          "data bus idle between read data and write data");
  v.choice("refresh", d.refresh, kRefreshNames,
           "whether rows are refreshed, and how many banks "
           "one command stops");
  v.field("tREFI", d.tREFI, R{100, 100000}, "memory cycles", "each bank is refreshed once in it");
  v.field("tRFC", d.tRFC, R{1, 10000}, "memory cycles",
          "refresh command to activate of the refreshed");
}

}  // namespace

void DramSpec::visit(FieldVisitor& v) {
  v.choice("model", model, kModelNames,
           "banks with rows and all timings; or fixed latency and one line per interval");
  v.field("channels", channels, R{1, 128}, "", "memory channels");
  v.field("clock_mhz", clock_mhz, R{100, 10000}, "MHz", "command clock");
  v.field("banks", banks, R{1, 64}, "", "banks of a channel");
  v.field("bank_groups", bank_groups, R{1, 16}, "", "groups the banks form: bank modulo groups");
  v.field("row_bytes", row_bytes, R{256, 16384}, "bytes", "row buffer of a bank");
  v.field("queue", queue, R{2, 128}, "", "requests waiting in a channel");
  v.field("bus_bytes_per_cycle", bus_bytes_per_cycle, R{1, 512}, "bytes",
          "moved by a channel in one command cycle");
  v.field("burst_bytes", burst_bytes, R{8, 256}, "bytes", "moved by one column command");
  v.field("command_buses", command_buses, R{1, 2}, "",
          "1: one command a cycle; 2: a column command and a row command (HBM)");
  v.field("interleave_bytes", interleave_bytes, R{64, 16384}, "bytes",
          "consecutive bytes that stay in one channel");
  v.field("interleave_banks", interleave_banks, R{1, 64}, "",
          "banks that consecutive interleaves of a channel go round before they fill a row");
  v.choice("channel_hash", channel_hash, kHashNames, "how the channel depends on higher bits");
  v.choice("bank_hash", bank_hash, kHashNames, "how the bank depends on the row");
  visit_timing(*this, v);
  v.field("extra_latency_cycles", extra_latency_cycles, R{0, 10000}, "cycles",
          "controller and wire, core cycles, added to each read");
  v.field("drain_high", drain_high, R{1, 128}, "", "queued writes that start a write drain");
  v.field("drain_low", drain_low, R{0, 127}, "", "queued writes that end a write drain");
  v.field("fixed_latency_cycles", fixed_latency_cycles, R{1, 10000}, "cycles",
          "model fixed: from the start of a read's service to its data");
  v.field("fixed_interval_cycles", fixed_interval_cycles, R{1, 1000}, "cycles",
          "model fixed: a channel starts to serve one line in that time");
}

namespace {

void check_sizes(const MachineSpec& m, SpecRules& r) {
  const DramSpec& d = m.dram;
  r.require(d.drain_low < d.drain_high, "dram.drain_low must be below dram.drain_high",
            {{"dram.drain_low", d.drain_low}, {"dram.drain_high", d.drain_high}});
  r.require(d.drain_high <= d.queue, "dram.drain_high must not exceed dram.queue",
            {{"dram.drain_high", d.drain_high}, {"dram.queue", d.queue}});
  r.require(divides(d.channels, m.l2.slices), "dram.channels must divide l2.slices",
            {{"dram.channels", d.channels}, {"l2.slices", m.l2.slices}});
  r.require(divides(d.burst_bytes, m.l2.sector_bytes) || divides(m.l2.sector_bytes, d.burst_bytes),
            "one of dram.burst_bytes and l2.sector_bytes must divide the other",
            {{"dram.burst_bytes", d.burst_bytes}, {"l2.sector_bytes", m.l2.sector_bytes}});
  r.require(d.burst_bytes <= m.l2.line_bytes, "dram.burst_bytes must not exceed l2.line_bytes",
            {{"dram.burst_bytes", d.burst_bytes}, {"l2.line_bytes", m.l2.line_bytes}});
  r.require(m.l2.line_bytes / d.burst_bytes * d.step(true) <= kLongestTrain,
            "the column commands of a line (l2.line_bytes / dram.burst_bytes, each the longer of "
            "dram.tCCDL and its data) must fit in 31 memory cycles",
            {{"l2.line_bytes", m.l2.line_bytes},
             {"dram.burst_bytes", d.burst_bytes},
             {"dram.bus_bytes_per_cycle", d.bus_bytes_per_cycle},
             {"dram.tCCDL", d.tCCDL}});
}

void check_mapping(const MachineSpec& m, SpecRules& r) {
  const DramSpec& d = m.dram;
  r.require(divides(d.bank_groups, d.banks), "dram.bank_groups must divide dram.banks",
            {{"dram.bank_groups", d.bank_groups}, {"dram.banks", d.banks}});
  r.require(divides(m.l2.line_bytes, d.interleave_bytes),
            "dram.interleave_bytes must be a multiple of l2.line_bytes",
            {{"dram.interleave_bytes", d.interleave_bytes}, {"l2.line_bytes", m.l2.line_bytes}});
  r.require(divides(m.l2.line_bytes, d.row_bytes),
            "dram.row_bytes must be a multiple of l2.line_bytes",
            {{"dram.row_bytes", d.row_bytes}, {"l2.line_bytes", m.l2.line_bytes}});
  r.require(divides(d.interleave_banks, d.banks), "dram.interleave_banks must divide dram.banks",
            {{"dram.interleave_banks", d.interleave_banks}, {"dram.banks", d.banks}});
  r.require(d.interleave_banks == 1 || divides(d.interleave_bytes, d.row_bytes),
            "dram.interleave_bytes must divide dram.row_bytes where dram.interleave_banks is above "
            "1",
            {{"dram.interleave_bytes", d.interleave_bytes}, {"dram.row_bytes", d.row_bytes}});
  r.require(d.channel_hash != AddressHash::Xor || std::has_single_bit(d.channels),
            "dram.channel_hash = xor needs a power of two of dram.channels",
            {{"dram.channels", d.channels}});
  r.require(d.bank_hash != AddressHash::Xor || std::has_single_bit(d.banks),
            "dram.bank_hash = xor needs a power of two of dram.banks", {{"dram.banks", d.banks}});
}

void check_timing(const DramSpec& d, SpecRules& r) {
  r.require(d.tRC >= d.tRAS + d.tRP, "dram.tRC must be at least tRAS + tRP",
            {{"dram.tRC", d.tRC}, {"dram.tRAS", d.tRAS}, {"dram.tRP", d.tRP}});
  r.require(d.tRAS >= d.tRCD, "dram.tRAS must be at least tRCD",
            {{"dram.tRAS", d.tRAS}, {"dram.tRCD", d.tRCD}});
  r.require(d.tCCDL >= d.tCCDS, "dram.tCCDL must be at least tCCDS",
            {{"dram.tCCDL", d.tCCDL}, {"dram.tCCDS", d.tCCDS}});
  r.require(d.tRRDL >= d.tRRDS, "dram.tRRDL must be at least tRRDS",
            {{"dram.tRRDL", d.tRRDL}, {"dram.tRRDS", d.tRRDS}});
  r.require(d.tWTRL >= d.tWTRS, "dram.tWTRL must be at least tWTRS",
            {{"dram.tWTRL", d.tWTRL}, {"dram.tWTRS", d.tWTRS}});
  if (d.refresh == Refresh::None) return;
  r.require(d.tREFI >= 2 * d.tRFC, "dram.tREFI must be at least twice tRFC",
            {{"dram.tREFI", d.tREFI}, {"dram.tRFC", d.tRFC}});
  // A refresh must be over before the next is due: close (a write just begun), then refresh.
  const std::uint32_t close = std::max(d.tRAS, d.tCWL + kLongestTrain + d.tWR) + d.tRP;
  const std::uint32_t interval = d.refresh_interval();
  r.require(interval > close + (d.refresh == Refresh::AllBank ? d.tRFC : 0),
            "dram.tREFI is too short: the next refresh would be due before a bank is closed",
            {{"dram.tREFI", d.tREFI}, {"dram.banks", d.banks}, {"dram.tRFC", d.tRFC}});
}

}  // namespace

void check_dram(const MachineSpec& m, SpecRules& r) {
  check_sizes(m, r);
  check_mapping(m, r);
  check_timing(m.dram, r);
}

}  // namespace raddle::timing
