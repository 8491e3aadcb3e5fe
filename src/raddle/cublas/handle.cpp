// The life of a handle, its modes, and what tells about the library.
#include "raddle/cublas/handle.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

namespace raddle::cublas {

namespace {
constexpr FailureStatuses<Status> kStatuses = {.success = kSuccess,
                                               .no_device = kNotInitialized,
                                               .wrong_machine = kArchMismatch,
                                               .no_memory = kAllocFailed,
                                               .execution = kExecutionFailed,
                                               .internal_error = kInternalError};
}  // namespace

Status lacks(const std::string& what) {
  cuda_library::lacks(what, "CUBLAS_STATUS_NOT_SUPPORTED");
  return kNotSupported;
}

Status call(Handle* handle, const std::function<void(Handle&)>& body) {
  if (handle == nullptr) return kNotInitialized;
  return guarded(kStatuses, [&] { body(*handle); });
}

namespace {

/// IEEE 754 binary16.
double half_to_double(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  double out =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  if (exponent == 31)
    out = fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                        : std::numeric_limits<double>::infinity();
  return (bits & 0x8000) != 0 ? -out : out;
}

double number_at(const void* at, DataType type) {
  const auto as = [&]<class T>(T value) {
    std::memcpy(&value, at, sizeof value);
    return value;
  };
  switch (type) {
    case kF64:
      return as(double{});
    case kS32:
      return as(std::int32_t{});
    case kF16:
      return half_to_double(as(std::uint16_t{}));
    default:
      return as(float{});
  }
}

}  // namespace

Scale scale_of(PointerMode mode, const void* at, DataType type) {
  require(at != nullptr);
  if (mode == kDevicePointers) return {.at = at, .value = 0, .type = type};
  return {.at = nullptr, .value = number_at(at, type), .type = type};
}

Vector vector_of(const void* at, std::int64_t n, std::int64_t step, std::size_t bytes) {
  const std::int64_t first = step < 0 ? (1 - n) * step : 0;
  return {.at = const_cast<char*>(static_cast<const char*>(at)) +
                first * static_cast<std::int64_t>(bytes),
          .step = step};
}

}  // namespace raddle::cublas

using namespace raddle::cublas;

namespace {

struct StatusText {
  Status status;
  const char *name, *text;
};
constexpr StatusText kStatusTexts[] = {
    {kSuccess, "CUBLAS_STATUS_SUCCESS", "success"},
    {kNotInitialized, "CUBLAS_STATUS_NOT_INITIALIZED", "the library was not initialized"},
    {kAllocFailed, "CUBLAS_STATUS_ALLOC_FAILED", "the resource allocation failed"},
    {kInvalidValue, "CUBLAS_STATUS_INVALID_VALUE",
     "an unsupported value or parameter was passed to the function"},
    {kArchMismatch, "CUBLAS_STATUS_ARCH_MISMATCH",
     "the requested functionality requires a feature absent from the device architecture"},
    {kMappingError, "CUBLAS_STATUS_MAPPING_ERROR", "an access to GPU memory space failed"},
    {kExecutionFailed, "CUBLAS_STATUS_EXECUTION_FAILED", "the GPU program failed to execute"},
    {kInternalError, "CUBLAS_STATUS_INTERNAL_ERROR", "an internal operation failed"},
    {kNotSupported, "CUBLAS_STATUS_NOT_SUPPORTED", "the functionality is not supported"},
    {kLicenseError, "CUBLAS_STATUS_LICENSE_ERROR", "the license check failed"},
};
const StatusText* text_of(int status) {
  for (const StatusText& one : kStatusTexts)
    if (one.status == status) return &one;
  return nullptr;
}

constexpr int kMajor = 13, kMinor = 1, kPatch = 0;  // whose interface this is

template <class T>
int get(Handle* handle, T* to, T Handle::*member) {
  return call(handle, [&](Handle& h) {
    require(to != nullptr);
    *to = h.*member;
  });
}

}  // namespace

extern "C" {

int raddle_lacks(const char* function) { return lacks(function); }

int raddle_cublasCreate_v2(Handle** to) {
  if (to == nullptr) return kInvalidValue;
  *to = nullptr;
  return guarded(kStatuses, [&] { *to = std::make_unique<Handle>().release(); });
}

int raddle_cublasDestroy_v2(Handle* handle) {
  if (handle == nullptr) return kNotInitialized;
  delete handle;
  return kSuccess;
}

int raddle_cublasSetStream_v2(Handle* handle, Stream stream) {
  return call(handle, [&](Handle& h) { h.stream = stream; });
}
int raddle_cublasGetStream_v2(Handle* handle, Stream* to) {
  return get(handle, to, &Handle::stream);
}

/// Kernels bring what they need: a workspace is taken and left alone.
int raddle_cublasSetWorkspace_v2(Handle* handle, void* at, std::size_t) {
  constexpr std::uintptr_t kAlignment = 256;
  return call(handle,
              [&](Handle&) { require(reinterpret_cast<std::uintptr_t>(at) % kAlignment == 0); });
}

int raddle_cublasSetPointerMode_v2(Handle* handle, int mode) {
  return call(handle, [&](Handle& h) {
    require(mode == kHostPointers || mode == kDevicePointers);
    h.pointer_mode = static_cast<PointerMode>(mode);
  });
}
int raddle_cublasGetPointerMode_v2(Handle* handle, PointerMode* to) {
  return get(handle, to, &Handle::pointer_mode);
}

int raddle_cublasSetAtomicsMode(Handle* handle, int mode) {
  return call(handle, [&](Handle& h) {
    require(mode == 0 || mode == 1);
    h.atomics_mode = mode;
  });
}
int raddle_cublasGetAtomicsMode(Handle* handle, int* to) {
  return get(handle, to, &Handle::atomics_mode);
}

int raddle_cublasSetMathMode(Handle* handle, int mode) {
  return call(handle, [&](Handle& h) {
    const int plain = mode & ~kDisallowReduced;
    require(mode >= 0 && (plain <= 4 || plain == kEmulatedDouble));
    h.math_mode = mode;
  });
}
int raddle_cublasGetMathMode(Handle* handle, int* to) {
  return get(handle, to, &Handle::math_mode);
}

int raddle_cublasSetSmCountTarget(Handle* handle, int count) {
  return call(handle, [&](Handle& h) {
    require(count >= 0 && count <= h.device.multiprocessors());
    h.multiprocessor_target = count;
  });
}
int raddle_cublasGetSmCountTarget(Handle* handle, int* to) {
  return get(handle, to, &Handle::multiprocessor_target);
}

int raddle_cublasGetVersion_v2(Handle*, int* to) {
  if (to == nullptr) return kInvalidValue;
  *to = kMajor * 10000 + kMinor * 100 + kPatch;
  return kSuccess;
}
int raddle_cublasGetProperty(int which, int* to) {
  constexpr int kProperties[] = {kMajor, kMinor, kPatch};
  if (to == nullptr || which < 0 || which > 2) return kInvalidValue;
  *to = kProperties[which];
  return kSuccess;
}
std::size_t raddle_cublasGetCudartVersion() { return kMajor * 1000; }

const char* raddle_cublasGetStatusName(int status) {
  const StatusText* const found = text_of(status);
  return found != nullptr ? found->name : "CUBLAS_STATUS_UNKNOWN";
}
const char* raddle_cublasGetStatusString(int status) {
  const StatusText* const found = text_of(status);
  return found != nullptr ? found->text : "unknown status";
}

/// There is nothing to log: the run's own result tells of every kernel.
int raddle_cublasLoggerConfigure(int, int, int, const char*) { return kSuccess; }
int raddle_cublasSetLoggerCallback(void (*)(const char*)) { return kSuccess; }
int raddle_cublasGetLoggerCallback(void (**to)(const char*)) {
  if (to == nullptr) return kInvalidValue;
  *to = nullptr;
  return kSuccess;
}

}  // extern "C"
