// Nodes and edges of graphs: added, asked for, found in a clone and taken away; nodes of events.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <utility>

namespace {

void expect(bool holds, const char* what, int line) {
  if (holds) return;
  std::printf("line %d: %s\n", line, what);
  std::exit(1);
}
#define HOLDS(condition) expect((condition), #condition, __LINE__)
#define OK(call) expect((call) == cudaSuccess, #call, __LINE__)

__global__ void add(int* x, int n) { *x += n; }
__global__ void times(int* x, int n) { *x *= n; }

// CUDA 13 has one name for what CUDA 12 called _v2.
#if CUDART_VERSION >= 13000
#define WITH_DATA(name, ...) name(__VA_ARGS__)
#else
#define WITH_DATA(name, ...) name##_v2(__VA_ARGS__)
#endif

using Node = cudaGraphNode_t;

struct Graph {
  cudaGraph_t graph = nullptr;
  int* x = nullptr;
  Node one = nullptr, two = nullptr, three = nullptr;  // x + 1, then * 3, then + 10

  Node kernel(void (*function)(int*, int), int n, const Node* before, std::size_t count) {
    void* arguments[] = {&x, &n};
    cudaKernelNodeParams of{};
    of.func = reinterpret_cast<void*>(function);
    of.gridDim = of.blockDim = dim3(1);
    of.kernelParams = arguments;
    Node node = nullptr;
    OK(cudaGraphAddKernelNode(&node, graph, before, count, &of));
    return node;
  }
  Graph() {
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaMalloc(&x, sizeof *x));
    one = kernel(add, 1, nullptr, 0);
    two = kernel(times, 3, &one, 1);
    three = kernel(add, 10, &two, 1);
  }
  int result(unsigned long long flags = 0) const {
    cudaGraphExec_t exec = nullptr;
    int value = 5;
    unsigned long long got = 99;
    OK(cudaMemcpy(x, &value, sizeof value, cudaMemcpyHostToDevice));
    OK(cudaGraphInstantiateWithFlags(&exec, graph, flags));
    OK(cudaGraphExecGetFlags(exec, &got));
    HOLDS(got == flags);
    OK(cudaGraphLaunch(exec, nullptr));
    OK(cudaMemcpy(&value, x, sizeof value, cudaMemcpyDeviceToHost));
    OK(cudaGraphExecDestroy(exec));
    return value;
  }
};

using Edges = std::set<std::pair<Node, Node>>;

Edges edges_of(cudaGraph_t graph) {
  std::size_t count = 0;
  OK(WITH_DATA(cudaGraphGetEdges, graph, nullptr, nullptr, nullptr, &count));
  Node from[8] = {}, to[8] = {};
  cudaGraphEdgeData data[8];
  std::memset(data, 0xff, sizeof data);
  std::size_t room = 8;
  OK(WITH_DATA(cudaGraphGetEdges, graph, from, to, data, &room));
  HOLDS(room == count && count < 8 && from[count] == nullptr && data[0].from_port == 0);
  Edges out;
  for (std::size_t i = 0; i < count; ++i) out.emplace(from[i], to[i]);
  return out;
}

void edges_are_told_and_taken_away() {
  Graph g;
  HOLDS(g.result() == 28 && g.result(8) == 28);
  HOLDS(edges_of(g.graph) == (Edges{{g.one, g.two}, {g.two, g.three}}));
  Node near[2] = {};
  std::size_t count = 2;
  OK(WITH_DATA(cudaGraphNodeGetDependencies, g.two, near, nullptr, &count));
  HOLDS(count == 1 && near[0] == g.one && near[1] == nullptr);
  OK(WITH_DATA(cudaGraphNodeGetDependentNodes, g.two, nullptr, nullptr, &count));
  HOLDS(count == 1);
  OK(WITH_DATA(cudaGraphNodeGetDependentNodes, g.two, near, nullptr, &count));
  HOLDS(near[0] == g.three);
  // x + 1 last: 5 * 3 + 10 + 1.
  OK(WITH_DATA(cudaGraphRemoveDependencies, g.graph, &g.one, &g.two, nullptr, 1));
  HOLDS(WITH_DATA(cudaGraphRemoveDependencies, g.graph, &g.one, &g.two, nullptr, 1) ==
        cudaErrorInvalidValue);
  HOLDS(WITH_DATA(cudaGraphAddDependencies, g.graph, &g.one, &g.one, nullptr, 1) ==
        cudaErrorInvalidValue);
  OK(WITH_DATA(cudaGraphAddDependencies, g.graph, &g.three, &g.one, nullptr, 1));
  HOLDS(g.result() == 26);
  OK(cudaGraphDestroyNode(g.two));
  HOLDS(edges_of(g.graph) == (Edges{{g.three, g.one}}));
  HOLDS(g.result() == 16);
  HOLDS(cudaGraphDestroyNode(g.two) == cudaErrorInvalidValue);
}

void nodes_are_found_in_a_clone() {
  Graph g;
  cudaGraph_t clone = nullptr;
  OK(cudaGraphClone(&clone, g.graph));
  Node two = nullptr, none = nullptr;
  OK(cudaGraphNodeFindInClone(&two, g.two, clone));
  HOLDS(two != g.two && edges_of(clone).size() == 2);
  HOLDS(cudaGraphNodeFindInClone(&none, two, g.graph) == cudaErrorInvalidValue);
  OK(cudaGraphDestroyNode(two));
  HOLDS(edges_of(clone).empty() && edges_of(g.graph).size() == 2);
}

void events_are_nodes() {
  Graph g;
  cudaEvent_t event = nullptr, got = nullptr;
  Node record = nullptr, wait = nullptr;
  OK(cudaEventCreate(&event));
  OK(cudaGraphAddEventRecordNode(&record, g.graph, &g.three, 1, event));
  OK(cudaGraphAddEventWaitNode(&wait, g.graph, &record, 1, event));
  OK(cudaGraphEventRecordNodeGetEvent(record, &got));
  HOLDS(got == event);
  OK(cudaGraphEventWaitNodeGetEvent(wait, &got));
  HOLDS(cudaGraphEventWaitNodeGetEvent(record, &got) == cudaErrorInvalidValue);
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  OK(cudaGraphNodeGetType(wait, &type));
  HOLDS(type == cudaGraphNodeTypeWaitEvent);
  HOLDS(g.result() == 28);
  OK(cudaEventSynchronize(event));
}

}  // namespace

int main() {
  edges_are_told_and_taken_away();
  nodes_are_found_in_a_clone();
  events_are_nodes();
  std::puts("PASS");
  return 0;
}
