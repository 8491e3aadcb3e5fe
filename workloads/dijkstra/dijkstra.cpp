// Host code of dijkstra: distances to one vertex by rounds over all edges, until no distance falls.
// See README.md.
#include <algorithm>

#include "common/compare.h"
#include "common/vertex_workload.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

constexpr std::uint32_t kFar = 1u << 30;  // no path: no sum with a weight goes round
constexpr std::uint32_t kInvalidId = ~0u;

class Dijkstra final : public VertexWorkload {
 public:
  Dijkstra() : VertexWorkload(1'000'000, "most rounds; it ends when no distance falls") {}

  void visit(FieldVisitor& v) override {
    VertexWorkload::visit(v);
    v.field("weights", weights_, {1, 1u << 16}, "", "weights of edges are 1 .. this, uniform");
  }

  void run(Device& device, std::uint64_t seed) override {
    make_input(seed);
    ModuleId module = load_module(device, "dijkstra");
    KernelId relax = device.kernel(module, "dijkstra_relax");
    KernelId compare = device.kernel(module, "dijkstra_compare");
    KernelId assign = device.kernel(module, "dijkstra_assign");
    const std::uint32_t n = vertices();
    DeviceArray<std::uint32_t> row(device, graph_.row), column(device, graph_.column);
    DeviceArray<std::uint32_t> weight(device, weight_), distance(device, start());
    DeviceArray<std::uint32_t> relaxed(device, n);
    DeviceArray<std::uint32_t> parent(device, std::vector<std::uint32_t>(n, kInvalidId));
    rounds_ = repeat(device, [&](std::uint32_t, Address more) {
      launch(device, relax,
             Arguments(row.address(), column.address(), weight.address(), distance.address(),
                       relaxed.address(), parent.address(), n));
      launch(device, compare, Arguments(distance.address(), relaxed.address(), more, n));
      launch(device, assign, Arguments(distance.address(), relaxed.address(), n));
    });
    parent_ = parent.download();
    distance_ = distance.download();
  }

  // Exact: after r rounds every shortest path of at most r edges is known (Bellman, Quarterly of
  // Applied Mathematics 16, 1958), and of several the one first met.
  std::string check() override {
    std::vector<std::uint32_t> expected = start(), before, parent(vertices(), kInvalidId);
    for (std::uint32_t round = 0; round < rounds_; ++round) {
      before = expected;
      for (std::uint32_t v = 0; v < vertices(); ++v)
        for (std::uint32_t e = graph_.row[v]; e < graph_.row[v + 1]; ++e) {
          std::uint32_t target = graph_.column[e], offer = weight_[e] + before[target];
          if (offer < expected[v]) {
            expected[v] = offer;
            parent[v] = target;
          }
        }
    }
    if (auto wrong = first_difference("distance", expected, distance_); !wrong.empty())
      return wrong;
    return first_difference("parent", parent, parent_);
  }

 private:
  void make_input(std::uint64_t seed) {
    make_graph(seed, "dijkstra/graph");
    std::vector<std::uint32_t> edges_to(vertices(), 0);
    for (std::uint32_t target : graph_.column) ++edges_to[target];
    auto maximum = std::max_element(edges_to.begin(), edges_to.end());
    target_ = static_cast<std::uint32_t>(maximum - edges_to.begin());
    Rng weights(seed, "dijkstra/weights");
    weight_.resize(graph_.column.size());
    for (std::uint32_t& weight : weight_) weight = 1 + weights.below(weights_);
    inputs_.add(weight_);
  }

  std::vector<std::uint32_t> start() const {
    std::vector<std::uint32_t> distance(vertices(), kFar);
    distance[target_] = 0;
    return distance;
  }

  std::uint32_t weights_ = 10, target_ = 0, rounds_ = 0;
  std::vector<std::uint32_t> weight_, distance_, parent_;
};

}  // namespace

void add_workload_dijkstra(Workloads& w) {
  w.add<Dijkstra>("dijkstra", "shortest paths by min-plus products over all edges, in rounds");
}

}  // namespace raddle::runtime
