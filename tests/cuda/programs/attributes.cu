// What pointers and arrays are said to be.
#include <cstdio>

__managed__ int counter[4];
__device__ int own;
__global__ void add() { counter[threadIdx.x] += own + 1; }

int main() {
  int wrong = 0;
  const auto expect = [&](bool holds, const char* what) {
    if (!holds) std::printf("wrong: %s\n", what);
    wrong += !holds;
  };
  add<<<1, 4>>>();
  cudaDeviceSynchronize();
  cudaPointerAttributes is{};
  cudaPointerGetAttributes(&is, &counter[1]);
  expect(is.type == cudaMemoryTypeManaged && is.hostPointer == &counter[1], "managed variable");
  void* address = nullptr;
  cudaGetSymbolAddress(&address, own);
  cudaPointerGetAttributes(&is, address);
  expect(is.type == cudaMemoryTypeDevice && is.hostPointer == nullptr, "device variable");
  const cudaChannelFormatDesc floats = cudaCreateChannelDesc<float>();
  cudaArray_t array = nullptr;
  expect(cudaMallocArray(&array, &floats, 8, 8, cudaArrayTextureGather) == cudaSuccess, "gather");
  expect(cudaMallocArray(&array, &floats, 8, 0, cudaArrayTextureGather) != cudaSuccess,
         "gather of one dimension");
  return wrong;
}
