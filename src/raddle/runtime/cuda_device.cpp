#include "raddle/runtime/cuda_device.h"

#include <fmt/format.h>

#include <array>

#include "raddle/base/demangle.h"
#include "raddle/base/error.h"

namespace raddle::runtime {

namespace {
constexpr std::uint32_t kSharedBytesWithoutAsking = 48 << 10;
constexpr std::size_t kLogBytes = std::size_t{16} << 10;
/// As many launches keep their events at once; then their times are read.
constexpr std::size_t kMaxTimings = 4096;

/// A function that older drivers lack.
template <class Function>
Function* needed(Function* function, const char* name) {
  if (function == nullptr)
    throw InputError(std::string("the driver has no function ") + name +
                     ": CUDA 12 or newer is needed");
  return function;
}
}  // namespace

CudaDevice::CudaDevice(const std::string& library, int ordinal) : driver_(library) {
  if (const cuda::Result result = driver_.init(0); result != 0) try {
      check(result, "cuInit");
    } catch (const RunError& error) {
      throw InputError(std::string("--on cuda: the driver does not start: ") + error.what());
    }
  int count = 0;
  check(driver_.device_count(&count), "cuDeviceGetCount");
  if (ordinal < 0 || ordinal >= count)
    throw InputError(
        fmt::format("--on cuda: there is no device {}; the driver has {}", ordinal, count));
  check(driver_.device_get(&device_, ordinal), "cuDeviceGet");
  cuda::Context context = nullptr;
  check(driver_.context_retain(&context, device_), "cuDevicePrimaryCtxRetain");
  check(driver_.context_set(context), "cuCtxSetCurrent");
  std::array<char, 256> name{};
  check(driver_.device_name(name.data(), name.size() - 1, device_), "cuDeviceGetName");
  facts_.name = name.data();
  check(driver_.driver_version(&facts_.driver_version), "cuDriverGetVersion");
  facts_.capability_major = attribute(cuda::kCapabilityMajor);
  facts_.capability_minor = attribute(cuda::kCapabilityMinor);
  facts_.multiprocessors = attribute(cuda::kMultiprocessors);
  facts_.core_clock_mhz = attribute(cuda::kClockRateKhz) / 1e3;
  facts_.memory_clock_mhz = attribute(cuda::kMemoryClockRateKhz) / 1e3;
}

// Modules, streams and memory go with the context.
CudaDevice::~CudaDevice() {
  for (const Timing& timing : timings_) {
    driver_.event_destroy(timing.before);
    driver_.event_destroy(timing.behind);
  }
  for (cuda::Event event : events_) driver_.event_destroy(event);
  driver_.context_release(device_);
}

int CudaDevice::attribute(int which) const {
  int value = 0;
  return driver_.device_attribute(&value, which, device_) == 0 ? value : 0;
}

// --- memory -------------------------------------------------------------------------------------

Address CudaDevice::allocate(std::uint64_t bytes) {
  cuda::DevicePointer at = 0;
  if (bytes != 0) check(driver_.memory_allocate(&at, bytes), "cuMemAlloc");
  return at;
}

void CudaDevice::free(Address address) {
  synchronize();
  if (address != 0) check(driver_.memory_free(address), "cuMemFree");
}

void CudaDevice::copy_to_device(Address to, const void* from, std::uint64_t bytes) {
  synchronize();
  if (bytes != 0) check(driver_.copy_to_device(to, from, bytes), "cuMemcpyHtoD");
}

void CudaDevice::copy_to_host(void* to, Address from, std::uint64_t bytes) {
  synchronize();
  if (bytes != 0) check(driver_.copy_to_host(to, from, bytes), "cuMemcpyDtoH");
}

void CudaDevice::copy_on_device(Address to, Address from, std::uint64_t bytes) {
  synchronize();
  if (bytes != 0) check(driver_.copy_on_device(to, from, bytes), "cuMemcpyDtoD");
  synchronize();  // such a copy does not wait by itself
}

void CudaDevice::set(Address to, std::uint8_t value, std::uint64_t bytes) {
  synchronize();
  if (bytes != 0) check(driver_.memory_set(to, value, bytes), "cuMemsetD8");
  synchronize();
}

// --- code ---------------------------------------------------------------------------------------

ModuleId CudaDevice::load(std::string ptx, std::string file) {
  std::string errors(kLogBytes, '\0');
  std::array<int, 2> names = {cuda::kJitErrorLog, cuda::kJitErrorLogBytes};
  std::array<void*, 2> values = {errors.data(),
                                 reinterpret_cast<void*>(static_cast<std::uintptr_t>(kLogBytes))};
  cuda::Module module = nullptr;
  const cuda::Result result =
      driver_.module_load(&module, ptx.c_str(), names.size(), names.data(), values.data());
  if (result != 0) try {
      check(result, "cuModuleLoadDataEx");
    } catch (const RunError& error) {
      errors.resize(errors.find('\0') == std::string::npos ? errors.size() : errors.find('\0'));
      while (!errors.empty() && (errors.back() == '\n' || errors.back() == ' ')) errors.pop_back();
      throw InputError({std::move(file)}, std::string("the driver refuses it: ") + error.what() +
                                              (errors.empty() ? "" : "\n" + errors));
    }
  modules_.push_back(module);
  files_.push_back(std::move(file));
  return static_cast<ModuleId>(modules_.size() - 1);
}

KernelId CudaDevice::kernel(ModuleId module, std::string_view name) {
  for (std::size_t i = 0; i < kernels_.size(); ++i)
    if (kernels_[i].module == module && kernels_[i].name == name) return static_cast<KernelId>(i);
  const std::string text(name);
  cuda::Function function = nullptr;
  if (driver_.module_function(&function, modules_.at(module), text.c_str()) != 0)
    throw InputError({files_[module]}, "no kernel is called '" + text + "'");
  kernels_.push_back({module, text, function});
  return static_cast<KernelId>(kernels_.size() - 1);
}

Address CudaDevice::symbol(ModuleId module, std::string_view name) {
  cuda::DevicePointer at = 0;
  std::size_t bytes = 0;
  const std::string text(name);
  if (driver_.module_global(&at, &bytes, modules_.at(module), text.c_str()) != 0)
    throw InputError({files_[module]}, "no variable is called '" + text + "'");
  return at;
}

// --- work ---------------------------------------------------------------------------------------

void CudaDevice::launch(KernelId kernel, Dim3 grid, Dim3 block, const Arguments& arguments,
                        const LaunchOptions& options) {
  const Kernel& entry = kernels_.at(kernel);
  if (timings_.size() == kMaxTimings) launches();
  std::vector<void*> parameters;
  for (const std::vector<std::byte>& item : arguments.items())
    parameters.push_back(const_cast<std::byte*>(item.data()));
  if (options.dynamic_shared_bytes > kSharedBytesWithoutAsking)
    check(driver_.function_set(entry.function, cuda::kMaxDynamicSharedBytes,
                               static_cast<int>(options.dynamic_shared_bytes)),
          "cuFuncSetAttribute");
  const Timing timing{new_event(), new_event()};
  timings_.push_back(timing);
  launches_.push_back({entry.name, grid, block, options.stream, 0});
  const cuda::Stream stream = stream_of(options.stream);
  std::vector<cuda::LaunchAttribute> attributes;
  if (options.cooperative) attributes.push_back({cuda::kCooperative, {}, {1}});
  if (const Dim3 blocks = options.cluster; blocks.x != 0)
    attributes.push_back({cuda::kClusterDimension, {}, {blocks.x, blocks.y, blocks.z}});
  const cuda::LaunchConfig config{{grid.x, grid.y, grid.z},
                                  {block.x, block.y, block.z},
                                  options.dynamic_shared_bytes,
                                  stream,
                                  attributes.data(),
                                  static_cast<unsigned>(attributes.size())};
  check(driver_.event_record(timing.before, stream), "cuEventRecord");
  try {
    if (attributes.empty())
      check(driver_.launch(entry.function, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                           options.dynamic_shared_bytes, stream, parameters.data(), nullptr),
            "cuLaunchKernel");
    else
      check(needed(driver_.launch_with, "cuLaunchKernelEx")(&config, entry.function,
                                                            parameters.data(), nullptr),
            "cuLaunchKernelEx");
  } catch (const RunError& error) {
    throw InputError("kernel '" + short_name(entry.name) + "' cannot be launched: " + error.what());
  }
  check(driver_.event_record(timing.behind, stream), "cuEventRecord");
}

TensorMap CudaDevice::tensor_map(const BoxedMatrix& matrix) {
  constexpr int kF16 = 6, kNoInterleave = 0, kSwizzle128 = 3, kPromoteTo128 = 2, kZeros = 0;
  const BoxedMatrix::Shape shape = matrix.shape();
  TensorMap out{};
  check(needed(driver_.tensor_map_tiled, "cuTensorMapEncodeTiled")(
            &out, kF16, shape.rank, reinterpret_cast<void*>(matrix.at), shape.sizes.data(),
            shape.strides.data(), shape.box.data(), shape.steps.data(), kNoInterleave, kSwizzle128,
            kPromoteTo128, kZeros),
        "cuTensorMapEncodeTiled");
  return out;
}

const std::vector<MeasuredLaunch>& CudaDevice::launches() {
  synchronize();
  const std::size_t first = launches_.size() - timings_.size();
  for (std::size_t i = 0; i < timings_.size(); ++i) {
    float milliseconds = 0;
    check(driver_.event_elapsed(&milliseconds, timings_[i].before, timings_[i].behind),
          "cuEventElapsedTime");
    launches_[first + i].milliseconds = milliseconds;
    driver_.event_destroy(timings_[i].before);
    driver_.event_destroy(timings_[i].behind);
  }
  timings_.clear();
  return launches_;
}

// --- streams and events -------------------------------------------------------------------------

cuda::Stream CudaDevice::stream_of(StreamId stream) const {
  if (index(stream) >= streams_.size())
    throw InputError(fmt::format("stream {} does not exist", index(stream)));
  return streams_[index(stream)];
}

cuda::Event CudaDevice::event_of(EventId event) const {
  if (event >= events_.size()) throw InputError(fmt::format("event {} does not exist", event));
  return events_[event];
}

cuda::Event CudaDevice::new_event() {
  cuda::Event event = nullptr;
  check(driver_.event_create(&event, 0), "cuEventCreate");
  return event;
}

void CudaDevice::limit_pending_launches(std::uint64_t launches) {
  constexpr int kPendingLaunches = 4;  // CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT
  check(driver_.context_set_limit(kPendingLaunches, launches), "cuCtxSetLimit");
}

StreamId CudaDevice::create_stream() {
  cuda::Stream stream = nullptr;
  check(driver_.stream_create(&stream, 0), "cuStreamCreate");
  streams_.push_back(stream);
  return StreamId{static_cast<std::uint32_t>(streams_.size() - 1)};
}

EventId CudaDevice::create_event() {
  events_.push_back(new_event());
  return static_cast<EventId>(events_.size() - 1);
}

void CudaDevice::record(EventId event, StreamId stream) {
  check(driver_.event_record(event_of(event), stream_of(stream)), "cuEventRecord");
}

void CudaDevice::wait(StreamId stream, EventId event) {
  check(driver_.stream_wait(stream_of(stream), event_of(event), 0), "cuStreamWaitEvent");
}

void CudaDevice::synchronize() { check(driver_.context_synchronize(), "cuCtxSynchronize"); }

void CudaDevice::synchronize(StreamId stream) {
  check(driver_.stream_synchronize(stream_of(stream)), "cuStreamSynchronize");
}

void CudaDevice::synchronize(EventId event) {
  check(driver_.event_synchronize(event_of(event)), "cuEventSynchronize");
}

double CudaDevice::elapsed_ms(EventId from, EventId to) {
  synchronize(from);
  synchronize(to);
  float milliseconds = 0;
  check(driver_.event_elapsed(&milliseconds, event_of(from), event_of(to)), "cuEventElapsedTime");
  return milliseconds;
}

}  // namespace raddle::runtime
