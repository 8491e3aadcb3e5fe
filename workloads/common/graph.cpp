#include "common/graph.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>

#include "common/draw.h"
#include "common/edge_keys.h"
#include "raddle/base/error.h"

namespace raddle::workloads {

namespace {

using namespace edge_keys;

// `count` distinct edges, sorted: what is missing after removing doubles is drawn again.
template <class Draw>
std::vector<Key> distinct_edges(std::uint64_t count, Draw draw) {
  std::vector<Key> edges, drawn, both;
  while (edges.size() < count) {
    drawn.resize(count - edges.size());
    for (Key& edge : drawn) edge = draw();
    std::sort(drawn.begin(), drawn.end());
    both.resize(count);
    std::merge(edges.begin(), edges.end(), drawn.begin(), drawn.end(), both.begin());
    both.erase(std::unique(both.begin(), both.end()), both.end());
    edges.swap(both);
  }
  return edges;
}

// `count` distinct numbers below n, sorted (Floyd's algorithm, CACM 30(9), 1987).
std::vector<std::uint32_t> distinct_below(std::uint32_t n, std::uint32_t count, Rng& rng) {
  std::vector<std::uint32_t> chosen;
  for (std::uint32_t last = n - count; last < n; ++last) {
    std::uint32_t value = rng.below(last + 1);
    auto at = std::lower_bound(chosen.begin(), chosen.end(), value);
    if (at != chosen.end() && *at == value) chosen.push_back(last);
    else chosen.insert(at, value);
  }
  return chosen;
}

// By vertex; those of one in the order in which they were made.
Graph in_order_of_making(std::uint32_t vertices, const std::vector<Key>& made) {
  std::vector<std::size_t> next(vertices + 1, 0);
  for (const Key edge : made) ++next[from(edge) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<Key> sorted(made.size());
  for (const Key edge : made) sorted[next[from(edge)]++] = edge;
  return from_sorted(vertices, sorted);
}

}  // namespace

Graph make_rmat(std::uint32_t vertices, std::uint64_t edges, Rng& rng) {
  RADDLE_ASSERT(edges <= max_edges(vertices));
  int bits = std::bit_width(vertices - 1);
  std::vector<std::uint32_t> name = permutation(vertices, rng);
  auto draw = [&] {
    for (;;) {
      Key edge = rmat_edge(bits, rng);
      std::uint32_t a = from(edge), b = to(edge);
      if (a < vertices && b < vertices && a != b) return key(name[a], name[b]);
    }
  };
  return from_sorted(vertices, distinct_edges(edges, draw));
}

Graph make_power_law(std::uint32_t vertices, std::uint64_t edges, Rng& rng) {
  RADDLE_ASSERT(edges <= max_edges(vertices));
  constexpr double kTail = 1.2, kMaximum = 100;  // the density's exponent less one
  std::vector<double> below(vertices);
  double sum = 0;
  for (double& b : below) b = sum += std::min(std::pow(1 - rng.unit(), -1 / kTail), kMaximum);
  auto draw = [&] {
    auto at = std::upper_bound(below.begin(), below.end() - 1, rng.unit() * sum);
    auto a = static_cast<std::uint32_t>(at - below.begin());
    std::uint32_t b = rng.below(vertices - 1);
    return key(a, b < a ? b : b + 1);
  };
  return from_sorted(vertices, distinct_edges(edges, draw));
}

Graph make_uniform(std::uint32_t vertices, std::uint64_t edges, Rng& rng) {
  RADDLE_ASSERT(edges <= max_edges(vertices));
  auto draw = [&] {
    std::uint32_t a = rng.below(vertices);
    std::uint32_t b = rng.below(vertices - 1);
    return key(a, b < a ? b : b + 1);
  };
  return from_sorted(vertices, distinct_edges(edges, draw));
}

Graph make_undirected(std::uint32_t vertices, std::uint64_t edges, Rng& rng) {
  RADDLE_ASSERT(edges <= max_edges(vertices) && vertices >= 2);
  const std::uint64_t pairs = edges / 2;
  std::vector<Key> made;
  made.reserve(2 * pairs);
  for (std::uint64_t i = 0; i < pairs; ++i) {
    const auto a = static_cast<std::uint32_t>(i * vertices / pairs);
    const std::uint32_t drawn = rng.below(vertices - 1), b = drawn < a ? drawn : drawn + 1;
    made.push_back(key(a, b));
    made.push_back(key(b, a));
  }
  return in_order_of_making(vertices, made);
}

Graph make_connected(std::uint32_t vertices, std::uint64_t edges, Rng& rng) {
  RADDLE_ASSERT(edges <= max_edges(vertices) && edges % 2 == 0);
  RADDLE_ASSERT(edges >= 2 * (std::uint64_t{vertices} - 1));
  const std::vector<std::uint32_t> name = permutation(vertices, rng);
  std::vector<std::vector<std::uint32_t>> lists(vertices);
  std::vector<Key> made;
  made.reserve(edges);
  auto join = [&](std::uint32_t a, std::uint32_t b) {
    lists[a].push_back(b);
    lists[b].push_back(a);
    made.push_back(key(a, b));
    made.push_back(key(b, a));
  };
  for (std::uint32_t i = 1; i < vertices; ++i) join(name[i], name[rng.below(i)]);
  while (made.size() < edges) {
    const std::uint32_t a = rng.below(vertices), drawn = rng.below(vertices - 1);
    const std::uint32_t b = drawn < a ? drawn : drawn + 1;
    if (std::find(lists[a].begin(), lists[a].end(), b) == lists[a].end()) join(a, b);
  }
  return in_order_of_making(vertices, made);
}

Graph make_banded(std::uint32_t vertices, std::uint32_t mean_degree, std::uint32_t half_bandwidth,
                  Rng& rng) {
  std::uint32_t minimum = std::max(mean_degree / 2, 1u), maximum = mean_degree * 3 / 2;
  RADDLE_ASSERT(minimum <= maximum && maximum <= half_bandwidth + 1 && half_bandwidth < vertices);
  Graph graph;
  for (std::uint32_t v = 0; v < vertices; ++v) {
    std::uint32_t first = v - std::min(v, half_bandwidth);
    std::uint32_t last = std::min(vertices - 1, v + half_bandwidth);
    std::uint32_t others = minimum + rng.below(maximum - minimum + 1) - 1;
    std::uint32_t before_diagonal = v - first;
    bool diagonal = false;
    for (std::uint32_t place : distinct_below(last - first, others, rng)) {
      if (place >= before_diagonal && !diagonal) {
        graph.column.push_back(v);
        diagonal = true;
      }
      graph.column.push_back(first + place + (place >= before_diagonal ? 1 : 0));
    }
    if (!diagonal) graph.column.push_back(v);
    graph.row.push_back(static_cast<std::uint32_t>(graph.column.size()));
  }
  return graph;
}

Graph transposed(const Graph& graph) {
  Graph out;
  out.row.assign(graph.row.size(), 0);
  for (std::uint32_t target : graph.column) ++out.row[target + 1];
  for (std::uint32_t v = 0; v < graph.vertices(); ++v) out.row[v + 1] += out.row[v];
  out.column.resize(graph.column.size());
  std::vector<std::uint32_t> place = out.row;
  for (std::uint32_t v = 0; v < graph.vertices(); ++v)
    for (std::uint32_t e = graph.row[v]; e < graph.row[v + 1]; ++e)
      out.column[place[graph.column[e]]++] = v;
  return out;
}

Graph make_grid(std::uint32_t width, std::uint32_t height) {
  Graph graph;
  for (std::uint32_t y = 0; y < height; ++y)
    for (std::uint32_t x = 0; x < width; ++x) {
      std::uint32_t v = y * width + x;
      if (y > 0) graph.column.push_back(v - width);
      if (x > 0) graph.column.push_back(v - 1);
      if (x + 1 < width) graph.column.push_back(v + 1);
      if (y + 1 < height) graph.column.push_back(v + width);
      graph.row.push_back(static_cast<std::uint32_t>(graph.column.size()));
    }
  return graph;
}

Graph make_small_world(std::uint32_t width, std::uint32_t height, Rng& rng) {
  RADDLE_ASSERT(width >= 4 && height >= 4);
  constexpr double kRewired = 0.05;
  Graph graph;
  std::uint32_t vertices = width * height;
  for (std::uint32_t v = 0; v < vertices; ++v) {
    std::array<std::uint32_t, 9> targets{v};  // v itself, so that no edge leads to it
    auto drawn = targets.begin();
    for (std::uint32_t side = 0; side < 9; ++side) {
      if (side == 4) continue;
      std::uint32_t x = (v % width + width + side % 3 - 1) % width;
      std::uint32_t y = (v / width + height + side / 3 - 1) % height;
      std::uint32_t target = y * width + x;
      bool rewired = rng.unit() < kRewired;
      while (rewired || std::find(targets.begin(), drawn + 1, target) != drawn + 1) {
        target = rng.below(vertices);
        rewired = false;
      }
      *++drawn = target;
    }
    std::sort(targets.begin() + 1, targets.end());
    graph.column.insert(graph.column.end(), targets.begin() + 1, targets.end());
    graph.row.push_back(static_cast<std::uint32_t>(graph.column.size()));
  }
  return graph;
}

}  // namespace raddle::workloads
