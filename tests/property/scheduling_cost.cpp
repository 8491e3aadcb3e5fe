// What dealing blocks out costs: nothing, in time and in energy, as IKRA's section 5.2 has it,
// unless a thief is told to wait (steal_cycles).
#include <gtest/gtest.h>

#include "support/whole.h"

namespace raddle::scheduling_cost_test {
namespace {

constexpr unsigned kBlocks = 33;  // on 15 SMs: chunks of three and of two

/// A chain of additions, without memory: a block takes as long wherever and whenever it runs. The
/// first `long_blocks` blocks have five times as much to do.
sim::Result dealt(const std::string& block_policy, unsigned long_blocks = 0) {
  const std::string body = "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, 100;\nsetp.ge.u32 %p1, %r1, " +
                           std::to_string(long_blocks) +
                           ";\n@%p1 bra AGAIN;\nmov.u32 %r2, 500;\nAGAIN:\n"
                           "sub.u32 %r2, %r2, 1;\nsetp.ne.u32 %p2, %r2, 0;\n@%p2 bra AGAIN;\nret;";
  test::PtxWorkload work(test::ptx_kernel(body), "k", {kBlocks}, {64}, 1);
  return test::run_on(work, "chain", {"ikra", {"sm.blocks=1"}, {"block=" + block_policy}});
}

std::uint64_t steals(const sim::Result& r) {
  return r.policies["block"]["statistics"]["steals"].get<std::uint64_t>();
}

TEST(SchedulingCost, IsNoTimeWhoeverDealsBlocks) {
  const Cycle chunk = dealt("chunk").cycles;
  for (const char* other : {"reset", "flip", "steal"})
    EXPECT_EQ(dealt(other).cycles, chunk) << other;
  // On demand the last blocks go to other SMs, a cycle later each.
  EXPECT_NEAR(static_cast<double>(dealt("rr").cycles), static_cast<double>(chunk), 3);
  // The first chunk's three blocks are long: of them two are stolen, by SMs that have run theirs.
  const sim::Result steal = dealt("steal", 3);
  EXPECT_GT(steals(steal), 0u);
  EXPECT_LT(steal.cycles, dealt("chunk", 3).cycles);
  EXPECT_GT(dealt("steal:steal_cycles=1000", 3).cycles, steal.cycles) << "a thief that waits";
}

TEST(SchedulingCost, IsNoEnergyWhoeverDealsBlocks) {
  // What is static is time.
  const auto energy = [](const std::string& policy) {
    auto all = sim::to_json(dealt(policy, 3))["energy_pj"];
    for (const char* part : {"static_cores", "static_l2", "static_chip"}) all.erase(part);
    return all.dump();
  };
  const std::string rr = energy("rr");
  for (const char* other : {"chunk", "reset", "flip", "steal", "steal:steal_cycles=1000"})
    EXPECT_EQ(energy(other), rr) << other;
}

}  // namespace
}  // namespace raddle::scheduling_cost_test
