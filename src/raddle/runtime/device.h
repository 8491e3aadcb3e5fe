// The device as host code sees it. Workloads are written against this; the simulated GPU is one
// implementation, a real one behind the CUDA driver can be another.
#pragma once
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "raddle/base/types.h"
#include "raddle/ptx/kernel_registers.h"

namespace raddle::runtime {

using ModuleId = std::uint32_t;
using KernelId = std::uint32_t;
using EventId = std::uint32_t;
inline constexpr StreamId kDefaultStream{0};

/// Kernel arguments as raw values, in declaration order. Pass std::uint32_t, float, double,
/// Address, ... exactly as declared.
class Arguments {
 public:
  template <class... Ts>
  explicit Arguments(const Ts&... values) {
    (add(values), ...);
  }
  template <class T>
  void add(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    auto& item = items_.emplace_back(sizeof(T));
    std::memcpy(item.data(), &value, sizeof(T));
  }
  const std::vector<std::vector<std::byte>>& items() const { return items_; }

 private:
  std::vector<std::vector<std::byte>> items_;
};

/// Matrices of 16-bit numbers by rows, one after another, as copies of their boxes see them (TMA):
/// boxes are 64 columns wide and lie in shared memory by rows of 128 bytes, swizzled; outside of a
/// matrix are zeros.
struct BoxedMatrix {
  Address at = 0;                       ///< a multiple of 16
  std::uint64_t rows = 0, columns = 0;  ///< columns: a multiple of 8
  std::uint32_t box_rows = 0;           ///< at most 256
  std::uint32_t layers = 0;             ///< 0: one matrix, of two dimensions; else three
  static constexpr std::uint32_t kBoxColumns = 64;

  /// As tensor maps are asked for: sizes and steps of each dimension, bytes to the next of each
  /// but the first.
  struct Shape {
    std::uint32_t rank;
    std::array<std::uint64_t, 3> sizes;
    std::array<std::uint64_t, 2> strides;
    std::array<std::uint32_t, 3> steps, box;
  };
  Shape shape() const {
    return {.rank = layers == 0 ? 2u : 3u,
            .sizes = {columns, rows, layers},
            .strides = {2 * columns, 2 * columns * rows},
            .steps = {1, 1, 1},
            .box = {kBoxColumns, box_rows, 1}};
  }
};
/// What a kernel is given for it (CUtensorMap). Only the device knows what it says.
struct alignas(64) TensorMap {
  std::array<std::byte, 128> bytes;
};

class Device {
 public:
  virtual ~Device() = default;

  // Memory. Addresses are device addresses. Throws RunError when memory is short or a range is not
  // allocated.
  virtual Address allocate(std::uint64_t bytes) = 0;
  virtual void free(Address address) = 0;
  virtual void copy_to_device(Address to, const void* from, std::uint64_t bytes) = 0;
  virtual void copy_to_host(void* to, Address from, std::uint64_t bytes) = 0;
  /// As copy_to_host, for a check that the program itself does not make.
  virtual void inspect(void* to, Address from, std::uint64_t bytes) {
    copy_to_host(to, from, bytes);
  }
  virtual void copy_on_device(Address to, Address from, std::uint64_t bytes) = 0;
  virtual void set(Address to, std::uint8_t value, std::uint64_t bytes) = 0;

  // Code. `file` is for messages. Throws InputError.
  virtual ModuleId load(std::string ptx, std::string file) = 0;
  /// Of kernels whose registers in machine code are known; a device that compiles PTX itself knows
  /// better.
  virtual ModuleId load_known(std::string ptx, std::string file, const ptx::KernelRegisters&) {
    return load(std::move(ptx), std::move(file));
  }
  virtual KernelId kernel(ModuleId module, std::string_view name) = 0;
  /// Address of a module variable.
  virtual Address symbol(ModuleId module, std::string_view name) = 0;

  // Work. Launches of a stream run in order, those of different streams at the same time; but for
  // the default stream, which is CUDA's legacy one: what goes into it waits for everything before
  // it in whatever stream, and everything after it waits for it. The calls above that touch memory
  // wait until the device is idle. Throws InputError when the shape cannot run on the machine or
  // the arguments do not match the kernel's parameters.
  struct LaunchOptions {
    std::uint32_t dynamic_shared_bytes = 0;
    StreamId stream = kDefaultStream;
    bool cooperative = false;  ///< all blocks run at once
    Dim3 cluster{0, 0, 0};     ///< blocks of a cluster; none: as the kernel says, else no clusters
  };
  virtual void launch(KernelId kernel, Dim3 grid, Dim3 block, const Arguments& arguments,
                      const LaunchOptions& options) = 0;
  void launch(KernelId kernel, Dim3 grid, Dim3 block, const Arguments& arguments,
              std::uint32_t dynamic_shared_bytes = 0, StreamId stream = kDefaultStream) {
    launch(kernel, grid, block, arguments, LaunchOptions{dynamic_shared_bytes, stream});
  }
  /// Throws InputError where the matrix or the device is not one for tensor copies.
  virtual TensorMap tensor_map(const BoxedMatrix& matrix) = 0;
  /// How many launches by kernels may pend at once (cudaLimitDevRuntimePendingLaunchCount, 2,048
  /// unless set); a kernel that launches more gets cudaErrorLaunchPendingCountExceeded.
  virtual void limit_pending_launches(std::uint64_t launches) = 0;
  virtual StreamId create_stream() = 0;
  virtual EventId create_event() = 0;
  virtual void record(EventId event, StreamId stream = kDefaultStream) = 0;
  virtual void wait(StreamId stream, EventId event) = 0;
  virtual void synchronize() = 0;
  virtual void synchronize(StreamId stream) = 0;
  virtual void synchronize(EventId event) = 0;
  /// Simulated time between two recorded events; waits for both. 0 when timing is off.
  virtual double elapsed_ms(EventId from, EventId to) = 0;

  // Conveniences.
  template <class T>
  Address upload(const std::vector<T>& values) {
    Address at = allocate(values.size() * sizeof(T));
    copy_to_device(at, values.data(), values.size() * sizeof(T));
    return at;
  }
  template <class T>
  std::vector<T> download(Address from, std::size_t count) {
    std::vector<T> values(count);
    copy_to_host(values.data(), from, count * sizeof(T));
    return values;
  }
};

}  // namespace raddle::runtime
