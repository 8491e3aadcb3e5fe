// Do the suites catch anything? Policies with one fault each; every fault must be named.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "contract/seeded_views.h"

namespace raddle::contract::suite_catches_test {
namespace {

using policy::BlockChoice;
using policy::BlockPolicy;
using policy::BypassPolicy;
using policy::DramPolicy;
using policy::KernelPolicy;
using policy::MigratePolicy;
using policy::ReplacementPolicy;
using policy::SchemePolicy;
using policy::ThrottlePolicy;
using policy::WarpPolicy;
using testing::HasSubstr;

template <class Interface, class Faulty>
Make<Interface> faulty() {
  return
      [](const typename Interface::Context& context) { return std::make_unique<Faulty>(context); };
}

/// Stays with its warp without looking whether it is ready.
struct BlindGreed final : WarpPolicy {
  explicit BlindGreed(const Context&) {}
  unsigned pick(const policy::WarpView& view) override {
    if ((view.resident >> warp & 1) == 0) warp = lowest(view.ready);
    return warp;
  }
  unsigned warp = 0;
};
TEST(WarpSuite, CatchesAWarpThatIsNotReady) {
  EXPECT_THAT(check_warp(faulty<WarpPolicy, BlindGreed>(), 1), HasSubstr("which is not ready"));
}

/// Decides by something that is not in the view: how many instances there are.
struct Moody final : WarpPolicy {
  explicit Moody(const Context&) : first(++instances % 2 == 1) {}
  unsigned pick(const policy::WarpView& view) override {
    return first ? lowest(view.ready) : view.age.oldest(view.ready);
  }
  static inline unsigned instances = 0;
  bool first;
};
TEST(WarpSuite, CatchesHiddenState) {
  EXPECT_THAT(check_warp(faulty<WarpPolicy, Moody>(), 1),
              HasSubstr("a second instance decided otherwise"));
}

/// Sends a load past whenever it has been told of waits since the last.
struct Nervous final : BypassPolicy, policy::SmObserver {
  explicit Nervous(const Context&) {}
  policy::SmObserver* sm_observer() override { return this; }
  void attach(const policy::SmView&) override {}
  void waits_changed(Cycle) override { notified = true; }
  bool goes_past(const policy::BypassView&) override { return std::exchange(notified, false); }
  bool notified = false;
};
TEST(BypassSuite, CatchesWhoGoesByHowOftenHeIsTold) {
  EXPECT_THAT(check_bypass(faulty<BypassPolicy, Nervous>(), 1), HasSubstr("decided otherwise"));
}

/// Lets another warp load every hundred cycles and says that its answer holds for ever.
struct Careless final : ThrottlePolicy {
  explicit Careless(const Context&) {}
  policy::Admission admit(const policy::ThrottleView& view) override {
    return {~0ull, ~(1ull << view.now / 100 % 64), kNever};
  }
};
TEST(ThrottleSuite, CatchesAnAnswerThatDoesNotHold) {
  EXPECT_THAT(check_throttle(faulty<ThrottlePolicy, Careless>(), 1),
              HasSubstr("asked in every cycle it answers otherwise"));
}

/// Counts how often it is asked.
struct Vain final : ThrottlePolicy {
  explicit Vain(const Context&) {}
  policy::Admission admit(const policy::ThrottleView&) override {
    ++asked;
    return {};
  }
  void visit_statistics(FieldVisitor& v) override { v.field("asked", asked, {}, "", "how often"); }
  std::uint64_t asked = 0;
};
TEST(ThrottleSuite, CatchesStatisticsOfTheQuestions) {
  EXPECT_THAT(check_throttle(faulty<ThrottlePolicy, Vain>(), 1),
              HasSubstr("not the calls of admit()"));
}

/// A limit without a rule for barriers: the oldest warp waits for those it does not admit.
struct Rude final : ThrottlePolicy {
  explicit Rude(const Context&) {}
  policy::Admission admit(const policy::ThrottleView& view) override {
    const policy::WarpMask one = view.running == 0 ? 0 : 1ull << view.age.oldest(view.running);
    return {one, one, kNever};
  }
};
TEST(ThrottleSuite, CatchesABarrierThatCannotOpen) {
  EXPECT_THAT(check_throttle(faulty<ThrottlePolicy, Rude>(), 1),
              HasSubstr("nobody who could go on may"));
}

/// Answers for the past.
struct Late final : ThrottlePolicy {
  explicit Late(const Context&) {}
  policy::Admission admit(const policy::ThrottleView& view) override {
    return {~0ull, ~0ull, view.now};
  }
};
TEST(ThrottleSuite, CatchesAnAnswerThatIsOver) {
  EXPECT_THAT(check_throttle(faulty<ThrottlePolicy, Late>(), 1),
              HasSubstr("does not hold in the cycle of the question"));
}

/// Round robin over all SMs, room or not.
struct Pushy final : BlockPolicy {
  explicit Pushy(const Context& context) : sms(context.sms) {}
  void on_launch(const policy::BlockLaunch& launch) override { next[launch.slot] = 0; }
  std::optional<BlockChoice> pick(const policy::BlockView& view) override {
    return BlockChoice{next[view.slot] % sms, next[view.slot]++};
  }
  unsigned sms, next[kKernelSlots] = {};
};
TEST(BlockSuite, CatchesAnSmWithoutRoom) {
  EXPECT_THAT(check_block(faulty<BlockPolicy, Pushy>(), 1),
              HasSubstr("names an SM that has free slots"));
}

/// Does not start again at block 0 with a new launch.
struct Forgetful final : BlockPolicy {
  explicit Forgetful(const Context&) {}
  void on_launch(const policy::BlockLaunch&) override {}
  std::optional<BlockChoice> pick(const policy::BlockView& view) override {
    return BlockChoice{view.free_sms.first(), next++};
  }
  std::uint32_t next = 0;
};
TEST(BlockSuite, CatchesABlockThatDoesNotExist) {
  EXPECT_THAT(check_block(faulty<BlockPolicy, Forgetful>(), 1),
              HasSubstr("names a block of the grid"));
}

/// Hands out the last block of a launch twice and the first one never.
struct Repeating final : BlockPolicy {
  explicit Repeating(const Context&) {}
  void on_launch(const policy::BlockLaunch& launch) override {
    next = 1;
    blocks = launch.blocks;
  }
  std::optional<BlockChoice> pick(const policy::BlockView& view) override {
    return BlockChoice{view.free_sms.first(), std::min(next++, blocks - 1)};
  }
  std::uint32_t next = 0, blocks = 0;
};
TEST(BlockSuite, CatchesABlockHandedOutTwice) {
  EXPECT_THAT(check_block(faulty<BlockPolicy, Repeating>(), 1),
              HasSubstr("was not handed out before"));
}

/// Leaves the last block of each launch lying.
struct Lazy final : BlockPolicy {
  explicit Lazy(const Context&) {}
  void on_launch(const policy::BlockLaunch& launch) override {
    next = 0;
    blocks = launch.blocks;
  }
  std::optional<BlockChoice> pick(const policy::BlockView& view) override {
    if (next + 1 == blocks) return std::nullopt;
    return BlockChoice{view.free_sms.first(), next++};
  }
  std::uint32_t next = 0, blocks = 0;
};
TEST(BlockSuite, CatchesAStandstill) {
  EXPECT_THAT(check_block(faulty<BlockPolicy, Lazy>(), 1),
              HasSubstr("policy 'block=given' declines launch 0"));
}

/// The oldest kernel, whether its block fits or not.
struct Rigid final : KernelPolicy {
  explicit Rigid(const Context&) {}
  std::optional<unsigned> pick(const policy::KernelView& view) override {
    return view.age.oldest(view.waiting);
  }
};
TEST(KernelSuite, CatchesABlockThatDoesNotFit) {
  EXPECT_THAT(check_kernel(faulty<KernelPolicy, Rigid>(), 1), HasSubstr("does not fit"));
}

/// Never lets the kernel in slot 5 go.
struct Grudge final : KernelPolicy {
  explicit Grudge(const Context&) {}
  std::optional<unsigned> pick(const policy::KernelView& view) override {
    KernelSet others = view.fits;
    others.clear(5);
    return others.any() ? std::optional(others.first()) : std::nullopt;
  }
};
TEST(KernelSuite, CatchesAKernelThatIsNeverServed) {
  EXPECT_THAT(check_kernel(faulty<KernelPolicy, Grudge>(), 1), HasSubstr("although all fit"));
}

/// Remembers kernels from one instance to the next.
struct Haunted final : KernelPolicy {
  explicit Haunted(const Context&) : even(++instances % 2 == 0) {}
  std::optional<unsigned> pick(const policy::KernelView& view) override {
    return even ? view.fits.first() : view.age.oldest(view.fits);
  }
  static inline unsigned instances = 0;
  bool even;
};
TEST(KernelSuite, CatchesHiddenState) {
  EXPECT_THAT(check_kernel(faulty<KernelPolicy, Haunted>(), 1), HasSubstr("other decisions"));
}

/// One counter for all launches: right as long as they follow one another.
struct Shared final : BlockPolicy {
  explicit Shared(const Context&) {}
  void on_launch(const policy::BlockLaunch& launch) override {
    next = 0;
    blocks = launch.blocks;
  }
  std::optional<BlockChoice> pick(const policy::BlockView& view) override {
    if (next == blocks) return std::nullopt;
    return BlockChoice{view.free_sms.first(), next++};
  }
  std::uint32_t next = 0, blocks = 0;
};
TEST(BlockSuite, CatchesLaunchesThatAreMixedUp) {
  EXPECT_THAT(check_block(faulty<BlockPolicy, Shared>(), 1), HasSubstr("names a block"));
}

/// The first way, whatever is in it.
struct FirstWay final : ReplacementPolicy {
  explicit FirstWay(const Context&) {}
  unsigned victim(const policy::SetView&) const override { return 0; }
};
TEST(ReplacementSuite, CatchesAWayThatMayNotBeGivenAway) {
  EXPECT_THAT(check_replacement(faulty<ReplacementPolicy, FirstWay>(), 1),
              HasSubstr("which may not be given away"));
}

/// Another one each time it is asked.
struct Turning final : ReplacementPolicy {
  explicit Turning(const Context&) {}
  unsigned victim(const policy::SetView& view) const override {
    return ++asked % 3 == 0 ? lowest(view.candidates) : view.oldest(view.candidates);
  }
  mutable unsigned asked = 0;
};
TEST(ReplacementSuite, CatchesDependenceOnHowOftenItIsAsked) {
  EXPECT_THAT(check_replacement(faulty<ReplacementPolicy, Turning>(), 1),
              HasSubstr("being asked more often changes"));
}

/// Depends on the run of the program, not on the seed.
struct Stray final : ReplacementPolicy {
  explicit Stray(const Context&) : odd(++made % 2 == 1) {}
  unsigned victim(const policy::SetView& view) const override {
    return odd ? lowest(view.candidates) : view.oldest(view.candidates);
  }
  bool odd;
  static inline unsigned made = 0;
};
TEST(ReplacementSuite, CatchesInstancesThatDiffer) {
  EXPECT_THAT(check_replacement(faulty<ReplacementPolicy, Stray>(), 1),
              HasSubstr("the same history"));
}

/// The oldest, ready or not.
struct Impatient final : DramPolicy {
  explicit Impatient(const Context&) {}
  std::optional<unsigned> pick(const policy::DramView& view) override {
    return view.age.oldest(view.candidates);
  }
};
TEST(DramSuite, CatchesARequestThatCannotIssue) {
  EXPECT_THAT(check_dram(faulty<DramPolicy, Impatient>(), 1, {}), HasSubstr("which cannot issue"));
}

/// Row hits only.
struct HitsOnly final : DramPolicy {
  explicit HitsOnly(const Context&) {}
  std::optional<unsigned> pick(const policy::DramView& view) override {
    const Mask128 hits = view.row_hits & view.issuable;
    return hits.any() ? std::optional(view.age.oldest(hits)) : std::nullopt;
  }
};
TEST(DramSuite, CatchesRequestsThatAreNeverServed) {
  EXPECT_THAT(check_dram(faulty<DramPolicy, HitsOnly>(), 1, {false}),
              HasSubstr("requests are never served"));
}

/// Youngest first: under sustained traffic the oldest waits forever.
struct Youngest final : DramPolicy {
  explicit Youngest(const Context&) {}
  std::optional<unsigned> pick(const policy::DramView& view) override {
    Mask128 left = view.issuable;
    unsigned slot = left.first();
    for (; left.any(); left.clear(slot)) slot = view.age.oldest(left);
    return slot;
  }
};
TEST(DramSuite, CatchesStarvation) {
  EXPECT_THAT(check_dram(faulty<DramPolicy, Youngest>(), 1, {}), HasSubstr("a request has waited"));
}

/// Every third time it is asked, somebody else.
struct Counting final : DramPolicy {
  explicit Counting(const Context&) {}
  std::optional<unsigned> pick(const policy::DramView& view) override {
    return ++asked % 3 == 0 ? view.issuable.first() : view.age.oldest(view.issuable);
  }
  unsigned asked = 0;
};
TEST(DramSuite, CatchesDependenceOnHowOftenItIsAsked) {
  EXPECT_THAT(check_dram(faulty<DramPolicy, Counting>(), 1, {false}),
              HasSubstr("asked more often"));
}

/// Caps that leave a tenant nothing.
struct Unfair final : SchemePolicy {
  explicit Unfair(const Context& context) : sms(context.sms) {}
  Cycle look(const policy::SchemeView&, policy::Knobs& knobs) override {
    knobs.tenant[3].block_cap.assign(sms, 0);
    return kNever;
  }
  unsigned sms;
};
TEST(SchemeSuite, CatchesATenantWithoutAnSm) {
  EXPECT_THAT(check_scheme(faulty<SchemePolicy, Unfair>(), 1), HasSubstr("no SM to tenant 3"));
}

/// One kind of knobs in even cycles, another in odd ones.
struct ClockWatcher final : SchemePolicy {
  explicit ClockWatcher(const Context&) {}
  Cycle look(const policy::SchemeView& view, policy::Knobs& knobs) override {
    knobs.tenant[0].active_blocks = view.now % 2 == 0 ? 1 : 2;
    return view.now + 50;
  }
};
TEST(SchemeSuite, CatchesAbsoluteTime) {
  EXPECT_THAT(check_scheme(faulty<SchemePolicy, ClockWatcher>(), 1),
              HasSubstr("depends on when the run starts"));
}

/// Wants to look in the same cycle again.
struct Restless final : SchemePolicy {
  explicit Restless(const Context&) {}
  Cycle look(const policy::SchemeView& view, policy::Knobs&) override { return view.now; }
};
TEST(SchemeSuite, CatchesALookThatEndsNoCycle) {
  EXPECT_THAT(check_scheme(faulty<SchemePolicy, Restless>(), 1), HasSubstr("looks again before"));
}

/// Moves whoever comes first, may it leave or not.
struct Hasty final : MigratePolicy {
  explicit Hasty(const Context&) {}
  Cycle look(policy::MigrateView& view) override {
    for (std::uint32_t sm = 0; sm + 1 < view.mshrs().size(); ++sm) {
      const unsigned slot = 0;
      if ((view.resident(sm) & 1) != 0 && view.fits(sm, {&slot, 1}, sm + 1))
        view.move({sm, 0, sm + 1});
    }
    return view.now() + 10;
  }
};
TEST(MigrateSuite, CatchesAWarpThatMayNotLeave) {
  EXPECT_THAT(check_migrate(faulty<MigratePolicy, Hasty>(), 1), HasSubstr("may not leave"));
}

/// Counts its looks as if they were cycles.
struct SamplingCounter final : MigratePolicy {
  explicit SamplingCounter(const Context&) {}
  Cycle look(policy::MigrateView&) override {
    ++samplings;
    return kNever;
  }
  void visit_statistics(FieldVisitor& v) override { v.field("looks", samplings, {}, "", ""); }
  std::uint64_t samplings = 0;
};
TEST(MigrateSuite, CatchesStatisticsOfTheLooks) {
  EXPECT_THAT(check_migrate(faulty<MigratePolicy, SamplingCounter>(), 1),
              HasSubstr("counts depend on how often"));
}

/// Wants to move on in the same cycle.
struct Sleepless final : MigratePolicy {
  explicit Sleepless(const Context&) {}
  Cycle look(policy::MigrateView& view) override { return view.now(); }
};
TEST(MigrateSuite, CatchesALookThatEndsNoCycle) {
  EXPECT_THAT(check_migrate(faulty<MigratePolicy, Sleepless>(), 1),
              HasSubstr("looks again before"));
}

}  // namespace
}  // namespace raddle::contract::suite_catches_test
