// Streams that capture.
#include <algorithm>

#include "raddle/base/error.h"
#include "raddle/cudart/graph.h"

using namespace raddle;
using namespace raddle::cudart;

namespace {

enum Status : int { kNone = 0, kActive = 1 };

template <class T>
void notify(T* to, const T& value) {
  if (to != nullptr) *to = value;
}

Error begin(Context& c, Stream* stream, Graph* graph, std::vector<GraphNode*> tips) {
  Stream& on = c.stream(stream);
  if (index(on.id) == 0)
    throw Failure{kStreamCaptureUnsupported, "the legacy stream cannot capture"};
  if (on.capture != nullptr) throw Failure{static_cast<Error>(401)};
  on.capture = std::make_shared<Capture>(Capture{graph, &on, {&on}});
  on.tips = std::move(tips);
  return kSuccess;
}

/// All its streams are ordinary ones again.
void finish(Capture& capture) {
  for (Stream* other : capture.streams) {
    RADDLE_ASSERT(other->capture.get() == &capture);
    other->capture = nullptr;
    other->tips.clear();
  }
  capture.streams.clear();
  capture.origin = nullptr;
}

/// Everything the nodes depend on, they themselves among it.
std::vector<const GraphNode*> behind(const std::vector<GraphNode*>& nodes) {
  std::vector<const GraphNode*> all(nodes.begin(), nodes.end());
  for (std::size_t i = 0; i < all.size(); ++i)
    for (const GraphNode* d : all[i]->dependencies)
      if (std::ranges::count(all, d) == 0) all.push_back(d);
  return all;
}

Error end(Context& c, Stream* stream, Graph** graph) {
  Stream& on = c.stream(stream);
  if (on.capture == nullptr || on.capture->origin != &on) throw Failure{kStreamCaptureUnmatched};
  const std::shared_ptr<Capture> capture = on.capture;
  RADDLE_ASSERT(capture->graph != nullptr && std::ranges::count(capture->streams, &on) == 1);
  const auto done = behind(on.tips);
  std::vector<const GraphNode*> last(capture->left.begin(), capture->left.end());
  for (const Stream* other : capture->streams)
    last.insert(last.end(), other->tips.begin(), other->tips.end());
  finish(*capture);
  const bool joined = std::ranges::all_of(
      last, [&](const GraphNode* node) { return std::ranges::count(done, node) != 0; });
  if (!joined) throw Failure{kStreamCaptureUnjoined};
  if (graph != nullptr) *graph = capture->graph;
  return kSuccess;
}

Error info(Context& c, Stream* stream, int* status, unsigned long long* id, Graph** graph,
           GraphNode* const** tips, std::size_t* count) {
  const Stream& on = c.stream(stream);
  notify(status, static_cast<int>(on.capture != nullptr ? kActive : kNone));
  if (on.capture == nullptr) return kSuccess;
  RADDLE_ASSERT(on.capture->origin != nullptr);  // streams leave a capture that ends
  notify(id, 1ull + index(on.capture->origin->id));
  notify(graph, on.capture->graph);
  if (tips != nullptr) *tips = on.tips.data();
  notify(count, on.tips.size());
  return kSuccess;
}

}  // namespace

void raddle::cudart::leave_capture(Stream& stream) {
  if (stream.capture == nullptr) return;
  const std::shared_ptr<Capture> capture = stream.capture;
  if (capture->origin == &stream) return finish(*capture);
  const std::size_t left = std::erase(capture->streams, &stream);
  RADDLE_ASSERT(left == 1);
  capture->left.insert(capture->left.end(), stream.tips.begin(), stream.tips.end());
}

extern "C" {

int raddle_cudaStreamBeginCapture(Stream* stream, int) {
  return call("cudaStreamBeginCapture",
              [&](Context& c) { return begin(c, stream, c.graphs.make(), {}); });
}

int raddle_cudaStreamBeginCaptureToGraph(Stream* stream, Graph* graph,
                                         GraphNode* const* dependencies, const void*,
                                         std::size_t count, int) {
  return call("cudaStreamBeginCaptureToGraph", [&](Context& c) {
    return begin(c, stream, &c.graphs.get(graph), {dependencies, dependencies + count});
  });
}

int raddle_cudaStreamEndCapture(Stream* stream, Graph** graph) {
  return call("cudaStreamEndCapture", [&](Context& c) { return end(c, stream, graph); });
}

int raddle_cudaStreamIsCapturing(Stream* stream, int* status) {
  return call("cudaStreamIsCapturing", [&](Context& c) {
    return info(c, stream, status, nullptr, nullptr, nullptr, nullptr);
  });
}

int raddle_cudaStreamGetCaptureInfo_11(Stream* stream, int* status, unsigned long long* id) {
  return call("cudaStreamGetCaptureInfo",
              [&](Context& c) { return info(c, stream, status, id, nullptr, nullptr, nullptr); });
}

int raddle_cudaStreamGetCaptureInfo_v2(Stream* stream, int* status, unsigned long long* id,
                                       Graph** graph, GraphNode* const** tips, std::size_t* count) {
  return call("cudaStreamGetCaptureInfo",
              [&](Context& c) { return info(c, stream, status, id, graph, tips, count); });
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
    Stream& on = c.stream(stream);
    if (on.capture == nullptr) throw Failure{static_cast<Error>(401)};
    if (flags == 1) on.tips.clear();  // set; else add
    on.tips.insert(on.tips.end(), dependencies, dependencies + count);
    return kSuccess;
  });
}

int raddle_cudaStreamUpdateCaptureDependencies_13(Stream* stream, GraphNode** dependencies,
                                                  const void*, std::size_t count, unsigned flags) {
  return raddle_cudaStreamUpdateCaptureDependencies_11(stream, dependencies, count, flags);
}

int raddle_cudaThreadExchangeStreamCaptureMode(int* mode) {
  return call("cudaThreadExchangeStreamCaptureMode", [&](Context&) {
    notify(mode, 0);
    return kSuccess;
  });
}

}  // extern "C"
