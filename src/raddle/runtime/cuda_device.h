// A real GPU as a runtime::Device: the same host code, the same PTX, through the CUDA driver.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "raddle/runtime/cuda_driver.h"
#include "raddle/runtime/device.h"

namespace raddle::runtime {

struct CudaDeviceFacts {
  std::string name;
  int driver_version = 0;  ///< 13000: the driver knows CUDA 13.0
  int capability_major = 0, capability_minor = 0, multiprocessors = 0;
  double core_clock_mhz = 0, memory_clock_mhz = 0;  ///< the highest; 0: the driver does not say
};

/// A launch and the time between events recorded before and behind it in its stream.
struct MeasuredLaunch {
  std::string name;
  Dim3 grid, block;
  StreamId stream{};
  double milliseconds = 0;
};

class CudaDevice final : public Device {
 public:
  /// Throws InputError when there is no driver, or no device of that number.
  explicit CudaDevice(const std::string& library = "libcuda.so.1", int ordinal = 0);
  ~CudaDevice() override;

  Address allocate(std::uint64_t bytes) override;
  void free(Address address) override;
  void copy_to_device(Address to, const void* from, std::uint64_t bytes) override;
  void copy_to_host(void* to, Address from, std::uint64_t bytes) override;
  void copy_on_device(Address to, Address from, std::uint64_t bytes) override;
  void set(Address to, std::uint8_t value, std::uint64_t bytes) override;
  /// Throws InputError with the driver's log when its compiler refuses the text.
  ModuleId load(std::string ptx, std::string file) override;
  KernelId kernel(ModuleId module, std::string_view name) override;
  Address symbol(ModuleId module, std::string_view name) override;
  using Device::launch;
  void launch(KernelId kernel, Dim3 grid, Dim3 block, const Arguments& arguments,
              const LaunchOptions& options) override;
  TensorMap tensor_map(const BoxedMatrix& matrix) override;
  void limit_pending_launches(std::uint64_t launches) override;
  StreamId create_stream() override;
  EventId create_event() override;
  void record(EventId event, StreamId stream) override;
  void wait(StreamId stream, EventId event) override;
  void synchronize() override;
  void synchronize(StreamId stream) override;
  void synchronize(EventId event) override;
  double elapsed_ms(EventId from, EventId to) override;

  const CudaDeviceFacts& facts() const { return facts_; }
  /// Every launch so far, with its time. Waits until the device is idle.
  const std::vector<MeasuredLaunch>& launches();

 private:
  struct Kernel {
    ModuleId module;
    std::string name;
    cuda::Function function;
  };
  struct Timing {
    cuda::Event before, behind;
  };
  cuda::Stream stream_of(StreamId stream) const;
  cuda::Event event_of(EventId event) const;
  cuda::Event new_event();
  void check(cuda::Result result, const char* function) const { driver_.check(result, function); }
  int attribute(int which) const;

  cuda::Driver driver_;
  cuda::DeviceNumber device_ = 0;
  CudaDeviceFacts facts_;
  std::vector<cuda::Module> modules_;
  std::vector<std::string> files_;  // of the modules
  std::vector<Kernel> kernels_;
  std::vector<cuda::Stream> streams_{nullptr};
  std::vector<cuda::Event> events_;
  std::vector<MeasuredLaunch> launches_;
  std::vector<Timing> timings_;  // of the launches whose time has not been read
};

}  // namespace raddle::runtime
