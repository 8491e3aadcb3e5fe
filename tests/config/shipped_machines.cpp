// Every machine of gpus/: it loads, it keeps the rules, what it says about itself adds up, and its
// resolved configuration gives the same machine again.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <regex>
#include <sstream>

#include "raddle/sim/setup/gpus.h"
#include "raddle/sim/setup/setup.h"
#include "raddle_paths.h"

namespace raddle::shipped_machines_test {
namespace {

std::string folder() { return std::string(RADDLE_SOURCE_DIR) + "/gpus/"; }

std::vector<std::string> machines() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder()))
    names.push_back(entry.path().stem());
  std::sort(names.begin(), names.end());
  return names;
}

class Shipped : public testing::TestWithParam<std::string> {
 protected:
  std::string file() const { return folder() + GetParam() + ".toml"; }
  sim::Setup setup() const {
    return sim::read_setup(sim::load_gpu(file()), policy::all_policies());
  }
  /// Of what it extends, then its own.
  std::vector<std::string> lines() const {
    std::vector<std::string> names = sim::load_gpu_with_bases(GetParam()).names, out;
    for (auto name = names.rbegin(); name != names.rend(); ++name) {
      std::ifstream in(folder() + *name + ".toml");
      for (std::string line; std::getline(in, line);) out.push_back(line);
    }
    return out;
  }
};
INSTANTIATE_TEST_SUITE_P(All, Shipped, testing::ValuesIn(machines()),
                         [](const auto& info) { return info.param; });

TEST_P(Shipped, LoadsWithoutViolation) {
  const sim::Setup s = setup();
  EXPECT_EQ(s.machine.name, GetParam());
  EXPECT_FALSE(s.machine.source.empty());
  EXPECT_EQ(s.machine.violations(), std::vector<std::string>{});
}

TEST_P(Shipped, IsEmbeddedInTheProgram) {
  sim::Setup embedded = sim::read_setup(sim::load_gpu(GetParam()), policy::all_policies());
  sim::Setup s = setup();
  EXPECT_EQ(embedded.config(), s.config());
}

TEST_P(Shipped, DumpReadDumpIsTheSame) {
  sim::Setup first = setup();
  const std::string dump = first.config().dump(2);
  sim::Setup second =
      sim::read_setup(config::Tree::from_json(dump, "dump"), policy::all_policies());
  EXPECT_EQ(second.config().dump(2), dump);
}

/// The configuration in a file is that machine again (`--gpu RESULT.json`, `raddle exec`).
void expect_file_gives(sim::Setup setup, const std::string& what) {
  const std::string dump = setup.config().dump(2);
  const std::string path =
      testing::TempDir() + "raddle_shipped_" + std::to_string(::getpid()) + ".json";
  std::ofstream(path) << dump;
  const auto again = [&] {
    return sim::read_setup(sim::load_gpu(path), policy::all_policies()).config().dump(2);
  };
  EXPECT_NO_THROW(EXPECT_EQ(again(), dump) << what) << what;
  std::filesystem::remove(path);
}

TEST_P(Shipped, IsTheSameFromAFileWithEveryPolicy) {
  expect_file_gives(setup(), "as it is");
  const auto with = [&](const std::string& level, const std::string& name) {
    config::Tree tree = sim::load_gpu(file());
    tree.erase("policy." + level);
    tree.set("policy." + level + ".name", name, "test");
    try {
      expect_file_gives(sim::read_setup(tree, policy::all_policies()), level + "=" + name);
    } catch (const InputError&) {
      // That machine and that policy contradict each other.
    }
  };
  const policy::Registries all = policy::all_policies();
#define RADDLE_LEVEL(level, Interface, standard, written, named, doc) \
  for (const std::string& name : all.level.names()) with(#level, name);
#include "raddle/policy/levels.def"
#undef RADDLE_LEVEL
}

TEST_P(Shipped, SaysWhereEveryNumberIsFrom) {
  // A comment beside the number, or one for the whole table behind its name.
  bool table_has_source = false;
  for (const std::string& line : lines()) {
    if (line.starts_with('['))
      table_has_source = line.find("docs/machines.md") != std::string::npos;
    if (line.empty() || line[0] == '#' || line[0] == '[' || line.starts_with("name") ||
        line.starts_with("source") || line.starts_with("extends"))
      continue;
    EXPECT_TRUE(table_has_source || line.find(" # ") != std::string::npos) << line;
  }
}

TEST_P(Shipped, SetsEveryField) {
  // What is left at a default has no source. Only the run's own settings may be missing.
  sim::Setup s = setup();
  const config::Tree tree = sim::load_gpu(file());
  const auto all = s.config();
  const auto flat = all.flatten();
  for (const auto& [pointer, value] : flat.items()) {
    std::string path = pointer.substr(1);
    std::replace(path.begin(), path.end(), '/', '.');
    if (path.starts_with("run.")) continue;
    if (path.starts_with("energy.")) path = "energy.table";
    // What is ideal is a question put to a machine: every machine as it is has nothing ideal.
    if (path.starts_with("ideal.") && value == false) continue;
    // What is switched off needs no numbers.
    if (path.starts_with("sm.shared_units.") && value == false) continue;
    if (path.starts_with("sm.warpgroup.") && s.machine.sm.warpgroup.interval_cycles == 0) continue;
    if (path.starts_with("sm.tma.") && !s.machine.sm.tma.present()) continue;
    if (path.starts_with("sm.cluster.") && !s.machine.sm.cluster.present()) continue;
    if (path.starts_with("sm.barrier_objects.") && !s.machine.sm.barrier_objects.present())
      continue;
    if (path.starts_with("sm.fetch.") && path != "sm.fetch.cache_kib" && !tree.find(path) &&
        s.machine.sm.fetch.cache_kib == 0)
      continue;
    if (path == "l2.fabric_sector_cycles" && value == 0) continue;
    if (path.starts_with("noc.mesh.") && s.machine.noc.topology != timing::Topology::Mesh) continue;
    EXPECT_NE(tree.find(path), nullptr) << path;
  }
}

TEST(EnergyTables, SetEveryCostAndSayWhereItIsFrom) {
  EXPECT_GE(sim::embedded_energy().size(), 5u);
  for (const sim::EmbeddedToml& table : sim::embedded_energy()) {
    SCOPED_TRACE(std::string(table.name));
    const config::Tree tree = sim::load_energy(std::string(table.name));
    config::Tree machine = sim::load_gpu("v100");
    machine.set("energy.table", table.name, "test");
    const auto all = sim::read_setup(machine, policy::all_policies()).config()["energy"];
    const auto flat = all.flatten();
    for (const auto& [pointer, value] : flat.items()) {
      std::string path = "energy." + pointer.substr(1);
      std::replace(path.begin(), path.end(), '/', '.');
      EXPECT_TRUE(path == "energy.table" || tree.find(path)) << path;
    }
    std::istringstream lines{std::string(table.toml)};
    for (std::string line; std::getline(lines, line);)
      EXPECT_TRUE(line.starts_with('#') || line.find(" = ") == line.npos ||
                  line.find(" # ") != line.npos)
          << line;
  }
}

TEST(EnergyTables, AMachinesOwnCostWins) {
  config::Tree machine = sim::load_gpu("gtx480");
  machine.set("energy.table", "v100", "test");
  machine.set("energy.lane_pj.int", "3.5", "test");
  const auto s = sim::read_setup(machine, policy::all_policies());
  EXPECT_EQ(s.energy.lane[1].femtojoule(), 3500u);
  EXPECT_EQ(s.energy.constant.femtojoule(), 6116u) << "of the table";
}

TEST_P(Shipped, BandwidthIsWhatItsCommentSays) {
  const timing::MachineSpec m = setup().machine;
  const timing::DramSpec d = m.dram;
  // One burst takes a whole number of cycles and at least tCCDS.
  const double banks = 1e-3 * d.channels * d.clock_mhz * d.burst_bytes / d.step(false);
  const double fixed =
      1e-3 * d.channels * m.core_clock_mhz * m.l2.line_bytes / d.fixed_interval_cycles;
  const double sustained = d.model == timing::DramModel::Fixed ? fixed : banks;
  double stated = 0;
  std::smatch said;
  for (const std::string& line : lines())
    if (line.starts_with("[dram]") &&
        std::regex_search(line, said, std::regex(R"(= ([0-9.]+) GB/s)")))
      stated = std::stod(said[1]);
  EXPECT_NEAR(sustained, stated, 0.06);
}

TEST_P(Shipped, LatencySumsAreRight) {
  const timing::MachineSpec m = setup().machine;
  const unsigned whole = m.sm.l1d.sector_bytes;  // what a miss of the L1 asks for
  const unsigned flits = (m.noc.header_bytes + whole + m.noc.flit_bytes - 1) / m.noc.flit_bytes;
  const bool mesh = m.noc.topology == timing::Topology::Mesh;  // sums are for the own node
  const double network_cycles = flits - 1 + (mesh ? 2 * m.noc.mesh.router_cycles : 0);
  const double l2 = network_cycles * m.core_clock_mhz /
                        (m.noc.clock_mhz == 0 ? m.core_clock_mhz : m.noc.clock_mhz) +
                    4 * m.noc.latency_cycles + m.l2.hit_latency_cycles;
  const unsigned bursts = (whole + m.dram.burst_bytes - 1) / m.dram.burst_bytes;
  const unsigned data = (bursts - 1) * m.dram.step(true) + m.dram.burst_cycles();
  const double banks = m.dram.extra_latency_cycles + 1.0 * (m.dram.tRCD + m.dram.tCL + data) *
                                                         m.core_clock_mhz / m.dram.clock_mhz;
  const double dram =
      m.dram.model == timing::DramModel::Fixed ? m.dram.fixed_latency_cycles : banks;
  unsigned said_l2 = 0, said_dram = 0;
  std::smatch said;
  for (const std::string& line : lines()) {
    if (std::regex_search(line, said, std::regex(R"(Unloaded L2 hit.* = ([0-9]+))")))
      said_l2 = static_cast<unsigned>(std::stoul(said[1]));
    if (std::regex_search(line, said,
                          std::regex(R"(Unloaded read.* (?:extra|fixed) [0-9]+ = ([0-9]+))")))
      said_dram = static_cast<unsigned>(std::stoul(said[1]));
  }
  EXPECT_NEAR(said_l2, l2, 0.2);
  EXPECT_NEAR(said_dram, l2 + dram, 1.0);
}

// Units are in the keys; these are the conversions the model makes, on known machines.
TEST(Units, CacheSizesAreKibibytes) {
  const auto m =
      sim::read_setup(config::Tree::from_file(folder() + "gtx480.toml"), policy::all_policies())
          .machine;
  EXPECT_EQ(m.sm.l1d.sets(), 32u) << "16 KiB of 4 ways of 128 B";
  EXPECT_EQ(m.l2.sets(), 64u) << "64 KiB of 8 ways of 128 B";
  EXPECT_EQ(m.l2.slices * m.l2.size_kib, 768u);
}

TEST(Units, CcbpHasSetsThatAreNoPowerOfTwo) {
  const auto m =
      sim::read_setup(config::Tree::from_file(folder() + "ccbp.toml"), policy::all_policies())
          .machine;
  EXPECT_EQ(m.sm.l1d.sets(), 24u);
}

TEST(Machines, AreTheOnesPromised) {
  EXPECT_EQ(machines(), (std::vector<std::string>{"a100", "ccbp", "ccws", "ccws_released", "gtx480",
                                                  "h100", "h200", "ikra", "ikra_micro", "laperm",
                                                  "latoa", "rtx3090", "t4", "v100"}));
}

// All that a machine that extends another says is what makes it another machine.
TEST_P(Shipped, SaysNothingAgainThatItExtends) {
  const std::vector<std::string> names = sim::load_gpu_with_bases(GetParam()).names;
  if (names.size() == 1) return;
  const config::Tree base = sim::load_gpu(names[1]);
  const std::function<void(const std::string&, const config::Node&)> compare =
      [&](const std::string& path, const config::Node& node) {
        if (const config::Node::Table* table = node.table()) {
          for (const config::Node::Entry& entry : *table)
            compare(path.empty() ? entry.key : path + "." + entry.key, entry.node);
          return;
        }
        const config::Node* old = base.find(path);
        EXPECT_TRUE(old == nullptr || old->shown() != node.shown()) << path;
      };
  compare("", config::Tree::from_file(file()).root());
}

TEST(Machines, IkraMicroDiffersFromIkraInWhatTable2Says) {
  const auto config = [](const char* name) {
    return sim::read_setup(sim::load_gpu(name), policy::all_policies()).config().flatten();
  };
  const auto large = config("ikra"), micro = config("ikra_micro");
  ASSERT_EQ(large.size(), micro.size());
  std::vector<std::string> differ;
  for (const auto& [path, value] : large.items())
    if (micro.at(path) != value) differ.push_back(path);
  std::ranges::sort(differ);
  EXPECT_EQ(differ, (std::vector<std::string>{"/l2/size_kib", "/name", "/noc/mesh/sm_nodes",
                                              "/sm/count", "/sm/l1d/size_kib", "/source"}));
}

}  // namespace
}  // namespace raddle::shipped_machines_test
