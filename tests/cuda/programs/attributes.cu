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
  const auto made = [](cudaChannelFormatDesc format, cudaExtent extent, unsigned flags) {
    cudaArray_t of_shape = nullptr;
    const cudaError_t error = cudaMalloc3DArray(&of_shape, &format, extent, flags);
    if (error == cudaSuccess) cudaFreeArray(of_shape);
    return error;
  };
  const auto sized = [&](std::size_t width, std::size_t height, std::size_t depth,
                         unsigned flags = 0) {
    return made(cudaCreateChannelDesc<unsigned char>(), {width, height, depth}, flags);
  };
  constexpr unsigned cube = cudaArrayCubemap, layers = cudaArrayLayered;
  constexpr cudaError_t invalid = cudaErrorInvalidValue;
  expect(sized(8, 8, 6, cube) == cudaSuccess, "cube");
  expect(sized(8, 8, 12, cube | layers) == cudaSuccess, "two cubes");
  expect(sized(8, 4, 6, cube) == invalid, "a cube that is not square");
  expect(sized(8, 8, 12, cube) == invalid, "a cube of 12 faces");
  expect(sized(8, 8, 8, cube | layers) == invalid, "a cube and a third");
  expect(sized(8, 8, 0, layers) == invalid, "no layers");
  expect(sized(8, 0, 8) == invalid, "no rows");
  expect(sized(0, 8, 0) == invalid, "no columns");
  expect(sized(131072, 0, 0) == cudaSuccess, "the longest row");
  expect(sized(131073, 0, 0) == invalid, "a longer row");
  expect(sized(8, 65536, 0) == cudaSuccess, "the highest plane");
  expect(sized(8, 65537, 0) == invalid, "a higher plane");
  expect(sized(8, 8, 16384) == cudaSuccess, "the deepest");
  expect(sized(8, 8, 16385) == invalid, "too deep");
  expect(sized(8, 8, 2048, layers) == cudaSuccess, "most layers");
  expect(sized(8, 8, 2049, layers) == invalid, "too many layers");
  expect(sized(32769, 8, 0, cudaArrayTextureGather) == invalid, "gather of too much");
  expect(sized(32768, 0, 1, layers | cudaArraySurfaceLoadStore) == cudaSuccess, "a wide layer");
  const auto format = [&](int x, int y, int z, int w, cudaChannelFormatKind kind) {
    return made({x, y, z, w, kind}, {8, 8, 0}, 0);
  };
  constexpr auto odd = cudaErrorInvalidChannelDescriptor;
  expect(format(16, 16, 0, 0, cudaChannelFormatKindFloat) == cudaSuccess, "half2");
  expect(format(16, 8, 8, 0, cudaChannelFormatKindUnsigned) == odd, "channels of two sizes");
  expect(format(8, 8, 8, 0, cudaChannelFormatKindUnsigned) == odd, "three channels");
  expect(format(8, 0, 8, 0, cudaChannelFormatKindUnsigned) == odd, "a gap");
  expect(format(24, 0, 0, 0, cudaChannelFormatKindUnsigned) == odd, "24 bits");
  expect(format(64, 0, 0, 0, cudaChannelFormatKindUnsigned) == odd, "64 bits");
  expect(format(8, 0, 0, 0, cudaChannelFormatKindFloat) == odd, "a float of 8 bits");
  expect(format(8, 0, 0, 0, cudaChannelFormatKindNone) == odd, "of no kind");

  char* rows = nullptr;
  std::size_t pitch = 0;
  cudaMallocPitch(&rows, &pitch, 64, 64);
  const auto plane = [&](char* start, std::size_t width, std::size_t height, std::size_t apart) {
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D = {start, floats, width, height, apart};
    cudaTextureDesc fetch{};
    cudaTextureObject_t texture = 0;
    const cudaError_t error = cudaCreateTextureObject(&texture, &resource, &fetch, nullptr);
    if (error == cudaSuccess) cudaDestroyTextureObject(texture);
    return error;
  };
  expect(plane(rows, 16, 8, pitch) == cudaSuccess, "a plane");
  expect(plane(rows + 512, 16, 8, pitch) == cudaSuccess, "a plane further on");
  expect(plane(rows + 256, 16, 8, pitch) == invalid, "a plane that is not aligned");
  expect(plane(rows, 4, 8, 48) == invalid, "rows that are not aligned");
  expect(plane(rows, 16, 8, 32) == invalid, "rows that overlap");
  expect(plane(rows, 16, 65001, 64) == invalid, "too many rows");
  expect(plane(nullptr, 16, 8, pitch) == invalid, "a plane nowhere");
  void* pinned = nullptr;
  expect(cudaHostAlloc(&pinned, 64, 7) == cudaSuccess, "known flags");
  expect(cudaHostAlloc(&pinned, 64, 8) == invalid, "unknown flags");
  static char own_memory[64];
  expect(cudaHostRegister(own_memory, sizeof own_memory, 16) == invalid, "unknown flags");
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
