// As much of the CUDA runtime's interface as the test program calls, and a fat binary by hand, so
// that programs for the drop-in runtime can be built where there is no toolkit. Declarations are
// the public ones (CUDA Runtime API reference).
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
};
using Stream = struct StreamTag*;
using Event = struct EventTag*;
using Graph = struct GraphTag*;
using GraphExec = struct GraphExecTag*;
using Node = struct NodeTag*;
using Array = struct ArrayTag*;
using Pool = struct PoolTag*;
struct Extent {
  std::size_t width, height, depth;
};
struct Position {
  std::size_t x, y, z;
};
struct Pitched {
  void* pointer;
  std::size_t pitch, width, height;
};
struct Copy3d {
  Array from_array;
  Position from_position;
  Pitched from;
  Array to_array;
  Position to_position;
  Pitched to;
  Extent extent;
  int kind;
};
struct Channel {
  int x, y, z, w, kind;
};
struct MemsetNode {
  void* to;
  std::size_t pitch;
  unsigned value, value_bytes;
  std::size_t width, height;
};
struct KernelNode {
  const void* function;
  dim3 grid, block;
  unsigned shared;
  void** arguments;
  void** extra;
};
enum { kHostToHost, kHostToDevice, kDeviceToHost, kDeviceToDevice, kDefault };

extern "C" {
void** __cudaRegisterFatBinary(const void* wrapper);
void __cudaRegisterFatBinaryEnd(void** handle);
void __cudaRegisterFunction(void** handle, const void* stub, char* device, const char* name, int,
                            void*, void*, void*, void*, int*);
void __cudaRegisterVar(void** handle, char* host, char* device, const char* name, int,
                       std::size_t bytes, int, int);
int cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                     std::size_t shared, Stream stream);
int cudaLaunchKernel_ptsz(const void* function, dim3 grid, dim3 block, void** arguments,
                          std::size_t shared, Stream stream);
int cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                                std::size_t shared, Stream stream);
int cudaMalloc(void** to, std::size_t bytes);
int cudaMallocManaged(void** to, std::size_t bytes, unsigned flags);
struct MemoryLocation {
  int type, id;
};
int cudaMemPrefetchAsync(const void* at, std::size_t bytes, MemoryLocation where, unsigned flags,
                         Stream stream);
int cudaMemAdvise(const void* at, std::size_t bytes, int advice, MemoryLocation where);
int cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, std::size_t bytes);
int cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                        std::size_t bytes, Stream stream);
int cudaDeviceGetByPCIBusId(int* device, const char* id);
int cudaSetDeviceFlags(unsigned flags);
int cudaMallocPitch(void** to, std::size_t* pitch, std::size_t width, std::size_t height);
int cudaHostAlloc(void** to, std::size_t bytes, unsigned flags);
int cudaHostRegister(void* pointer, std::size_t bytes, unsigned flags);
int cudaHostGetDevicePointer(void** to, void* pointer, unsigned flags);
int cudaFree(void* pointer);
int cudaFreeHost(void* pointer);
int cudaMallocAsync(void** to, std::size_t bytes, Stream stream);
int cudaFreeAsync(void* pointer, Stream stream);
int cudaDeviceGetDefaultMemPool(Pool* pool, int device);
int cudaMemcpy(void* to, const void* from, std::size_t bytes, int kind);
int cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, int kind, Stream stream);
int cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                 std::size_t width, std::size_t height, int kind);
int cudaMemcpy3D(const Copy3d* parameters);
int cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t bytes, std::size_t offset,
                       int kind);
int cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                         int kind);
int cudaMemset(void* to, int value, std::size_t bytes);
int cudaMalloc3DArray(Array* array, const Channel* format, Extent extent, unsigned flags);
int cudaFreeArray(Array array);
int cudaDeviceSynchronize();
int cudaGetLastError();
int cudaPeekAtLastError();
const char* cudaGetErrorName(int code);
int cudaSetDevice(int device);
int cudaDeviceGetAttribute(int* value, int attribute, int device);
int cudaGetDeviceProperties(void* to, int device);
int cudaStreamCreate(Stream* stream);
int cudaStreamCreateWithFlags(Stream* stream, unsigned flags);
int cudaStreamDestroy(Stream stream);
int cudaStreamSynchronize(Stream stream);
int cudaStreamWaitEvent(Stream stream, Event event, unsigned flags);
int cudaEventCreate(Event* event);
int cudaEventRecord(Event event, Stream stream);
int cudaEventSynchronize(Event event);
int cudaEventElapsedTime(float* milliseconds, Event from, Event to);
int cudaLaunchHostFunc(Stream stream, void (*function)(void*), void* data);
int cudaStreamBeginCapture(Stream stream, int mode);
int cudaStreamEndCapture(Stream stream, Graph* graph);
int cudaStreamIsCapturing(Stream stream, int* status);
int cudaStreamGetCaptureInfo(Stream stream, int* status, unsigned long long* id, Graph* graph,
                             const Node** dependencies, const void** edges, std::size_t* count);
int cudaThreadExchangeStreamCaptureMode(int* mode);
int cudaStreamQuery(Stream stream);
int cudaStreamAddCallback(Stream stream, void (*function)(Stream, int, void*), void* data,
                          unsigned flags);
int cudaStreamAttachMemAsync(Stream stream, void* pointer, std::size_t bytes, unsigned flags);
int cudaEventQuery(Event event);
int cudaEventRecordWithFlags(Event event, Stream stream, unsigned flags);
int cudaDeviceReset();
int cudaMallocHost(void** to, std::size_t bytes);
int cudaHostUnregister(void* pointer);
int cudaMemsetAsync(void* to, int value, std::size_t bytes, Stream stream);
int cudaGraphDestroy(Graph graph);
int cudaGraphCreate(Graph* graph, unsigned flags);
int cudaGraphAddKernelNode(Node* node, Graph graph, const Node* dependencies, std::size_t count,
                           const KernelNode* parameters);
int cudaGraphKernelNodeGetParams(Node node, KernelNode* parameters);
int cudaGraphKernelNodeSetParams(Node node, const KernelNode* parameters);
int cudaGraphGetNodes(Graph graph, Node* nodes, std::size_t* count);
int cudaGraphNodeGetType(Node node, int* type);
int cudaGraphAddMemsetNode(Node* node, Graph graph, const Node* dependencies, std::size_t count,
                           const MemsetNode* parameters);
int cudaGraphInstantiate(GraphExec* exec, Graph graph, unsigned long long flags);
int cudaGraphLaunch(GraphExec exec, Stream stream);
int cudaGraphExecDestroy(GraphExec exec);
int cudaIpcGetMemHandle(void* handle, void* pointer);
int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int threads,
                                                  std::size_t shared);
int cudaFuncSetAttribute(const void* function, int attribute, int value);
}

/// A container with one entry, as nvcc -no-compress writes it.
inline std::string container(const std::string& content, std::uint16_t kind, std::uint32_t sm) {
  std::string payload = content + '\0';
  payload.resize((payload.size() + 7) / 8 * 8);
  const auto put = [](std::string& to, auto value) {
    to.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  std::string entry;
  put(entry, kind);
  put(entry, std::uint16_t{0x0101});
  put(entry, std::uint32_t{64});
  put(entry, std::uint64_t{payload.size()});
  put(entry, std::uint64_t{0});
  put(entry, std::uint32_t{0x00080000});
  put(entry, sm);
  put(entry, std::uint64_t{0});
  put(entry, std::uint64_t{0x11});
  put(entry, std::uint64_t{0});
  put(entry, std::uint64_t{0});
  std::string out;
  put(out, std::uint32_t{0xBA55ED50});
  put(out, std::uint16_t{1});
  put(out, std::uint16_t{16});
  put(out, std::uint64_t{entry.size() + payload.size()});
  return out + entry + payload;
}

/// Registers the container as a program's constructors do. It must stay.
inline void** register_binary(const std::string& bytes) {
  struct Wrapper {
    std::uint32_t magic, version;
    const void *data, *extra;
  };
  static Wrapper wrappers[8];
  static int used = 0;
  wrappers[used] = {0x466243b1, 1, bytes.data(), nullptr};
  return __cudaRegisterFatBinary(&wrappers[used++]);
}
