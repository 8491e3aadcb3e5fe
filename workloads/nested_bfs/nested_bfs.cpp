// Host code of nested_bfs: the host reads how long the lists are and launches until the frontier is
// empty. See README.md.
#include "common/compare.h"
#include "common/nested_workload.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

constexpr std::uint32_t kUnreached = ~0u;  // as in kernels.cu

class NestedBfs final : public NestedWorkload {
 public:
  NestedBfs() : NestedWorkload(256, kPendingLaunches) {}

  void visit(FieldVisitor& v) override {
    NestedWorkload::visit(v);
    v.field("room", room_, {1, 8}, "words",
            "words of the two lists, per edge of the graph: a vertex may be found several times");
    v.choice("order", order_, kListOrderNames, kListOrderDoc);
  }

  void run(Device& device, std::uint64_t seed) override {
    make_graph(seed);
    source_ = source();
    inputs_.add(source_);
    ModuleId module = load_module(device, "nested_bfs");
    KernelId expand = parent_kernel(device, module, "nested_bfs_expand");
    KernelId contract = device.kernel(module, "nested_bfs_contract");

    std::vector<std::uint8_t> start((vertices() + 7) / 8, 0);
    start[source_ / 8] = static_cast<std::uint8_t>(1u << source_ % 8);
    DeviceArray<std::uint32_t> row(device, graph_.row), column(device, graph_.column);
    DeviceArray<std::uint8_t> visited(device, start);
    DeviceArray<std::uint32_t> distance(device, std::vector<std::uint32_t>(vertices(), kUnreached));
    const std::size_t capacity = room_ * graph_.column.size();
    DeviceList found(device, capacity, "list of neighbours");
    DeviceList frontier(device, capacity, "frontier");
    frontier.start_with(device, source_);

    std::uint32_t in_frontier = 1;
    for (std::uint32_t level = 0; in_frontier != 0; ++level) {
      found.clear();
      launch_parent(
          device, expand, in_frontier,
          Arguments(row.address(), column.address(), distance.address(), frontier.words(),
                    found.words(), found.size_word(), in_frontier, found.capacity(), level));
      device.synchronize();
      const std::uint32_t neighbours = found.size();
      if (neighbours == 0) break;
      frontier.clear();
      launch(device, contract, neighbours,
             Arguments(visited.address(), found.words(), frontier.words(), frontier.size_word(),
                       neighbours));
      device.synchronize();
      in_frontier = frontier.size();
      if (order_ == ListOrder::Sorted) frontier.sort(device, in_frontier);
    }
    distance_ = distance.download();
  }

  std::string check() override {
    std::vector<std::uint32_t> expected(graph_.vertices(), kUnreached), queue = {source_};
    expected[source_] = 0;
    for (std::size_t i = 0; i < queue.size(); ++i) {
      const std::uint32_t v = queue[i];
      for (std::uint32_t e = graph_.row[v]; e < graph_.row[v + 1]; ++e) {
        const std::uint32_t neighbour = graph_.column[e];
        if (expected[neighbour] != kUnreached) continue;
        expected[neighbour] = expected[v] + 1;
        queue.push_back(neighbour);
      }
    }
    return first_difference("distance", expected, distance_);
  }

 private:
  std::uint32_t room_ = 4, source_ = 0;
  ListOrder order_ = ListOrder::Found;
  std::vector<std::uint32_t> distance_;
};

}  // namespace

void add_workload_nested_bfs(Workloads& w) {
  w.add<NestedBfs>("nested_bfs", "breadth-first search whose long rows are child kernels");
}

}  // namespace raddle::runtime
