// What kernels that launch kernels share beside device_launch.h: how a thread's work is divided
// between child blocks and itself, a stream of its own for each launching thread, and the running
// sum over a block that gives out places.
#pragma once
#include "common/device_launch.h"

/// Of `length` items children take whole blocks of `child_block`; one block that is not full where
/// `threshold` lets less be launched. The thread does the others itself after its launch.
struct ChildShare {
  unsigned blocks, length;
};
static __device__ __forceinline__ ChildShare child_share(unsigned length, unsigned threshold,
                                                         unsigned child_block) {
  if (length < threshold) return {0, 0};
  if (length < child_block) return {1, length};
  unsigned blocks = length / child_block;
  return {blocks, blocks * child_block};
}

/// All of it is the children's; their last block may not be full.
static __device__ __forceinline__ ChildShare child_share_of_all(unsigned length, unsigned threshold,
                                                                unsigned child_block) {
  if (length < threshold) return {0, 0};
  return {(length + child_block - 1) / child_block, length};
}

/// Children in the default stream of a block would wait for each other.
static __device__ __forceinline__ cudaStream_t own_stream() {
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  return stream;
}

/// Sum of `value` over the threads before this one, and over all of the block in `total`. `sums`:
/// 32 words of scratchpad. All threads of the block call it; the block is a multiple of 32.
static __device__ __forceinline__ unsigned block_sum_before(unsigned value, unsigned* sums,
                                                            unsigned& total) {
  unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  unsigned up_to = value;
  for (unsigned step = 1; step < 32; step *= 2) {
    unsigned other = __shfl_up_sync(~0u, up_to, step);
    if (lane >= step) up_to += other;
  }
  if (lane == 31) sums[warp] = up_to;
  __syncthreads();
  if (warp == 0) {
    unsigned of_warps = lane < blockDim.x / 32 ? sums[lane] : 0;
    for (unsigned step = 1; step < 32; step *= 2) {
      unsigned other = __shfl_up_sync(~0u, of_warps, step);
      if (lane >= step) of_warps += other;
    }
    sums[lane] = of_warps;
  }
  __syncthreads();
  total = sums[31];
  unsigned before = up_to - value + (warp == 0 ? 0 : sums[warp - 1]);
  __syncthreads();  // sums may be written again
  return before;
}
