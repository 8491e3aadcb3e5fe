// Dispatch policies on the real dispatcher and kernel management unit: every registered one, with
// random trees of launches on tight machines; policies with one fault each, which must be named;
// and what the interface carries that no shipped policy uses: groups of blocks, priorities,
// waiting.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>

#include "raddle/base/error.h"
#include "raddle/policy/all.h"
#include "support/dispatch_rig.h"
#include "support/settings.h"

namespace raddle::contract::dispatch_policies_test {
namespace {

using policy::BlockDispatch;
using policy::DispatchPolicy;
using policy::DispatchView;
using policy::GridId;
using policy::GridInfo;
using policy::kNoGrid;
using policy::PendingView;
using support::DispatchRig;
using support::PlannedLaunch;
using ::testing::HasSubstr;
using timing::Dispatcher;
using timing::MachineSpec;

/// What happened, and what was wrong: a rule, or the dispatcher's error.
struct Played {
  std::string broken;
  std::vector<std::uint32_t> order;
  std::vector<Dispatcher::Entered> entered;
  std::size_t in_memory = 0;  ///< entries of queues
};

Played play(const MachineSpec& machine, std::unique_ptr<DispatchPolicy> policy,
            const std::vector<PlannedLaunch>& launches, std::uint64_t seed, bool every_cycle) {
  Dispatcher dispatcher(machine, machine.dispatch_latency_cycles, std::move(policy), "tested");
  DispatchRig rig(machine, dispatcher, machine.dispatch_latency_cycles, launches, seed);
  Played out;
  try {
    out.broken = rig.run(every_cycle);
  } catch (const RunError& error) {
    out.broken = error.what();
  }
  for (const timing::BlockSpan& span : dispatcher.spans())
    out.order.insert(out.order.end(),
                     {span.launch, span.block, span.sm, static_cast<std::uint32_t>(span.start)});
  out.entered = dispatcher.entered();
  out.in_memory = rig.queue_writes();
  return out;
}

DispatchPolicy::Context context_of(const MachineSpec& machine, std::uint64_t seed) {
  return {machine.sm.count, machine.kernels.entries, seed, nullptr, nullptr};
}

/// Every rule of the contract, over random launches on random machines.
template <class Make>
void expect_sound(Make make, std::uint64_t seeds) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    Rng rng(seed, "dispatch");
    const MachineSpec machine = support::tight_machine(rng);
    const auto launches = support::random_launches(rng, machine, 1 + rng.below(6), 80);
    const Played skipping = play(machine, make(context_of(machine, seed)), launches, seed, false);
    const Played asked = play(machine, make(context_of(machine, seed)), launches, seed, true);
    ASSERT_EQ(skipping.broken, "") << "seed " << seed;
    ASSERT_EQ(asked.broken, "") << "seed " << seed;
    EXPECT_EQ(skipping.order, asked.order) << "ticked in every cycle it decides otherwise " << seed;
  }
}

class DispatchContract : public ::testing::TestWithParam<std::string> {};
TEST_P(DispatchContract, Holds) {
  const auto all = policy::all_policies();
  const auto choice = all.dispatch.choose(GetParam());
  const auto kernel = all.kernel.choose("fcfs");
  const auto block = all.block.choose("rr");
  expect_sound(
      [&](DispatchPolicy::Context context) {
        context.kernel = kernel.get();
        context.block = block.get();
        return choice->make(context);
      },
      40);
}
INSTANTIATE_TEST_SUITE_P(All, DispatchContract,
                         ::testing::ValuesIn(policy::all_policies().dispatch.names()),
                         [](const auto& info) { return info.param; });

// Where launches join kernels as groups, with tables on the chip that overflow.
class GroupContract : public ::testing::TestWithParam<std::string> {};
TEST_P(GroupContract, HoldsWithQueuesInMemory) {
  std::size_t in_memory = 0, joined = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Rng rng(seed, "groups");
    MachineSpec machine = support::tight_machine(rng);
    machine.device_launch.model = timing::LaunchModel::Dtbl;
    machine.device_launch.per_cycle = rng.below(3);
    auto launches = support::random_launches(rng, machine, 1 + rng.below(3), 150);
    for (PlannedLaunch& launch : launches)
      if (rng.below(3) != 0) launch.needs = launches[0].needs;
    const auto choice = test::choose(policy::all_policies().dispatch, GetParam(),
                                     {{"table", std::to_string(1 + rng.below(6))}});
    const Played skipping =
        play(machine, choice->make(context_of(machine, seed)), launches, seed, false);
    const Played asked =
        play(machine, choice->make(context_of(machine, seed)), launches, seed, true);
    ASSERT_EQ(skipping.broken, "") << "seed " << seed;
    ASSERT_EQ(asked.broken, "") << "seed " << seed;
    EXPECT_EQ(skipping.order, asked.order) << "ticked in every cycle it decides otherwise " << seed;
    in_memory += skipping.in_memory;
    for (const Dispatcher::Entered& entered : skipping.entered) joined += entered.joined ? 1 : 0;
  }
  EXPECT_GT(joined, 500u);
  EXPECT_GT(in_memory, 100u);
}
INSTANTIATE_TEST_SUITE_P(All, GroupContract,
                         ::testing::Values("rr", "tb_pri", "smx_bind", "adaptive_bind"),
                         [](const auto& info) { return info.param; });

/// The grid that began first and fits, its blocks in order, to the first SM with room.
struct Plain : DispatchPolicy {
  std::optional<BlockDispatch> pick(const DispatchView& view) override {
    for (GridId grid = view.oldest; grid != kNoGrid; grid = view.after(grid))
      if (const SmSet room = view.free_sms(grid); room.any())
        return BlockDispatch{grid, next[grid]++, room.first()};
    return std::nullopt;
  }
  void on_enter(const GridInfo& grid) override { next[grid.id] = 0; }
  std::map<GridId, std::uint32_t> next;
};
TEST(DispatchPolicies, TheSmallestOneIsSound) {
  expect_sound([](const auto&) { return std::make_unique<Plain>(); }, 40);
}

// --- policies with one fault each ---------------------------------------------------------------

/// Plain, with one of the ways to stand still.
struct Faulty final : Plain {
  enum class Fault { NoBlock, NoEntry, LastBlock, BrokenPromise };
  explicit Faulty(Fault f) : fault(f) {}
  std::optional<GridId> admit(const PendingView& view) override {
    return fault == Fault::NoEntry ? std::nullopt : std::optional(view.oldest);
  }
  std::optional<BlockDispatch> pick(const DispatchView& view) override {
    if (fault == Fault::NoBlock || fault == Fault::BrokenPromise) return std::nullopt;
    if (fault == Fault::LastBlock && view.grids[view.oldest].left == 1) return std::nullopt;
    return Plain::pick(view);
  }
  Cycle waits_until(Cycle now) const override {
    return fault == Fault::BrokenPromise ? now - 1 : kNever;
  }
  std::string refusals() const override { return "policy 'x=faulty' declines"; }
  Fault fault;
};

std::string outcome_of(Faulty::Fault fault) {
  Rng rng(3, "faulty");
  const MachineSpec machine = support::tight_machine(rng);
  const auto launches = support::random_launches(rng, machine, 4, 20);
  return play(machine, std::make_unique<Faulty>(fault), launches, 3, false).broken;
}

TEST(Standstill, APolicyThatDeclinesForEverIsNamed) {
  for (const auto fault : {Faulty::Fault::NoBlock, Faulty::Fault::LastBlock}) {
    const std::string text = outcome_of(fault);
    EXPECT_THAT(text, HasSubstr("policy 'dispatch=tested' gives nothing although blocks fit"));
    EXPECT_THAT(text, HasSubstr("policy 'x=faulty' declines")) << "who refused what";
    EXPECT_THAT(text, HasSubstr("SMs have free slots"));
  }
}
TEST(Standstill, SoIsOneThatLetsNobodyIn) {
  const std::string text = outcome_of(Faulty::Fault::NoEntry);
  EXPECT_THAT(text, HasSubstr("gives nothing although an entry is free and "));
  EXPECT_THAT(text, HasSubstr("wait for an entry"));
}
TEST(Standstill, ACycleThatIsOverIsNoPromise) {
  EXPECT_THAT(outcome_of(Faulty::Fault::BrokenPromise), HasSubstr("gives nothing although"));
}

/// The parts of two_step are named one by one.
TEST(Standstill, TwoStepSaysWhichOfItsPoliciesDeclines) {
  struct NoBlocks final : policy::BlockPolicy {
    using Params = policy::NoParams;
    NoBlocks(const Params&, const Context&) {}
    void on_launch(const policy::BlockLaunch&) override {}
    std::optional<policy::BlockChoice> pick(const policy::BlockView&) override {
      return std::nullopt;
    }
  };
  struct NoKernel final : policy::KernelPolicy {
    using Params = policy::NoParams;
    NoKernel(const Params&, const Context&) {}
    std::optional<unsigned> pick(const policy::KernelView&) override { return std::nullopt; }
  };
  policy::Registries all = policy::all_policies();
  all.block.add<NoBlocks>("no_blocks", "");
  all.kernel.add<NoKernel>("no_kernel", "");
  auto text = [&](const char* kernel, const char* block) {
    Rng rng(3, "faulty");
    const MachineSpec machine = support::tight_machine(rng);
    const auto launches = support::random_launches(rng, machine, 2, 2);
    const auto kernel_choice = all.kernel.choose(kernel);
    const auto block_choice = all.block.choose(block);
    DispatchPolicy::Context context = context_of(machine, 1);
    context.kernel = kernel_choice.get();
    context.block = block_choice.get();
    return play(machine, all.dispatch.choose("two_step")->make(context), launches, 1, false).broken;
  };
  EXPECT_THAT(text("fcfs", "no_blocks"), HasSubstr("policy 'block=no_blocks' declines launch 0"));
  EXPECT_THAT(text("no_kernel", "rr"), HasSubstr("policy 'kernel=no_kernel' names none of launch"));
}

/// Gives a block only in cycles that it has said before.
TEST(Waiting, APolicyMayWaitWhenItSaysUntilWhen) {
  struct Sleeper final : Plain {
    std::optional<BlockDispatch> pick(const DispatchView& view) override {
      return view.now % 1000 == 0 ? Plain::pick(view) : std::nullopt;
    }
    Cycle waits_until(Cycle now) const override { return (now / 1000 + 1) * 1000; }
  };
  Rng rng(5, "sleeper");
  MachineSpec machine = support::tight_machine(rng);
  machine.kernels.block_interval_millicycles = 1000;
  const auto launches = support::random_launches(rng, machine, 3, 8);
  const Played played = play(machine, std::make_unique<Sleeper>(), launches, 5, false);
  EXPECT_EQ(played.broken, "");
  for (std::size_t i = 3; i < played.order.size(); i += 4)
    EXPECT_EQ((played.order[i] - machine.dispatch_latency_cycles) % 1000, 0u);
}

// --- groups of blocks (DTBL), priorities --------------------------------------------------------

/// Two SMs; one parent of `blocks` blocks, each with a child of the same needs.
std::vector<PlannedLaunch> parent_with_children(std::uint32_t blocks,
                                                const timing::BlockNeeds& of) {
  std::vector<PlannedLaunch> launches(1 + blocks);
  launches[0].grid = {blocks};
  for (std::uint32_t i = 0; i < blocks; ++i) launches[0].children.push_back({i, 1 + i});
  for (std::uint32_t i = 1; i <= blocks; ++i) {
    launches[i].grid = {2};
    launches[i].depth = 1;
  }
  for (PlannedLaunch& launch : launches) launch.needs = of;
  return launches;
}

MachineSpec two_sms(std::uint32_t entries) {
  MachineSpec machine = support::small_machine();
  machine.sm.count = 2;
  machine.kernels.entries = entries;
  machine.dispatch_latency_cycles = 5;
  machine.device_launch.model = timing::LaunchModel::Dtbl;
  return machine;
}

/// Children join their parent's kernel when it is still in its entry.
struct Groups final : Plain {
  std::optional<unsigned> join(const GridInfo& grid, const KernelSet& entries) override {
    EXPECT_GT(grid.parent.depth, 0u);
    EXPECT_FALSE(grid.entry.has_value());
    return entries.first();
  }
  void on_enter(const GridInfo& grid) override {
    Plain::on_enter(grid);
    ++in_entry[grid.entry.value()];
    entry_of[grid.id] = grid.entry.value();
    maximum = std::max(maximum, in_entry[grid.entry.value()]);
  }
  void on_grid_end(GridId grid) override { --in_entry[entry_of.at(grid)]; }
  std::map<unsigned, unsigned> in_entry;
  std::map<GridId, unsigned> entry_of;
  unsigned maximum = 0;
};

TEST(BlockGroups, ShareTheEntryOfTheKernelTheyJoin) {
  const MachineSpec machine = two_sms(1);
  const auto launches = parent_with_children(60, {64, 2, 1024, 0});
  auto policy = std::make_unique<Groups>();
  Groups& groups = *policy;
  Dispatcher dispatcher(machine, 5, std::move(policy), "groups");
  DispatchRig rig(machine, dispatcher, 5, launches, 1);
  ASSERT_EQ(rig.run(false), "");
  std::size_t joined = 0;
  for (const Dispatcher::Entered& entered : dispatcher.entered())
    if (entered.joined) ++joined;
  EXPECT_EQ(dispatcher.entered().size(), launches.size());
  EXPECT_GT(joined, 40u) << "all but those that came when no such kernel was under way";
  EXPECT_GT(groups.maximum, 4u) << "several grids in one entry";
  for (const auto& [entry, left] : groups.in_entry) EXPECT_EQ(left, 0u) << entry;
  EXPECT_TRUE(dispatcher.idle());
}

TEST(BlockGroups, OfAnotherSizeFindNothingToJoin) {
  const MachineSpec machine = two_sms(4);
  auto launches = parent_with_children(20, {64, 2, 1024, 0});
  for (std::size_t i = 1; i < launches.size(); ++i)
    launches[i].needs.shared_bytes = static_cast<std::uint32_t>(16 * i);
  const Played played = play(machine, std::make_unique<Groups>(), launches, 1, false);
  EXPECT_EQ(played.broken, "");
  for (const Dispatcher::Entered& entered : played.entered) EXPECT_FALSE(entered.joined);
}

TEST(BlockGroups, AreAsManyAsThereAre) {
  const MachineSpec machine = two_sms(1);
  const auto launches = parent_with_children(3000, {64, 2, 1024, 0});
  const Played played = play(machine, std::make_unique<Groups>(), launches, 1, false);
  EXPECT_EQ(played.broken, "");
  EXPECT_EQ(played.entered.size(), 3001u);
}

/// The deepest pending grid first, of one depth the one that came first.
struct Deepest final : Plain {
  void on_grid(const GridInfo& grid) override {
    depth[grid.id] = grid.parent.depth;
    sequence[grid.id] = grid.sequence;
  }
  std::optional<GridId> admit(const PendingView& view) override {
    GridId best = view.oldest;
    for (GridId grid = view.oldest; grid != kNoGrid; grid = view.after(grid))
      if (depth[grid] > depth[best]) best = grid;
    order.push_back(depth[best]);
    return best;
  }
  std::map<GridId, std::uint32_t> depth;
  std::map<GridId, std::uint64_t> sequence;
  std::vector<std::uint32_t> order;
};

TEST(Admission, IsThePolicysInOrderOfCycles) {
  const MachineSpec machine = two_sms(1);
  auto launches = parent_with_children(4, {64, 2, 1024, 0});
  launches.resize(9, launches[0]);
  for (std::size_t i = 5; i < 9; ++i) launches[i].children.clear();
  auto policy = std::make_unique<Deepest>();
  Deepest& deepest = *policy;
  Dispatcher dispatcher(machine, 5, std::move(policy), "deepest");
  DispatchRig rig(machine, dispatcher, 5, launches, 7);
  ASSERT_EQ(rig.run(true), "");
  EXPECT_EQ(deepest.order.front(), 0u) << "the first finds nothing deeper";
  EXPECT_TRUE(std::is_sorted(deepest.order.begin() + 1, deepest.order.end(), std::greater<>()))
      << "then all children, though four of the host came before them";
}

}  // namespace
}  // namespace raddle::contract::dispatch_policies_test
