// Breadth-first search by levels, one thread per vertex. See README.md.
#include "common/cuda_lite.h"

struct Vertex {
  int first, degree;
};

// Vertices of the frontier look at their neighbours. Several may write the same cost: all write the
// same value. Pointers are not __restrict__, as in Rodinia: a store may change what was loaded, so
// the vertex's record and its cost are loaded again after each, and only then.
// An edge is `edge_words` words, the first of them its target.
extern "C" __global__ void bfs_expand(const Vertex* vertex, const unsigned* edge,
                                      unsigned char* frontier, unsigned char* updating,
                                      const unsigned char* visited, int* cost, unsigned edge_words,
                                      unsigned n) {
  unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || !frontier[v]) return;
  frontier[v] = 0;
  int i = vertex[v].first;
  const unsigned* at = edge + static_cast<unsigned>(i) * edge_words;
  for (; i < vertex[v].first + vertex[v].degree; ++i, at += edge_words) {
    unsigned neighbour = *at;
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

// As bfs_expand, an edge being its target alone: without the edges' size a thread needs so few
// registers that an SM of 32,768 holds three blocks of 512.
extern "C" __global__ void bfs_expand_targets(const Vertex* vertex, const int* target,
                                              unsigned char* frontier, unsigned char* updating,
                                              const unsigned char* visited, int* cost, int n) {
  int v = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (v >= n || !frontier[v]) return;
  frontier[v] = 0;
  for (int i = vertex[v].first; i < vertex[v].first + vertex[v].degree; ++i) {
    int neighbour = target[i];
    if (!visited[neighbour]) {
      cost[neighbour] = cost[v] + 1;
      updating[unknown(neighbour)] = 1;  // its address is not made before it is needed
    }
  }
}
