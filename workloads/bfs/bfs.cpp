// Host code of bfs: breadth-first search by levels; the host loops until no vertex is new.
// See README.md.
#include "common/compare.h"
#include "common/device_array.h"
#include "common/graph_choice.h"
#include "common/inputs.h"

namespace raddle::runtime {

namespace {

using namespace workloads;

constexpr std::int32_t kUnreached = -1;

class Bfs final : public HashedWorkload {
 public:
  void set_size(Size size) override {
    // Paper: CCWS's baseline, 500 thousand edges, each kept by both its ends.
    by_size(size, graph_choice_,
            {{GraphKind::Uniform, 500, 2'000},
             {GraphKind::Uniform, 65'536, 500'000},
             {GraphKind::Undirected, 65'536, 1'000'000}});
    by_size(size, edge_words_, {2, 2, 1});
    by_size(size, block_, {256, 256, 512});
  }

  void visit(FieldVisitor& v) override {
    graph_choice_.visit(v);
    v.field("edge_words", edge_words_, {1, 8}, "words",
            "size of an edge: 1 its target alone (Rodinia), 2 target and weight (CCWS, example 1)");
    v.field("targets", targets_,
            "an edge is its target alone, which a kernel of its own knows: fewer registers");
    v.field("block", block_, {1, 1024}, "threads", "threads per block");
    v.field("launches", launches_, {0, 1u << 20}, "launches",
            "after which it ends; two make a level; 0: when no vertex is new");
  }

  std::vector<std::string> violations() const override {
    std::vector<std::string> all = graph_choice_.violations();
    if (targets_ && edge_words_ != 1)
      all.push_back("targets needs edge_words=1, is " + std::to_string(edge_words_));
    return all;
  }

  void run(Device& device, std::uint64_t seed) override {
    make_input(seed);
    ModuleId module = load_module(device, "bfs");
    KernelId expand = device.kernel(module, targets_ ? "bfs_expand_targets" : "bfs_expand");
    KernelId advance = device.kernel(module, "bfs_advance");

    std::uint32_t n = graph_.vertices();
    std::vector<std::uint8_t> at_source(n, 0);
    at_source[source_] = 1;
    std::vector<std::int32_t> start(n, kUnreached);
    start[source_] = 0;
    DeviceArray<std::uint32_t> vertices(device, vertex_records(graph_));
    DeviceArray<std::uint32_t> edges(device, edge_records(graph_, edge_words_));
    DeviceArray<std::uint8_t> frontier(device, at_source), visited(device, at_source);
    DeviceArray<std::uint8_t> updating(device, n);
    updating.set_bytes(0);
    DeviceArray<std::int32_t> cost(device, start);
    DeviceArray<std::uint32_t> more(device, 1);

    Dim3 grid{blocks_for(n, block_)}, block{block_};
    // A level finds at least one vertex or is the last, so n levels are enough for any graph.
    for (std::uint32_t level = 0; level < n && !ended_before(2 * level); ++level) {
      more.upload({0});
      Arguments arguments(vertices.address(), edges.address(), frontier.address(),
                          updating.address(), visited.address(), cost.address());
      if (!targets_) arguments.add(edge_words_);
      arguments.add(n);
      device.launch(expand, grid, block, arguments);
      if (ended_before(2 * level + 1)) break;
      device.launch(
          advance, grid, block,
          Arguments(frontier.address(), updating.address(), visited.address(), more.address(), n));
      device.synchronize();
      if (more.download()[0] == 0) break;
    }
    device.synchronize();
    cost_ = cost.download();
  }

  std::string check() override {
    std::vector<std::int32_t> expected(graph_.vertices(), kUnreached);
    std::vector<std::uint32_t> queue = {source_};
    expected[source_] = 0;
    for (std::size_t i = 0; i < queue.size(); ++i) {
      std::uint32_t v = queue[i];
      if (ended_before(2 * static_cast<std::uint32_t>(expected[v]))) break;
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
    graph_ = graph_choice_.make(rng);
    source_ = graph_choice_.source(graph_, rng);
    inputs_.add(graph_.row, graph_.column, source_);
  }

  bool ended_before(std::uint32_t launch) const { return launches_ != 0 && launch >= launches_; }

  GraphChoice graph_choice_;
  std::uint32_t edge_words_ = 2, block_ = 256, launches_ = 0, source_ = 0;
  bool targets_ = false;
  Graph graph_;
  std::vector<std::int32_t> cost_;
};

}  // namespace

void add_workload_bfs(Workloads& w) {
  w.add<Bfs>("bfs", "breadth-first search by levels: divergent, scattered accesses");
}

}  // namespace raddle::runtime
