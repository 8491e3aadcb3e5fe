// Generators of graphs, requests and heaps: the distributions and sizes they promise.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "common/draw.h"
#include "common/graph_choice.h"
#include "common/heap.h"
#include "common/lookup3.h"
#include "common/wiki.h"

namespace raddle::workloads::workload_generators_test {

namespace {

using ::testing::Each;
using ::testing::StartsWith;

template <class Part, class Whole>
double share(Part part, Whole whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

TEST(PowerLaw, SourcesAreSkewedWithoutHubsAndTargetsAreNot) {
  Rng rng(1);
  constexpr std::uint32_t kVertices = 16'384, kEdges = 131'072;  // mean degree 8
  Graph graph = make_power_law(kVertices, kEdges, rng);
  std::vector<std::uint32_t> out, in(kVertices, 0);
  for (std::uint32_t v = 0; v < kVertices; ++v) out.push_back(graph.degree(v));
  for (std::uint32_t v : graph.column) ++in[v];
  std::sort(out.begin(), out.end());
  EXPECT_LE(out[kVertices / 2], 4u);  // half have at most half of the mean
  EXPECT_GT(out.back(), 100u);        // the weights reach from 1 to 100 ...
  EXPECT_LT(out.back(), 400u);        // ... and their mean is 4
  EXPECT_GT(out[kVertices - kVertices / 100], 50u);
  EXPECT_LT(*std::max_element(in.begin(), in.end()), 4u * 8);
}

// Density exponent 2.2: twice the degree, 2^-1.2 = 0.435 as many vertices beyond it.
TEST(PowerLaw, TailFallsWithItsExponent) {
  Rng rng(2);
  Graph graph = make_power_law(1 << 16, 1 << 19, rng);
  auto beyond = [&](std::uint32_t degree) {
    double count = 0;
    for (std::uint32_t v = 0; v < graph.vertices(); ++v) count += graph.degree(v) >= degree;
    return count;
  };
  EXPECT_NEAR(beyond(32) / beyond(16), 0.435, 0.03);
  EXPECT_NEAR(beyond(64) / beyond(32), 0.435, 0.05);
}

std::uint32_t levels_from(const Graph& graph, std::uint32_t source) {
  std::vector<std::uint32_t> level(graph.vertices(), ~0u), queue = {source};
  level[source] = 0;
  for (std::size_t i = 0; i < queue.size(); ++i)
    for (std::uint32_t e = graph.row[queue[i]]; e < graph.row[queue[i] + 1]; ++e)
      if (std::uint32_t to = graph.column[e]; level[to] == ~0u) {
        level[to] = level[queue[i]] + 1;
        queue.push_back(to);
      }
  EXPECT_EQ(queue.size(), graph.vertices());
  return level[queue.back()];
}

TEST(SmallWorld, HasEightEdgesEachMostlyToNeighboursAndIsShallow) {
  constexpr std::uint32_t kSizes[][2] = {{4, 4}, {5, 4}, {4, 9}, {64, 48}};
  for (auto [width, height] : kSizes) {
    Rng rng(width);
    Graph graph = make_small_world(width, height, rng);
    ASSERT_EQ(graph.vertices(), width * height);
    double far = 0;
    for (std::uint32_t v = 0; v < graph.vertices(); ++v) {
      ASSERT_EQ(graph.degree(v), 8u);
      for (std::uint32_t e = graph.row[v]; e < graph.row[v + 1]; ++e) {
        std::uint32_t to = graph.column[e];
        ASSERT_LT(to, graph.vertices());
        ASSERT_NE(to, v);
        if (e > graph.row[v]) {
          ASSERT_LT(graph.column[e - 1], to);
        }
        auto apart = [](std::uint32_t a, std::uint32_t b, std::uint32_t n) {
          return std::min((a + n - b) % n, (b + n - a) % n);
        };
        far += apart(v % width, to % width, width) > 1 || apart(v / width, to / width, height) > 1;
      }
    }
    if (width == 64) {
      EXPECT_NEAR(share(far, graph.column.size()), 0.05, 0.01);
      EXPECT_LT(levels_from(graph, 0), 12u);  // 32 without the shortcuts
    }
  }
}

TEST(GraphChoice, MakesWhatIsAskedForAndStartsAtTheVertexWithMostEdges) {
  for (GraphKind kind : {GraphKind::Uniform, GraphKind::Rmat, GraphKind::PowerLaw}) {
    GraphChoice choice{kind, 1000, 4000};
    Rng rng(1);
    Graph graph = choice.make(rng);
    EXPECT_EQ(graph.vertices(), 1000u);
    EXPECT_EQ(graph.column.size(), 4000u);
    std::uint32_t source = choice.source(graph, rng);
    for (std::uint32_t v = 0; v < 1000; ++v)
      EXPECT_LE(graph.degree(v) + (v < source ? 1 : 0), graph.degree(source));
  }
  for (GraphKind kind : {GraphKind::Grid, GraphKind::SmallWorld}) {
    GraphChoice choice{kind, 1000, 0};
    Rng rng(1);
    Graph graph = choice.make(rng);
    EXPECT_EQ(graph.vertices(), 31u * 32);
    std::set<std::uint32_t> sources;
    for (int i = 0; i < 20; ++i) sources.insert(choice.source(graph, rng));
    EXPECT_GT(sources.size(), 10u);
    EXPECT_LT(*sources.rbegin(), graph.vertices());
  }
}

TEST(GraphRecords, AreWhatTheKernelsRead) {
  Graph graph = make_grid(3, 1);  // 0 - 1 - 2
  EXPECT_EQ(vertex_records(graph), (std::vector<std::uint32_t>{0, 1, 1, 2, 3, 1}));
  EXPECT_EQ(edge_records(graph, 1), (std::vector<std::uint32_t>{1, 0, 2, 1}));
  EXPECT_EQ(edge_records(graph, 2), (std::vector<std::uint32_t>{1, 0, 0, 0, 2, 0, 1, 0}));
}

// The values that lookup3.c's own driver prints.
TEST(Lookup3, AgreesWithItsAuthor) {
  EXPECT_EQ(lookup3(""), 0xdeadbeefu);
  EXPECT_EQ(lookup3("Four score and seven years ago"), 0x17770551u);
}

WikiTrace wiki(const WikiSpec& spec, std::uint64_t seed = 1) {
  Rng rng(seed);
  return make_wiki(spec, rng);
}

TEST(Wiki, KeysAreDistinctTextsOfLogNormalLength) {
  WikiSpec spec;
  spec.keys = 20'000;
  WikiTrace trace = wiki(spec);
  ASSERT_EQ(trace.keys.size(), 20'000u);
  EXPECT_EQ(std::set<std::string>(trace.keys.begin(), trace.keys.end()).size(), 20'000u);
  EXPECT_THAT(trace.keys, Each(StartsWith("enwiki:")));
  std::vector<double> lengths;
  double sum = 0;
  for (const std::string& key : trace.keys) {
    EXPECT_GE(key.size(), 20u);
    EXPECT_LE(key.size(), 60u);
    lengths.push_back(static_cast<double>(key.size()));
    sum += lengths.back();
  }
  std::sort(lengths.begin(), lengths.end());
  EXPECT_NEAR(sum / 20'000, 35, 0.5);
  EXPECT_NEAR(lengths[10'000], 35 * std::exp(-0.045), 1);               // median
  EXPECT_NEAR(lengths[16'827] / lengths[10'000], std::exp(0.3), 0.06);  // one standard deviation
}

TEST(Wiki, KeysKeepTheLengthsAskedFor) {
  WikiSpec spec;
  spec.min_key = spec.max_key = 30;
  for (const std::string& key : wiki(spec).keys) EXPECT_EQ(key.size(), 30u);
}

TEST(Wiki, PopularityIsZipfs) {
  WikiSpec spec;
  spec.keys = 10'000;
  spec.requests = 400'000;
  spec.zipf = 0.95;
  spec.burst_share = 0;
  spec.absent_share = 0;
  WikiTrace trace = wiki(spec);
  EXPECT_TRUE(trace.absent.empty());
  std::vector<double> count(spec.keys, 0);
  for (std::uint32_t request : trace.requests) ++count[request];
  // By number, popularity is spread evenly: numbers are given in order.
  double low = std::accumulate(count.begin(), count.begin() + 5000, 0.0);
  EXPECT_NEAR(share(low, spec.requests), 0.5, 0.15);
  std::sort(count.rbegin(), count.rend());
  double sum = 0;
  for (std::uint32_t r = 1; r <= spec.keys; ++r) sum += std::pow(r, -0.95);
  for (std::uint32_t rank : {1u, 2u, 10u, 100u})
    EXPECT_NEAR(count[rank - 1] / spec.requests, std::pow(rank, -0.95) / sum,
                0.15 * count[rank - 1] / spec.requests)
        << rank;
}

TEST(Wiki, AsksForAbsentKeysAndRepeatsInBurstsAsOftenAsSaid) {
  WikiSpec spec;
  spec.keys = 1'000'000 / 8;
  spec.requests = 50'000;
  spec.zipf = 0;
  spec.absent_share = 0.2;
  spec.burst_share = 0.3;
  WikiTrace trace = wiki(spec);
  double repeats = 0;
  for (std::uint32_t r = WikiSpec::kBurst; r < spec.requests; ++r) {
    auto at = trace.requests.begin() + r;
    repeats += std::find(at - WikiSpec::kBurst, at, *at) != at;
  }
  EXPECT_NEAR(share(repeats, spec.requests), 0.3, 0.01);
  EXPECT_NEAR(share(trace.absent.size(), spec.requests), 0.7 * 0.2, 0.01);
  std::set<std::string> stored(trace.keys.begin(), trace.keys.end());
  for (const std::string& key : trace.absent) EXPECT_EQ(stored.count(key), 0u);
  EXPECT_EQ(trace.key_of(0), trace.keys[0]);
  EXPECT_EQ(trace.key_of(spec.keys + 1), trace.absent[1]);
}

TEST(Wiki, DependsOnTheSeedAlone) {
  WikiSpec spec;
  EXPECT_EQ(wiki(spec, 1).keys, wiki(spec, 1).keys);
  EXPECT_EQ(wiki(spec, 1).requests, wiki(spec, 1).requests);
  EXPECT_NE(wiki(spec, 1).keys, wiki(spec, 2).keys);
  EXPECT_NE(wiki(spec, 1).requests, wiki(spec, 2).requests);
}

TEST(Draw, GeometricFallsByAConstantFactorAndHasTheMeanAskedFor) {
  for (double mean : {0.5, 4.0, 255.0}) {
    Rng rng(1);
    constexpr int kDraws = 100'000;
    double sum = 0, zeros = 0, ones = 0;
    for (int i = 0; i < kDraws; ++i) {
      std::uint32_t x = geometric(mean, rng);
      sum += x;
      zeros += x == 0;
      ones += x == 1;
    }
    EXPECT_NEAR(sum / kDraws, mean, 0.02 * mean);
    EXPECT_NEAR(zeros / kDraws, 1 / (mean + 1), 0.005);
    EXPECT_NEAR(ones / kDraws, mean / (mean + 1) / (mean + 1), 0.005);
  }
}

TEST(Draw, NormalHasMean0AndDeviation1) {
  Rng rng(1, "test");
  double sum = 0, squares = 0;
  constexpr int kDraws = 20'000;
  for (int i = 0; i < kDraws; ++i) {
    const double z = normal(rng);
    sum += z;
    squares += z * z;
  }
  EXPECT_NEAR(sum / kDraws, 0, 0.03);
  EXPECT_NEAR(squares / kDraws, 1, 0.05);
}

TEST(Draw, LogNormalHasTheMeanAndShapeAskedFor) {
  Rng rng(1);
  constexpr int kDraws = 100'000;
  double sum = 0, log_sum = 0, log_squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    double x = log_normal(200, 0.8, rng);
    sum += x;
    log_sum += std::log(x);
    log_squares += std::log(x) * std::log(x);
  }
  double log_mean = log_sum / kDraws;
  EXPECT_NEAR(sum / kDraws, 200, 3);
  EXPECT_NEAR(std::sqrt(log_squares / kDraws - log_mean * log_mean), 0.8, 0.01);
}

Heap heap_of(const HeapSpec& spec, std::uint64_t seed = 1) {
  Rng rng(seed);
  return make_heap(spec, rng);
}

HeapSpec heap_spec(std::uint32_t objects) {
  HeapSpec spec;
  spec.objects = objects;
  spec.words = 14 * objects + 64;
  return spec;
}

// Objects do not overlap, references lead to objects.
void expect_valid(const Heap& heap) {
  std::set<std::uint32_t> places(heap.objects.begin(), heap.objects.end());
  ASSERT_EQ(places.size(), heap.objects.size());
  std::uint32_t free = 1;
  for (std::uint32_t at : heap.objects) {
    ASSERT_GE(at, free);
    ASSERT_EQ(heap.words[at] >> 32, 0u);
    std::uint32_t words = words_of(heap.words[at]), references = 0;
    ASSERT_GE(words, 4u);
    ASSERT_LE(words, 24u);
    free = at + words;
    ASSERT_LE(free, heap.words.size());
    for (std::uint32_t f = 1; f < words; ++f) {
      std::uint64_t field = heap.words[at + f];
      if (!is_reference(field)) continue;
      ++references;
      ASSERT_EQ(field % 8, 0u);
      ASSERT_EQ(places.count(target_of(field)), 1u);
    }
    ASSERT_LE(references, 8u);
  }
  for (std::uint32_t root : heap.roots) ASSERT_EQ(places.count(root), 1u);
}

TEST(HeapOfObjects, IsValidAtAnySize) {
  for (std::uint32_t objects : {1u, 2u, 3u, 10u, 100u, 5000u}) {
    for (std::uint64_t seed : {1, 2, 3}) {
      HeapSpec spec = heap_spec(objects);
      spec.words = static_cast<std::uint32_t>(min_heap_words(objects));
      Heap heap = heap_of(spec, seed);
      EXPECT_EQ(heap.objects.size(), objects);
      EXPECT_EQ(heap.words.size(), spec.words);
      expect_valid(heap);
    }
  }
}

TEST(HeapOfObjects, SizesReferencesAndFreeSpaceAreAsPromised) {
  HeapSpec spec = heap_spec(20'000);
  Heap heap = heap_of(spec);
  double words = 0, references = 0, near = 0;
  std::map<std::uint32_t, std::uint32_t> number;
  for (std::uint32_t o = 0; o < spec.objects; ++o) number[heap.objects[o]] = o;
  for (std::uint32_t o = 0; o < spec.objects; ++o) {
    std::uint32_t at = heap.objects[o], size = words_of(heap.words[at]);
    words += size;
    for (std::uint32_t f = 1; f < size; ++f) {
      if (!is_reference(heap.words[at + f])) continue;
      ++references;
      std::uint32_t to = number[target_of(heap.words[at + f])];
      near += std::max(o, to) - std::min(o, to) < 4 * spec.near_objects;
    }
  }
  EXPECT_NEAR(words / spec.objects, 8, 0.5);
  EXPECT_NEAR(references / spec.objects, 3.3, 0.3);
  // About a third holds the structures together and is near, so is three fifths of the others.
  EXPECT_NEAR(near / references, 0.76, 0.05);
  // Free space is everywhere: the middle object is in the middle.
  EXPECT_NEAR(heap.objects[10'000] / static_cast<double>(spec.words), 0.5, 0.03);
}

TEST(HeapOfObjects, LivesAsMuchAsAskedForAndAllOfItIsReached) {
  for (double live : {0.0, 0.4, 0.7, 1.0}) {
    HeapSpec spec = heap_spec(100'000);
    spec.live_share = live;
    Heap heap = heap_of(spec);
    std::vector<bool> lives = living(heap);
    auto count = std::count(lives.begin(), lives.end(), true);
    EXPECT_NEAR(share(count, spec.objects), live, 0.03);
    EXPECT_EQ(heap.roots.empty(), live == 0.0);
    EXPECT_LT(heap.roots.size(), spec.objects / 50);
  }
}

TEST(HeapOfObjects, DependsOnTheSeedAlone) {
  EXPECT_EQ(heap_of(heap_spec(500), 1).words, heap_of(heap_spec(500), 1).words);
  EXPECT_NE(heap_of(heap_spec(500), 1).words, heap_of(heap_spec(500), 2).words);
}

TEST(GeneratorsDeathTest, WhatCannotBeMadeIsAFault) {
  Rng rng(1);
  HeapSpec heap = heap_spec(100);
  heap.words = 1000;
  EXPECT_DEATH(make_heap(heap, rng), "min_heap_words");
  WikiSpec wiki;
  wiki.min_key = 19;
  EXPECT_DEATH(make_wiki(wiki, rng), "min_key");
  EXPECT_DEATH(make_small_world(3, 10, rng), "width");
  EXPECT_DEATH(make_power_law(100, 626, rng), "max_edges");
}

}  // namespace

}  // namespace raddle::workloads::workload_generators_test
