// Graph colouring by local extremes of random values, one thread per vertex. See README.md.
#include "common/cuda_lite.h"

constexpr unsigned kUncolored = ~0u;
constexpr unsigned kMaximum = ~0u;  // no vertex's value

struct Extremes {
  unsigned greatest, least;
};

// Among the uncoloured vertices that v's edges lead to; *more tells the host to go on.
static __device__ __forceinline__ Extremes of_neighbours(const unsigned* row,
                                                         const unsigned* column,
                                                         const unsigned* value,
                                                         const unsigned* color, unsigned* more,
                                                         unsigned v) {
  Extremes found{0, kMaximum};
  bool any = false;
#pragma unroll 1
  for (unsigned e = row[v], end = row[v + 1]; e < end; ++e) {
    unsigned neighbour = column[e];
    if (color[neighbour] != kUncolored) continue;
    any = true;
    unsigned its = value[neighbour];
    if (its > found.greatest) found.greatest = its;
    if (its < found.least) found.least = its;
  }
  if (any) *more = 1;
  return found;
}

extern "C" __global__ void coloring_max(const unsigned* row, const unsigned* column,
                                        const unsigned* value, const unsigned* color,
                                        unsigned* greatest, unsigned* more, unsigned n) {
  unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || color[v] != kUncolored) return;
  greatest[v] = of_neighbours(row, column, value, color, more, v).greatest;
}

extern "C" __global__ void coloring_max_min(const unsigned* row, const unsigned* column,
                                            const unsigned* value, const unsigned* color,
                                            unsigned* greatest, unsigned* least, unsigned* more,
                                            unsigned n) {
  unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || color[v] != kUncolored) return;
  Extremes found = of_neighbours(row, column, value, color, more, v);
  greatest[v] = found.greatest;
  least[v] = found.least;
}

// Values are distinct: an equal one is the vertex's own, by an edge to itself.
extern "C" __global__ void coloring_assign_max(const unsigned* value, unsigned* color,
                                               const unsigned* greatest, unsigned fresh,
                                               unsigned n) {
  unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || color[v] != kUncolored) return;
  if (value[v] >= greatest[v]) color[v] = fresh;
}

// Two colours at once: `fresh` for the greatest, the next one for the least.
extern "C" __global__ void coloring_assign_max_min(const unsigned* value, unsigned* color,
                                                   const unsigned* greatest, const unsigned* least,
                                                   unsigned fresh, unsigned n) {
  unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || color[v] != kUncolored) return;
  unsigned own = value[v];
  if (own >= greatest[v]) color[v] = fresh;
  else if (own <= least[v]) color[v] = fresh + 1;
}
