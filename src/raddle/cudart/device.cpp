// The simulated machine as a CUDA device: there is one, number 0.
#include <algorithm>
#include <cstring>

#include "raddle/cudart/functions.h"
#include "raddle/cudart/properties.h"
#include "raddle/cudart/reset.h"

using namespace raddle;
using namespace raddle::cudart;

namespace {

constexpr int kVersion = 13000;  // of the interface; 1000 x major + 10 x minor

void check_device(Context& c, int device) {
  c.session();
  if (device != 0) throw Failure{kInvalidDevice};
}

/// A setting without an effect here; the device number is checked.
int accepted(const char* name) {
  return call(name, [](Context& c) {
    c.session();
    return kSuccess;
  });
}

int properties(const char* name, int version, void* to, int device) {
  return call(name, [&](Context& c) {
    check_device(c, device);
    write_properties(c.seen(), version, &required(static_cast<char*>(to)));
    return kSuccess;
  });
}

// cudaLimit: stack, printf, heap, synchronisation depth, pending launches, fetch granularity,
// persisting L2.
constexpr std::size_t kLimits[] = {1024, 1 << 20, 8 << 20, 2, exec::kPendingLaunches, 64, 0};

}  // namespace

extern "C" {

int raddle_cudaGetDeviceCount(int* count) {
  return call("cudaGetDeviceCount", [&](Context& c) {
    c.session();
    required(count) = 1;
    return kSuccess;
  });
}

int raddle_cudaSetDevice(int device) {
  return call("cudaSetDevice", [&](Context& c) {
    check_device(c, device);
    return kSuccess;
  });
}

int raddle_cudaInitDevice(int device, unsigned, unsigned) {
  return call("cudaInitDevice", [&](Context& c) {
    check_device(c, device);
    return kSuccess;
  });
}

int raddle_cudaGetDevice(int* device) {
  return call("cudaGetDevice", [&](Context&) {
    required(device) = 0;
    return kSuccess;
  });
}

int raddle_cudaChooseDevice(int* device, const void* wanted) {
  return call("cudaChooseDevice", [&](Context&) {
    if (wanted == nullptr) throw Failure{kInvalidValue};
    required(device) = 0;
    return kSuccess;
  });
}

int raddle_cudaSetValidDevices(int* devices, int count) {
  return call("cudaSetValidDevices", [&](Context& c) {
    const auto length = static_cast<std::size_t>(std::max(count, 0));
    for (const int device : listed(devices, length)) check_device(c, device);
    return kSuccess;
  });
}

int raddle_cudaGetDeviceProperties_11(void* to, int device) {
  return properties("cudaGetDeviceProperties", 11, to, device);
}
int raddle_cudaGetDeviceProperties_12(void* to, int device) {
  return properties("cudaGetDeviceProperties_v2", 12, to, device);
}
int raddle_cudaGetDeviceProperties_13(void* to, int device) {
  return properties("cudaGetDeviceProperties", 13, to, device);
}

int raddle_cudaDeviceGetAttribute(int* value, int number, int device) {
  return call("cudaDeviceGetAttribute", [&](Context& c) {
    check_device(c, device);
    const std::optional<int> found = attribute(c.seen(), number);
    if (!found) throw Failure{kInvalidValue};
    required(value) = *found;
    return kSuccess;
  });
}

int raddle_cudaDeviceGetPCIBusId(char* to, int bytes, int device) {
  return call("cudaDeviceGetPCIBusId", [&](Context& c) {
    check_device(c, device);
    constexpr char kId[] = "0000:00:00.0";
    if (to == nullptr || bytes < static_cast<int>(sizeof kId)) throw Failure{kInvalidValue};
    std::memcpy(to, kId, sizeof kId);
    return kSuccess;
  });
}

int raddle_cudaDeviceGetByPCIBusId(int* device, const char* id) {
  return call("cudaDeviceGetByPCIBusId", [&](Context&) {
    if (id == nullptr) throw Failure{kInvalidValue};
    // [domain:]bus:device[.function], hexadecimal; all of the one device are 0.
    const std::string_view text(id);
    if (text.find_first_not_of("0123456789abcdefABCDEF:.") != text.npos ||
        text.find(':') == text.npos)
      throw Failure{kInvalidValue};
    if (text.find_first_not_of("0:.") != text.npos) throw Failure{kInvalidDevice};
    required(device) = 0;
    return kSuccess;
  });
}

int raddle_cudaDriverGetVersion(int* version) {
  return call("cudaDriverGetVersion", [&](Context&) {
    required(version) = kVersion;
    return kSuccess;
  });
}

int raddle_cudaRuntimeGetVersion_11(int* version) {
  return call("cudaRuntimeGetVersion", [&](Context&) {
    required(version) = 11080;
    return kSuccess;
  });
}
int raddle_cudaRuntimeGetVersion_12(int* version) {
  return call("cudaRuntimeGetVersion", [&](Context&) {
    required(version) = 12090;
    return kSuccess;
  });
}
int raddle_cudaRuntimeGetVersion_13(int* version) { return raddle_cudaDriverGetVersion(version); }

int raddle_cudaDeviceReset() {
  return call("cudaDeviceReset", [](Context& c) {
    reset(c);
    return kSuccess;
  });
}

int raddle_cudaSetDeviceFlags(unsigned flags) {
  return call("cudaSetDeviceFlags", [&](Context& c) {
    constexpr unsigned kSchedule = 7, kMapHost = 8, kResizeToMax = 16, kSyncMemops = 128;
    const unsigned schedule = flags & kSchedule;
    if ((flags & ~(kSchedule | kMapHost | kResizeToMax | kSyncMemops)) != 0 ||
        (schedule & (schedule - 1)) != 0)
      throw Failure{kInvalidValue};
    c.device_flags = flags;
    return kSuccess;
  });
}

int raddle_cudaGetDeviceFlags(unsigned* flags) {
  return call("cudaGetDeviceFlags", [&](Context& c) {
    required(flags) = c.device_flags | 8;  // host memory can be mapped
    return kSuccess;
  });
}

int raddle_cudaDeviceSetLimit(int limit, std::size_t value) {
  return call("cudaDeviceSetLimit", [&](Context& c) {
    if (limit < 0 || limit >= static_cast<int>(std::size(kLimits)))
      throw Failure{kUnsupportedLimit};
    constexpr int kStackSize = 0, kMallocHeapSize = 2, kPendingLaunches = 4;
    // Local memory of a thread, of all compute capabilities (CUDA C++ programming guide).
    constexpr std::size_t kMaxStack = 512 << 10;
    if (limit == kStackSize && value > kMaxStack)
      throw Failure{kInvalidValue, "the stack of a thread has at most 512 KiB"};
    c.limits[limit] = value;
    exec::Machine& machine = c.device().machine();
    if (limit == kStackSize) machine.set_stack_bytes(static_cast<std::uint32_t>(value));
    if (limit == kMallocHeapSize) machine.set_heap_bytes(value);
    if (limit == kPendingLaunches) c.device().limit_pending_launches(value);
    return kSuccess;
  });
}

int raddle_cudaDeviceGetLimit(std::size_t* value, int limit) {
  return call("cudaDeviceGetLimit", [&](Context& c) {
    if (limit < 0 || limit >= static_cast<int>(std::size(kLimits)))
      throw Failure{kUnsupportedLimit};
    required(value) = c.limits.contains(limit) ? c.limits[limit] : kLimits[limit];
    return kSuccess;
  });
}

int raddle_cudaDeviceSetCacheConfig(int config) {
  return call("cudaDeviceSetCacheConfig", [&](Context& c) {
    c.session();
    check_cache_config(config);
    return kSuccess;
  });
}
int raddle_cudaDeviceSetSharedMemConfig(int config) {
  return call("cudaDeviceSetSharedMemConfig", [&](Context& c) {
    c.session();
    check_bank_config(config);
    return kSuccess;
  });
}
int raddle_cudaCtxResetPersistingL2Cache() { return accepted("cudaCtxResetPersistingL2Cache"); }
int raddle_cudaProfilerStart() { return accepted("cudaProfilerStart"); }
int raddle_cudaProfilerStop() { return accepted("cudaProfilerStop"); }

int raddle_cudaDeviceGetCacheConfig(int* config) {
  return call("cudaDeviceGetCacheConfig", [&](Context&) {
    required(config) = 0;  // no preference
    return kSuccess;
  });
}

int raddle_cudaDeviceGetSharedMemConfig(int* config) {
  return call("cudaDeviceGetSharedMemConfig", [&](Context&) {
    required(config) = 1;  // banks of four bytes
    return kSuccess;
  });
}

// --- peers: a single device has none ------------------------------------------------------------

int raddle_cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return call("cudaDeviceCanAccessPeer", [&](Context& c) {
    check_device(c, device);
    check_device(c, peer);
    required(can) = 0;
    return kSuccess;
  });
}

int raddle_cudaDeviceEnablePeerAccess(int, unsigned) {
  return call("cudaDeviceEnablePeerAccess",
              [](Context&) -> Error { throw Failure{kInvalidDevice}; });
}

int raddle_cudaDeviceDisablePeerAccess(int) {
  return call("cudaDeviceDisablePeerAccess",
              [](Context&) -> Error { throw Failure{kInvalidDevice}; });
}

int raddle_cudaDeviceGetP2PAttribute(int* value, int, int from, int to) {
  return call("cudaDeviceGetP2PAttribute", [&](Context& c) -> Error {
    check_device(c, from);
    check_device(c, to);
    required(value) = 0;
    throw Failure{kInvalidDevice};  // both are the same
  });
}

}  // extern "C"
