// Host code of nested_sssp: the host reads how many vertices were improved and launches until there
// are none. See README.md.
#include <functional>
#include <queue>

#include "common/compare.h"
#include "common/nested_workload.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

constexpr std::uint32_t kUnreached = ~0u;

class NestedSssp final : public NestedWorkload {
 public:
  NestedSssp() : NestedWorkload(256, kPendingLaunches) {}

  void visit(FieldVisitor& v) override {
    NestedWorkload::visit(v);
    v.field("weights", greatest_weight_, {1, 1u << 16}, "length",
            "an edge has an integer length from 1 to this");
    v.choice("order", order_, kListOrderNames, kListOrderDoc);
  }

  void run(Device& device, std::uint64_t seed) override {
    make_input(seed);
    ModuleId module = load_module(device, "nested_sssp");
    KernelId expand = parent_kernel(device, module, "nested_sssp_expand");

    std::vector<std::uint32_t> start(vertices(), kUnreached);
    start[source_] = 0;
    DeviceArray<std::uint32_t> row(device, graph_.row), column(device, graph_.column);
    DeviceArray<std::uint32_t> weight(device, weight_), distance(device, start);
    // Of a round each edge improves its end once; more often only where its vertex is listed twice
    // and has got nearer in between.
    const std::size_t capacity = 2 * graph_.column.size();
    DeviceList first(device, capacity, "list of improved vertices");
    DeviceList second(device, capacity, "list of improved vertices");
    first.start_with(device, source_);

    DeviceList *frontier = &first, *improved = &second;
    std::uint32_t in_frontier = 1;
    while (in_frontier != 0) {
      improved->clear();
      launch_parent(device, expand, in_frontier,
                    Arguments(row.address(), column.address(), weight.address(), distance.address(),
                              frontier->words(), improved->words(), improved->size_word(),
                              in_frontier, improved->capacity()));
      device.synchronize();
      in_frontier = improved->size();
      if (order_ == ListOrder::Sorted) improved->sort(device, in_frontier);
      std::swap(frontier, improved);
    }
    distance_ = distance.download();
  }

  // Dijkstra's algorithm.
  std::string check() override {
    using Entry = std::pair<std::uint32_t, std::uint32_t>;  // distance, vertex
    std::vector<std::uint32_t> expected(graph_.vertices(), kUnreached);
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    expected[source_] = 0;
    queue.emplace(0, source_);
    while (!queue.empty()) {
      const auto [distance, v] = queue.top();
      queue.pop();
      if (distance != expected[v]) continue;
      for (std::uint32_t e = graph_.row[v]; e < graph_.row[v + 1]; ++e) {
        const std::uint32_t through = distance + weight_[e];
        if (through >= expected[graph_.column[e]]) continue;
        expected[graph_.column[e]] = through;
        queue.emplace(through, graph_.column[e]);
      }
    }
    return first_difference("distance", expected, distance_);
  }

 private:
  void make_input(std::uint64_t seed) {
    make_graph(seed);
    Rng rng(seed, "nested_sssp/weights");
    weight_.resize(graph_.column.size());
    for (std::uint32_t& weight : weight_) weight = 1 + rng.below(greatest_weight_);
    source_ = source();
    inputs_.add(weight_, source_);
  }

  std::uint32_t greatest_weight_ = 1, source_ = 0;
  ListOrder order_ = ListOrder::Found;
  std::vector<std::uint32_t> weight_, distance_;
};

}  // namespace

void add_workload_nested_sssp(Workloads& w) {
  w.add<NestedSssp>("nested_sssp", "shortest paths whose long rows are child kernels");
}

}  // namespace raddle::runtime
