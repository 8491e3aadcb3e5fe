// Table 1 of Rogers, O'Connor, Aamodt, "Cache-Conscious Wavefront Scheduling", MICRO 2012, against
// gpus/ccws.toml. The table's texture cache is not modelled: KMN reads global memory instead, as in
// section 4.
#include <gtest/gtest.h>

#include <algorithm>

#include "raddle/config/tree.h"
#include "raddle/sim/setup/gpus.h"
#include "raddle/sim/setup/setup.h"
#include "raddle_paths.h"

namespace raddle::ccws_table1_test {
namespace {

using Json = nlohmann::ordered_json;

class CcwsTable1 : public testing::Test {
 protected:
  /// A setting by its path, "sm.l1d.ways".
  Json at(std::string path) const {
    std::ranges::replace(path, '.', '/');
    return config_.at(Json::json_pointer("/" + path));
  }

 private:
  const Json config_ = sim::read_setup(sim::load_gpu("ccws"), policy::all_policies()).config();
};

TEST_F(CcwsTable1, Cores) {
  EXPECT_EQ(at("sm.count"), 30);             // # compute units
  EXPECT_EQ(at("sm.threads"), 1024);         // threads per core
  EXPECT_EQ(at("sm.warps"), 1024 / 32);      // of a wavefront size of 32
  EXPECT_EQ(at("sm.registers"), 16384);      // registers per core
  EXPECT_EQ(at("sm.shared_kib"), 16);        // shared memory per core
  EXPECT_EQ(at("sm.schedulers"), 1);         // one wavefront issue arbiter
  EXPECT_EQ(at("policy.warp.name"), "gto");  // the baseline of figure 7
}

TEST_F(CcwsTable1, Caches) {
  EXPECT_EQ(at("sm.const_cache.size_kib"), 8);
  EXPECT_EQ(at("sm.l1d.size_kib"), 32);
  EXPECT_EQ(at("sm.l1d.line_bytes"), 128);
  EXPECT_EQ(at("sm.l1d.ways"), 8);
  // Section 2: evicts global data on writes and reserves cache lines on misses.
  EXPECT_EQ(at("sm.l1d.write_policy"), "write_evict");
  EXPECT_EQ(at("sm.l1d.reserve_on_miss"), true);
  EXPECT_EQ(at("l2.slices"), at("dram.channels"));
  EXPECT_EQ(at("l2.size_kib"), 128);  // per memory channel
  EXPECT_EQ(at("l2.line_bytes"), 128);
  EXPECT_EQ(at("l2.ways"), 8);
}

TEST_F(CcwsTable1, ClocksAndMemory) {
  // 1300 MHz with pipelines of 8 lanes, as 32 lanes at a quarter of it.
  EXPECT_EQ(at("core_clock_mhz").get<unsigned>() * (32 / 8), 1300u);
  EXPECT_EQ(at("noc.clock_mhz"), 650);
  EXPECT_EQ(at("dram.clock_mhz"), 800);
  EXPECT_EQ(at("dram.channels"), 8);
  EXPECT_EQ(at("dram.queue"), 32);
  EXPECT_EQ(at("policy.dram.name"), "frfcfs");
  EXPECT_EQ(at("dram.tCL"), 10);
  EXPECT_EQ(at("dram.tRP"), 10);
  EXPECT_EQ(at("dram.tRC"), 35);
  EXPECT_EQ(at("dram.tRAS"), 25);
  EXPECT_EQ(at("dram.tRCD"), 12);
  EXPECT_EQ(at("dram.tRRDS"), 8);
  EXPECT_EQ(at("dram.tRRDL"), 8);
  EXPECT_EQ(at("dram.bus_bytes_per_cycle"), 8);
}

// What the experiments set besides is not in the table, so the machine they run on is this one.
TEST_F(CcwsTable1, TheExperimentsSetNothingOfTheTable) {
  const config::Tree paper =
      config::Tree::from_file(std::string(RADDLE_SOURCE_DIR) + "/experiments/ccws/paper.toml");
  const config::Node* set = paper.find("set");
  ASSERT_TRUE(set != nullptr && set->table() != nullptr);
  for (const config::Node::Entry& entry : *set->table()) EXPECT_EQ(entry.key, "l2.sector_bytes");
}

}  // namespace
}  // namespace raddle::ccws_table1_test
