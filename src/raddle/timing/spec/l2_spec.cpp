#include "raddle/timing/spec/l2_spec.h"

#include <bit>

#include "raddle/timing/spec/machine.h"

namespace raddle::timing {

namespace {
using R = Range<std::uint32_t>;
}  // namespace

void L2Spec::visit(FieldVisitor& visitor) {
  visitor.field("slices", slices, R{1, kMaxSlices}, "",
                "independent slices, addresses spread over them");
  visitor.field("size_kib", size_kib, R{1, 65536}, "KiB", "capacity of one slice");
  visitor.field("line_bytes", line_bytes, R{64, 128}, "bytes",
                "cache line, equal to that of the L1D");
  visitor.field("sector_bytes", sector_bytes, R{16, 128}, "bytes",
                "part of a line fetched by itself");
  visitor.field("ways", ways, R{1, 256}, "", "lines of a set");
  visitor.field(
      "dirty_ways", dirty_ways, R{1, 256}, "",
      "lines of a set that may be dirty, of more the one used longest ago is written back; as many "
      "as ways or more: all");
  visitor.choice("index", index, kL2Indices, "how the lines of a slice are dealt out to its sets");
  visitor.choice("slice_index", slice_index, kL2Indices,
                 "how the lines of a channel are dealt out to its slices");
  visitor.choice("write_policy", write_policy, kL2WritePolicies,
                 "when written data go to DRAM: when their line is pushed out, or at once");
  visitor.choice(
      "write_miss", write_miss, kL2WriteMisses,
      "write to an absent line: take a way without or with fetching, or pass on to DRAM");
  visitor.choice("dram_granularity", dram_granularity, kDramGranularities,
                 "what a miss fetches and a dirty line writes back: sectors, or all of the line");
  visitor.field("hit_latency_cycles", hit_latency_cycles, R{1, kLongestDelay}, "cycles",
                "from arrival of a request that hits to the departure of its reply");
  visitor.field("mshr_entries", mshr_entries, R{1, 4096}, "", "lines that may be missing at once");
  visitor.field("mshr_merges", mshr_merges, R{1, 256}, "",
                "requests that may wait for one missing line");
  visitor.field("interval_cycles", interval_cycles, R{1, 64}, "cycles",
                "a slice takes one request in that time");
  visitor.field("out_queue", out_queue, R{1, 1024}, "",
                "replies a slice holds beyond one per look-up of its pipeline");
  visitor.field("write_back_queue", write_back_queue, R{1, 1024}, "",
                "lines of a channel's slices on their way to DRAM before look-ups wait");
  visitor.field(
      "atomic_interval_cycles", atomic_interval_cycles, R{1, 64}, "cycles",
      "a slice performs the part of an atomic that lies in atomic_sectors of a line in that time");
  visitor.field(
      "atomic_sectors", atomic_sectors, R{1, 8}, "",
      "sectors of an atomic that a slice performs at once; a line takes several turns if it has "
      "more");
  visitor.field(
      "atomic_word_cycles", atomic_word_cycles, Range<double>{0, 64}, "cycles",
      "a turn takes at least as long for each of the lanes that meet in one word; 0 = they meet "
      "at no cost");
  visitor.field(
      "fabric_sector_cycles", fabric_sector_cycles, Range<double>{0, 64}, "cycles",
      "of a slice for each sector that goes between its half of the L2 and the SMs at the "
      "other; 0 = the L2 has no halves");
}

void check_cache(std::string_view path, std::uint64_t size_kib, std::uint32_t line,
                 std::uint32_t sector, std::uint32_t ways, SpecRules& r) {
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

void check_l2(const MachineSpec& m, SpecRules& r) {
  const L1dSpec& l1 = m.sm.l1d;
  check_cache("l2", m.l2.size_kib, m.l2.line_bytes, m.l2.sector_bytes, m.l2.ways, r);
  r.require(l1.line_bytes == m.l2.line_bytes, "sm.l1d.line_bytes and l2.line_bytes must be equal",
            {{"sm.l1d.line_bytes", l1.line_bytes}, {"l2.line_bytes", m.l2.line_bytes}});
  r.require(divides(m.l2.sector_bytes, l1.sector_bytes),
            "l2.sector_bytes must divide sm.l1d.sector_bytes",
            {{"l2.sector_bytes", m.l2.sector_bytes}, {"sm.l1d.sector_bytes", l1.sector_bytes}});
  r.require(m.l2.dram_granularity != DramGranularity::Line ||
                m.l2.write_miss == L2WriteMiss::FetchOnWrite,
            "l2.dram_granularity = \"line\" needs l2.write_miss = \"fetch_on_write\"",
            {{"l2.write_miss", kL2WriteMisses[static_cast<unsigned>(m.l2.write_miss)]}});
  r.require(m.l2.slices <= std::uint64_t{kMaxSlicesOfChannel} * m.dram.channels,
            "l2.slices must not exceed 256 for each of dram.channels",
            {{"l2.slices", m.l2.slices}, {"dram.channels", m.dram.channels}});
}

}  // namespace raddle::timing
