// Clusters and distributed shared memory, sm_90.
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/ptx>
namespace cg = cooperative_groups;
__global__ void __cluster_dims__(2, 1, 1) clusters(int* out) {
  __shared__ int mine[32];
  auto cluster = cg::this_cluster();
  mine[threadIdx.x] = threadIdx.x;
  cluster.sync();
  int* other = cluster.map_shared_rank(mine, cluster.block_rank() ^ 1);
  out[threadIdx.x] = other[threadIdx.x] + cluster.num_blocks() + cg::this_grid().cluster_rank();
  cluster.sync();
}
__global__ void bulk(const int* in, int* out) {
  __shared__ alignas(16) int buffer[128];
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  if (threadIdx.x == 0) { init(&bar, blockDim.x); }
  __syncthreads();
  if (threadIdx.x == 0) { cuda::memcpy_async(buffer, in, cuda::aligned_size_t<16>(sizeof(buffer)), bar); }
  bar.arrive_and_wait();
  out[threadIdx.x] = buffer[threadIdx.x];
}
