// The life of a handle, its modes, and what tells about the library.
#include "raddle/cusparse/handle.h"

#include <cstring>
#include <memory>

namespace raddle::cusparse {

namespace {
constexpr cuda_library::FailureStatuses<Status> kStatuses = {.success = kSuccess,
                                                             .no_device = kNotInitialized,
                                                             .wrong_machine = kArchMismatch,
                                                             .no_memory = kAllocFailed,
                                                             .execution = kExecutionFailed,
                                                             .internal_error = kInternalError};
}  // namespace

Status lacks(const std::string& what) {
  cuda_library::lacks(what, "CUSPARSE_STATUS_NOT_SUPPORTED");
  return kNotSupported;
}

Status guarded(const std::function<void()>& body) { return cuda_library::guarded(kStatuses, body); }
Status call(Handle* handle, const std::function<void(Handle&)>& body) {
  if (handle == nullptr) return kNotInitialized;
  return guarded([&] { body(*handle); });
}

std::size_t bytes_of(int type) {
  switch (type) {
    case kF32:
      return 4;
    case kF64:
    case kC32:
      return 8;
    case kC64:
      return 16;
    case kF16:
    case kBF16:
      return 2;
    default:
      return 0;
  }
}
bool is_complex(int type) { return type == kC32 || type == kC64; }

namespace {

constexpr int kC16 = 6, kCB16 = 15, kS8 = 3, kS32 = 10;  // cudaDataType_t, of what is not here

[[noreturn]] void refuse_type(int type, const std::string& what) {
  const bool known =
      bytes_of(type) != 0 || type == kC16 || type == kCB16 || type == kS8 || type == kS32;
  require(known, kNotSupported);
  throw Refusal{lacks(what + " with type " + std::to_string(type))};
}

}  // namespace

std::string letter_of(int type, const std::string& what) {
  switch (type) {
    case kF32:
      return "s";
    case kF64:
      return "d";
    case kC32:
      return "c";
    case kC64:
      return "z";
    default:
      refuse_type(type, what);
  }
}
std::string move_letter_of(int type, const std::string& what) {
  return type == kF16 || type == kBF16 ? "h" : letter_of(type, what);
}

Scale scale_of(const Handle& handle, const void* at, int type) {
  require(at != nullptr);
  if (handle.pointer_mode == kDevicePointers) return {.at = at, .real = 0, .imaginary = 0};
  Scale out{};
  float singles[2] = {};
  double doubles[2] = {};
  const std::size_t bytes = bytes_of(type);
  if (type == kF64 || type == kC64) {
    std::memcpy(doubles, at, bytes);
    out.real = doubles[0];
    out.imaginary = doubles[1];
  } else {
    require(type == kF32 || type == kC32, kNotSupported);
    std::memcpy(singles, at, bytes);
    out.real = singles[0];
    out.imaginary = singles[1];
  }
  return out;
}

}  // namespace raddle::cusparse

using namespace raddle::cusparse;

namespace {

struct StatusText {
  Status status;
  const char *name, *text;
};
constexpr StatusText kStatuses[] = {
    {kSuccess, "CUSPARSE_STATUS_SUCCESS", "success"},
    {kNotInitialized, "CUSPARSE_STATUS_NOT_INITIALIZED", "initialization error"},
    {kAllocFailed, "CUSPARSE_STATUS_ALLOC_FAILED", "out of memory"},
    {kInvalidValue, "CUSPARSE_STATUS_INVALID_VALUE", "invalid value"},
    {kArchMismatch, "CUSPARSE_STATUS_ARCH_MISMATCH", "architecture mismatch"},
    {kMappingError, "CUSPARSE_STATUS_MAPPING_ERROR", "texture memory error"},
    {kExecutionFailed, "CUSPARSE_STATUS_EXECUTION_FAILED", "kernel launch failure"},
    {kInternalError, "CUSPARSE_STATUS_INTERNAL_ERROR", "internal error"},
    {kMatrixTypeNotSupported, "CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED",
     "matrix type not supported"},
    {kZeroPivot, "CUSPARSE_STATUS_ZERO_PIVOT", "zero pivot"},
    {kNotSupported, "CUSPARSE_STATUS_NOT_SUPPORTED", "operation not supported"},
    {kInsufficientResources, "CUSPARSE_STATUS_INSUFFICIENT_RESOURCES", "insufficient resources"},
};
const StatusText* text_of(int status) {
  for (const StatusText& one : kStatuses)
    if (one.status == status) return &one;
  return nullptr;
}

constexpr int kMajor = 12, kMinor = 6, kPatch = 3;  // whose interface this is

}  // namespace

extern "C" {

int raddle_lacks(const char* function) { return lacks(function); }

int raddle_cusparseCreate(Handle** to) {
  return guarded([&] {
    given(to) = nullptr;
    *to = std::make_unique<Handle>().release();
  });
}
int raddle_cusparseDestroy(Handle* handle) {
  if (handle == nullptr) return kNotInitialized;
  delete handle;
  return kSuccess;
}

int raddle_cusparseSetStream(Handle* handle, Stream stream) {
  return call(handle, [&](Handle& h) { h.stream = stream; });
}
int raddle_cusparseGetStream(Handle* handle, Stream* to) {
  return call(handle, [&](Handle& h) { given(to) = h.stream; });
}
int raddle_cusparseSetPointerMode(Handle* handle, int mode) {
  return call(handle, [&](Handle& h) {
    require(mode == kHostPointers || mode == kDevicePointers);
    h.pointer_mode = static_cast<PointerMode>(mode);
  });
}
int raddle_cusparseGetPointerMode(Handle* handle, PointerMode* to) {
  return call(handle, [&](Handle& h) { given(to) = h.pointer_mode; });
}

int raddle_cusparseGetVersion(Handle* handle, int* to) {
  return call(handle, [&](Handle&) { given(to) = kMajor * 1000 + kMinor * 100 + kPatch; });
}
int raddle_cusparseGetProperty(int which, int* to) {
  constexpr int kProperties[] = {kMajor, kMinor, kPatch};
  if (to == nullptr || which < 0 || which > 2) return kInvalidValue;
  *to = kProperties[which];
  return kSuccess;
}
const char* raddle_cusparseGetErrorName(int status) {
  const StatusText* const found = text_of(status);
  return found != nullptr ? found->name : "CUSPARSE_STATUS_UNKNOWN";
}
const char* raddle_cusparseGetErrorString(int status) {
  const StatusText* const found = text_of(status);
  return found != nullptr ? found->text : "unknown status";
}

/// There is nothing to log: the run's own result tells of every kernel.
int raddle_cusparseLoggerSetCallback(void (*)(int, const char*, const char*)) { return kSuccess; }
int raddle_cusparseLoggerSetFile(void*) { return kSuccess; }
int raddle_cusparseLoggerOpenFile(const char* name) {
  return name == nullptr ? kInvalidValue : kSuccess;
}
int raddle_cusparseLoggerSetLevel(int level) {
  constexpr int kLevels = 5;
  return level < 0 || level > kLevels ? kInvalidValue : kSuccess;
}
int raddle_cusparseLoggerSetMask(int) { return kSuccess; }
int raddle_cusparseLoggerForceDisable() { return kSuccess; }

}  // extern "C"
