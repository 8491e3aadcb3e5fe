// Host code of sssp: shortest paths from one vertex; the host loops until no distance falls. See
// README.md.
#include <queue>
#include <utility>

#include "common/compare.h"
#include "common/device_array.h"
#include "common/graph_choice.h"
#include "common/inputs.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

constexpr std::uint32_t kUnreached = ~0u;

class Sssp final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    struct Values {
      std::uint32_t vertices, edges;
    };
    constexpr Values kValues[] = {{400, 1'600}, {32'768, 131'072}, {65'536, 262'144}};
    const Values& v = kValues[static_cast<std::size_t>(size)];
    graph_choice_.vertices = v.vertices;
    graph_choice_.edges = v.edges;
  }

  void visit(FieldVisitor& v) override {
    graph_choice_.visit(v);
    v.field("weights", weights_, {1, 1u << 16}, "", "weights of edges are 1 .. this, uniform");
    v.field("block", block_, {1, 1024}, "threads", "threads per block");
  }

  std::vector<std::string> violations() const override { return graph_choice_.violations(); }

  void run(Device& device, std::uint64_t seed) override {
    make_input(seed);
    ModuleId module = load_module(device, "sssp");
    KernelId relax = device.kernel(module, "sssp_relax");
    KernelId advance = device.kernel(module, "sssp_advance");

    std::uint32_t n = graph_.vertices();
    std::vector<std::uint8_t> at_source(n, 0);
    at_source[source_] = 1;
    std::vector<std::uint32_t> start(n, kUnreached);
    start[source_] = 0;
    DeviceArray<std::uint32_t> vertices(device, vertex_records(graph_)), edges(device, edges_);
    DeviceArray<std::uint8_t> active(device, at_source), improved(device, n);
    improved.set_bytes(0);
    DeviceArray<std::uint32_t> distance(device, start), more(device, 1);

    Dim3 grid{blocks_for(n, block_)}, block{block_};
    // After round r every shortest path of at most r edges is known.
    for (std::uint32_t round = 0; round < n; ++round) {
      more.upload({0});
      device.launch(relax, grid, block,
                    Arguments(vertices.address(), edges.address(), active.address(),
                              improved.address(), distance.address(), n));
      device.launch(advance, grid, block,
                    Arguments(active.address(), improved.address(), more.address(), n));
      device.synchronize();
      if (more.download()[0] == 0) break;
    }
    distance_ = distance.download();
  }

  // Dijkstra, Numerische Mathematik 1, 1959.
  std::string check() override {
    std::vector<std::uint32_t> expected(graph_.vertices(), kUnreached);
    using Reached = std::pair<std::uint32_t, std::uint32_t>;  // distance, vertex
    std::priority_queue<Reached, std::vector<Reached>, std::greater<>> nearest;
    expected[source_] = 0;
    nearest.push({0, source_});
    while (!nearest.empty()) {
      auto [distance, v] = nearest.top();
      nearest.pop();
      if (distance != expected[v]) continue;
      for (std::uint32_t e = graph_.row[v]; e < graph_.row[v + 1]; ++e) {
        std::uint32_t offer = distance + edges_[2 * std::size_t{e} + 1];
        if (offer >= expected[graph_.column[e]]) continue;
        expected[graph_.column[e]] = offer;
        nearest.push({offer, graph_.column[e]});
      }
    }
    return first_difference("distance", expected, distance_);
  }

 private:
  void make_input(std::uint64_t seed) {
    Rng rng(seed, "sssp/graph");
    graph_ = graph_choice_.make(rng);
    source_ = graph_choice_.source(graph_, rng);
    edges_ = edge_records(graph_, 2);
    Rng weights(seed, "sssp/weights");
    for (std::size_t e = 0; e < graph_.column.size(); ++e)
      edges_[2 * e + 1] = 1 + weights.below(weights_);
    inputs_.add(graph_.row, edges_, source_);
  }

  GraphChoice graph_choice_;
  std::uint32_t weights_ = 10, block_ = 256, source_ = 0;
  Graph graph_;
  std::vector<std::uint32_t> edges_, distance_;  // {target, weight} of each edge
};

}  // namespace

void add_workload_sssp(Workloads& w) {
  w.add<Sssp>("sssp", "shortest paths by rounds of relaxed edges: few edges, atomic minima");
}

}  // namespace raddle::runtime
