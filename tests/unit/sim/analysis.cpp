// How analyses are asked for as text, what they are told of the machine, what is built for them and
// refused, and what the figures of L1Ds are made of.
#include "raddle/sim/profile/analysis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "raddle/config/describer.h"
#include "raddle/policy/all.h"
#include "raddle/sim/profile/l1_machine.h"
#include "raddle/sim/profile/run_analyses.h"
#include "raddle/sim/setup/gpus.h"
#include "raddle/sim/setup/setup.h"
#include "support/errors.h"

namespace raddle::sim::analysis_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

using Json = nlohmann::ordered_json;

// --- text ---------------------------------------------------------------------------------------

TEST(ReadAnalysis, ANameAloneIsItsLabel) {
  const AnalysisRequest locality = read_analysis("locality", "here");
  EXPECT_EQ(locality.label, "locality");
  EXPECT_EQ(locality.choice->name(), "locality");
  const AnalysisRequest cache = read_analysis("cache", "here");
  EXPECT_EQ(cache.label, "cache");
  EXPECT_EQ(cache.choice->parameters().dump(),
            R"({"replacement":"lru+belady+unbounded","size_kib":0,"ways":0})")
      << "0: the machine's";
}

TEST(ReadAnalysis, OptionsAndALabelOfItsOwn) {
  const AnalysisRequest r =
      read_analysis("small-8=cache:size_kib=8,ways=4,replacement=lru+belady", "here");
  EXPECT_EQ(r.label, "small-8");
  EXPECT_EQ(r.choice->parameters().dump(), R"({"replacement":"lru+belady","size_kib":8,"ways":4})");
}

TEST(ReadAnalysis, SourceHasAnInterval) {
  EXPECT_EQ(read_analysis("source", "here").choice->parameters()["interval_cycles"], 64u);
  const AnalysisRequest often = read_analysis("often=source:interval_cycles=7", "here");
  EXPECT_EQ(often.label, "often");
  EXPECT_EQ(often.choice->parameters()["interval_cycles"], 7u);
  EXPECT_EQ(often.choice->observes(), Observed::Instructions);
}

TEST(ReadAnalysis, MistakesAreToldWithTheirPlace) {
  const auto said = [](std::string_view text) {
    return test::input_error_of([&] { read_analysis(text, "cell 3"); });
  };
  EXPECT_THAT(said("cash"), AllOf(HasSubstr("cell 3"), HasSubstr("'cash'"),
                                  HasSubstr("known: allocations cache dependencies footprint "
                                            "locality source warps; did you mean 'cache'?")));
  EXPECT_THAT(said("cache:size=8"), AllOf(HasSubstr("cell 3"), HasSubstr("size_kib")));
  EXPECT_THAT(said("cache:size_kib=many"), AllOf(HasSubstr("size_kib"), HasSubstr("many")));
  EXPECT_THAT(said("cache:size_kib=-1"), AllOf(HasSubstr("size_kib"), HasSubstr("-1")));
  EXPECT_THAT(said("cache:size_kib=65537"), AllOf(HasSubstr("65536"), HasSubstr("65537")));
  EXPECT_THAT(said("cache:size_kib=1,ways=99999"), HasSubstr("ways"));
  EXPECT_THAT(said("cache:replacement=mru"), AllOf(HasSubstr("cell 3"), HasSubstr("'mru'")));
  EXPECT_THAT(said("cache:replacement=lru+lru"), HasSubstr("twice"));
  EXPECT_THAT(said("locality:size_kib=8"), HasSubstr("size_kib"));
  EXPECT_THAT(said("cache:size_kib"), HasSubstr("size_kib"));
  EXPECT_THAT(said("source:interval_cycles=0"),
              AllOf(HasSubstr("interval_cycles"), HasSubstr("0")));
  EXPECT_THAT(said("source:often=1"), HasSubstr("interval_cycles"));
  for (const char* text : {"", ":", "=cache", "cache:", "a b=cache", "a.b=cache", "x="})
    EXPECT_THAT(said(text), HasSubstr("cell 3")) << text;
}

TEST(ReadAnalysis, ReplacementsAreAListOfNames) {
  EXPECT_EQ(read_analysis("cache:replacement=belady+lru", "").choice->parameters()["replacement"],
            "belady+lru");
  for (const auto& [text, said] :
       std::map<std::string, std::string>{{"fifo",
                                           "replacement: expected lru, belady or unbounded, "
                                           "found 'fifo'"},
                                          {"lru+", "found ''"},
                                          {"lru+lru", "'lru' is there twice"},
                                          {"LRU", "expected lru, belady or unbounded"}})
    EXPECT_THAT(test::input_error_of([&] { read_analysis("cache:replacement=" + text, "here"); }),
                HasSubstr(said));
}

TEST(ReadAnalysis, LinesOfFootprintsArePowersOfTwo) {
  for (const unsigned bytes : {4u, 32u, 64u, 128u, 4096u})
    EXPECT_NO_THROW(read_analysis("footprint:line_bytes=" + std::to_string(bytes), "here"));
  for (const unsigned bytes : {0u, 1u, 2u, 96u, 129u, 8192u, 0x80000000u})
    EXPECT_EQ(
        test::input_error_of(
            [&] { read_analysis("footprint:line_bytes=" + std::to_string(bytes), "here"); }),
        "here: line_bytes: expected a power of two from 4 to 4096, found " + std::to_string(bytes));
}

// --- the registry -------------------------------------------------------------------------------

TEST(AnalysisRegistry, HasTheFilesOfTheFolder) {
  EXPECT_THAT(all_analyses().names(), ElementsAre("allocations", "cache", "dependencies",
                                                  "footprint", "locality", "source", "warps"));
}

TEST(AnalysisRegistry, EachSaysWhatItsFiguresMean) {
  const AnalysisRegistry all = all_analyses();
  for (const std::string& name : all.names()) {
    const auto choice = all.choose(name);
    EXPECT_EQ(choice->name(), name);
    EXPECT_NE(choice->doc(), "") << name;
    config::Describer figures;
    choice->describe(figures);
    unsigned explained = 0;
    for (const config::FieldDescription& figure : figures.fields()) explained += figure.doc != "";
    EXPECT_GT(explained, 8u) << name;
  }
  config::Describer figures;
  all.choose("allocations")->describe(figures);
  std::vector<std::string> units;
  for (const config::FieldDescription& figure : figures.fields())
    if (figure.path == "rows.dram_read_bytes") units.push_back(figure.unit);
  EXPECT_THAT(units, ElementsAre("bytes"));
}

class Dull final : public Analysis {
 public:
  using Params = NoAnalysisParams;
  static constexpr Observed kObserves = Observed::Streams;
  explicit Dull(const std::vector<Asked<Params>>& asked) : requests_(asked.size()) {}
  std::vector<Json> figures(const RunTotals&) const override {
    return std::vector(requests_, Json{{"dull", true}});
  }
  static void describe(FieldVisitor&) {}

 private:
  std::size_t requests_;
};

TEST(AnalysisRegistry, ANameIsTakenOnce) {
  AnalysisRegistry own;
  own.add<Dull>("dull", "nothing");
  EXPECT_EQ(read_analysis("a=dull", "here", own).choice->doc(), "nothing");
  EXPECT_EQ(test::input_error_of([&] { own.add<Dull>("dull", "more"); }),
            "two analyses are called 'dull'");
}

// --- what a run can have ------------------------------------------------------------------------

std::vector<AnalysisRequest> requests(const std::vector<std::string>& texts) {
  std::vector<AnalysisRequest> out;
  for (const std::string& text : texts) out.push_back(read_analysis(text, ""));
  return out;
}

std::string refusal(const std::vector<std::string>& texts, const AnalysedRun& run) {
  return test::input_error_of([&] { check_analyses(requests(texts), run); });
}

TEST(CheckAnalyses, ALabelIsGivenOnce) {
  EXPECT_EQ(refusal({"cache", "cache:ways=1"}, {}),
            "analysis cache: is asked for twice; give one another label");
}

TEST(CheckAnalyses, EveryKindSaysWhichRunsItCannotHave) {
  const AnalysedRun functional{.timed = false}, sampled{.sampled = true}, live{.live = true},
      replayed{.replayed = true}, some{.some_launches = true}, corun{.corun = true};
  const std::map<std::string, std::vector<const AnalysedRun*>> refused = {
      {"allocations", {&functional, &sampled, &corun}},
      {"cache", {&functional, &sampled, &corun}},
      {"dependencies", {&live, &replayed, &some, &corun}},
      {"footprint", {&live, &corun}},
      {"locality", {&functional, &sampled, &corun}},
      {"source", {&functional, &sampled}}};
  for (const auto& [name, runs] : refused) {
    EXPECT_NO_THROW(check_analyses(requests({name}), {})) << name;
    for (const AnalysedRun* run : {&functional, &sampled, &live, &replayed, &some, &corun}) {
      const bool said = std::ranges::find(runs, run) != runs.end();
      if (said) EXPECT_THAT(refusal({name}, *run), HasSubstr(name));
      else EXPECT_NO_THROW(check_analyses(requests({name}), *run)) << name;
    }
  }
}

// --- L1Ds ---------------------------------------------------------------------------------------

timing::MachineSpec machine(const std::string& gpu, unsigned sms, unsigned size_kib,
                            unsigned ways) {
  timing::MachineSpec out = read_setup(load_gpu(gpu), policy::all_policies()).machine;
  out.sm.count = sms;
  out.sm.l1d.size_kib = size_kib;
  out.sm.l1d.ways = ways;
  return out;
}

TEST(ObservedL1, IsTheMachines) {
  const auto of = [](const std::string& gpu) {
    return observed_l1(read_setup(load_gpu(gpu), policy::all_policies()).machine);
  };
  const L1Machine ccws = of("ccws");
  EXPECT_EQ(ccws.sms, 30u);
  EXPECT_EQ(ccws.size_kib, 32u);
  EXPECT_EQ(ccws.ways, 8u);
  EXPECT_EQ(ccws.rules.line_bytes, 128u);
  EXPECT_EQ(ccws.rules.line_sectors, 1u);
  EXPECT_TRUE(ccws.rules.store_evicts);
  EXPECT_FALSE(ccws.rules.local_store_evicts);
  EXPECT_TRUE(ccws.rules.bypassing_load_evicts) << "local data may be dirty";
  const L1Machine v100 = of("v100");
  EXPECT_EQ(v100.rules.line_sectors, 0xfu);
  EXPECT_FALSE(v100.rules.store_evicts);
}

std::string cannot_build(const std::string& text, const timing::MachineSpec& machine) {
  return test::input_error_of([&] { RunAnalyses::of_gpu(requests({text}), machine); });
}

TEST(CacheAnalysis, CachesThatCannotBeBuiltAreRefused) {
  EXPECT_EQ(cannot_build("cache:size_kib=1,ways=3", machine("ccws", 1, 32, 8)),
            "analysis cache: size_kib = 1 is not a whole number of sets of 3 ways x 128 bytes");
  EXPECT_NE(cannot_build("wide=cache:size_kib=1,ways=16", machine("ccws", 1, 32, 8)), "");
  for (const char* name : {"locality", "cache"})
    EXPECT_EQ(cannot_build(name, machine("ccws", 1, 0, 8)),
              std::string("analysis ") + name + ": the machine has no L1D (sm.l1d.size_kib = 0)");
}

void say(policy::L1Observer& o, std::uint32_t line, policy::L1Outcome outcome) {
  o.access(
      {.line = line, .lanes = 1, .sectors = 1, .kind = policy::L1Kind::Load, .outcome = outcome});
  if (outcome == policy::L1Outcome::Miss) o.filled({0, line, 1, 0});
}

/// Two SMs whose one warp misses lines 0 and 8 and then hits them.
std::vector<Json> observed(const std::vector<std::string>& texts) {
  const std::vector<AnalysisRequest> asked = requests(texts);
  const std::unique_ptr<Analysis> analysis = [&] {
    timing::MachineSpec two = machine("ccws", 2, 1, 2);
    return asked.front().choice->make(asked, &two);
  }();
  for (unsigned sm = 0; sm < 2; ++sm) {
    policy::L1Observer& o = *analysis->of_sm(sm);
    o.warp_started({0, 0, 0, 0, 0, 0});
    for (const std::uint32_t line : {0u, 8u}) say(o, line, policy::L1Outcome::Miss);
    for (const std::uint32_t line : {0u, 8u}) say(o, line, policy::L1Outcome::Hit);
  }
  return analysis->figures({.thread_instructions = 10000, .warp_instructions = 1000});
}

TEST(CacheAnalysis, FiguresFollowTheirDefinitions) {
  const std::vector<Json> tables = observed({"cache", "direct=cache:ways=1"});
  ASSERT_EQ(tables.size(), 2u);
  const Json &cache = tables[0], &direct = tables[1];
  EXPECT_EQ(cache["size_kib"], 1);
  EXPECT_EQ(cache["ways"], 2);
  EXPECT_EQ(cache["line_bytes"], 128);
  EXPECT_EQ(cache["lru"]["accesses"], 8) << "summed over the SMs, each with its own cache";
  EXPECT_EQ(cache["lru"]["misses"], 4);
  EXPECT_EQ(cache["lru"]["miss_rate"], 0.5);
  EXPECT_EQ(cache["lru"]["mpki"], 0.4) << "per 1000 thread instructions";
  EXPECT_EQ(cache["lru"]["warp_mpki"], 4);
  EXPECT_EQ(cache["belady"]["intra_thread_pki"], 0.4);
  EXPECT_EQ(direct["ways"], 1);
  EXPECT_EQ(direct["lru"]["misses"], 8) << "lines 0 and 8 are in each other's way";
  EXPECT_EQ(direct["belady"]["misses"], 8);
  EXPECT_EQ(direct["unbounded"]["misses"], 4);
}

TEST(LocalityAnalysis, FiguresFollowTheirDefinitions) {
  const std::vector<Json> tables = observed({"locality", "again=locality"});
  ASSERT_EQ(tables.size(), 2u);
  EXPECT_EQ(tables[0], tables[1]);
  EXPECT_EQ(tables[0]["hits"], 4);
  EXPECT_EQ(tables[0]["intra_thread_hits"], 4);
  EXPECT_EQ(tables[0]["mpki"], 0.4);
  EXPECT_EQ(tables[0]["lines_per_warp"], 2);
}

TEST(RunAnalyses, NothingIsDividedByZero) {
  const RunAnalyses analyses =
      RunAnalyses::of_gpu(requests({"locality", "cache"}), machine("ccws", 1, 32, 8));
  Json f;
  analyses.fill(f, RunTotals{});
  for (const char* name : {"mpki", "miss_rate", "warp_mpki"})
    EXPECT_EQ(f["cache"]["belady"][name], 0) << name;
  for (const char* name : {"mpki", "lines_per_warp", "miss_rate"})
    EXPECT_EQ(f["locality"][name], 0) << name;
}

TEST(RunAnalyses, TablesStandByWhatIsObservedThenAsAskedFor) {
  const RunAnalyses timed =
      RunAnalyses::of_gpu(requests({"allocations", "b=cache", "locality", "footprint", "a=cache"}),
                          machine("ccws", 1, 32, 8));
  Json f;
  timed.fill(f, RunTotals{});
  std::vector<std::string> order;
  for (const auto& [label, table] : f.items()) order.push_back(label);
  EXPECT_THAT(order, ElementsAre("b", "locality", "a", "allocations"));
}

}  // namespace
}  // namespace raddle::sim::analysis_test
