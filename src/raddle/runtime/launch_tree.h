// One launch of the host with all that it launches itself, executed functionally: each grid to its
// end, then what it asked the device runtime for, in the order of its calls, each with all that
// descends from it before the next. Kernels cannot wait for their children, and streams, events and
// tail launches ask for no other order than that.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "raddle/exec/device/device_runtime.h"
#include "raddle/exec/run/machine.h"
#include "raddle/runtime/device_observer.h"
#include "raddle/runtime/launch_sink.h"
#include "raddle/trace/memory_trace.h"

namespace raddle::runtime {

/// Tells which of the words at `to` change when `bytes` at `from` are copied there.
void notify_changed_words(DeviceObserver& observer, const exec::DeviceMemory& memory, Address to,
                          const std::byte* from, std::uint64_t bytes);

class LaunchTree {
 public:
  struct Place {
    exec::Machine& machine;
    exec::DeviceRuntime& runtime;
    exec::DeviceMemory& memory;
    LaunchSink* sink;  ///< nullptr: functional only
    const std::shared_ptr<trace::SlabPool>& slabs;
    DeviceObserver* observer;    ///< nullptr: nobody wants to know
    exec::AccessChecks* checks;  ///< nullptr: there are none
  };
  explicit LaunchTree(const Place& place)
      : place_(place), arena_(std::make_shared<trace::TraceArena>(place.slabs)) {}

  /// Runs everything. `record` is that of the host's launch, without counts. Throws what the
  /// machine throws, and RunError naming the caller when a copy of a kernel leaves its memory.
  void run(const exec::Launch& launch, LaunchRecord record);
  /// By number in the tree; streams are null where the sink has written them away.
  const std::vector<LaunchedStream>& launched() const { return launched_; }
  /// Hands them to the sink, unless it has them.
  void submit();
  /// Blocks of the host's launch wait for one another: the rest of it is executed when it is timed.
  bool follows() const { return follows_; }
  /// That is because its op stream became too long, not because blocks wait for one another.
  bool is_long() const { return is_long_; }
  /// The first grid whose blocks wait for one another and whose stream holds what that took when it
  /// was executed; nullptr: none.
  const LaunchRecord* keeps_waiting() const {
    return keeps_waiting_ ? &launched_[*keeps_waiting_].record : nullptr;
  }

 private:
  /// A grid that has ended, with what it asked for.
  struct Grid {
    Grid(exec::DeviceRuntime& runtime, unsigned depth) : device(runtime, depth) {}
    exec::DeviceGrid device;
    std::uint32_t number = 0;
    std::vector<std::uint32_t> numbers;  // in the tree, by launch
  };
  struct Task {
    std::shared_ptr<Grid> of;
    std::size_t operation;
  };
  void run_grid(const exec::Launch& launch, LaunchRecord record, unsigned depth);
  void perform(const Task& task);
  void launch_child(const Grid& parent, std::uint32_t call);
  void move_bytes(const exec::DeviceOperation& operation);

  Place place_;
  std::shared_ptr<trace::TraceArena> arena_;  // of all its op streams
  std::vector<LaunchedStream> launched_;
  std::vector<Task> tasks_;  // the last is the next
  bool follows_ = false, is_long_ = false;
  std::optional<std::uint32_t> keeps_waiting_;  // its number in the tree
  bool written_ = false;  // the sink has taken the streams while they were made
};

}  // namespace raddle::runtime
