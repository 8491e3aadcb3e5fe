// The device runtime: what a kernel calls when it launches kernels itself (CUDA dynamic
// parallelism, nvcc -rdc=true; the functions that libcudadevrt would hold). Kernels cannot wait for
// what they launch, so a grid's launches are only noted here while it runs, and whoever runs the
// grid runs them afterwards, in the order of the calls: that is a legal order of every program.
//
// Order, as the CUDA Programming Guide 12 and later has it: the NULL stream is one stream for each
// thread block; streams made with cudaStreamCreateWithFlags belong to the grid; fire-and-forget
// launches follow nothing; tail launches follow everything else of the grid, one after another. A
// launch is complete when all that it has launched is complete.
//
// A launch pends from its call until its grid begins, and only so many may
// (cudaLimitDevRuntimePendingLaunchCount). As grids run one after another here, all launches of a
// grid pend at once at its end, where on a GPU some would have begun.
//
// Left out: the limit on tail launches; per-launch attributes; graphs. What a stream or event
// belongs to is checked, so that one of another grid is an error.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "raddle/exec/memory/memory.h"
#include "raddle/trace/stream.h"

namespace raddle::exec {

class Kernel;

/// Functions of the device runtime that the machine has. Known as __cudaCDP2X (nvcc 12 on) and
/// cudaX (before), each also as X_ptsz.
enum class DeviceFunction : std::uint8_t {
  GetParameterBufferV2,
  LaunchDeviceV2,
  GetParameterBuffer,
  LaunchDevice,
  StreamCreateWithFlags,
  StreamDestroy,
  StreamWaitEvent,
  EventCreateWithFlags,
  EventRecord,
  EventDestroy,
  Malloc,
  Free,
  MemcpyAsync,
  MemsetAsync,
  GetLastError,
  PeekAtLastError,
  GetErrorString,
  GetErrorName,
  GetDevice,
  GetDeviceCount,
  DeviceGetAttribute,
  RuntimeGetVersion,
};
struct DeviceFunctionInfo {
  DeviceFunction function;
  std::string_view name;                   ///< X
  std::array<std::uint8_t, 6> parameters;  ///< bytes of each, 0 ends them
  std::uint8_t result;                     ///< bytes
};
/// nullptr when `symbol` is none of the device runtime's that the machine has.
const DeviceFunctionInfo* device_function(std::string_view symbol);
/// The symbol belongs to the device runtime, whether the machine has it or not.
bool is_device_function(std::string_view symbol);

/// Nesting deeper than that is cudaErrorLaunchMaxDepthExceeded (compute capability 3.5 to 9.0).
/// A tail launch takes its parent's place, so it is no deeper than that.
inline constexpr unsigned kDeepestLaunch = 24;

/// CUDA's limit on launches that pend, unless the host says otherwise.
inline constexpr std::uint64_t kPendingLaunches = 2048;

/// What a grid wants done, in the order of its calls.
struct DeviceOperation {
  enum class Kind : std::uint8_t { Launch, Copy, Set } kind = Kind::Launch;
  bool tail = false;
  std::uint32_t launch = 0;  ///< Launch: into DeviceGrid::launches()
  Address to = 0, from = 0;  ///< Copy, Set
  std::uint64_t bytes = 0;
  std::uint8_t value = 0;
  std::string caller;  ///< place of the call, for messages
};

struct DeviceLaunch {
  const Kernel* kernel = nullptr;
  trace::LaunchShape shape;
  std::vector<std::byte> parameters;
  Address buffer = 0;                 ///< where they were written
  std::uint32_t block = 0, warp = 0;  ///< of the grid, whose thread made the call
  bool tail = false;
  std::vector<std::uint32_t> after;  ///< earlier launches of the grid that must be complete first
};

/// What outlives a grid: parameter buffers, texts, memory that kernels have allocated.
class DeviceRuntime {
 public:
  explicit DeviceRuntime(DeviceMemory& memory) : memory_(memory) {}
  DeviceMemory& memory() { return memory_; }
  /// Nothing when memory is short.
  std::optional<Address> take_buffer(std::uint64_t bytes);
  void give_buffer(Address buffer);
  /// A C string in device memory; 0 when memory is short.
  Address text(const std::string& text);
  std::optional<Address> allocate(std::uint64_t bytes);
  bool free(Address address);
  std::uint64_t next_handle() { return ++handles_; }

  // --- launches that pend ------------------------------------------------------------------------
  void limit_pending(std::uint64_t launches) { max_pending_ = launches; }
  std::uint64_t pending_limit() const { return max_pending_; }
  bool may_pend() const { return pending_ < max_pending_; }
  /// A launch that may not pend. They are counted over all grids.
  void refuse() { ++refused_; }
  std::uint64_t refused() const { return refused_; }
  void pends() { ++pending_; }
  void begins() { --pending_; }
  void forget_pending() { pending_ = 0; }

 private:
  DeviceMemory& memory_;
  std::map<Address, std::uint64_t> buffers_;                    // size of each there is
  std::map<std::uint64_t, std::vector<Address>> free_buffers_;  // by size
  std::map<std::string, Address> texts_;
  std::set<Address> allocated_;
  std::uint64_t handles_ = 0;
  std::uint64_t pending_ = 0, max_pending_ = kPendingLaunches, refused_ = 0;
};

/// The device runtime as one running grid sees it.
class DeviceGrid {
 public:
  /// `depth` counts launches above it: 0 for the host's.
  DeviceGrid(DeviceRuntime& runtime, unsigned depth) : runtime_(runtime), depth_(depth) {}
  ~DeviceGrid();
  DeviceGrid(const DeviceGrid&) = delete;
  DeviceGrid& operator=(const DeviceGrid&) = delete;

  DeviceRuntime& runtime() { return runtime_; }
  unsigned depth() const { return depth_; }
  const std::vector<DeviceLaunch>& launches() const { return launches_; }
  const std::vector<DeviceOperation>& operations() const { return operations_; }

  // --- for the calls -----------------------------------------------------------------------------
  struct Thread {
    std::uint32_t block, warp, thread;  ///< warp and thread within the block
  };
  /// Launch parameters in the making: from get-parameter-buffer to launch.
  struct Configuration {
    const Kernel* kernel = nullptr;
    trace::LaunchShape shape;
  };
  std::optional<Address> open_buffer(std::uint64_t bytes, const Configuration& configuration);
  /// Closes the buffer; nothing when it is no open one.
  std::optional<Configuration> close_buffer(Address buffer);
  /// False: there is no such stream.
  bool known_stream(std::uint64_t stream) const;
  void launch(DeviceLaunch launch, std::uint64_t stream);
  void operate(DeviceOperation operation, std::uint64_t stream);
  std::uint64_t create_stream();
  bool destroy_stream(std::uint64_t stream);
  std::uint64_t create_event();
  bool destroy_event(std::uint64_t event);
  bool record(std::uint64_t event, std::uint64_t stream, std::uint32_t block);
  bool wait(std::uint64_t stream, std::uint64_t event, std::uint32_t block);
  void set_error(const Thread& thread, std::uint32_t error);
  std::uint32_t error(const Thread& thread, bool clear);

 private:
  using After = std::vector<std::uint32_t>;
  After& last_of(std::uint64_t stream, std::uint32_t block);

  DeviceRuntime& runtime_;
  unsigned depth_;
  std::vector<DeviceLaunch> launches_;
  std::vector<DeviceOperation> operations_;
  std::map<Address, Configuration> open_;
  std::map<std::uint64_t, After> streams_;       // what the next launch of each follows
  std::map<std::uint32_t, After> block_stream_;  // the NULL stream of each block
  After tail_;
  std::map<std::uint64_t, After> events_;  // what had been launched when each was recorded
  std::map<std::uint64_t, std::uint32_t> errors_;
};

}  // namespace raddle::exec
