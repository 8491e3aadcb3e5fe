// Queues of a dispatch policy that overflow into global memory (docs/mechanisms/laperm.md): each
// entry is a store and a load of its SM that the L2 sees, the run is the same however it is
// simulated, and results are what they are without.
#include <gtest/gtest.h>

#include <numeric>

#include "device_launch/programs.h"

namespace raddle::test::queues_test {
namespace {

/// 22 of 32 threads of each of 40 blocks launch two blocks.
const OneLaunch kMany{"_Z4manyPi", {40}, {32}, {}, 1280};

RunSpec on_laperm(const std::string& policy, std::vector<std::string> set = {}) {
  RunSpec spec{"laperm"};
  spec.policy = {"dispatch=" + policy};
  spec.set = std::move(set);
  spec.set.emplace_back("device_launch.model=dtbl");
  return spec;
}

std::uint64_t overflows(const sim::Result& result) {
  return sim::to_json(result)["policies"]["dispatch"]["statistics"]["overflows"];
}
std::uint64_t l2_accesses(const sim::Result& result) {
  return sim::to_json(result)["totals"]["l2_accesses"];
}

TEST(QueuesInMemory, AreRealRequests) {
  for (const char* policy : {"rr", "tb_pri", "smx_bind", "adaptive_bind"}) {
    const Outcome1 chip = launch_one(kMany, on_laperm(policy));
    const Outcome1 memory = launch_one(kMany, on_laperm(policy + std::string(":table=1")));
    EXPECT_EQ(overflows(chip.result), 0u) << policy;
    const std::uint64_t moved = overflows(memory.result);
    EXPECT_GT(moved, 100u) << policy;
    EXPECT_EQ(l2_accesses(memory.result), l2_accesses(chip.result) + 2 * moved)
        << policy << ": each is written and fetched, and nothing else is a line access here";
    EXPECT_EQ(memory.words, chip.words) << policy;
  }
}

// Under CDP the entries of these queues are kernels: many at once where launches are free.
TEST(QueuesInMemory, HoldKernelsToo) {
  for (const char* policy : {"smx_bind", "adaptive_bind"}) {
    const auto run = [&](const std::string& parameters) {
      RunSpec spec = on_laperm(policy + parameters);
      spec.set = {"kernels.entries=256", "kernels.entry_latency_cycles=0",
                  "device_launch.percent=0"};
      return launch_one(kMany, spec);
    };
    const Outcome1 chip = run(""), memory = run(":table=1");
    EXPECT_EQ(overflows(chip.result), 0u) << policy;
    const std::uint64_t moved = overflows(memory.result);
    EXPECT_GT(moved, 10u) << policy;
    EXPECT_EQ(l2_accesses(memory.result), l2_accesses(chip.result) + 2 * moved) << policy;
    EXPECT_EQ(memory.words, chip.words) << policy;
  }
}

TEST(QueuesInMemory, MakeOneRunHoweverItIsSimulated) {
  const auto hash = [](const std::function<void(RunSpec&)>& change) {
    RunSpec spec = on_laperm("smx_bind:table=2");
    change(spec);
    return state_hash(launch_one(kMany, spec).result);
  };
  const auto once = hash([](RunSpec&) {});
  EXPECT_EQ(once, hash([](RunSpec&) {}));
  EXPECT_EQ(once, hash([](RunSpec& s) { s.options.skip = false; }));
  EXPECT_EQ(once, hash([](RunSpec& s) { s.options.threads = 2; }));
}

TEST(QueuesInMemory, AlsoUnderDeNovo) {
  RunSpec spec = on_laperm("smx_bind:table=1", {"kernels.entries=32"});
  spec.gpu = "ikra";
  const Outcome1 out = launch_one(kMany, spec);
  EXPECT_GT(overflows(out.result), 100u);
  EXPECT_EQ(out.words, launch_one(kMany, functional()).words);
}

}  // namespace
}  // namespace raddle::test::queues_test
