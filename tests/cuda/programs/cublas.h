// What programs that test cuBLAS share: checks, numbers, and arrays on host and device.
#pragma once
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

inline int failures = 0;

inline void check(bool good, const std::string& what) {
  if (good) return;
  std::printf("WRONG %s\n", what.c_str());
  ++failures;
}
inline void status(cublasStatus_t got, cublasStatus_t want, const std::string& what) {
  check(got == want, what + ": " + cublasGetStatusName(got) + ", not " + cublasGetStatusName(want));
}
inline void good(cublasStatus_t got, const std::string& what) {
  status(got, CUBLAS_STATUS_SUCCESS, what);
}

struct Random {
  std::uint32_t state = 12345;
  int next(int below) {
    state = state * 1664525u + 1013904223u;
    return static_cast<int>((state >> 8) % static_cast<unsigned>(below));
  }
  double number() { return next(4001) / 2000.0 - 1; }
};

inline double as_double(float x) { return x; }
inline double as_double(double x) { return x; }
inline double as_double(__half x) { return __half2float(x); }
inline double as_double(__nv_bfloat16 x) { return __bfloat162float(x); }
inline double as_double(std::int8_t x) { return x; }
inline double as_double(std::int32_t x) { return x; }
template <class T>
T from_double(double x) {
  if constexpr (std::is_same_v<T, __half>) return __float2half(static_cast<float>(x));
  else if constexpr (std::is_same_v<T, __nv_bfloat16>)
    return __float2bfloat16(static_cast<float>(x));
  else if constexpr (std::is_integral_v<T>) return static_cast<T>(x * 100);
  else return static_cast<T>(x);
}

/// The same on host and device.
template <class T>
struct Array {
  std::vector<T> host;
  T* device = nullptr;
  Array(std::size_t n, Random& random) : host(n) {
    for (T& one : host) one = from_double<T>(random.number());
    cudaMalloc(&device, (n + 1) * sizeof(T));
    up();
  }
  ~Array() { cudaFree(device); }
  Array(const Array&) = delete;
  void up() { cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice); }
  std::vector<T> down() const {
    std::vector<T> out(host.size());
    cudaMemcpy(out.data(), device, out.size() * sizeof(T), cudaMemcpyDeviceToHost);
    return out;
  }
};

/// A number in device memory, for CUBLAS_POINTER_MODE_DEVICE.
template <class T>
struct OnDevice {
  T* at = nullptr;
  explicit OnDevice(T value) {
    cudaMalloc(&at, sizeof(T));
    cudaMemcpy(at, &value, sizeof(T), cudaMemcpyHostToDevice);
  }
  ~OnDevice() { cudaFree(at); }
  OnDevice(const OnDevice&) = delete;
  T value() const {
    T out;
    cudaMemcpy(&out, at, sizeof(T), cudaMemcpyDeviceToHost);
    return out;
  }
};

inline int finish() {
  std::printf(failures == 0 ? "PASS\n" : "FAIL\n");
  return failures == 0 ? 0 : 1;
}
