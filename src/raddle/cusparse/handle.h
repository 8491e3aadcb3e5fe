// What cusparseHandle_t leads to, and what all calls share.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "raddle/cuda_library/device.h"
#include "raddle/cuda_library/guarded.h"
#include "raddle/cusparse/images.h"
#include "raddle/cusparse/kernels/arguments.h"

namespace raddle::cusparse {

using cuda_library::clear;
using cuda_library::copy;
using cuda_library::Device;
using cuda_library::Dim3;
using cuda_library::Stream;
using cuda_library::wait;

/// cusparseStatus_t.
enum Status : int {
  kSuccess = 0,
  kNotInitialized = 1,
  kAllocFailed = 2,
  kInvalidValue = 3,
  kArchMismatch = 4,
  kMappingError = 5,
  kExecutionFailed = 6,
  kInternalError = 7,
  kMatrixTypeNotSupported = 8,
  kZeroPivot = 9,
  kNotSupported = 10,
  kInsufficientResources = 11,
};

using Refusal = cuda_library::Refusal<Status>;

/// Tells the user and lets the run fail. Returns kNotSupported.
Status lacks(const std::string& what);

enum PointerMode : int { kHostPointers = 0, kDevicePointers = 1 };
/// cusparseOperation_t.
enum Operation : int { kPlain = 0, kTransposed = 1, kConjugateTransposed = 2 };
inline bool is_operation(int op) { return op >= kPlain && op <= kConjugateTransposed; }

struct Handle {
  Device device{image};
  Stream stream = nullptr;
  PointerMode pointer_mode = kHostPointers;
};

/// Runs the body of a call; what it throws becomes its status.
Status guarded(const std::function<void()>& body);
/// The same with a handle; without one kNotInitialized.
Status call(Handle* handle, const std::function<void(Handle&)>& body);

inline void require(bool condition, Status otherwise = kInvalidValue) {
  if (!condition) throw Refusal{otherwise};
}
/// A pointer that must not be null.
template <class T>
T& given(T* at) {
  require(at != nullptr);
  return *at;
}

/// Of the four types that everything is there for: s, d, c, z. Throws Refusal for others, by name
/// where NVIDIA's `what` has them.
std::string letter_of(int type, const std::string& what);
/// Also h for half and bfloat16, of which bits are moved.
std::string move_letter_of(int type, const std::string& what);
/// Bytes of a number; 0 of types that there are not.
std::size_t bytes_of(int type);
bool is_complex(int type);

/// alpha, beta, c or s of a call, of the compute type. Throws Refusal when there is none.
Scale scale_of(const Handle& handle, const void* at, int type);

inline constexpr std::int64_t kMaxIndex32 = 0x7fffffff;

/// Blocks for so many threads.
inline unsigned blocks_for(std::int64_t threads, int of_block = kThreads) {
  return static_cast<unsigned>((threads - 1) / of_block + 1);
}

/// Launches a kernel in the handle's stream with these parameters.
template <class... Parameters>
void launch(Handle& h, const char* module, const std::string& kernel, Dim3 grid, int threads,
            Parameters... parameters) {
  void* arguments[] = {&parameters...};
  h.device.launch(module, kernel, grid, static_cast<unsigned>(threads), arguments, h.stream);
}

/// Divides a caller's buffer, or only adds up how large it must be.
class Buffer {
 public:
  explicit Buffer(void* at = nullptr) : at_(static_cast<char*>(at)) {}
  template <class T>
  T* take(std::int64_t count) {
    return static_cast<T*>(take_bytes(count * static_cast<std::int64_t>(sizeof(T))));
  }
  void* take_bytes(std::int64_t bytes) {
    constexpr std::size_t kApart = 256;  // as cudaMalloc aligns
    void* const out = at_ == nullptr ? nullptr : at_ + used_;
    used_ += (static_cast<std::size_t>(bytes) + kApart - 1) / kApart * kApart;
    return out;
  }
  std::size_t bytes() const { return used_; }

 private:
  char* at_;
  std::size_t used_ = 0;
};

}  // namespace raddle::cusparse
