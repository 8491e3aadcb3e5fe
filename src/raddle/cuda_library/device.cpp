#include "raddle/cuda_library/device.h"

#include "raddle/cudart/library_support.h"

// As the CUDA runtime and driver declare them; cudaError_t and CUresult are int, 0 is success.
extern "C" {
int cudaGetDevice(int* device);
int cudaDeviceGetAttribute(int* value, int attribute, int device);
int cudaMalloc(void** at, std::size_t bytes);
int cudaFree(void* at);
int cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, int kind, CUstream_st* stream);
int cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                 std::size_t width, std::size_t height, int kind);
int cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                      std::size_t width, std::size_t height, int kind, CUstream_st* stream);
int cudaMemsetAsync(void* at, int value, std::size_t bytes, CUstream_st* stream);
int cudaStreamSynchronize(CUstream_st* stream);
int cudaThreadExchangeStreamCaptureMode(int* mode);
int cudaLaunchKernel(const void* function, raddle::cuda_library::Dim3 grid,
                     raddle::cuda_library::Dim3 block, void** arguments, std::size_t shared_bytes,
                     CUstream_st* stream);
int cuModuleLoadData(CUmod_st** module, const void* image);
int cuModuleUnload(CUmod_st* module);
int cuModuleGetFunction(CUfunc_st** function, CUmod_st* module, const char* name);
int cuGetExportTable(const void** table, const void* uuid);
}

namespace raddle::cuda_library {

namespace {

constexpr int kDefaultKind = 4;  // cudaMemcpyDefault: by the addresses

void require(int code, DeviceFailure otherwise) {
  if (code != 0) throw otherwise;
}

}  // namespace

OutsideOfCaptures::OutsideOfCaptures() { cudaThreadExchangeStreamCaptureMode(&mode_); }
OutsideOfCaptures::~OutsideOfCaptures() { cudaThreadExchangeStreamCaptureMode(&mode_); }

Device::Device(Images images) : images_(images) {
  constexpr int kMultiprocessors = 16, kMajor = 75, kMinor = 76;  // cudaDeviceAttr
  int device = 0, major = 0, minor = 0;
  require(cudaGetDevice(&device), DeviceFailure::kNoDevice);
  require(cudaDeviceGetAttribute(&multiprocessors_, kMultiprocessors, device),
          DeviceFailure::kNoDevice);
  require(cudaDeviceGetAttribute(&major, kMajor, device), DeviceFailure::kNoDevice);
  require(cudaDeviceGetAttribute(&minor, kMinor, device), DeviceFailure::kNoDevice);
  capability_ = major * 10 + minor;
}

Device::~Device() {
  for (const auto& [stream, at] : rooms_) release(at);
  const OutsideOfCaptures outside;
  for (const auto& [name, module] : modules_) cuModuleUnload(module);
}

CUfunc_st* Device::kernel(const char* module, const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (const auto known = kernels_.find(name); known != kernels_.end()) return known->second;
  const OutsideOfCaptures outside;
  CUmod_st*& loaded = modules_[module];
  int device = 0;
  cudaGetDevice(&device);  // the thread's context is the runtime's then, unless it has another
  if (loaded == nullptr)
    require(cuModuleLoadData(&loaded, images_(module)), DeviceFailure::kWrongMachine);
  CUfunc_st* found = nullptr;
  require(cuModuleGetFunction(&found, loaded, name.c_str()), DeviceFailure::kNoKernel);
  return kernels_[name] = found;
}

void Device::launch(const char* module, const std::string& name, Dim3 grid, unsigned threads,
                    void** arguments, Stream stream) {
  require(cudaLaunchKernel(kernel(module, name), grid, {threads, 1, 1}, arguments, 0, stream),
          DeviceFailure::kExecution);
}

void* Device::room(Stream stream) {
  const std::lock_guard lock(mutex_);
  void*& at = rooms_[stream];
  if (at == nullptr) at = allocate(kRoomBytes);
  return at;
}

void* allocate(std::size_t bytes) {
  const OutsideOfCaptures outside;
  void* at = nullptr;
  require(cudaMalloc(&at, bytes), DeviceFailure::kNoMemory);
  return at;
}
void release(void* at) {
  const OutsideOfCaptures outside;
  cudaFree(at);
}

void copy(void* to, const void* from, std::size_t bytes, Stream stream) {
  require(cudaMemcpyAsync(to, from, bytes, kDefaultKind, stream), DeviceFailure::kExecution);
}
void clear(void* at, std::size_t bytes, Stream stream) {
  require(cudaMemsetAsync(at, 0, bytes, stream), DeviceFailure::kExecution);
}
void wait(Stream stream) { require(cudaStreamSynchronize(stream), DeviceFailure::kExecution); }

bool copy_lines(void* to, std::size_t to_apart, const void* from, std::size_t from_apart,
                std::size_t bytes, std::size_t lines) {
  return cudaMemcpy2D(to, to_apart, from, from_apart, bytes, lines, kDefaultKind) == 0;
}
bool copy_lines(void* to, std::size_t to_apart, const void* from, std::size_t from_apart,
                std::size_t bytes, std::size_t lines, Stream stream) {
  return cudaMemcpy2DAsync(to, to_apart, from, from_apart, bytes, lines, kDefaultKind, stream) == 0;
}

void lacks(const std::string& what, const char* code) {
  const void* table = nullptr;
  if (cuGetExportTable(&table, cudart::kLibraryTable) == 0 && table != nullptr)
    static_cast<const cudart::LibraryTable*>(table)->unsupported(what.c_str(), code);
}

}  // namespace raddle::cuda_library
