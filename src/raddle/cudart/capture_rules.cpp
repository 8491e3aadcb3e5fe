#include <algorithm>
#include <utility>

#include "raddle/base/error.h"
#include "raddle/cudart/capture.h"

namespace raddle::cudart {

namespace {

bool blocking(const Capture& capture) {
  return std::ranges::any_of(capture.streams,
                             [](const Stream* s) { return (s->flags & kNonBlockingStream) == 0; });
}

[[noreturn]] void refuse(Error code, const char* why) {
  throw Failure{code, std::string(why) + "; what has been captured is invalidated"};
}

/// The capture prohibits potentially unsafe calls of this thread.
bool prohibits(const Capture& capture, CaptureMode of_thread) {
  using enum CaptureMode;
  if (of_thread == Relaxed) return false;
  return capture.thread == std::this_thread::get_id()
             ? capture.mode != Relaxed
             : of_thread == Global && capture.mode == Global;
}

}  // namespace

GraphNode& captured(Stream& stream, NodeType type) {
  RADDLE_ASSERT(stream.capture != nullptr && stream.capture->graph != nullptr);
  RADDLE_ASSERT(!stream.capture->invalidated);  // usable() has looked
  GraphNode& node = stream.capture->graph->add(type, stream.tips);
  stream.tips = {&node};
  return node;
}

void join(Stream& stream, const Event& event) {
  RADDLE_ASSERT(event.capture != nullptr || stream.capture != nullptr);
  if (event.capture == nullptr) {
    stream.capture->invalidated = true;
    refuse(kStreamCaptureIsolation,
           "a stream that captures waits for an event that was not recorded in the capture, "
           "without cudaEventWaitExternal");
  }
  Capture& capture = *event.capture;
  if (capture.origin == nullptr) throw Failure{kCapturedEvent};
  if (capture.invalidated) throw Failure{kStreamCaptureInvalidated};
  if (index(stream.id) == 0) {
    capture.invalidated = true;
    refuse(kStreamCaptureUnsupported, "the legacy stream cannot capture");
  }
  if (stream.capture != nullptr && stream.capture != event.capture) {
    capture.invalidated = stream.capture->invalidated = true;
    refuse(kStreamCaptureMerge, "two captures would become one");
  }
  if (stream.capture == nullptr) {
    stream.capture = event.capture;
    capture.streams.push_back(&stream);
  }
  for (GraphNode* node : event.captured)
    if (std::ranges::count(stream.tips, node) == 0) stream.tips.push_back(node);
}

void finish(Context& c, Capture& capture) {
  for (Stream* other : capture.streams) {
    RADDLE_ASSERT(other->capture.get() == &capture);
    other->tips.clear();
  }
  capture.origin = nullptr;
  const std::vector<Stream*> streams = std::exchange(capture.streams, {});
  const std::size_t ended =
      std::erase_if(c.captures, [&](const auto& one) { return one.get() == &capture; });
  RADDLE_ASSERT(ended == 1);
  for (Stream* other : streams) other->capture = nullptr;  // the last may take the capture with it
}

void leave_capture(Context& c, Stream& stream) {
  if (stream.capture == nullptr) return;
  const std::shared_ptr<Capture> capture = stream.capture;
  if (capture->origin == &stream) {
    finish(c, *capture);
    if (capture->own_graph) c.graphs.drop(capture->graph);
    return;
  }
  const std::size_t left = std::erase(capture->streams, &stream);
  RADDLE_ASSERT(left == 1);
  capture->left.insert(capture->left.end(), stream.tips.begin(), stream.tips.end());
}

bool legacy_in_capture(const Context& c) {
  return std::ranges::any_of(c.captures, [](const auto& one) { return blocking(*one); });
}

Stream& usable(Context& c, Stream* stream) {
  Stream& on = c.stream(stream);
  if (on.capture != nullptr && on.capture->invalidated) throw Failure{kStreamCaptureInvalidated};
  if (index(on.id) == 0 && legacy_in_capture(c)) {
    for (const auto& capture : c.captures)
      if (blocking(*capture)) capture->invalidated = true;
    refuse(kStreamCaptureImplicit,
           "the legacy stream would wait for a stream that captures "
           "(one made without cudaStreamNonBlocking)");
  }
  return on;
}

Stream& uncaptured(Context& c, Stream* stream) {
  Stream& on = usable(c, stream);
  if (on.capture != nullptr) {
    on.capture->invalidated = true;
    refuse(kStreamCaptureUnsupported, "the stream captures");
  }
  return on;
}

Stream& awaited(Context& c, Stream* stream) {
  Stream& on = uncaptured(c, stream);
  unsafe_call(c);
  return on;
}

Event& uncaptured(Context& c, Event* event) {
  Event& e = c.events.get(event);
  if (e.capture != nullptr) {
    e.capture->invalidated = true;
    throw Failure{kCapturedEvent, "the event was last recorded in a stream that captured"};
  }
  return e;
}

Event& awaited(Context& c, Event* event) {
  Event& e = uncaptured(c, event);
  if (e.recorded) unsafe_call(c);
  return e;
}

void unsafe_call(Context& c) {
  const CaptureMode mode = thread_state().capture_mode;
  bool prohibited = false;
  for (const auto& capture : c.captures) {
    if (!prohibits(*capture, mode)) continue;
    capture->invalidated = true;
    prohibited = true;
  }
  if (prohibited)
    refuse(kStreamCaptureUnsupported,
           "prohibited while a stream captures in this mode (cudaStreamBeginCapture, "
           "cudaThreadExchangeStreamCaptureMode)");
}

void whole_device_call(Context& c) {
  if (c.captures.empty()) return;
  for (const auto& capture : c.captures) capture->invalidated = true;
  refuse(kStreamCaptureUnsupported, "a stream of the device captures");
}

}  // namespace raddle::cudart
