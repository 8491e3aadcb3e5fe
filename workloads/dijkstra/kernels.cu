// Shortest paths as products of matrix and vector in which minimum stands for sum and sum for
// product, one thread per vertex. See README.md.
#include "common/cuda_lite.h"

// relaxed[v] = min(distance[v], weight[e] + distance[column[e]] of all edges e of v). Who gets a
// shorter distance remembers the edge's end, the first of those that are equally good.
extern "C" __global__ void dijkstra_relax(const unsigned* row, const unsigned* column,
                                          const unsigned* weight, const unsigned* distance,
                                          unsigned* relaxed, unsigned* parent, unsigned n) {
  unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  unsigned own = distance[v], best = own, through = 0;
#pragma unroll 1
  for (unsigned e = row[v], end = row[v + 1]; e < end; ++e) {
    unsigned target = column[e], offer = weight[e] + distance[target];
    if (offer < best) best = offer, through = target;
  }
  relaxed[v] = best;
  if (best < own) parent[v] = through;
}

// *more tells the host to go on.
extern "C" __global__ void dijkstra_compare(const unsigned* distance, const unsigned* relaxed,
                                            unsigned* more, unsigned n) {
  unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v < n && distance[v] != relaxed[v]) *more = 1;
}

extern "C" __global__ void dijkstra_assign(unsigned* distance, const unsigned* relaxed,
                                           unsigned n) {
  unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v < n) distance[v] = relaxed[v];
}
