// Graphs: operations noted down with what they depend on, to be done as often as wanted. Made call
// by call or by streams that capture.
#pragma once
#include <memory>
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
  KernelLaunch launch = {};      ///< of a kernel
  Context::Work work = {};       ///< of anything else; may be empty
  const GraphNode* origin = {};  ///< the node that it is a copy of
};

struct Graph {
  /// Each after those it depends on, unless dependencies were added later; see in_order().
  std::vector<std::unique_ptr<GraphNode>> nodes = {};

  GraphNode& add(NodeType type, std::vector<GraphNode*> dependencies);
  bool has(const GraphNode* node) const;
};

struct GraphExec {
  Graph graph;  ///< a copy, in an order in which it can be done
};

/// Another graph with the same nodes. Throws Failure when the dependencies go round in a circle.
Graph copy_of(const Graph& graph);
/// Does the nodes in the stream; independent ones at the same time. Throws Failure.
void run(Context& c, const Graph& graph, StreamId stream);

struct Capture {
  Graph* graph;
  Stream* origin;                     ///< nullptr: it has ended
  std::vector<Stream*> streams = {};  ///< that take part
  std::vector<GraphNode*> left = {};  ///< what destroyed streams did last
};

/// A new node after what the capturing stream did last.
GraphNode& captured(Stream& stream, NodeType type);
/// From now on the stream takes part in the capture in which the event was recorded.
void join(Stream& stream, const Event& event);
/// Before the stream is destroyed. A capture goes on without a stream that joined it, and ends
/// without a graph when it is the one that began it.
void leave_capture(Stream& stream);

}  // namespace raddle::cudart
