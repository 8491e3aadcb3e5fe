// Schemes in a whole GPU: what they are shown, when their knobs take effect, and that neither
// skipping nor threads change it. The first scheme here exists in this file only: a new scheme is
// one file.
#include <gtest/gtest.h>

#include <algorithm>

#include "support/gpu_harness.h"
#include "support/random_kernel.h"
#include "support/schemes.h"
#include "support/settings.h"

namespace raddle::gpu_scheme_test {
namespace {

using namespace raddle::support;
using timing::BlockSpan;
using timing::GpuOptions;

constexpr TenantId kFirst{0}, kSecond{1};

/// Each period it lets one block more of one tenant and one less of the other onto an SM, and
/// notes what it saw.
class Seesaw final : public policy::SchemePolicy {
 public:
  struct Look {
    Cycle now, since;
    unsigned present;
    std::uint64_t instructions[2];
    std::uint32_t resident[2];
    friend bool operator==(const Look&, const Look&) = default;
  };
  struct Params {
    std::uint32_t period = 90;
    void visit(FieldVisitor& v) {
      v.field("period", period, {1, 100000}, "cycles", "between two looks");
    }
  };
  Seesaw(const Params& params, const Context& context) : params_(params), sms_(context.sms) {}
  Cycle look(const policy::SchemeView& view, policy::Knobs& knobs) override {
    ++samplings_;
    if (noted != nullptr) note(view);
    const std::uint32_t up = static_cast<std::uint32_t>(samplings_ % 2);
    knobs.tenant[0].block_cap.assign(sms_, 1 + up);
    knobs.tenant[1].block_cap.assign(sms_, 2 - up);
    return view.now + params_.period;
  }
  void visit_statistics(FieldVisitor& v) override {
    v.field("looks", samplings_, {}, "", "times it looked");
  }
  static std::vector<Look>* noted;

 private:
  void note(const policy::SchemeView& view) {
    Look look{view.now, view.since, view.present, {}, {}};
    for (unsigned t = 0; t < 2; ++t) {
      look.instructions[t] = view.tenant[t].counts.instructions;
      for (std::uint32_t blocks : view.tenant[t].resident_blocks) look.resident[t] += blocks;
    }
    noted->push_back(look);
  }
  Params params_;
  unsigned sms_;
  std::uint64_t samplings_ = 0;
};
std::vector<Seesaw::Look>* Seesaw::noted = nullptr;

class GpuScheme : public ::testing::Test {
 protected:
  timing::MachineSpec machine = busy_machine();  // 4 SMs, windows of 20 cycles
  Code code;
  std::uint32_t long_op = code.sfu(3, {3}), exit = code.exit();

  Recording grid(std::uint32_t blocks, unsigned length = 60) {
    Recording r(code, {{blocks}, {32}, 0});
    r.each_warp([&](WarpWriter& w) {
      for (unsigned i = 0; i < length; ++i) w.op(long_op);
      w.op(exit);
    });
    return r;
  }
  static std::unique_ptr<policy::Choice<policy::SchemePolicy>> scheme(
      const char* name, const test::Settings& settings = {}) {
    policy::Registry<policy::SchemePolicy> registry = policy::all_policies().scheme;
    registry.add<Seesaw>("seesaw", "now one tenant, now the other");
    return test::choose(registry, name, settings);
  }
  /// The most blocks of a launch that were on one SM at a time, in cycles [from, to).
  static unsigned max_resident(timing::Gpu& gpu, std::uint32_t launch, Cycle from = 0,
                               Cycle to = kNever) {
    std::size_t maximum = 0;
    for (const BlockSpan& at : gpu.block_spans()) {
      if (at.launch != launch || at.start < from || at.start >= to) continue;
      const auto beside = [&](const BlockSpan& other) {
        return other.launch == launch && other.sm == at.sm && other.start <= at.start &&
               at.start < other.end;
      };
      maximum = std::max<std::size_t>(
          maximum, static_cast<std::size_t>(std::ranges::count_if(gpu.block_spans(), beside)));
    }
    return static_cast<unsigned>(maximum);
  }
};

TEST_F(GpuScheme, SpatialGivesEachTenantSmsOfItsOwn) {
  Recording a = grid(40), b = grid(40);
  GpuHarness gpu(machine, {}, scheme("spatial"));
  gpu.submit(a, 1, kFirst);
  gpu.submit(b, 2, kSecond);
  gpu->run_until_idle();
  ASSERT_EQ(gpu->block_spans().size(), 80u);
  std::size_t while_both = 0;
  const Cycle both_until = std::min(gpu->kernels()[0].end, gpu->kernels()[1].end);
  for (const BlockSpan& span : gpu->block_spans()) {
    if (span.start >= both_until) continue;
    ++while_both;
    EXPECT_EQ(span.sm / 2, span.launch) << "block " << span.block;
  }
  EXPECT_GT(while_both, 60u);
  EXPECT_LT(gpu->kernels()[1].begin, gpu->kernels()[0].end / 2) << "neither waits for the other";
}

TEST_F(GpuScheme, ATenantAloneHasAllSmsOfAnEvenSplit) {
  Recording a = grid(40);
  GpuHarness shared(machine, {}, scheme("spatial")), alone(machine);
  shared.submit(a, 1, kSecond);
  alone.submit(a, 1);
  shared->run_until_idle();
  alone->run_until_idle();
  EXPECT_EQ(shared->hash(), alone->hash());
}

TEST_F(GpuScheme, StaticCapsAreReachedAndNeverPassed) {
  Recording a = grid(60), b = grid(60);
  GpuHarness gpu(machine, {}, scheme("static", {{"blocks_0", "3"}, {"blocks_1", "1"}}));
  gpu.submit(a, 1, kFirst);
  gpu.submit(b, 2, kSecond);
  gpu->run_until_idle();
  EXPECT_EQ(max_resident(*gpu, 0), 3u);
  EXPECT_EQ(max_resident(*gpu, 1), 1u);
}

TEST_F(GpuScheme, NoneIsAsNoScheme) {
  Recording a = grid(30), b = grid(30);
  std::vector<std::uint64_t> hashes;
  for (const bool named : {false, true}) {
    GpuHarness gpu(machine, {}, named ? scheme("none") : nullptr);
    gpu.submit(a, 1, kFirst);
    gpu.submit(b, 2, kSecond);
    gpu->run_until_idle();
    hashes.push_back(gpu->hash());
  }
  EXPECT_EQ(hashes[0], hashes[1]);
}

/// One block on an SM; 90 cycles later, three.
class Later final : public policy::SchemePolicy {
 public:
  using Params = policy::NoParams;
  Later(const Params&, const Context& context) : sms_(context.sms) {}
  Cycle look(const policy::SchemeView& view, policy::Knobs& knobs) override {
    knobs.tenant[0].block_cap.assign(sms_, view.now == 0 ? 1 : 3);
    return view.now == 0 ? 90 : kNever;
  }

 private:
  unsigned sms_;
};

TEST_F(GpuScheme, KnobsHoldFromTheFirstCycleOfAWindowOn) {
  policy::Registry<policy::SchemePolicy> registry;
  registry.add<Later>("later", "");
  for (const bool skip : {true, false}) {
    Recording a = grid(40);
    GpuOptions options;
    options.skip = skip;
    GpuHarness gpu(machine, options, registry.choose("later"));
    gpu.submit(a, 1, kFirst);
    gpu->run_until_idle();
    // Windows are 20 cycles long, a block is on its way for 20, and one leaves each cycle.
    const std::vector<BlockSpan>& spans = gpu->block_spans();
    for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(spans[i].start, 20 + i);
    for (unsigned i = 4; i < 12; ++i) EXPECT_EQ(spans[i].start, 100 + 20 + i - 4);
    EXPECT_GT(spans[12].start, spans[0].end);
  }
}

TEST_F(GpuScheme, LooksAreTheSameWithoutSkippingAndWithThreads) {
  auto a = random_kernel(3, 6), b = random_kernel(8, 6);
  std::vector<std::uint64_t> hashes;
  std::vector<std::vector<Seesaw::Look>> all;
  for (const auto& [skip, threads, shuffle] :
       {std::tuple{true, 1u, false}, {false, 1u, false}, {true, 2u, false}, {true, 1u, true}}) {
    std::vector<Seesaw::Look> samplings;
    Seesaw::noted = &samplings;
    GpuOptions options;
    options.skip = skip;
    options.threads = threads;
    options.shuffle = shuffle;
    GpuHarness gpu(machine, options, scheme("seesaw", {{"period", "130"}}));
    gpu.submit(*a, 1, kFirst);
    gpu.submit(*b, 2, kSecond);
    gpu->run_until_idle();
    Seesaw::noted = nullptr;
    EXPECT_TRUE(gpu->audit().empty());
    hashes.push_back(gpu->hash());
    all.push_back(samplings);
  }
  ASSERT_GT(all[0].size(), 5u);
  for (std::size_t i = 1; i < hashes.size(); ++i) {
    EXPECT_EQ(hashes[i], hashes[0]) << i;
    EXPECT_EQ(all[i], all[0]) << i;
  }
}

TEST_F(GpuScheme, SeesDifferencesSinceItLastLooked) {
  Recording first = grid(50), second = grid(20);
  std::vector<Seesaw::Look> samplings;
  Seesaw::noted = &samplings;
  GpuHarness gpu(machine, {}, scheme("seesaw"));
  gpu.submit(first, 1, kFirst);
  gpu.submit(second, 2, kSecond);
  gpu->run_until_idle();
  Seesaw::noted = nullptr;
  ASSERT_GT(samplings.size(), 3u);
  EXPECT_EQ(samplings[0].now, 0u);
  EXPECT_EQ(samplings[0].present, 3u);
  EXPECT_EQ(samplings[0].resident[0] + samplings[0].resident[1], 0u);
  std::uint64_t seen[2] = {};
  for (std::size_t i = 0; i < samplings.size(); ++i) {
    EXPECT_EQ(samplings[i].since, i == 0 ? 0 : samplings[i - 1].now);
    for (unsigned tenant = 0; tenant < 2; ++tenant) {
      seen[tenant] += samplings[i].instructions[tenant];
      EXPECT_LE(samplings[i].resident[tenant], 8u) << "two on each of four SMs at most";
    }
  }
  for (unsigned tenant = 0; tenant < 2; ++tenant) {
    const std::uint64_t all =
        gpu->tenant_counters(TenantId{static_cast<std::uint8_t>(tenant)}).sm.issued;
    EXPECT_LE(seen[tenant], all);
    EXPECT_GT(seen[tenant], all / 2);
  }
  EXPECT_TRUE(std::ranges::any_of(samplings, [](const auto& look) { return look.present != 3; }))
      << "asked when a tenant has nothing left";
  EXPECT_EQ(gpu->tenant_counters(kFirst).sm.issued, 50u * 61);
  EXPECT_EQ(gpu->tenant_counters(kSecond).sm.issued, 20u * 61);
}

TEST_F(GpuScheme, LooksAgainWhenATenantsBlocksGrow) {
  Recording small = grid(12), large(code, {{4}, {128}, 256});
  large.each_warp([&](WarpWriter& w) { w.op(exit); });
  struct Seen {
    Cycle at;
    std::uint32_t threads, shared, maximum;
    bool operator==(const Seen&) const = default;
  };
  std::vector<Seen> seen;
  GpuHarness gpu(
      machine, {}, std::make_unique<ScriptedScheme>([&](const auto& view, auto&) {
        const policy::TenantView& of = view.tenant[1];
        seen.push_back({view.now, of.block.threads, of.block.shared_bytes, of.max_blocks});
        return kNever;
      }));
  for (Recording* r : {&small, &large, &small}) gpu.submit(*r, 1, kSecond);
  gpu->run_until_idle();
  ASSERT_GE(seen.size(), 2u);
  EXPECT_EQ(seen[0], (Seen{0, 32, 0, 3}));
  EXPECT_EQ(seen[1].threads, 128u);
  EXPECT_EQ(seen[1].shared, 256u);
  EXPECT_EQ(seen[1].maximum, 3u) << "of the smaller ones";
  EXPECT_GT(seen[1].at, 0u);
  for (std::size_t i = 2; i < seen.size(); ++i)
    EXPECT_EQ(seen[i].threads, 128u) << "the largest so far";
}

TEST_F(GpuScheme, StatisticsAreThoseOfItsOneInstance) {
  Recording a = grid(8);
  std::vector<Seesaw::Look> samplings;
  Seesaw::noted = &samplings;
  GpuHarness gpu(machine, {}, scheme("seesaw"));
  gpu.submit(a, 1, kFirst);
  gpu->run_until_idle();
  Seesaw::noted = nullptr;
  struct Samples final : test::NoFields {
    void field(std::string_view, std::uint64_t& value, Range<std::uint64_t>, std::string_view,
               std::string_view) override {
      number = value;
    }
    std::uint64_t number = 0;
  } notified;
  gpu->visit_policy_statistics("scheme", notified);
  EXPECT_EQ(notified.number, samplings.size());
  EXPECT_GT(notified.number, 0u);
}

/// Of so many blocks on an SM so many may issue; later, all.
class Active final : public policy::SchemePolicy {
 public:
  struct Params {
    std::uint32_t blocks = 1, later = 0;
    void visit(FieldVisitor& v) {
      v.field("blocks", blocks, {1, 64}, "blocks", "may issue");
      v.field("later", later, {}, "cycles", "until all may; 0 = never");
    }
  };
  Active(const Params& params, const Context&) : params_(params) {}
  Cycle look(const policy::SchemeView& view, policy::Knobs& knobs) override {
    const bool over = params_.later != 0 && view.now >= params_.later;
    knobs.tenant[1].active_blocks = over ? policy::kNoLimit : params_.blocks;
    return over || params_.later == 0 ? kNever : params_.later;
  }

 private:
  Params params_;
};

class ActiveBlocksKnob : public GpuScheme {
 protected:
  static std::unique_ptr<policy::Choice<policy::SchemePolicy>> active(
      const test::Settings& settings) {
    policy::Registry<policy::SchemePolicy> registry;
    registry.add<Active>("active", "");
    return test::choose(registry, "active", settings);
  }
  /// Blocks of one launch, by end.
  std::vector<BlockSpan> run(std::uint32_t blocks, TenantId tenant,
                             std::unique_ptr<policy::Choice<policy::SchemePolicy>> with,
                             bool skip = true) {
    machine.sm.count = 1;
    Recording a = grid(blocks);
    GpuOptions options;
    options.skip = skip;
    GpuHarness gpu(machine, options, std::move(with));
    gpu.submit(a, 1, tenant);
    gpu->run_until_idle();
    EXPECT_TRUE(gpu->audit().empty());
    throttled = gpu->counters().scheduler.stall[static_cast<unsigned>(stats::Stall::Throttled)];
    std::vector<BlockSpan> spans = gpu->block_spans();
    std::ranges::sort(spans, {}, &BlockSpan::end);
    return spans;
  }
  std::uint64_t throttled = 0;
};

TEST_F(ActiveBlocksKnob, HoldsTheOthersUntilOneEnds) {
  const Cycle alone = run(1, kSecond, nullptr)[0].end - run(1, kSecond, nullptr)[0].start;
  for (const bool skip : {true, false}) {
    const std::vector<BlockSpan> spans = run(3, kSecond, active({{"blocks", "1"}}), skip);
    ASSERT_EQ(spans.size(), 3u);
    EXPECT_EQ(spans[0].start + 2, spans[2].start) << "they come one after another";
    EXPECT_EQ(spans[0].end - spans[0].start, alone);
    // Issues from the cycle in which the one before has ended.
    EXPECT_EQ(spans[1].end - spans[0].end, alone);
    EXPECT_EQ(spans[2].end - spans[1].end, alone);
    EXPECT_GT(throttled, 0u);
  }
}

TEST_F(ActiveBlocksKnob, ConcernsItsTenantOnly) {
  const std::vector<BlockSpan> free = run(3, kFirst, nullptr);
  const std::vector<BlockSpan> other = run(3, kFirst, active({{"blocks", "1"}}));
  for (unsigned i = 0; i < 3; ++i) EXPECT_EQ(other[i].end, free[i].end);
  EXPECT_EQ(throttled, 0u);
}

TEST_F(ActiveBlocksKnob, LetsAllGoInTheCycleInWhichItIsLifted) {
  const std::vector<BlockSpan> one = run(1, kSecond, nullptr);
  const Cycle alone = one[0].end - one[0].start;
  for (const bool skip : {true, false}) {
    const std::vector<BlockSpan> spans =
        run(2, kSecond, active({{"blocks", "1"}, {"later", "130"}}), skip);
    EXPECT_EQ(spans[0].end, one[0].end) << skip;
    EXPECT_EQ(spans[1].end, 140 + alone) << "130, to the next window of 20";
  }
}

}  // namespace
}  // namespace raddle::gpu_scheme_test
