// A maximal independent set by local minima of random values, one thread per vertex. See README.md.
#include "common/cuda_lite.h"

constexpr unsigned kNone = ~0u;  // no vertex's value

extern "C" __global__ void mis_start(unsigned* decided, unsigned* update, unsigned* in_set,
                                     unsigned n) {
  unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  decided[v] = 0;
  update[v] = 0;
  in_set[v] = 0;
}

// The least value among the undecided vertices that an edge leads to; *more tells the host to go
// on.
extern "C" __global__ void mis_least(const unsigned* row, const unsigned* column,
                                     const unsigned* value, const unsigned* decided,
                                     unsigned* least, unsigned* more, unsigned n) {
  unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || decided[v]) return;
  *more = 1;
  unsigned found = kNone;
#pragma unroll 1
  for (unsigned e = row[v], end = row[v + 1]; e < end; ++e) {
    unsigned neighbour = column[e];
    if (decided[neighbour]) continue;
    unsigned its = value[neighbour];
    if (its < found) found = its;
  }
  least[v] = found;
}

// Who has the least joins the set, and with it all it has edges to are decided: noted in `update`,
// because others still read `decided`. Values are distinct: an equal one is the vertex's own, by an
// edge to itself.
extern "C" __global__ void mis_join(const unsigned* row, const unsigned* column,
                                    const unsigned* value, const unsigned* decided,
                                    const unsigned* least, unsigned* update, unsigned* in_set,
                                    unsigned n) {
  unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || decided[v] || value[v] > least[v]) return;
  in_set[v] = 1;
  update[v] = 1;
#pragma unroll 1
  for (unsigned e = row[v], end = row[v + 1]; e < end; ++e) {
    unsigned neighbour = column[e];
    if (!decided[neighbour]) update[neighbour] = 1;
  }
}

extern "C" __global__ void mis_update(const unsigned* update, unsigned* decided, unsigned n) {
  unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v < n && update[v]) decided[v] = 1;
}
