// Host code of bfs: breadth-first search by levels; the host loops until no vertex is new.
// See README.md.
#include <algorithm>
#include <cmath>

#include "common/compare.h"
#include "common/device_array.h"
#include "common/graph.h"
#include "common/inputs.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

enum class Kind : std::uint8_t { Uniform, Rmat, Grid };
constexpr std::array<std::string_view, 3> kKinds = {"uniform", "rmat", "grid"};
constexpr std::int32_t kUnreached = -1;

class Bfs final : public HashedWorkload {
 public:
  Bfs() { set_size(Size::Tiny); }

  void set_size(Size size) override {
    switch (size) {
      case Size::Tiny:
        vertices_ = 500, edges_ = 2'000;
        break;
      case Size::Small:
        vertices_ = 80'000, edges_ = 320'000;
        break;
      case Size::Paper:
        vertices_ = 1u << 20, edges_ = 5'000'000;
        break;
    }
  }

  void visit(FieldVisitor& v) override {
    v.choice("graph", kind_, kKinds, "generator of the graph");
    v.field("vertices", vertices_, {16, 1u << 26}, "vertices",
            "number of vertices; grid: rounded down to a rectangle near a square");
    v.field("edges", edges_, {0, 1u << 30}, "edges", "directed edges; not used by grid");
    v.field("block", block_, {1, 1024}, "threads", "threads per block");
  }

  std::vector<std::string> violations() const override {
    if (kind_ == Kind::Grid || edges_ <= most_edges(vertices_)) return {};
    return {"edges must not exceed vertices^2 / 16 = " + std::to_string(most_edges(vertices_)) +
            ", is " + std::to_string(edges_)};
  }

  void run(Device& device, std::uint64_t seed) override {
    make_input(seed);
    ModuleId module = load_module(device, "bfs");
    KernelId expand = device.kernel(module, "bfs_expand");
    KernelId advance = device.kernel(module, "bfs_advance");

    std::uint32_t n = graph_.vertices();
    std::vector<std::uint8_t> at_source(n, 0);
    at_source[source_] = 1;
    std::vector<std::int32_t> start(n, kUnreached);
    start[source_] = 0;
    DeviceArray<std::uint32_t> row(device, graph_.row), column(device, graph_.column);
    DeviceArray<std::uint8_t> frontier(device, at_source), visited(device, at_source);
    DeviceArray<std::uint8_t> updating(device, n);
    updating.set_bytes(0);
    DeviceArray<std::int32_t> cost(device, start);
    DeviceArray<std::uint32_t> more(device, 1);

    Dim3 grid{blocks_for(n, block_)}, block{block_};
    // A level finds at least one vertex or is the last, so n levels are enough for any graph.
    for (std::uint32_t level = 0; level < n; ++level) {
      more.upload({0});
      device.launch(expand, grid, block,
                    Arguments(row.address(), column.address(), frontier.address(),
                              updating.address(), visited.address(), cost.address(), n));
      device.launch(
          advance, grid, block,
          Arguments(frontier.address(), updating.address(), visited.address(), more.address(), n));
      device.synchronize();
      if (more.download()[0] == 0) break;
    }
    cost_ = cost.download();
  }

  std::string check() override {
    std::vector<std::int32_t> expected(graph_.vertices(), kUnreached);
    std::vector<std::uint32_t> queue = {source_};
    expected[source_] = 0;
    for (std::size_t i = 0; i < queue.size(); ++i) {
      std::uint32_t v = queue[i];
      for (std::uint32_t e = graph_.row[v]; e < graph_.row[v + 1]; ++e) {
        std::uint32_t neighbour = graph_.column[e];
        if (expected[neighbour] != kUnreached) continue;
        expected[neighbour] = expected[v] + 1;
        queue.push_back(neighbour);
      }
    }
    return first_difference("cost", expected, cost_);
  }

 private:
  void make_input(std::uint64_t seed) {
    Rng rng(seed, "bfs/graph");
    auto width = static_cast<std::uint32_t>(std::sqrt(static_cast<double>(vertices_)));
    switch (kind_) {
      case Kind::Uniform:
        graph_ = make_uniform(vertices_, edges_, rng);
        break;
      case Kind::Rmat:
        graph_ = make_rmat(vertices_, edges_, rng);
        break;
      case Kind::Grid:
        graph_ = make_grid(width, vertices_ / width);
        break;
    }
    // From the vertex with most edges (the first such) the search reaches most of the graph.
    // On a grid all but the border are alike: any of them, by the seed.
    if (kind_ == Kind::Grid) source_ = rng.below(graph_.vertices());
    for (std::uint32_t v = 0; kind_ != Kind::Grid && v < graph_.vertices(); ++v)
      if (graph_.degree(v) > graph_.degree(source_)) source_ = v;
    inputs_.add(graph_.row);
    inputs_.add(graph_.column);
    inputs_.add(source_);
  }

  Kind kind_ = Kind::Uniform;
  std::uint32_t vertices_ = 0, edges_ = 0, block_ = 256, source_ = 0;
  Graph graph_;
  std::vector<std::int32_t> cost_;
};

}  // namespace

void add_workload_bfs(Workloads& w) {
  w.add<Bfs>("bfs", "breadth-first search by levels: divergent, scattered accesses");
}

}  // namespace raddle::runtime
