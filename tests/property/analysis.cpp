// Analyses of whole runs: they change nothing, depend on nothing the host chooses, and agree with
// the timing model where both can tell.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "raddle/config/reader.h"
#include "raddle/sim/profile/analysis.h"
#include "raddle/stats/instruction_counters.h"
#include "support/whole.h"

namespace raddle::analysis_test {
namespace {

using test::RunSpec;

std::vector<sim::AnalysisRequest> all_timed() {
  std::vector<sim::AnalysisRequest> out;
  for (const char* name : {"locality", "cache", "source", "warps:sm=1,begin=500,end=4000"})
    out.push_back(sim::read_analysis(name, "test"));
  return out;
}

RunSpec observed(const std::string& gpu) {
  RunSpec spec{gpu};
  spec.options.analyses = all_timed();
  return spec;
}

/// Its blocks need more registers than an SM of that machine has.
bool too_large(const std::string& workload, const std::string& gpu) {
  return workload == "sgemm" && gpu == "ccws";
}

class Observed : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Tiny, Observed, testing::ValuesIn(test::workloads_of_all_machines()),
                         [](const auto& i) { return i.param; });

// The paper's tool was checked like this (CCWS section 4; row ccws.n.sagcs): cache-only LRU
// of the machine's own cache misses as often as the timing model. Pending hits are hits there.
// What differs is a store that meets its line while it is on its way: here it is there already and
// goes. At `small` that is below 0.1 points for every workload (bfs 0.00, memc 0.09); of the few
// thousand accesses of `tiny` a handful are more.
constexpr double kRaces = 24;

TEST_P(Observed, CacheOnlyLruAgreesWithTheTimingModelsOwn) {
  if (too_large(GetParam(), "ccws")) GTEST_SKIP();
  for (const char* warp : {"warp=gto", "warp=lrr"})
    for (const char* size : {"32", "8"}) {  // 8: at this size of inputs 32 KiB hold all there is
      RunSpec spec = observed("ccws");
      spec.policy = {warp};
      spec.set = {std::string("sm.l1d.size_kib=") + size};
      const sim::Result r = test::run(GetParam(), spec);
      const auto& lru = r.analysis["cache"]["lru"];
      const auto& sm = r.totals.sm;
      EXPECT_EQ(lru["accesses"], sm.l1d_accesses);
      EXPECT_NEAR(100 * lru["miss_rate"].get<double>(),
                  100 * static_cast<double>(sm.l1d_misses) /
                      static_cast<double>(std::max<std::uint64_t>(sm.l1d_accesses, 1)),
                  std::max(0.1, 100 * kRaces / static_cast<double>(sm.l1d_accesses)))
          << warp << ", " << size << " KiB";
    }
}

TEST_P(Observed, CountsAreThoseOfTheCountersOnEveryMachine) {
  for (const char* gpu : {"ccws", "gtx480", "v100", "h200", "ikra", "laperm"}) {
    if (too_large(GetParam(), gpu)) continue;
    const sim::Result result = test::run(GetParam(), observed(gpu));
    const auto& sm = result.totals.sm;
    const auto& seen = result.analysis["locality"];
    EXPECT_EQ(seen["accesses"], sm.l1d_accesses) << gpu;
    EXPECT_EQ(seen["hits"], sm.l1d_hits) << gpu;
    EXPECT_EQ(seen["pending_hits"], sm.l1d_pending_hits) << gpu;
    EXPECT_EQ(seen["misses"], sm.l1d_misses) << gpu;
    const auto sum = [](const auto& of) {
      return of["intra_thread_hits"].template get<std::uint64_t>() +
             of["inter_thread_hits"].template get<std::uint64_t>() +
             of["inter_warp_hits"].template get<std::uint64_t>();
    };
    EXPECT_EQ(sum(seen), sm.l1d_hits) << gpu;
    EXPECT_EQ(sum(seen["pending"]), sm.l1d_pending_hits) << gpu;
    std::uint64_t warps = 0;
    for (const sim::KernelResult& k : result.kernels)
      warps += k.grid.count() * ((k.block.count() + kLanes - 1) / kLanes);
    EXPECT_EQ(seen["warps"], warps) << gpu;
    std::uint64_t fewest = ~std::uint64_t{0};
    for (const char* replacement : {"lru", "belady", "unbounded"}) {
      const auto& cache = result.analysis["cache"][replacement];
      EXPECT_EQ(cache["accesses"], sm.l1d_accesses) << gpu << " " << replacement;
      EXPECT_EQ(sum(cache), cache["hits"]) << gpu << " " << replacement;
      const auto misses = cache["misses"].get<std::uint64_t>();
      EXPECT_LE(misses, fewest) << gpu << " " << replacement;
      fewest = misses;
    }
  }
}

TEST_P(Observed, ObservingChangesNothingAndTheHostChangesNoFigure) {
  for (const char* gpu : {"ccws", "v100"}) {
    if (too_large(GetParam(), gpu)) continue;
    RunSpec spec = observed(gpu);
    const sim::Result first = test::run(GetParam(), spec);
    EXPECT_EQ(test::state_hash(first), test::state_hash(test::run(GetParam(), {gpu}))) << gpu;
    EXPECT_FALSE(sim::to_json(test::run(GetParam(), {gpu})).contains("analysis"));
    const std::string figures = first.analysis.dump();
    EXPECT_EQ(sim::to_json(first)["analysis"].dump(), figures);
    spec.options.threads = 3;
    EXPECT_EQ(figures, test::run(GetParam(), spec).analysis.dump()) << gpu << ": threads";
    spec.options.threads = 1;
    spec.options.skip = false;
    EXPECT_EQ(figures, test::run(GetParam(), spec).analysis.dump()) << gpu << ": no skip";
    spec.options.skip = true;
    spec.options.shuffle = true;
    EXPECT_EQ(figures, test::run(GetParam(), spec).analysis.dump()) << gpu << ": shuffled";
  }
}

TEST_P(Observed, AWindowOfTheOnlySmHasAllThatItIssuesAndStallsAreNoneOfAWarpThatIssues) {
  constexpr Cycle kEnd = 20'000;  // a window has no more
  RunSpec spec{"gtx480", {"sm.count=1"}};
  spec.options.analyses = {sim::read_analysis("warps:end=20000", "test")};
  const sim::Result r = test::run(GetParam(), spec);
  const auto& window = r.analysis["warps"];
  EXPECT_GT(window["issues"].size(), 0u);
  EXPECT_LE(window["issues"].size(), r.totals.sm.issued);
  if (r.cycles <= kEnd) {
    EXPECT_EQ(window["issues"].size(), r.totals.sm.issued);
  }
  std::vector<std::uint64_t> followed(timing::SmSpec::kMaxWarps);  // behind its last state, by slot
  for (const auto& run : window["states"]) {
    const auto slot = run[0].get<std::size_t>();
    EXPECT_GE(run[1].get<std::uint64_t>(), followed[slot]) << "in one state at a time";
    EXPECT_GT(run[2].get<std::uint64_t>(), run[1].get<std::uint64_t>());
    followed[slot] = run[2].get<std::uint64_t>();
    if (run.size() < 5) continue;
    const auto cause = run[4].get<std::size_t>();
    if (run[3] == "memory") {
      const auto& issue = window["issues"][window["accesses"][cause]["issue"].get<std::size_t>()];
      EXPECT_EQ(issue[0], run[0]) << "a warp waits for its own load";
      EXPECT_LE(issue[1].get<std::uint64_t>(), run[1].get<std::uint64_t>());
    } else {
      EXPECT_EQ(run[3], "barrier");
      EXPECT_LT(window["issues"].at(cause)[1].get<std::uint64_t>(), run[2].get<std::uint64_t>());
    }
  }
}

/// Of all lines of a source analysis.
std::uint64_t sum_of(const nlohmann::ordered_json& source, const char* figure) {
  std::uint64_t sum = 0;
  for (const auto& kernel : source["kernels"])
    for (const auto& line : kernel["lines"]) sum += line[figure].get<std::uint64_t>();
  return sum;
}
std::uint64_t warps_in(const nlohmann::ordered_json& source, const std::string& state) {
  std::uint64_t sum = 0;
  for (const auto& kernel : source["kernels"])
    for (const auto& line : kernel["lines"]) sum += line["warps"].value(state, std::uint64_t{0});
  return sum;
}

TEST_P(Observed, LinesSumUpToTheRun) {
  for (const char* gpu : {"gtx480", "v100", "h200", "ikra", "laperm", "latoa"}) {
    if (too_large(GetParam(), gpu)) continue;
    const sim::Result r = test::run(GetParam(), observed(gpu));
    const auto& sm = r.totals.sm;
    const auto& source = r.analysis["source"];
    EXPECT_EQ(sum_of(source, "issued"), sm.issued) << gpu;
    EXPECT_EQ(sum_of(source, "thread_instructions"), sm.thread_instructions) << gpu;
    EXPECT_EQ(sum_of(source, "l1d_hits"), sm.l1d_hits) << gpu;
    EXPECT_EQ(sum_of(source, "l1d_pending_hits"), sm.l1d_pending_hits) << gpu;
    EXPECT_EQ(sum_of(source, "l1d_misses"), sm.l1d_misses) << gpu;
  }
}

// Their loads under way are entered anew on the other SM, which has not issued them.
TEST(SourceAnalysis, LinesOfWarpsThatMoveSumUpToTheRun) {
  RunSpec spec{"latoa"};
  spec.policy = {"migrate=random:interval=50"};
  spec.options.analyses = {sim::read_analysis("source", "test")};
  const sim::Result r = test::run("srad", spec);
  const auto& moved = r.policies["migrate"]["statistics"];
  ASSERT_GT(moved["warps"], 1000);
  ASSERT_GT(moved["loads_moved"], 1000);
  const auto& source = r.analysis["source"];
  EXPECT_EQ(sum_of(source, "issued"), r.totals.sm.issued);
  EXPECT_EQ(sum_of(source, "thread_instructions"), r.totals.sm.thread_instructions);
  EXPECT_EQ(sum_of(source, "l1d_hits"), r.totals.sm.l1d_hits);
  EXPECT_EQ(sum_of(source, "l1d_pending_hits"), r.totals.sm.l1d_pending_hits);
  EXPECT_EQ(sum_of(source, "l1d_misses"), r.totals.sm.l1d_misses);
  EXPECT_LE(sum_of(source, "awaited"), warps_in(source, "memory"));
}

TEST(SourceAnalysis, LooksSeeWhatWarpsDoOnAverage) {
  RunSpec spec{"gtx480"};
  spec.options.analyses = {sim::read_analysis("source:interval_cycles=8", "test")};
  const sim::Result r = test::run("bfs", spec, runtime::Size::Small);
  const auto& source = r.analysis["source"];
  const double cycles = static_cast<double>(r.cycles);
  EXPECT_NEAR(source["looks"].get<double>() * 8, cycles, 0.01 * cycles);
  std::uint64_t seen = 0;
  for (unsigned state = 0; state < stats::kWarpStates; ++state)
    seen += warps_in(source, std::string(stats::warp_state_name(state)));
  // Those that have ended and wait for their stores are seen, and not among the warp-cycles.
  const auto warp_cycles = static_cast<double>(r.totals.scheduler.warp_cycles);
  EXPECT_GT(8 * static_cast<double>(seen), 0.97 * warp_cycles);
  EXPECT_LT(8 * static_cast<double>(seen), 1.15 * warp_cycles);
  EXPECT_GT(warps_in(source, "memory"), seen / 2) << "bfs waits for memory";
  const std::uint64_t awaited = sum_of(source, "awaited");  // all but those that wait for stores
  EXPECT_LE(awaited, warps_in(source, "memory"));
  EXPECT_GT(awaited, warps_in(source, "memory") * 9 / 10);
  EXPECT_EQ(warps_in(source, "idle") + warps_in(source, "launch"), 0u) << "no states of warps";
}

// A loop of as many cycles as a window of the engine has: looks that came with windows would all
// find it at one instruction.
TEST(SourceAnalysis, NoLoopRunsInStepWithTheLooks) {
  RunSpec spec{"h200"};
  spec.options.analyses = {sim::read_analysis("source:interval_cycles=8", "test")};
  auto loop = runtime::all_workloads().make("micro_units");
  config::Tree tree;
  for (const char* set : {"unit=loop", "threads=32", "blocks=1", "steps=100"})
    tree.set_option(set, set);
  config::Reader reader(tree);
  loop->visit(reader);
  const sim::Result r = test::run_on(*loop, "micro_units", spec);
  unsigned hot = 0, seen = 0;
  for (const auto& kernel : r.analysis["source"]["kernels"])
    for (const auto& line : kernel["lines"]) {
      if (line["issued"] < 10'000) continue;
      ++hot;
      seen += !line["warps"].empty();
    }
  EXPECT_GT(hot, 2u);
  EXPECT_EQ(seen, hot) << "each of them takes some cycles of each pass";
}

TEST(SourceAnalysis, AThrottledWarpIsSeenAsThat) {
  RunSpec spec{"ccws"};
  spec.policy = {"throttle=swl:limit=1"};
  spec.options.analyses = {sim::read_analysis("source:interval_cycles=8", "test")};
  const sim::Result r = test::run("bfs", spec);
  EXPECT_GT(warps_in(r.analysis["source"], "throttled"), 0u);
}

TEST(SourceAnalysis, LooksAtEveryLaunch) {
  RunSpec spec{"gtx480", {"run.sampling_error=0.1"}};
  spec.options.analyses = {sim::read_analysis("source", "test")};
  EXPECT_THROW(test::run("vecadd", spec), InputError);
}

// --- allocations --------------------------------------------------------------------------------

std::uint64_t sum_of_rows(const nlohmann::ordered_json& allocations, const char* figure) {
  std::uint64_t sum = 0;
  for (const auto& row : allocations["rows"]) {
    std::uint64_t by_kernel = 0;
    for (const auto& kernel : row["kernels"]) by_kernel += kernel[figure].get<std::uint64_t>();
    EXPECT_EQ(by_kernel, row[figure].get<std::uint64_t>()) << row["name"];
    sum += by_kernel;
  }
  return sum;
}

void expect_sums(const sim::Result& r, const std::string& what) {
  const auto& all = r.analysis["allocations"];
  const stats::SmCounters& sm = r.totals.sm;
  const stats::L2Counters& l2 = r.totals.l2;
  EXPECT_EQ(sum_of_rows(all, "l1d_hits"), sm.l1d_hits) << what;
  EXPECT_EQ(sum_of_rows(all, "l1d_pending_hits"), sm.l1d_pending_hits) << what;
  EXPECT_EQ(sum_of_rows(all, "l1d_misses"), sm.l1d_misses) << what;
  EXPECT_EQ(sum_of_rows(all, "l2_hits"), l2.hits) << what;
  EXPECT_EQ(sum_of_rows(all, "l2_pending_hits"), l2.pending_hits) << what;
  EXPECT_EQ(sum_of_rows(all, "l2_misses"), l2.misses) << what;
  EXPECT_EQ(sum_of_rows(all, "dram_read_bytes") + sum_of_rows(all, "dram_written_bytes"),
            r.totals.dram.bytes)
      << what;
  EXPECT_EQ(sum_of_rows(all, "dram_written_bytes"), r.totals.dram.written_bytes) << what;
  for (const auto& row : all["rows"])
    EXPECT_LE(row.value("touched_sectors", std::uint64_t{0}),
              row.value("sectors", std::uint64_t{0}))
        << what;
}

TEST(AllocationsAnalysis, RowsSumUpToTheRun) {
  for (const char* gpu : {"gtx480", "v100", "h200", "ikra", "latoa", "laperm"})
    for (const char* workload : {"bfs", "histogram", "srad", "nested_bfs"}) {
      RunSpec spec{gpu};
      spec.options.analyses = {sim::read_analysis("allocations", "test")};
      const sim::Result r = test::run(workload, spec);
      expect_sums(r, std::string(workload) + " on " + gpu);
      RunSpec plain{gpu};
      EXPECT_EQ(test::state_hash(r), test::state_hash(test::run(workload, plain))) << gpu;
    }
}

TEST(AllocationsAnalysis, TheSameWithSeveralThreads) {
  RunSpec one{"v100"}, two{"v100"};
  one.options.analyses = two.options.analyses = {sim::read_analysis("allocations", "test")};
  two.options.threads = 2;
  EXPECT_EQ(test::run("bfs", one).analysis, test::run("bfs", two).analysis);
}

TEST(AllocationsAnalysis, ThereIsOne) {
  RunSpec spec{"gtx480"};
  spec.options.analyses = {sim::read_analysis("a=allocations", "test"),
                           sim::read_analysis("b=allocations", "test")};
  EXPECT_THROW(test::run("vecadd", spec), InputError);
}

TEST(SourceAnalysis, ThereIsOneProfile) {
  RunSpec spec{"gtx480"};
  spec.options.analyses = {sim::read_analysis("a=source", "test"),
                           sim::read_analysis("b=source:interval_cycles=8", "test")};
  EXPECT_THROW(test::run("vecadd", spec), InputError);
}

TEST(ObservedRun, ARecordingGivesTheFiguresOfTheRun) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("raddle_observed_" + std::to_string(getpid()) + ".rdl");
  const RunSpec spec = observed("ccws");
  sim::Setup setup = test::make_setup(spec);
  auto workload = runtime::all_workloads().make("bfs");
  workload->set_size(runtime::Size::Tiny);
  sim::record(*workload, {"bfs", {}}, setup, {}, path.string());
  {
    const trace::FileReader file(path.string());
    std::vector<sim::Setup> setups;
    setups.push_back(test::make_setup(spec));
    const sim::Result replayed = std::move(sim::replay(file, setups, spec.options).front());
    EXPECT_EQ(replayed.analysis.dump(), test::run("bfs", spec).analysis.dump());
  }
  std::filesystem::remove(path);
}

TEST(ObservedRun, SeveralSetUpsAreObservedEachByItself) {
  std::vector<sim::Setup> setups;
  for (const char* warp : {"warp=lrr", "warp=gto"})
    setups.push_back(test::make_setup({"ccws", {}, {warp}}));
  auto workload = runtime::all_workloads().make("kmeans");
  workload->set_size(runtime::Size::Tiny);
  sim::Options options;
  options.analyses = all_timed();
  const auto together = sim::simulate(*workload, {"kmeans", {}}, setups, options);
  RunSpec alone = observed("ccws");
  alone.policy = {"warp=gto"};
  EXPECT_EQ(together[1].analysis.dump(), test::run("kmeans", alone).analysis.dump());
  EXPECT_NE(together[0].analysis.dump(), together[1].analysis.dump());
}

// DeNovo's L1 serves them, of words that it has registered; to other L1s they are nothing.
TEST(ObservedRun, VolatileLoadsAreSeenWhereTheCacheServesThem) {
  const std::string body =
      "mov.u32 %r1, %tid.x;\nmul.wide.u32 %d1, %r1, 4;\nadd.s64 %d2, %d0, %d1;\n"
      "ld.global.u32 %r2, [%d2];\nld.volatile.global.u32 %r3, [%d2];\n"
      "atom.global.add.u32 %r4, [%d2], %r3;\nld.volatile.global.u32 %r5, [%d2];\nret;\n";
  for (const bool denovo : {false, true}) {
    test::PtxWorkload work(test::ptx_kernel(body), "k", {2}, {32}, 32);
    const sim::Result r = test::run_on(work, "k", observed(denovo ? "ikra" : "v100"));
    const auto& sm = r.totals.sm;
    // On ikra 32 words are two lines.
    EXPECT_EQ(sm.l1d_accesses, denovo ? 2u * 2 * 3 : 2u);
    EXPECT_EQ(r.analysis["locality"]["accesses"], sm.l1d_accesses) << denovo;
    EXPECT_EQ(r.analysis["locality"]["misses"], sm.l1d_misses) << denovo;
    EXPECT_EQ(r.analysis["cache"]["lru"]["accesses"], sm.l1d_accesses) << denovo;
  }
}

TEST(ObservedRun, AFunctionalRunHasNothingToObserve) {
  RunSpec spec = observed("ccws");
  spec.options.functional = true;
  EXPECT_THROW(test::run("vecadd", spec), InputError);
}

}  // namespace
}  // namespace raddle::analysis_test
