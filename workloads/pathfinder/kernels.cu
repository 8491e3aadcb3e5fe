// Cheapest path down a grid, several rows per launch with a shrinking halo. See README.md.
#include "common/cuda_lite.h"

constexpr int kThreads = 256;
constexpr int kNoPath = 0x7fffffff;

// From the costs `before` of reaching a row, those of the row `steps` further down; `wall` starts
// at the row after it. A block of 256 columns gives kThreads - 2 * halo results; steps <= halo.
extern "C" __global__ void __launch_bounds__(kThreads)
    pathfinder(const int* __restrict__ wall, const int* __restrict__ before,
               int* __restrict__ after, int columns, int steps, int halo) {
  __shared__ int cost[kThreads];
  int t = static_cast<int>(threadIdx.x);
  int column = static_cast<int>(blockIdx.x) * (kThreads - 2 * halo) - halo + t;
  bool exists = column >= 0 && column < columns;
  int mine = exists ? before[column] : kNoPath;
  cost[t] = mine;
  __syncthreads();
  for (int s = 0; s < steps; ++s) {
    bool active = exists && t > s && t < kThreads - 1 - s;
    if (active) mine = min(min(cost[t - 1], cost[t + 1]), cost[t]) + wall[s * columns + column];
    __syncthreads();
    if (active) cost[t] = mine;
    __syncthreads();
  }
  if (exists && t >= halo && t < kThreads - halo) after[column] = mine;
}

// The same with a second array in shared memory, from which a row goes back to the first: as the
// public program does it.
extern "C" __global__ void __launch_bounds__(kThreads)
    pathfinder_two_arrays(const int* __restrict__ wall, const int* __restrict__ before,
                          int* __restrict__ after, int columns, int steps, int halo) {
  __shared__ int cost[kThreads], next[kThreads];
  int t = static_cast<int>(threadIdx.x);
  int column = static_cast<int>(blockIdx.x) * (kThreads - 2 * halo) - halo + t;
  bool exists = column >= 0 && column < columns;
  cost[t] = exists ? before[column] : kNoPath;
  __syncthreads();
  for (int s = 0; s < steps; ++s) {
    bool active = exists && t > s && t < kThreads - 1 - s;
    if (active) next[t] = min(min(cost[t - 1], cost[t + 1]), cost[t]) + wall[s * columns + column];
    __syncthreads();
    if (s == steps - 1) break;
    if (active) cost[t] = next[t];
    __syncthreads();
  }
  if (exists && t >= halo && t < kThreads - halo) after[column] = next[t];
}
