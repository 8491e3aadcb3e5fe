// What the parent kernels of nested_bfs, nested_sssp and nested_coloring share: how the work of one
// thread is divided between child blocks and the thread itself, and room in lists.
#pragma once
#include "common/device_launch.h"

// Edges that a child takes: whole blocks, for rows of `threshold` edges or more. The thread itself
// does the rest after its launch. Precondition: threshold >= child_block.
struct ChildShare {
  unsigned blocks, length;
};
static __device__ __forceinline__ ChildShare child_share(unsigned length, unsigned threshold,
                                                         unsigned child_block) {
  if (length < threshold) return {0, 0};
  const unsigned blocks = length / child_block;
  return {blocks, blocks * child_block};
}

// A stream of this thread's own: in the block's common one its children would run one by one.
static __device__ __forceinline__ cudaStream_t own_stream() {
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  return stream;
}

// Room for `count` words of this thread in a list of the whole grid, of which the block takes its
// share with one atomicAdd on *size. Every thread of the block calls, blockDim.x a multiple of 32.
struct Room {
  unsigned at;         // of this thread
  unsigned block_end;  // of its block
};
static __device__ __forceinline__ Room room_for(unsigned count, unsigned* size) {
  __shared__ unsigned before[32];
  __shared__ unsigned base, end;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  unsigned sum = count;
  for (unsigned delta = 1; delta < 32; delta *= 2) {
    const unsigned below = __shfl_up_sync(0xffffffffu, sum, delta);
    if (lane >= delta) sum += below;
  }
  __syncthreads();  // what the call before left has been read
  if (lane == 31) before[warp] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned total = 0;
#pragma unroll 1
    for (unsigned w = 0; w < blockDim.x / 32; ++w) {
      const unsigned its = before[w];
      before[w] = total;
      total += its;
    }
    base = total == 0 ? 0 : atomicAdd(size, total);
    end = base + total;
  }
  __syncthreads();
  return {base + before[warp] + sum - count, end};
}
