// Shortest paths by rounds of relaxing the edges of what changed, one thread per vertex. See
// README.md.
#include "common/cuda_lite.h"

struct Vertex {
  unsigned first, degree;
};
struct Edge {
  unsigned target, weight;
};

// Active vertices offer their neighbours a distance; who gets a shorter one is marked.
extern "C" __global__ void sssp_relax(const Vertex* vertex, const Edge* edge, unsigned char* active,
                                      unsigned char* improved, unsigned* distance, unsigned n) {
  unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || !active[v]) return;
  active[v] = 0;
  unsigned own = distance[v];
#pragma unroll 1
  for (unsigned i = 0; i < vertex[v].degree; ++i) {
    const Edge* out = edge + vertex[v].first + i;
    unsigned target = out->target, offer = own + out->weight;
    if (atomicMin(distance + target, offer) > offer) improved[target] = 1;
  }
}

// What was improved becomes active; *more tells the host to go on.
extern "C" __global__ void sssp_advance(unsigned char* active, unsigned char* improved,
                                        unsigned* more, unsigned n) {
  unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || !improved[v]) return;
  improved[v] = 0;
  active[v] = 1;
  *more = 1;
}
