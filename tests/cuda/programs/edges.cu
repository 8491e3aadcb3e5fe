// What CUDA refuses, and what it says when it is asked: sizes that come to more than 64 bits,
// attributes of launches and streams, pools, edges of graphs, surfaces. Ends at the first that is
// wrong.
#include <cstring>

#include "driver.h"

__constant__ int table[100];
__constant__ int rest[7];
__global__ void add(int* to) { to[threadIdx.x] += table[threadIdx.x] + rest[0] + 1; }

namespace {

constexpr std::size_t kHalf = std::size_t{1} << 63;  // twice that is 0
char host[4096];
char* memory;

bool refused(cudaError_t code) {
  return code == cudaErrorInvalidPitchValue || code == cudaErrorInvalidValue;
}

void rows_too_far_apart() {
  HOLDS(refused(cudaMemset2D(memory, kHalf, 1, 4, 3)));
  HOLDS(refused(cudaMemset2DAsync(memory, kHalf, 1, 4, 3)));
  HOLDS(refused(cudaMemcpy2D(memory, kHalf, host, 4, 4, 3, cudaMemcpyHostToDevice)));
  HOLDS(refused(cudaMemcpy2D(host, 4, memory, kHalf, 4, 3, cudaMemcpyDeviceToHost)));
  HOLDS(refused(cudaMemcpy2D(host, kHalf, memory, 4, 4, 3, cudaMemcpyDeviceToHost)));
  HOLDS(refused(cudaMemcpy2DAsync(memory, kHalf, host, 4, 4, 3, cudaMemcpyHostToDevice)));
  const cudaChannelFormatDesc bytes = cudaCreateChannelDesc<unsigned char>();
  cudaArray_t array = nullptr;
  HOLDS(cudaMallocArray(&array, &bytes, 16, 16) == cudaSuccess);
  HOLDS(refused(cudaMemcpy2DToArray(array, 0, 0, host, kHalf, 4, 3, cudaMemcpyHostToDevice)));
  HOLDS(refused(cudaMemcpy2DFromArray(host, kHalf, array, 0, 0, 4, 3, cudaMemcpyDeviceToHost)));
  HOLDS(cudaMemset2D(memory, 64, 7, 4, 3) == cudaSuccess);
  HOLDS(cudaMemcpy2D(host, 4, memory, 64, 4, 3, cudaMemcpyDeviceToHost) == cudaSuccess);
  HOLDS(host[0] == 7 && host[11] == 7 && host[12] == 0);
}

void slices_too_far_apart() {
  constexpr std::size_t kPitch = std::size_t{1} << 30, kRows = std::size_t{1} << 33;
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(host, kPitch, 4, kRows);
  copy.dstPtr = make_cudaPitchedPtr(memory, kPitch, 4, kRows);
  copy.extent = make_cudaExtent(4, 1, 3);
  copy.kind = cudaMemcpyHostToDevice;
  HOLDS(refused(cudaMemcpy3D(&copy)));
  HOLDS(refused(cudaMemcpy3DAsync(&copy)));
  copy.extent.depth = 1;
  HOLDS(cudaMemcpy3D(&copy) == cudaSuccess);
  copy.srcPos = make_cudaPos(0, 0, 2);
  copy.dstPos = make_cudaPos(0, 0, 2);
  HOLDS(refused(cudaMemcpy3D(&copy)));
  const cudaPitchedPtr to = make_cudaPitchedPtr(memory, kPitch, 4, kRows);
  HOLDS(refused(cudaMemset3D(to, 1, make_cudaExtent(4, 1, 3))));
  HOLDS(refused(cudaMemset3DAsync(to, 1, make_cudaExtent(4, 1, 3))));
}

void allocations_too_large() {
  void* to = nullptr;
  std::size_t pitch = 0;
  HOLDS(cudaMallocPitch(&to, &pitch, std::size_t{1} << 33, std::size_t{1} << 31) ==
        cudaErrorMemoryAllocation);
  HOLDS(cudaMallocPitch(&to, &pitch, ~std::size_t{0}, 1) == cudaErrorMemoryAllocation);
  cudaPitchedPtr pitched{};
  const auto side = std::size_t{1} << 22;
  HOLDS(cudaMalloc3D(&pitched, make_cudaExtent(side, side, side)) == cudaErrorMemoryAllocation);
  HOLDS(cudaHostRegister(host, std::size_t{1} << 62, 0) == cudaErrorInvalidValue);
  HOLDS(cudaHostRegister(host, std::size_t{1} << 40, 0) == cudaErrorInvalidValue);
  HOLDS(cudaHostRegister(host, ~std::size_t{0}, 0) == cudaErrorInvalidValue);
  HOLDS(cudaHostRegister(host, sizeof host, 0) == cudaSuccess);
  HOLDS(cudaHostUnregister(host) == cudaSuccess);
}

void counts_too_large() {
  const auto at = reinterpret_cast<CUdeviceptr>(memory);
  constexpr std::size_t kQuarter = kHalf >> 1;
  OK(cuMemsetD32(at, 5, 4));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(at, 1, kQuarter + 4));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemsetD32Async(at, 1, kQuarter + 4, nullptr));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemsetD16(at, 1, kHalf + 4));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemsetD2D8(at, kHalf, 1, 2, 3));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemsetD2D16(at, kHalf, 1, 2, 3));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemsetD2D32(at, kHalf, 1, 2, 3));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemsetD2D32(at, 64, 1, kQuarter + 1, 3));
  int seen[4];
  OK(cuMemcpyDtoH(seen, at, sizeof seen));
  HOLDS(seen[0] == 5 && seen[3] == 5);
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = at;
  copy.srcPitch = kHalf;
  copy.srcY = 2;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = host;
  copy.WidthInBytes = 4;
  copy.Height = 1;
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D(&copy));
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t node = nullptr;
  HOLDS(cudaGraphCreate(&graph, 0) == cudaSuccess);
  cudaMemsetParams fill{};
  fill.dst = memory;
  fill.elementSize = 4;
  fill.width = kQuarter;
  fill.height = 1;
  HOLDS(cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &fill) == cudaErrorInvalidValue);
}

void constants() {
  cudaFuncAttributes is{};
  HOLDS(cudaFuncGetAttributes(&is, add) == cudaSuccess);
  HOLDS(is.constSizeBytes == 428);
  cudaFunction_t function = nullptr;
  HOLDS(cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(add)) == cudaSuccess);
  int bytes = 0;
  OK(cuFuncGetAttribute(&bytes, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, function));
  HOLDS(bytes == 428);
}

void attributes_of_launches() {
  auto* const to = reinterpret_cast<int*>(memory);
  cudaEvent_t timing = nullptr;
  HOLDS(cudaEventCreate(&timing) == cudaSuccess);
  cudaLaunchAttribute attribute{};
  cudaLaunchConfig_t one{};
  one.gridDim = one.blockDim = 1;
  one.attrs = &attribute;
  one.numAttrs = 1;
  const auto with = [&](int id) {
    attribute.id = static_cast<cudaLaunchAttributeID>(id);
    return cudaLaunchKernelEx(&one, add, to);
  };
  HOLDS(with(999) == cudaErrorInvalidValue);
  HOLDS(with(-1) == cudaErrorInvalidValue);
  HOLDS(with(cudaLaunchAttributeDeviceUpdatableKernelNode) == cudaErrorInvalidValue);
  HOLDS(with(cudaLaunchAttributeProgrammaticEvent) == cudaErrorInvalidResourceHandle);
  attribute.val.launchCompletionEvent.event = timing;
  HOLDS(with(cudaLaunchAttributeLaunchCompletionEvent) == cudaErrorInvalidValue);
  attribute.val = {};
  HOLDS(with(cudaLaunchAttributeIgnore) == cudaSuccess);
  HOLDS(with(cudaLaunchAttributePriority) == cudaSuccess);
  one.attrs = nullptr;
  HOLDS(cudaLaunchKernelEx(&one, add, to) == cudaErrorInvalidValue);
  cudaFunction_t function = nullptr;
  HOLDS(cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(add)) == cudaSuccess);
  CUlaunchAttribute unknown{};
  unknown.id = static_cast<CUlaunchAttributeID>(999);
  CUlaunchConfig launch{1, 1, 1, 1, 1, 1, 0, nullptr, &unknown, 1};
  void* arguments[] = {&memory};
  GIVES(CUDA_ERROR_INVALID_VALUE, cuLaunchKernelEx(&launch, function, arguments, nullptr));
}

void attributes_of_streams() {
  cudaStream_t stream = nullptr;
  HOLDS(cudaStreamCreate(&stream) == cudaSuccess);
  cudaLaunchAttributeValue value{};
  value.syncPolicy = cudaSyncPolicyYield;
  HOLDS(cudaStreamSetAttribute(stream, cudaLaunchAttributeSynchronizationPolicy, &value) ==
        cudaSuccess);
  value.priority = -5;
  HOLDS(cudaStreamSetAttribute(stream, cudaLaunchAttributePriority, &value) == cudaSuccess);
  int priority = 0;
  HOLDS(cudaStreamGetPriority(stream, &priority) == cudaSuccess && priority == -5);
  const auto unknown = static_cast<cudaLaunchAttributeID>(777);
  HOLDS(cudaStreamSetAttribute(stream, unknown, &value) == cudaErrorInvalidValue);
  HOLDS(cudaStreamSetAttribute(stream, cudaLaunchAttributeCooperative, &value) ==
        cudaErrorInvalidValue);
  CUlaunchAttributeValue of_driver{};
  GIVES(CUDA_ERROR_INVALID_VALUE,
        cuStreamSetAttribute(stream, static_cast<CUlaunchAttributeID>(777), &of_driver));
}

void pools() {
  cudaMemPoolProps made{};
  made.allocType = cudaMemAllocationTypePinned;
  made.location = {cudaMemLocationTypeDevice, 0};
  made.maxSize = 1 << 20;
  cudaMemPool_t pool = nullptr, found = nullptr, first = nullptr;
  HOLDS(cudaMemPoolCreate(&pool, &made) == cudaSuccess);
  void* at = nullptr;
  HOLDS(cudaMallocFromPoolAsync(&at, 64 << 20, pool, nullptr) == cudaErrorMemoryAllocation);
  HOLDS(cudaMallocFromPoolAsync(&at, 1 << 19, pool, nullptr) == cudaSuccess);
  HOLDS(cudaMallocFromPoolAsync(&at, 1 << 20, pool, nullptr) == cudaErrorMemoryAllocation);
  HOLDS(cudaDeviceGetDefaultMemPool(&first, 0) == cudaSuccess);
  HOLDS(cudaDeviceSetMemPool(1, pool) == cudaErrorInvalidDevice);
  HOLDS(cudaDeviceGetMemPool(&found, 0) == cudaSuccess && found == first);
  HOLDS(cudaDeviceSetMemPool(0, pool) == cudaSuccess);
  HOLDS(cudaDeviceGetMemPool(&found, 0) == cudaSuccess && found == pool);
  HOLDS(cudaMallocAsync(&at, 1 << 18, nullptr) == cudaSuccess);
  unsigned long long used = 0;
  cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used);
  HOLDS(used == (1 << 19) + (1 << 18));
  HOLDS(cudaMemPoolDestroy(pool) == cudaSuccess);
  HOLDS(cudaDeviceGetMemPool(&found, 0) == cudaSuccess && found == first);
  HOLDS(cudaMallocAsync(&at, 1 << 22, nullptr) == cudaSuccess);
  made.location.id = 5;
  HOLDS(cudaMemPoolCreate(&pool, &made) == cudaErrorInvalidValue);
  made.location.id = 0;
  made.allocType = cudaMemAllocationTypeInvalid;
  HOLDS(cudaMemPoolCreate(&pool, &made) == cudaErrorInvalidValue);
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t node = nullptr;
  HOLDS(cudaGraphCreate(&graph, 0) == cudaSuccess);
  cudaMemAllocNodeParams memory{};
  memory.bytesize = 4096;
  HOLDS(cudaGraphAddMemAllocNode(&node, graph, nullptr, 0, &memory) == cudaErrorInvalidValue);
  memory.poolProps.allocType = cudaMemAllocationTypePinned;
  memory.poolProps.location = {cudaMemLocationTypeDevice, 5};
  HOLDS(cudaGraphAddMemAllocNode(&node, graph, nullptr, 0, &memory) == cudaErrorInvalidValue);
  memory.poolProps.location.id = 0;
  HOLDS(cudaGraphAddMemAllocNode(&node, graph, nullptr, 0, &memory) == cudaSuccess);
  HOLDS(memory.dptr != nullptr);
  // A graph that owns memory has one instance at a time, no clone and no parent.
  cudaGraph_t other = nullptr, clone = nullptr;
  cudaGraphExec_t one = nullptr, another = nullptr;
  HOLDS(cudaGraphCreate(&other, 0) == cudaSuccess);
  HOLDS(cudaGraphInstantiate(&one, graph, 0) == cudaSuccess);
  HOLDS(cudaGraphInstantiate(&another, graph, 0) == cudaErrorNotSupported);
  HOLDS(cudaGraphClone(&clone, graph) == cudaErrorNotSupported);
  HOLDS(cudaGraphAddChildGraphNode(&node, other, nullptr, 0, graph) == cudaErrorNotSupported);
  HOLDS(cudaGraphExecDestroy(one) == cudaSuccess);
  HOLDS(cudaGraphInstantiate(&another, graph, 0) == cudaSuccess);
  HOLDS(cudaGraphClone(&clone, other) == cudaSuccess);
  HOLDS(cudaGraphDestroy(graph) == cudaSuccess && cudaGraphDestroy(other) == cudaSuccess);
  CUmemPoolProps of_driver{};
  CUmemoryPool twin = nullptr;
  of_driver.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  GIVES(CUDA_ERROR_INVALID_VALUE, cuMemPoolCreate(&twin, &of_driver));
}

cudaError_t add_edges(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                      std::size_t count) {
#if CUDART_VERSION >= 13000
  return cudaGraphAddDependencies(graph, from, to, nullptr, count);
#else
  return cudaGraphAddDependencies(graph, from, to, count);
#endif
}

void graphs_and_surfaces() {
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t a = nullptr, b = nullptr, c = nullptr;
  HOLDS(cudaGraphCreate(&graph, 0) == cudaSuccess);
  HOLDS(cudaGraphAddEmptyNode(&a, graph, nullptr, 0) == cudaSuccess);
  HOLDS(cudaGraphAddEmptyNode(&b, graph, &a, 1) == cudaSuccess);
  const cudaGraphNode_t twice[] = {a, a}, ends[] = {b, b};
  HOLDS(cudaGraphAddEmptyNode(&c, graph, twice, 2) == cudaErrorInvalidValue);
  HOLDS(cudaGraphAddEmptyNode(&c, graph, nullptr, 0) == cudaSuccess);
  HOLDS(add_edges(graph, &a, &b, 1) == cudaErrorInvalidValue);
  const cudaGraphNode_t from[] = {c, c};
  HOLDS(add_edges(graph, from, ends, 2) == cudaErrorInvalidValue);
  HOLDS(add_edges(graph, &c, &b, 1) == cudaSuccess);
  const cudaChannelFormatDesc ints = cudaCreateChannelDesc<int>();
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  cudaSurfaceObject_t surface = 0;
  HOLDS(cudaMallocArray(&resource.res.array.array, &ints, 8, 8) == cudaSuccess);
  HOLDS(cudaCreateSurfaceObject(&surface, &resource) == cudaErrorInvalidValue);
  HOLDS(cudaMallocArray(&resource.res.array.array, &ints, 8, 8, cudaArraySurfaceLoadStore) ==
        cudaSuccess);
  HOLDS(cudaCreateSurfaceObject(&surface, &resource) == cudaSuccess);
}

}  // namespace

int main() {
  HOLDS(cudaMalloc(&memory, sizeof host) == cudaSuccess);
  HOLDS(cudaMemset(memory, 0, sizeof host) == cudaSuccess);
  rows_too_far_apart();
  slices_too_far_apart();
  allocations_too_large();
  counts_too_large();
  constants();
  attributes_of_launches();
  attributes_of_streams();
  pools();
  graphs_and_surfaces();
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
