// A warp that is abroad, its block's barriers and shared memory at home, and the port through which
// contexts leave: to the cycle, between two SMs.
#include <gtest/gtest.h>

#include <algorithm>

#include "raddle/timing/spec/parts.h"
#include "support/migration_rig.h"

namespace raddle::sm_home_calls_test {
namespace {

using namespace raddle::support;

// --- barriers and shared memory at home ----------------------------------------------------------

class SmMigrationAtHome : public SmMigration {
 protected:
  static constexpr auto kRemote = policy::Passage::Shared::Remote;
  /// Two warps load a line each, and the second, in slot 8, goes abroad while it waits.
  void start_and_move(Neighbours& sms, Recording& r) {
    sms.start(r, 2);
    sms.run(20);
    ASSERT_EQ(sms.may_leave(8), ExportRefusal::None);
    guest_slot = sms.move(8);
  }
  unsigned guest_slot = 0;
};

TEST_F(SmMigrationAtHome, ABarrierOpensWhenTheHomeHasHeardOfAllAndTheGuestHearsOfIt) {
  const auto ld = code.load(1, 10), use = code.alu(2, {1}), bar = code.barrier(), ex = code.exit();
  auto r = one_block(
      code, 2, [&](WarpWriter& w) { w.lines(ld, {{7 + w.warp()}}).op(use).barrier(bar).op(ex); });
  SmHarness alone(machine);
  alone.start_block(0, r);
  alone.run(600);
  const Cycle last = std::max(alone.issue_times(0)[2], alone.issue_times(8)[2]);
  const Cycle opens = alone.issue_times(0)[3] - last;

  Neighbours sms(machine, kRemote);
  start_and_move(sms, r);
  sms.run(800);
  const std::vector<Cycle> here = sms.home.issue_times(0);
  const std::vector<Cycle> there = sms.guest.issue_times(guest_slot);
  ASSERT_EQ(here.size(), 4u);
  ASSERT_EQ(there.size(), 3u) << "all but the load";
  ASSERT_GT(there[1], here[2]) << "the guest's warp is the last at the barrier";
  EXPECT_EQ(here[3], there[1] + 1 + opens) << "it is told in the next cycle";
  EXPECT_EQ(there[2], there[1] + 2 + opens) << "and answered in the one after";
  EXPECT_EQ(sms.home.ended().size(), 1u);
  sms.expect_all_over(machine.sm);
}

// The guest's warp waits at the barrier for one at home.
TEST_F(SmMigrationAtHome, AWarpAbroadWaitsForThoseAtHome) {
  const auto ld = code.load(1, 10), use = code.alu(2, {1}), bar = code.barrier(),
             nap = code.sleep(), ex = code.exit();
  auto r = one_block(code, 2, [&](WarpWriter& w) {
    w.lines(ld, {{7 + w.warp()}}).op(use);
    if (w.warp() == 0) w.passes(nap, 9);
    w.barrier(bar).op(ex);
  });
  Neighbours sms(machine, kRemote);
  start_and_move(sms, r);
  sms.run(1600);
  const std::vector<Cycle> here = sms.home.issue_times(0);
  const std::vector<Cycle> there = sms.guest.issue_times(guest_slot);
  ASSERT_EQ(here.size(), 5u);
  ASSERT_EQ(there.size(), 3u);
  ASSERT_LT(there[1], here[3]);
  EXPECT_EQ(there[2], here[4] + 1) << "it hears of it in the next cycle";
  sms.expect_all_over(machine.sm);
}

// A warp that ends abroad is not waited for.
TEST_F(SmMigrationAtHome, ABarrierDoesNotWaitForAWarpThatHasEndedAbroad) {
  const auto ld = code.load(1, 10), use = code.alu(2, {1}), bar = code.barrier(), ex = code.exit();
  auto r = one_block(code, 2, [&](WarpWriter& w) {
    w.lines(ld, {{7 + w.warp()}}).op(use);
    if (w.warp() == 0) w.barrier(bar);
    w.op(ex);
  });
  Neighbours sms(machine, kRemote);
  start_and_move(sms, r);
  sms.run(800);
  EXPECT_EQ(sms.home.issue_times(0).size(), 4u);
  EXPECT_EQ(sms.home.ended().size(), 1u);
  sms.expect_all_over(machine.sm);
}

TEST_F(SmMigrationAtHome, SharedMemoryIsReadAtHome) {
  const auto ld = code.load(1, 10), use = code.alu(2, {1}), ls = code.load_shared(3, 2),
             then = code.alu(4, {3}), ex = code.exit();
  auto r = one_block(code, 2, [&](WarpWriter& w) {
    w.lines(ld, {{7 + w.warp()}}).op(use).passes(ls, 2).op(then).op(ex);
  });
  SmHarness alone(machine);
  alone.start_block(0, r);
  alone.run(600);
  // The other warp's access is before it or behind it.
  const Cycle takes = std::min(alone.issue_times(8)[3] - alone.issue_times(8)[2],
                               alone.issue_times(0)[3] - alone.issue_times(0)[2]);

  Neighbours sms(machine, kRemote);
  start_and_move(sms, r);
  sms.run(800);
  const std::vector<Cycle> there = sms.guest.issue_times(guest_slot);
  ASSERT_EQ(there.size(), 4u);
  EXPECT_EQ(there[2] - there[1], takes + 2) << "a cycle each way";
  EXPECT_EQ(sms.home.counters().shared_accesses, 2u);
  EXPECT_EQ(sms.home.counters().shared_passes, 4u);
  EXPECT_EQ(sms.guest.counters().shared_accesses, 0u);
  EXPECT_EQ(sms.guest.sm().migration().counters().home_accesses, 1u);
  sms.expect_all_over(machine.sm);
}

TEST_F(SmMigrationAtHome, AWarpDoesNotEndBeforeItsStoresToSharedMemoryAreDone) {
  const auto ld = code.load(1, 10), use = code.alu(2, {1}), st = code.store_shared(3, 2),
             ex = code.exit();
  auto r = one_block(
      code, 2, [&](WarpWriter& w) { w.lines(ld, {{7 + w.warp()}}).op(use).passes(st, 1).op(ex); });
  Neighbours sms(machine, kRemote);
  start_and_move(sms, r);
  sms.run(800);
  ASSERT_EQ(sms.ended_abroad.size(), 1u);
  const Cycle exits = sms.guest.issue_times(guest_slot)[2];
  EXPECT_GT(sms.ended_abroad[0].at, exits + machine.sm.shared_latency_cycles);
  EXPECT_EQ(sms.home.counters().shared_accesses, 2u);
  sms.expect_all_over(machine.sm);
}

TEST_F(SmMigrationAtHome, OrFreeWhereTheWarpIs) {
  const auto ld = code.load(1, 10), use = code.alu(2, {1}), ls = code.load_shared(3, 2),
             then = code.alu(4, {3}), ex = code.exit();
  auto r = one_block(code, 2, [&](WarpWriter& w) {
    w.lines(ld, {{7 + w.warp()}}).op(use).passes(ls, 2).op(then).op(ex);
  });
  Neighbours sms(machine, policy::Passage::Shared::Free);
  start_and_move(sms, r);
  sms.run(800);
  EXPECT_EQ(sms.home.counters().shared_accesses, 1u);
  EXPECT_EQ(sms.guest.counters().shared_accesses, 1u);
  sms.expect_all_over(machine.sm);
}

TEST(HomeCalls, SayHowLargeTheyAre) {
  Code code;
  const auto ls = code.load_shared(3, 2), st = code.store_shared(3, 2);
  const trace::LoweredCode lowered = trace::as_it_is(code.raw());
  const timing::DecodedKernel decoded(lowered, small_machine().sm);
  timing::Launch launch;
  launch.code = &decoded;
  timing::HomeCall call;
  call.launch = &launch;
  call.lanes = 32;
  using Kind = timing::HomeCall::Kind;
  const auto bytes = [&](Kind kind, std::uint32_t inst) {
    call.kind = kind;
    call.inst = inst;
    return call.bytes();
  };
  EXPECT_EQ(bytes(Kind::Arrive, ls), 0u);
  EXPECT_EQ(bytes(Kind::Open, ls), 0u);
  EXPECT_EQ(bytes(Kind::Access, ls), 128u) << "addresses";
  EXPECT_EQ(bytes(Kind::Done, ls), 128u) << "data";
  EXPECT_EQ(bytes(Kind::Access, st), 256u) << "addresses and data";
  EXPECT_EQ(bytes(Kind::Done, st), 0u);
}

// --- the port ------------------------------------------------------------------------------------

// Segments and requests leave in turn, packet by packet.
TEST_F(SmMigration, SegmentsLeaveInTurnWithRequests) {
  machine.noc.queue_flits = 64;
  const auto ld = code.load(1, 10), use = code.alu(2, {1}), ex = code.exit();
  std::vector<TransactionSpec> lines;
  for (unsigned i = 0; i < 6; ++i) lines.push_back({100 + i, 1, 1u << i});
  auto r = one_block(code, 1, [&](WarpWriter& w) { w.lines(ld, lines).op(use).op(ex); });
  const timing::PortSpec port(machine);
  const timing::Segmentation cut(port.packet, port.largest_packet);
  timing::TransferSender<int> sender(timing::Endpoints::sm(0), cut, 4, 20);
  timing::MigrationBoard board(1);
  SmHarness sm(machine);
  sm.sm().migration().allow(board, &sender, policy::Passage::Shared::Forbid);
  sender.send(0, timing::Endpoints::sm(1), 3 * cut.maximum(), 0);
  sm.start_block(0, r);
  sm.run(400);
  std::vector<bool> segments;
  for (const SmHarness::Sent& s : sm.sent())
    segments.push_back(s.message.kind == timing::MessageKind::Transfer);
  EXPECT_EQ(segments,
            (std::vector<bool>{false, true, false, true, false, true, false, false, false}));
  EXPECT_TRUE(sender.empty());
  EXPECT_EQ(board.mshrs[0], 0u) << "all have come";
}

}  // namespace
}  // namespace raddle::sm_home_calls_test
