// What cublasHandle_t leads to, and what all calls share.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "raddle/cublas/images.h"
#include "raddle/cublas/kernels/arguments.h"
#include "raddle/cuda_library/device.h"
#include "raddle/cuda_library/guarded.h"

namespace raddle::cublas {

using cuda_library::clear;
using cuda_library::copy;
using cuda_library::copy_lines;
using cuda_library::Device;
using cuda_library::FailureStatuses;
using cuda_library::guarded;
using cuda_library::Stream;
using cuda_library::wait;

/// cublasStatus_t.
enum Status : int {
  kSuccess = 0,
  kNotInitialized = 1,
  kAllocFailed = 3,
  kInvalidValue = 7,
  kArchMismatch = 8,
  kMappingError = 11,
  kExecutionFailed = 13,
  kInternalError = 14,
  kNotSupported = 15,
  kLicenseError = 16,
};

using Refusal = cuda_library::Refusal<Status>;

/// Tells the user and lets the run fail. Returns kNotSupported.
Status lacks(const std::string& what);

enum PointerMode : int { kHostPointers = 0, kDevicePointers = 1 };

/// cublasMath_t: one of these, and flags above.
enum MathMode : int {
  kDefaultMath = 0,
  kTensorMath = 1,
  kPedanticMath = 2,
  kTf32Math = 3,
};
inline constexpr int kMathModes = 15;        ///< without the flags
inline constexpr int kDisallowReduced = 16;  ///< the only flag
inline constexpr int kEmulatedDouble = 8;    ///< the last mode

struct Handle {
  Device device{image};
  Stream stream = nullptr;
  PointerMode pointer_mode = kHostPointers;
  int math_mode = kDefaultMath;
  int atomics_mode = 0;
  int multiprocessor_target = 0;

  bool uses_tf32() const {
    const int mode = math_mode & kMathModes;
    return mode == kTf32Math || mode == kTensorMath;
  }
  bool is_pedantic() const { return (math_mode & kMathModes) == kPedanticMath; }
};

/// Runs the body of a call; what it throws becomes its status. Null handles are refused.
Status call(Handle* handle, const std::function<void(Handle&)>& body);

template <class T>
constexpr DataType type_of();
template <>
constexpr DataType type_of<float>() {
  return kF32;
}
template <>
constexpr DataType type_of<double>() {
  return kF64;
}
template <>
constexpr DataType type_of<std::int32_t>() {
  return kS32;
}

/// alpha, beta, c or s of a call. Throws Refusal when there is none.
Scale scale_of(PointerMode mode, const void* at, DataType type);
template <class T>
Scale scale_of(const Handle& handle, const T* at) {
  return scale_of(handle.pointer_mode, at, type_of<T>());
}

/// The vector of n elements that starts at its other end when `step` is negative.
Vector vector_of(const void* at, std::int64_t n, std::int64_t step, std::size_t bytes);

inline void require(bool condition, Status otherwise = kInvalidValue) {
  if (!condition) throw Refusal{otherwise};
}

}  // namespace raddle::cublas
