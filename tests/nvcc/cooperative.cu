// Cooperative groups: the grid barrier, tiles, coalesced groups; cooperative.cpp holds the
// references.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

/// Jacobi steps on a ring, all in one launch.
extern "C" __global__ void ring(float* a, float* b, int n, int steps) {
  const cg::grid_group grid = cg::this_grid();
  for (int s = 0; s < steps; ++s) {
    const float* from = s % 2 == 0 ? a : b;
    float* to = s % 2 == 0 ? b : a;
    for (int i = static_cast<int>(grid.thread_rank()); i < n; i += static_cast<int>(grid.size()))
      to[i] = (from[(i + n - 1) % n] + 2.0f * from[i] + from[(i + 1) % n]) * 0.25f;
    grid.sync();
  }
}
/// The sum of all; the last phase reads what every block wrote.
extern "C" __global__ void sum_all(const int* in, int* partial, int* out, int n) {
  const cg::grid_group grid = cg::this_grid();
  const cg::thread_block block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<32>(block);
  __shared__ int sums[32];
  int sum = 0;
  for (int i = static_cast<int>(grid.thread_rank()); i < n; i += static_cast<int>(grid.size()))
    sum += in[i];
  sum = cg::reduce(tile, sum, cg::plus<int>());
  if (tile.thread_rank() == 0) sums[tile.meta_group_rank()] = sum;
  block.sync();
  if (block.thread_rank() == 0) {
    int total = 0;
    for (unsigned w = 0; w < tile.meta_group_size(); ++w) total += sums[w];
    partial[blockIdx.x] = total;
  }
  grid.sync();
  int total = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) total += partial[b];
  out[grid.thread_rank()] = total;
}
extern "C" __global__ void aggregate(const int* in, int* counter, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (in[i] % 3 != 0) return;
  const cg::coalesced_group active = cg::coalesced_threads();
  int first = 0;
  if (active.thread_rank() == 0) first = atomicAdd(counter, static_cast<int>(active.size()));
  first = active.shfl(first, 0);
  out[first + static_cast<int>(active.thread_rank())] = in[i];
}
extern "C" __global__ void tiles(int* out) {
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  const int v = threadIdx.x * 3;
  out[threadIdx.x] = tile.shfl_down(v, 1) + static_cast<int>(tile.ballot(v % 2 == 0)) * 1000 +
                     (tile.any(v == 21) ? 1000000 : 0);
}
/// Scans, reductions and partitions of half-warp tiles.
extern "C" __global__ void partitions(const int* in, int* out) {
  const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  const int v = in[threadIdx.x];
  int* const mine = out + 4 * threadIdx.x;
  mine[0] = cg::inclusive_scan(tile, v);
  mine[1] = cg::reduce(tile, v, cg::greater<int>());
  const auto alike = cg::labeled_partition(tile, v % 3);
  mine[2] = cg::reduce(alike, v, cg::plus<int>());
  const auto side = cg::binary_partition(tile, v > 50);
  mine[3] = static_cast<int>(100 * side.size() + side.thread_rank());
}
