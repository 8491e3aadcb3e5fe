// Streams that capture, and what programs may not do meanwhile (CUDA C++ programming guide,
// "Prohibited and unhandled operations" and "Invalidation"; cudaThreadExchangeStreamCaptureMode).
// A prohibited call fails and invalidates the captures that prohibit it: their streams are of no
// use until cudaStreamEndCapture, which then gives no graph.
#pragma once
#include <memory>
#include <thread>
#include <vector>

#include "raddle/cudart/graph.h"

namespace raddle::cudart {

struct Capture {
  Graph* graph;
  Stream* origin;  ///< nullptr: it has ended
  CaptureMode mode;
  std::thread::id thread;             ///< that began it
  unsigned long long id;              ///< unique in the process
  bool own_graph = true;              ///< made for it
  bool invalidated = false;           ///< by a prohibited call
  std::vector<Stream*> streams = {};  ///< that take part
  std::vector<GraphNode*> left = {};  ///< what destroyed streams did last
};

/// A new node after what the capturing stream did last.
GraphNode& captured(Stream& stream, NodeType type);
/// Records the event in the stream, or lets it stand for what that did last when it captures.
void record(Context& c, Event& event, Stream& on);
/// From now on the stream takes part in the capture in which the event was recorded. Throws
/// Failure, also where only the stream captures. Precondition: one of them does.
void join(Stream& stream, const Event& event);
/// All its streams are ordinary ones again.
void finish(Context& c, Capture& capture);
/// Before the stream is destroyed. A capture goes on without a stream that joined it, and ends
/// without a graph when it is the one that began it.
void leave_capture(Context& c, Stream& stream);
/// A stream that was not made with cudaStreamNonBlocking, so that the legacy stream stands for it
/// too, captures.
bool legacy_in_capture(const Context& c);

// Of the following each throws Failure, and invalidates captures, where the call is prohibited.

/// A stream to put an operation into.
Stream& usable(Context& c, Stream* stream);
/// Likewise for operations that cannot be captured.
Stream& uncaptured(Context& c, Stream* stream);
/// A stream to wait for or to ask about.
Stream& awaited(Context& c, Stream* stream);
/// An event that was last recorded outside of captures.
Event& uncaptured(Context& c, Event* event);
/// Such an event to wait for or to ask about.
Event& awaited(Context& c, Event* event);
/// A call that no capture sees although the captured work may need what it does (cudaMalloc):
/// whether it is prohibited is a question of the modes of captures and of the calling thread.
void unsafe_call(Context& c);
/// A call that waits for the whole device.
void whole_device_call(Context& c);

}  // namespace raddle::cudart
