// Nodes and edges of graphs: what programs add, ask and take away.
#include <algorithm>
#include <set>
#include <utility>

#include "raddle/cudart/capture.h"

using namespace raddle;
using namespace raddle::cudart;

namespace {

using Nodes = std::vector<GraphNode*>;
using Edge = std::pair<GraphNode*, GraphNode*>;

/// cudaGraphEdgeData. Edges are all of one kind, "when it is over": all bytes are 0.
struct EdgeData {
  unsigned char from_port = 0, to_port = 0, type = 0, reserved[5] = {};
};

/// Gives the items as CUDA does: without room for them their number, else as many as there is room
/// for, and null behind them.
template <class Item, class Give>
Error give(const std::vector<Item>& items, bool room, std::size_t* count, Give put) {
  if (room) {
    for (std::size_t i = 0; i < required(count); ++i) put(i, i < items.size() ? items[i] : Item{});
    *count = std::min(*count, items.size());
  } else {
    required(count) = items.size();
  }
  return kSuccess;
}
Error give_nodes(const Nodes& all, GraphNode** to, std::size_t* count, EdgeData* data = nullptr) {
  return give(all, to != nullptr, count, [&](std::size_t i, GraphNode* node) {
    to[i] = node;
    if (data != nullptr) data[i] = {};
  });
}

/// The graph that has the node. Throws Failure.
Graph& graph_of(Context& c, const GraphNode* node) {
  Graph* found = nullptr;
  c.graphs.each([&](Graph& graph) {
    if (graph.has(node)) found = &graph;
  });
  if (found == nullptr) throw Failure{kInvalidValue};
  return *found;
}

Nodes dependents(const Graph& graph, const GraphNode* of) {
  Nodes out;
  for (const auto& node : graph.nodes)
    if (std::ranges::count(node->dependencies, of) != 0) out.push_back(node.get());
  return out;
}

void check_may_lose(const Graph& graph) {
  if (graph.allocates_or_frees())
    throw Failure{kNotSupported, "a graph that allocates or frees memory loses no nodes and edges"};
}

Error give_event(Context& c, const GraphNode* node, NodeType type, Event** to) {
  graph_of(c, node);
  if (node->type != type) throw Failure{kInvalidValue};
  required(to) = node->event;
  return kSuccess;
}

}  // namespace

extern "C" {

int raddle_cudaGraphAddDependencies_11(Graph* graph, GraphNode* const* from, GraphNode* const* to,
                                       std::size_t count) {
  return call("cudaGraphAddDependencies", [&](Context& c) {
    const Graph& g = c.graphs.get(graph);
    listed(from, count);
    listed(to, count);
    std::set<std::pair<const GraphNode*, const GraphNode*>> fresh;  // looked up only
    for (std::size_t i = 0; i < count; ++i) {
      if (!g.has(from[i]) || !g.has(to[i]) || from[i] == to[i]) throw Failure{kInvalidValue};
      if (std::ranges::count(to[i]->dependencies, from[i]) != 0 ||
          !fresh.emplace(from[i], to[i]).second)
        throw Failure{kInvalidValue, "the graph has that edge already"};
    }
    for (std::size_t i = 0; i < count; ++i) to[i]->dependencies.push_back(from[i]);
    return kSuccess;
  });
}

int raddle_cudaGraphAddDependencies_13(Graph* graph, GraphNode* const* from, GraphNode* const* to,
                                       const void*, std::size_t count) {
  return raddle_cudaGraphAddDependencies_11(graph, from, to, count);
}

int raddle_cudaGraphRemoveDependencies_11(Graph* graph, GraphNode* const* from,
                                          GraphNode* const* to, std::size_t count) {
  return call("cudaGraphRemoveDependencies", [&](Context& c) {
    const Graph& g = c.graphs.get(graph);
    check_may_lose(g);
    listed(from, count);
    listed(to, count);
    for (std::size_t i = 0; i < count; ++i)
      if (!g.has(from[i]) || !g.has(to[i]) || std::ranges::count(to[i]->dependencies, from[i]) == 0)
        throw Failure{kInvalidValue, "the graph has no such edge"};
    for (std::size_t i = 0; i < count; ++i) std::erase(to[i]->dependencies, from[i]);
    return kSuccess;
  });
}

int raddle_cudaGraphRemoveDependencies_13(Graph* graph, GraphNode* const* from,
                                          GraphNode* const* to, const void*, std::size_t count) {
  return raddle_cudaGraphRemoveDependencies_11(graph, from, to, count);
}

int raddle_cudaGraphDestroyNode(GraphNode* node) {
  return call("cudaGraphDestroyNode", [&](Context& c) {
    Graph& graph = graph_of(c, node);
    check_may_lose(graph);
    for (const auto& other : graph.nodes) std::erase(other->dependencies, node);
    std::erase_if(graph.nodes, [&](const auto& one) { return one.get() == node; });
    return kSuccess;
  });
}

// --- what there is ------------------------------------------------------------------------------

int raddle_cudaGraphGetNodes(Graph* graph, GraphNode** nodes, std::size_t* count) {
  return call("cudaGraphGetNodes", [&](Context& c) {
    Nodes all;
    for (const auto& node : c.graphs.get(graph).nodes) all.push_back(node.get());
    return give_nodes(all, nodes, count);
  });
}

int raddle_cudaGraphGetRootNodes(Graph* graph, GraphNode** nodes, std::size_t* count) {
  return call("cudaGraphGetRootNodes", [&](Context& c) {
    Nodes roots;
    for (const auto& node : c.graphs.get(graph).nodes)
      if (node->dependencies.empty()) roots.push_back(node.get());
    return give_nodes(roots, nodes, count);
  });
}

int raddle_cudaGraphGetEdges_13(Graph* graph, GraphNode** from, GraphNode** to, EdgeData* data,
                                std::size_t* count) {
  return call("cudaGraphGetEdges", [&](Context& c) {
    std::vector<Edge> edges;
    for (const auto& node : c.graphs.get(graph).nodes)
      for (GraphNode* const before : node->dependencies) edges.emplace_back(before, node.get());
    if ((from == nullptr) != (to == nullptr)) throw Failure{kInvalidValue};
    return give(edges, from != nullptr, count, [&](std::size_t i, const Edge& edge) {
      from[i] = edge.first;
      to[i] = edge.second;
      if (data != nullptr) data[i] = {};
    });
  });
}

int raddle_cudaGraphGetEdges_11(Graph* graph, GraphNode** from, GraphNode** to,
                                std::size_t* count) {
  return raddle_cudaGraphGetEdges_13(graph, from, to, nullptr, count);
}

int raddle_cudaGraphNodeGetDependencies_13(GraphNode* node, GraphNode** to, EdgeData* data,
                                           std::size_t* count) {
  return call("cudaGraphNodeGetDependencies", [&](Context& c) {
    graph_of(c, node);
    return give_nodes(node->dependencies, to, count, data);
  });
}

int raddle_cudaGraphNodeGetDependencies_11(GraphNode* node, GraphNode** to, std::size_t* count) {
  return raddle_cudaGraphNodeGetDependencies_13(node, to, nullptr, count);
}

int raddle_cudaGraphNodeGetDependentNodes_13(GraphNode* node, GraphNode** to, EdgeData* data,
                                             std::size_t* count) {
  return call("cudaGraphNodeGetDependentNodes", [&](Context& c) {
    return give_nodes(dependents(graph_of(c, node), node), to, count, data);
  });
}

int raddle_cudaGraphNodeGetDependentNodes_11(GraphNode* node, GraphNode** to, std::size_t* count) {
  return raddle_cudaGraphNodeGetDependentNodes_13(node, to, nullptr, count);
}

int raddle_cudaGraphNodeGetType(GraphNode* node, NodeType* type) {
  return call("cudaGraphNodeGetType", [&](Context&) {
    required(type) = required(node).type;
    return kSuccess;
  });
}

int raddle_cudaGraphNodeFindInClone(GraphNode** to, GraphNode* original, Graph* clone) {
  return call("cudaGraphNodeFindInClone", [&](Context& c) {
    graph_of(c, original);
    required(to) = nullptr;
    for (const auto& node : c.graphs.get(clone).nodes)
      if (node->origin == original) *to = node.get();
    if (*to == nullptr) throw Failure{kInvalidValue};
    return kSuccess;
  });
}

int raddle_cudaGraphExecGetFlags(GraphExec* exec, unsigned long long* flags) {
  return call("cudaGraphExecGetFlags", [&](Context& c) {
    required(flags) = c.graph_execs.get(exec).flags;
    return kSuccess;
  });
}

// --- nodes of events ----------------------------------------------------------------------------

int raddle_cudaGraphAddEventRecordNode(GraphNode** node, Graph* graph,
                                       GraphNode* const* dependencies, std::size_t count,
                                       Event* event) {
  return call("cudaGraphAddEventRecordNode", [&](Context& c) {
    c.events.get(event);
    GraphNode& made = add_node(c, node, graph, dependencies, count, NodeType::EventRecord);
    made.work = record_of(event);
    made.event = event;
    return kSuccess;
  });
}

int raddle_cudaGraphAddEventWaitNode(GraphNode** node, Graph* graph, GraphNode* const* dependencies,
                                     std::size_t count, Event* event) {
  return call("cudaGraphAddEventWaitNode", [&](Context& c) {
    c.events.get(event);
    GraphNode& made = add_node(c, node, graph, dependencies, count, NodeType::WaitEvent);
    made.work = wait_of(event);
    made.event = event;
    return kSuccess;
  });
}

int raddle_cudaGraphEventRecordNodeGetEvent(GraphNode* node, Event** to) {
  return call("cudaGraphEventRecordNodeGetEvent",
              [&](Context& c) { return give_event(c, node, NodeType::EventRecord, to); });
}

int raddle_cudaGraphEventWaitNodeGetEvent(GraphNode* node, Event** to) {
  return call("cudaGraphEventWaitNodeGetEvent",
              [&](Context& c) { return give_event(c, node, NodeType::WaitEvent, to); });
}

}  // extern "C"
