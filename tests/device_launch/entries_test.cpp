// More entries of the kernel distributor than the 32 of Kepler: launches by kernels (CDP) have
// entries of their own, so that many are under way at once. Results are what they always are, and
// the run is the same however it is simulated.
#include <gtest/gtest.h>

#include "device_launch/programs.h"
#include "support/at_once.h"

namespace raddle::test::entries_test {
namespace {

/// Two of three threads of each of 40 blocks launch two blocks.
const OneLaunch kMany{"_Z4manyPi", {40}, {32}, {}, 1280};

/// Launches that cost nothing, so that they are there at once.
RunSpec on_laperm(const std::string& entries, const std::string& policy) {
  RunSpec spec{"laperm"};
  if (!policy.empty()) spec.policy = {"dispatch=" + policy};
  spec.set = {"kernels.entries=" + entries, "kernels.entry_latency_cycles=0",
              "device_launch.percent=0"};
  return spec;
}

TEST(KernelEntries, AsManyLaunchesOfKernelsRunAtOnce) {
  const std::vector<int> words = launch_one(kMany, functional()).words;
  for (const char* policy : {"", "rr", "tb_pri", "smx_bind", "adaptive_bind"}) {
    long before = 0;
    for (const unsigned entries : {32u, 128u, 256u}) {
      const Outcome1 out = launch_one(kMany, on_laperm(std::to_string(entries), policy));
      EXPECT_EQ(out.words, words) << policy << " " << entries;
      const long maximum = support::max_at_once(out.result.kernels);
      EXPECT_LE(maximum, entries) << policy;
      if (entries == 32) EXPECT_EQ(maximum, 32) << policy << ": more launches pend than there are";
      else EXPECT_GT(maximum, 32) << policy;
      EXPECT_GE(maximum, before) << policy;
      before = maximum;
    }
  }
}

TEST(KernelEntries, ManyMakeOneRunHoweverItIsSimulated) {
  for (const char* policy : {"", "adaptive_bind"}) {
    const auto hash = [&](const std::function<void(RunSpec&)>& change) {
      RunSpec spec = on_laperm("128", policy);
      change(spec);
      return state_hash(launch_one(kMany, spec).result);
    };
    const auto once = hash([](RunSpec&) {});
    EXPECT_EQ(once, hash([](RunSpec& s) { s.options.skip = false; })) << policy;
    EXPECT_EQ(once, hash([](RunSpec& s) { s.options.threads = 2; })) << policy;
  }
}

}  // namespace
}  // namespace raddle::test::entries_test
