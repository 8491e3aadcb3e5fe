// The driver interface, libcuda.so.1, over the runtime's objects: a CUfunction is a cudaFunction_t,
// a CUstream a cudaStream_t, the primary context the runtime's, and CUdeviceptr what cudaMalloc
// gives. Names are in driver.inc; most bodies are the runtime's own. Layouts and numbers are those
// of NVIDIA's cuda.h (toolkits 11 to 13).
#pragma once
#include <cstddef>
#include <functional>
#include <string>

#include "raddle/cudart/context.h"
#include "raddle/cudart/image.h"

namespace raddle::cudart {

// CUresult has the numbers of cudaError_t where both have a meaning.
inline constexpr Error kNotInitialized = kInitializationError,
                       kInvalidHandle = kInvalidResourceHandle, kNotFound = kSymbolNotFound;
inline constexpr Error kInvalidContext = static_cast<Error>(201), kFileNotFound = Error(301);

/// How it calls kNotSupported.
inline constexpr const char* kDriverNotSupported = "CUDA_ERROR_NOT_SUPPORTED";

/// What a call needs before it does anything; api.S has the numbers.
enum Needs : unsigned { kNothing = 0, kInitialized = 1, kCurrentContext = 2, kOwnStream = 4 };

/// CUresult of a code of the runtime's.
int driver_code(int code);
/// The thread's current context: the one on top of its stack, else the primary one when it has
/// called the runtime; null when there is none.
DriverContext* current_context(Context& c);
DriverContext& primary_context(Context& c);

/// Runs the body of a call of the driver interface and gives its CUresult.
int driver(const char* name, Needs needs, const std::function<Error(Context&)>& body);

/// Where the symbol is that cuGetProcAddress means by a name without version; null: nowhere.
/// `status` is CUdriverProcAddressQueryResult.
void* driver_entry(const std::string& name, int version, bool per_thread, int& status);
inline constexpr int kEntryFound = 0, kEntryNotFound = 1, kEntryTooNew = 2;

// Bodies of the runtime's that are called from here.
extern "C" {
int raddle_driver_enter(const char* name, unsigned needs);
int raddle_driver_leave(int code);
int raddle_cudaDeviceSynchronize();
int raddle_cudaFuncGetAttributes_11(FunctionAttributes* to, const void* function);
int raddle_cudaFuncSetAttribute(const void* function, int number, int value);
int raddle_cudaLaunchKernelExC(const HostLaunchConfiguration* configuration, const void* function,
                               void** arguments);
int raddle_cudaMalloc(void** to, std::size_t bytes);
int raddle_cudaMallocPitch(void** to, std::size_t* pitch, std::size_t width, std::size_t height);
int raddle_cudaMemcpy(void* to, const void* from, std::size_t bytes, CopyKind kind);
int raddle_cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, CopyKind kind,
                           Stream* stream);
int raddle_cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                        std::size_t width, std::size_t height, CopyKind kind);
int raddle_cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                             std::size_t from_pitch, std::size_t width, std::size_t height,
                             CopyKind kind, Stream* stream);
int raddle_cudaPointerGetAttributes(PointerAttributes* to, const void* pointer);
int raddle_cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function,
                                                         int block_size,
                                                         std::size_t dynamic_shared);
int raddle_cudaFuncSetCacheConfig(const void* function, int config);
int raddle_cudaOccupancyMaxActiveClusters(int* clusters, const void* function,
                                          const HostLaunchConfiguration* configuration);
int raddle_cudaOccupancyMaxPotentialClusterSize(int* blocks, const void* function,
                                                const HostLaunchConfiguration* configuration);
}

}  // namespace raddle::cudart
