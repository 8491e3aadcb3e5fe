// Arguments that CUDA refuses with cudaErrorInvalidValue: lists and functions that are nowhere,
// flags that there are not, parts of elements. What was refused has done nothing. Ends at the first
// that is wrong.
#include <cstdint>
#include <cstring>

#include "driver.h"

__global__ void fill(int* to, int value) { to[threadIdx.x] = value; }
__managed__ int shared_with_host[4];

namespace {

int* memory;
constexpr int kWords = 256;

void returns(cudaError_t wanted, cudaError_t got, const char* what, int line) {
  if (got != wanted) std::printf("line %d: %s gives %s\n", line, what, cudaGetErrorName(got));
  if (got != wanted) std::exit(1);
}
#define REFUSED(call) returns(cudaErrorInvalidValue, call, #call, __LINE__)
#define TAKEN(call) returns(cudaSuccess, call, #call, __LINE__)

const void* stub() { return reinterpret_cast<const void*>(fill); }

std::size_t nodes_of(cudaGraph_t graph) {
  std::size_t count = 0;
  TAKEN(cudaGraphGetNodes(graph, nullptr, &count));
  return count;
}

cudaError_t add_edges(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to) {
#if CUDART_VERSION >= 13000
  return cudaGraphAddDependencies(graph, from, to, nullptr, 1);
#else
  return cudaGraphAddDependencies(graph, from, to, 1);
#endif
}

void nodes_without_their_lists() {
  cudaGraph_t graph = nullptr, child = nullptr;
  cudaGraphNode_t node = nullptr, other = nullptr;
  TAKEN(cudaGraphCreate(&graph, 0));
  TAKEN(cudaGraphCreate(&child, 0));
  TAKEN(cudaGraphAddEmptyNode(&node, graph, nullptr, 0));
  TAKEN(cudaGraphAddEmptyNode(&other, graph, nullptr, 0));
  int value = 1;
  void* arguments[] = {&memory, &value};
  cudaKernelNodeParams kernel{};
  kernel.func = const_cast<void*>(stub());
  kernel.gridDim = kernel.blockDim = 1;
  kernel.kernelParams = arguments;
  cudaMemsetParams set{};
  set.dst = memory, set.elementSize = 4, set.width = 1, set.height = 1;
  cudaMemcpy3DParms rows{};
  cudaHostNodeParams host{};
  host.fn = [](void*) {};
  cudaMemAllocNodeParams taken{};
  taken.poolProps.allocType = cudaMemAllocationTypePinned;
  taken.poolProps.location = {cudaMemLocationTypeDevice, 0};
  taken.bytesize = 64;
  cudaGraphNode_t made = nullptr;
  REFUSED(cudaGraphAddEmptyNode(&made, graph, nullptr, 1));
  REFUSED(cudaGraphAddKernelNode(&made, graph, nullptr, 1, &kernel));
  REFUSED(cudaGraphAddMemsetNode(&made, graph, nullptr, 1, &set));
  REFUSED(cudaGraphAddMemcpyNode(&made, graph, nullptr, 1, &rows));
  REFUSED(cudaGraphAddMemcpyNode1D(&made, graph, nullptr, 1, memory, memory + 1, 4,
                                   cudaMemcpyDeviceToDevice));
  REFUSED(cudaGraphAddHostNode(&made, graph, nullptr, 1, &host));
  REFUSED(cudaGraphAddChildGraphNode(&made, graph, nullptr, 1, child));
  REFUSED(cudaGraphAddMemAllocNode(&made, graph, nullptr, 1, &taken));
  REFUSED(cudaGraphAddMemFreeNode(&made, graph, nullptr, 1, memory));
  taken.accessDescCount = 1;
  REFUSED(cudaGraphAddMemAllocNode(&made, graph, nullptr, 0, &taken));
  REFUSED(add_edges(graph, nullptr, nullptr));
  REFUSED(add_edges(graph, &node, nullptr));
  REFUSED(add_edges(graph, nullptr, &node));
  host.fn = nullptr;
  REFUSED(cudaGraphAddHostNode(&made, graph, nullptr, 0, &host));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphAddEmptyNode(&made, graph, nullptr, 1));
  HOLDS(made == nullptr && nodes_of(graph) == 2);
  arguments[1] = nullptr;
  REFUSED(cudaGraphAddKernelNode(&made, graph, nullptr, 0, &kernel));
  TAKEN(add_edges(graph, &node, &other));
}

void captures_without_their_lists() {
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr, other = nullptr;
  cudaGraphNode_t node = nullptr, foreign = nullptr;
  TAKEN(cudaStreamCreate(&stream));
  TAKEN(cudaGraphCreate(&graph, 0));
  TAKEN(cudaGraphCreate(&other, 0));
  TAKEN(cudaGraphAddEmptyNode(&node, graph, nullptr, 0));
  TAKEN(cudaGraphAddEmptyNode(&foreign, other, nullptr, 0));
  const auto begin = [&](const cudaGraphNode_t* from) {
    return cudaStreamBeginCaptureToGraph(stream, graph, from, nullptr, 1,
                                         cudaStreamCaptureModeRelaxed);
  };
  REFUSED(begin(nullptr));
  REFUSED(begin(&foreign));
  TAKEN(begin(&node));
  const auto update = [&](cudaGraphNode_t* nodes, unsigned flags) {
#if CUDART_VERSION >= 13000
    return cudaStreamUpdateCaptureDependencies(stream, nodes, nullptr, 1, flags);
#else
    return cudaStreamUpdateCaptureDependencies(stream, nodes, 1, flags);
#endif
  };
  REFUSED(update(nullptr, cudaStreamSetCaptureDependencies));
  REFUSED(update(&foreign, cudaStreamAddCaptureDependencies));
  REFUSED(update(&node, 2));
  TAKEN(update(&node, cudaStreamSetCaptureDependencies));
  TAKEN(cudaStreamEndCapture(stream, &graph));
  HOLDS(nodes_of(graph) == 1);
}

void other_lists_and_functions() {
  cudaFunction_t function = nullptr;
  REFUSED(cudaGetFuncBySymbol(nullptr, stub()));
  REFUSED(cudaGetFuncBySymbol(&function, nullptr));
  TAKEN(cudaGetFuncBySymbol(&function, stub()));
  cudaStream_t stream = nullptr;
  TAKEN(cudaStreamCreate(&stream));
  REFUSED(cudaLaunchHostFunc(stream, nullptr, nullptr));
  REFUSED(cudaStreamAddCallback(stream, nullptr, nullptr, 0));
  REFUSED(cudaStreamAddCallback(
      stream, [](cudaStream_t, cudaError_t, void*) {}, nullptr, 1));
  REFUSED(cudaSetValidDevices(nullptr, 1));
  int device = -1;
  REFUSED(cudaChooseDevice(&device, nullptr));
  cudaMemPool_t pool = nullptr;
  TAKEN(cudaDeviceGetDefaultMemPool(&pool, 0));
  REFUSED(cudaMemPoolSetAccess(pool, nullptr, 1));
  cudaMemAccessDesc access{{cudaMemLocationTypeDevice, 0}, static_cast<cudaMemAccessFlags>(2)};
  REFUSED(cudaMemPoolSetAccess(pool, &access, 1));
  cudaMemAccessFlags allowed{};
  REFUSED(cudaMemPoolGetAccess(&allowed, pool, nullptr));
  int value = 1;
  void* arguments[] = {&memory, nullptr};
  REFUSED(cudaLaunchKernel(stub(), 1, 1, arguments, 0, nullptr));
  arguments[1] = &value;
  TAKEN(cudaLaunchKernel(stub(), 1, 1, arguments, 0, nullptr));
  CUlinkState link = nullptr;
  CUmodule module = nullptr;
  CUlibrary library = nullptr;
  GIVES(CUDA_ERROR_INVALID_VALUE, cuLinkCreate(1, nullptr, nullptr, &link));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuModuleLoadDataEx(&module, kAffine, 1, nullptr, nullptr));
  GIVES(CUDA_ERROR_INVALID_VALUE,
        cuLibraryLoadData(&library, kAffine, nullptr, nullptr, 1, nullptr, nullptr, 0));
  OK(cuLinkCreate(0, nullptr, nullptr, &link));
  GIVES(CUDA_ERROR_INVALID_VALUE,
        cuLinkAddFile(link, CU_JIT_INPUT_PTX, nullptr, 0, nullptr, nullptr));
  OK(cuLinkDestroy(link));
}

void flags_of_events_and_graphs() {
  cudaEvent_t event = nullptr;
  REFUSED(cudaEventCreateWithFlags(&event, cudaEventInterprocess));
  REFUSED(cudaEventCreateWithFlags(&event, cudaEventInterprocess | cudaEventBlockingSync));
  REFUSED(cudaEventCreateWithFlags(&event, 8));
  HOLDS(event == nullptr);
  TAKEN(cudaEventCreateWithFlags(&event, cudaEventInterprocess | cudaEventDisableTiming));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuEventCreate(&event, CU_EVENT_INTERPROCESS));
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  REFUSED(cudaGraphCreate(&graph, 1));
  HOLDS(graph == nullptr);
  TAKEN(cudaGraphCreate(&graph, 0));
  REFUSED(cudaGraphInstantiateWithFlags(&exec, graph, 16));
  TAKEN(cudaGraphInstantiateWithFlags(&exec, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch));
  std::uint64_t value = 0;
  REFUSED(cudaDeviceGetGraphMemAttribute(0, static_cast<cudaGraphMemAttributeType>(4), &value));
}

void flags_of_the_device() {
  REFUSED(cudaDeviceSetCacheConfig(static_cast<cudaFuncCache>(9)));
  REFUSED(cudaDeviceSetCacheConfig(static_cast<cudaFuncCache>(-1)));
  TAKEN(cudaDeviceSetCacheConfig(cudaFuncCachePreferEqual));
  REFUSED(cudaFuncSetCacheConfig(stub(), static_cast<cudaFuncCache>(7)));
  TAKEN(cudaFuncSetCacheConfig(stub(), cudaFuncCachePreferL1));
  REFUSED(cudaDeviceSetSharedMemConfig(static_cast<cudaSharedMemConfig>(3)));
  TAKEN(cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeEightByte));
  REFUSED(cudaFuncSetSharedMemConfig(stub(), static_cast<cudaSharedMemConfig>(3)));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuCtxSetCacheConfig(static_cast<CUfunc_cache>(4)));
  std::size_t before = 0, after = 0;
  TAKEN(cudaDeviceGetLimit(&before, cudaLimitStackSize));
  REFUSED(cudaDeviceSetLimit(cudaLimitStackSize, 1 << 30));
  REFUSED(cudaDeviceSetLimit(cudaLimitStackSize, std::size_t{1} << 40));
  TAKEN(cudaDeviceGetLimit(&after, cudaLimitStackSize));
  HOLDS(before == after);
  TAKEN(cudaDeviceSetLimit(cudaLimitStackSize, 512 << 10));
  int blocks = 0, grid = 0;
  const auto occupancy = [&](unsigned flags) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, fill, 32, 0, flags);
  };
  REFUSED(occupancy(7));
  TAKEN(occupancy(cudaOccupancyDisableCachingOverride));
  cudaFunction_t function = nullptr;
  TAKEN(cudaGetFuncBySymbol(&function, stub()));
  GIVES(CUDA_ERROR_INVALID_VALUE,
        cuOccupancyMaxPotentialBlockSizeWithFlags(&grid, &blocks, function, nullptr, 0, 0, 2));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuFuncSetCacheConfig(function, static_cast<CUfunc_cache>(4)));
  GIVES(CUDA_ERROR_INVALID_VALUE, cuDevicePrimaryCtxSetFlags(0, 0x100));
  GIVES(CUDA_ERROR_INVALID_VALUE,
        cuDevicePrimaryCtxSetFlags(0, CU_CTX_SCHED_SPIN | CU_CTX_SCHED_YIELD));
}

cudaError_t prefetch(void* at, unsigned flags) {
#if CUDART_VERSION >= 13000
  return cudaMemPrefetchAsync(at, 16, {cudaMemLocationTypeDevice, 0}, flags, nullptr);
#else
  return cudaMemPrefetchAsync_v2(at, 16, {cudaMemLocationTypeDevice, 0}, flags, nullptr);
#endif
}

void flags_of_memory() {
  static char registered[1024];
  void* at = nullptr;
  TAKEN(cudaHostRegister(registered, sizeof registered, cudaHostRegisterMapped));
  REFUSED(cudaHostGetDevicePointer(&at, registered, 1));
  HOLDS(at == nullptr);
  TAKEN(cudaHostGetDevicePointer(&at, registered, 0));
  int* managed = nullptr;
  cudaStream_t stream = nullptr;
  TAKEN(cudaMallocManaged(&managed, 64));
  TAKEN(cudaStreamCreate(&stream));
  REFUSED(cudaStreamAttachMemAsync(stream, memory, 0, cudaMemAttachSingle));
  REFUSED(cudaStreamAttachMemAsync(stream, registered, 0, cudaMemAttachGlobal));
  REFUSED(cudaStreamAttachMemAsync(nullptr, managed, 0, cudaMemAttachSingle));
  REFUSED(cudaStreamAttachMemAsync(stream, managed, 0, 0));
  REFUSED(cudaStreamAttachMemAsync(stream, managed, 0, cudaMemAttachGlobal | cudaMemAttachHost));
  REFUSED(cudaStreamAttachMemAsync(stream, managed, 0, 8));
  REFUSED(cudaStreamAttachMemAsync(stream, managed, 65, cudaMemAttachSingle));
  TAKEN(cudaStreamAttachMemAsync(stream, managed, 0, cudaMemAttachSingle));
  TAKEN(cudaStreamAttachMemAsync(nullptr, managed, 64, cudaMemAttachGlobal));
  TAKEN(cudaStreamAttachMemAsync(stream, shared_with_host, 0, cudaMemAttachHost));
  REFUSED(prefetch(managed, 1));
  TAKEN(prefetch(managed, 0));
}

void parts_of_elements() {
  const cudaChannelFormatDesc words = cudaCreateChannelDesc<float>();
  cudaArray_t array = nullptr;
  float host[64], back[64];
  for (int i = 0; i < 64; ++i) host[i] = float(i + 1);
  TAKEN(cudaMallocArray(&array, &words, 16, 16));
  const auto put = [&](std::size_t x, std::size_t width) {
    return cudaMemcpy2DToArray(array, x, 0, host, 64, width, 1, cudaMemcpyHostToDevice);
  };
  const auto get = [&](std::size_t x, std::size_t width) {
    return cudaMemcpy2DFromArray(back, 64, array, x, 0, width, 1, cudaMemcpyDeviceToHost);
  };
  TAKEN(put(0, 64));
  std::memset(host, 0, sizeof host);
  REFUSED(put(2, 60));
  REFUSED(put(0, 3));
  REFUSED(cudaMemcpy2DToArrayAsync(array, 1, 0, host, 64, 4, 1, cudaMemcpyHostToDevice));
  REFUSED(cudaMemcpyToArray(array, 2, 0, host, 4, cudaMemcpyHostToDevice));
  REFUSED(cudaMemcpyToArray(array, 0, 0, host, 66, cudaMemcpyHostToDevice));
  REFUSED(get(2, 4));
  REFUSED(get(0, 6));
  REFUSED(cudaMemcpyFromArray(back, array, 0, 0, 7, cudaMemcpyDeviceToHost));
  TAKEN(get(4, 60));
  for (int i = 0; i < 15; ++i) HOLDS(back[i] == float(i + 2));
}

void fills_beyond_their_allocation() {
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t node = nullptr;
  cudaGraphExec_t exec = nullptr;
  TAKEN(cudaGraphCreate(&graph, 0));
  cudaMemsetParams set{};
  set.dst = memory, set.elementSize = 4, set.width = kWords + 1, set.height = 1;
  REFUSED(cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &set));
  set.dst = memory + 1, set.width = kWords;
  REFUSED(cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &set));
  set.dst = memory, set.pitch = kWords * 4, set.width = 1, set.height = 2;
  REFUSED(cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &set));
  HOLDS(node == nullptr && nodes_of(graph) == 0);
  set.width = kWords, set.height = 1, set.value = 6;
  TAKEN(cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &set));
  TAKEN(cudaGraphInstantiate(&exec, graph, 0));
  set.width = kWords + 1, set.value = 7;
  REFUSED(cudaGraphExecMemsetNodeSetParams(exec, node, &set));
  TAKEN(cudaGraphLaunch(exec, nullptr));
  int last = 0;
  TAKEN(cudaMemcpy(&last, memory + kWords - 1, sizeof last, cudaMemcpyDeviceToHost));
  HOLDS(last == 6);
  cudaHostNodeParams host{};
  host.fn = [](void*) {};
  TAKEN(cudaGraphAddHostNode(&node, graph, nullptr, 0, &host));
  TAKEN(cudaGraphInstantiate(&exec, graph, 0));
  host.fn = nullptr;
  REFUSED(cudaGraphExecHostNodeSetParams(exec, node, &host));
  TAKEN(cudaGraphLaunch(exec, nullptr));
}

}  // namespace

int main() {
  TAKEN(cudaMalloc(&memory, kWords * sizeof *memory));
  nodes_without_their_lists();
  captures_without_their_lists();
  other_lists_and_functions();
  flags_of_events_and_graphs();
  flags_of_the_device();
  flags_of_memory();
  parts_of_elements();
  fills_beyond_their_allocation();
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
