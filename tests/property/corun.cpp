// Tenants that share the GPU: whole co-runs of real workloads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <set>

#include "raddle/sim/corun/corun.h"
#include "raddle/timing/code/launch.h"
#include "raddle/timing/spec/address_regions.h"
#include "support/errors.h"
#include "support/meanings.h"
#include "support/whole.h"

namespace raddle::corun_test {
namespace {

using sim::CorunOptions;
using sim::TenantProgram;

const test::RunSpec kMachine{"gtx480", {}, {}, {}};

TenantProgram tenant(const std::string& name) {
  auto workload = runtime::all_workloads().make(name);
  workload->set_size(runtime::Size::Tiny);
  return sim::execute_tenant(*workload, {name, {}}, test::make_setup(kMachine), {});
}

std::vector<TenantProgram> tenants(const std::vector<std::string>& names) {
  std::vector<TenantProgram> out;
  for (const std::string& name : names) out.push_back(tenant(name));
  return out;
}

sim::Result corun(const std::vector<TenantProgram>& programs, const CorunOptions& corun,
                  sim::Options options = {}, test::RunSpec machine = kMachine) {
  sim::Setup setup = test::make_setup(machine);
  options.audit = true;
  return sim::corun(programs, setup, options, corun);
}

bool same(const stats::GpuCounters& a, const stats::GpuCounters& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

TEST(Corun, AccountsAddUpToTheGpusAndEveryOneIsCorrect) {
  const sim::Result r = corun(tenants({"bfs", "sgemm", "histogram"}), {150'000, 0, false});
  EXPECT_EQ(r.verdict, sim::Result::Verdict::Correct);
  EXPECT_EQ(r.cycles, 150'000u);
  EXPECT_EQ(r.workload, "bfs + sgemm + histogram");
  stats::GpuCounters sum;
  for (const sim::TenantResult& one : r.corun->tenants) {
    EXPECT_GT(one.counters.sm.issued, 0u) << one.name;
    EXPECT_GT(one.launches, 0u) << one.name;
    stats::accumulate(sum, one.counters);
  }
  sum.scheduler = r.totals.scheduler;
  EXPECT_TRUE(same(sum, r.totals));
  EXPECT_FALSE(r.corun->sharing);
}

/// The first round of a tenant that is alone is its ordinary run: the same counters when it ends,
/// in which everything that an SM counts has happened.
TEST(Corun, OneTenantDoesWhatItsOrdinaryRunDoes) {
  for (const char* name : {"bfs", "streams", "sgemm", "reduction"}) {
    const sim::Result whole = test::run(name, kMachine);
    const sim::Result first = corun(tenants({name}), {whole.cycles, 0, false});
    EXPECT_EQ(std::memcmp(&first.totals.sm, &whole.totals.sm, sizeof whole.totals.sm), 0) << name;
    EXPECT_EQ(std::memcmp(&first.totals.scheduler, &whole.totals.scheduler,
                          sizeof whole.totals.scheduler),
              0)
        << name;
    EXPECT_EQ(first.totals.dram.reads, whole.totals.dram.reads) << name;
    const sim::Result next = corun(tenants({name}), {whole.cycles + 100, 0, false});
    EXPECT_EQ(next.corun->tenants.front().rounds, 1u) << name;
    EXPECT_EQ(next.corun->tenants.front().launches, whole.kernels.size()) << name;
  }
}

TEST(Corun, WhatTheHostDoesChangesNothing) {
  const auto programs = tenants({"bfs", "streams", "spmv"});
  const CorunOptions to{60'001, 20'003, false};
  sim::Options slow, threaded;
  slow.skip = false;
  threaded.threads = 2;
  const std::string hash = test::state_hash(corun(programs, to));
  EXPECT_EQ(test::state_hash(corun(programs, to)), hash);
  EXPECT_EQ(test::state_hash(corun(programs, to, slow)), hash);
  EXPECT_EQ(test::state_hash(corun(programs, to, threaded)), hash);
}

TEST(Corun, TheWarmUpIsNotMeasuredAndChangesNothing) {
  const auto programs = tenants({"bfs", "sgemm"});
  const sim::Result all = corun(programs, {90'000, 0, false});
  const sim::Result warm = corun(programs, {30'000, 0, false});
  const sim::Result rest = corun(programs, {90'000, 30'000, false});
  EXPECT_TRUE(same(all.totals, rest.totals));
  for (std::size_t t = 0; t < 2; ++t) {
    stats::GpuCounters sum = warm.corun->tenants[t].counters;
    stats::accumulate(sum, rest.corun->tenants[t].counters);
    EXPECT_TRUE(same(sum, all.corun->tenants[t].counters));
    EXPECT_EQ(warm.corun->tenants[t].launches + rest.corun->tenants[t].launches,
              all.corun->tenants[t].launches);
  }
  EXPECT_EQ(rest.corun->measured(), 60'000u);
}

/// Tenants that are told from one another by nothing but their order and so their addresses: each
/// is slowed down, and neither by much more than the other.
TEST(Corun, TwoOfAKindAreSlowedDownAlike) {
  const auto programs = tenants({"sgemm", "sgemm"});
  test::RunSpec machine = kMachine;
  machine.policy = {"kernel=rr"};
  const sim::Result r = corun(programs, {150'000, 0, true}, {}, machine);
  ASSERT_TRUE(r.corun->sharing);
  EXPECT_GT(r.corun->sharing->fairness, 0.8);
  EXPECT_GT(r.corun->sharing->weighted_speedup, 0.9);
  EXPECT_LE(r.corun->sharing->harmonic_speedup, 1.0);
  EXPECT_NEAR(r.corun->sharing->antt * r.corun->sharing->harmonic_speedup, 1, 1e-12);
  EXPECT_EQ(r.corun->tenants[0].base, 0u);
  EXPECT_GT(r.corun->tenants[1].base, 0u);
}

TEST(Corun, AloneIsTheCorunOfOne) {
  const auto programs = tenants({"bfs", "sgemm"});
  const sim::Result both = corun(programs, {80'000, 10'000, true});
  const sim::Result one = corun({programs.data(), programs.data() + 1}, {80'000, 10'000, false});
  EXPECT_EQ(both.corun->tenants.front().ipc_alone, one.corun->ipc(one.corun->tenants.front()));
}

TEST(Corun, RecordingsAreTenantsToo) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("raddle_corun_" + std::to_string(getpid()) + ".rdl");
  sim::Setup setup = test::make_setup(kMachine);
  auto workload = runtime::all_workloads().make("streams");
  workload->set_size(runtime::Size::Tiny);
  sim::record(*workload, {"streams", {}}, setup, {}, path.string());
  std::vector<TenantProgram> from_file;
  from_file.push_back(sim::load_tenant(std::make_shared<trace::FileReader>(path.string())));
  from_file.push_back(tenant("bfs"));
  EXPECT_EQ(test::state_hash(corun(from_file, {50'000, 0, false})),
            test::state_hash(corun(tenants({"streams", "bfs"}), {50'000, 0, false})));
  std::filesystem::remove(path);
}

TEST(Corun, MemoriesLieOneBehindTheOther) {
  std::vector<TenantProgram> programs(3);
  programs[0].footprint = {0x1000, 0x5000};
  programs[1].footprint = {0x1000, 0x2080};
  programs[2].footprint = {0x40'0000, 0x40'1000};
  EXPECT_EQ(sim::bases_of(programs), (std::vector<Address>{0, 0x20'0000, 0}));
  programs[1].footprint.end = timing::kLocalBase;
  EXPECT_THAT([&] { sim::bases_of(programs); },
              testing::ThrowsMessage<InputError>(testing::HasSubstr("does not fit")));
}

TEST(Corun, MeasuresOfSharing) {
  const std::vector<double> alone = {100, 50}, shared = {50, 40};
  const auto s = sim::sharing(shared, alone);
  ASSERT_TRUE(s);
  EXPECT_DOUBLE_EQ(s->weighted_speedup, 0.5 + 0.8);
  EXPECT_DOUBLE_EQ(s->harmonic_speedup, 2 / (2 + 1.25));
  EXPECT_DOUBLE_EQ(s->antt, (2 + 1.25) / 2);
  EXPECT_DOUBLE_EQ(s->fairness, 1.25 / 2);
  EXPECT_FALSE(sim::sharing(std::vector<double>{0, 40}, alone)) << "has done nothing";
}

/// Schemes that look at what tenants do alone are told it before the tenants meet, whoever knows
/// it.
TEST(Corun, SchemesThatShareBlocksChangeNobodysResultAndDoTheSameHoweverRun) {
  const auto programs = tenants({"kmeans", "sgemm"});
  for (const char* scheme : {"smk:period=1000", "ws:curve_0=1/2/2.5", "ccbp:scale=0.02"}) {
    test::RunSpec machine{"ccbp", {}, {"warp=lrr", std::string("scheme=") + scheme}, {}};
    const CorunOptions run{40'000, 5'000, true};
    sim::Options slow, threaded;
    slow.skip = false;
    threaded.threads = 2;
    const sim::Result r = corun(programs, run, {}, machine);
    EXPECT_EQ(r.verdict, sim::Result::Verdict::Correct);
    ASSERT_TRUE(r.corun->sharing) << scheme;
    const std::string hash = test::state_hash(r);
    EXPECT_EQ(test::state_hash(corun(programs, run, slow, machine)), hash) << scheme;
    EXPECT_EQ(test::state_hash(corun(programs, run, threaded, machine)), hash) << scheme;
    CorunOptions known = run;
    known.alone = false;
    for (const sim::TenantResult& one : r.corun->tenants) known.ipc_alone.push_back(*one.ipc_alone);
    EXPECT_EQ(corun(programs, known, {}, machine).component_hash, r.component_hash) << scheme;
  }
}

TEST(Corun, LimitsAndQuotasOfMemoryInstructionsDoTheSameHoweverRun) {
  const auto programs = tenants({"bfs", "cfd"});
  std::set<std::uint64_t> seen;
  for (const char* policy : {"warp=gto", "throttle=mil:window=64", "warp=bmi:window=64"}) {
    const test::RunSpec machine{
        "ccbp", {"sm.count=2"}, {policy, "scheme=static:blocks_0=2,blocks_1=2"}, {}};
    const CorunOptions run{40'000, 0, false};
    sim::Options slow, threaded;
    slow.skip = false;
    threaded.threads = 2;
    const sim::Result r = corun(programs, run, {}, machine);
    EXPECT_EQ(r.verdict, sim::Result::Verdict::Correct);
    const std::string hash = test::state_hash(r);
    EXPECT_EQ(test::state_hash(corun(programs, run, slow, machine)), hash) << policy;
    EXPECT_EQ(test::state_hash(corun(programs, run, threaded, machine)), hash) << policy;
    EXPECT_TRUE(seen.insert(r.corun->tenants[0].counters.sm.load_cycles).second)
        << policy << " changed nothing";
  }
}

/// Tenants with load/store queues of their own take from each other what an access needs, so that
/// why it is refused changes while nothing happens to it.
TEST(Corun, RefusalsAreCountedUnderTheSameReasonsHoweverRun) {
  const auto programs = tenants({"spmv", "cfd"});
  const test::RunSpec machine{
      "ccbp",
      {"sm.count=4", "sm.l1d.mshr_entries=8", "sm.l1d.mshr_merges=2", "sm.l1d.miss_queue=4"},
      {"warp=lrr", "scheme=ccbp:scale=0.02,own_lsu=true"},
      {}};
  const CorunOptions run{40'000, 0, true};
  sim::Options slow;
  slow.skip = false;
  const sim::Result fast = corun(programs, run, {}, machine),
                    each = corun(programs, run, slow, machine);
  unsigned reasons = 0;
  for (std::size_t t = 0; t < 2; ++t) {
    const auto& refused = fast.corun->tenants[t].counters.sm.l1d_refused;
    EXPECT_EQ(refused, each.corun->tenants[t].counters.sm.l1d_refused) << t;
    for (const std::uint64_t cycles : refused) reasons += cycles != 0 ? 1 : 0;
  }
  EXPECT_GE(reasons, 3u) << "several reasons that could be taken for one another";
}

TEST(Corun, CcbpTellsItsPhases) {
  const test::RunSpec machine{"ccbp", {}, {"warp=lrr", "scheme=ccbp:scale=0.02"}, {}};
  const sim::Result r = corun(tenants({"kmeans", "sgemm"}), {40'000, 0, true}, {}, machine);
  const auto& scheme = r.policies.at("scheme");
  const auto& statistics = scheme.at("statistics");
  for (const char* part : {"parameters", "statistics"})
    test::expect_each_explained(scheme.at(part), scheme.at("meaning").at(part));
  const auto& phases = statistics.at("phases");
  ASSERT_GE(phases.size(), 4u);
  EXPECT_EQ(phases.at("00_warm_up").at("start_cycle"), 0);
  EXPECT_EQ(phases.at("01_sample").at("start_cycle"), phases.at("00_warm_up").at("end_cycle"));
  EXPECT_EQ(phases.at("02_decide").at("end_cycle"), 1800) << "90,000 x 0.02";
  double noc = 0;
  for (const auto& phase : phases) noc += phase.at("tenant_0").at("noc_units").get<double>();
  EXPECT_GT(noc, 0);
  EXPECT_GT(phases.at("00_warm_up").at("tenant_1").at("blocks"), 0);
  EXPECT_GT(statistics.at("assignments"), 0);
}

TEST(Corun, RefusesWhatMakesNoSense) {
  const auto programs = tenants({"sgemm"});
  auto error = [&](const CorunOptions& to, const sim::Options& options = {},
                   const test::RunSpec& machine = kMachine) -> std::string {
    try {
      corun(programs, to, options, machine);
    } catch (const InputError& e) {
      return e.what();
    }
    return "";
  };
  using testing::HasSubstr;
  EXPECT_THAT(error({0, 0}), HasSubstr("needs a horizon"));
  EXPECT_THAT(error({100, 100}), HasSubstr("fewer cycles than the horizon of 100, found 100"));
  sim::Options functional;
  functional.functional = true;
  EXPECT_THAT(error({100, 0}, functional), HasSubstr("--functional"));
  test::RunSpec live = kMachine;
  live.set = {"run.live=true"};
  EXPECT_THAT(error({100, 0}, {}, live), HasSubstr("--live"));
  EXPECT_THROW(corun(std::vector<TenantProgram>(9, programs.front()), {100, 0}), InputError);
}

}  // namespace
}  // namespace raddle::corun_test
