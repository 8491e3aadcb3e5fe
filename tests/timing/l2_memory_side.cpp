// The whole memory side with mock SMs: everything that goes in comes out, and sleeping changes
// nothing.
#include <gtest/gtest.h>

#include "support/memory_mocks.h"

namespace raddle::test::l2_memory_side_test {
namespace {

/// `count` random requests of one requester; some lines are shared by all.
Requester::Source mix(std::uint64_t seed, unsigned sm, unsigned count, unsigned footprint,
                      unsigned pause) {
  auto rng = std::make_shared<Rng>(seed * 1000 + sm);
  return [=, left = count, line = 0u](Message& m) mutable {
    if (left-- == 0) return false;
    if (rng->below(pause) == 0) line = rng->below(footprint);
    unsigned kind = rng->below(10);
    m = message(kind < 6   ? MessageKind::Read
                : kind < 8 ? MessageKind::Write
                : kind < 9 ? MessageKind::Atomic
                           : MessageKind::Reduce,
                rng->below(8) == 0 ? rng->below(16) : line++,
                static_cast<std::uint8_t>(1 + rng->below(15)), static_cast<std::uint16_t>(left));
    return true;
  };
}

struct Outcome {
  Cycle end;
  std::vector<std::uint64_t> everything;
  bool operator==(const Outcome&) const = default;
};

Outcome soak(const MachineSpec& m, std::uint64_t seed, unsigned limit, bool skip,
             std::string_view policy) {
  MemoryRig rig(
      m, limit, skip, [&](unsigned sm) { return mix(seed, sm, 600, 4000, 10); }, policy);
  Cycle end = rig.run(5'000'000);
  std::uint64_t sent = 0, received = 0, served = 0, hits = 0;
  for (auto& r : rig.requesters()) {
    sent += r->sent;
    received += r->received;
  }
  for (auto& p : rig.partitions()) {
    stats::L2Counters c = p->l2_counters();
    served += c.reads + c.writes + c.atomics;
    hits += c.hits + c.pending_hits + c.misses;
    for (const std::string& law : p->audit()) ADD_FAILURE() << law;
  }
  EXPECT_NE(end, kNever) << "requests are stuck";
  EXPECT_EQ(sent, 600u * m.sm.count);
  EXPECT_EQ(received, sent);
  EXPECT_EQ(served, sent);
  EXPECT_EQ(hits, sent);
  EXPECT_EQ(rig.request().counters().packets, sent);
  EXPECT_EQ(rig.reply().counters().packets, sent);
  return {end, rig.everything()};
}

MachineSpec odd_machine() {
  MachineSpec m = small_machine();
  m.sm.count = 7;
  m.l2.slices = 9;
  m.dram.channels = 3;
  m.l2.size_kib = 24;
  m.l2.ways = 6;
  m.core_clock_mhz = 1447;
  m.dram.clock_mhz = 850;
  m.dram.extra_latency_cycles = 60;
  m.l2.interval_cycles = 2;
  m.l2.mshr_entries = 5;
  m.l2.mshr_merges = 2;
  m.dram.queue = 12;
  m.dram.drain_high = 6;
  m.dram.drain_low = 1;
  m.noc.queue_flits = 8;
  return m;
}

TEST(MemorySide, RequestsInAreRepliesOut) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    soak(small_machine(), seed, 32, true, "frfcfs");
    soak(odd_machine(), seed, 32, true, "frfcfs");
  }
}

TEST(MemorySide, WritesAreServedAlsoIfTheHighMarkIsOutOfReach) {
  MachineSpec m = odd_machine();
  m.dram.drain_high =
      m.dram.queue;  // write-backs leave places to reads, so the mark is never reached
  soak(m, 4, 32, true, "frfcfs");
}

TEST(MemorySide, SleepingChangesNothing) {
  for (const std::string& policy : policy::all_policies().dram.names())
    for (unsigned limit : {1u, 4u, 64u}) {
      EXPECT_EQ(soak(small_machine(), 7, limit, true, policy),
                soak(small_machine(), 7, limit, false, policy))
          << policy << " limit " << limit;
      EXPECT_EQ(soak(odd_machine(), 8, limit, true, policy),
                soak(odd_machine(), 8, limit, false, policy))
          << policy << " limit " << limit;
    }
}

/// Slices hand replies to the wire ahead of time; with a fast network several in one core cycle.
/// Look-ups wait for places of the few write-backs that cleaned lines need.
TEST(MemorySide, SleepingChangesNothingWhereFewLinesMayBeDirty) {
  for (std::uint64_t seed : {10, 11}) {
    MachineSpec m = seed == 10 ? small_machine() : odd_machine();
    m.l2.dirty_ways = 1;
    m.l2.write_back_queue = 1;
    EXPECT_EQ(soak(m, seed, 64, true, "frfcfs"), soak(m, seed, 64, false, "frfcfs")) << seed;
  }
}

TEST(MemorySide, SleepingChangesNothingWhereDramMovesLines) {
  for (std::uint64_t seed : {12, 13}) {
    MachineSpec m = seed == 12 ? small_machine() : odd_machine();
    m.l2.write_miss = L2WriteMiss::FetchOnWrite;
    m.l2.dram_granularity = DramGranularity::Line;
    EXPECT_EQ(soak(m, seed, 64, true, "frfcfs"), soak(m, seed, 64, false, "frfcfs")) << seed;
  }
}

TEST(MemorySide, SleepingChangesNothingAtAnyClockOfTheNetwork) {
  for (unsigned mhz : {500u, 1300u, 3000u, 8000u}) {
    MachineSpec m = small_machine();
    m.core_clock_mhz = 1000;
    m.noc.clock_mhz = mhz;
    EXPECT_EQ(soak(m, 9, 64, true, "frfcfs"), soak(m, 9, 64, false, "frfcfs")) << mhz << " MHz";
  }
}

TEST(MemorySide, IsolatedReadCrossesEveryWireOnce) {
  MachineSpec m = one_slice();
  MemoryRig rig(m, 1, true, [](unsigned sm) -> Requester::Source {
    return [left = sm == 0 ? 1 : 0](Message& out) mutable {
      if (left-- == 0) return false;
      out = message(MessageKind::Read, 9, 0b1111);
      return true;
    };
  });
  Cycle expected = 2 * m.noc.latency_cycles  // request
                   + closed_read(m.dram, 4) + m.l2.hit_latency_cycles + 2 * m.noc.latency_cycles +
                   4;  // reply: its last flit
  Cycle end = rig.run(1000);
  EXPECT_GE(end, expected);
  EXPECT_LT(end, expected + 1 + m.noc.latency_cycles);  // the window in which it arrived
}

TEST(MemorySide, PartitionsWithSeveralSlicesShareTheChannelFairly) {
  MachineSpec m = small_machine();
  m.l2.slices = 8;
  m.sm.count = 8;
  MemoryRig rig(m, 64, true, [](unsigned sm) -> Requester::Source {
    return [line = sm * 100'000u, left = 2000](Message& out) mutable {
      if (left-- == 0) return false;
      out = message(MessageKind::Read, line++, 0b1111);
      return true;
    };
  });
  ASSERT_NE(rig.run(1'000'000), kNever);
  for (auto& p : rig.partitions())
    for (unsigned i = 0; i < p->slices(); ++i)
      EXPECT_NEAR(static_cast<double>(p->slice_counters(i).reads), 2000, 200);
}

TEST(MemorySide, FullLoadIsLimitedByDramAlone) {
  MachineSpec m = small_machine();
  m.sm.count = 16;
  m.l2.mshr_entries = 64;
  const unsigned each = 4000;
  MemoryRig rig(m, 64, true, [](unsigned sm) -> Requester::Source {
    return [line = sm * each, left = each](Message& out) mutable {
      if (left-- == 0) return false;
      out = message(MessageKind::Read, line++, 0b1111);
      return true;
    };
  });
  Cycle end = rig.run(10'000'000);
  double lines_per_cycle = 16.0 * each / static_cast<double>(end);
  double possible = 2 / 8.0;  // two channels, four bursts of two cycles a line
  EXPECT_GT(lines_per_cycle / possible, 0.85);
}

}  // namespace
}  // namespace raddle::test::l2_memory_side_test
