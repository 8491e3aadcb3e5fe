// A rank of its core on its way: from the SM's port, whose state in that cycle it tells, through
// the L2 into a channel's queue. CLAMS (policy/dram/clams.cpp) is who asks for it.
#include <gtest/gtest.h>

#include "raddle/timing/dram/controller_hops.h"
#include "support/dram_rig.h"
#include "support/gpu_harness.h"
#include "support/sm_harness.h"

namespace raddle::test::dram_core_ranks_test {
namespace {

using support::Code;
using support::GpuHarness;
using support::one_block;
using support::Recording;
using support::SmHarness;
using support::WarpWriter;

constexpr unsigned kLast = policy::kLastCoreRank;

// --- in the channel ------------------------------------------------------------------------------

DramRequest read(std::uint32_t line, unsigned core_rank, unsigned tenant = 0) {
  DramRequest request{line, 0, 0, 15, 0, 0, false};
  return request.of(support::tenant(tenant), static_cast<std::uint8_t>(core_rank));
}

// A stream of row hits and a stranger in the same bank: the stranger's rank decides.
TEST(CoreRanks, ACriticalRequestDoesNotWaitForRowHits) {
  const MachineSpec m = one_slice();
  Cycle waits[2];
  for (const unsigned stranger_rank : {0u, 3u}) {
    ChannelRig rig(m, "clams");
    rig.channel.push(0, read(rig.line_of(0, 1, 0), 3));
    rig.run_until(20);
    for (std::uint32_t column = 1; column < 8; ++column)
      rig.channel.push(20, read(rig.line_of(0, 1, column), 3));
    const std::uint32_t stranger = rig.line_of(0, 2, 0);
    rig.channel.push(20, read(stranger, stranger_rank));
    rig.run_until(2'000);
    ASSERT_EQ(rig.done.size(), 9u);
    EXPECT_EQ(rig.checker.first_violation(), "");
    const bool first = stranger_rank == 0;
    for (std::size_t i = 0; i < rig.done.size(); ++i)
      if (rig.done[i].line == stranger) {
        waits[first] = rig.done[i].at;
        EXPECT_EQ(i, first ? 1u : 8u);
      }
  }
  EXPECT_LT(waits[true], waits[false]);
}

TEST(CoreRanks, OfOneRankTheCyclesAreThoseOfFrFcfs) {
  for (const unsigned seed : {1u, 2u}) {
    ChannelRig plain(one_slice()), clams(one_slice(), "clams");
    random_traffic(plain, seed, 30'000);
    random_traffic(clams, seed, 30'000);
    EXPECT_EQ(plain.done, clams.done);
    EXPECT_EQ(words(plain.channel.counters()), words(clams.channel.counters()));
  }
}

TEST(CoreRanks, TenantsRanksComeBeforeThem) {
  const MachineSpec m = one_slice();
  ChannelRig rig(m, "clams");
  policy::Knobs knobs;
  knobs.tenant[1].dram_rank = 1;
  rig.channel.obey(0, knobs);
  // Rows of one bank, so that they go one after the other: the first while it is alone.
  rig.channel.push(0, read(rig.line_of(0, 1, 0), kLast));
  rig.run_until(20);
  std::vector<std::uint32_t> expected = {rig.line_of(0, 1, 0)};
  const auto add = [&](std::uint32_t row, unsigned tenant, unsigned rank) {
    rig.channel.push(20, read(rig.line_of(0, row, 0), rank, tenant));
  };
  add(2, 1, 4);
  add(3, 1, 0);
  add(4, 0, 6);
  add(5, 0, 5);
  for (const std::uint32_t row : {5u, 4u, 3u, 2u}) expected.push_back(rig.line_of(0, row, 0));
  rig.run_until(2'000);
  std::vector<std::uint32_t> order;
  for (const ChannelRig::Done& done : rig.done) order.push_back(done.line);
  EXPECT_EQ(order, expected);
}

// --- through the L2 ------------------------------------------------------------------------------

/// First come first served, with the ranks of what it serves written down.
class Witness final : public policy::DramPolicy {
 public:
  struct Seen {
    bool write;
    unsigned rank;
    bool operator==(const Seen&) const = default;
  };
  explicit Witness(std::vector<Seen>& seen) : seen_(seen) {}
  std::optional<unsigned> pick(const policy::DramView& view) override {
    const unsigned first = view.age.oldest(view.candidates);
    if (!view.issuable.test(first)) return std::nullopt;
    if (view.row_hits.test(first))
      seen_.push_back({view.tags[first].write, view.tags[first].core_rank});
    return first;
  }

 private:
  std::vector<Seen>& seen_;
};

Message ranked(MessageKind kind, std::uint32_t line, unsigned rank, std::uint8_t sectors = 1) {
  Message m = message(kind, line, sectors);
  m.core_rank = static_cast<std::uint8_t>(rank);
  return m;
}

class CoreRanksInTheL2 : public ::testing::Test {
 protected:
  std::vector<Witness::Seen> run(const MachineSpec& m, const std::vector<Message>& messages) {
    std::vector<Witness::Seen> seen;
    PartitionRig rig(m, std::make_unique<Witness>(seen));
    Cycle at = 100;
    for (const Message& message : messages) rig.arrive(at += 10, message);
    rig.run_until(5'000);
    EXPECT_EQ(rig.replies().size(), messages.size());
    return seen;
  }
  MachineSpec m = one_slice();
  using Seen = std::vector<Witness::Seen>;
};

TEST_F(CoreRanksInTheL2, AMissTakesTheRankOfItsRequest) {
  EXPECT_EQ(run(m, {ranked(MessageKind::Read, 0, 5), ranked(MessageKind::Atomic, 64, 2)}),
            (Seen{{false, 5}, {false, 2}}));
}

TEST_F(CoreRanksInTheL2, WhoMergesDoesNotChangeIt) {
  EXPECT_EQ(run(m, {ranked(MessageKind::Read, 0, 5), ranked(MessageKind::Read, 0, 0)}),
            (Seen{{false, 5}}));
}

TEST_F(CoreRanksInTheL2, AnotherSectorOfTheLineHasItsOwn) {
  EXPECT_EQ(run(m, {ranked(MessageKind::Read, 0, 5, 1), ranked(MessageKind::Read, 0, 0, 2)}),
            (Seen{{false, 5}, {false, 0}}));
}

TEST_F(CoreRanksInTheL2, AWriteThatGoesOnHasItsCoresAndALinePushedOutNobodys) {
  m.l2.write_policy = L2WritePolicy::WriteThrough;
  EXPECT_EQ(run(m, {ranked(MessageKind::Write, 0, 3)}), (Seen{{true, 3}}));
  m.l2.write_policy = L2WritePolicy::WriteBack;
  m.l2.size_kib = 2;
  m.l2.ways = 1;
  const AddressMap map(m);
  std::uint32_t other = 1;
  while (map.set(other) != map.set(0)) ++other;
  EXPECT_EQ(run(m, {ranked(MessageKind::Write, 0, 3), ranked(MessageKind::Write, other, 0)}),
            (Seen{{true, kLast}}));
}

TEST_F(CoreRanksInTheL2, AMissOfABankOfDenovoToo) {
  m.coherence.ownership = true;
  m.l2.line_bytes = m.l2.sector_bytes = m.sm.l1d.line_bytes = m.sm.l1d.sector_bytes = 64;
  Message read = ranked(MessageKind::Read, 0, 5);
  read.words = 0xffff;
  EXPECT_EQ(run(m, {read}), (Seen{{false, 5}}));
}

// --- from the SM ---------------------------------------------------------------------------------

class CoreRanksFromTheSm : public ::testing::Test {
 protected:
  CoreRanksFromTheSm() { machine.core_rank_bytes = policy::kCoreRankBytes; }
  std::vector<unsigned> ranks(Recording& r, bool skip = false) {
    SmHarness sm(machine);
    sm.skip = skip;
    sm.start_block(0, r);
    sm.run(3'000);
    std::vector<unsigned> out;
    for (const SmHarness::Sent& sent : sm.sent()) out.push_back(sent.message.core_rank);
    return out;
  }
  MachineSpec machine = support::small_machine();
  Code code;
  std::uint32_t load = code.load(1, 10), use = code.alu(2, {1}), load2 = code.load(3, 11),
                store = code.store(5, 10), exit = code.exit();
};

// Of eight warps one more waits for its data with each request. A request leaves in the cycle of
// its load, after which the warp is at an instruction that waits.
TEST_F(CoreRanksFromTheSm, AreTheStateInTheCycleInWhichARequestLeaves) {
  auto r = one_block(code, 8,
                     [&](WarpWriter& w) { w.lines(load, {{100 + w.warp()}}).op(use).op(exit); });
  const std::vector<unsigned> expected = {7, 6, 5, 4, 3, 2, 1, 0};
  EXPECT_EQ(ranks(r), expected);
  EXPECT_EQ(ranks(r, true), expected) << "skipping";
}

// The second load needs nothing of the first: until it has gone the warp is ready, however long the
// way into the load/store unit is another's.
TEST_F(CoreRanksFromTheSm, AWarpWhoseTurnHasNotComeIsReady) {
  auto r = one_block(code, 8, [&](WarpWriter& w) {
    w.lines(load, {{100 + w.warp()}}).lines(load2, {{200 + w.warp()}}).op(use).op(exit);
  });
  EXPECT_EQ(ranks(r), (std::vector<unsigned>{7, 7, 7, 6, 6, 6, 5, 4, 4, 4, 3, 2, 2, 2, 1, 0}));
}

TEST_F(CoreRanksFromTheSm, AStoreIsWaitedForByNobody) {
  auto r = one_block(code, 1, [&](WarpWriter& w) { w.lines(store, {{100}}).op(exit); });
  EXPECT_EQ(ranks(r), (std::vector<unsigned>{kLast})) << "the warp is ready for its exit";
}

TEST_F(CoreRanksFromTheSm, AreNotThereUnlessAskedFor) {
  machine.core_rank_bytes = 0;
  auto r = one_block(code, 8,
                     [&](WarpWriter& w) { w.lines(load, {{100 + w.warp()}}).op(use).op(exit); });
  EXPECT_EQ(ranks(r), std::vector<unsigned>(8, 0));
}

// --- the byte in the header ----------------------------------------------------------------------

TEST(CoreRankByte, IsInRequestsAndNowhereElse) {
  const PacketSize plain{32, 8, 32}, longer{32, 8, 32, 1};
  const FlitTable before(plain, Direction::Request), after(longer, Direction::Request),
      reply(longer, Direction::Reply);
  Message m = message(MessageKind::Read, 0, 15);
  EXPECT_EQ(before.size(m).bytes, 8);
  EXPECT_EQ(after.size(m).bytes, 9);
  EXPECT_EQ(after.size(m).flits, 1);
  EXPECT_EQ(reply.size(m).bytes, 8 + 128);
  m.kind = MessageKind::Write;
  EXPECT_EQ(before.size(m).bytes, 8 + 128);
  EXPECT_EQ(after.size(m).bytes, 9 + 128);
  EXPECT_EQ(reply.size(m).bytes, 8);
  m.kind = MessageKind::WriteBack;
  m.words = 0xf;
  EXPECT_EQ(after.size(m).bytes, 9 + 16);
  m.kind = MessageKind::Transfer;
  m.words = 100;
  EXPECT_EQ(after.size(m).bytes, 8 + 100) << "no memory controller sees it";
}

TEST(CoreRankByte, MayTakeAnotherFlit) {
  const FlitTable before({32, 32, 32}, Direction::Request),
      after({32, 32, 32, 1}, Direction::Request);
  const Message read = message(MessageKind::Read, 0), write = message(MessageKind::Write, 0, 15);
  EXPECT_EQ(before.flits(read), 1u);
  EXPECT_EQ(after.flits(read), 2u);
  EXPECT_EQ(before.flits(write), 5u);
  EXPECT_EQ(after.flits(write), 6u);
  MachineSpec m = support::small_machine();
  m.noc.flit_bytes = m.noc.header_bytes = 32;
  m.noc.queue_flits = 5;
  EXPECT_TRUE(m.violations().empty());
  EXPECT_EQ(PortSpec(m).largest_packet, 5u);
  m.core_rank_bytes = 1;
  EXPECT_EQ(PortSpec(m).largest_packet, 6u);
  ASSERT_EQ(m.violations().size(), 1u);
  EXPECT_NE(m.violations().front().find("a byte that policy.dram.name adds"), std::string::npos);
}

TEST(CoreRankByte, GoesOnToAControllerAtAnotherNode) {
  MachineSpec m = support::small_machine();
  m.noc.topology = Topology::Mesh;
  m.noc.mesh.columns = m.noc.mesh.rows = 2;
  m.noc.mesh.slice_nodes = "0-1";
  m.noc.mesh.sm_nodes = "2";
  m.noc.mesh.memory_nodes = "3";
  m.core_rank_bytes = 1;
  stats::NocTraffic traffic;
  ControllerHops({m, 0}).count(0, 15, false, traffic);
  EXPECT_EQ(traffic.bytes, m.noc.header_bytes + 1 + m.noc.header_bytes + 128);
}

/// One warp, so that the order in the channel's queue changes no cycle.
stats::GpuCounters of_one_warp(const MachineSpec& m, std::string_view dram, Cycle& cycles) {
  Code code;
  const std::uint32_t load = code.load(1, 10), use = code.alu(2, {1}), store = code.store(1, 10),
                      exit = code.exit();
  auto r = one_block(code, 1, [&](WarpWriter& w) {
    for (std::uint32_t i = 0; i < 20; ++i) {
      w.lines(load, {{100 + i}}).op(use);
      w.lines(store, {{200 + i}});
    }
    w.op(exit);
  });
  GpuHarness gpu(m, {}, "gto", "rr", dram);
  gpu.run(r);
  EXPECT_EQ(gpu->audit(), std::vector<std::string>{});
  cycles = gpu->now();
  return gpu->counters();
}

TEST(CoreRankByte, IsCountedForEveryRequestOfAMachine) {
  for (const Topology topology : {Topology::Crossbar, Topology::Mesh}) {
    MachineSpec m = support::small_machine();
    m.noc.topology = topology;
    if (topology == Topology::Mesh) m.noc.mesh.columns = m.noc.mesh.rows = 2;
    Cycle plain = 0, clams = 0;
    const stats::GpuCounters before = of_one_warp(m, "frfcfs", plain),
                             after = of_one_warp(m, "clams", clams);
    EXPECT_GT(before.request.packets, 30u);
    EXPECT_EQ(after.request.packets, before.request.packets);
    EXPECT_EQ(after.request.bytes, before.request.bytes + before.request.packets);
    EXPECT_EQ(after.request.flits, before.request.flits) << "8 + 1 bytes fit as 8 did";
    EXPECT_EQ(after.reply.bytes, before.reply.bytes);
    EXPECT_EQ(clams, plain);
  }
}

TEST(CoreRankByte, TakesTheTimeOfAnotherFlitWhereItNeedsOne) {
  MachineSpec m = support::small_machine();
  m.noc.flit_bytes = m.noc.header_bytes = 32;
  m.noc.queue_flits = 12;
  Cycle plain = 0, clams = 0;
  const stats::GpuCounters before = of_one_warp(m, "frfcfs", plain),
                           after = of_one_warp(m, "clams", clams);
  EXPECT_EQ(after.request.flits, before.request.flits + before.request.packets);
  EXPECT_GT(clams, plain);
}

}  // namespace
}  // namespace raddle::test::dram_core_ranks_test
