// The stages of an SM, each without the SM: where warps stand, who may issue, who does, the wires
// to the dispatcher, blocks and their warps, who is not at home.
#include <gtest/gtest.h>

#include <vector>

#include "raddle/timing/sm/block_stage.h"
#include "support/machines.h"
#include "support/stream_builder.h"

namespace raddle::sm_stages_test {
namespace {

using namespace raddle::support;
using namespace raddle::timing;
using stats::Stall;

SmSpec spec_of(unsigned schedulers, unsigned warps) {
  SmSpec spec;
  spec.schedulers = schedulers;
  spec.warps = warps;
  spec.fetch.cycles = 0;
  return spec;
}

DecodedInst inst(unsigned reads, Unit unit = Unit::Int, Route route = Route::Pipeline) {
  DecodedInst in;
  in.uses.set(reads);
  in.unit = unit;
  in.route = route;
  return in;
}

/// Picks the lowest slot, or nobody.
class Lowest final : public policy::WarpPolicy {
 public:
  explicit Lowest(const bool& declines) : declines_(declines) {}
  unsigned pick(const policy::WarpView& view) override {
    return declines_ ? kInvalidId : lowest(view.ready);
  }
  bool may_decline() const override { return true; }

 private:
  const bool& declines_;
};
class ChooseLowest final : public policy::Choice<policy::WarpPolicy> {
 public:
  std::string_view name() const override { return "lowest"; }
  std::string_view doc() const override { return ""; }
  void visit(FieldVisitor&) override {}
  std::unique_ptr<policy::WarpPolicy> make(const Context&) const override {
    return std::make_unique<Lowest>(declines);
  }
  /// It is in no registry.
  std::unique_ptr<Choice> fresh() const override { return nullptr; }
  bool declines = false;
};

// --- where warps stand --------------------------------------------------------------------------

class Board : public ::testing::Test {
 protected:
  /// A warp at the first of these instructions.
  void enter(unsigned w, const std::vector<DecodedInst>& code) {
    Warp& warp = board.warps().enter(w, 0);
    warp.next = code.data();
    warp.remaining = static_cast<std::uint16_t>(code.size());
    board.present_first(0, w);
  }
  SmSpec spec = spec_of(1, 8);
  Scoreboard board{spec, SchedulerSlots(spec), 16};
};

TEST_F(Board, AWarpWantsTheUnitOfItsNextInstructionAndNoOther) {
  const std::vector<DecodedInst> code = {inst(1, Unit::Int), inst(2, Unit::Sfu)};
  enter(3, code);
  EXPECT_EQ(board.changed(), bit_of(3));
  EXPECT_EQ(board.warps().ready, bit_of(3));
  EXPECT_EQ(board.units().wanting(Unit::Int), bit_of(3));
  board.clear_changed();
  board.issue(5, 0, 3, code[0]);
  EXPECT_EQ(board.warps().ready, 0u);
  EXPECT_TRUE(board.advance(5, 6, 3));
  EXPECT_EQ(board.changed(), bit_of(3));
  EXPECT_EQ(board.units().wanting(Unit::Int), 0u);
  EXPECT_EQ(board.units().wanting(Unit::Sfu), bit_of(3));
  board.withdraw(3);
  EXPECT_EQ(board.units().wanting(Unit::Sfu), 0u);
  EXPECT_EQ(board.warps().ready, 0u);
}

TEST_F(Board, AResultWakesWhoeverNeedsItAndNobodyElse) {
  std::vector<DecodedInst> code = {inst(1)};
  code[0].uses.set(2);
  Warp& warp = board.warps().enter(0, 0);
  warp.next = code.data();
  for (const unsigned reg : {1, 2, 5}) warp.pending.set(reg);
  warp.pending_memory.set(2);
  board.present_first(0, 0);
  EXPECT_EQ(board.warps().memory_wait, bit_of(0));
  board.clear_changed();
  EXPECT_FALSE(board.register_written(9, 0, 5));
  EXPECT_EQ(board.changed(), 0u) << "the next instruction does not read it";
  EXPECT_FALSE(board.register_written(10, 0, 2));
  EXPECT_EQ(board.warps().memory_wait | board.warps().ready, 0u) << "it waits for a unit's result";
  EXPECT_FALSE(board.register_written(11, 0, 1));
  EXPECT_EQ(board.warps().ready, bit_of(0));
  EXPECT_EQ(board.changed(), bit_of(0));
}

TEST_F(Board, AnEndedWarpsResultsAreTheCallers) {
  const std::vector<DecodedInst> code = {inst(1)};
  enter(0, code);
  board.withdraw(0);
  board.warps().ended |= bit_of(0);
  DecodedInst load = inst(1, Unit::Lsu, Route::Load);
  load.destination = 4;
  Scoreboard::expect_load(board[0], load);
  EXPECT_TRUE(board[0].pending_memory.test(4));
  EXPECT_TRUE(board.written(20, 0, load));
  EXPECT_FALSE(board[0].pending.any());
  load.destination = DecodedInst::kNone;
  EXPECT_TRUE(board.written(21, 0, load)) << "a store's, say";
}

TEST_F(Board, ResultsComeAfterTheInstructionsLatency) {
  std::vector<DecodedInst> code = {inst(1)};
  code[0].destination = 7;
  code[0].latency = 4;
  enter(2, code);
  board.write_back(10, 2, code[0]);
  EXPECT_TRUE(board[2].pending.test(7));
  EXPECT_EQ(board.wheel().next(11), 14u);
}

// --- who may issue, and who does ----------------------------------------------------------------

class Stage : public ::testing::Test {
 protected:
  Stage() {
    for (unsigned w = 0; w < 8; ++w) {
      Warp& warp = board.warps().enter(w, w / 4);
      warp.next = &add;
      warp.launch = &launch[w / 4];
      warp.kernel = static_cast<std::uint8_t>(w / 4);
      board.warps().of_tenant[w / 4] |= bit_of(w);
    }
    launch[1].tenant = TenantId{1};
  }
  void at(unsigned w, const DecodedInst& in) {
    board[w].next = &in;
    board.present_first(0, w);
  }
  /// Who issues in this cycle; nothing is done with what issues.
  std::vector<unsigned> run(Cycle now, WarpMask kept_out = 0) {
    std::vector<unsigned> out;
    stage.run<true>(now, ~WarpMask{0}, kept_out, board, gate, counters,
                    [&](unsigned s, unsigned w) {
                      EXPECT_EQ(s, w / 4);
                      out.push_back(w);
                    });
    return out;
  }
  std::uint64_t charged(unsigned kernel, Stall why, Cycle at) const {
    stats::SmCounters out = counters[kernel];
    stage.stalls().settle(at, kernel, out);
    return out.stall[static_cast<unsigned>(why)];
  }
  const DecodedInst add = inst(1);
  const DecodedInst load = inst(1, Unit::Lsu, Route::Load);
  Launch launch[2];
  SmSpec spec = spec_of(2, 8);
  ChooseLowest choice;
  Scoreboard board{spec, SchedulerSlots(spec), 16};
  IssueStage stage{spec, 0, choice, 1};
  IssueGate gate{nullptr, {}, board, stage.stalls()};
  SmKernelCounters counters{kernel_slots(2)};
  using Warps = std::vector<unsigned>;
};

TEST_F(Stage, EverySchedulerIssuesOne) {
  for (const unsigned w : {1, 2, 6}) at(w, add);
  EXPECT_EQ(run(0), (Warps{1, 6}));
  EXPECT_EQ(board.changed(), 0xffu) << "both are looked at again";
}

TEST_F(Stage, OneInstructionACycleEntersTheLoadStoreUnitInTurn) {
  at(1, load);
  at(5, load);
  EXPECT_EQ(run(0), Warps{1});
  EXPECT_EQ(charged(1, Stall::Lsu, 1), 1u) << "the other was ready for it";
  EXPECT_EQ(run(1), Warps{5}) << "who waited is asked first";
}

TEST_F(Stage, WhoIsKeptOutWaitsForTheLoadStoreUnit) {
  at(1, load);
  EXPECT_EQ(run(0, bit_of(1)), Warps{});
  EXPECT_EQ(charged(0, Stall::Lsu, 3), 3u);
  EXPECT_EQ(charged(1, Stall::Dependence, 3), 3u);
}

TEST_F(Stage, APolicyThatDeclinesIsAskedAgain) {
  at(1, add);
  choice.declines = true;
  EXPECT_EQ(run(0), Warps{});
  EXPECT_EQ(board.changed(), bit_of(1));
  EXPECT_EQ(charged(0, Stall::Throttled, 1), 1u);
}

TEST_F(Stage, ASpentQuotaHoldsTheTenantsOtherWarps) {
  policy::Knobs knobs;
  knobs.tenant[0].issue_quota = 1;
  knobs.issue_epoch = 100;
  gate.obey(0, knobs);
  for (const unsigned w : {1, 2, 6}) at(w, add);
  EXPECT_EQ(gate.next_event(0), 100u);
  EXPECT_EQ(run(0), (Warps{1, 6}));
  EXPECT_EQ(gate.no_load(), 0x0fu) << "all of the first tenant's";
  EXPECT_EQ(run(1), Warps{6});
  EXPECT_EQ(charged(0, Stall::Throttled, 3), 2u);
  board.clear_changed();
  gate.update(100, false);
  EXPECT_EQ(gate.no_load(), 0u) << "a new epoch";
  EXPECT_EQ(board.changed(), bit_of(1) | bit_of(2)) << "who is ready is looked at";
}

TEST_F(Stage, InactiveBlocksAreHeldUntilOneEnds) {
  policy::Knobs knobs;
  knobs.tenant[0].active_blocks = 1;
  gate.obey(0, knobs);
  gate.block_started(0, TenantId{0}, 0, 0b0011);
  gate.block_started(0, TenantId{0}, 1, 0b1100);
  EXPECT_EQ(gate.no_load(), 0b1100u);
  gate.warp_left(2);
  gate.block_ended(5, 0);
  EXPECT_EQ(gate.no_load(), 0u);
}

// --- the wires to the dispatcher ----------------------------------------------------------------

TEST(DispatcherPort, AccessesToQueuesWaitInOrderUntilTheyAreTaken) {
  const MachineSpec machine = small_machine();
  DispatcherPort port({machine, 0});
  Launch launch;
  port.block_in().push(5, {.queue = {.id = 1}});
  port.block_in().push(5, {.launch = &launch, .slot = 3, .queue = {}});
  port.block_in().push(5, {.queue = {.id = 2}});
  EXPECT_EQ(port.next_event(), 5u);
  std::vector<unsigned> started;
  std::vector<unsigned> sent;
  unsigned free = 1;
  const auto receive = [&](Cycle now) {
    port.receive(
        now, [&](const BlockStart& start) { started.push_back(start.slot); },
        [&](const QueueRequest& access) {
          if (free == 0) return false;
          --free;
          sent.push_back(access.id);
          return true;
        });
  };
  receive(5);
  EXPECT_EQ(started, std::vector<unsigned>{3});
  EXPECT_EQ(sent, std::vector<unsigned>{1});
  EXPECT_EQ(port.next_event(), 6u) << "the second is tried again";
  free = 1;
  receive(6);
  EXPECT_EQ(sent, (std::vector<unsigned>{1, 2}));
  EXPECT_EQ(port.next_event(), kNever);
}

// --- blocks and their warps ---------------------------------------------------------------------

struct MockLsu {
  bool start_block(Cycle, const Launch&, bool flush) {
    flushed = flush;
    return ++blocks == 1;
  }
  void warp_started(const policy::WarpStart& start) { warps.push_back(start.index); }
  unsigned blocks = 0;
  bool flushed = false;
  std::vector<unsigned> warps;
};

class BlocksOfAnSm : public ::testing::Test {
 protected:
  BlocksOfAnSm() {
    recording.each_warp([](WarpWriter& w) { w.op(0).barrier(1).op(0); });
    lowered = trace::as_it_is(recording.code());
    decoded = std::make_unique<DecodedKernel>(lowered, machine.sm);
    launch = {.stream = &recording.stream(), .code = decoded.get()};
    port.connect(box);
  }
  void start(Cycle now) {
    stage.start(now, {.launch = &launch, .slot = 2, .flush = true, .queue = {}});
  }
  /// The warp goes on, whatever it is at.
  void step(Cycle now, unsigned w) {
    board.issue(now, 0, w, *board[w].next);
    if (board[w].next->route == Route::Barrier) stage.arrive_at_barrier(now, w);
    else stage.advance(now, now + 1, w);
  }
  MachineSpec machine = [] {
    MachineSpec out = small_machine();
    out.sm.fetch.cycles = 0;
    for (OpCost& cost : out.sm.cost) cost.interval = 1;  // units are always free
    return out;
  }();
  static Code add_and_barrier() {
    Code code;
    code.alu(1, {2});
    code.barrier();
    return code;
  }
  Recording recording{add_and_barrier(), {{1}, {2 * kLanes}, 0}};
  trace::LoweredCode lowered;
  std::unique_ptr<DecodedKernel> decoded;
  Launch launch;
  Mailbox box{1};
  ChooseLowest choice;
  Scoreboard board{machine.sm, SchedulerSlots(machine.sm), 64};
  IssueStage issue{machine.sm, 0, choice, 1};
  IssueGate gate{nullptr, {}, board, issue.stalls()};
  SmKernelCounters counters{kernel_slots(1)};
  BlockTable blocks{machine.sm.blocks};
  WarpsAbroad abroad{0};
  DispatcherPort port{{machine, 0}};
  SmObservation observation{{board.warps(), blocks, abroad, issue.stalls(), {}}};
  MockLsu lsu;
  BlockStage<MockLsu> stage{
      machine.sm, blocks, {board, issue, gate, observation, abroad, port, lsu, counters}};
};

TEST_F(BlocksOfAnSm, ABlocksWarpsGoToTheSchedulersInTurn) {
  start(10);
  EXPECT_EQ(board.warps().resident, bit_of(0) | bit_of(8)) << "one to each of the two";
  EXPECT_EQ(lsu.warps, (std::vector<unsigned>{0, 1}));
  EXPECT_TRUE(lsu.flushed);
  EXPECT_EQ(blocks[2].warps, board.warps().resident);
  EXPECT_EQ(board.warps().ready, board.warps().resident);
  EXPECT_EQ(stage.context_needs(8).threads, kLanes);
}

TEST_F(BlocksOfAnSm, ABarrierOpensWithTheLastWarpAndTheBlockEndsWithIt) {
  start(10);
  step(11, 0);
  step(12, 0);
  EXPECT_EQ(board.warps().at_barrier, bit_of(0));
  step(13, 8);
  EXPECT_EQ(board.wheel().next(13), kNever) << "nobody may go on";
  step(14, 8);
  const Cycle open = 14 + board[0].next->latency;
  EXPECT_EQ(board.wheel().next(15), open);
  stage.resume(open, 0);
  stage.resume(open, 8);
  step(open + 1, 0);
  EXPECT_EQ(blocks[2].live, 1u);
  EXPECT_EQ(port.block_out().next_arrival(), kNever);
  step(open + 2, 8);
  EXPECT_EQ(board.warps().resident, 0u);
  EXPECT_EQ(port.block_out().next_arrival(), open + 2 + machine.dispatch_latency_cycles);
  EXPECT_EQ(port.block_out().front().slot, 2u);
  EXPECT_EQ(counters[0].blocks, 1u);
}

TEST_F(BlocksOfAnSm, AnEndedWarpKeepsItsSlotUntilItsStoresAreOver) {
  start(10);
  board[0].outstanding = 1;
  board.withdraw(0);
  stage.end_of_stream(11, 0);
  EXPECT_EQ(board.warps().memory_wait, bit_of(0));
  EXPECT_TRUE(has(board.warps().resident, 0));
  board[0].outstanding = 0;
  stage.end_if_drained(20, 0);
  EXPECT_FALSE(has(board.warps().resident, 0));
}

// --- who is not at home -------------------------------------------------------------------------

TEST(WarpsAbroad, AnAdoptedWarpSpeaksToItsHome) {
  WarpTable warps(4);
  BlockTable blocks(2);
  WarpsAbroad abroad(7);
  MigrationBoard board(8);
  EXPECT_FALSE(abroad.allowed());
  abroad.allow(board, policy::Passage::Shared::Remote, 4, 2);
  Warp& warp = warps.enter(1, kAbroad);
  warp.index = 3;
  abroad.adopt(1, {.sm = 2, .block = 11, .slot = 1});
  EXPECT_EQ(abroad.block_id(1, warps, blocks), 11u);
  EXPECT_EQ(abroad.home_sm(1), 2u);
  EXPECT_EQ(abroad.home_sm(0), 7u);
  const HomeCall call = abroad.call_home(1, warp, HomeCall::Kind::Arrive);
  EXPECT_EQ(call.to(), 2u);
  EXPECT_EQ(call.from(), 7u);
  EXPECT_EQ(call.index, 3u);
  EXPECT_FALSE(board.notified.load());
  abroad.ended(40, 1, warp, {});
  EXPECT_TRUE(board.notified.load());
  ASSERT_EQ(abroad.ended_here().size(), 1u);
  EXPECT_EQ(abroad.ended_here()[0].home.block, 11u);
  EXPECT_FALSE(abroad.is_adopted(1));
}

}  // namespace
}  // namespace raddle::sm_stages_test
