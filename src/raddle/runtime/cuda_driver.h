// The functions of the CUDA driver (libcuda.so.1) that are used, found when the program runs: a
// machine without one builds and runs everything else. Declared by ourselves after the CUDA Driver
// API's documentation; names with _v2 are those the library exports.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace raddle::runtime::cuda {

using Result = int;  ///< 0: CUDA_SUCCESS
using DeviceNumber = int;
using DevicePointer = unsigned long long;
using Context = struct ContextOf*;
using Module = struct ModuleOf*;
using Function = struct FunctionOf*;
using Stream = struct StreamOf*;
using Event = struct EventOf*;

// Values of CUdevice_attribute, CUfunction_attribute and CUjit_option.
inline constexpr int kClockRateKhz = 13, kMultiprocessors = 16, kMemoryClockRateKhz = 36,
                     kCapabilityMajor = 75, kCapabilityMinor = 76;
inline constexpr int kMaxDynamicSharedBytes = 8;
inline constexpr int kJitInfoLog = 3, kJitInfoLogBytes = 4, kJitErrorLog = 5, kJitErrorLogBytes = 6;

// Values of CUlaunchAttributeID.
inline constexpr int kCooperative = 2, kClusterDimension = 4;
/// CUlaunchAttribute.
struct LaunchAttribute {
  int id;
  int unused;
  unsigned value[16];
};
/// CUlaunchConfig.
struct LaunchConfig {
  unsigned grid[3], block[3], shared_bytes;
  Stream stream;
  const LaunchAttribute* attributes;
  unsigned attribute_count;
};

/// Calls f(member, exported name) for each function.
#define RADDLE_CUDA_FUNCTIONS(X)                                                                  \
  X(init, "cuInit", (unsigned flags))                                                             \
  X(driver_version, "cuDriverGetVersion", (int* version))                                         \
  X(error_name, "cuGetErrorName", (Result error, const char** text))                              \
  X(error_text, "cuGetErrorString", (Result error, const char** text))                            \
  X(device_count, "cuDeviceGetCount", (int* count))                                               \
  X(device_get, "cuDeviceGet", (DeviceNumber * device, int ordinal))                              \
  X(device_name, "cuDeviceGetName", (char* name, int length, DeviceNumber device))                \
  X(device_attribute, "cuDeviceGetAttribute", (int* value, int attribute, DeviceNumber device))   \
  X(context_retain, "cuDevicePrimaryCtxRetain", (Context * context, DeviceNumber device))         \
  X(context_release, "cuDevicePrimaryCtxRelease_v2", (DeviceNumber device))                       \
  X(context_set, "cuCtxSetCurrent", (Context context))                                            \
  X(context_set_limit, "cuCtxSetLimit", (int limit, std::size_t value))                           \
  X(context_synchronize, "cuCtxSynchronize", ())                                                  \
  X(memory_allocate, "cuMemAlloc_v2", (DevicePointer * at, std::size_t bytes))                    \
  X(memory_free, "cuMemFree_v2", (DevicePointer at))                                              \
  X(copy_to_device, "cuMemcpyHtoD_v2", (DevicePointer to, const void* from, std::size_t bytes))   \
  X(copy_to_host, "cuMemcpyDtoH_v2", (void* to, DevicePointer from, std::size_t bytes))           \
  X(copy_on_device, "cuMemcpyDtoD_v2", (DevicePointer to, DevicePointer from, std::size_t bytes)) \
  X(memory_set, "cuMemsetD8_v2", (DevicePointer to, unsigned char value, std::size_t bytes))      \
  X(module_load, "cuModuleLoadDataEx",                                                            \
    (Module * module, const void* image, unsigned options, int* names, void** values))            \
  X(module_function, "cuModuleGetFunction",                                                       \
    (Function * function, Module module, const char* name))                                       \
  X(module_global, "cuModuleGetGlobal_v2",                                                        \
    (DevicePointer * at, std::size_t * bytes, Module module, const char* name))                   \
  X(function_set, "cuFuncSetAttribute", (Function function, int attribute, int value))            \
  X(launch, "cuLaunchKernel",                                                                     \
    (Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,      \
     unsigned block_y, unsigned block_z, unsigned shared_bytes, Stream stream, void** parameters, \
     void** extra))                                                                               \
  X(stream_create, "cuStreamCreate", (Stream * stream, unsigned flags))                           \
  X(stream_synchronize, "cuStreamSynchronize", (Stream stream))                                   \
  X(stream_wait, "cuStreamWaitEvent", (Stream stream, Event event, unsigned flags))               \
  X(event_create, "cuEventCreate", (Event * event, unsigned flags))                               \
  X(event_destroy, "cuEventDestroy_v2", (Event event))                                            \
  X(event_record, "cuEventRecord", (Event event, Stream stream))                                  \
  X(event_synchronize, "cuEventSynchronize", (Event event))                                       \
  X(event_elapsed, "cuEventElapsedTime", (float* milliseconds, Event from, Event to))
/// The same of those that CUDA 12 brought; nullptr where the driver is older.
#define RADDLE_CUDA_12_FUNCTIONS(X)                                                      \
  X(launch_with, "cuLaunchKernelEx",                                                     \
    (const LaunchConfig* config, Function function, void** parameters, void** extra))    \
  X(tensor_map_tiled, "cuTensorMapEncodeTiled",                                          \
    (void* map, int element, std::uint32_t rank, void* at, const std::uint64_t* sizes,   \
     const std::uint64_t* strides, const std::uint32_t* box, const std::uint32_t* steps, \
     int interleave, int swizzle, int promotion, int fill))

class Driver {
 public:
  /// Throws InputError saying what to do when the library or one of its functions is missing.
  explicit Driver(const std::string& library = "libcuda.so.1");
  ~Driver();
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

#define RADDLE_CUDA_MEMBER(member, name, parameters) Result(*member) parameters = nullptr;
  RADDLE_CUDA_FUNCTIONS(RADDLE_CUDA_MEMBER)
  RADDLE_CUDA_12_FUNCTIONS(RADDLE_CUDA_MEMBER)
#undef RADDLE_CUDA_MEMBER

  /// Throws RunError naming the function and the driver's own words unless `result` is 0.
  void check(Result result, const char* function) const;

 private:
  void* library_;
};

}  // namespace raddle::runtime::cuda
