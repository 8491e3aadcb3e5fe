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
  cudaMemPool_t pool = nullptr;
  cudaMemPoolProps props{};
  props.allocType = cudaMemAllocationTypePinned;
  props.location = {cudaMemLocationTypeDevice, 0};
  cudaMemPoolCreate(&pool, &props);
  const auto of_pool = [&](cudaMemPoolAttr attribute) {
    unsigned long long bytes = 0;
    cudaMemPoolGetAttribute(pool, attribute, &bytes);
    return bytes;
  };
  void *one = nullptr, *two = nullptr, *other = nullptr;
  cudaMallocFromPoolAsync(&one, 4000, pool, nullptr);
  cudaMallocFromPoolAsync(&two, 1000, pool, nullptr);
  cudaMallocAsync(&other, 70000, nullptr);
  expect(of_pool(cudaMemPoolAttrUsedMemCurrent) == 5000, "used by the pool");
  cudaFreeAsync(one, nullptr);
  cudaDeviceSynchronize();
  expect(of_pool(cudaMemPoolAttrUsedMemCurrent) == 1000, "used after a free");
  expect(of_pool(cudaMemPoolAttrUsedMemHigh) == 5000, "most ever used");
  expect(of_pool(cudaMemPoolAttrReservedMemHigh) >= of_pool(cudaMemPoolAttrReservedMemCurrent),
         "reserved");
  return wrong;
}
