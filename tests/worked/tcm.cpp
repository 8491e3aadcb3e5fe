// Thread cluster memory scheduling by hand: who is in which cluster, and who goes first.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "raddle/policy/all.h"
#include "raddle/policy/dram/thread_clusters.h"
#include "support/settings.h"

namespace raddle::policy::tcm_test {
namespace {

struct Did {
  std::uint64_t instructions, requests, bytes;
};
std::array<TenantCounts, kMaxTenants> counts(const std::vector<Did>& did) {
  std::array<TenantCounts, kMaxTenants> out;
  for (std::size_t t = 0; t < did.size(); ++t) {
    out[t].instructions = did[t].instructions;
    out[t].dram_reads = did[t].requests - did[t].requests / 4;
    out[t].dram_writes = did[t].requests / 4;
    out[t].dram_bytes = did[t].bytes;
  }
  return out;
}

/// The first tenants in order of rank, a bar behind the latency cluster: "2 0 | 1 3".
std::string clusters(const std::vector<Did>& did, std::uint32_t percent) {
  const ThreadClusters c = thread_clusters(counts(did), percent);
  std::string out;
  for (unsigned i = 0; i < kMaxTenants; ++i) {
    if (i == c.latency) out += "| ";
    if (c.order[i] < did.size()) out += std::to_string(c.order[i]) + " ";
  }
  return out;
}

// Requests per thousand instructions: 50, 1, 4, 20; of 1000 bytes 600, 60, 140, 200.
const std::vector<Did> kFour = {
    {8'000, 400, 600}, {40'000, 40, 60}, {25'000, 100, 140}, {10'000, 200, 200}};

TEST(ThreadClusters, TheLeastIntensiveUpToAShareOfTheBandwidth) {
  EXPECT_EQ(clusters(kFour, 20), "1 2 | 3 0 ") << "60 + 140 are 20 %";
  EXPECT_EQ(clusters(kFour, 19), "1 | 2 3 0 ");
  EXPECT_EQ(clusters(kFour, 40), "1 2 3 | 0 ");
  EXPECT_EQ(clusters(kFour, 5), "| 1 2 3 0 ");
}

TEST(ThreadClusters, TheFirstThatIsTooMuchEndsTheClusterAlthoughALaterOneWouldFit) {
  // 1, 2 and 3 requests per thousand instructions.
  EXPECT_EQ(clusters({{1'000, 1, 10}, {1'000, 2, 80}, {1'000, 3, 10}}, 20), "0 | 1 2 ");
}

TEST(ThreadClusters, WhoExecutesNothingIsTheMostIntensiveIfItAsksAtAll) {
  EXPECT_EQ(clusters({{0, 10, 10}, {1'000, 999, 990}}, 99), "1 | 0 ");
  EXPECT_EQ(clusters({{0, 0, 0}, {1'000, 500, 500}}, 20), "0 | 1 ");
}

/// A queue of hits, one of each tenant, in order of arrival; who goes at memory cycle `now`.
class Queue {
 public:
  explicit Queue(const test::Settings& settings)
      : policy_(test::choose(all_policies().dram, "tcm", settings)->make({})) {}
  DramPolicy& policy() { return *policy_; }
  unsigned first(const std::vector<unsigned>& tenants, std::uint64_t now) {
    std::vector<DramTag> tags(128);
    AgeMatrix128 age;
    Mask128 all;
    for (unsigned i = 0; i < tenants.size(); ++i) {
      tags[i].tenant = static_cast<TenantId>(tenants[i]);
      tags[i].bank = static_cast<std::uint8_t>(i);
      age.insert(i);
      all.set(i);
    }
    return tenants.at(*policy_->pick({all, all, all, {}, age, tags, now}));
  }

 private:
  std::unique_ptr<DramPolicy> policy_;
};

TEST(Tcm, InTheFirstQuantumTheOldestGoes) {
  Queue queue(test::Settings{});
  EXPECT_EQ(queue.first({0, 1, 2, 3}, 5), 0u);
  EXPECT_EQ(queue.policy().changes_after(5), kNever);
}

TEST(Tcm, TheLatencyClusterGoesFirstInOrderOfIntensity) {
  Queue queue(test::Settings{{"latency_share", "20"}});
  queue.policy().learn(counts(kFour));
  for (std::uint64_t now = 0; now < 20'000; now += 500) {
    EXPECT_EQ(queue.first({0, 3, 2, 1}, now), 1u);
    EXPECT_EQ(queue.first({0, 3, 2}, now), 2u);
  }
}

TEST(Tcm, TheOthersTakeTurnsFromOneShuffleToTheNext) {
  Queue queue(test::Settings{{"shuffle", "800"}});
  queue.policy().learn(counts(kFour));
  EXPECT_EQ(queue.policy().changes_after(0), 800u);
  EXPECT_EQ(queue.policy().changes_after(799), 800u);
  EXPECT_EQ(queue.policy().changes_after(800), 1600u);
  unsigned wins = 0;
  for (std::uint64_t n = 0; n < 1000; ++n) {
    const unsigned first = queue.first({0, 3}, n * 800);
    EXPECT_EQ(queue.first({0, 3}, n * 800 + 799), first) << "until the next shuffle";
    wins += first == 3;
  }
  EXPECT_GT(wins, 450u);
  EXPECT_LT(wins, 550u);
}

TEST(Tcm, EveryOrderOfThreeComesEquallyOften) {
  Queue queue(test::Settings{{"shuffle", "1"}, {"latency_share", "0"}});
  queue.policy().learn(counts({{100, 10, 10}, {100, 10, 10}, {100, 10, 10}}));
  std::map<std::string, unsigned> seen;
  for (std::uint64_t n = 0; n < 6'000; ++n) {
    const unsigned a = queue.first({0, 1, 2}, n), b = a == 0 ? 1 : 0, c = 3 - a - b;
    const unsigned second = queue.first({b, c}, n);
    ++seen[std::to_string(a) + std::to_string(second)];
  }
  EXPECT_EQ(seen.size(), 6u);
  for (const auto& [order, times] : seen) {
    EXPECT_GT(times, 850u) << order;
    EXPECT_LT(times, 1150u) << order;
  }
}

TEST(Tcm, ShufflesInCyclesOfTheCore) {
  DramPolicy::Context context;
  context.core_mhz = 1800;
  context.memory_mhz = 900;
  const auto choice = test::choose(all_policies().dram, "tcm", {{"shuffle", "800"}});
  const auto policy = choice->make(context);
  policy->learn(counts(kFour));
  EXPECT_EQ(policy->changes_after(0), 400u);
}

TEST(Tcm, RowHitsAndAgeDecideInsideARank) {
  const auto policy = all_policies().dram.choose("tcm")->make({});
  policy->learn(counts(kFour));
  std::vector<DramTag> tags(128);
  AgeMatrix128 age;
  Mask128 all, hits;
  for (unsigned i = 0; i < 3; ++i) {
    tags[i].tenant = TenantId{1};
    tags[i].bank = static_cast<std::uint8_t>(i);
    age.insert(i);
    all.set(i);
  }
  hits.set(1);
  hits.set(2);
  EXPECT_EQ(policy->pick({all, hits, all, {}, age, tags, 0}), 1u);
}

}  // namespace
}  // namespace raddle::policy::tcm_test
