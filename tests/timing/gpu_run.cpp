// Launches from end to end: dispatch, kernel after kernel, limits, and runs that do not come to an
// end.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "support/gpu_harness.h"
#include "support/no_fields.h"
#include "support/random_kernel.h"

namespace raddle::gpu_run_test {
namespace {

using namespace raddle::support;
using stats::Stall;
using timing::BlockSpan;
using timing::GpuOptions;

std::uint64_t lost(GpuHarness& gpu, Stall why) {
  return gpu->counters().scheduler.stall[static_cast<unsigned>(why)];
}

class GpuRun : public ::testing::Test {
 protected:
  timing::MachineSpec machine = busy_machine();
  Code code;
  std::uint32_t a = code.alu(1, {2}), long_op = code.sfu(3, {3}), bar = code.barrier(),
                load = code.load(4, 5);
  std::uint32_t use = code.alu(6, {4}), exit = code.exit();
  Recording grid(std::uint32_t blocks, std::uint32_t threads = 32) {
    Recording r(code, {{blocks}, {threads}, 0});
    r.each_warp([&](WarpWriter& w) { w.op(a).op(exit); });
    return r;
  }
};

TEST_F(GpuRun, BlocksGoRoundOneACycleAndTakeTheDispatchLatency) {
  auto r = grid(6);
  GpuHarness gpu(machine);
  gpu.run(r);
  const auto& spans = gpu->block_spans();
  ASSERT_EQ(spans.size(), 6u);
  for (std::uint32_t i = 0; i < 6; ++i) {
    EXPECT_EQ(spans[i].block, i);
    EXPECT_EQ(spans[i].sm, i % 4);
    EXPECT_EQ(spans[i].start, 20u + i);
    EXPECT_EQ(spans[i].end, spans[i].start + 4) << "add at 0, its result at 4";
  }
  EXPECT_EQ(gpu->now(), 25u + 4 + 20) << "the last block's end has travelled back";
}

TEST_F(GpuRun, LaunchLatencyComesFirst) {
  machine.launch_latency_cycles = 1000;
  auto r = grid(1);
  GpuHarness gpu(machine);
  gpu.run(r);
  EXPECT_EQ(gpu->block_spans()[0].start, 1020u);
  EXPECT_EQ(lost(gpu, Stall::Launch), 8 * 1020u) << "and its block on the way to its SM";
  EXPECT_EQ(lost(gpu, Stall::Idle), 8 * (gpu->now() - 1020) - 4)
      << "add, exit, and two cycles until the add is done";
  EXPECT_EQ(gpu->busy(), 5u) << "the cycle of its end is the block's";
  EXPECT_EQ(gpu->kernels()[0].first, 1020u);
  EXPECT_EQ(gpu->kernels()[0].last, 1024u);
  EXPECT_EQ(gpu->kernels()[0].end, 1044u);
}

TEST_F(GpuRun, TimeIsALaunchsOnlyWhereNoBlockIsOnTheGpu) {
  machine.launch_latency_cycles = 100;
  Recording slow(code, {{1}, {32}, 0});
  slow.each_warp([&](WarpWriter& w) {
    for (int i = 0; i < 500; ++i) w.op(long_op);
    w.op(exit);
  });
  auto other = grid(4), last = grid(1);
  GpuHarness gpu(machine);
  gpu.submit(slow, 1);
  gpu.submit(other, 2);  // its latency lies behind the first's, its blocks beside it
  gpu->run_until_idle();
  EXPECT_EQ(lost(gpu, Stall::Launch), 8 * 120u);
  const Cycle end = gpu->now();
  gpu.submit(last, 1);
  gpu->run_until_idle();
  EXPECT_EQ(lost(gpu, Stall::Launch), 8 * 240u);
  EXPECT_EQ(gpu->kernels()[2].first, end + 120);
  EXPECT_TRUE(gpu->audit().empty());
}

TEST_F(GpuRun, EntryLatencyIsALaunchs) {
  machine.kernels.entry_latency_cycles = 70;
  auto r = grid(1);
  GpuHarness gpu(machine);
  gpu.run(r);
  EXPECT_EQ(lost(gpu, Stall::Launch), 8 * 90u);
}

TEST_F(GpuRun, LaunchesTakeTheSameWithoutSkippingAndOnThreads) {
  machine.launch_latency_cycles = 300;
  std::vector<std::uint64_t> seen;
  for (const GpuOptions& options : {GpuOptions{}, GpuOptions{.skip = false},
                                    GpuOptions{.threads = 3}, GpuOptions{.shuffle = true}}) {
    auto a = grid(6), b = grid(3), c = grid(9);
    GpuHarness gpu(machine, options);
    gpu.submit(a, 1);
    gpu.submit(b, 2);
    gpu.submit(c, 1);
    gpu->run_until_idle();
    seen.push_back(lost(gpu, Stall::Launch));
    EXPECT_EQ(seen.back(), seen.front());
    EXPECT_TRUE(gpu->audit().empty());
  }
  EXPECT_GT(seen.front(), 8 * 600u) << "a and c follow one another";
}

TEST_F(GpuRun, ProgressIsToldAsTheClockGoesOnAndChangesNothing) {
  const auto hash = [&](const GpuOptions& options) {
    Recording slow(code, {{1}, {32}, 0});
    slow.each_warp([&](WarpWriter& w) {
      for (int i = 0; i < 5'000; ++i) w.op(long_op);
      w.op(exit);
    });
    GpuHarness gpu(machine, options);
    gpu.run(slow);
    return gpu->hash();
  };
  std::vector<Cycle> notified;
  GpuOptions options;
  options.progress = [&](Cycle at) { notified.push_back(at); };
  EXPECT_EQ(hash(options), hash({}));
  ASSERT_GE(notified.size(), 3u);
  EXPECT_TRUE(std::ranges::is_sorted(notified, std::less_equal<>{}));
}

TEST_F(GpuRun, KernelsFollowEachOtherAndCountOn) {
  machine.launch_latency_cycles = 100;
  auto r1 = grid(4), r2 = grid(4);
  GpuHarness gpu(machine);
  gpu.run(r1);
  Cycle first = gpu->now();
  gpu.run(r2);
  EXPECT_EQ(gpu->block_spans()[4].start, first + 100 + 20);
  EXPECT_EQ(gpu->block_spans()[4].launch, 1u);
  EXPECT_EQ(gpu->counters().sm.issued, 16u);
}

// 40 launches of 1, 2, 3, 4, 1 ... lines one after the other, in 32 slots.
TEST_F(GpuRun, EachLaunchHasItsOwnMostMshrs) {
  machine.sm.count = 1;
  machine.kernels.entries = 1;
  GpuHarness gpu(machine);
  for (unsigned i = 0; i < 40; ++i) {
    Recording r(code, {{1}, {32}, 0});
    std::vector<TransactionSpec> lines;
    for (unsigned line = 0; line <= i % 4; ++line) lines.push_back({1000 * i + line});
    r.each_warp([&](WarpWriter& w) { w.lines(load, lines).op(use).op(exit); });
    gpu.run(r);
  }
  for (unsigned i = 0; i < 40; ++i) EXPECT_EQ(gpu->kernels()[i].max_mshrs, i % 4 + 1) << i;
}

TEST_F(GpuRun, ABlockLeftOverStartsWhenAnotherHasEnded) {
  machine.sm.count = 1;
  machine.sm.blocks = 1;
  auto r = grid(2);
  GpuHarness gpu(machine);
  gpu.run(r);
  const auto& s = gpu->block_spans();
  EXPECT_EQ(s[1].start, s[0].end + 2 * 20) << "the end travels, then the start";
}

TEST_F(GpuRun, EachResourceLimitsResidency) {
  struct Case {
    const char* what;
    std::uint32_t timing::SmSpec::*field;
    std::uint32_t value;
  };
  // A block of 64 threads: 2 warps, 1024 registers (16 per thread), 1024 bytes of shared memory.
  code.raw().static_shared_bytes = 1000;
  machine.sm.count = 1;
  machine.sm.shared_kib = 48;
  for (const Case& limit : {Case{"threads", &timing::SmSpec::threads, 128 + 63},
                            Case{"warps", &timing::SmSpec::warps, 4},
                            Case{"registers", &timing::SmSpec::registers, 3000},
                            Case{"shared memory", &timing::SmSpec::shared_kib, 2},
                            Case{"block slots", &timing::SmSpec::blocks, 2}}) {
    timing::MachineSpec limited = machine;
    limited.sm.*limit.field = limit.value;
    limited.sm.max_threads_per_block = 64;
    if (limited.sm.warps == 4) limited.sm.threads = 128;
    Recording recording(code, {{6}, {64}, 0});
    recording.each_warp([&](WarpWriter& w) { w.op(long_op).op(long_op).op(long_op).op(exit); });
    timing::Residency fit =
        timing::residency(limited.sm, recording.code(), recording.stream().shape());
    EXPECT_EQ(fit.blocks, 2u) << limit.what;
    if (limited.sm.warps != 4) {
      EXPECT_EQ(fit.limited_by, limit.what);
    }
    GpuHarness gpu(limited);
    gpu.run(recording);
    unsigned maximum = 0;
    for (const BlockSpan& x : gpu->block_spans()) {
      unsigned together = 0;
      for (const BlockSpan& y : gpu->block_spans())
        together += y.start <= x.start && x.start < y.end;
      maximum = std::max(maximum, together);
    }
    EXPECT_EQ(maximum, 2u) << limit.what;
  }
}

TEST_F(GpuRun, ABlockThatCannotFitIsRefusedWithBothNumbers) {
  code.raw().name = "big";
  code.raw().static_shared_bytes = 60000;
  auto r = grid(1);
  GpuHarness gpu(machine);
  try {
    gpu.run(r);
    FAIL();
  } catch (const InputError& e) {
    EXPECT_STREQ(e.what(),
                 "a block of kernel 'big' needs 60160 bytes of shared memory; an SM of this "
                 "machine has 49152");
  }
  code.raw().static_shared_bytes = 0;
  auto wide = grid(1, 544);
  try {
    gpu.run(wide);
    FAIL();
  } catch (const InputError& e) {
    EXPECT_STREQ(e.what(), "a block of kernel 'big' has 544 threads; this machine allows 512");
  }
  auto fine = grid(1);
  gpu.run(fine);
  EXPECT_EQ(gpu->counters().sm.issued, 2u) << "a refusal leaves the GPU usable";
}

TEST_F(GpuRun, BadMachinesAreRefusedWithEveryReason) {
  machine.sm.schedulers = 3;
  machine.dram.drain_low = 40;
  try {
    GpuHarness gpu(machine);
    FAIL();
  } catch (const InputError& e) {
    EXPECT_EQ(e.diagnostics().size(), 2u);
  }
}

TEST_F(GpuRun, MaxCyclesEndsALongRun) {
  Recording r(code, {{4}, {32}, 0});
  r.each_warp([&](WarpWriter& w) {
    for (unsigned i = 0; i < 1000; ++i) w.op(long_op);
    w.op(exit);
  });
  GpuOptions o;
  o.max_cycles = 500;
  GpuHarness gpu(machine, o);
  try {
    gpu.run(r);
    FAIL();
  } catch (const RunError& e) {
    std::string text = e.what();
    EXPECT_NE(text.find("kernel 'kernel' has not ended after the 500 cycles allowed (cycle 5"),
              text.npos)
        << text;
    EXPECT_NE(text.find("waits at kernel.ptx:2 (op) for the result of an earlier instruction"),
              text.npos)
        << text;
  }
}

TEST_F(GpuRun, AStuckBarrierIsReported) {
  for (bool skip : {true, false}) {
    Recording r(code, {{1}, {64}, 0});
    r.each_warp([&](WarpWriter& w) {
      w.op(a).barrier(bar, 2, trace::BarrierKind::Sync, w.warp() == 0 ? 2 : 3).op(exit);
    });
    GpuOptions o;
    o.watchdog_cycles = 3000;
    o.skip = skip;
    GpuHarness gpu(machine, o);
    try {
      gpu.run(r);
      FAIL();
    } catch (const RunError& e) {
      std::string text = e.what();
      EXPECT_NE(text.find(skip ? "nothing can move any more" : "nothing has moved for 30"),
                text.npos)
          << text;
      EXPECT_NE(text.find("warp 1 of block 0 of kernel 'kernel' waits at kernel.ptx:3 (bar.sync) "
                          "at barrier 2: 2 of 3 warps have come; "
                          "all warps of the block that have not ended are among them\n"),
                text.npos)
          << text;
      EXPECT_NE(text.find("dispatcher: 0 of 1 blocks of 'kernel' (launch 0, stream 0) have ended"),
                text.npos)
          << text;
    }
  }
}

TEST_F(GpuRun, SleepingIsNotBeingStuck) {
  auto sleep = code.sleep();
  Recording r(code, {{1}, {32}, 0});
  r.each_warp([&](WarpWriter& w) { w.passes(sleep, 18).op(exit); });
  for (bool skip : {true, false}) {
    GpuOptions o;
    o.watchdog_cycles = 3000;
    o.skip = skip;
    GpuHarness gpu(machine, o);
    EXPECT_GT(gpu.run(r), 200'000u);
  }
}

/// Hands out blocks as told, to see what the dispatcher lets through.
class Stubborn final : public policy::Choice<policy::BlockPolicy> {
 public:
  enum class Fault { None, WrongSm, WrongBlock, Twice, Never };
  Stubborn(Fault fault, unsigned per_cycle) : fault_(fault), per_cycle_(per_cycle) {}
  std::string_view name() const override { return "stubborn"; }
  std::string_view doc() const override { return "test"; }
  void visit(FieldVisitor&) override {}
  std::unique_ptr<policy::BlockPolicy> make(const Context&) const override {
    return std::make_unique<Policy>(*this);
  }
  /// It is in no registry.
  std::unique_ptr<Choice> fresh() const override { return nullptr; }
  mutable std::vector<std::string> log;

 private:
  class Policy final : public policy::BlockPolicy {
   public:
    explicit Policy(const Stubborn& s) : s_(s) {}
    unsigned blocks_per_cycle() const override { return s_.per_cycle_; }
    void on_launch(const policy::BlockLaunch& l) override {
      s_.log.push_back("launch " + std::to_string(l.blocks));
    }
    std::optional<policy::BlockChoice> pick(const policy::BlockView& v) override {
      switch (s_.fault_) {
        case Fault::Never:
          return std::nullopt;
        case Fault::WrongSm:
          return policy::BlockChoice{99, 0};
        case Fault::WrongBlock:
          return policy::BlockChoice{v.free_sms.first(), 1000};
        case Fault::Twice:
          return policy::BlockChoice{v.free_sms.first(), 0};
        case Fault::None:
          break;
      }
      return policy::BlockChoice{v.free_sms.first(), next_++};
    }
    void on_block_done(std::uint32_t, std::uint32_t block, unsigned) override {
      s_.log.push_back("done " + std::to_string(block));
    }
    void on_kernel_end(unsigned) override { s_.log.push_back("end"); }

   private:
    const Stubborn& s_;
    std::uint32_t next_ = 0;
  };
  Fault fault_;
  unsigned per_cycle_;
};

TEST_F(GpuRun, DecentralPoliciesServeEverySmInOneCycle) {
  auto r = grid(6);
  auto policy = std::make_unique<Stubborn>(Stubborn::Fault::None, 4);
  const Stubborn* seen = policy.get();
  GpuHarness gpu(machine, {}, std::move(policy));
  gpu.run(r);
  const auto& s = gpu->block_spans();
  for (unsigned i = 0; i < 6; ++i) {
    EXPECT_EQ(s[i].sm, i % 4) << "one block per SM and cycle";
    EXPECT_EQ(s[i].start, 20u + i / 4);
  }
  EXPECT_EQ(seen->log, (std::vector<std::string>{"launch 6", "done 0", "done 1", "done 2", "done 3",
                                                 "done 4", "done 5", "end"}));
}

TEST_F(GpuRun, APolicyThatNeverAnswersIsReportedByName) {
  auto r = grid(2);
  GpuOptions o;
  o.watchdog_cycles = 2000;
  GpuHarness gpu(machine, o, std::make_unique<Stubborn>(Stubborn::Fault::Never, 1));
  try {
    gpu.run(r);
    FAIL();
  } catch (const RunError& e) {
    std::string text = e.what();
    EXPECT_NE(text.find("4 SMs have free slots"), text.npos) << text;
    EXPECT_NE(text.find("policy 'block=stubborn' declines launch 0"), text.npos) << text;
  }
}

TEST_F(GpuRun, WrongAnswersNameThePolicy) {
  for (auto [fault, text] :
       {std::pair{Stubborn::Fault::WrongSm, "names an SM that has free slots"},
        std::pair{Stubborn::Fault::WrongBlock, "names a block of the grid"},
        std::pair{Stubborn::Fault::Twice, "names a block that was not handed out before"}}) {
    auto r = grid(8);
    GpuHarness gpu(machine, {}, std::make_unique<Stubborn>(fault, 4));
    try {
      gpu.run(r);
      FAIL();
    } catch (const RunError& e) {
      const std::string notified = e.what();
      EXPECT_NE(notified.find("block=stubborn)' answers wrongly"), notified.npos) << notified;
      EXPECT_NE(notified.find(text), notified.npos) << notified;
    }
  }
}

TEST_F(GpuRun, PolicyStatisticsAreSummedOverInstances) {
  class Collect final : public test::NoFields {
   public:
    std::vector<std::pair<std::string, std::uint64_t>> seen;
    void field(std::string_view n, std::uint64_t& v, Range<std::uint64_t>, std::string_view,
               std::string_view) override {
      seen.emplace_back(n, v);
    }
  };
  auto r = grid(10, 64);
  GpuHarness gpu(machine);
  gpu.run(r);
  Collect warp, block;
  gpu->visit_policy_statistics("warp", warp);
  gpu->visit_policy_statistics("block", block);
  ASSERT_FALSE(warp.seen.empty());
  EXPECT_EQ(warp.seen[0], (std::pair<std::string, std::uint64_t>{"picks", 40}));
  auto blocks = std::find(block.seen.begin(), block.seen.end(),
                          std::pair<std::string, std::uint64_t>{"blocks", 10});
  EXPECT_NE(blocks, block.seen.end());
  EXPECT_THROW(gpu->visit_policy_statistics("nothing", warp), InputError);
}

/// A stream that executes while it is read: must run on one thread and give the same as a
/// recording.
class LiveStream final : public trace::KernelStream {
 public:
  explicit LiveStream(trace::MemoryTrace& inner) : inner_(inner) {}
  const trace::KernelCode& code() const override { return inner_.code(); }
  const trace::LaunchShape& shape() const override { return inner_.shape(); }
  bool concurrent() const override { return false; }
  trace::WarpCursor open(std::uint32_t block, unsigned warp) override {
    return inner_.open(block, warp);
  }
  bool refill(trace::WarpCursor& c) override {
    if (fail_after != 0 && --fail_after == 0) throw RunError("the program did something wrong");
    return inner_.refill(c);
  }
  void close(std::uint32_t) override { ++closed; }
  unsigned closed = 0, fail_after = 0;

 private:
  trace::MemoryTrace& inner_;
};

TEST_F(GpuRun, LiveStreamsRunOnOneThreadWithTheSameResult) {
  auto r = random_kernel(3);
  GpuOptions o;
  o.threads = 2;
  GpuHarness recorded(machine, o), live(machine, o);
  recorded.run(*r);
  LiveStream stream(r->stream());
  live->run(stream, {});
  EXPECT_EQ(recorded->hash(), live->hash());
  EXPECT_EQ(stream.closed, 12u);
}

TEST_F(GpuRun, WhatAStreamThrowsComesOut) {
  auto r = random_kernel(3);
  LiveStream stream(r->stream());
  stream.fail_after = 7;
  GpuHarness gpu(machine);
  EXPECT_THROW(gpu->run(stream, {}), RunError);
}

}  // namespace
}  // namespace raddle::gpu_run_test
