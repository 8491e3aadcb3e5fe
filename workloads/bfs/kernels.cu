// Breadth-first search by levels, one thread per vertex. See README.md.
#include "common/cuda_lite.h"

// Vertices of the frontier look at their neighbours. Several may write the same cost: all write the
// same value.
extern "C" __global__ void bfs_expand(const unsigned* __restrict__ row,
                                      const unsigned* __restrict__ column, unsigned char* frontier,
                                      unsigned char* updating,
                                      const unsigned char* __restrict__ visited, int* cost,
                                      unsigned n) {
  unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || !frontier[v]) return;
  frontier[v] = 0;
  int next = cost[v] + 1;
  for (unsigned e = row[v]; e < row[v + 1]; ++e) {
    unsigned neighbour = column[e];
    if (!visited[neighbour]) {
      cost[neighbour] = next;
      updating[neighbour] = 1;
    }
  }
}

// What was found becomes the next frontier; *more tells the host to go on.
extern "C" __global__ void bfs_advance(unsigned char* frontier, unsigned char* updating,
                                       unsigned char* visited, unsigned* more, unsigned n) {
  unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || !updating[v]) return;
  updating[v] = 0;
  frontier[v] = 1;
  visited[v] = 1;
  *more = 1;
}
