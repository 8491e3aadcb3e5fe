// The table of metrics, and the proof that a struct is nothing but counters.
#include "raddle/stats/metrics.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <set>
#include <vector>

namespace raddle::stats::metrics_test {
namespace {

struct WithADouble {
  std::uint64_t events = 0;
  double share = 0;
};
struct WithHalves {
  std::uint64_t events = 0;
  std::uint32_t low = 0, high = 0;
};
struct WithASign {
  std::int64_t balance = 0;
};
struct Nested : NocTraffic {
  std::array<NocPort, 2> ports;
};
static_assert(OnlyCounters<GpuCounters> && OnlyCounters<NocCounters> && OnlyCounters<Nested>);
static_assert(!OnlyCounters<WithADouble> && !OnlyCounters<WithHalves> && !OnlyCounters<WithASign>);
static_assert(!OnlyCounters<std::vector<std::uint64_t>>);

TEST(Accumulate, AddsAndSubtractsEveryMember) {
  Nested sum, one;
  one.packets = 1;
  one.flit_hops = 4;
  one.ports[1].blocked_arbitration = 9;
  accumulate(sum, one);
  accumulate(sum, one);
  EXPECT_EQ(sum.packets, 2u);
  EXPECT_EQ(sum.flit_hops, 8u);
  EXPECT_EQ(sum.ports[1].blocked_arbitration, 18u);
  accumulate(sum, one, -1);
  EXPECT_EQ(sum.ports[1].blocked_arbitration, 9u);
}

/// The words of a struct, for those who hash them.
TEST(Counters, OrderIsThatOfComponentHash) {
  using L2 = L2Counters;
  EXPECT_EQ(offsetof(SmCounters, thread_instructions), 8u);
  EXPECT_LT(offsetof(SmCounters, stall), offsetof(SmCounters, l1d_accesses));
  EXPECT_LT(offsetof(SmCounters, shared_passes), offsetof(SmCounters, const_accesses));
  EXPECT_LT(offsetof(L2, crossings), offsetof(L2, write_backs));
  EXPECT_EQ(offsetof(L2, hits), 24u);
}

double as_double(const Value& value) {
  return std::visit([](auto number) { return static_cast<double>(number); }, value);
}

TEST(Metrics, AreTheirCountersAndFormulas) {
  GpuCounters counters;
  counters.sm.thread_instructions = 4000;
  counters.sm.l1d_misses = 8;
  counters.sm.l1d_refused[static_cast<unsigned>(Refusal::Way)] = 5;
  counters.l2.reads = 3;
  counters.l2.atomics = 1;
  counters.l2.hits = 1;
  const Counted counted = {.counters = counters, .cycles = 100, .execution_cycles = 50};
  std::map<std::string, double> values;
  for (const Part part : {Part::Totals, Part::Execution, Part::Details})
    each_number(part, kLaunch, [&](const std::string& name, const Metric& metric, unsigned index) {
      values[name] = as_double(metric.value(counted, index));
    });
  EXPECT_EQ(values.at("ipc"), 40);
  EXPECT_EQ(values.at("execution_ipc"), 80);
  EXPECT_EQ(values.at("l1d_mpki"), 2);
  EXPECT_EQ(values.at("l2_accesses"), 4);
  EXPECT_EQ(values.at("l2_hit_rate"), 0.25);
  EXPECT_EQ(values.at("l1d_refused.way"), 5);
  EXPECT_EQ(values.at("l1d_refused.merge"), 0);
  EXPECT_FALSE(values.contains("busy_cycles")) << "of a run only";
}

TEST(Metrics, OfNetworksAreOfTheirDirectionAndKind) {
  GpuCounters counters;
  counters.request.kind[1].packets = 11;
  counters.reply.kind[1].packets = 12;
  counters.dram.legs.packets = 13;
  Counted counted = {.counters = counters};
  const std::vector<NocPort> ports = {{.flits = 5, .blocked_credit = 1},
                                      {.flits = 7, .blocked_credit = 2}};
  counted.network[1] = port_sums(ports);
  std::map<std::string, double> values;
  each_noc_number([&](const std::string& name, const Metric& metric, unsigned index) {
    EXPECT_TRUE(values.emplace(name, as_double(metric.value(counted, index))).second) << name;
  });
  EXPECT_EQ(values.at("request.write.packets"), 11);
  EXPECT_EQ(values.at("reply.write.packets"), 12);
  EXPECT_EQ(values.at("reply.read.packets"), 0);
  EXPECT_EQ(values.at("memory.packets"), 13);
  EXPECT_EQ(values.at("request.ports"), 0);
  EXPECT_EQ(values.at("reply.ports"), 2);
  EXPECT_EQ(values.at("reply.busiest_port_flits"), 7);
  EXPECT_EQ(values.at("reply.blocked_credit_cycles"), 3);
}

TEST(Metrics, HaveDistinctNamesAndOneSentenceEach) {
  std::set<std::pair<Part, std::string_view>> names;
  std::set<std::string_view> sources;
  for (const Metric& metric : metrics()) {
    const bool stalls = metric.part == Part::Stalls;  // of schedulers, and of launches
    EXPECT_TRUE(names.emplace(metric.part, metric.name).second || stalls) << metric.name;
    EXPECT_NE(metric.shown, 0) << metric.name;
    EXPECT_FALSE(metric.meaning.empty() || metric.meaning.ends_with('.')) << metric.name;
    sources.insert(metric.source);
  }
  for (const InternalCounter& counter : internal_counters())
    EXPECT_TRUE(!sources.contains(counter.source) || counter.source == "sm.const_accesses" ||
                counter.source == "sm.const_misses" || counter.source == "l2.write_backs")
        << counter.source << " is shown: no internal counter";
}

TEST(Metrics, TitlesAreTheNamesInWords) {
  EXPECT_EQ(title_of("l1d_hit_rate"), "L1D hit rate");
  EXPECT_EQ(title_of("cycles"), "Cycles");
  EXPECT_EQ(title_of("ipc"), "IPC");
  EXPECT_EQ(title_of("l1d_refused.miss_queue"), "L1D refused miss queue");
  EXPECT_EQ(title_of(""), "");
}

TEST(Metrics, ShownIsAListInWords) {
  EXPECT_EQ(shown_text(kKernel | kOverTime), "launch, kernel, over time");
  EXPECT_EQ(shown_text(0), "");
}

}  // namespace
}  // namespace raddle::stats::metrics_test
