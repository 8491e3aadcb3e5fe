// What the parent kernels of nested_bfs, nested_sssp and nested_coloring share besides
// child_device.h: which edges of a row are its child's, and room in lists.
#pragma once
#include "common/child_device.h"

// Flat: no row has a child. Blocks, Row: what the parameter `split` says.
enum class Split { Flat, Blocks, Row };
template <Split kSplit>
static __device__ __forceinline__ ChildShare share_of_row(unsigned length, unsigned threshold,
                                                          unsigned child_block) {
  if constexpr (kSplit == Split::Row) return child_share_of_all(length, threshold, child_block);
  else return child_share(length, threshold, child_block);
}

// Room for `count` words of this thread in a list of the whole grid, of which the block takes its
// share with one atomicAdd on *size. Every thread of the block calls, blockDim.x a multiple of 32.
struct Room {
  unsigned at;         // of this thread
  unsigned block_end;  // of its block
};
static __device__ __forceinline__ Room room_for(unsigned count, unsigned* size) {
  __shared__ unsigned sums[32];
  __shared__ unsigned base;
  unsigned total;
  const unsigned before = block_sum_before(count, sums, total);
  if (threadIdx.x == 0) base = total == 0 ? 0 : atomicAdd(size, total);
  __syncthreads();
  return {base + before, base + total};
}
