// Devices and contexts of the driver interface.
#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

#include "raddle/base/error.h"
#include "raddle/cudart/driver.h"
#include "raddle/cudart/properties.h"
#include "raddle/cudart/reset.h"

using namespace raddle;
using namespace raddle::cudart;

namespace raddle::cudart {

DriverContext& primary_context(Context& c) {
  if (c.primary == nullptr) c.primary = c.driver_contexts.make(0u, 1ull);
  return *c.primary;
}

DriverContext* current_context(Context& c) {
  ThreadState& thread = thread_state();
  if (thread.contexts.empty() && thread.used_runtime) thread.contexts = {&primary_context(c)};
  thread.used_runtime = false;
  if (thread.contexts.empty()) return nullptr;
  // Another thread may have destroyed it.
  return c.driver_contexts.has(thread.contexts.back()) ? thread.contexts.back() : nullptr;
}

}  // namespace raddle::cudart

namespace {

constexpr int kDeviceUuid = 256;  // where cudaDeviceProp has it; the name is at 0

void only_device(int device) {
  if (device != 0) throw Failure{kInvalidDevice};
}

std::vector<char> properties_of(Context& c) {
  constexpr int kVersionOfLayout = 13;
  std::vector<char> bytes(properties_bytes(kVersionOfLayout));
  write_properties(c.seen(), kVersionOfLayout, bytes.data());
  return bytes;
}

/// CUctx_flags: one way to wait at most, and settings without an effect here. Throws Failure.
void check_flags(unsigned flags) {
  constexpr unsigned kKnown = 0xff, kSchedule = 7;
  const unsigned schedule = flags & kSchedule;
  if ((flags & ~kKnown) != 0 || (schedule & (schedule - 1)) != 0) throw Failure{kInvalidValue};
}

Error create_context(Context& c, DriverContext** to, unsigned flags, int device) {
  only_device(device);
  check_flags(flags);
  primary_context(c);  // whose number is the first
  required(to) = c.driver_contexts.make(flags, ++c.last_context);
  current_context(c);  // what the runtime has made current lies below
  thread_state().contexts.push_back(*to);
  return kSuccess;
}

/// Which SMs a context may use is not modelled: all.
[[noreturn]] void refuse_part(Context& c) {
  c.refuse_unsupported("cuCtxCreate with a part of the SMs, or for graphics", kDriverNotSupported);
}

/// One of ours, or the current one where the program names none.
DriverContext& named_context(Context& c, DriverContext* context) {
  if (context == nullptr) context = current_context(c);
  if (context == nullptr || !c.driver_contexts.has(context)) throw Failure{kInvalidContext};
  return *context;
}

DriverContext& known_context(Context& c, DriverContext* context) {
  if (context == nullptr) throw Failure{kInvalidContext};
  return named_context(c, context);
}

}  // namespace

extern "C" {

int raddle_cuDeviceGet(int* device, int ordinal) {
  return driver("cuDeviceGet", kInitialized, [&](Context&) {
    only_device(ordinal);
    required(device) = 0;
    return kSuccess;
  });
}

int raddle_cuDeviceGetName(char* to, int bytes, int device) {
  return driver("cuDeviceGetName", kInitialized, [&](Context& c) {
    only_device(device);
    if (bytes <= 0) throw Failure{kInvalidValue};
    const std::string name = properties_of(c).data();
    const std::size_t length = std::min(name.size(), static_cast<std::size_t>(bytes) - 1);
    std::memcpy(&required(to), name.data(), length);
    to[length] = '\0';
    return kSuccess;
  });
}

int raddle_cuDeviceTotalMem_v2(std::size_t* bytes, int device) {
  return driver("cuDeviceTotalMem", kInitialized, [&](Context& c) {
    only_device(device);
    required(bytes) = c.device().memory_bytes();
    return kSuccess;
  });
}

int raddle_cuDeviceGetUuid(char* to, int device) {
  return driver("cuDeviceGetUuid", kInitialized, [&](Context& c) {
    only_device(device);
    std::memcpy(&required(to), properties_of(c).data() + kDeviceUuid, 16);
    return kSuccess;
  });
}

int raddle_cuDeviceComputeCapability(int* major, int* minor, int device) {
  return driver("cuDeviceComputeCapability", kInitialized, [&](Context& c) {
    only_device(device);
    const int capability = static_cast<int>(c.seen().device.compute_capability);
    required(major) = capability / 10;
    required(minor) = capability % 10;
    return kSuccess;
  });
}

// --- contexts -----------------------------------------------------------------------------------

int raddle_cuCtxCreate(DriverContext** to, unsigned flags, int device) {
  return driver("cuCtxCreate", kInitialized,
                [&](Context& c) { return create_context(c, to, flags, device); });
}
int raddle_cuCtxCreate_v3(DriverContext** to, const void*, int affinities, unsigned flags,
                          int device) {
  return driver("cuCtxCreate", kInitialized, [&](Context& c) {
    if (affinities != 0) refuse_part(c);
    return create_context(c, to, flags, device);
  });
}
int raddle_cuCtxCreate_v4(DriverContext** to, const void* parameters, unsigned flags, int device) {
  return driver("cuCtxCreate", kInitialized, [&](Context& c) {
    if (parameters != nullptr) {
      struct {
        const void* affinities;
        int count;
        const void* graphics;
      } asked{};
      std::memcpy(&asked, parameters, sizeof asked);
      if (asked.count != 0 || asked.graphics != nullptr) refuse_part(c);
    }
    return create_context(c, to, flags, device);
  });
}

/// Its memory and modules stay: they belong to the process here.
int raddle_cuCtxDestroy(DriverContext* context) {
  return driver("cuCtxDestroy", kInitialized, [&](Context& c) {
    DriverContext& gone = known_context(c, context);
    if (&gone == c.primary) throw Failure{kInvalidContext};
    c.device().synchronize();
    std::vector<DriverContext*>& stack = thread_state().contexts;
    if (!stack.empty() && stack.back() == &gone) stack.pop_back();
    c.driver_contexts.drop(&gone);
    return kSuccess;
  });
}

int raddle_cuCtxPushCurrent(DriverContext* context) {
  return driver("cuCtxPushCurrent", kInitialized, [&](Context& c) {
    DriverContext& pushed = known_context(c, context);
    current_context(c);
    thread_state().contexts.push_back(&pushed);
    return kSuccess;
  });
}

int raddle_cuCtxPopCurrent(DriverContext** to) {
  return driver("cuCtxPopCurrent", kCurrentContext, [&](Context&) {
    std::vector<DriverContext*>& stack = thread_state().contexts;
    RADDLE_ASSERT(!stack.empty());
    if (to != nullptr) *to = stack.back();
    stack.pop_back();
    return kSuccess;
  });
}

int raddle_cuCtxSetCurrent(DriverContext* context) {
  return driver("cuCtxSetCurrent", kInitialized, [&](Context& c) {
    DriverContext* const wanted = context == nullptr ? nullptr : &known_context(c, context);
    current_context(c);
    std::vector<DriverContext*>& stack = thread_state().contexts;
    if (!stack.empty()) stack.pop_back();
    if (wanted != nullptr) stack.push_back(wanted);
    return kSuccess;
  });
}

int raddle_cuCtxGetCurrent(DriverContext** to) {
  return driver("cuCtxGetCurrent", kInitialized, [&](Context& c) {
    required(to) = current_context(c);
    return kSuccess;
  });
}

int raddle_cuCtxGetDevice(int* device) {
  return driver("cuCtxGetDevice", kCurrentContext, [&](Context&) {
    required(device) = 0;
    return kSuccess;
  });
}
int raddle_cuCtxGetDevice_v2(int* device, DriverContext* context) {
  return driver("cuCtxGetDevice", kInitialized, [&](Context& c) {
    named_context(c, context);
    required(device) = 0;
    return kSuccess;
  });
}

int raddle_cuCtxSynchronize_v2(DriverContext* context) {
  return driver("cuCtxSynchronize", kInitialized, [&](Context& c) {
    named_context(c, context);
    return static_cast<Error>(raddle_cudaDeviceSynchronize());
  });
}

int raddle_cuCtxGetFlags(unsigned* flags) {
  return driver("cuCtxGetFlags", kCurrentContext, [&](Context& c) {
    required(flags) = current_context(c)->flags;
    return kSuccess;
  });
}

int raddle_cuCtxGetId(DriverContext* context, unsigned long long* id) {
  return driver("cuCtxGetId", kInitialized, [&](Context& c) {
    required(id) = named_context(c, context).id;
    return kSuccess;
  });
}

int raddle_cuCtxGetApiVersion(DriverContext* context, unsigned* version) {
  return driver("cuCtxGetApiVersion", kInitialized, [&](Context& c) {
    named_context(c, context);
    required(version) = 3020;  // of contexts: what drivers since CUDA 3.2 say
    return kSuccess;
  });
}

int raddle_cuStreamGetCtx(Stream* stream, DriverContext** to) {
  return driver("cuStreamGetCtx", kCurrentContext, [&](Context& c) {
    c.stream(stream);
    required(to) = current_context(c);
    return kSuccess;
  });
}

// --- the primary context ------------------------------------------------------------------------

int raddle_cuDevicePrimaryCtxRetain(DriverContext** to, int device) {
  return driver("cuDevicePrimaryCtxRetain", kInitialized, [&](Context& c) {
    only_device(device);
    required(to) = &primary_context(c);
    ++c.primary_users;
    return kSuccess;
  });
}

int raddle_cuDevicePrimaryCtxRelease(int device) {
  return driver("cuDevicePrimaryCtxRelease", kInitialized, [&](Context& c) {
    only_device(device);
    if (c.primary_users == 0) throw Failure{kInvalidContext};
    --c.primary_users;
    return kSuccess;
  });
}

int raddle_cuDevicePrimaryCtxReset(int device) {
  return driver("cuDevicePrimaryCtxReset", kInitialized, [&](Context& c) {
    only_device(device);
    reset(c);
    return kSuccess;
  });
}

int raddle_cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
  return driver("cuDevicePrimaryCtxGetState", kInitialized, [&](Context& c) {
    only_device(device);
    required(flags) = primary_context(c).flags;
    required(active) = c.primary_users != 0 || current_context(c) == c.primary ? 1 : 0;
    return kSuccess;
  });
}

int raddle_cuDevicePrimaryCtxSetFlags(int device, unsigned flags) {
  return driver("cuDevicePrimaryCtxSetFlags", kInitialized, [&](Context& c) {
    only_device(device);
    check_flags(flags);
    primary_context(c).flags = flags;
    return kSuccess;
  });
}

}  // extern "C"
