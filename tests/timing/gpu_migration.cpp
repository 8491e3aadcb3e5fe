// Warps that move between the SMs of a whole GPU: what a move costs to the cycle, that nothing is
// lost or done twice, and that the host's choices change nothing.
#include <gtest/gtest.h>

#include <map>

#include "raddle/timing/spec/parts.h"
#include "raddle/timing/wire/transfer.h"
#include "support/gpu_harness.h"
#include "support/no_fields.h"
#include "support/random_kernel.h"
#include "support/settings.h"

namespace raddle::gpu_migration_test {
namespace {

using namespace raddle::support;
using policy::MigratePolicy;
using policy::MigrateView;
using policy::Passage;
using timing::GpuOptions;

/// A mesh of 3 x 3: six SMs, then slices.
timing::MachineSpec mesh_machine() {
  timing::MachineSpec m = busy_machine();
  m.sm.count = 6;
  m.noc.topology = timing::Topology::Mesh;
  m.noc.mesh.columns = m.noc.mesh.rows = 3;
  m.noc.mesh.sm_nodes = "0-5";
  m.noc.mesh.slice_nodes = "6,7,8,6";
  m.l2.slices = 2;
  m.dram.channels = 2;
  m.noc.mesh.slice_nodes = "6,8";
  return m;
}

class Values final : public test::NoFields {
 public:
  using NoFields::field;
  void field(std::string_view name, std::uint64_t& value, Range<std::uint64_t>, std::string_view,
             std::string_view) override {
    of[std::string(name)] = value;
  }
  std::map<std::string, std::uint64_t> of;
};

std::map<std::string, std::uint64_t> statistics(timing::Gpu& gpu) {
  Values values;
  gpu.visit_policy_statistics("migrate", values);
  return values.of;
}

// --- a policy that does what the test says -------------------------------------------------------

/// What it is to do, and what it has seen.
struct Script {
  Passage passage;
  unsigned slot = 0, from = 0, to = 1;
  Cycle move_from = 0;             ///< as soon as the warp may leave, from this cycle on
  mutable Cycle moved = kNever;    ///< when it left
  mutable Cycle arrived = kNever;  ///< when it was first seen at its guest
};

class Scripted final : public MigratePolicy {
 public:
  explicit Scripted(const Script& script) : script_(script) {}
  Passage passage() const override { return script_.passage; }
  Cycle look(MigrateView& view) override {
    const Cycle now = view.now();
    if (script_.arrived == kNever && view.resident(script_.to) != 0) script_.arrived = now;
    if (script_.moved == kNever && now >= script_.move_from &&
        (view.resident(script_.from) >> script_.slot & 1) != 0 &&
        view.may_leave(script_.from, script_.slot) &&
        view.fits(script_.from, {&script_.slot, 1}, script_.to)) {
      script_.moved = now;
      view.move({script_.from, script_.slot, script_.to});
    }
    return now + 1;
  }

 private:
  const Script& script_;
};

class ScriptedChoice final : public policy::Choice<MigratePolicy> {
 public:
  explicit ScriptedChoice(const Script& script) : script_(script) {}
  std::string_view name() const override { return "scripted"; }
  std::string_view doc() const override { return ""; }
  void visit(FieldVisitor&) override {}
  std::unique_ptr<MigratePolicy> make(const Context&) const override {
    return std::make_unique<Scripted>(script_);
  }
  /// It is in no registry.
  std::unique_ptr<Choice> fresh() const override { return nullptr; }

 private:
  const Script& script_;
};

/// A warp that waits for a load: one block of one warp, which goes to SM 0.
std::unique_ptr<Recording> one_waiting_warp() {
  Code code;
  const auto ld = code.load(1, 10), use = code.alu(2, {1}), ex = code.exit();
  auto r = std::make_unique<Recording>(code, trace::LaunchShape{{1}, {32}, 0});
  r->each_warp([&](WarpWriter& w) { w.lines(ld, {{7}}).op(use).op(ex); });
  return r;
}

constexpr std::uint32_t kContextBytes = 16 * 32 * 4 + 32 + 8 + 12;  // and a load of one piece

std::uint64_t flits_of_transfers(const stats::NocCounters& noc) {
  std::uint64_t out = noc.flits;
  for (const stats::NocTraffic& kind : noc.kind) out -= kind.flits;
  return out;
}

TEST(GpuMigration, AContextIsSoManyFlitsAndItsEndIsOne) {
  const timing::MachineSpec m = mesh_machine();
  Script script;
  GpuHarness gpu(m, {}, std::make_unique<ScriptedChoice>(script));
  gpu.run(*one_waiting_warp());
  ASSERT_NE(script.moved, kNever);
  const timing::PortSpec port(m);
  const timing::Segmentation cut(port.packet, port.largest_packet);
  EXPECT_EQ(flits_of_transfers(gpu->counters().request), cut.flits(kContextBytes) + cut.flits(0));
  const auto seen = statistics(*gpu);
  EXPECT_EQ(seen.at("context_bytes"), kContextBytes);
  EXPECT_EQ(seen.at("messages"), 1u) << "its end";
  EXPECT_EQ(seen.at("orphans"), 1u);
  EXPECT_EQ(gpu->audit(), std::vector<std::string>{});
}

TEST(GpuMigration, OfAContextRegistersThatLiveAreSentIfAllThreadsAreThere) {
  const timing::MachineSpec m = mesh_machine();
  for (const LaneMask mask : {kFullMask, LaneMask{0xffff}}) {
    Code code;
    const auto ld = code.load(1, 10), use = code.alu(2, {1}), ex = code.exit();
    Recording r(code, trace::LaunchShape{{1}, {32}, 0});
    r.each_warp([&](WarpWriter& w) { w.lines(ld, {{7}}).op(use, mask).op(ex); });
    trace::LoweredCode lowered = trace::as_it_is(r.code());
    lowered.live = {9, 5, 0};  // it waits at the second
    Script script;
    GpuHarness gpu(m, {}, std::make_unique<ScriptedChoice>(script));
    gpu->submit({std::shared_ptr<void>(), &r.stream()},
                std::make_shared<const trace::LoweredCode>(lowered), {.name = "k"});
    gpu->run_until_idle();
    ASSERT_NE(script.moved, kNever);
    const std::uint32_t registers = mask == kFullMask ? 5 : 16;
    const std::uint32_t bytes = registers * 32 * 4 + 32 + 8 + 12;
    EXPECT_EQ(statistics(*gpu).at("context_bytes"), bytes);
    const timing::PortSpec port(m);
    const timing::Segmentation cut(port.packet, port.largest_packet);
    EXPECT_EQ(flits_of_transfers(gpu->counters().request), cut.flits(bytes) + cut.flits(0));
  }
}

TEST(GpuMigration, AsksForLiveRegistersOnlyWhereTheyTravel) {
  Script script;
  GpuHarness gpu(mesh_machine(), {}, std::make_unique<ScriptedChoice>(script));
  EXPECT_TRUE(gpu->wants_live_registers());
  script.passage.registers = Passage::Registers::All;
  GpuHarness all(mesh_machine(), {}, std::make_unique<ScriptedChoice>(script));
  EXPECT_FALSE(all->wants_live_registers());
  GpuHarness none(mesh_machine());
  EXPECT_FALSE(none->wants_live_registers());
}

TEST(GpuMigration, AContextArrivesWhenItsLastFlitDoes) {
  timing::MachineSpec m = mesh_machine();
  m.noc.queue_flits = 128;  // no waiting for credits
  for (const unsigned to : {1u, 2u, 5u}) {
    Script script;
    script.to = to;
    script.move_from = 100;  // its request is out of the way, its reply not yet there
    GpuHarness gpu(m, {}, std::make_unique<ScriptedChoice>(script));
    gpu.run(*one_waiting_warp());
    const timing::PortSpec port(m);
    const timing::Segmentation cut(port.packet, port.largest_packet);
    ASSERT_EQ(port.network_mhz, port.core_mhz);
    const Cycle hops = m.noc.mesh.hops(0, to);
    // All flits but the last packet's leave first, one a cycle; then that packet as if alone.
    const unsigned last = cut.segments(kContextBytes) - 1;
    const Cycle rest = port.packet.flits(cut.bytes_of(kContextBytes, last));
    const Cycle mesh =
        (hops + 1) * m.noc.mesh.router_cycles + hops * m.noc.mesh.channel_cycles + rest - 1;
    const Cycle flight =
        cut.flits(kContextBytes) - rest + m.noc.latency_cycles + mesh + m.noc.latency_cycles;
    // It is taken from the network in that cycle, and resident before the next.
    EXPECT_EQ(script.arrived - script.moved, flight + 1) << hops << " hops";
  }
}

TEST(GpuMigration, FreeTransfersAreThereInTheNextCycle) {
  Script script;
  script.passage.transfer = Passage::Transfer::Free;
  GpuHarness gpu(mesh_machine(), {}, std::make_unique<ScriptedChoice>(script));
  gpu.run(*one_waiting_warp());
  EXPECT_EQ(script.arrived, script.moved + 1);
  EXPECT_EQ(flits_of_transfers(gpu->counters().request), 0u);
  EXPECT_EQ(gpu->audit(), std::vector<std::string>{});
}

// --- nothing is lost or done twice ---------------------------------------------------------------

std::unique_ptr<policy::Choice<MigratePolicy>> random_moves(const test::Settings& more = {}) {
  test::Settings settings = {{"interval", "40"}};
  settings.insert(settings.end(), more.begin(), more.end());
  return test::choose(policy::all_policies().migrate, "random", settings);
}

struct Outcome {
  std::uint64_t hash = 0, issued = 0, loads = 0, atomics = 0, stores = 0, blocks = 0, shared = 0;
  std::uint64_t moves = 0, accesses_at_home = 0;
  Cycle cycles = 0;
  bool operator==(const Outcome&) const = default;
};

Outcome outcome(std::uint64_t seed, const GpuOptions& options,
                std::unique_ptr<policy::Choice<MigratePolicy>> migrate) {
  timing::MachineSpec m = mesh_machine();
  if (seed % 2 == 1) {
    m.noc.latency_cycles = 5;
    m.dispatch_latency_cycles = 7;
  }
  if (seed % 3 == 1) m.sm.fetch.cycles = 2;
  if (seed % 4 == 1) m.noc.clock_mhz = m.core_clock_mhz * 2 / 3;
  GpuHarness gpu(m, options, std::move(migrate));
  for (std::uint64_t launch = 0; launch < 2; ++launch)
    gpu.run(*random_kernel(seed + 1000 * launch));
  EXPECT_EQ(gpu->audit(), std::vector<std::string>{}) << "seed " << seed;
  const stats::SmCounters sm = gpu->counters().sm;
  auto seen = statistics(*gpu);
  return {gpu->hash(),           sm.issued, sm.loads,           sm.atomics,
          sm.l1d_stores,         sm.blocks, sm.shared_accesses, seen["warps"],
          seen["home_accesses"], gpu->now()};
}

class RandomMoves : public ::testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Seeds, RandomMoves, ::testing::Range<std::uint64_t>(1, 13));

TEST_P(RandomMoves, LoseNothingAndDoNothingTwice) {
  const Outcome stay = outcome(GetParam(), {}, policy::all_policies().migrate.choose("none"));
  EXPECT_EQ(stay.moves, 0u);
  for (const test::Settings& settings :
       {test::Settings{}, test::Settings{{"shared", "forbid"}}, test::Settings{{"shared", "free"}},
        test::Settings{{"transfer", "free"}}, test::Settings{{"signal_cycles", "5"}},
        test::Settings{{"orphans", "release"}}}) {
    const Outcome moved = outcome(GetParam(), {}, random_moves(settings));
    const std::string what = settings.empty() ? "default" : settings[0].first + settings[0].second;
    EXPECT_EQ(moved.issued, stay.issued) << what;
    EXPECT_EQ(moved.loads, stay.loads) << what << ": each is over once";
    EXPECT_EQ(moved.atomics, stay.atomics) << what;
    EXPECT_EQ(moved.stores, stay.stores) << what;
    EXPECT_EQ(moved.blocks, stay.blocks) << what;
    EXPECT_EQ(moved.shared, stay.shared) << what;
  }
}

TEST_P(RandomMoves, AreTheSameWhateverTheHostDoes) {
  const Outcome usual = outcome(GetParam(), {}, random_moves());
  EXPECT_EQ(usual, outcome(GetParam(), {}, random_moves())) << "twice";
  GpuOptions options;
  options.skip = false;
  EXPECT_EQ(usual, outcome(GetParam(), options, random_moves())) << "no skip";
  options.skip = true;
  options.shuffle = true;
  EXPECT_EQ(usual, outcome(GetParam(), options, random_moves())) << "shuffled";
  options.shuffle = false;
  for (const unsigned threads : {2u, 3u}) {
    options.threads = threads;
    EXPECT_EQ(usual, outcome(GetParam(), options, random_moves())) << threads << " threads";
  }
}

TEST(GpuMigration, TheRandomMovesAreMany) {
  std::uint64_t moves = 0, at_home = 0;
  for (std::uint64_t seed = 1; seed < 13; ++seed) {
    const Outcome moved = outcome(seed, {}, random_moves());
    moves += moved.moves;
    at_home += moved.accesses_at_home;
  }
  EXPECT_GT(moves, 500u);
  EXPECT_GT(at_home, 100u);
}

// --- what it does not go together with -----------------------------------------------------------

TEST(GpuMigration, IsRefusedWithASchemeAndWithCachesThatOwnWords) {
  const auto all = policy::all_policies();
  const auto kernel = all.kernel.choose("fcfs");
  const auto warp = all.warp.choose("gto");
  const auto block = all.block.choose("rr");
  const auto dram = all.dram.choose("frfcfs");
  const auto migrate = random_moves();
  const auto scheme = all.scheme.choose("static");
  timing::PolicyChoices choices;
  choices.kernel = kernel.get();
  choices.warp = warp.get();
  choices.block = block.get();
  choices.dram = dram.get();
  choices.migrate = migrate.get();
  choices.scheme = scheme.get();
  try {
    timing::Gpu gpu(mesh_machine(), choices, {});
    FAIL() << "a scheme and migration";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("policy.scheme.name must be \"none\""),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace raddle::gpu_migration_test
