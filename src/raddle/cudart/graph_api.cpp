// The calls that make, change and run graphs.
#include <algorithm>
#include <cstring>
#include <utility>

#include "raddle/cudart/capture.h"
#include "raddle/cudart/pools.h"
#include "raddle/cudart/sizes.h"
#include "raddle/cudart/transfer.h"

using namespace raddle;
using namespace raddle::cudart;

namespace {

struct KernelNodeParameters {
  const void* function;
  Dim3 grid, block;
  unsigned shared_bytes;
  void** arguments;
  void** extra;
};
struct MemsetParameters {
  void* to;
  std::size_t pitch;
  unsigned value, value_bytes;
  std::size_t width, height;  ///< values, rows
};
struct HostParameters {
  HostFunction function;
  void* data;
};
struct MemAllocParameters {
  PoolProperties pool;
  const AccessDescription* access;
  std::size_t access_count, bytes;
  void* address;
};

KernelLaunch launch_of(Context& c, const KernelNodeParameters* p) {
  required(p);
  if (p->extra != nullptr) c.refuse_unsupported("a graph's kernel node with `extra` arguments");
  return prepared(c, p->function, p->grid, p->block, p->shared_bytes, p->arguments);
}

/// A fill that leaves the allocation in which it begins. Throws Failure.
void check_inside(const Context& c, const Region& region, std::size_t bytes) {
  const auto start = reinterpret_cast<Address>(region.start);
  const auto* const own = c.allocation(start);
  if (own != nullptr && bytes > own->second.bytes - (start - own->first))
    throw Failure{kInvalidValue, "the memset leaves its allocation"};
}

Context::Work fill_of(const Context& context, const MemsetParameters* p) {
  const unsigned bytes_each = required(p).value_bytes;
  if (bytes_each != 1 && bytes_each != 2 && bytes_each != 4)
    throw Failure{kInvalidValue, "a memset's values have 1, 2 or 4 bytes"};
  const std::size_t bytes = product(p->width, p->value_bytes);
  const Region region{p->to, p->pitch, p->height};
  const Block block{bytes, p->height, 1};
  if (bytes != 0 && p->height != 0) check_inside(context, region, span_of(region, block));
  return [=, m = *p](Context& c, StreamId on) {
    c.device().settle(on);
    fill(c, region, m.value, m.value_bytes, block);
  };
}

Context::Work copy_of_bytes(void* to, const void* from, std::size_t bytes, CopyKind kind) {
  return [=](Context& c, StreamId on) {
    c.device().settle(on);
    check_direction(c, kind, to, from);
    copy(c, {to, bytes, 1}, {const_cast<void*>(from), bytes, 1}, {bytes, 1, 1});
  };
}

Context::Work copy_of_3d(const Copy3d* p) {
  return [m = required(p)](Context& c, StreamId on) {
    c.device().settle(on);
    copy_3d(c, m);
  };
}

Context::Work host_of(const HostParameters* p) {
  if (required(p).function == nullptr) throw Failure{kInvalidValue};
  return [h = *p](Context& c, StreamId on) {
    c.device().settle(on);
    const HostFunctionWatch watch("host node of a graph");
    h.function(h.data);
  };
}

/// The instantiated copy of a graph's node.
GraphNode& instance(Context& c, GraphExec* exec, const GraphNode* node, NodeType type) {
  for (const auto& n : c.graph_execs.get(exec).graph.nodes)
    if (n->origin == node && n->type == type) return *n;
  throw Failure{kInvalidValue};
}

/// What CUDA forbids for graphs that own memory (cudaGraphAddMemAllocNode). Throws Failure.
void check_owns_no_memory(const Graph& graph, const char* what) {
  if (graph.allocates_or_frees())
    throw Failure{kNotSupported, std::string("a graph that allocates or frees memory ") + what};
}

/// Where a graph is put, whether it is freed on its own and who launches it are hints here.
Error instantiate(Context& c, GraphExec** to, Graph* graph, unsigned long long flags) {
  constexpr unsigned kKnown = 1 | 2 | 4 | 8;  // free on launch, upload, from the device, priorities
  if (to == nullptr || (flags & ~kKnown) != 0) throw Failure{kInvalidValue};
  const Graph& original = c.graphs.get(graph);
  if (original.instances.use_count() > 1) check_owns_no_memory(original, "has one instance");
  Graph copy = copy_of(original);
  *to = c.graph_execs.make();
  (*to)->graph = std::move(copy);
  (*to)->instance_of = original.instances;
  (*to)->flags = flags;
  return kSuccess;
}

/// Takes the parameters of the other graph's nodes when both are alike. False when they are not.
bool update(GraphExec& exec, const Graph& graph) {
  const Graph fresh = copy_of(graph);
  if (fresh.nodes.size() != exec.graph.nodes.size()) return false;
  for (std::size_t i = 0; i < fresh.nodes.size(); ++i)
    if (fresh.nodes[i]->type != exec.graph.nodes[i]->type ||
        fresh.nodes[i]->dependencies.size() != exec.graph.nodes[i]->dependencies.size())
      return false;
  for (std::size_t i = 0; i < fresh.nodes.size(); ++i) {
    exec.graph.nodes[i]->launch = fresh.nodes[i]->launch;
    exec.graph.nodes[i]->work = fresh.nodes[i]->work;
  }
  return true;
}

constexpr Error kGraphExecUpdateFailure = static_cast<Error>(910);

}  // namespace

extern "C" {

int raddle_cudaGraphCreate(Graph** graph, unsigned flags) {
  return call("cudaGraphCreate", [&](Context& c) {
    c.session();
    if (flags != 0) throw Failure{kInvalidValue};
    required(graph) = c.graphs.make();
    return kSuccess;
  });
}

int raddle_cudaGraphDestroy(Graph* graph) {
  return call("cudaGraphDestroy", [&](Context& c) {
    for (const auto& capture : c.captures)
      if (capture->graph == graph) throw Failure{kInvalidValue, "the graph is being captured"};
    c.graphs.drop(graph);
    return kSuccess;
  });
}

int raddle_cudaGraphAddKernelNode(GraphNode** node, Graph* graph, GraphNode* const* dependencies,
                                  std::size_t count, const KernelNodeParameters* p) {
  return call("cudaGraphAddKernelNode", [&](Context& c) {
    KernelLaunch launch = launch_of(c, p);
    add_node(c, node, graph, dependencies, count, NodeType::Kernel).launch = std::move(launch);
    return kSuccess;
  });
}

int raddle_cudaGraphAddMemcpyNode(GraphNode** node, Graph* graph, GraphNode* const* dependencies,
                                  std::size_t count, const Copy3d* p) {
  return call("cudaGraphAddMemcpyNode", [&](Context& c) {
    add_node(c, node, graph, dependencies, count, NodeType::Memcpy).work = copy_of_3d(p);
    return kSuccess;
  });
}

int raddle_cudaGraphAddMemcpyNode1D(GraphNode** node, Graph* graph, GraphNode* const* dependencies,
                                    std::size_t count, void* to, const void* from,
                                    std::size_t bytes, CopyKind kind) {
  return call("cudaGraphAddMemcpyNode1D", [&](Context& c) {
    add_node(c, node, graph, dependencies, count, NodeType::Memcpy).work =
        copy_of_bytes(to, from, bytes, kind);
    return kSuccess;
  });
}

int raddle_cudaGraphAddMemsetNode(GraphNode** node, Graph* graph, GraphNode* const* dependencies,
                                  std::size_t count, const MemsetParameters* p) {
  return call("cudaGraphAddMemsetNode", [&](Context& c) {
    add_node(c, node, graph, dependencies, count, NodeType::Memset).work = fill_of(c, p);
    return kSuccess;
  });
}

int raddle_cudaGraphAddHostNode(GraphNode** node, Graph* graph, GraphNode* const* dependencies,
                                std::size_t count, const HostParameters* p) {
  return call("cudaGraphAddHostNode", [&](Context& c) {
    add_node(c, node, graph, dependencies, count, NodeType::Host).work = host_of(p);
    return kSuccess;
  });
}

int raddle_cudaGraphAddEmptyNode(GraphNode** node, Graph* graph, GraphNode* const* dependencies,
                                 std::size_t count) {
  return call("cudaGraphAddEmptyNode", [&](Context& c) {
    add_node(c, node, graph, dependencies, count, NodeType::Empty);
    return kSuccess;
  });
}

int raddle_cudaGraphAddChildGraphNode(GraphNode** node, Graph* graph,
                                      GraphNode* const* dependencies, std::size_t count,
                                      Graph* child) {
  return call("cudaGraphAddChildGraphNode", [&](Context& c) {
    check_owns_no_memory(c.graphs.get(child), "is no child of another");
    auto inner = std::make_shared<Graph>(copy_of(c.graphs.get(child)));
    add_node(c, node, graph, dependencies, count, NodeType::Graph).work =
        [inner](Context& context, StreamId on) { run(context, *inner, on); };
    return kSuccess;
  });
}

// Memory of a graph is there from the node's making on, and stays.
int raddle_cudaGraphAddMemAllocNode(GraphNode** node, Graph* graph, GraphNode* const* dependencies,
                                    std::size_t count, MemAllocParameters* p) {
  return call("cudaGraphAddMemAllocNode", [&](Context& c) {
    if (required(p).bytes == 0) throw Failure{kInvalidValue};
    check_properties(c, "cudaGraphAddMemAllocNode", p->pool);
    listed(p->access, p->access_count);
    add_node(c, node, graph, dependencies, count, NodeType::MemAlloc);
    p->address = reinterpret_cast<void*>(c.allocate(p->bytes, Allocation::Kind::Device));
    return kSuccess;
  });
}

int raddle_cudaGraphAddMemFreeNode(GraphNode** node, Graph* graph, GraphNode* const* dependencies,
                                   std::size_t count, void* pointer) {
  return call("cudaGraphAddMemFreeNode", [&](Context& c) {
    if (c.allocation(reinterpret_cast<Address>(pointer)) == nullptr) throw Failure{kInvalidValue};
    add_node(c, node, graph, dependencies, count, NodeType::MemFree);
    return kSuccess;
  });
}

int raddle_cudaGraphClone(Graph** to, Graph* graph) {
  return call("cudaGraphClone", [&](Context& c) {
    check_owns_no_memory(c.graphs.get(graph), "cannot be cloned");
    Graph copy = copy_of(c.graphs.get(graph));
    required(to) = c.graphs.make();
    (*to)->nodes = std::move(copy.nodes);
    return kSuccess;
  });
}

// --- executable graphs --------------------------------------------------------------------------

int raddle_cudaGraphInstantiate_11(GraphExec** exec, Graph* graph, GraphNode**, char*,
                                   std::size_t) {
  return call("cudaGraphInstantiate", [&](Context& c) { return instantiate(c, exec, graph, 0); });
}

int raddle_cudaGraphInstantiate_12(GraphExec** exec, Graph* graph, unsigned long long flags) {
  return call("cudaGraphInstantiate",
              [&](Context& c) { return instantiate(c, exec, graph, flags); });
}

int raddle_cudaGraphInstantiateWithFlags(GraphExec** exec, Graph* graph, unsigned long long flags) {
  return call("cudaGraphInstantiateWithFlags",
              [&](Context& c) { return instantiate(c, exec, graph, flags); });
}

int raddle_cudaGraphExecDestroy(GraphExec* exec) {
  return call("cudaGraphExecDestroy", [&](Context& c) {
    c.graph_execs.drop(exec);
    return kSuccess;
  });
}

int raddle_cudaGraphUpload(GraphExec* exec, Stream* stream) {
  return call("cudaGraphUpload", [&](Context& c) {
    c.graph_execs.get(exec);
    usable(c, stream);
    return kSuccess;
  });
}

int raddle_cudaGraphLaunch(GraphExec* exec, Stream* stream) {
  return call("cudaGraphLaunch", [&](Context& c) {
    GraphExec& e = c.graph_execs.get(exec);
    Stream& on = usable(c, stream);
    if (on.capture == nullptr) {
      launch(c, e, on.id);
      return kSuccess;
    }
    auto inner = std::make_shared<Graph>(copy_of(e.graph));
    captured(on, NodeType::Graph).work = [inner](Context& context, StreamId id) {
      run(context, *inner, id);
    };
    return kSuccess;
  });
}

int raddle_cudaGraphExecKernelNodeSetParams(GraphExec* exec, GraphNode* node,
                                            const KernelNodeParameters* p) {
  return call("cudaGraphExecKernelNodeSetParams", [&](Context& c) {
    instance(c, exec, node, NodeType::Kernel).launch = launch_of(c, p);
    return kSuccess;
  });
}

int raddle_cudaGraphKernelNodeSetParams(GraphNode* node, const KernelNodeParameters* p) {
  return call("cudaGraphKernelNodeSetParams", [&](Context& c) {
    if (required(node).type != NodeType::Kernel) throw Failure{kInvalidValue};
    KernelLaunch fresh = launch_of(c, p);  // its arguments may be those of the node itself
    node->launch = std::move(fresh);
    return kSuccess;
  });
}

int raddle_cudaGraphKernelNodeGetParams(GraphNode* node, KernelNodeParameters* to) {
  return call("cudaGraphKernelNodeGetParams", [&](Context& c) {
    if (required(node).type != NodeType::Kernel) throw Failure{kInvalidValue};
    KernelLaunch& launch = node->launch;
    node->shown.clear();
    for (const auto& item : exec::parameters_of(c.device().code(c.loaded(*launch.kernel))).items)
      node->shown.push_back(launch.parameters.data() + item.offset);
    required(to) = {.function = launch.function,
                    .grid = launch.grid,
                    .block = launch.block,
                    .shared_bytes = static_cast<unsigned>(launch.shared_bytes),
                    .arguments = node->shown.empty() ? nullptr : node->shown.data(),
                    .extra = nullptr};
    return kSuccess;
  });
}

int raddle_cudaGraphExecMemcpyNodeSetParams1D(GraphExec* exec, GraphNode* node, void* to,
                                              const void* from, std::size_t bytes, CopyKind kind) {
  return call("cudaGraphExecMemcpyNodeSetParams1D", [&](Context& c) {
    instance(c, exec, node, NodeType::Memcpy).work = copy_of_bytes(to, from, bytes, kind);
    return kSuccess;
  });
}

int raddle_cudaGraphExecMemcpyNodeSetParams(GraphExec* exec, GraphNode* node, const Copy3d* p) {
  return call("cudaGraphExecMemcpyNodeSetParams", [&](Context& c) {
    instance(c, exec, node, NodeType::Memcpy).work = copy_of_3d(p);
    return kSuccess;
  });
}

int raddle_cudaGraphExecMemsetNodeSetParams(GraphExec* exec, GraphNode* node,
                                            const MemsetParameters* p) {
  return call("cudaGraphExecMemsetNodeSetParams", [&](Context& c) {
    instance(c, exec, node, NodeType::Memset).work = fill_of(c, p);
    return kSuccess;
  });
}

int raddle_cudaGraphExecHostNodeSetParams(GraphExec* exec, GraphNode* node,
                                          const HostParameters* p) {
  return call("cudaGraphExecHostNodeSetParams", [&](Context& c) {
    instance(c, exec, node, NodeType::Host).work = host_of(p);
    return kSuccess;
  });
}

int raddle_cudaGraphExecUpdate_11(GraphExec* exec, Graph* graph, GraphNode** node, int* result) {
  return call("cudaGraphExecUpdate", [&](Context& c) {
    const bool done = update(c.graph_execs.get(exec), c.graphs.get(graph));
    if (node != nullptr) *node = nullptr;
    if (result != nullptr) *result = done ? 0 : 2;  // success, or another topology
    return done ? kSuccess : kGraphExecUpdateFailure;
  });
}

int raddle_cudaGraphExecUpdate_12(GraphExec* exec, Graph* graph, void* info) {
  return call("cudaGraphExecUpdate", [&](Context& c) {
    const bool done = update(c.graph_execs.get(exec), c.graphs.get(graph));
    const struct {
      int result;
      GraphNode *node, *from;
    } notified = {done ? 0 : 2, nullptr, nullptr};
    if (info != nullptr) std::memcpy(info, &notified, sizeof notified);
    return done ? kSuccess : kGraphExecUpdateFailure;
  });
}

int raddle_cudaDeviceGraphMemTrim(int) {
  return call("cudaDeviceGraphMemTrim", [](Context&) { return kSuccess; });
}

int raddle_cudaDeviceGetGraphMemAttribute(int device, int number, std::uint64_t* value) {
  return call("cudaDeviceGetGraphMemAttribute", [&](Context&) {
    constexpr int kLast = 3;
    if (device != 0) throw Failure{kInvalidDevice};
    if (number < 0 || number > kLast) throw Failure{kInvalidValue};
    required(value) = 0;  // graphs have no memory of their own here
    return kSuccess;
  });
}

}  // extern "C"
