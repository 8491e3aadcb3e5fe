// The parts of a DRAM channel by themselves: queue, banks, what banks share, arbiter, refresh, and
// the model without banks.
#include <gtest/gtest.h>

#include "raddle/timing/dram/arbiter.h"
#include "raddle/timing/dram/fixed.h"
#include "raddle/timing/dram/refresh.h"

namespace raddle::timing::dram_parts_test {
namespace {

DramQueue::Slot request(bool write, std::uint8_t tenant = 0) {
  DramQueue::Slot slot;
  slot.request.write = write;
  slot.request.of(TenantId{tenant});
  return slot;
}

Mask128 set_of(std::initializer_list<unsigned> members) {
  Mask128 out;
  for (const unsigned i : members) out.set(i);
  return out;
}

// --- queue ---------------------------------------------------------------------------------------

TEST(DramQueue, TakesTheLowestFreeSlotAndKeepsTheOrderOfArrival) {
  DramQueue queue(3);
  EXPECT_EQ(queue.insert(request(false), 5), 0u);
  EXPECT_EQ(queue.insert(request(true), 6), 1u);
  EXPECT_EQ(queue.insert(request(false), 7), 2u);
  EXPECT_EQ(queue.free_slots(), 0u);
  EXPECT_EQ(queue.writes_queued(), 1u);
  EXPECT_EQ(queue.tag(1).bank, 6u);
  queue.remove(0);
  EXPECT_EQ(queue.oldest(), 1u);
  EXPECT_EQ(queue.insert(request(true), 8), 0u);
  EXPECT_EQ(queue.writes(), set_of({0, 1}));
  EXPECT_EQ(queue.oldest(), 1u) << "slot 0 has come last";
}

TEST(DramQueue, RanksHoldForWhatWaitsAndForWhatComes) {
  DramQueue queue(8);
  queue.insert(request(false, 1), 0);
  policy::Knobs knobs;
  EXPECT_FALSE(queue.ranked());
  knobs.tenant[1].dram_rank = 3;
  queue.obey(knobs);
  EXPECT_TRUE(queue.ranked());
  EXPECT_EQ(queue.tag(0).rank, 3u);
  EXPECT_EQ(queue.tag(queue.insert(request(false, 1), 0)).rank, 3u);
  EXPECT_EQ(queue.tag(queue.insert(request(false, 0), 0)).rank, 0u);
}

TEST(DramQueue, AFullOneTakesNothing) {
  DramQueue queue(1);
  queue.insert(request(false), 0);
  EXPECT_DEATH(queue.insert(request(false), 0), "queue.h");
  EXPECT_DEATH(queue.remove(1), "queue.h");
}

// --- banks ---------------------------------------------------------------------------------------

class Banks : public testing::Test {
 protected:
  static DramSpec numbers() {
    DramSpec spec;
    spec.banks = 4;
    spec.bank_groups = 2;
    spec.tRCD = 10;
    spec.tRAS = 30;
    spec.tRP = 12;
    spec.tRC = 45;
    spec.tRFC = 100;
    return spec;
  }
  DramSpec spec = numbers();
  DramBanks banks{spec};
  Mask128 none;
};

TEST_F(Banks, AClosedBankServesAfterActivationAndTRCD) {
  banks.advance(99);
  banks.arrive(0, 2, 7, 100, none);
  EXPECT_EQ(banks.closed(), set_of({0}));
  EXPECT_EQ(banks.ready(), set_of({0}));
  banks.activate(0, 2, 100, none);
  EXPECT_EQ(banks.row_hits(), set_of({0}));
  EXPECT_FALSE(banks.ready().any());
  EXPECT_EQ(banks.next_wake(), 110u);
  EXPECT_FALSE(banks.wake(109));
  EXPECT_FALSE(banks.ready().any());
  EXPECT_TRUE(banks.wake(110));
  EXPECT_EQ(banks.ready(), set_of({0}));
  EXPECT_FALSE(banks.found_open(0));
}

TEST_F(Banks, AConflictWaitsForTRASAndForTheColumnBeforeIt) {
  banks.arrive(0, 1, 7, 100, none);
  banks.activate(0, 1, 100, none);
  banks.arrive(1, 1, 8, 101, none);
  EXPECT_TRUE(banks.of_wanted_row(false).test(1)) << "its PRE would close what 0 hits";
  banks.wake(110);
  banks.served(0, 1, 133, none);  // later than 100 + tRAS
  EXPECT_FALSE(banks.of_wanted_row(false).test(1));
  banks.wake(130);
  EXPECT_FALSE(banks.ready().any());
  banks.wake(133);
  EXPECT_EQ(banks.ready(), set_of({1}));
  banks.precharge(1, 133, none);
  EXPECT_EQ(banks.closed(), set_of({1}));
  banks.wake(144);
  EXPECT_FALSE(banks.ready().any());
  banks.wake(145);  // max(133 + tRP, 100 + tRC)
  EXPECT_EQ(banks.ready(), set_of({1}));
}

TEST_F(Banks, WhoHitsAnOpenRowFindsItOpen) {
  banks.arrive(0, 0, 7, 100, none);
  banks.activate(0, 0, 100, none);
  banks.arrive(1, 0, 7, 105, none);
  EXPECT_EQ(banks.row_hits(), set_of({0, 1}));
  EXPECT_TRUE(banks.found_open(1));
  EXPECT_FALSE(banks.ready().test(1));
  banks.wake(110);
  EXPECT_EQ(banks.ready(), set_of({0, 1}));
}

TEST_F(Banks, ARefreshHoldsItsBankAloneUntilTRFCAfterIt) {
  banks.arrive(0, 0, 7, 100, none);
  banks.arrive(1, 1, 7, 100, none);
  banks.begin_refresh(0);
  EXPECT_EQ(banks.ready(), set_of({1}));
  banks.arrive(2, 0, 9, 101, none);
  EXPECT_FALSE(banks.ready().test(2));
  banks.refresh(0, 110);
  banks.wake(150);
  banks.wake(209);
  EXPECT_EQ(banks.ready(), set_of({1}));
  banks.wake(210);
  EXPECT_EQ(banks.ready(), set_of({0, 1, 2}));
}

TEST_F(Banks, CommandsThatBreakATimeOfTheBankAreFaults) {
  banks.arrive(0, 0, 7, 100, none);
  EXPECT_DEATH(banks.close(0, 100, none), "banks.h");
  banks.activate(0, 0, 100, none);
  EXPECT_DEATH(banks.close(0, 129, none), "banks.h");
  EXPECT_DEATH(banks.activate(0, 0, 200, none), "banks.h");
  banks.close(0, 130, none);
  EXPECT_DEATH(banks.activate(0, 0, 144, none), "banks.h");
}

// --- what banks share ----------------------------------------------------------------------------

class Shared : public testing::Test {
 protected:
  static DramSpec numbers() {
    DramSpec spec;
    spec.bank_groups = 2;
    spec.burst_bytes = 32;
    spec.bus_bytes_per_cycle = 16;  // 2 cycles of data
    spec.tCCDS = 2;
    spec.tCCDL = 4;
    spec.tRRDS = 3;
    spec.tRRDL = 6;
    spec.tFAW = 30;
    spec.tCL = 12;
    spec.tCWL = 8;
    spec.tWTRS = 5;
    spec.tWTRL = 9;
    spec.turnaround = 2;
    return spec;
  }
  Shared() {
    timing.arrive(0, 0);
    timing.arrive(1, 1);
    timing.advance(100);
  }
  Mask128 both = set_of({0, 1});
  ChannelTiming timing{numbers(), 4};
};

TEST_F(Shared, ActivationsKeepTRRDByGroupAndFourATFAW) {
  timing.activated(100, 0);
  EXPECT_EQ(timing.activate_at(), 103u);
  EXPECT_EQ(timing.late(ChannelTiming::kActivate, 103), set_of({0})) << "the same group: tRRD_L";
  EXPECT_EQ(timing.activate_time(set_of({0}), 101), 106u);
  EXPECT_EQ(timing.activate_time(set_of({1}), 101), 103u);
  timing.activated(103, 1);
  timing.activated(106, 0);
  EXPECT_EQ(timing.activate_at(), 109u);
  timing.activated(109, 1);
  EXPECT_EQ(timing.activate_at(), 130u) << "the fifth";
}

TEST_F(Shared, AReadKeepsOthersOfItsGroupLongerFromTheBus) {
  timing.plan(100, 1, 4);
  timing.read(100, 0);
  EXPECT_EQ(timing.column_time(false, set_of({0}), 101), 104u);
  EXPECT_EQ(timing.column_time(false, set_of({1}), 101), 102u);
  EXPECT_EQ(timing.column_time(true, both, 101), 100u + 12 + 2 + 2 - 8) << "the bus turns round";
}

TEST_F(Shared, AWriteDelaysReadsUntilItsDataAndTWTR) {
  timing.plan(100, 1, 4);
  EXPECT_EQ(timing.wrote(100, 0), 110u);
  EXPECT_EQ(timing.column_time(false, set_of({1}), 101), 115u);
  EXPECT_EQ(timing.column_time(false, set_of({0}), 101), 119u);
}

TEST_F(Shared, BurstsMoveApartOnlyWhereAnotherGroupWaits) {
  EXPECT_EQ(timing.step_of(0, both), 4u);  // one of 2 cycles fits between as it is
  DramSpec tight = numbers();
  tight.tCCDL = 3;
  ChannelTiming narrow(tight, 4);
  narrow.arrive(0, 0);
  narrow.arrive(1, 1);
  EXPECT_EQ(narrow.step_of(0, both), 4u);
  EXPECT_EQ(narrow.step_of(0, set_of({0})), 3u);
  narrow.remove(1, 1);
  narrow.arrive(1, 0);
  EXPECT_EQ(narrow.step_of(0, both), 3u);
}

// --- arbiter -------------------------------------------------------------------------------------

/// Says what it is told to and keeps what it has seen.
class Puppet final : public policy::DramPolicy {
 public:
  std::optional<unsigned> pick(const policy::DramView& view) override {
    candidates = view.candidates;
    issuable = view.issuable;
    return answer;
  }
  std::uint64_t changes_after(std::uint64_t) const override { return changes; }
  std::optional<unsigned> answer;
  std::uint64_t changes = kNever;
  Mask128 candidates, issuable;
};

class Arbiter : public testing::Test {
 protected:
  static DramSpec numbers() {
    DramSpec spec;
    spec.drain_high = 3;
    spec.drain_low = 1;
    return spec;
  }
  Arbiter() : puppet(new Puppet), arbiter(numbers(), std::unique_ptr<Puppet>(puppet)) {
    timing.advance(100);
  }
  unsigned arrive(bool write, unsigned bank, std::uint32_t row) {
    const unsigned e = queue.insert(request(write), bank);
    banks.arrive(e, bank, row, 100, queue.writes());
    timing.arrive(e, banks[bank].group);
    return e;
  }
  DramArbiter::Answer choose(DramArbiter::Buses buses = {.row = true, .column = true}) {
    arbiter.update(queue, banks);
    return arbiter.choose(100, buses, queue, banks, timing);
  }
  using Kind = DramArbiter::Answer::Kind;
  Puppet* puppet;
  DramQueue queue{32};
  DramBanks banks{numbers()};
  ChannelTiming timing{numbers(), 4};
  DramArbiter arbiter;
};

TEST_F(Arbiter, WritesWaitUntilEnoughOfThemDo) {
  const unsigned read = arrive(false, 0, 1);
  arrive(true, 1, 1);
  arrive(true, 2, 1);
  puppet->answer = read;
  EXPECT_EQ(choose().slot, read);
  EXPECT_EQ(puppet->candidates, set_of({read}));
  arrive(true, 3, 1);  // drain_high
  puppet->answer = 1;
  EXPECT_EQ(choose().kind, Kind::Request);
  EXPECT_TRUE(arbiter.writing());
  EXPECT_EQ(puppet->candidates, set_of({1, 2, 3}));
  queue.remove(3);
  choose();
  EXPECT_TRUE(arbiter.writing()) << "still above drain_low";
  queue.remove(2);
  puppet->answer = read;
  choose();
  EXPECT_FALSE(arbiter.writing());
}

TEST_F(Arbiter, AsksNobodyWhereNothingCanGo) {
  arrive(false, 0, 1);
  EXPECT_EQ(choose({.row = false, .column = true}).kind, Kind::Nothing) << "ACT needs the row bus";
  EXPECT_FALSE(puppet->candidates.any());
  EXPECT_EQ(choose().kind, Kind::Declined);
  EXPECT_EQ(puppet->issuable, set_of({0}));
}

TEST_F(Arbiter, KnowsWhenADeclinedAnswerMayChange) {
  arrive(false, 0, 1);
  EXPECT_EQ(choose().kind, Kind::Declined);
  EXPECT_EQ(arbiter.next_change(100, timing), kNever);
  puppet->changes = 170;
  EXPECT_EQ(arbiter.next_change(100, timing), 170u);
  timing.activated(100, 1);
  EXPECT_EQ(arbiter.next_change(100, timing), timing.activate_at());
}

TEST_F(Arbiter, APolicyThatNamesWhatCannotGoIsRefused) {
  arrive(false, 0, 1);
  puppet->answer = 5;
  EXPECT_ANY_THROW(choose());
}

// --- refresh -------------------------------------------------------------------------------------

class Commands final : public DramObserver {
 public:
  void on_command(const DramCommand& command) override { seen.push_back(command); }
  std::vector<DramCommand> seen;
};

TEST(DramRefresh, ClosesAsSoonAsItMayThenRefreshesTRPLater) {
  DramSpec spec;
  spec.banks = 2;
  spec.refresh = Refresh::AllBank;
  spec.tREFI = 200;
  spec.tRFC = 50;
  DramBanks banks(spec);
  DramRefresh refresh(spec);
  Commands commands;
  stats::DramCounters counters;
  const Mask128 writes;
  const DramRefresh::Target target{
      .banks = banks, .writes = writes, .counters = counters, .observer = &commands};
  banks.arrive(0, 1, 3, 190, writes);
  banks.activate(0, 1, 190, writes);
  EXPECT_EQ(refresh.at(), 200u);
  EXPECT_FALSE(refresh.step(200, true, target)) << "tRAS";
  EXPECT_EQ(refresh.at(), 190u + spec.tRAS);
  EXPECT_FALSE(refresh.step(refresh.at(), false, target)) << "the bus is not free";
  EXPECT_TRUE(refresh.step(refresh.at(), true, target));
  EXPECT_TRUE(refresh.step(refresh.at(), true, target));
  ASSERT_EQ(commands.seen.size(), 2u);
  EXPECT_EQ(commands.seen[0].kind, DramCommandKind::PrechargeAll);
  EXPECT_EQ(commands.seen[1].kind, DramCommandKind::RefreshAll);
  EXPECT_EQ(commands.seen[1].at, commands.seen[0].at + spec.tRP);
  EXPECT_EQ(refresh.at(), 400u);
  EXPECT_EQ(counters.precharges, 1u);
  EXPECT_EQ(counters.refreshes, 1u);
}

TEST(DramRefresh, MakesUpForIdleTimeAsIfEachHadComeInTime) {
  DramSpec spec;
  spec.banks = 4;
  spec.refresh = Refresh::PerBank;
  spec.tREFI = 400;
  spec.tRFC = 50;
  const Mask128 writes;
  std::array<std::uint64_t, 2> counted{}, next{};
  for (unsigned observed = 0; observed < 2; ++observed) {  // one by one where somebody looks
    DramBanks banks(spec);
    DramRefresh refresh(spec);
    Commands commands;
    stats::DramCounters counters;
    refresh.catch_up(100'050,
                     {.banks = banks,
                      .writes = writes,
                      .counters = counters,
                      .observer = observed != 0 ? &commands : nullptr},
                     [](std::uint64_t) { return true; });
    counted[observed] = counters.refreshes;
    next[observed] = refresh.at();
  }
  EXPECT_EQ(counted[0], 1000u);
  EXPECT_EQ(counted[1], 1000u);
  EXPECT_EQ(next[0], next[1]);
}

// --- fixed ---------------------------------------------------------------------------------------

TEST(FixedDram, ServesOneRequestPerIntervalInOrder) {
  DramSpec spec;
  spec.queue = 2;
  spec.fixed_interval_cycles = 4;
  FixedDram fixed(spec);
  EXPECT_EQ(fixed.push(10), 10u);
  EXPECT_EQ(fixed.push(11), 14u);
  EXPECT_EQ(fixed.free_slots(), 0u);
  EXPECT_EQ(fixed.due(), 10u);
  fixed.tick(10);
  EXPECT_EQ(fixed.free_slots(), 1u);
  EXPECT_EQ(fixed.due(), 14u);
  fixed.tick(14);
  EXPECT_EQ(fixed.due(), kNever);
  EXPECT_EQ(fixed.push(30), 30u) << "the channel has been idle";
}

}  // namespace
}  // namespace raddle::timing::dram_parts_test
