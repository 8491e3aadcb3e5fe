// Every workload with warps that move at random, every few hundred cycles: nothing is lost, nothing
// is done twice, and what the host does changes nothing.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <utility>

#include "support/whole.h"

namespace raddle::migration_test {
namespace {

using test::RunSpec;

class MovingWarps : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Tiny, MovingWarps, testing::ValuesIn(test::workloads_of_all_machines()),
                         [](const auto& i) { return i.param; });

RunSpec moving(const std::string& policy) {
  RunSpec spec{"latoa"};
  spec.policy = {"migrate=" + policy};
  spec.options.audit = true;
  return spec;
}

void expect_same_work(const sim::Result& away, const sim::Result& home) {
  EXPECT_EQ(away.verdict, sim::Result::Verdict::Correct) << away.difference;
  EXPECT_EQ(away.totals.sm.issued, home.totals.sm.issued);
  EXPECT_EQ(away.totals.sm.thread_instructions, home.totals.sm.thread_instructions);
  EXPECT_EQ(away.totals.sm.loads, home.totals.sm.loads);
  EXPECT_EQ(away.totals.sm.atomics, home.totals.sm.atomics);
  EXPECT_EQ(away.totals.sm.l1d_stores, home.totals.sm.l1d_stores);
  EXPECT_EQ(away.totals.sm.shared_accesses, home.totals.sm.shared_accesses);
  EXPECT_EQ(away.totals.sm.blocks, home.totals.sm.blocks);
}

TEST_P(MovingWarps, DoWhatTheyDoAtHome) {
  const sim::Result home = test::run(GetParam(), {"latoa"});
  const sim::Result away = test::run(GetParam(), moving("random:interval=100"));
  expect_same_work(away, home);
  // docs/metrics.md: what the kinds of packets leave of all bytes is what migration sends.
  const auto left = [](const sim::Result& result) {
    const auto json = sim::to_json(result);
    const auto& noc = json.at("details").at("noc");
    std::uint64_t bytes = json.at("totals").at("noc_bytes");
    bytes -= noc.at("memory").at("bytes").get<std::uint64_t>();
    for (const char* direction : {"request", "reply"})
      for (const std::string_view kind : stats::kNocKindNames)
        bytes -= noc.at(direction).at(kind).at("bytes").get<std::uint64_t>();
    return bytes;
  };
  EXPECT_EQ(left(home), 0u);
  const auto statistics = sim::to_json(away)["policies"]["migrate"]["statistics"];
  const std::uint64_t sent = statistics["context_bytes"].get<std::uint64_t>() +
                             statistics["message_bytes"].get<std::uint64_t>();
  EXPECT_EQ(left(away) == 0, sent == 0);
  EXPECT_GE(left(away), sent);
}

// As many moves as the environment asks for (RADDLE_MOVES; docs/performance.md has a night's), in
// runs of other seeds: barriers and shared memory, divergence, local memory.
TEST(ManyMoves, LoseNothingAndDoNothingTwice) {
  using runtime::Size;
  const char* asked = std::getenv("RADDLE_MOVES");
  const std::uint64_t wanted = asked != nullptr ? std::stoull(asked) : 25'000;
  std::uint64_t moves = 0;
  for (std::uint64_t seed = 1; moves < wanted; ++seed) {
    for (const auto& [workload, size] : {std::pair{"srad", Size::Small},
                                         {"bfs", Size::Tiny},
                                         {"libor", Size::Tiny},
                                         {"mum", Size::Tiny},
                                         {"scan", Size::Small}}) {
      RunSpec stays{"latoa"}, moves_about = moving("random:interval=80");
      stays.set = moves_about.set = {"run.seed=" + std::to_string(seed)};
      const sim::Result home = test::run(workload, stays, size);
      const sim::Result away = test::run(workload, moves_about, size);
      SCOPED_TRACE(std::string(workload) + ", seed " + std::to_string(seed));
      expect_same_work(away, home);
      ASSERT_FALSE(HasFailure());
      const auto statistics = sim::to_json(away)["policies"]["migrate"]["statistics"];
      moves += statistics["warps"].get<std::uint64_t>();
      if (moves >= wanted) break;
    }
  }
  EXPECT_GE(moves, wanted);
}

void expect_same_whatever_the_host_does(const std::string& workload, RunSpec spec) {
  SCOPED_TRACE(workload + " " + spec.policy.front());
  const sim::Result result = test::run(workload, spec);
  EXPECT_NE(result.verdict, sim::Result::Verdict::Wrong) << result.difference;
  spec.options.skip = false;
  EXPECT_EQ(test::state_hash(result), test::state_hash(test::run(workload, spec))) << "no skip";
  spec.options.skip = true;
  spec.options.shuffle = true;
  spec.options.threads = 2;
  EXPECT_EQ(test::state_hash(result), test::state_hash(test::run(workload, spec)))
      << "shuffled, on two threads";
}

TEST_P(MovingWarps, AreTheSameWhateverTheHostDoes) {
  for (const char* policy : {"random:interval=100", "latoa:converged=false"})
    expect_same_whatever_the_host_does(GetParam(), moving(policy));
}

// Windows are as long as signals take: what comes inside one, the unit must not sleep through.
TEST(MovingWarpsOfSlowSignals, AreTheSameWhateverTheHostDoes) {
  for (const char* workload : {"raytrace", "scan"})
    for (const char* policy : {"random:interval=100,", "latoa:converged=false,", "balance:"})
      for (const char* cycles : {"2", "32"})
        expect_same_whatever_the_host_does(workload,
                                           moving(std::string(policy) + "signal_cycles=" + cycles));
}

// With ranks of cores in the headers of requests, which segments of contexts do not have.
TEST(MovingWarpsAndCriticality, GoTogether) {
  RunSpec spec = moving("latoa:converged=false");
  spec.policy.push_back("dram=clams");
  expect_same_whatever_the_host_does("bfs", spec);
}

}  // namespace
}  // namespace raddle::migration_test
