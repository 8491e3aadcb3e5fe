// Breadth-first search by levels, one thread per vertex. See README.md.
#include "common/cuda_lite.h"

struct Vertex {
  unsigned first, degree;
};

// Vertices of the frontier look at their neighbours. Several may write the same cost: all write the
// same value. Pointers are not __restrict__, as in Rodinia: a store may change what was loaded, so
// the vertex and its cost are loaded again after each.
// An edge is `edge_words` words, the first of them its target.
extern "C" __global__ void bfs_expand(const Vertex* vertex, const unsigned* edge,
                                      unsigned char* frontier, unsigned char* updating,
                                      const unsigned char* visited, int* cost, unsigned edge_words,
                                      unsigned n) {
  unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || !frontier[v]) return;
  frontier[v] = 0;
  for (unsigned i = 0; i < vertex[v].degree; ++i) {
    unsigned neighbour = edge[(vertex[v].first + i) * edge_words];
    if (!visited[neighbour]) {
      cost[neighbour] = cost[v] + 1;
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
