#include "common/nested_graphs.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "common/draw.h"
#include "common/edge_keys.h"
#include "raddle/base/error.h"

namespace raddle::workloads {

namespace {

using namespace edge_keys;

Key pair_of(std::uint32_t a, std::uint32_t b) { return key(std::min(a, b), std::max(a, b)); }

void sort_and_unite(std::vector<Key>& pairs) {
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
}

// Each pair seen from both its ends.
Graph both_ways(std::uint32_t vertices, const std::vector<Key>& pairs) {
  std::vector<Key> edges;
  edges.reserve(2 * pairs.size());
  for (const Key pair : pairs) {
    edges.push_back(pair);
    edges.push_back(key(to(pair), from(pair)));
  }
  std::sort(edges.begin(), edges.end());
  return from_sorted(vertices, edges);
}

// Papers as places on a line, each as long as its weight: what is drawn there is drawn in
// proportion to weights, and near on the line is near in index.
class Papers {
 public:
  Papers(std::uint32_t vertices, Rng& rng) : rng_(rng) {
    const double maximum = vertices / 16.0;
    double sum = 0;
    for (std::uint32_t v = 0; v < vertices; ++v)
      ends_.push_back(sum += std::min(std::pow(1 - rng.unit(), -1 / kTail), maximum));
  }

  std::uint32_t any() { return at(rng_.unit() * ends_.back()); }
  // Another paper, mostly near `paper`.
  std::uint32_t partner_of(std::uint32_t paper) {
    for (;;) {
      const std::uint32_t drawn = rng_.unit() < kNearShare ? near(paper) : any();
      if (drawn != paper) return drawn;
    }
  }
  // Precondition: paper > 0.
  std::uint32_t earlier_than(std::uint32_t paper) {
    const double limit = ends_[paper - 1];
    for (;;) {
      const double place = limit - distance();
      if (place >= 0) return at(place);
    }
  }

 private:
  static constexpr double kTail = 2.2, kNearShare = 0.8, kNearDistance = 0.01;

  std::uint32_t at(double place) const {
    const auto end = std::upper_bound(ends_.begin(), ends_.end() - 1, place);
    return static_cast<std::uint32_t>(end - ends_.begin());
  }
  double distance() { return -std::log(1 - rng_.unit()) * kNearDistance * ends_.back(); }
  std::uint32_t near(std::uint32_t paper) {
    const double begin = paper == 0 ? 0 : ends_[paper - 1];
    const double from = begin + rng_.unit() * (ends_[paper] - begin);
    for (;;) {
      const double away = distance();
      const double place = rng_.unit() < 0.5 ? from - away : from + away;
      if (place >= 0 && place < ends_.back()) return at(place);
    }
  }

  Rng& rng_;
  std::vector<double> ends_;
};

// The ladder of offsets of make_cage15.
class Ladder {
 public:
  Ladder(std::uint32_t vertices, Rng& rng) : vertices_(vertices), rng_(rng) {
    const double low = std::max(3.0, kLow * vertices), high = kHigh * vertices;
    ratio_ = std::pow(high / low, 1.0 / (kRungs - 1));
    double places = 0;
    for (int rung = 0; rung < kRungs; ++rung) {
      rungs_.push_back(low * std::pow(ratio_, rung));
      places += vertices - rungs_.back();
    }
    // Offset 1 is always there.
    share_ = (kMeanDegree / 2 - 1) * vertices / (places + vertices);
    double sum = 0;
    for (std::uint32_t v = 0; v < vertices; v += kRegion)
      sum += density_.emplace_back(1 + kVariation * (2 * rng.unit() - 1));
    for (double& density : density_) density *= static_cast<double>(density_.size()) / sum;
  }

  std::vector<Key> pairs() {
    for (std::uint32_t v = 0; v + 1 < vertices_; ++v) pairs_.push_back(key(v, v + 1));
    climb(2, 2);
    for (const double rung : rungs_) {
      // Neighbouring rungs do not overlap, and none reaches beyond the ladder's end.
      climb(rung * std::pow(ratio_, -0.45), rung);
    }
    sort_and_unite(pairs_);
    return std::move(pairs_);
  }

 private:
  static constexpr double kMeanDegree = 18.24, kLow = 0.002, kHigh = 0.19, kVariation = 0.6;
  static constexpr int kRungs = 20;
  static constexpr std::uint32_t kRegion = 256;

  // Runs of vertices that have a neighbour at one offset between `least` and `most`, and those that
  // have none.
  void climb(double minimum, double maximum) {
    std::uint32_t v = 0;
    while (v < vertices_) {
      const std::uint32_t run = 10 + rng_.below(41);
      const auto offset =
          static_cast<std::uint32_t>(std::lround(minimum + rng_.unit() * (maximum - minimum)));
      const bool there = rng_.unit() < share_ * density_[v / kRegion];
      for (const std::uint32_t end = v + run; v < end; ++v)
        if (there && v < vertices_ && offset < vertices_ - v) pairs_.push_back(key(v, v + offset));
    }
  }

  std::uint32_t vertices_;
  Rng& rng_;
  double ratio_ = 1, share_ = 0;
  std::vector<double> rungs_, density_;
  std::vector<Key> pairs_;
};

// Neighbours at the least free offsets for those that have too few.
void fill_up(std::vector<Key>& pairs, std::uint32_t vertices, std::uint32_t minimum) {
  const Graph graph = both_ways(vertices, pairs);
  std::vector<std::uint32_t> degree(vertices);
  for (std::uint32_t v = 0; v < vertices; ++v) degree[v] = graph.degree(v);
  for (std::uint32_t v = 0; v < vertices; ++v)
    for (std::uint32_t offset = 3; degree[v] < minimum; ++offset) {
      const std::uint32_t other = v + offset < vertices ? v + offset : v - offset;
      const Key pair = pair_of(v, other);
      if (std::binary_search(graph.column.begin() + graph.row[v],
                             graph.column.begin() + graph.row[v + 1], other) ||
          std::find(pairs.end() - std::min<std::ptrdiff_t>(std::ssize(pairs), 64), pairs.end(),
                    pair) != pairs.end())
        continue;
      pairs.push_back(pair);
      ++degree[v];
      ++degree[other];
    }
  sort_and_unite(pairs);
}

}  // namespace

Graph make_citation(std::uint32_t vertices, Rng& rng) {
  RADDLE_ASSERT(vertices >= kMinNestedVertices);
  const auto wanted = static_cast<std::size_t>(std::llround(vertices * (1'156'647.0 / 268'495)));
  Papers papers(vertices, rng);
  std::vector<Key> pairs;
  for (std::uint32_t v = 1; v < vertices; ++v) pairs.push_back(pair_of(v, papers.earlier_than(v)));
  while (pairs.size() < wanted) {
    while (pairs.size() < wanted) {
      const std::uint32_t paper = papers.any();
      pairs.push_back(pair_of(paper, papers.partner_of(paper)));
    }
    sort_and_unite(pairs);
  }
  return both_ways(vertices, pairs);
}

Graph make_graph500(std::uint32_t vertices, Rng& rng) {
  RADDLE_ASSERT(vertices >= kMinNestedVertices && std::has_single_bit(vertices));
  constexpr std::uint64_t kEdgeFactor = 48;
  const int bits = std::bit_width(vertices) - 1;
  const std::vector<std::uint32_t> name = permutation(vertices, rng);
  std::vector<Key> pairs;
  for (std::uint64_t i = 0; i < kEdgeFactor * vertices; ++i) {
    const Key edge = rmat_edge(bits, rng);
    if (from(edge) != to(edge)) pairs.push_back(pair_of(name[from(edge)], name[to(edge)]));
  }
  sort_and_unite(pairs);
  return both_ways(vertices, pairs);
}

Graph make_cage15(std::uint32_t vertices, Rng& rng) {
  RADDLE_ASSERT(vertices >= kMinNestedVertices);
  constexpr std::uint32_t kMinDegree = 5;
  std::vector<Key> pairs = Ladder(vertices, rng).pairs();
  fill_up(pairs, vertices, kMinDegree);
  return both_ways(vertices, pairs);
}

Graph make_nested_graph(NestedGraph kind, std::uint32_t vertices, Rng& rng) {
  switch (kind) {
    case NestedGraph::Citation:
      return make_citation(vertices, rng);
    case NestedGraph::Graph500:
      return make_graph500(vertices, rng);
    case NestedGraph::Cage15:
      return make_cage15(vertices, rng);
  }
  return {};
}

}  // namespace raddle::workloads
