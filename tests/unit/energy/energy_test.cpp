// Energy in closed form: counters times costs, exact to the femtojoule.
#include "raddle/energy/energy.h"

#include <gtest/gtest.h>

#include "support/no_fields.h"

namespace raddle::energy::energy_test {
namespace {

/// A cost table in which every event of a counter costs a number of its own, in fJ.
EnergySpec primes() {
  EnergySpec e;
  e.instruction = Cost(0.002);
  e.register_read = Cost(0.003);
  e.register_write = Cost(0.005);
  for (unsigned c = 0; c < trace::kOpClasses; ++c) e.lane[c] = Cost(0.1 * (c + 1));
  e.constant = Cost(0.007);
  e.shared_pass = Cost(0.011);
  e.l1d_probe = Cost(0.013);
  e.l1d_read = Cost(0.017);
  e.l1d_write = Cost(0.019);
  e.l2_read = Cost(0.023);
  e.l2_write = Cost(0.053);
  e.flit_hop = Cost(0.029);
  e.dram_read_byte = Cost(0.031);
  e.dram_write_byte = Cost(0.059);
  e.dram_activate = Cost(0.037);

  e.dram_refresh = Cost(0.041);
  e.core_active = Cost(0.4);
  e.core_stalled = Cost(0.08);
  e.core_idle = Cost(0.012);
  e.l2_slice_cycle = Cost(0.043);
  e.chip_cycle = Cost(0.047);
  return e;
}

stats::GpuCounters some_counters() {
  stats::GpuCounters n;
  n.sm.issued = 1000;
  n.sm.class_lanes[2] = 50;
  n.sm.class_lanes[9] = 7;
  n.sm.register_reads = 20;
  n.sm.register_writes = 10;
  n.sm.const_accesses = 3;
  n.sm.shared_passes = 4;
  n.sm.l1d_accesses = 100;
  n.sm.l1d_hits = 60;
  n.sm.l1d_pending_hits = 10;
  n.sm.l1d_stores = 5;
  n.sm.l1d_store_hits = 2;
  n.sm.l1d_fills = 30;
  n.request.flit_hops = 8;
  n.reply.flit_hops = 9;
  n.l2.reads = 6;
  n.l2.writes = 5;
  n.l2.atomics = 4;
  n.dram.bytes = 64;
  n.dram.written_bytes = 24;
  n.dram.activates = 2;
  n.dram.refreshes = 1;
  n.scheduler.stall[static_cast<unsigned>(stats::Stall::Idle)] = 500;
  n.scheduler.stall[static_cast<unsigned>(stats::Stall::Memory)] = 300;
  n.scheduler.stall[static_cast<unsigned>(stats::Stall::Unit)] = 200;
  return n;
}

TEST(Energy, EveryEventCostsWhatTheTableSays) {
  const Energy e = dynamic_energy(some_counters(), primes());
  EXPECT_EQ(e.of(Component::FrontEnd), 1000u * 2);
  EXPECT_EQ(e.of(Component::RegisterFile), 20u * 3 + 10 * 5);
  EXPECT_EQ(e.of(Component::Lanes), 50u * 300 + 7 * 1000);
  EXPECT_EQ(e.of(Component::Constant), 3u * 7);
  EXPECT_EQ(e.of(Component::Shared), 4u * 11);
  EXPECT_EQ(e.of(Component::L1d), 105u * 13 + 70 * 17 + 32 * 19);
  EXPECT_EQ(e.of(Component::Noc), 17u * 29);
  EXPECT_EQ(e.of(Component::L2), 10u * 23 + 9 * 53);
  EXPECT_EQ(e.of(Component::Dram), 40u * 31 + 24 * 59 + 2 * 37 + 1 * 41);
  EXPECT_EQ(e.of(Component::StaticCores), 0u);
  EXPECT_EQ(e.total(), e.dynamic_total());
}

TEST(Energy, ALaunchAloneIsIdleWhereItHasNoWarp) {
  stats::GpuCounters n;
  n.sm.issued = 100;
  n.sm.stall[static_cast<unsigned>(stats::Stall::Memory)] = 60;
  n.scheduler.stall[static_cast<unsigned>(stats::Stall::Unit)] = 999;  // of the whole GPU: not its
  // 50 cycles of 4 schedulers, two an SM: 40 scheduler-cycles are left.
  const Energy e = energy_alone(n, primes(), {50, 2, 3}, 4);
  EXPECT_EQ(e.of(Component::StaticCores), (100u * 400 + 60 * 80 + 40 * 12) / 2);
  EXPECT_EQ(e.of(Component::StaticL2), 50u * 3 * 43);
  EXPECT_EQ(e.of(Component::StaticChip), 50u * 47);
  EXPECT_EQ(e.of(Component::FrontEnd), 100u * 2);
}

TEST(Energy, StaticEnergyFollowsSchedulerCyclesAndTime) {
  const Energy e = energy(some_counters(), primes(), {1000, 2, 3});
  EXPECT_EQ(e.of(Component::StaticCores), (1000u * 400 + 500 * 80 + 500 * 12) / 2)
      << "two schedulers share a core's static energy";
  EXPECT_EQ(e.of(Component::StaticL2), 1000u * 3 * 43);
  EXPECT_EQ(e.of(Component::StaticChip), 1000u * 47);
  EXPECT_EQ(e.total() - e.dynamic_total(),
            e.of(Component::StaticCores) + e.of(Component::StaticL2) + e.of(Component::StaticChip));
}

TEST(Energy, ComponentsAddUpToTheTotal) {
  const Energy e = energy(some_counters(), primes(), {1000, 2, 3});
  std::uint64_t sum = 0;
  for (unsigned c = 0; c < kComponents; ++c) sum += e.femtojoule[c];
  EXPECT_EQ(e.total(), sum);
}

TEST(Energy, DynamicEnergyOfPartsAddsUpToThatOfTheWhole) {
  stats::GpuCounters whole = some_counters();
  stats::accumulate(whole, some_counters());
  const Energy part = dynamic_energy(some_counters(), primes()),
               all = dynamic_energy(whole, primes());
  for (unsigned c = 0; c < kComponents; ++c)
    EXPECT_EQ(all.femtojoule[c], 2 * part.femtojoule[c]) << kComponentNames[c];
}

TEST(Energy, NothingHappenedCostsOnlyLeakage) {
  EXPECT_EQ(dynamic_energy({}, primes()).total(), 0u);
  EXPECT_EQ(energy({}, primes(), {10, 1, 1}).total(), 10u * 43 + 10 * 47);
}

/// Hands out the names, and changes one value.
class Prober final : public test::NoFields {
 public:
  explicit Prober(unsigned change) : change_(change) {}
  using FieldVisitor::field;
  void field(std::string_view name, double& value, Range<double> range, std::string_view unit,
             std::string_view) override {
    EXPECT_EQ(unit, "pJ") << name;
    EXPECT_EQ(range.low, 0) << name;
    if (count == change_) value = 0.25;
    ++count;
  }
  unsigned count = 0;

 private:
  unsigned change_;
};

/// A spec is its table's name, then nothing but costs.
constexpr std::size_t kCosts = (sizeof(EnergySpec) - sizeof(std::string)) / sizeof(Cost);

TEST(EnergySpec, EveryCostHasItsOwnKey) {
  Prober all(~0u);
  EnergySpec spec;
  spec.visit(all);
  EXPECT_EQ(all.count, kCosts);
  for (unsigned k = 0; k < all.count; ++k) {
    EnergySpec changed = primes();
    Prober one(k);
    changed.visit(one);
    unsigned differ = 0;
    const EnergySpec before = primes();
    for (std::size_t c = 0; c < kCosts; ++c)
      differ += (&changed.instruction)[c].femtojoule() != (&before.instruction)[c].femtojoule();
    EXPECT_EQ(differ, 1u) << k;
  }
}

TEST(Cost, IsKeptInWholeFemtojoule) {
  EXPECT_EQ(Cost(2.50016).femtojoule(), 2500u);
  EXPECT_EQ(Cost(0.0005).femtojoule(), 1u);
  EXPECT_EQ(Cost(1e6).femtojoule(), 1000000000u);
  EXPECT_EQ(Cost(Cost(5.878).picojoule()).femtojoule(), 5878u) << "read back from a result";
}

}  // namespace
}  // namespace raddle::energy::energy_test
