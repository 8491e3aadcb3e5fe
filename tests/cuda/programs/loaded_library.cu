// Libraries of the runtime: kernels that a program loads by itself, launched as its own are.
#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "driver.h"

#undef OK
#undef GIVES
#define OK(call) gives(cudaSuccess, call, #call, __LINE__)
#define GIVES(code, call) gives(code, call, #call, __LINE__)

namespace {

void gives(cudaError_t wanted, cudaError_t got, const char* what, int line) {
  cudaGetLastError();
  if (wanted == got) return;
  std::printf("line %d: %s gives %s\n", line, what, cudaGetErrorName(got));
  std::exit(1);
}

/// Affine, and a second kernel before it.
const std::string kTwo = [] {
  std::string text = kAffine;
  text.insert(text.find(".visible .entry"), ".visible .entry nothing()\n{\n  ret;\n}\n");
  return text;
}();

constexpr unsigned kCount = 500, kBlock = 128;

cudaLibrary_t loaded(const std::string& text) {
  cudaLibrary_t library = nullptr;
  OK(cudaLibraryLoadData(&library, text.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  HOLDS(library != nullptr);
  return library;
}

void kernels_are_found(cudaLibrary_t library) {
  unsigned count = 0;
  OK(cudaLibraryGetKernelCount(&count, library));
  HOLDS(count == 2);
  cudaKernel_t all[3] = {}, affine = nullptr, none = nullptr;
  OK(cudaLibraryEnumerateKernels(all, 3, library));
  OK(cudaLibraryGetKernel(&affine, library, "affine"));
  HOLDS(all[0] != nullptr && all[1] == affine && all[2] == nullptr);
  cudaKernel_t first[2] = {};
  OK(cudaLibraryEnumerateKernels(first, 1, library));
  HOLDS(first[0] == all[0] && first[1] == nullptr);
  GIVES(cudaErrorSymbolNotFound, cudaLibraryGetKernel(&none, library, "affin"));
  GIVES(cudaErrorInvalidValue, cudaLibraryGetKernel(&none, library, nullptr));
  const char* name = nullptr;
  OK(cudaFuncGetName(&name, reinterpret_cast<const void*>(all[0])));
  HOLDS(std::string(name) == "nothing");
}

void launches_compute(cudaLibrary_t library) {
  cudaKernel_t affine = nullptr;
  OK(cudaLibraryGetKernel(&affine, library, "affine"));
  std::uint32_t *from = nullptr, *to = nullptr, host[kCount], *bias = nullptr;
  OK(cudaMalloc(&from, sizeof host));
  OK(cudaMalloc(&to, sizeof host));
  for (unsigned i = 0; i < kCount; ++i) host[i] = 7 * i;
  OK(cudaMemcpy(from, host, sizeof host, cudaMemcpyHostToDevice));
  std::size_t bytes = 0;
  OK(cudaLibraryGetGlobal(reinterpret_cast<void**>(&bias), &bytes, library, "bias"));
  HOLDS(bytes == 4);
  const std::uint32_t plus = 11;
  OK(cudaMemcpy(bias, &plus, 4, cudaMemcpyHostToDevice));
  GIVES(cudaErrorSymbolNotFound,
        cudaLibraryGetGlobal(reinterpret_cast<void**>(&bias), &bytes, library, "byas"));
  unsigned factor = 3, count = kCount;
  void* arguments[] = {&to, &from, &factor, &count};
  const auto* const function = reinterpret_cast<const void*>(affine);
  OK(cudaLaunchKernel(function, dim3((kCount + kBlock - 1) / kBlock), dim3(kBlock), arguments, 0,
                      nullptr));
  OK(cudaMemcpy(host, to, sizeof host, cudaMemcpyDeviceToHost));
  for (unsigned i = 0; i < kCount; ++i) HOLDS(host[i] == 21 * i + 11);
  int blocks = 0;
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, kBlock, 0));
  HOLDS(blocks == 2048 / kBlock);
  OK(cudaKernelSetAttributeForDevice(affine, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024, 0));
  GIVES(cudaErrorInvalidDevice, cudaKernelSetAttributeForDevice(
                                    affine, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024, 1));
  GIVES(cudaErrorInvalidValue,
        cudaLaunchKernel(function, dim3(1), dim3(kBlock), arguments, 1025, nullptr));
}

void wrong_sources_are_refused() {
  cudaLibrary_t library = nullptr;
  char log[300] = "";
  cudaJitOption options[] = {cudaJitErrorLogBuffer, cudaJitErrorLogBufferSizeBytes};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  GIVES(cudaErrorInvalidValue,
        cudaLibraryLoadData(&library, nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0));
  GIVES(cudaErrorFileNotFound, cudaLibraryLoadFromFile(&library, "there is no such file", nullptr,
                                                       nullptr, 0, nullptr, nullptr, 0));
  std::string text = kAffine;
  text.replace(text.find("ret;"), 4, "ret,");
  GIVES(cudaErrorInvalidPtx,
        cudaLibraryLoadData(&library, text.c_str(), options, values, 2, nullptr, nullptr, 0));
  HOLDS(std::string(log).find("expected an operand") != std::string::npos && library == nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  const cudaLibrary_t library = loaded(kTwo);
  kernels_are_found(library);
  launches_compute(library);
  if (argc > 1) wrong_sources_are_refused();
  OK(cudaLibraryUnload(library));
  unsigned count = 0;
  GIVES(cudaErrorInvalidResourceHandle, cudaLibraryGetKernelCount(&count, library));
  (void)argv;
  std::puts("PASS");
  return 0;
}
