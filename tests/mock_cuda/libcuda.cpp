// A CUDA driver without a GPU: the functions Raddle uses, on the functional machine of the program
// that loads it (which must export its symbols). Events tell made-up times: a quarter of a
// millisecond for each launch between them. RADDLE_MOCK_CUDA makes it fail: "no_device",
// "no_driver", "wrong" (what is copied back is altered), "launch" (refuses launches),
// "no_transpose" (knows no kernel of that name).
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "raddle/base/error.h"
#include "raddle/ptx/module.h"
#include "raddle/runtime/cuda_driver.h"
#include "raddle/runtime/simulated_device.h"

namespace {

using namespace raddle;

enum {
  kSuccess = 0,
  kInvalidValue = 1,
  kNoDevice = 100,
  kInvalidPtx = 218,
  kNotFound = 500,
  kLaunchFailed = 719,
  kUnknown = 999
};

struct Function {
  runtime::KernelId kernel;
  std::vector<std::size_t> sizes;  // of its parameters
};
struct Module {
  runtime::ModuleId id;
  ptx::Module parsed;
  std::vector<std::unique_ptr<Function>> functions;
};
struct Event {
  unsigned long launches = 0;
  bool recorded = false;
};
struct Driver {
  runtime::SimulatedDevice device{{}};
  std::vector<std::unique_ptr<Module>> modules;
  unsigned long launches = 0;
};
std::unique_ptr<Driver> driver;

bool notified(const char* what) {
  const char* mode = std::getenv("RADDLE_MOCK_CUDA");
  return mode != nullptr && std::strcmp(mode, what) == 0;
}

template <class F>
int guarded(F f) {
  try {
    f();
    return kSuccess;
  } catch (const std::exception&) {
    return kInvalidValue;
  }
}

}  // namespace

extern "C" {

int cuInit(unsigned) { return notified("no_driver") ? kUnknown : kSuccess; }
int cuDriverGetVersion(int* version) {
  *version = 13000;
  return kSuccess;
}
int cuGetErrorName(int error, const char** text) {
  *text = error == kInvalidPtx     ? "CUDA_ERROR_INVALID_PTX"
          : error == kLaunchFailed ? "CUDA_ERROR_LAUNCH_FAILED"
          : error == kInvalidValue ? "CUDA_ERROR_INVALID_VALUE"
                                   : "CUDA_ERROR_UNKNOWN";
  return kSuccess;
}
int cuGetErrorString(int, const char** text) {
  *text = "the mock says so";
  return kSuccess;
}
int cuDeviceGetCount(int* count) {
  *count = notified("no_device") ? 0 : 1;
  return kSuccess;
}
int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return kSuccess;
}
int cuDeviceGetName(char* name, int length, int) {
  std::strncpy(name, "Mock GPU", static_cast<std::size_t>(length));
  return kSuccess;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  *value = attribute == 13   ? 1'000'000
           : attribute == 16 ? 4
           : attribute == 36 ? 2'000'000
           : attribute == 75 ? 9
                             : 0;
  return kSuccess;
}
int cuDevicePrimaryCtxRetain(void** context, int) {
  driver = std::make_unique<Driver>();
  *context = driver.get();
  return kSuccess;
}
int cuDevicePrimaryCtxRelease_v2(int) {
  driver.reset();
  return kSuccess;
}
int cuCtxSetCurrent(void*) { return kSuccess; }
int cuCtxSetLimit(int, std::size_t launches) {
  return guarded([&] { driver->device.limit_pending_launches(launches); });
}
int cuCtxSynchronize() { return kSuccess; }

int cuMemAlloc_v2(unsigned long long* at, std::size_t bytes) {
  return guarded([&] { *at = driver->device.allocate(bytes); });
}
int cuMemFree_v2(unsigned long long at) {
  return guarded([&] { driver->device.free(at); });
}
int cuMemcpyHtoD_v2(unsigned long long to, const void* from, std::size_t bytes) {
  return guarded([&] { driver->device.copy_to_device(to, from, bytes); });
}
int cuMemcpyDtoH_v2(void* to, unsigned long long from, std::size_t bytes) {
  return guarded([&] {
    driver->device.copy_to_host(to, from, bytes);
    if (notified("wrong"))
      for (std::size_t i = 0; i < bytes; ++i) static_cast<unsigned char*>(to)[i] ^= 0x40;
  });
}
int cuMemcpyDtoD_v2(unsigned long long to, unsigned long long from, std::size_t bytes) {
  return guarded([&] { driver->device.copy_on_device(to, from, bytes); });
}
int cuMemsetD8_v2(unsigned long long to, unsigned char value, std::size_t bytes) {
  return guarded([&] { driver->device.set(to, value, bytes); });
}

int cuModuleLoadDataEx(void** module, const void* image, unsigned options, int* names,
                       void** values) {
  try {
    const std::string text = static_cast<const char*>(image);
    auto made = std::make_unique<Module>();
    made->parsed = ptx::parse(text, "mock.ptx");
    made->id = driver->device.load(text, "mock.ptx");
    *module = made.get();
    driver->modules.push_back(std::move(made));
    return kSuccess;
  } catch (const InputError& error) {
    char* log = nullptr;
    std::size_t room = 0;
    for (unsigned i = 0; i < options; ++i) {
      if (names[i] == 5) log = static_cast<char*>(values[i]);
      if (names[i] == 6) room = reinterpret_cast<std::size_t>(values[i]);
    }
    if (log != nullptr && room > 0) std::strncpy(log, error.what(), room - 1);
    return kInvalidPtx;
  }
}
int cuModuleGetFunction(void** function, void* module, const char* name) {
  auto* in = static_cast<Module*>(module);
  const ptx::Function* entry = in->parsed.find_entry(name);
  if (entry == nullptr || (notified("no_transpose") && std::strncmp(name, "transpose", 9) == 0))
    return kNotFound;
  auto made = std::make_unique<Function>();
  made->kernel = driver->device.kernel(in->id, name);
  for (const ptx::Variable& parameter : entry->parameters) made->sizes.push_back(parameter.size);
  *function = made.get();
  in->functions.push_back(std::move(made));
  return kSuccess;
}
int cuModuleGetGlobal_v2(unsigned long long* at, std::size_t* bytes, void* module,
                         const char* name) {
  return guarded([&] {
    *at = driver->device.symbol(static_cast<Module*>(module)->id, name);
    *bytes = 0;
  });
}
int cuFuncSetAttribute(void*, int, int) { return kSuccess; }

int cuLaunchKernelEx(const runtime::cuda::LaunchConfig* config, void* function, void** parameters,
                     void**) {
  if (notified("launch")) return kLaunchFailed;
  const auto* f = static_cast<Function*>(function);
  runtime::Device::LaunchOptions options{.dynamic_shared_bytes = config->shared_bytes};
  for (unsigned i = 0; i < config->attribute_count; ++i) {
    const auto& [id, unused, value] = config->attributes[i];
    if (id == runtime::cuda::kCooperative) options.cooperative = value[0] != 0;
    else if (id == runtime::cuda::kClusterDimension)
      options.cluster = {value[0], value[1], value[2]};
    else return kInvalidValue;
  }
  return guarded([&] {
    runtime::Arguments arguments;
    auto& items = const_cast<std::vector<std::vector<std::byte>>&>(arguments.items());
    for (std::size_t i = 0; i < f->sizes.size(); ++i) {
      const auto* from = static_cast<const std::byte*>(parameters[i]);
      items.emplace_back(from, from + f->sizes[i]);
    }
    const auto& grid = config->grid;
    const auto& block = config->block;
    driver->device.launch(f->kernel, {grid[0], grid[1], grid[2]}, {block[0], block[1], block[2]},
                          arguments, options);
    ++driver->launches;
  });
}
int cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, void*, void** parameters, void** extra) {
  const runtime::cuda::LaunchConfig config{{gx, gy, gz}, {bx, by, bz}, shared, nullptr, nullptr, 0};
  return cuLaunchKernelEx(&config, function, parameters, extra);
}
/// Of a matrix whose rows follow one another, or of several that do.
int cuTensorMapEncodeTiled(void* map, int, unsigned rank, void* at, const std::uint64_t* sizes,
                           const std::uint64_t* strides, const std::uint32_t* box,
                           const std::uint32_t*, int, int, int, int) {
  if ((rank != 2 && rank != 3) || strides[0] != 2 * sizes[0]) return kInvalidValue;
  const bool several = rank == 3;
  if (several && (strides[1] != strides[0] * sizes[1] || box[2] != 1)) return kInvalidValue;
  if (box[0] != runtime::BoxedMatrix::kBoxColumns) return kInvalidValue;
  return guarded([&] {
    const runtime::TensorMap made =
        driver->device.tensor_map({reinterpret_cast<Address>(at), sizes[1], sizes[0], box[1],
                                   several ? static_cast<std::uint32_t>(sizes[2]) : 0});
    std::memcpy(map, &made, sizeof made);
  });
}

int cuStreamCreate(void** stream, unsigned) {
  static int some;
  *stream = &some;
  return kSuccess;
}
int cuStreamSynchronize(void*) { return kSuccess; }
int cuStreamWaitEvent(void*, void*, unsigned) { return kSuccess; }
int cuEventCreate(void** event, unsigned) {
  *event = new Event;
  return kSuccess;
}
int cuEventDestroy_v2(void* event) {
  delete static_cast<Event*>(event);
  return kSuccess;
}
int cuEventRecord(void* event, void*) {
  *static_cast<Event*>(event) = {driver->launches, true};
  return kSuccess;
}
int cuEventSynchronize(void*) { return kSuccess; }
int cuEventElapsedTime(float* milliseconds, void* from, void* to) {
  const auto *a = static_cast<Event*>(from), *b = static_cast<Event*>(to);
  if (!a->recorded || !b->recorded) return kInvalidValue;
  *milliseconds = 0.25f * static_cast<float>(b->launches - a->launches);
  return kSuccess;
}

}  // extern "C"
