// Every kernel policy with every block policy: on the real dispatcher, with launches inside
// launches, all blocks go out, however tight the machine is.
#include <gtest/gtest.h>

#include <tuple>

#include "raddle/policy/dispatch/two_step.h"
#include "support/dispatch_rig.h"
#include "support/settings.h"

namespace raddle::contract::dispatch_pairs_test {
namespace {

using support::DispatchRig;
using support::PlannedLaunch;

struct BlockSetting {
  std::string policy;
  test::Settings of;
  std::string name() const {
    std::string name = policy;
    for (const auto& [key, value] : of) name += "_" + key + "_" + value;
    return name;
  }
  friend void PrintTo(const BlockSetting& setting, std::ostream* out) { *out << setting.name(); }
};

/// All block policies as they come, and what else changes when they decline.
std::vector<BlockSetting> block_settings() {
  std::vector<BlockSetting> all;
  for (const std::string& name : policy::all_policies().block.names()) all.push_back({name, {}});
  all.push_back({"rr", {{"reset", "true"}}});
  all.push_back({"chunk", {{"chunks_per_sm", "3"}}});
  all.push_back({"steal", {{"nested", "true"}}});
  all.push_back({"steal", {{"nested", "true"}, {"on_full", "stop"}, {"queue_entries", "1"}}});
  all.push_back({"steal", {{"nested", "true"}, {"steal_cycles", "70"}}});
  all.push_back({"steal", {{"on_full", "stop"}, {"queue_entries", "2"}}});
  return all;
}

using Pair = std::tuple<std::string, BlockSetting>;
class DispatchPairs : public ::testing::TestWithParam<Pair> {};

std::string pair_name(const ::testing::TestParamInfo<Pair>& info) {
  return std::get<0>(info.param) + "_" + std::get<1>(info.param).name();
}

TEST_P(DispatchPairs, NeverStandStill) {
  const auto& [kernel, block] = GetParam();
  const auto all = policy::all_policies();
  const auto kernel_choice = all.kernel.choose(kernel);
  const auto block_choice = test::choose(all.block, block.policy, block.of);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Rng rng(seed, "pairs");
    const timing::MachineSpec machine = support::tight_machine(rng);
    const auto launches = support::random_launches(rng, machine, 1 + rng.below(6), 60);
    std::vector<std::uint32_t> order[2];
    for (const bool every_cycle : {false, true}) {
      const Cycle window = 1 + seed % machine.dispatch_latency_cycles;
      timing::Dispatcher dispatcher(
          machine, window,
          std::make_unique<policy::TwoStep>(
              policy::NoParams{},
              policy::DispatchPolicy::Context{machine.sm.count, machine.kernels.entries, seed,
                                              kernel_choice.get(), block_choice.get()}),
          "two_step");
      DispatchRig rig(machine, dispatcher, window, launches, seed);
      ASSERT_EQ(rig.run(every_cycle), "") << "seed " << seed;
      for (const timing::BlockSpan& span : dispatcher.spans())
        order[every_cycle ? 1 : 0].insert(
            order[every_cycle ? 1 : 0].end(),
            {span.launch, span.block, span.sm, static_cast<std::uint32_t>(span.start)});
    }
    EXPECT_EQ(order[0], order[1]) << "asked in every cycle it decides otherwise, seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, DispatchPairs,
    ::testing::Combine(::testing::ValuesIn(policy::all_policies().kernel.names()),
                       ::testing::ValuesIn(block_settings())),
    pair_name);

}  // namespace
}  // namespace raddle::contract::dispatch_pairs_test
