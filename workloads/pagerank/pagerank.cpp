// Host code of pagerank: rounds of dealing out ranks and damping them. See README.md.
#include <algorithm>

#include "common/compare.h"
#include "common/vertex_workload.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

constexpr float kDamping = 0.85f;  // as in kernels.cu

class PageRank final : public VertexWorkload {
 public:
  PageRank() : VertexWorkload(20, "rounds") {}

  void set_size(Size size) override {
    VertexWorkload::set_size(size);
    if (size == Size::Tiny) set_iterations(4);
  }

  void run(Device& device, std::uint64_t seed) override {
    make_graph(seed, "pagerank/graph");
    ModuleId module = load_module(device, "pagerank");
    KernelId push = device.kernel(module, "pagerank_push");
    KernelId damp = device.kernel(module, "pagerank_damp");
    DeviceArray<std::uint32_t> row(device, graph_.row), column(device, graph_.column);
    DeviceArray<float> rank(device, vertices()), next(device, vertices());
    launch(device, device.kernel(module, "pagerank_start"),
           Arguments(rank.address(), next.address(), first_rank(), vertices()));
    for (std::uint32_t i = 0; i < iterations(); ++i) {
      launch(
          device, push,
          Arguments(row.address(), column.address(), rank.address(), next.address(), vertices()));
      launch(device, damp, Arguments(rank.address(), next.address(), base(), vertices()));
    }
    device.synchronize();
    rank_ = rank.download();
  }

  // Tolerance: everything is positive, so each round errs by as many roundings as a vertex has
  // edges leading to it, in any order, and four more (quotient, product and sum, constants).
  std::string check() override {
    std::vector<std::uint32_t> edges_to(vertices(), 0);
    for (std::uint32_t target : graph_.column) ++edges_to[target];
    double maximum = *std::max_element(edges_to.begin(), edges_to.end());
    double error = chained_error(iterations() * (maximum + 4) + 1);
    std::vector<double> expected = reference();
    return first_beyond("rank", expected, rank_,
                        [&](std::size_t v) { return error * expected[v]; });
  }

 private:
  float first_rank() const { return 1.0f / static_cast<float>(vertices()); }
  float base() const { return (1 - kDamping) / static_cast<float>(vertices()); }

  std::vector<double> reference() const {
    std::vector<double> rank(vertices(), first_rank()), next(vertices());
    for (std::uint32_t i = 0; i < iterations(); ++i) {
      std::fill(next.begin(), next.end(), 0.0);
      for (std::uint32_t v = 0; v < vertices(); ++v)
        for (std::uint32_t e = graph_.row[v]; e < graph_.row[v + 1]; ++e)
          next[graph_.column[e]] += rank[v] / graph_.degree(v);
      for (std::uint32_t v = 0; v < vertices(); ++v)
        rank[v] = double{base()} + double{kDamping} * next[v];
    }
    return rank;
  }

  std::vector<float> rank_;
};

}  // namespace

void add_workload_pagerank(Workloads& w) {
  w.add<PageRank>("pagerank", "PageRank: ranks dealt along edges by compare and swap, then damped");
}

}  // namespace raddle::runtime
