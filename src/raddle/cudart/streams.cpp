// Streams, events and what waits for them. A host that waits lets simulated time pass, so nothing
// is ever "not ready" to a program that asks.
#include <algorithm>
#include <cstring>

#include "raddle/base/error.h"
#include "raddle/cudart/capture.h"

using namespace raddle;
using namespace raddle::cudart;

namespace {

constexpr unsigned kExternal = 1;  // the event stays outside of the capture
constexpr int kMinPriority = 0, kGreatestPriority = -5;

int priority_within_range(int priority) {
  return std::min(std::max(priority, kGreatestPriority), kMinPriority);
}

Error create_stream(Context& c, Stream** to, unsigned flags, int priority) {
  if (to == nullptr || flags > 1) throw Failure{kInvalidValue};
  *to = c.streams.make(c.device().create_stream(), flags, priority_within_range(priority));
  return kSuccess;
}

Error create_event(Context& c, Event** to, unsigned flags) {
  constexpr unsigned kBlockingSync = 1, kInterprocess = 4;
  constexpr unsigned kKnown = kBlockingSync | kEventDisableTiming | kInterprocess;
  if (to == nullptr || (flags & ~kKnown) != 0) throw Failure{kInvalidValue};
  if ((flags & kInterprocess) != 0 && (flags & kEventDisableTiming) == 0)
    throw Failure{kInvalidValue, "cudaEventInterprocess needs cudaEventDisableTiming"};
  *to = c.events.make(c.device().create_event(), flags);
  return kSuccess;
}

Error synchronize(Context& c, Stream* stream) {
  c.device().synchronize(awaited(c, stream).id);
  return kSuccess;
}

Error synchronize(Context& c, Event* event) {
  const Event& e = awaited(c, event);
  if (e.recorded) c.device().synchronize(e.id);
  return kSuccess;
}

void record_now(Context& c, Event& e, StreamId on) {
  c.device().record(e.id, on);
  e.recorded = true;
  e.capture = nullptr;
  e.captured.clear();
}

// Of captured nodes: the event may have been destroyed when they run.

/// It becomes an ordinary event, unless it stands for what a capture under way has done.
void record_external(Context& c, Event* event, StreamId on) {
  Event& e = c.events.get(event);
  if (e.capture != nullptr && e.capture->origin != nullptr) throw Failure{kCapturedEvent};
  record_now(c, e, on);
}

void wait_external(Context& c, Event* event, StreamId on) {
  const Event& e = c.events.get(event);
  if (e.capture != nullptr) throw Failure{kCapturedEvent};
  if (e.recorded) c.device().wait(on, e.id);
}

}  // namespace

Context::Work raddle::cudart::record_of(Event* event) {
  return [event](Context& c, StreamId on) { record_external(c, event, on); };
}
Context::Work raddle::cudart::wait_of(Event* event) {
  return [event](Context& c, StreamId on) { wait_external(c, event, on); };
}

namespace {

Error record(Context& c, Event* event, Stream* stream, unsigned flags) {
  Event& e = c.events.get(event);
  Stream& on = usable(c, stream);
  if (flags > kExternal || (flags == kExternal && on.capture == nullptr))
    throw Failure{kInvalidValue};
  if (flags == kExternal) {
    GraphNode& node = captured(on, NodeType::EventRecord);
    node.work = record_of(event);
    node.event = event;
    return kSuccess;
  }
  record(c, e, on);
  return kSuccess;
}

Error wait(Context& c, Stream* stream, Event* event, unsigned flags) {
  Stream& on = usable(c, stream);
  Event& e = c.events.get(event);
  if (flags > kExternal || (flags == kExternal && on.capture == nullptr))
    throw Failure{kInvalidValue};
  if (flags == kExternal) {
    GraphNode& node = captured(on, NodeType::WaitEvent);
    node.work = wait_of(event);
    node.event = event;
  } else if (e.capture != nullptr || on.capture != nullptr) {
    join(on, e);
  } else if (e.recorded) {
    c.device().wait(on.id, e.id);
  }
  return kSuccess;
}

/// Those of cudaLaunchAttributeID that a stream has. How to wait, what to keep in the L2 and which
/// domain accesses belong to are hints, which are left aside.
void set_attribute(Stream& stream, int id, const void* value) {
  if (value == nullptr) throw Failure{kInvalidValue};
  switch (id) {
    case kAttributeAccessPolicy:
    case kAttributeSynchronization:
    case kAttributeMemSyncDomainMap:
    case kAttributeMemSyncDomain:
    case kAttributeNvlink:
      return;
    case kAttributePriority:
      std::memcpy(&stream.priority, value, sizeof stream.priority);
      stream.priority = priority_within_range(stream.priority);
      return;
    default:
      throw Failure{kInvalidValue, "streams have no attribute " + std::to_string(id)};
  }
}

}  // namespace

void raddle::cudart::record(Context& c, Event& event, Stream& on) {
  RADDLE_ASSERT(on.capture != nullptr || on.tips.empty());
  if (on.capture == nullptr) return record_now(c, event, on.id);
  event.capture = on.capture;
  event.captured = on.tips;
}

extern "C" {

int raddle_cudaStreamCreate(Stream** stream) {
  return call("cudaStreamCreate", [&](Context& c) { return create_stream(c, stream, 0, 0); });
}

int raddle_cudaStreamCreateWithFlags(Stream** stream, unsigned flags) {
  return call("cudaStreamCreateWithFlags",
              [&](Context& c) { return create_stream(c, stream, flags, 0); });
}

int raddle_cudaStreamCreateWithPriority(Stream** stream, unsigned flags, int priority) {
  return call("cudaStreamCreateWithPriority",
              [&](Context& c) { return create_stream(c, stream, flags, priority); });
}

int raddle_cudaStreamDestroy(Stream* stream) {
  return call("cudaStreamDestroy", [&](Context& c) {
    leave_capture(c, c.streams.get(stream));
    c.streams.drop(stream);
    return kSuccess;
  });
}

int raddle_cudaStreamSynchronize(Stream* stream) {
  return call("cudaStreamSynchronize", [&](Context& c) { return synchronize(c, stream); });
}

int raddle_cudaStreamQuery(Stream* stream) {
  return call("cudaStreamQuery", [&](Context& c) { return synchronize(c, stream); });
}

int raddle_cudaStreamWaitEvent(Stream* stream, Event* event, unsigned flags) {
  return call("cudaStreamWaitEvent", [&](Context& c) { return wait(c, stream, event, flags); });
}

int raddle_cudaLaunchHostFunc(Stream* stream, HostFunction function, void* data) {
  return call("cudaLaunchHostFunc", [&](Context& c) {
    if (function == nullptr) throw Failure{kInvalidValue};
    c.enqueue(usable(c, stream), NodeType::Host, [=](Context& context, StreamId on) {
      context.device().settle(on);
      const HostFunctionWatch watch("cudaLaunchHostFunc");
      function(data);
    });
    return kSuccess;
  });
}

int raddle_cudaStreamAddCallback(Stream* stream, StreamCallback function, void* data,
                                 unsigned flags) {
  return call("cudaStreamAddCallback", [&](Context& c) {
    if (function == nullptr || flags != 0) throw Failure{kInvalidValue};
    c.device().settle(uncaptured(c, stream).id);
    const HostFunctionWatch watch("cudaStreamAddCallback");
    function(stream, kSuccess, data);
    return kSuccess;
  });
}

int raddle_cudaStreamGetFlags(Stream* stream, unsigned* flags) {
  return call("cudaStreamGetFlags", [&](Context& c) {
    required(flags) = c.stream(stream).flags;
    return kSuccess;
  });
}

int raddle_cudaStreamGetPriority(Stream* stream, int* priority) {
  return call("cudaStreamGetPriority", [&](Context& c) {
    required(priority) = c.stream(stream).priority;
    return kSuccess;
  });
}

int raddle_cudaStreamGetId(Stream* stream, unsigned long long* id) {
  return call("cudaStreamGetId", [&](Context& c) {
    required(id) = index(c.stream(stream).id);
    return kSuccess;
  });
}

int raddle_cudaStreamGetDevice(Stream* stream, int* device) {
  return call("cudaStreamGetDevice", [&](Context& c) {
    c.stream(stream);
    required(device) = 0;
    return kSuccess;
  });
}

int raddle_cudaStreamSetAttribute(Stream* stream, int id, const void* value) {
  return call("cudaStreamSetAttribute", [&](Context& c) {
    set_attribute(c.stream(stream), id, value);
    return kSuccess;
  });
}

int raddle_cudaStreamCopyAttributes(Stream* to, Stream* from) {
  return call("cudaStreamCopyAttributes", [&](Context& c) {
    c.stream(to).priority = c.stream(from).priority;
    return kSuccess;
  });
}

int raddle_cudaDeviceGetStreamPriorityRange(int* minimum, int* greatest) {
  return call("cudaDeviceGetStreamPriorityRange", [&](Context&) {
    if (minimum != nullptr) *minimum = kMinPriority;
    if (greatest != nullptr) *greatest = kGreatestPriority;
    return kSuccess;
  });
}

int raddle_cudaEventCreate(Event** event) {
  return call("cudaEventCreate", [&](Context& c) { return create_event(c, event, 0); });
}

int raddle_cudaEventCreateWithFlags(Event** event, unsigned flags) {
  return call("cudaEventCreateWithFlags",
              [&](Context& c) { return create_event(c, event, flags); });
}

int raddle_cudaEventDestroy(Event* event) {
  return call("cudaEventDestroy", [&](Context& c) {
    c.events.drop(event);
    return kSuccess;
  });
}

int raddle_cudaEventRecord(Event* event, Stream* stream) {
  return call("cudaEventRecord", [&](Context& c) { return record(c, event, stream, 0); });
}

int raddle_cudaEventRecordWithFlags(Event* event, Stream* stream, unsigned flags) {
  return call("cudaEventRecordWithFlags",
              [&](Context& c) { return record(c, event, stream, flags); });
}

int raddle_cudaEventSynchronize(Event* event) {
  return call("cudaEventSynchronize", [&](Context& c) { return synchronize(c, event); });
}

int raddle_cudaEventQuery(Event* event) {
  return call("cudaEventQuery", [&](Context& c) { return synchronize(c, event); });
}

int raddle_cudaEventElapsedTime(float* milliseconds, Event* from, Event* to) {
  return call("cudaEventElapsedTime", [&](Context& c) {
    if (milliseconds == nullptr) throw Failure{kInvalidValue};
    const Event &a = uncaptured(c, from), &b = uncaptured(c, to);
    if (!a.recorded || !b.recorded || ((a.flags | b.flags) & kEventDisableTiming) != 0)
      throw Failure{kInvalidResourceHandle};
    *milliseconds = static_cast<float>(c.device().elapsed_ms(a.id, b.id));
    return kSuccess;
  });
}

int raddle_cudaDeviceSynchronize() {
  return call("cudaDeviceSynchronize", [&](Context& c) {
    whole_device_call(c);
    c.device().synchronize();
    return kSuccess;
  });
}

}  // extern "C"
