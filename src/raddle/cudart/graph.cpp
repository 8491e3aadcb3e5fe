#include "raddle/cudart/graph.h"

#include <algorithm>
#include <map>

#include "raddle/base/error.h"

namespace raddle::cudart {

GraphNode& Graph::add(NodeType type, std::vector<GraphNode*> dependencies) {
  nodes.push_back(std::make_unique<GraphNode>(GraphNode{type, std::move(dependencies)}));
  return *nodes.back();
}

bool Graph::has(const GraphNode* node) const {
  return std::ranges::any_of(nodes, [&](const auto& n) { return n.get() == node; });
}

bool Graph::allocates_or_frees() const {
  return std::ranges::any_of(nodes, [](const auto& n) {
    return n->type == NodeType::MemAlloc || n->type == NodeType::MemFree;
  });
}

Graph copy_of(const Graph& graph) {
  Graph out;
  std::map<const GraphNode*, GraphNode*> copies;  // looked up only
  std::vector<const GraphNode*> left;
  for (const auto& node : graph.nodes) left.push_back(node.get());
  while (!left.empty()) {
    const std::size_t before = left.size();
    std::erase_if(left, [&](const GraphNode* node) {
      std::vector<GraphNode*> dependencies;
      for (const GraphNode* d : node->dependencies) {
        const auto found = copies.find(d);
        if (found == copies.end()) return false;
        dependencies.push_back(found->second);
      }
      GraphNode& copy = out.add(node->type, std::move(dependencies));
      copy.launch = node->launch;
      copy.work = node->work;
      copy.event = node->event;
      copy.origin = node;
      copies[node] = &copy;
      return true;
    });
    if (left.size() == before) throw Failure{kInvalidValue, "the graph has a circle"};
  }
  RADDLE_ASSERT(out.nodes.size() == graph.nodes.size());
  return out;
}

GraphNode& add_node(Context& c, GraphNode** to, Graph* graph, GraphNode* const* dependencies,
                    std::size_t count, NodeType type) {
  Graph& g = c.graphs.get(graph);
  std::vector<GraphNode*> before;
  for (GraphNode* const dependency : listed(dependencies, count)) {
    if (!g.has(dependency) || std::ranges::count(before, dependency) != 0)
      throw Failure{kInvalidValue};
    before.push_back(dependency);
  }
  GraphNode& node = g.add(type, std::move(before));
  if (to != nullptr) *to = &node;
  return node;
}

namespace {

/// Which stream does what: a node goes on where its first dependency ended, unless another node
/// has gone on there already.
class Branches {
 public:
  /// `streams`: of all but the first branch; more are made as they are needed.
  Branches(Context& c, StreamId first, std::vector<StreamId>& streams)
      : c_(c), first_(first), streams_(streams), begin_(c.device().create_event()) {
    c.device().record(begin_, first);
  }

  /// The stream of the node, which waits for all the node depends on.
  StreamId place(const GraphNode& node) {
    RADDLE_ASSERT(!branch_.contains(&node));
    std::size_t branch = kNone;
    for (const GraphNode* d : node.dependencies) {
      const std::size_t candidate = branch_.at(d);
      if (last_[candidate] != d) continue;
      branch = candidate;
      break;
    }
    if (branch == kNone) branch = fresh();
    for (const GraphNode* d : node.dependencies)
      if (branch_.at(d) != branch) c_.device().wait(stream(branch), done_.at(d));
    branch_[&node] = branch;
    last_[branch] = &node;
    return stream(branch);
  }
  void ended(const GraphNode& node) {
    RADDLE_ASSERT(last_[branch_.at(&node)] == &node);
    const runtime::EventId event = c_.device().create_event();
    c_.device().record(event, stream(branch_.at(&node)));
    done_[&node] = event;
  }
  /// The first stream waits for every other.
  void join() {
    for (std::size_t b = 1; b < last_.size(); ++b) {
      RADDLE_ASSERT(last_[b] != nullptr);
      c_.device().wait(first_, done_.at(last_[b]));
    }
  }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};
  StreamId stream(std::size_t branch) const { return branch == 0 ? first_ : streams_[branch - 1]; }
  std::size_t fresh() {
    const std::size_t branch = last_.size();
    last_.push_back(nullptr);
    if (branch == 0) return branch;
    RADDLE_ASSERT(streams_.size() + 1 >= branch);  // those of lower numbers are there
    if (streams_.size() < branch) streams_.push_back(c_.device().create_stream());
    // Not before the graph's turn in its stream.
    c_.device().wait(stream(branch), begin_);
    return branch;
  }
  Context& c_;
  StreamId first_;
  std::vector<StreamId>& streams_;
  runtime::EventId begin_;
  std::vector<const GraphNode*> last_;              // by branch
  std::map<const GraphNode*, std::size_t> branch_;  // looked up only
  std::map<const GraphNode*, runtime::EventId> done_;
};

bool linear(const Graph& graph) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const auto& dependencies = graph.nodes[i]->dependencies;
    if (i == 0 ? !dependencies.empty()
               : dependencies.size() != 1 || dependencies[0] != graph.nodes[i - 1].get())
      return false;
  }
  return true;
}

void do_node(Context& c, const GraphNode& node, StreamId stream) {
  if (node.type == NodeType::Kernel) launch_now(c, stream, node.launch);
  else if (node.work) node.work(c, stream);
}

}  // namespace

void run(Context& c, const Graph& graph, StreamId stream) {
  if (linear(graph)) {
    for (const auto& node : graph.nodes) do_node(c, *node, stream);
    return;
  }
  Branches branches(c, stream, graph.branches);
  for (const auto& node : graph.nodes) {
    do_node(c, *node, branches.place(*node));
    branches.ended(*node);
  }
  branches.join();
}

void launch(Context& c, GraphExec& exec, StreamId stream) {
  if (exec.done) c.device().wait(stream, *exec.done);
  run(c, exec.graph, stream);
  if (!exec.done) exec.done = c.device().create_event();
  c.device().record(*exec.done, stream);
}

}  // namespace raddle::cudart
