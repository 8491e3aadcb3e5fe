// The parts of a GPU by themselves: launches without a machine, accounts of made-up counters, the
// watchdog, the host's accesses.
#include <gtest/gtest.h>

#include <sstream>

#include "raddle/timing/gpu/accounting.h"
#include "raddle/timing/gpu/host_accesses.h"
#include "raddle/timing/gpu/launches.h"
#include "raddle/timing/gpu/watchdog.h"
#include "support/machines.h"
#include "support/stream_builder.h"

namespace raddle::timing::gpu_parts_test {
namespace {

// --- launches ------------------------------------------------------------------------------------

class SomeLaunches : public ::testing::Test {
 protected:
  SomeLaunches() : recording(code(), {.grid = {3}, .block = {64}}) {}
  static support::Code code() {
    support::Code out;
    out.exit();
    return out;
  }
  static Launches::Spec spec() {
    const MachineSpec machine = support::small_machine();
    return {.sm = machine.sm, .kernels = machine.kernels, .launch_latency = 10};
  }
  Submission submission(StreamId stream, std::uint64_t sequence = 0) {
    return {
        .stream = {std::shared_ptr<void>(), &recording.stream()},
        .code = lowered,
        .info = {
            .name = "kernel", .stream = stream, .sequence = sequence, .warp_instructions = 100}};
  }
  void enqueue(StreamId stream, TenantId tenant = {}, Cycle now = 0) {
    std::vector<Submission> tree;
    tree.push_back(submission(stream));
    launches.enqueue({.tenant = tenant, .now = now}, std::move(tree));
  }
  /// Jobs that have gone since the last call, with the cycle in which they left: "0@5 2@9".
  std::string sent() {
    std::ostringstream out;
    launches.advance([&](std::uint32_t job, Cycle left, Cycle arrival) {
      EXPECT_GE(arrival, left);
      out << (out.str().empty() ? "" : " ") << job << '@' << left;
    });
    EXPECT_FALSE(launches.changed());
    return out.str();
  }
  support::Recording recording;
  std::shared_ptr<const trace::LoweredCode> lowered =
      std::make_shared<const trace::LoweredCode>(trace::as_it_is(recording.code()));
  Launches launches{spec()};
  StreamId one{1}, two{2};
};

TEST_F(SomeLaunches, AStreamsNextGoesWhenTheOneBeforeHasEnded) {
  enqueue(one);
  enqueue(one);
  enqueue(two);
  EXPECT_TRUE(launches.changed());
  EXPECT_EQ(sent(), "0@0 2@0");
  EXPECT_EQ(sent(), "");
  launches.ended(0, 500);
  EXPECT_TRUE(launches.changed());
  EXPECT_EQ(sent(), "1@500");
  launches.ended(2, 600);
  launches.ended(1, 700);
  sent();
  EXPECT_TRUE(launches.idle());
  const std::vector<Completion> completions = launches.take_completions();
  ASSERT_EQ(completions.size(), 3u);
  EXPECT_EQ(completions[1].at, 600u);
  EXPECT_TRUE(launches.take_completions().empty());
}

TEST_F(SomeLaunches, ATreeIsCompleteWithItsLastLaunch) {
  std::vector<Submission> tree;
  tree.push_back(submission(one, 40));
  tree.push_back(submission(one, 41));
  tree[1].origin.block = 2;
  tree[1].origin.warp = 1;
  launches.enqueue({}, std::move(tree));
  EXPECT_EQ(sent(), "0@0");
  EXPECT_TRUE(launches.has_trees());
  launches.launched({.job = 0, .block = 2, .warp = 1, .count = 1, .sm = 7, .at = 300});
  EXPECT_TRUE(launches.changed());
  EXPECT_EQ(sent(), "1@300");
  const GridLaunch child = launches.grid(1);
  EXPECT_EQ(child.parent.sequence, 40u);
  EXPECT_EQ(child.parent.block, 2u);
  EXPECT_EQ(child.parent.sm, 7u);
  launches.ended(0, 400);
  sent();
  EXPECT_FALSE(launches.idle());
  launches.ended(1, 900);
  sent();
  EXPECT_TRUE(launches.idle());
  const std::vector<Completion> completions = launches.take_completions();
  ASSERT_EQ(completions.size(), 1u);
  EXPECT_EQ(completions[0].sequence, 40u);
  EXPECT_EQ(completions[0].at, 900u);
}

TEST_F(SomeLaunches, KnowsWhoseLaunchesHaveNotEnded) {
  EXPECT_EQ(launches.present(), 0u);
  enqueue(one, TenantId{2});
  enqueue(one, TenantId{0});
  EXPECT_EQ(launches.present(), 0b101u);
  EXPECT_EQ(launches.tenant(0), TenantId{2});
  sent();
  launches.ended(0, 10);
  EXPECT_EQ(launches.present(), 0b001u);
  EXPECT_TRUE(launches.idle(TenantId{2}));
  EXPECT_FALSE(launches.idle(TenantId{0}));
}

TEST_F(SomeLaunches, PendingInstructionsAreLimitedButOneLaunchMayAlwaysCome) {
  EXPECT_TRUE(launches.has_free_slot(kMaxPendingInstructions + 1));
  enqueue(one);
  EXPECT_TRUE(launches.has_free_slot(kMaxPendingInstructions - 100));
  EXPECT_FALSE(launches.has_free_slot(kMaxPendingInstructions - 99));
}

TEST_F(SomeLaunches, CodeIsDecodedOnceAndForgottenWithItsLastLaunch) {
  enqueue(one);
  enqueue(one);
  EXPECT_EQ(launches.codes().all().size(), 1u);
  EXPECT_EQ(launches.grid(0).code, launches.grid(1).code);
  sent();
  launches.ended(0, 10);
  sent();
  launches.ended(1, 20);
  lowered = std::make_shared<const trace::LoweredCode>(trace::as_it_is(recording.code()));
  enqueue(one);  // nobody knows the former code any more
  EXPECT_EQ(launches.codes().all().size(), 1u);
  launches.codes().keep_all();
  launches.ended(2, 30);
  lowered = std::make_shared<const trace::LoweredCode>(trace::as_it_is(recording.code()));
  enqueue(one);
  EXPECT_EQ(launches.codes().all().size(), 2u);
}

TEST_F(SomeLaunches, WhatHasEndedIsGone) {
  enqueue(one);
  sent();
  launches.ended(0, 10);
  EXPECT_DEATH(launches.ended(0, 20), "launches.cpp");
  EXPECT_DEATH(launches.grid(1), "launches.cpp");
}

// --- accounting ----------------------------------------------------------------------------------

/// Counts what it is told to.
class MadeUp final : public CounterSource {
 public:
  stats::GpuCounters counters(Cycle) const override {
    stats::GpuCounters sum;
    for (const stats::GpuCounters& one : slots) stats::accumulate(sum, one);
    sum.scheduler.stall[static_cast<unsigned>(stats::Stall::Idle)] = idle;
    return sum;
  }
  stats::GpuCounters counters(unsigned slot, Cycle) const override { return slots[slot]; }
  unsigned take_most_mshrs(unsigned slot) override { return std::exchange(mshrs[slot], 0); }
  SmCounts sm_counts(Cycle at) const override { return {at, {}}; }
  MeshCounts mesh_counts(Cycle) const override { return {}; }
  std::vector<Interval> empty_times(Cycle at) const override {
    std::vector<Interval> out;
    for (const Interval& one : empty)
      if (one.from < at) out.push_back({one.from, std::min(one.to, at)});
    return out;
  }
  std::array<stats::GpuCounters, 2> slots{};
  std::array<unsigned, 2> mshrs{};
  std::vector<Interval> empty;
  std::uint64_t idle = 0;
};

class Accounts2 : public ::testing::Test {
 protected:
  MadeUp source;
  Accounting accounting{{.slots = 2, .schedulers = 3, .dispatch_latency = 5}, source};
};

TEST_F(Accounts2, WhatASlotCountsIsTheLaunchsThatHasIt) {
  accounting.submitted(2);
  accounting.entered({.job = 0, .entry = 1, .begin = 10, .joined = false}, TenantId{0}, 10);
  source.slots[1].sm.issued = 70;
  source.mshrs[1] = 4;
  accounting.ended({.job = 0, .at = 90, .first = 12, .last = 80});
  accounting.entered({.job = 1, .entry = 1, .begin = 100, .joined = false}, TenantId{3}, 100);
  source.slots[1].sm.issued = 100;
  const std::vector<KernelRun>& runs = accounting.kernels(200);
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].counters.sm.issued, 70u);
  EXPECT_EQ(runs[0].max_mshrs, 4u);
  EXPECT_EQ(runs[0].last, 80u);
  EXPECT_EQ(runs[1].counters.sm.issued, 30u);
  EXPECT_EQ(runs[1].max_mshrs, 0u);
  EXPECT_EQ(accounting.tenant(TenantId{3}, 200).sm.issued, 30u);
  EXPECT_EQ(accounting.tenants(200)[0].sm.issued, 70u);
}

TEST_F(Accounts2, IdleTimeWhileALaunchIsOnItsWayIsTheLaunchs) {
  source.empty = {{0, 40}};
  source.idle = 3 * 40;
  accounting.submitted(1);
  accounting.left_queue(0, 20);
  accounting.entered({.job = 0, .entry = 0, .begin = 30, .joined = false}, TenantId{}, 30);
  const auto stall = accounting.counters(100).scheduler.stall;
  EXPECT_EQ(stall[static_cast<unsigned>(stats::Stall::Launch)], 3u * 15) << "20 to 30 + 5";
  EXPECT_EQ(stall[static_cast<unsigned>(stats::Stall::Idle)], 3u * 25);
  EXPECT_EQ(accounting.busy(100), 60u);
}

TEST_F(Accounts2, AuditNamesSumsThatDoNotHold) {
  source.idle = 3 * 10;
  EXPECT_TRUE(accounting.audit(10, 10).empty());
  source.slots[0].sm.l1d_hits = 1;  // of a slot that no launch has
  const std::vector<std::string> broken = accounting.audit(10, 10);
  ASSERT_EQ(broken.size(), 2u);
  EXPECT_NE(broken[0].find("over launches: 1 and 0"), std::string::npos) << broken[0];
  EXPECT_NE(broken[1].find("over tenants: 1 and 0"), std::string::npos) << broken[1];
  EXPECT_EQ(accounting.audit(11, 10).size(), 3u) << "three schedulers had a cycle more";
}

TEST_F(Accounts2, AJobThatWasNotSubmittedIsAFault) {
  EXPECT_DEATH(accounting.left_queue(0, 1), "accounting.h");
}

TEST(Accounting, SamplesAreDifferences) {
  MadeUp source;
  Accounting accounting({.slots = 1, .schedulers = 1, .sample_interval = 100, .window = 10},
                        source);
  source.slots[0].sm.issued = 7;
  accounting.close_samples(90);
  accounting.close_samples(100);
  source.slots[0].sm.issued = 12;
  accounting.update_samples(130);
  const std::vector<Sample> samples = accounting.samples(130);
  ASSERT_EQ(samples.size(), 2u);
  EXPECT_EQ(samples[0].issued, 7u);
  EXPECT_EQ(samples[1].start, 100u);
  EXPECT_EQ(samples[1].issued, 5u);
}

// --- watchdog ------------------------------------------------------------------------------------

std::string look(Watchdog& dog, Cycle begin, Cycle progress, bool work = true) {
  if (!dog.due(begin)) return "not due";
  return dog.look(
      begin, work, [] { return std::string("'k'"); }, [&] { return progress; });
}

TEST(Watchdog, EndsWhatHasNotMovedForSoLong) {
  Watchdog dog(kNever, 100, {});
  EXPECT_EQ(look(dog, 50, 20), "");
  EXPECT_EQ(look(dog, 119, 20), "not due");
  EXPECT_EQ(look(dog, 120, 60), "");
  EXPECT_EQ(look(dog, 160, 60), "nothing has moved for 100 cycles");
  dog.restart();
  EXPECT_EQ(look(dog, 161, 0, false), "") << "nothing is to be done";
}

TEST(Watchdog, EndsARunThatIsTooLong) {
  Watchdog dog(1000, kNever, {});
  EXPECT_EQ(look(dog, 0, 0), "");
  EXPECT_EQ(look(dog, 999, 0), "not due");
  EXPECT_EQ(look(dog, 1000, 0), "not due");
  EXPECT_EQ(look(dog, 1001, 0), "kernel 'k' has not ended after the 1000 cycles allowed");
  EXPECT_EQ(dog.ended(1000), "");
  EXPECT_EQ(dog.ended(1001), "a launch has ended in cycle 1001, after the 1000 cycles allowed");
}

TEST(Watchdog, ReportsTheCycleNowAndThen) {
  std::vector<Cycle> reports;
  Watchdog dog(kNever, kNever, [&](Cycle at) { reports.push_back(at); });
  for (Cycle at = 0; at <= 12'500; at += 2'500) look(dog, at, at);
  EXPECT_EQ(reports, (std::vector<Cycle>{0, 5'000, 10'000}));
}

// --- the host's accesses -------------------------------------------------------------------------

TEST(HostAccesses, AreTakenLineByLineWithTheWordsTheyTouch) {
  HostAccesses accesses;
  accesses.add({.at = 60, .bytes = 10, .write = true});
  accesses.add({.at = 200, .bytes = 0});
  EXPECT_FALSE(accesses.empty());
  std::vector<HostLine> lines;
  accesses.take(64, [&](const HostLine& line) { lines.push_back(line); });
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].line, 0u);
  EXPECT_EQ(lines[0].words, 1u << 15);
  EXPECT_TRUE(lines[0].write);
  EXPECT_EQ(lines[1].line, 1u);
  EXPECT_EQ(lines[1].words, 0b11u);
  EXPECT_TRUE(accesses.empty());
}

}  // namespace
}  // namespace raddle::timing::gpu_parts_test
