// Kernels that launch kernels (CUDA dynamic parallelism), for clang without a CUDA toolkit, beside
// cuda_lite.h: nvcc -rdc=true compiles the same kernels with <<<>>>. What nvcc makes of <<<>>> in a
// kernel are two calls of the device runtime: one that gives a buffer for the child's parameters,
// and the launch; so they are here.
#pragma once
#include "common/cuda_lite.h"

#ifdef __NVCC__

#define LAUNCH_CHILD(kernel, blocks, threads, stream, ...) \
  kernel<<<blocks, threads, 0, stream>>>(__VA_ARGS__)

#else

struct CUstream_st;
using cudaStream_t = CUstream_st*;
inline constexpr unsigned cudaStreamNonBlocking = 1;

struct CudaLiteDim3 {
  unsigned x, y, z;
};
extern "C" __device__ void* cudaGetParameterBufferV2(void* kernel, CudaLiteDim3 blocks,
                                                     CudaLiteDim3 threads, unsigned shared_bytes);
extern "C" __device__ int cudaLaunchDeviceV2(void* buffer, cudaStream_t stream);
extern "C" __device__ int cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
extern "C" __device__ int cudaStreamDestroy(cudaStream_t stream);

// Passed as nvcc does, word by word: clang would send the two sizes through local memory.
static __device__ __forceinline__ void* cuda_lite_buffer(void* kernel, unsigned blocks,
                                                         unsigned threads) {
  void* buffer;
  asm volatile(
      "{ .param .b64 kernel; .param .align 4 .b8 blocks[12]; .param .align 4 .b8 threads[12];"
      " .param .b32 shared; .param .b64 buffer;"
      " st.param.b64 [kernel], %2;"
      " st.param.b32 [blocks], %3; st.param.b32 [blocks+4], 1; st.param.b32 [blocks+8], 1;"
      " st.param.b32 [threads], %4; st.param.b32 [threads+4], 1; st.param.b32 [threads+8], 1;"
      " st.param.b32 [shared], 0;"
      " call.uni (buffer), %1, (kernel, blocks, threads, shared);"
      " ld.param.b64 %0, [buffer]; }"
      : "=l"(buffer)
      : "i"(cudaGetParameterBufferV2), "l"(kernel), "r"(blocks), "r"(threads)
      : "memory");
  return buffer;
}

/// Each argument at the next multiple of its size, as kernels have their parameters.
template <class... T>
__device__ __forceinline__ void cuda_lite_launch(void* kernel, unsigned blocks, unsigned threads,
                                                 cudaStream_t stream, T... arguments) {
  void* const buffer = cuda_lite_buffer(kernel, blocks, threads);
  if (buffer == nullptr) return;
  unsigned long at = 0;
  const auto put = [&](auto value) {
    at = (at + sizeof value - 1) / sizeof value * sizeof value;
    *reinterpret_cast<decltype(value)*>(static_cast<char*>(buffer) + at) = value;
    at += sizeof value;
  };
  (put(arguments), ...);
  cudaLaunchDeviceV2(buffer, stream);
}

// clang does not take the address of a kernel on the device; PTX does. Arguments must have the
// types of the kernel's parameters.
#define LAUNCH_CHILD(kernel, blocks, threads, stream, ...)                    \
  do {                                                                        \
    void* cuda_lite_kernel;                                                   \
    asm("mov.u64 %0, " #kernel ";" : "=l"(cuda_lite_kernel));                 \
    cuda_lite_launch(cuda_lite_kernel, blocks, threads, stream, __VA_ARGS__); \
  } while (false)

#endif
