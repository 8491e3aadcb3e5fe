// Clusters whose size the launch says, and how many of them a machine holds. Ends with 0 when all is
// as it should be.
#include <cooperative_groups.h>

#include <cstdio>

__global__ void ring(unsigned* out) {
#if __CUDA_ARCH__ >= 900
  __shared__ unsigned own;
  const auto cluster = cooperative_groups::this_cluster();
  if (threadIdx.x == 0) own = blockIdx.x + 1;
  cluster.sync();
  const unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
  if (threadIdx.x == 0)
    out[blockIdx.x] = 100 * cluster.num_blocks() + *cluster.map_shared_rank(&own, next);
  cluster.sync();
#endif
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define PAIRS __cluster_dims__(2, 1, 1)
#else
#define PAIRS
#endif
__global__ void PAIRS pairs(unsigned* out) { out[blockIdx.x] = 1; }

int failed = 0;
void check(const char* what, long got, long wanted) {
  if (got == wanted) return;
  std::printf("%s: %ld, not %ld\n", what, got, wanted);
  ++failed;
}

cudaLaunchAttribute cluster_of(unsigned blocks) {
  cudaLaunchAttribute out{};
  out.id = cudaLaunchAttributeClusterDimension;
  out.val.clusterDim.x = blocks;
  out.val.clusterDim.y = out.val.clusterDim.z = 1;
  return out;
}

int main() {
  constexpr unsigned blocks = 8;
  unsigned* out;
  cudaMallocManaged(&out, 2 * blocks * sizeof *out);
  cudaLaunchAttribute four = cluster_of(4);
  cudaLaunchConfig_t shape{};
  shape.gridDim = blocks;
  shape.blockDim = 1024;
  int per_sm = 0, sms = 0, clusters = -1, largest = -1;
  cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, ring, 1024, 0);

  // Nobody has said how large they are.
  check("no size", cudaOccupancyMaxActiveClusters(&clusters, ring, &shape),
        cudaErrorInvalidClusterSize);
  check("largest", cudaOccupancyMaxPotentialClusterSize(&largest, ring, &shape), 0);
  check("portable", largest, 8);
  check("larger", cudaFuncSetAttribute(ring, cudaFuncAttributeNonPortableClusterSizeAllowed, 1), 0);
  check("largest", cudaOccupancyMaxPotentialClusterSize(&largest, ring, &shape), 0);
  check("not portable", largest, 16);
  shape.attrs = &four;
  shape.numAttrs = 1;
  check("size 4", cudaOccupancyMaxActiveClusters(&clusters, ring, &shape), 0);
  check("clusters of 4", clusters, per_sm * sms / 4);
  check("launch", cudaLaunchKernelEx(&shape, ring, out), 0);
  check("run", cudaDeviceSynchronize(), 0);
  for (unsigned b = 0; b < blocks; ++b) check("ring", out[b], 400 + b / 4 * 4 + (b + 1) % 4 + 1);

  // Clusters of 16 are for kernels that say that they may be so large.
  cudaLaunchAttribute sixteen = cluster_of(16);
  shape.attrs = &sixteen;
  shape.gridDim = 16;
  shape.blockDim = 32;
  check("not allowed",
        cudaFuncSetAttribute(ring, cudaFuncAttributeNonPortableClusterSizeAllowed, 0), 0);
  check("launch of 16", cudaLaunchKernelEx(&shape, ring, out), cudaErrorInvalidClusterSize);
  cudaGetLastError();
  check("allowed", cudaFuncSetAttribute(ring, cudaFuncAttributeNonPortableClusterSizeAllowed, 1),
        0);
  check("launch of 16", cudaLaunchKernelEx(&shape, ring, out), 0);
  check("run", cudaDeviceSynchronize(), 0);
  shape.gridDim = blocks;
  shape.blockDim = 1024;
  shape.attrs = &four;

  // A cluster of no blocks is none; (0, 0, 0) asks for none.
  cudaLaunchAttribute none = cluster_of(0);
  shape.attrs = &none;
  check("launch of 0", cudaLaunchKernelEx(&shape, ring, out), cudaErrorInvalidClusterSize);
  cudaGetLastError();
  shape.attrs = &four;

  // The kernel has said it.
  check("not its size", cudaOccupancyMaxActiveClusters(&clusters, pairs, &shape),
        cudaErrorInvalidClusterSize);
  shape.numAttrs = 0;
  check("its size", cudaOccupancyMaxActiveClusters(&clusters, pairs, &shape), 0);
  check("largest", cudaOccupancyMaxPotentialClusterSize(&largest, pairs, &shape), 0);
  check("its own", largest, 2);
  pairs<<<blocks, 32>>>(out);
  check("run", cudaDeviceSynchronize(), 0);
  cudaGetLastError();
  return failed == 0 ? 0 : 3;
}
