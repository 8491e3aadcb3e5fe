// Calls of the driver interface, a family after the other, alone and beside the runtime.
#include <cuda_runtime.h>

#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "driver.h"

namespace {

constexpr unsigned kCount = 1000, kBlock = 128, kGrid = (kCount + kBlock - 1) / kBlock;

__global__ void add_one(unsigned* data, unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) data[i] += 1;
}

struct Data {
  CUdeviceptr to = 0, from = 0;
  std::vector<unsigned> host;
  Data() : host(kCount) {
    for (unsigned i = 0; i < kCount; ++i) host[i] = 3 * i + 1;
    OK(cuMemAlloc(&to, kCount * 4));
    OK(cuMemAlloc(&from, kCount * 4));
    OK(cuMemsetD32(to, 0xdeadbeef, kCount));
    OK(cuMemcpyHtoD(from, host.data(), kCount * 4));
  }
  ~Data() {
    OK(cuMemFree(to));
    OK(cuMemFree(from));
  }
  void check(unsigned factor, unsigned bias) const {
    std::vector<unsigned> got(kCount);
    OK(cuMemcpyDtoH(got.data(), to, kCount * 4));
    for (unsigned i = 0; i < kCount; ++i) HOLDS(got[i] == host[i] * factor + bias);
  }
};

void before_init() {
  int count = 0;
  GIVES(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGetCount(&count));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuInit(1));
  OK(cuInit(0));
  CUcontext context = nullptr;
  OK(cuCtxGetCurrent(&context));
  HOLDS(context == nullptr);
  CUdeviceptr memory = 0;
  GIVES(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc(&memory, 4));
}

void devices() {
  int count = 0, major = 0, minor = 0, version = 0, warp = 0;
  OK(cuDeviceGetCount(&count));
  HOLDS(count == 1);
  CUdevice device = -1;
  OK(cuDeviceGet(&device, 0));
  GIVES(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&device, 1));
  char name[8];
  OK(cuDeviceGetName(name, sizeof name, device));
  HOLDS(std::string(name) == "Raddle ");
  OK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
  OK(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device));
  OK(cuDeviceGetAttribute(&warp, CU_DEVICE_ATTRIBUTE_WARP_SIZE, device));
  HOLDS(major == 7 && minor == 0 && warp == 32);
  OK(cuDriverGetVersion(&version));
  HOLDS(version == 13000);
  size_t bytes = 0;
  OK(cuDeviceTotalMem(&bytes, device));
  HOLDS(bytes == size_t{16} << 30);
  CUuuid uuid;
  OK(cuDeviceGetUuid(&uuid, device));
  const char *text = nullptr, *error = nullptr;
  OK(cuGetErrorName(CUDA_ERROR_OUT_OF_MEMORY, &error));
  OK(cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text));
  HOLDS(std::string(error) == "CUDA_ERROR_OUT_OF_MEMORY" && std::string(text) == "out of memory");
  GIVES(CUDA_ERROR_INVALID_VALUE, cuGetErrorName(static_cast<CUresult>(12345), &error));
}

void contexts() {
  CUcontext own = nullptr, primary = nullptr, current = nullptr, popped = nullptr;
  OK(cuCtxCreate(&own, nullptr, CU_CTX_SCHED_SPIN, 0));
  OK(cuCtxGetCurrent(&current));
  HOLDS(current == own);
  unsigned flags = 0;
  int active = 1;
  OK(cuCtxGetFlags(&flags));
  HOLDS(flags == CU_CTX_SCHED_SPIN);
  OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
  HOLDS(active == 0);
  OK(cuDevicePrimaryCtxRetain(&primary, 0));
  OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
  HOLDS(active == 1 && primary != own);
  OK(cuCtxPushCurrent(primary));
  OK(cuCtxPopCurrent(&popped));
  OK(cuCtxGetCurrent(&current));
  HOLDS(popped == primary && current == own);
  std::thread([&] {  // every thread has a stack of its own
    CUcontext none = own;
    OK(cuCtxGetCurrent(&none));
    HOLDS(none == nullptr);
  })
      .join();
  OK(cuCtxDestroy(own));
  OK(cuCtxGetCurrent(&current));
  HOLDS(current == nullptr);
  GIVES(CUDA_ERROR_INVALID_CONTEXT, cuCtxSetCurrent(own));
  GIVES(CUDA_ERROR_INVALID_CONTEXT, cuCtxSynchronize());
  OK(cuCtxSetCurrent(primary));
  CUdevice device = -1;
  OK(cuCtxGetDevice(&device));
  HOLDS(device == 0);
  OK(cuCtxSynchronize());
}

void launches(CUmodule module) {
  CUfunction affine = nullptr;
  OK(cuModuleGetFunction(&affine, module, "affine"));
  GIVES(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&affine, module, "no_such"));
  OK(cuModuleGetFunction(&affine, module, "affine"));
  CUdeviceptr bias = 0;
  size_t bytes = 0;
  OK(cuModuleGetGlobal(&bias, &bytes, module, "bias"));
  HOLDS(bytes == 4);
  OK(cuMemsetD32(bias, 7, 1));

  Data by_pointers;
  unsigned factor = 5, count = kCount;
  void* arguments[] = {&by_pointers.to, &by_pointers.from, &factor, &count};
  OK(cuLaunchKernel(affine, kGrid, 1, 1, kBlock, 1, 1, 0, nullptr, arguments, nullptr));
  by_pointers.check(5, 7);

  Data by_buffer;
  struct {
    CUdeviceptr to, from;
    unsigned factor, count;
  } packed = {by_buffer.to, by_buffer.from, 2, kCount};
  size_t size = sizeof packed;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   CU_LAUNCH_PARAM_END};
  OK(cuLaunchKernel(affine, kGrid, 1, 1, kBlock, 1, 1, 0, nullptr, nullptr, extra));
  by_buffer.check(2, 7);
  size = 8;
  GIVES(CUDA_ERROR_INVALID_VALUE,
        cuLaunchKernel(affine, kGrid, 1, 1, kBlock, 1, 1, 0, nullptr, nullptr, extra));

  Data by_configuration;
  CUlaunchConfig launch{};
  launch.gridDimX = kGrid, launch.blockDimX = kBlock;
  launch.gridDimY = launch.gridDimZ = launch.blockDimY = launch.blockDimZ = 1;
  arguments[0] = &by_configuration.to, arguments[1] = &by_configuration.from;
  OK(cuLaunchKernelEx(&launch, affine, arguments, nullptr));
  by_configuration.check(5, 7);
  GIVES(CUDA_ERROR_INVALID_VALUE,
        cuLaunchKernel(affine, 0, 1, 1, kBlock, 1, 1, 0, nullptr, arguments, nullptr));
  GIVES(CUDA_ERROR_INVALID_HANDLE,
        cuLaunchKernel(nullptr, 1, 1, 1, kBlock, 1, 1, 0, nullptr, arguments, nullptr));
}

void functions(CUmodule module) {
  CUfunction affine = nullptr;
  OK(cuModuleGetFunction(&affine, module, "affine"));
  int value = -1, grid = 0, block = 0, blocks = 0;
  OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, affine));
  HOLDS(value == 1024);
  OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_PTX_VERSION, affine));
  HOLDS(value == 70);
  OK(cuFuncSetAttribute(affine, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 65536));
  OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, affine));
  HOLDS(value == 65536);
  OK(cuFuncSetCacheConfig(affine, CU_FUNC_CACHE_PREFER_L1));
  OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, affine, 256, 0));
  HOLDS(blocks == 8);
  OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, affine, nullptr, 0, 0));
  HOLDS(block == 1024 && grid == 160);
  CUmodule owner = nullptr;
  OK(cuFuncGetModule(&owner, affine));
  HOLDS(owner == module);
}

void libraries() {
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  CUfunction function = nullptr;
  OK(cuLibraryLoadData(&library, kAffine, nullptr, nullptr, 0, nullptr, nullptr, 0));
  OK(cuLibraryGetKernel(&kernel, library, "affine"));
  OK(cuKernelGetFunction(&function, kernel));
  Data data;
  unsigned factor = 4, count = kCount;
  void* arguments[] = {&data.to, &data.from, &factor, &count};
  OK(cuLaunchKernel(function, kGrid, 1, 1, kBlock, 1, 1, 0, nullptr, arguments, nullptr));
  data.check(4, 0);  // its `bias` is its own
  OK(cuLibraryUnload(library));
  GIVES(CUDA_ERROR_INVALID_HANDLE,
        cuLaunchKernel(function, kGrid, 1, 1, kBlock, 1, 1, 0, nullptr, arguments, nullptr));
  GIVES(CUDA_ERROR_INVALID_HANDLE, cuLibraryGetKernel(&kernel, library, "affine"));
}

void linker() {
  CUlinkState state = nullptr;
  void* image = nullptr;
  size_t bytes = 0;
  OK(cuLinkCreate(0, nullptr, nullptr, &state));
  OK(cuLinkAddData(state, CU_JIT_INPUT_PTX, const_cast<char*>(kAffine), std::strlen(kAffine) + 1,
                   "affine.ptx", 0, nullptr, nullptr));
  OK(cuLinkComplete(state, &image, &bytes));
  const std::vector<char> kept(static_cast<char*>(image), static_cast<char*>(image) + bytes);
  OK(cuLinkDestroy(state));
  CUmodule module = nullptr;
  OK(cuModuleLoadData(&module, kept.data()));
  launches(module);
  OK(cuModuleUnload(module));
}

void memory() {
  CUdeviceptr rows = 0, managed = 0, base = 0;
  size_t pitch = 0, size = 0, free_bytes = 0, total = 0;
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAlloc(&rows, 0));
  OK(cuMemAllocPitch(&rows, &pitch, 100, 8, 4));
  HOLDS(pitch == 512);
  OK(cuMemsetD2D16(rows, pitch, 0x1234, 50, 8));
  std::vector<unsigned short> host(8 * 50);
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE, copy.srcDevice = rows, copy.srcPitch = pitch;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST, copy.dstHost = host.data(), copy.dstPitch = 100;
  copy.WidthInBytes = 100, copy.Height = 8;
  OK(cuMemcpy2D(&copy));
  for (const unsigned short value : host) HOLDS(value == 0x1234);
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(rows + 2, 0, 1));
  OK(cuMemGetAddressRange(&base, &size, rows + 700));
  HOLDS(base == rows && size == 8 * 512);
  OK(cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL));
  OK(cuMemsetD8(managed, 9, 64));
  OK(cuCtxSynchronize());
  HOLDS(reinterpret_cast<unsigned char*>(managed)[63] == 9);
  unsigned type = 0;
  int is_managed = 0, ordinal = -1;
  CUpointer_attribute asked[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                 CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
  void* to[] = {&type, &is_managed, &ordinal};
  OK(cuPointerGetAttributes(3, asked, to, managed));
  HOLDS(type == CU_MEMORYTYPE_DEVICE && is_managed == 1 && ordinal == 0);
  CUdeviceptr range = 0;
  OK(cuPointerGetAttribute(&range, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, rows + 5));
  HOLDS(range == rows);
  const auto on_stack = reinterpret_cast<CUdeviceptr>(&type);
  GIVES(CUDA_ERROR_INVALID_VALUE,
        cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, on_stack));
  void* page_locked = nullptr;
  OK(cuMemHostAlloc(&page_locked, 256, 0));
  OK(cuMemcpyHtoD(managed, page_locked, 64));
  OK(cuMemFreeHost(page_locked));
  OK(cuMemGetInfo(&free_bytes, &total));
  HOLDS(free_bytes < total);
  OK(cuMemFree(managed));
  OK(cuMemFree(rows));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFree(rows));
  GIVES(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&rows, size_t{1} << 40));
}

void streams(CUmodule module) {
  CUfunction affine = nullptr;
  OK(cuModuleGetFunction(&affine, module, "affine"));
  CUstream stream = nullptr, other = nullptr;
  CUevent begin = nullptr, end = nullptr;
  OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  OK(cuStreamCreateWithPriority(&other, CU_STREAM_DEFAULT, -1));
  OK(cuEventCreate(&begin, CU_EVENT_DEFAULT));
  OK(cuEventCreate(&end, CU_EVENT_DEFAULT));
  Data data;
  unsigned factor = 3, count = kCount;
  void* arguments[] = {&data.to, &data.from, &factor, &count};
  OK(cuMemcpyHtoDAsync(data.from, data.host.data(), kCount * 4, stream));
  OK(cuEventRecord(begin, stream));
  OK(cuLaunchKernel(affine, kGrid, 1, 1, kBlock, 1, 1, 0, stream, arguments, nullptr));
  OK(cuEventRecord(end, stream));
  OK(cuStreamWaitEvent(other, end, 0));
  bool called = false;
  OK(cuLaunchHostFunc(
      other, [](void* flag) { *static_cast<bool*>(flag) = true; }, &called));
  OK(cuStreamSynchronize(other));
  OK(cuStreamQuery(stream));
  float ms = -1;
  OK(cuEventElapsedTime(&ms, begin, end));
  HOLDS(called && ms > 0);
  data.check(3, 7);
  OK(cuEventDestroy(begin));
  GIVES(CUDA_ERROR_INVALID_HANDLE, cuEventRecord(begin, stream));

  CUgraph graph = nullptr;  // the same launch, captured
  CUgraphExec exec = nullptr;
  OK(cuMemsetD32(data.to, 0, kCount));
  OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  OK(cuLaunchKernel(affine, kGrid, 1, 1, kBlock, 1, 1, 0, stream, arguments, nullptr));
  OK(cuStreamEndCapture(stream, &graph));
  OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
  OK(cuGraphLaunch(exec, stream));
  OK(cuStreamSynchronize(stream));
  data.check(3, 7);
  OK(cuStreamDestroy(stream));
  OK(cuStreamDestroy(other));
}

/// What one interface makes, the other takes.
void beside_the_runtime(CUmodule module) {
  unsigned* memory = nullptr;
  HOLDS(cudaMalloc(&memory, kCount * 4) == cudaSuccess);
  CUcontext current = nullptr, primary = nullptr;
  OK(cuCtxGetCurrent(&current));
  OK(cuDevicePrimaryCtxRetain(&primary, 0));
  HOLDS(current == primary);
  OK(cuMemsetD32(reinterpret_cast<CUdeviceptr>(memory), 41, kCount));
  CUstream stream = nullptr;
  OK(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
  add_one<<<kGrid, kBlock, 0, stream>>>(memory, kCount);  // the runtime's, in the driver's stream
  unsigned got = 0, count = kCount;
  OK(cuStreamSynchronize(stream));
  OK(cuMemcpyDtoH(&got, reinterpret_cast<CUdeviceptr>(memory + kCount - 1), 4));
  HOLDS(got == 42);
  cudaFunction_t handle = nullptr;
  HOLDS(cudaGetFuncBySymbol(&handle, reinterpret_cast<const void*>(add_one)) == cudaSuccess);
  void* arguments[] = {&memory, &count};
  OK(cuLaunchKernel(handle, kGrid, 1, 1, kBlock, 1, 1, 0, stream, arguments, nullptr));
  CUfunction affine = nullptr;
  OK(cuModuleGetFunction(&affine, module, "affine"));
  unsigned factor = 10;
  void* more[] = {&memory, &memory, &factor, &count};
  HOLDS(cudaLaunchKernel(affine, dim3(kGrid), dim3(kBlock), more, 0, stream) == cudaSuccess);
  HOLDS(cudaMemcpy(&got, memory, 4, cudaMemcpyDeviceToHost) == cudaSuccess);
  HOLDS(got == 437);
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFree(12345));
  HOLDS(cudaGetLastError() == cudaSuccess);  // the driver's errors are not the runtime's
}

using GetCount = CUresult (*)(int*);
using Synchronize = CUresult (*)(CUstream);

void entry_points() {
  void* found = nullptr;
  CUdriverProcAddressQueryResult status;
  OK(cuGetProcAddress("cuDeviceGetCount", &found, 12000, CU_GET_PROC_ADDRESS_DEFAULT, &status));
  int count = 0;
  OK(reinterpret_cast<GetCount>(found)(&count));
  HOLDS(count == 1 && status == CU_GET_PROC_ADDRESS_SUCCESS);
  OK(cuGetProcAddress("cuStreamSynchronize", &found, 12000,
                      CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &status));
  OK(reinterpret_cast<Synchronize>(found)(nullptr));
  GIVES(CUDA_ERROR_NOT_FOUND,
        cuGetProcAddress("cuNoSuch", &found, 12000, CU_GET_PROC_ADDRESS_DEFAULT, &status));
  HOLDS(status == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND && found == nullptr);
  GIVES(CUDA_ERROR_NOT_FOUND,
        cuGetProcAddress("cuLibraryLoadData", &found, 11000, CU_GET_PROC_ADDRESS_DEFAULT, &status));
  HOLDS(status == CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
}

}  // namespace

int main() {
  before_init();
  devices();
  contexts();
  CUmodule module = nullptr;
  OK(cuModuleLoadData(&module, kAffine));
  launches(module);
  functions(module);
  libraries();
  linker();
  memory();
  streams(module);
  beside_the_runtime(module);
  entry_points();
  std::puts("PASS");
}
