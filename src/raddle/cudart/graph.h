// Graphs: operations noted down with what they depend on, to be done as often as wanted. Made call
// by call or by streams that capture.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "raddle/cudart/launch.h"

namespace raddle::cudart {

/// cudaGraphNodeType.
enum class NodeType : int {
  Kernel = 0,
  Memcpy = 1,
  Memset = 2,
  Host = 3,
  Graph = 4,
  Empty = 5,
  WaitEvent = 6,
  EventRecord = 7,
  MemAlloc = 10,
  MemFree = 11,
};

struct GraphNode {
  NodeType type;
  std::vector<GraphNode*> dependencies = {};
  KernelLaunch launch = {};       ///< of a kernel
  Context::Work work = {};        ///< of anything else; may be empty
  Event* event = nullptr;         ///< of a node that records one or waits for one
  const GraphNode* origin = {};   ///< the node that it is a copy of
  std::vector<void*> shown = {};  ///< arguments of a kernel, for programs that ask
};

struct Graph {
  /// Each after those it depends on, unless dependencies were added later; see in_order().
  std::vector<std::unique_ptr<GraphNode>> nodes = {};
  /// Streams for its branches when it is run; its own, since graphs in different streams do not
  /// wait for one another.
  mutable std::vector<StreamId> branches = {};

  /// Held by each of its instances as well.
  std::shared_ptr<void> instances = std::make_shared<char>();

  GraphNode& add(NodeType type, std::vector<GraphNode*> dependencies);
  bool has(const GraphNode* node) const;
  bool allocates_or_frees() const;
};

struct GraphExec {
  Graph graph;                                ///< a copy, in an order in which it can be done
  std::shared_ptr<void> instance_of = {};     ///< that graph's `instances`
  std::optional<runtime::EventId> done = {};  ///< of its last launch
  unsigned long long flags = 0;               ///< cudaGraphInstantiateFlags
};

/// Adds a node with its dependencies, which must be the graph's. Throws Failure.
GraphNode& add_node(Context& c, GraphNode** to, Graph* graph, GraphNode* const* dependencies,
                    std::size_t count, NodeType type);
/// What a node does that records the event, or waits for what it was recorded behind last.
Context::Work record_of(Event* event);
Context::Work wait_of(Event* event);
/// Another graph with the same nodes. Throws Failure when the dependencies go round in a circle.
Graph copy_of(const Graph& graph);
/// Does the nodes in the stream; independent ones at the same time. Throws Failure.
void run(Context& c, const Graph& graph, StreamId stream);
/// Likewise, behind what was launched of it before, in whichever stream: CUDA runs one at a time.
void launch(Context& c, GraphExec& exec, StreamId stream);

}  // namespace raddle::cudart
