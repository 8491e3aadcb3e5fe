// Who wants to know where the data in device memory come from: what threads load and store, and
// what the host does in between. Analyses implement this; a device without one pays nothing for it.
#pragma once
#include <cstdint>

#include "raddle/exec/run/access_observer.h"
#include "raddle/runtime/launch_sink.h"

namespace raddle::runtime {

class DeviceObserver : public exec::AccessObserver {
 public:
  virtual void allocated(Address at, std::uint64_t bytes) = 0;
  virtual void freed(Address at) = 0;
  /// A copy or memset, of the host or asked for by a kernel, has changed the word. Words that keep
  /// their value are not told: programs written for separate memories send data back and forth that
  /// would stay where they are in a memory that host and device share.
  virtual void host_wrote(Address word) = 0;
  /// The launch starts, ends. Launches of kernels come after the one that made them has ended.
  virtual void begin(const LaunchRecord& record) = 0;
  virtual void end() = 0;
};

}  // namespace raddle::runtime
