// Fields of a machine: every one has a range and a line of documentation; the rules across fields
// name their keys.
#include "raddle/timing/spec/machine.h"

#include <gtest/gtest.h>

#include <map>
#include <ostream>

#include "support/machines.h"

namespace raddle::machine_test {
namespace {

using timing::MachineSpec;

class Collector final : public FieldVisitor {
 public:
  std::map<std::string, std::string> fields;  // path -> "unit|doc"
  std::vector<std::string> out_of_range;

 private:
  template <class T>
  void number(std::string_view name, T value, Range<T> range, std::string_view unit,
              std::string_view doc) {
    add(name, unit, doc);
    if (value < range.low || value > range.high) out_of_range.push_back(path_ + std::string(name));
  }
  void add(std::string_view name, std::string_view unit, std::string_view doc) {
    EXPECT_FALSE(doc.empty()) << name;
    EXPECT_TRUE(
        fields.emplace(path_ + std::string(name), std::string(unit) + "|" + std::string(doc))
            .second)
        << name << " twice";
  }
  void field(std::string_view n, std::uint32_t& v, Range<std::uint32_t> r, std::string_view u,
             std::string_view d) override {
    number(n, v, r, u, d);
  }
  void field(std::string_view n, std::uint64_t& v, Range<std::uint64_t> r, std::string_view u,
             std::string_view d) override {
    number(n, v, r, u, d);
  }
  void field(std::string_view n, double& v, Range<double> r, std::string_view u,
             std::string_view d) override {
    number(n, v, r, u, d);
  }
  void field(std::string_view n, bool&, std::string_view d) override { add(n, "", d); }
  void field(std::string_view n, std::string&, std::string_view d) override { add(n, "", d); }
  void choice_index(std::string_view n, std::uint32_t& at, std::span<const std::string_view> names,
                    std::string_view d) override {
    add(n, "", d);
    EXPECT_LT(at, names.size());
  }
  void enter(std::string_view name, std::string_view) override {
    stack_.push_back(path_);
    path_ += std::string(name) + ".";
  }
  void leave() override {
    path_ = stack_.back();
    stack_.pop_back();
  }
  std::string path_;
  std::vector<std::string> stack_;
};

TEST(Machine, PathsFollowTheStruct) {
  MachineSpec m = support::large_machine();
  Collector c;
  m.visit(c);
  for (const char* path :
       {"name", "core_clock_mhz", "dispatch_latency_cycles", "sm.count", "sm.cost.fp64_div.latency",
        "sm.cost.int.unit", "sm.cost.memory.interval", "sm.l1d.size_kib", "sm.l1d.write_policy",
        "noc.queue_flits", "l2.slices", "dram.tRCD"})
    EXPECT_TRUE(c.fields.count(path)) << path;
  EXPECT_TRUE(c.out_of_range.empty()) << c.out_of_range[0];
}

TEST(Machine, TestMachinesAreSound) {
  EXPECT_EQ(support::small_machine().violations(), std::vector<std::string>{});
  EXPECT_EQ(support::large_machine().violations(), std::vector<std::string>{});
}

timing::NocSpec& mesh(MachineSpec& m) {
  m.noc.topology = timing::Topology::Mesh;
  return m.noc;
}

struct Broken {
  const char* says;
  void (*breaks)(MachineSpec&);
};
void PrintTo(const Broken& c, std::ostream* out) { *out << '"' << c.says << '"'; }
class MachineRules : public ::testing::TestWithParam<Broken> {};

TEST_P(MachineRules, EachViolationIsTold) {
  MachineSpec m = support::large_machine();
  GetParam().breaks(m);
  std::vector<std::string> notified = m.violations();
  ASSERT_FALSE(notified.empty());
  EXPECT_EQ(notified[0].rfind(GetParam().says, 0), 0u) << notified[0];
  EXPECT_NE(notified[0].find(" is "), std::string::npos) << "keys and values: " << notified[0];
}

INSTANTIATE_TEST_SUITE_P(Rules, MachineRules,
                         ::testing::
                             Values(
                                 Broken{"sm.schedulers must divide sm.warps (sm.schedulers is "
                                        "3, sm.warps is 64)",
                                        [](MachineSpec& m) { m.sm.schedulers = 3; }},
                                 Broken{"sm.threads needs a warp slot for every 32 threads",
                                        [](MachineSpec& m) { m.sm.warps = 32; }},
                                 Broken{"sm.max_threads_per_block must not exceed sm.threads",
                                        [](MachineSpec& m) { m.sm.threads = 512; }},
                                 Broken{"sm.cost.memory.unit must be lsu",
                                        [](MachineSpec& m) {
                                          m.sm.cost[13].unit = timing::Unit::Int;
                                        }},
                                 Broken{
                                     "sm.cost.move.unit must not be lsu",
                                     [](MachineSpec& m) { m.sm.cost[0].unit = timing::Unit::Lsu; }},
                                 Broken{"sm.fetch.cache_line_bytes x sm.fetch.cache_ways must "
                                        "divide sm.fetch.cache_kib",
                                        [](MachineSpec& m) {
                                          m.sm.fetch.cache_kib = 12;
                                          m.sm.fetch.cache_ways = 5;
                                        }},
                                 Broken{"sm.fetch.cache_line_bytes must be a power of two times "
                                        "sm.fetch.instruction_bytes",
                                        [](MachineSpec& m) {
                                          m.sm.fetch.cache_kib = 1;

                                          m.sm.fetch.instruction_bytes = 12;
                                        }},
                                 Broken{"sm.fetch.cache_line_bytes x sm.fetch.l1_ways must "
                                        "divide sm.fetch.l1_kib",
                                        [](MachineSpec& m) {
                                          m.sm.fetch.cache_kib = 1;
                                          m.sm.fetch.l1_kib = 12;
                                          m.sm.fetch.l1_ways = 5;
                                        }},
                                 Broken{"sm.fetch.cycles + sm.fetch.miss_latency_cycles + "
                                        "sm.fetch.l1_miss_latency_cycles must not exceed 960",
                                        [](MachineSpec& m) {
                                          m.sm.fetch.cache_kib = 1;
                                          m.sm.fetch.cycles = 2;
                                          m.sm.fetch.miss_latency_cycles = 959;
                                        }},
                                 Broken{"sm.cost.int.latency and what sm.operands.collectors "
                                        "can add to it are too long",
                                        [](MachineSpec& m) {
                                          m.sm.operands.collectors = 4;
                                          m.sm.cost[1].latency = 910;
                                        }},
                                 Broken{"a product of sm.warpgroup.latency_cycles and what "
                                        "sm.operands.collectors can add to it are too long",
                                        [](MachineSpec& m) {
                                          m.sm.operands.collectors = 4;
                                          m.sm.operands.cycles = 1;
                                          m.sm.warpgroup.latency_cycles = 700;
                                        }},
                                 Broken{"sm.operands.cycles is part of sm.cost.int.latency and "
                                        "must not exceed it",
                                        [](MachineSpec& m) {
                                          m.sm.operands.collectors = 4;
                                          m.sm.operands.cycles = 3;
                                          for (auto& cost : m.sm.cost) cost.latency = 20;
                                          m.sm.cost[1].latency = 2;
                                        }},
                                 Broken{"sm.l1d.line_bytes must be 64 or 128",
                                        [](MachineSpec& m) { m.sm.l1d.line_bytes = 96; }},
                                 Broken{"sm.l1d.sector_bytes must be a power of two that "
                                        "divides line_bytes",
                                        [](MachineSpec& m) { m.sm.l1d.sector_bytes = 48; }},
                                 Broken{"sm.l1d.size_kib must be a whole number of sets",
                                        [](MachineSpec& m) { m.sm.l1d.ways = 3; }},
                                 Broken{"l2.size_kib must be a whole number of sets",
                                        [](MachineSpec& m) { m.l2.size_kib = 97; }},
                                 Broken{"sm.l1d.line_bytes and l2.line_bytes must be equal",
                                        [](MachineSpec& m) { m.sm.l1d.line_bytes = 64; }},
                                 Broken{"l2.sector_bytes must divide sm.l1d.sector_bytes",
                                        [](MachineSpec& m) { m.l2.sector_bytes = 64; }},
                                 Broken{"l2.dram_granularity = \"line\" needs l2.write_miss = "
                                        "\"fetch_on_write\" (l2.write_miss is write_",
                                        [](MachineSpec& m) {
                                          m.l2.dram_granularity = timing::DramGranularity::Line;
                                        }},
                                 Broken{"noc.latency_cycles + dispatch_latency_cycles must not "
                                        "exceed 64",
                                        [](MachineSpec& m) {
                                          m.noc.latency_cycles = 30;
                                          m.dispatch_latency_cycles = 35;
                                        }},
                                 Broken{"noc.queue_flits must hold the largest packet",
                                        [](MachineSpec& m) { m.noc.queue_flits = 4; }},
                                 Broken{"noc.clock_mhz must be 0 or within a factor of 8 of "
                                        "core_clock_mhz",
                                        [](MachineSpec& m) { m.noc.clock_mhz = 100; }},
                                 Broken{"noc.sms_per_port is for a crossbar",
                                        [](MachineSpec& m) { mesh(m).sms_per_port = 2; }},
                                 Broken{"noc.input_speedup is for a crossbar",
                                        [](MachineSpec& m) { mesh(m).input_speedup = 2; }},
                                 Broken{"noc.mesh.columns x noc.mesh.rows must not exceed 1024",
                                        [](MachineSpec& m) {
                                          mesh(m).mesh.columns = 40;
                                          m.noc.mesh.rows = 26;
                                        }},
                                 Broken{
                                     "noc.mesh.sm_nodes must list nodes of the mesh",
                                     [](MachineSpec& m) { mesh(m).mesh.sm_nodes = "0-63,64-79"; }},
                                 Broken{"noc.mesh.slice_nodes must have a node for each L2 slice "
                                        "(nodes listed is 3, "
                                        "needed is 64)",
                                        [](MachineSpec& m) { mesh(m).mesh.slice_nodes = "1,2,3"; }},
                                 Broken{"noc.mesh.memory_nodes must have a node for each memory "
                                        "channel (nodes listed is 2, ",
                                        [](MachineSpec& m) { mesh(m).mesh.memory_nodes = "1,2"; }},
                                 Broken{"(4 + endpoints of one node) x noc.mesh.virtual_channels "
                                        "must not exceed 64",
                                        [](MachineSpec& m) {
                                          mesh(m).mesh.virtual_channels = 8;
                                          m.noc.mesh.rows = 2;
                                        }},
                                 Broken{"(4 + endpoints of one node) x noc.mesh.virtual_channels "
                                        "must not exceed 64 (SMs and L2 slices at one node is 5",
                                        [](MachineSpec& m) {
                                          mesh(m).mesh.virtual_channels = 8;
                                          m.noc.mesh.rows = 4;
                                          m.coherence.ownership = true;
                                        }},
                                 Broken{"dram.drain_low must be below dram.drain_high",
                                        [](MachineSpec& m) { m.dram.drain_low = 32; }},
                                 Broken{"dram.drain_high must not exceed dram.queue",
                                        [](MachineSpec& m) { m.dram.queue = 16; }},
                                 Broken{"l2.slices must not exceed 256 for each of dram.channels",
                                        [](MachineSpec& m) {
                                          m.l2.slices = 257;
                                          m.dram.channels = 1;
                                        }},
                                 Broken{"dram.channels must divide l2.slices",
                                        [](MachineSpec& m) { m.dram.channels = 24; }},
                                 Broken{"dram.bank_groups must divide dram.banks",
                                        [](MachineSpec& m) { m.dram.bank_groups = 3; }},
                                 Broken{"one of dram.burst_bytes and l2.sector_bytes must "
                                        "divide the other",
                                        [](MachineSpec& m) { m.dram.burst_bytes = 48; }},
                                 Broken{"dram.burst_bytes must not exceed l2.line_bytes",
                                        [](MachineSpec& m) { m.dram.burst_bytes = 256; }},
                                 Broken{"dram.interleave_bytes must be a multiple of l2.line_bytes",
                                        [](MachineSpec& m) { m.dram.interleave_bytes = 200; }},
                                 Broken{"dram.row_bytes must be a multiple of l2.line_bytes",
                                        [](MachineSpec& m) { m.dram.row_bytes = 1000; }},
                                 Broken{"dram.tRC must be at least tRAS + tRP",
                                        [](MachineSpec& m) { m.dram.tRC = 30; }},
                                 Broken{"dram.tRAS must be at least tRCD",
                                        [](MachineSpec& m) { m.dram.tRAS = 5; }},
                                 Broken{"dram.tCCDL must be at least tCCDS",
                                        [](MachineSpec& m) { m.dram.tCCDS = 2; }},
                                 Broken{"dram.tRRDL must be at least tRRDS",
                                        [](MachineSpec& m) { m.dram.tRRDS = 4; }},
                                 Broken{"dram.tWTRL must be at least tWTRS",
                                        [](MachineSpec& m) { m.dram.tWTRL = 4; }},
                                 Broken{"the column commands of a line",
                                        [](MachineSpec& m) { m.dram.tCCDL = 16; }},
                                 Broken{"the column commands of a line",
                                        [](MachineSpec& m) { m.dram.bus_bytes_per_cycle = 2; }},
                                 Broken{"dram.interleave_banks must divide dram.banks",
                                        [](MachineSpec& m) { m.dram.interleave_banks = 3; }},
                                 Broken{"dram.interleave_bytes must divide dram.row_bytes where",
                                        [](MachineSpec& m) {
                                          m.dram.interleave_banks = 2;

                                          m.dram.interleave_bytes = 4096;
                                        }},
                                 Broken{"dram.channel_hash = xor needs a power of two",
                                        [](MachineSpec& m) {
                                          m.dram.channels = 5;
                                          m.l2.slices = 10;
                                          m.dram.channel_hash = timing::AddressHash::Xor;
                                        }},
                                 Broken{"dram.bank_hash = xor needs a power of two",
                                        [](MachineSpec& m) {
                                          m.dram.banks = 12;

                                          m.dram.bank_hash = timing::AddressHash::Xor;
                                        }},
                                 Broken{"dram.tREFI must be at least twice tRFC",
                                        [](MachineSpec& m) {
                                          m.dram.refresh = timing::Refresh::AllBank;

                                          m.dram.tREFI = 699;
                                        }},
                                 Broken{"dram.tREFI is too short", [](MachineSpec& m) {
                                          m.dram.refresh = timing::Refresh::PerBank;

                                          m.dram.tREFI = 1000;
                                        }}));

TEST(Machine, NodesAreListedAsRanges) {
  using timing::read_nodes;
  using Nodes = std::vector<std::uint16_t>;
  EXPECT_EQ(read_nodes("0-2,7,5-5", 8, 0), (Nodes{0, 1, 2, 7, 5}));
  EXPECT_EQ(read_nodes("", 8, 4), (Nodes{0, 2, 4, 6})) << "spread evenly";
  for (const char* bad : {"8", "2-1", "a", "1,", ",1", "1 2", "-3", "1-", "1;2", "99999999999"})
    EXPECT_EQ(read_nodes(bad, 8, 0), std::nullopt) << bad;
}

TEST(Machine, SeveralViolationsAreToldTogether) {
  MachineSpec m = support::large_machine();
  m.sm.schedulers = 3;
  m.dram.drain_low = 99;
  m.l2.size_kib = 97;
  EXPECT_EQ(m.violations().size(), 3u);
}

TEST(Machine, SetsNeedNotBeAPowerOfTwo) {
  MachineSpec m = support::large_machine();
  m.sm.l1d.size_kib = 24;
  m.sm.l1d.ways = 8;
  EXPECT_EQ(m.sm.l1d.sets(), 24u);
  EXPECT_TRUE(m.violations().empty());
}

}  // namespace
}  // namespace raddle::machine_test
