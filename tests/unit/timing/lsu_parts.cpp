// The parts of a load/store unit without the unit: loads under way, queues of instructions, the way
// out, the order of fetches.
#include <gtest/gtest.h>

#include <vector>

#include "raddle/timing/sm/fetch_order.h"
#include "raddle/timing/sm/load_table.h"
#include "raddle/timing/sm/lsu_queues.h"
#include "raddle/timing/sm/request_port.h"
#include "support/machines.h"

namespace raddle::lsu_parts_test {
namespace {

using namespace raddle::support;
using namespace raddle::timing;
using stats::Refusal;

// --- loads under way ----------------------------------------------------------------------------

InstructionOwner owner_of(std::uint8_t warp) { return {.warp = warp, .kernel = 3}; }

class Loads : public ::testing::Test {
 protected:
  LoadTable table{2};
  SmKernelCounters counters{kernel_slots(1)};
  std::vector<unsigned> loaded;
  auto note() {
    return [this](const InstructionOwner& owner) { loaded.push_back(owner.warp); };
  }
};

TEST_F(Loads, TimeIsDividedAtServiceDepartureAndArrival) {
  const unsigned load = table.enter(10, owner_of(5), 2);
  table.served(13, load);
  table.departed(20, load);
  table.hit(25, load, counters, note());
  EXPECT_TRUE(loaded.empty()) << "one access of two";
  table.arrived(40, load, counters, note());
  EXPECT_EQ(loaded, std::vector<unsigned>{5});
  const stats::SmCounters& count = counters[3];
  EXPECT_EQ(count.loads, 1u);
  EXPECT_EQ(count.load_cycles, 30u);
  EXPECT_EQ(count.load_lsu_cycles, 3u);
  EXPECT_EQ(count.load_queue_cycles, 7u);
  EXPECT_EQ(count.load_outside_cycles, 20u);
  EXPECT_EQ(count.load_hit_cycles, 0u);
}

TEST_F(Loads, ALoadWhoseLastDataHitWaitedForTheCache) {
  const unsigned load = table.enter(10, owner_of(1), 1);
  table.served(12, load);
  table.hit(40, load, counters, note());
  EXPECT_EQ(counters[3].load_lsu_cycles, 2u);
  EXPECT_EQ(counters[3].load_hit_cycles, 28u);
}

TEST_F(Loads, ASlotIsTakenUntilTheLastDataHaveCome) {
  const unsigned first = table.enter(0, owner_of(1), 1);
  const unsigned second = table.enter(0, owner_of(2), 1);
  EXPECT_NE(first, second);
  EXPECT_TRUE(table.full());
  table.arrived(9, first, counters, note());
  EXPECT_EQ(table.taken(), 1u);
  EXPECT_EQ(table.enter(10, owner_of(3), 1), first);
}

TEST_F(Loads, LinesAreDistinctIfTheyRiseAndComeAsAWhole) {
  table.keep_descriptors();
  const std::vector<std::uint32_t> rising = {7, 1, 1, 8, 1, 1};
  const std::vector<std::uint32_t> same = {7, 1, 1, 7, 2, 1};
  table.describe(0, rising.data(), 2, 100, true);
  EXPECT_TRUE(table.descriptor(0).distinct);
  EXPECT_EQ(table.descriptor(0).base, 100u);
  EXPECT_EQ(table.descriptor(0).transaction[1].line, 8u);
  table.describe(0, rising.data(), 2, 100, false);
  EXPECT_FALSE(table.descriptor(0).distinct) << "an access brings part of a line";
  table.describe(0, same.data(), 2, 100, true);
  EXPECT_FALSE(table.descriptor(0).distinct);
}

TEST_F(Loads, ACancelledLoadFreesItsSlotAndCountsNothing) {
  const unsigned load = table.enter(0, owner_of(1), 2);
  table.cancel_access(load);
  table.cancel_access(load);
  table.cancel(load);
  EXPECT_EQ(table.taken(), 0u);
  EXPECT_EQ(counters[3].loads, 0u);
}

// --- queues of instructions ---------------------------------------------------------------------

class Queues : public ::testing::Test {
 protected:
  void enter(unsigned tenant, std::uint8_t kernel) {
    const auto id = TenantId{static_cast<std::uint8_t>(tenant)};
    queues.of(id).queue.emplace() = {.owner = {.kernel = kernel, .tenant = id}};
  }
  std::uint64_t refused(Refusal why) const { return count.l1d_refused[static_cast<unsigned>(why)]; }
  LsuQueues queues{2, trace::kMaxTransactions};
  stats::SmCounters count;
};

TEST_F(Queues, RefusedCyclesGoToTheCauseTheyHad) {
  enter(0, 3);
  for (const Cycle now : {10, 11, 12}) {
    queues.refuse(Refusal::Mshr);
    queues.note_refusal(now, count);
  }
  EXPECT_EQ(refused(Refusal::Mshr), 0u) << "still under way";
  queues.refuse(Refusal::Way);
  queues.note_refusal(14, count);
  EXPECT_EQ(refused(Refusal::Mshr), 4u);
  stats::SmCounters copy = count;
  queues.settle(16, 3, copy);
  EXPECT_EQ(copy.l1d_refused[static_cast<unsigned>(Refusal::Way)], 2u);
  queues.note_service(19, 3, count);
  EXPECT_EQ(refused(Refusal::Way), 5u);
  EXPECT_EQ(count.l1d_reservation_fails, 9u);
  EXPECT_FALSE(queues.head_refused());
}

TEST_F(Queues, AStuckHeadIsWokenByWhatMayHelp) {
  enter(0, 3);
  queues.served().head.size = 1;
  queues.served().head.line[0].line = 77;
  queues.refuse(Refusal::MissQueue);
  queues.note_refusal(10, count);
  queues.wake_from(Refusal::Mshr);
  queues.wake_by(78);
  EXPECT_TRUE(queues.served().stuck) << "another line frees no slot of the miss queue";
  queues.wake_by(77);
  EXPECT_FALSE(queues.served().stuck);
  queues.note_refusal(11, count);
  queues.wake_from(Refusal::MissQueue);
  EXPECT_FALSE(queues.served().stuck);
}

TEST_F(Queues, TenantsWithQueuesOfTheirOwnTakeTurns) {
  policy::Knobs knobs;
  knobs.tenant[1].lsu_queue = 1;
  queues.obey(knobs);
  ASSERT_EQ(queues.count(), 2u);
  enter(0, 3);
  enter(1, 4);
  policy::TenantMasks of_tenant{};
  of_tenant[0] = 0b0011;
  of_tenant[1] = 0b1100;
  EXPECT_EQ(queues.keeps_out(0b1111, of_tenant), 0b1100u) << "the second's one place is taken";
  EXPECT_FALSE(queues.all_accept());
  EXPECT_EQ(queues.served().queue.front().owner.kernel, 3u);
  queues.turn();
  EXPECT_EQ(queues.served().queue.front().owner.kernel, 4u);
  queues.turn();
  EXPECT_EQ(queues.served().queue.front().owner.kernel, 3u);
  knobs.tenant[1].lsu_queue = policy::kNoLimit;
  queues.obey(knobs);
  enter(1, 5);
  EXPECT_EQ(queues.served().queue.size(), 2u) << "it shares again";
}

// --- the way out --------------------------------------------------------------------------------

class Port : public ::testing::Test {
 protected:
  Port() { port.ports().noc_box = &box; }
  static MachineSpec machine() {
    MachineSpec out = small_machine();
    out.noc.queue_flits = 4;
    return out;
  }
  void enqueue(std::uint32_t line, std::uint16_t load = RequestPort::kNoLoad, unsigned tenant = 0) {
    Message message;
    message.line = line;
    port.enqueue(message, TenantId{static_cast<std::uint8_t>(tenant)}, load);
  }
  /// Lines of the requests that leave in these cycles.
  std::vector<std::uint32_t> leave(Cycle from, Cycle end) {
    for (Cycle now = from; now < end; ++now)
      if (port.may_inject(now)) port.inject(now);
    std::vector<std::uint32_t> out;
    for (MessageLink& wire = port.ports().to_noc; wire.next_arrival() != kNever; wire.pop())
      out.push_back(wire.front().line);
    return out;
  }
  MachineSpec spec = machine();
  AddressMap map{spec};
  Mailbox box{1};
  RequestPort port{{spec, 0}, map};
  using Lines = std::vector<std::uint32_t>;
};

TEST_F(Port, TellsWhoseRequestHasLeft) {
  EXPECT_FALSE(port.may_inject(0));
  enqueue(5, 9);
  ASSERT_TRUE(port.may_inject(0));
  const RequestPort::Sent sent = port.inject(0);
  EXPECT_TRUE(sent.packet);
  EXPECT_TRUE(sent.request);
  EXPECT_EQ(sent.load, 9u);
  EXPECT_EQ(port.queued(), 0u);
  EXPECT_EQ(port.ports().to_noc.front().to, map.home(5));
}

TEST_F(Port, WaitsForCreditsAndNamesTheCycleInWhichTheyCome) {
  for (std::uint32_t line = 0; line < 5; ++line) enqueue(line);
  EXPECT_EQ(leave(0, 50), (Lines{0, 1, 2, 3})) << "one flit each, and four credits";
  EXPECT_EQ(port.credits_at(), kNever);
  port.ports().credit_in.push(60, 1);
  EXPECT_EQ(port.credits_at(), 60u);
  EXPECT_EQ(port.next_departure(50), 60u);
  EXPECT_EQ(leave(50, 60), Lines{});
  EXPECT_EQ(leave(60, 61), Lines{4});
  EXPECT_FALSE(port.waits());
}

TEST_F(Port, WithdrawnRequestsNeverLeaveAndOthersStayInOrder) {
  for (std::uint32_t line = 0; line < 4; ++line) enqueue(line, static_cast<std::uint16_t>(line));
  port.withdraw([](const Message& message) { return message.line % 2 == 1; });
  port.forget_load(2);
  EXPECT_EQ(port[1].load, RequestPort::kNoLoad);
  EXPECT_EQ(leave(0, 10), (Lines{0, 2}));
}

TEST_F(Port, ATenantsShareOfTheMissQueueIsItsOwn) {
  policy::Knobs knobs;
  knobs.tenant[1].miss_queue = 1;
  enqueue(1, RequestPort::kNoLoad, 1);
  port.obey(0, knobs);
  EXPECT_FALSE(port.takes(TenantId{1})) << "counted, though it came before the knob";
  EXPECT_TRUE(port.takes(TenantId{0}));
  EXPECT_EQ(leave(0, 10), Lines{1});
  EXPECT_TRUE(port.takes(TenantId{1}));
}

// --- the order of fetches -----------------------------------------------------------------------

TEST(FetchOrder, AnMshrStandsWhereItHasAskedLast) {
  FetchOrder order;
  EXPECT_FALSE(order.kept());
  order.keep(4);
  for (const std::uint16_t mshr : std::vector<std::uint16_t>{2, 0, 2}) order.asked(mshr);
  ASSERT_EQ(order.size(), 3u);
  EXPECT_TRUE(order.is_old(order[0]));
  EXPECT_FALSE(order.is_old(order[1]));
  EXPECT_FALSE(order.is_old(order[2]));
  order.forget([&](const FetchOrder::Fetch& fetch) { return order.is_old(fetch); });
  ASSERT_EQ(order.size(), 2u);
  EXPECT_EQ(order[0].mshr, 0u);
  EXPECT_EQ(order[1].mshr, 2u);
}

TEST(FetchOrder, DoesNotGrowWithoutEnd) {
  FetchOrder order;
  order.keep(2);
  for (unsigned i = 0; i < 1000; ++i) order.asked(static_cast<std::uint16_t>(i % 2));
  EXPECT_LE(order.size(), 8u);
  EXPECT_FALSE(order.is_old(order[order.size() - 1]));
}

}  // namespace
}  // namespace raddle::lsu_parts_test
