// Thread-block clusters (sm_90) with distributed shared memory; clusters.cpp holds the references.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

/// Each block histograms its part into its own shared memory, then adds up bins of all of them.
extern "C" __global__ void __cluster_dims__(4, 1, 1) histogram(const unsigned char* in, int each, int* out) {
  __shared__ int bins[64];
  const cg::cluster_group cluster = cg::this_cluster();
  for (int i = threadIdx.x; i < 64; i += blockDim.x) bins[i] = 0;
  cluster.sync();
  for (int i = threadIdx.x; i < each; i += blockDim.x) {
    const int v = in[blockIdx.x * each + i];
    int* const there = cluster.map_shared_rank(bins, v % cluster.num_blocks());  // its owner
    atomicAdd(there + v / 4, 1);
  }
  cluster.sync();
  for (int i = threadIdx.x; i < 64; i += blockDim.x)
    out[(blockIdx.x / 4 * 4 + cluster.block_rank()) * 64 + i] = bins[i];
}
/// A ring: each block reads its neighbour's shared memory.
extern "C" __global__ void __cluster_dims__(2, 2, 1) ring(int* out, unsigned* ids) {
  __shared__ int mine[32];
  const cg::cluster_group cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank(), n = cluster.num_blocks();
  const int block = blockIdx.y * gridDim.x + blockIdx.x;
  mine[threadIdx.x] = block * 100 + threadIdx.x;
  cluster.sync();
  const int* const next = cluster.map_shared_rank(mine, (rank + 1) % n);
  out[block * 32 + threadIdx.x] = next[31 - threadIdx.x];
  cluster.sync();
  if (threadIdx.x == 0) {
    const dim3 at = cluster.block_index(), size = cluster.dim_blocks();
    ids[4 * block] = rank, ids[4 * block + 1] = at.x + 10 * at.y, ids[4 * block + 2] = size.x * size.y;
    unsigned x, y;
    asm volatile("mov.u32 %0, %%clusterid.x;" : "=r"(x));
    asm volatile("mov.u32 %0, %%nclusterid.y;" : "=r"(y));
    ids[4 * block + 3] = x + 10 * y;
  }
}
/// shared::cluster by hand: arrive and wait apart, stores to the other block.
extern "C" __global__ void __cluster_dims__(2, 1, 1) exchange(int* out) {
  __shared__ int box[64];
  unsigned rank, address = static_cast<unsigned>(__cvta_generic_to_shared(box + threadIdx.x)), there;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank ^ 1));
  asm volatile("st.shared::cluster.u32 [%0], %1;" : : "r"(there), "r"(1000 * rank + threadIdx.x) : "memory");
  asm volatile("barrier.cluster.arrive.release.aligned;" : : : "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" : : : "memory");
  unsigned owner;
  asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(owner) : "r"(there));
  out[blockIdx.x * 64 + threadIdx.x] = box[threadIdx.x] + 1000000 * owner;
}
/// Which space a generic address of this block's and of the other block's shared memory is in.
extern "C" __global__ void __cluster_dims__(2, 1, 1) spaces(unsigned* out) {
  __shared__ int mine[4];
  const cg::cluster_group cluster = cg::this_cluster();
  const unsigned long long own = reinterpret_cast<unsigned long long>(mine);
  const unsigned long long other = reinterpret_cast<unsigned long long>(
      cluster.map_shared_rank(mine, cluster.block_rank() ^ 1));
  unsigned a, b, c, d;
  asm volatile("{ .reg .pred p; isspacep.shared p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(a) : "l"(own));
  asm volatile("{ .reg .pred p; isspacep.shared::cta p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(b) : "l"(other));
  asm volatile("{ .reg .pred p; isspacep.shared::cluster p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(c) : "l"(own));
  asm volatile("{ .reg .pred p; isspacep.shared::cluster p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(d) : "l"(other));
  out[blockIdx.x] = a | b << 1 | c << 2 | d << 3;
  cluster.sync();
}
