// What observers of an L1D are told: the cases one by one, and that events add up to the counters.
#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "raddle/base/rng.h"
#include "support/sm_harness.h"

namespace raddle::l1d_events_test {
namespace {

using namespace raddle::support;
using policy::L1Access;
using policy::L1Eviction;
using policy::L1Fill;
using policy::L1Kind;
using policy::L1Outcome;
using timing::WritePolicy;

/// Writes everything down.
class Witness final : public policy::L1Observer {
 public:
  void access(const L1Access& e) override { accesses.push_back(e); }
  void evicted(const L1Eviction& e) override { evictions.push_back(e); }
  void filled(const L1Fill& e) override { fills.push_back(e); }
  void flushed(Cycle at) override { flushes.push_back(at); }
  void warp_started(const policy::WarpStart& e) override { warps.push_back(e); }
  std::uint64_t count(L1Kind kind, L1Outcome outcome) const {
    std::uint64_t n = 0;
    for (const L1Access& e : accesses) n += e.kind == kind && e.outcome == outcome;
    return n;
  }
  std::uint64_t count(L1Eviction::Why why) const {
    std::uint64_t n = 0;
    for (const L1Eviction& e : evictions) n += e.why == why;
    return n;
  }
  std::vector<L1Access> accesses;
  std::vector<L1Eviction> evictions;
  std::vector<L1Fill> fills;
  std::vector<Cycle> flushes;
  std::vector<policy::WarpStart> warps;
};

class L1dEvents : public ::testing::Test {
 protected:
  L1dEvents() {
    machine.sm.l1d.ways = 1;
    machine.sm.l1d.hit_latency_cycles = 28;
  }
  std::uint32_t set() const { return machine.sm.l1d.sets(); }
  void run(Recording& r, Cycle end) {
    SmHarness sm(machine);
    sm.skip = true;
    sm.sm().observe(seen);
    sm.start_block(0, r);
    sm.run(end);
    counters = sm.counters();
    EXPECT_TRUE(sm.sm().idle());
  }
  timing::MachineSpec machine = small_machine();
  Code code;
  std::uint32_t load = code.load(1, 10), used = code.alu(3, {1}), store = code.store(5, 10),
                atomic = code.atomic(6, 10), exit = code.exit();
  Witness seen;
  stats::SmCounters counters;
};

TEST_F(L1dEvents, AnAccessIsToldWithWarpLanesAndInstruction) {
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    w.lines(load, {{100, 0xff, 0xff00}}, 0xff00).op(used).lines(load, {{100, 1, 1}}, 1).op(exit);
  });
  run(r, 400);
  ASSERT_EQ(seen.accesses.size(), 2u);
  const L1Access &a = seen.accesses[0], &b = seen.accesses[1];
  EXPECT_EQ(a.at, 0u);
  EXPECT_EQ(a.line, 100u);
  EXPECT_EQ(a.inst, load);
  EXPECT_EQ(a.lanes, 0xff00u);
  EXPECT_EQ(a.sectors, 1);
  EXPECT_EQ(a.warp, 0);
  EXPECT_EQ(a.kind, L1Kind::Load);
  EXPECT_EQ(a.outcome, L1Outcome::Miss);
  EXPECT_FALSE(a.local);
  EXPECT_EQ(b.outcome, L1Outcome::Hit);
  EXPECT_EQ(b.at, 101u);
  ASSERT_EQ(seen.fills.size(), 1u);
  EXPECT_EQ(seen.fills[0].at, 100u);
  EXPECT_EQ(seen.fills[0].warp, 0);
  EXPECT_EQ(seen.flushes.size(), 1u) << "the kernel's start";
}

TEST_F(L1dEvents, WhoTakesASlotIsToldBeforeItsAccesses) {
  auto r = one_block(code, 3, [&](WarpWriter& w) { w.lines(load, {{100 + w.warp()}}).op(exit); });
  run(r, 400);
  ASSERT_EQ(seen.warps.size(), 3u);
  const std::vector<unsigned> slots = {0, 8, 1};  // dealt over two schedulers
  for (unsigned i = 0; i < 3; ++i) {
    EXPECT_EQ(seen.warps[i].warp, slots[i]);
    EXPECT_EQ(seen.warps[i].index, i);
    EXPECT_EQ(seen.warps[i].block, 0u);
    EXPECT_EQ(seen.warps[i].launch, 0u);
    EXPECT_EQ(seen.warps[i].at, 0u);
  }
}

TEST_F(L1dEvents, SectorsAreThoseTheCacheFetches) {
  machine.sm.l1d.sector_bytes = 128;
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    w.lines(load, {{100, 0xff, 0xff}}, 0xff).op(exit);
  });
  run(r, 400);
  EXPECT_EQ(seen.accesses.at(0).sectors, 0xf);
}

// A store of the first sector and half the second.
TEST_F(L1dEvents, AStoreSaysWhatTheCacheKeepsOfIt) {
  for (const auto& [policy, keeps] :
       std::map<WritePolicy, unsigned>{{WritePolicy::WriteThrough, 0},
                                       {WritePolicy::WriteEvict, 0},
                                       {WritePolicy::WriteBack, 3},
                                       {WritePolicy::WriteValidate, 3},
                                       {WritePolicy::WriteThroughValidate, 1}}) {
    machine.sm.l1d.write_policy = policy;
    seen = {};
    auto r = one_block(code, 1, [&](WarpWriter& w) {
      w.lines(store, {{100, 0xfff, 0xfff}}, 0xfff).op(exit);
    });
    run(r, 900);
    ASSERT_EQ(seen.accesses.size(), 1u);
    EXPECT_EQ(seen.accesses[0].keeps, keeps) << static_cast<unsigned>(policy);
    EXPECT_FALSE(seen.accesses[0].bypass);
  }
}

TEST_F(L1dEvents, ABypassingLoadSaysSo) {
  const std::uint32_t past = code.memory(trace::OpKind::LoadGlobal, {1}, {10}, "ld.global.cg.f32");
  code.raw().instructions[past].bypass_l1 = true;
  auto r = one_block(code, 1, [&](WarpWriter& w) { w.lines(past, {{100}}).op(exit); });
  run(r, 400);
  ASSERT_EQ(seen.accesses.size(), 1u);
  EXPECT_TRUE(seen.accesses[0].bypass);
  EXPECT_EQ(seen.accesses[0].outcome, L1Outcome::Forwarded);
}

// Warp 0 brings a line, slot 8 (the other scheduler's) uses it last, slot 1 pushes it out.
TEST_F(L1dEvents, AnEvictionNamesWhoBroughtTheLineAndWhoUsedItLast) {
  for (bool reserve : {false, true}) {
    machine.sm.l1d.reserve_on_miss = reserve;
    seen = {};
    auto barrier = code.barrier();
    auto r = one_block(code, 3, [&](WarpWriter& w) {
      if (w.warp() == 0) w.lines(load, {{100}}).op(used);
      w.barrier(barrier);
      if (w.warp() == 1) w.lines(load, {{100}}).op(used);
      w.barrier(barrier);
      if (w.warp() == 2) w.lines(load, {{100 + set()}}).op(used);
      w.op(exit);
    });
    run(r, 900);
    ASSERT_EQ(seen.evictions.size(), 1u);
    const L1Eviction& e = seen.evictions[0];
    EXPECT_EQ(e.line, 100u);
    EXPECT_EQ(e.sectors, 0xf);
    EXPECT_EQ(e.brought_by, 0);
    EXPECT_EQ(e.used_by, 8);
    EXPECT_EQ(e.why, L1Eviction::Why::Replaced);
    EXPECT_EQ(e.at, seen.fills[1].at - (reserve ? 100 : 0)) << "at the miss or at the fill";
    EXPECT_EQ(seen.fills[1].warp, 1) << "slot of the third warp";
  }
}

TEST_F(L1dEvents, ARefusalIsToldOnceAndThenTheOutcome) {
  machine.sm.l1d.mshr_entries = 1;
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    w.lines(load, {{100}, {200}, {100}}).op(exit);
  });
  run(r, 400);
  std::vector<L1Outcome> outcomes;
  for (const L1Access& a : seen.accesses) outcomes.push_back(a.outcome);
  EXPECT_EQ(outcomes,
            (std::vector{L1Outcome::Miss, L1Outcome::Refused, L1Outcome::Miss, L1Outcome::Hit}));
}

TEST_F(L1dEvents, StoresAndAtomicsThatRemoveALineSayWhy) {
  machine.sm.l1d.write_policy = WritePolicy::WriteEvict;
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    w.lines(load, {{100}}).op(used).lines(store, {{100}});
    w.lines(load, {{100}}).op(used).lines(atomic, {{100, 1, 1}}).op(exit);
  });
  run(r, 900);
  ASSERT_EQ(seen.evictions.size(), 2u);
  EXPECT_EQ(seen.evictions[0].why, L1Eviction::Why::Written);
  EXPECT_EQ(seen.evictions[1].why, L1Eviction::Why::Invalidated);
  EXPECT_EQ(seen.count(L1Kind::Store, L1Outcome::Forwarded), 1u);
  EXPECT_EQ(seen.count(L1Kind::Atomic, L1Outcome::Forwarded), 1u);
}

TEST_F(L1dEvents, AddUpToTheCounters) {
  for (auto policy : {WritePolicy::WriteThrough, WritePolicy::WriteEvict, WritePolicy::WriteBack,
                      WritePolicy::WriteValidate})
    for (bool reserve : {false, true}) {
      machine.sm.l1d.write_policy = policy;
      machine.sm.l1d.reserve_on_miss = reserve;
      machine.sm.l1d.mshr_entries = 4;
      machine.sm.l1d.mshr_merges = 2;
      machine.sm.l1d.ways = 2;
      seen = {};
      auto block = one_block(code, 8, [&](WarpWriter& writer) {
        Rng rng(writer.warp() + 1);
        for (unsigned i = 0; i < 60; ++i)
          writer.lines(rng.below(4) == 0 ? store : load,
                       {{rng.below(300), 0xffu << rng.below(20)}});
        writer.op(used).op(exit);
      });
      run(block, 60000);
      EXPECT_EQ(seen.count(L1Kind::Load, L1Outcome::Hit), counters.l1d_hits);
      EXPECT_EQ(seen.count(L1Kind::Load, L1Outcome::PendingHit), counters.l1d_pending_hits);
      EXPECT_EQ(seen.count(L1Kind::Load, L1Outcome::Miss), counters.l1d_misses);
      EXPECT_EQ(seen.fills.size(), counters.l1d_fills);
      EXPECT_EQ(seen.count(L1Eviction::Why::Replaced), counters.l1d_evictions);
      const std::uint64_t stores = seen.count(L1Kind::Store, L1Outcome::Hit) +
                                   seen.count(L1Kind::Store, L1Outcome::PendingHit) +
                                   seen.count(L1Kind::Store, L1Outcome::Miss) +
                                   seen.count(L1Kind::Store, L1Outcome::Forwarded);
      EXPECT_EQ(stores, counters.l1d_stores);
      EXPECT_GT(seen.count(L1Kind::Load, L1Outcome::Refused), 0u);
      for (const L1Eviction& eviction : seen.evictions) {
        EXPECT_NE(eviction.brought_by, 0xff);
        EXPECT_NE(eviction.used_by, 0xff);
      }
    }
}

TEST_F(L1dEvents, ListeningChangesNothing) {
  auto r = one_block(code, 8, [&](WarpWriter& w) {
    Rng rng(w.warp() + 1);
    for (unsigned i = 0; i < 60; ++i) w.lines(i % 5 == 0 ? store : load, {{rng.below(300)}});
    w.op(exit);
  });
  run(r, 60000);
  SmHarness quiet(machine);
  quiet.start_block(0, r);
  quiet.run(60000);
  const stats::SmCounters alone = quiet.counters();
  EXPECT_EQ(std::memcmp(&alone, &counters, sizeof counters), 0);
}

}  // namespace
}  // namespace raddle::l1d_events_test
