// After cudaDeviceReset the device is as it was: variables, memory, handles, attributes, limits.
// With an argument: beside a context of the program's own.
#include "driver.h"

__device__ int changed = 5;
__device__ int fresh[1000];
__device__ int* where = &changed;
__constant__ int fixed = 3;
__managed__ int shared_with_host = 9;

__global__ void change(int value) {
  changed = fresh[5] = value;
  where = nullptr;
}
__global__ void read(int* to) {
  to[0] = changed;
  to[1] = fixed;
  to[2] = shared_with_host;
  to[3] = fresh[5];
  to[4] = where == nullptr ? -1 : *where;
}

namespace {

void check_variables() {
  int *to = nullptr, seen[5];
  HOLDS(cudaMalloc(&to, sizeof seen) == cudaSuccess);
  read<<<1, 1>>>(to);
  HOLDS(cudaMemcpy(seen, to, sizeof seen, cudaMemcpyDefault) == cudaSuccess);
  HOLDS(seen[0] == 5 && seen[1] == 3 && seen[2] == 9 && seen[3] == 0 && seen[4] == 5);
  HOLDS(shared_with_host == 9);
  HOLDS(cudaFree(to) == cudaSuccess);
}

void change_variables() {
  change<<<1, 1>>>(7);
  HOLDS(cudaDeviceSynchronize() == cudaSuccess);
  shared_with_host = 10;
  const int four = 4;
  HOLDS(cudaMemcpyToSymbol(fixed, &four, sizeof four) == cudaSuccess);
}

int max_dynamic_shared() {
  cudaFuncAttributes is{};
  HOLDS(cudaFuncGetAttributes(&is, read) == cudaSuccess);
  return is.maxDynamicSharedSizeBytes;
}

std::size_t stack_limit() {
  std::size_t bytes = 0;
  HOLDS(cudaDeviceGetLimit(&bytes, cudaLimitStackSize) == cudaSuccess);
  return bytes;
}

std::size_t free_memory() {
  std::size_t free = 0, total = 0;
  HOLDS(cudaMemGetInfo(&free, &total) == cudaSuccess);
  return free;
}

struct Held {
  void *plain = nullptr, *pinned = nullptr, *managed = nullptr, *ordered = nullptr;
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  cudaArray_t array = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  cudaMemPool_t pool = nullptr;
};

Held take_of_everything() {
  static char registered[4096];
  Held h;
  const cudaChannelFormatDesc bytes = cudaCreateChannelDesc<unsigned char>();
  cudaMalloc(&h.plain, 1000);
  cudaMallocHost(&h.pinned, 1000);
  cudaMallocManaged(&h.managed, 1000);
  cudaMallocAsync(&h.ordered, 1000, nullptr);
  cudaDeviceGetMemPool(&h.pool, 0);
  cudaStreamCreate(&h.stream);
  cudaEventCreate(&h.event);
  cudaEventRecord(h.event, h.stream);
  cudaMallocArray(&h.array, &bytes, 64, 64);
  cudaGraphCreate(&h.graph, 0);
  cudaGraphInstantiate(&h.exec, h.graph, 0);
  HOLDS(cudaHostRegister(registered, sizeof registered, 0) == cudaSuccess);
  void* mirror = nullptr;
  HOLDS(cudaHostGetDevicePointer(&mirror, registered, 0) == cudaSuccess);
  HOLDS(cudaStreamSynchronize(cudaStreamPerThread) == cudaSuccess);
  HOLDS(cudaGetLastError() == cudaSuccess);
  return h;
}

void nothing_is_left_of(const Held& h) {
  HOLDS(cudaFree(h.plain) == cudaErrorInvalidValue);
  HOLDS(cudaFreeHost(h.pinned) == cudaErrorInvalidValue);
  HOLDS(cudaFree(h.managed) == cudaErrorInvalidValue);
  HOLDS(cudaFree(h.ordered) == cudaErrorInvalidValue);
  HOLDS(cudaStreamSynchronize(h.stream) == cudaErrorInvalidResourceHandle);
  HOLDS(cudaEventQuery(h.event) == cudaErrorInvalidResourceHandle);
  HOLDS(cudaFreeArray(h.array) == cudaErrorInvalidResourceHandle);
  HOLDS(cudaGraphLaunch(h.exec, nullptr) == cudaErrorInvalidResourceHandle);
  HOLDS(cudaMemPoolTrimTo(h.pool, 0) == cudaErrorInvalidResourceHandle);
  HOLDS(cudaStreamSynchronize(cudaStreamPerThread) == cudaSuccess);
}

void everything_is_as_it_was() {
  check_variables();
  const std::size_t free = free_memory(), stack = stack_limit();
  const int shared = max_dynamic_shared();
  change_variables();
  cudaDeviceSetLimit(cudaLimitStackSize, 5000);
  HOLDS(cudaFuncSetAttribute(read, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000) ==
        cudaSuccess);
  const Held held = take_of_everything();
  HOLDS(free_memory() < free);
  HOLDS(cudaDeviceReset() == cudaSuccess);
  HOLDS(free_memory() == free);
  nothing_is_left_of(held);
  HOLDS(stack_limit() == stack && max_dynamic_shared() == shared);
  check_variables();
}

void modules_of_the_driver() {
  CUmodule module = nullptr;
  CUlibrary library = nullptr;
  CUfunction function = nullptr;
  CUkernel kernel = nullptr;
  CUdeviceptr bias = 0;
  std::size_t bytes = 0;
  int value = 8;
  OK(cuModuleLoadData(&module, kAffine));
  OK(cuLibraryLoadData(&library, kAffine, nullptr, nullptr, 0, nullptr, nullptr, 0));
  OK(cuLibraryGetGlobal(&bias, &bytes, library, "bias"));
  OK(cuMemcpyHtoD(bias, &value, sizeof value));
  change_variables();
  OK(cuDevicePrimaryCtxReset(0));
  GIVES(CUDA_ERROR_INVALID_HANDLE, cuModuleGetFunction(&function, module, "affine"));
  OK(cuLibraryGetKernel(&kernel, library, "affine"));
  OK(cuLibraryGetGlobal(&bias, &bytes, library, "bias"));
  OK(cuMemcpyDtoH(&value, bias, sizeof value));
  HOLDS(value == 0);
  check_variables();
}

}  // namespace

int main(int count, char**) {
  check_variables();
  if (count > 1) {
    CUcontext own = nullptr;
    OK(cuCtxCreate(&own, nullptr, 0, 0));
    HOLDS(cudaDeviceReset() == cudaErrorNotSupported);
    return 0;
  }
  everything_is_as_it_was();
  modules_of_the_driver();
  void* large = nullptr;
  for (int i = 0; i < 8; ++i) {  // more in all than the device has
    HOLDS(cudaMalloc(&large, std::size_t{6} << 30) == cudaSuccess);
    HOLDS(cudaDeviceReset() == cudaSuccess);
  }
  return 0;
}
