// Who wants to hear of what the host does with the device. sim implements this to time launches;
// without one, runs are functional only.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "raddle/base/error.h"
#include "raddle/base/types.h"
#include "raddle/trace/allocation.h"
#include "raddle/trace/device_launch.h"
#include "raddle/trace/stream.h"

namespace raddle::runtime {

struct LaunchRecord {
  std::uint64_t sequence = 0;  ///< counts launches of the device
  std::string name;
  Dim3 grid, block;
  StreamId stream{};
  /// Of the functional run; 0 in live mode, where executing and timing are one.
  std::uint64_t warp_instructions = 0, thread_instructions = 0;
  /// Of a launch that a kernel has made. Launches of a tree have consecutive sequence numbers.
  std::optional<trace::DeviceOrigin> origin = {};
  /// Of a launch of the host.
  std::vector<trace::PointerArgument> pointers = {};
};

/// A launch that has run, with its op streams.
struct LaunchedStream {
  std::shared_ptr<trace::KernelStream> stream;
  LaunchRecord record;
};

/// A point in a stream, as given out by LaunchSink::record: 0, 1, 2 ...
using Milestone = std::uint32_t;

class LaunchSink {
 public:
  virtual ~LaunchSink() = default;
  /// What the next launch finds otherwise than the one before it, or than nothing.
  virtual void allocated(const trace::AllocationChanges&) {}
  /// Before anything runs: throws InputError when the launch cannot run on the machine.
  virtual void admit(const trace::KernelCode& code, const trace::LaunchShape& shape) = 0;
  /// Where the op streams of the launch go while it runs: a sink that keeps nothing in memory
  /// answers with a writer and gets written() in place of submit(). Not asked in live mode.
  virtual trace::StreamWriter* writer(const trace::KernelCode&, const trace::LaunchShape&,
                                      const LaunchRecord& /*without counts*/) {
    return nullptr;
  }
  /// The launch has run and all of it is in the writer.
  virtual void written(const LaunchRecord&) {}
  /// Whether a launch may be executed as its stream is read, so that its blocks wait for one
  /// another in simulated time.
  virtual bool can_follow() const { return false; }
  /// Queues the launch on its stream.
  virtual void submit(std::shared_ptr<trace::KernelStream> stream, const LaunchRecord& record) = 0;
  /// Queues a launch that has launched others: the host's first, then its descendants in order of
  /// their numbers in the tree. It is complete when all of them are.
  virtual void submit_tree(const std::vector<LaunchedStream>& tree) {
    throw RunError("kernel " + tree.front().record.name +
                   " launches kernels, which is not supported here");
  }
  /// A copy or memset of the host has changed something in these bytes, while the device was idle.
  virtual void host_wrote(Address /*at*/, std::uint64_t /*bytes*/) {}
  /// The host has read these bytes, while the device was idle.
  virtual void host_read(Address /*at*/, std::uint64_t /*bytes*/) {}
  /// Reached when everything submitted to the stream so far is complete.
  virtual Milestone record(StreamId stream) = 0;
  /// What is submitted to the stream from now on starts after the mark.
  virtual void wait(StreamId stream, Milestone mark) = 0;
  /// The host waits until everything is complete.
  virtual void synchronize() = 0;
  /// The host waits for the mark.
  virtual void synchronize(Milestone mark) = 0;
  /// Core cycle in which a mark was reached that the host has waited for, and what it is in time.
  virtual Cycle reached(Milestone mark) const = 0;
  virtual double milliseconds(Cycle cycles) const = 0;
  /// Do its marks tell time? Else events go by what was executed.
  virtual bool times() const { return true; }
};

}  // namespace raddle::runtime
