// Who wants to hear of what the host does with the device. sim implements this to time launches;
// without one, runs are functional only.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "raddle/base/types.h"
#include "raddle/trace/stream.h"

namespace raddle::runtime {

struct LaunchRecord {
  std::uint64_t sequence = 0;  ///< counts launches of the device
  std::string name;
  Dim3 grid, block;
  StreamId stream{};
  /// Of the functional run; 0 in live mode, where executing and timing are one.
  std::uint64_t warp_instructions = 0, thread_instructions = 0;
};

/// A point in a stream, as given out by LaunchSink::record: 0, 1, 2 ...
using Mark = std::uint32_t;

class LaunchSink {
 public:
  virtual ~LaunchSink() = default;
  /// Before anything runs: throws InputError when the launch cannot run on the machine.
  virtual void admit(const trace::KernelCode& code, const trace::LaunchShape& shape) = 0;
  /// Queues the launch on its stream.
  virtual void submit(std::shared_ptr<trace::KernelStream> stream, const LaunchRecord& record) = 0;
  /// Reached when everything submitted to the stream so far is complete.
  virtual Mark record(StreamId stream) = 0;
  /// What is submitted to the stream from now on starts after the mark.
  virtual void wait(StreamId stream, Mark mark) = 0;
  /// The host waits until everything is complete.
  virtual void synchronize() = 0;
  /// The host waits for the mark.
  virtual void synchronize(Mark mark) = 0;
  /// Core cycle in which a mark was reached that the host has waited for, and what it is in time.
  virtual Cycle reached(Mark mark) const = 0;
  virtual double milliseconds(Cycle cycles) const = 0;
};

}  // namespace raddle::runtime
