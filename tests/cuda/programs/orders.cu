// What is ordered behind what: launches of one graph in several streams, and what waits for an
// event that a launch records. The count is wrong under --live where the order is.
#include "driver.h"

/// Adds 1, and takes its time between reading and writing.
__global__ void add_slowly(unsigned* at, int rounds) {
  const unsigned before = *(volatile unsigned*)at;
  float a = before;
  for (int i = 0; i < rounds; ++i) a = a * 1.1f + 1;
  if (a != 0.125f) *(volatile unsigned*)at = before + 1;
}

namespace {

constexpr int kStreams = 4, kSlow = 4000;
unsigned* counts;
cudaStream_t streams[kStreams];

unsigned counted(int which) {
  unsigned seen = 0;
  HOLDS(cudaDeviceSynchronize() == cudaSuccess);
  HOLDS(cudaMemcpy(&seen, counts + which, sizeof seen, cudaMemcpyDefault) == cudaSuccess);
  return seen;
}

/// One branch, or two that count apart.
cudaGraphExec_t graph_of(int branches) {
  cudaEvent_t begun = nullptr, done = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t out = nullptr;
  cudaEventCreate(&begun);
  cudaEventCreate(&done);
  HOLDS(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeGlobal) == cudaSuccess);
  if (branches == 2) {
    cudaEventRecord(begun, streams[0]);
    cudaStreamWaitEvent(streams[1], begun);
    add_slowly<<<1, 1, 0, streams[1]>>>(counts + 1, kSlow);
    cudaEventRecord(done, streams[1]);
  }
  add_slowly<<<1, 1, 0, streams[0]>>>(counts, kSlow);
  if (branches == 2) cudaStreamWaitEvent(streams[0], done);
  HOLDS(cudaStreamEndCapture(streams[0], &graph) == cudaSuccess);
  HOLDS(cudaGraphInstantiate(&out, graph, 0) == cudaSuccess);
  return out;
}

void one_graph_in_many_streams(int branches) {
  const cudaGraphExec_t graph = graph_of(branches);
  cudaEvent_t begin = nullptr, end = nullptr;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  const auto launched = [&](int in) {
    HOLDS(cudaMemset(counts, 0, 2 * sizeof *counts) == cudaSuccess);
    HOLDS(cudaEventRecord(begin, streams[0]) == cudaSuccess);
    for (int i = 0; i < in; ++i) HOLDS(cudaGraphLaunch(graph, streams[i]) == cudaSuccess);
    HOLDS(cudaEventRecord(end, streams[in - 1]) == cudaSuccess);
    for (int which = 0; which < branches; ++which) HOLDS(counted(which) == unsigned(in));
    float took = 0;
    HOLDS(cudaEventElapsedTime(&took, begin, end) == cudaSuccess);
    return took;
  };
  launched(1);
  const float one = launched(1), all = launched(kStreams);
  HOLDS(all > 2 * one);  // of four; what comes before a first launch is in both
}

/// Their branches have streams of their own.
void graphs_beside_each_other() {
  const cudaGraphExec_t graphs[] = {graph_of(2), graph_of(2)};
  cudaEvent_t begin = nullptr, other = nullptr, end = nullptr;
  for (cudaEvent_t* event : {&begin, &other, &end}) cudaEventCreate(event);
  const auto launched = [&](bool both) {
    HOLDS(cudaDeviceSynchronize() == cudaSuccess);
    HOLDS(cudaEventRecord(begin, streams[0]) == cudaSuccess);
    HOLDS(cudaStreamWaitEvent(streams[2], begin) == cudaSuccess);
    HOLDS(cudaGraphLaunch(graphs[0], streams[0]) == cudaSuccess);
    if (both) HOLDS(cudaGraphLaunch(graphs[1], streams[2]) == cudaSuccess);
    HOLDS(cudaEventRecord(other, streams[2]) == cudaSuccess);
    HOLDS(cudaStreamWaitEvent(streams[0], other) == cudaSuccess);
    HOLDS(cudaEventRecord(end, streams[0]) == cudaSuccess);
    HOLDS(cudaDeviceSynchronize() == cudaSuccess);
    float took = 0;
    HOLDS(cudaEventElapsedTime(&took, begin, end) == cudaSuccess);
    return took;
  };
  launched(true);
  const float one = launched(false), two = launched(true);
  HOLDS(two < 1.5f * one);
}

void behind_the_event_of_a_launch(cudaLaunchAttributeID id) {
  HOLDS(cudaMemset(counts, 0, sizeof *counts) == cudaSuccess);
  cudaEvent_t event = nullptr;
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  cudaLaunchAttribute attribute{};
  attribute.id = id;
  if (id == cudaLaunchAttributeProgrammaticEvent) attribute.val.programmaticEvent.event = event;
  else attribute.val.launchCompletionEvent.event = event;
  cudaLaunchConfig_t launch{};
  launch.gridDim = launch.blockDim = 1;
  launch.stream = streams[0];
  launch.attrs = &attribute;
  launch.numAttrs = 1;
  HOLDS(cudaLaunchKernelEx(&launch, add_slowly, counts, kSlow) == cudaSuccess);
  HOLDS(cudaStreamWaitEvent(streams[1], event) == cudaSuccess);
  add_slowly<<<1, 1, 0, streams[1]>>>(counts, 1);
  HOLDS(counted(0) == 2);
}

}  // namespace

int main() {
  HOLDS(cudaMalloc(&counts, 2 * sizeof *counts) == cudaSuccess);
  for (cudaStream_t& stream : streams)
    HOLDS(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
  one_graph_in_many_streams(1);
  one_graph_in_many_streams(2);
  graphs_beside_each_other();
  behind_the_event_of_a_launch(cudaLaunchAttributeProgrammaticEvent);
  behind_the_event_of_a_launch(cudaLaunchAttributeLaunchCompletionEvent);
  return 0;
}
