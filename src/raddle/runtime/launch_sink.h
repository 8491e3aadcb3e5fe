// Who wants to hear of launches. sim implements this to time them; without one, runs are functional
// only.
#pragma once
#include <cstdint>
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

class LaunchSink {
 public:
  virtual ~LaunchSink() = default;
  /// Before anything runs: throws InputError when the launch cannot run on the machine.
  virtual void admit(const trace::KernelCode& code, const trace::LaunchShape& shape) = 0;
  /// Times the launch to its end. `stream` is gone afterwards.
  virtual void time(trace::KernelStream& stream, const LaunchRecord& record) = 0;
  /// Core cycle the device has reached, and what it is in time.
  virtual Cycle now() const = 0;
  virtual double milliseconds(Cycle cycles) const = 0;
};

}  // namespace raddle::runtime
