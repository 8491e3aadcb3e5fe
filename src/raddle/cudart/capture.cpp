// The calls of stream capture.
#include <algorithm>
#include <utility>

#include "raddle/base/error.h"
#include "raddle/cudart/capture.h"

using namespace raddle;
using namespace raddle::cudart;

namespace {

enum Status : int { kNone = 0, kActive = 1, kInvalidated = 2 };

template <class T>
void notify(T* to, const T& value) {
  if (to != nullptr) *to = value;
}

CaptureMode mode_of(int mode) {
  if (mode < 0 || mode > static_cast<int>(CaptureMode::Relaxed)) throw Failure{kInvalidValue};
  return static_cast<CaptureMode>(mode);
}

/// Nodes that a program names, which must be the graph's. Throws Failure.
std::vector<GraphNode*> nodes_of(const Graph& graph, GraphNode* const* nodes, std::size_t count) {
  const auto named = listed(nodes, count);
  if (!std::ranges::all_of(named, [&](const GraphNode* node) { return graph.has(node); }))
    throw Failure{kInvalidValue};
  return {named.begin(), named.end()};
}

/// `graph`: null for one of its own.
Error begin(Context& c, Stream* stream, int mode, Graph* graph, std::vector<GraphNode*> tips) {
  Stream& on = c.stream(stream);
  if (index(on.id) == 0)
    throw Failure{kStreamCaptureUnsupported, "the legacy stream cannot capture"};
  if (on.capture != nullptr) throw Failure{kIllegalState};
  const CaptureMode of_capture = mode_of(mode);
  on.capture =
      std::make_shared<Capture>(Capture{.graph = graph != nullptr ? graph : c.graphs.make(),
                                        .origin = &on,
                                        .mode = of_capture,
                                        .thread = std::this_thread::get_id(),
                                        .id = ++c.captures_begun,
                                        .own_graph = graph == nullptr,
                                        .streams = {&on}});
  on.tips = std::move(tips);
  c.captures.push_back(on.capture);
  return kSuccess;
}

/// Everything the nodes depend on, they themselves among it.
std::vector<const GraphNode*> behind(const std::vector<GraphNode*>& nodes) {
  std::vector<const GraphNode*> all(nodes.begin(), nodes.end());
  for (std::size_t i = 0; i < all.size(); ++i)
    for (const GraphNode* d : all[i]->dependencies)
      if (std::ranges::count(all, d) == 0) all.push_back(d);
  return all;
}

/// What every stream did last lies behind what this one did.
bool joined(const Capture& capture, const Stream& on) {
  const auto done = behind(on.tips);
  std::vector<const GraphNode*> last(capture.left.begin(), capture.left.end());
  for (const Stream* other : capture.streams)
    last.insert(last.end(), other->tips.begin(), other->tips.end());
  return std::ranges::all_of(
      last, [&](const GraphNode* node) { return std::ranges::count(done, node) != 0; });
}

Error end(Context& c, Stream* stream, Graph** graph) {
  if (graph == nullptr) throw Failure{kInvalidValue};
  *graph = nullptr;
  Stream& on = c.stream(stream);
  if (on.capture == nullptr) throw Failure{kIllegalState};
  if (on.capture->origin != &on) throw Failure{kStreamCaptureUnmatched};
  const std::shared_ptr<Capture> capture = on.capture;
  if (capture->mode != CaptureMode::Relaxed && capture->thread != std::this_thread::get_id())
    throw Failure{kStreamCaptureWrongThread,
                  "another thread began the capture, and not in mode relaxed"};
  RADDLE_ASSERT(capture->graph != nullptr && std::ranges::count(capture->streams, &on) == 1);
  const Error result = capture->invalidated   ? kStreamCaptureInvalidated
                       : joined(*capture, on) ? kSuccess
                                              : kStreamCaptureUnjoined;
  finish(c, *capture);
  if (result == kSuccess) *graph = capture->graph;
  else if (capture->own_graph) c.graphs.drop(capture->graph);
  return result;
}

struct Info {
  int* status;
  unsigned long long* id = nullptr;
  Graph** graph = nullptr;
  GraphNode* const** tips = nullptr;
  std::size_t* count = nullptr;
};

Error write_info(Context& c, Stream* stream, const Info& to) {
  const Stream& on = c.stream(stream);
  if (to.status == nullptr) throw Failure{kInvalidValue};
  if (index(on.id) == 0 && legacy_in_capture(c)) return kStreamCaptureImplicit;  // and that is all
  *to.status = on.capture == nullptr ? kNone : on.capture->invalidated ? kInvalidated : kActive;
  if (*to.status != kActive) return kSuccess;
  RADDLE_ASSERT(on.capture->origin != nullptr);  // streams leave a capture that ends
  notify(to.id, on.capture->id);
  notify(to.graph, on.capture->graph);
  if (to.tips != nullptr) *to.tips = on.tips.data();
  notify(to.count, on.tips.size());
  return kSuccess;
}

}  // namespace

extern "C" {

int raddle_cudaStreamBeginCapture(Stream* stream, int mode) {
  return call("cudaStreamBeginCapture",
              [&](Context& c) { return begin(c, stream, mode, nullptr, {}); });
}

int raddle_cudaStreamBeginCaptureToGraph(Stream* stream, Graph* graph,
                                         GraphNode* const* dependencies, const void*,
                                         std::size_t count, int mode) {
  return call("cudaStreamBeginCaptureToGraph", [&](Context& c) {
    Graph& to = c.graphs.get(graph);
    return begin(c, stream, mode, &to, nodes_of(to, dependencies, count));
  });
}

int raddle_cudaStreamEndCapture(Stream* stream, Graph** graph) {
  return call("cudaStreamEndCapture", [&](Context& c) { return end(c, stream, graph); });
}

int raddle_cudaStreamIsCapturing(Stream* stream, int* status) {
  return call("cudaStreamIsCapturing",
              [&](Context& c) { return write_info(c, stream, {.status = status}); });
}

int raddle_cudaStreamGetCaptureInfo_11(Stream* stream, int* status, unsigned long long* id) {
  return call("cudaStreamGetCaptureInfo",
              [&](Context& c) { return write_info(c, stream, {.status = status, .id = id}); });
}

int raddle_cudaStreamGetCaptureInfo_v2(Stream* stream, int* status, unsigned long long* id,
                                       Graph** graph, GraphNode* const** tips, std::size_t* count) {
  return call("cudaStreamGetCaptureInfo", [&](Context& c) {
    return write_info(c, stream, {status, id, graph, tips, count});
  });
}

int raddle_cudaStreamGetCaptureInfo_13(Stream* stream, int* status, unsigned long long* id,
                                       Graph** graph, GraphNode* const** tips, const void** edges,
                                       std::size_t* count) {
  notify(edges, static_cast<const void*>(nullptr));
  return raddle_cudaStreamGetCaptureInfo_v2(stream, status, id, graph, tips, count);
}

int raddle_cudaStreamUpdateCaptureDependencies_11(Stream* stream, GraphNode** dependencies,
                                                  std::size_t count, unsigned flags) {
  return call("cudaStreamUpdateCaptureDependencies", [&](Context& c) {
    Stream& on = usable(c, stream);
    if (on.capture == nullptr) throw Failure{kIllegalState};
    constexpr unsigned kAdd = 0, kSet = 1;
    if (flags != kAdd && flags != kSet) throw Failure{kInvalidValue};
    const auto named = nodes_of(*on.capture->graph, dependencies, count);
    if (flags == kSet) on.tips.clear();
    on.tips.insert(on.tips.end(), named.begin(), named.end());
    return kSuccess;
  });
}

int raddle_cudaStreamUpdateCaptureDependencies_13(Stream* stream, GraphNode** dependencies,
                                                  const void*, std::size_t count, unsigned flags) {
  return raddle_cudaStreamUpdateCaptureDependencies_11(stream, dependencies, count, flags);
}

int raddle_cudaThreadExchangeStreamCaptureMode(int* mode) {
  return call("cudaThreadExchangeStreamCaptureMode", [&](Context&) {
    if (mode == nullptr) throw Failure{kInvalidValue};
    const CaptureMode wanted = mode_of(*mode);
    *mode = static_cast<int>(std::exchange(thread_state().capture_mode, wanted));
    return kSuccess;
  });
}

}  // extern "C"
