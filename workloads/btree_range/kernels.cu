// Ranges of keys in a B+ tree: where they start and how long they are. See README.md.
#include "common/cuda_lite.h"

// Nodes as in btree/kernels.cu.
constexpr int kOrder = 256, kPlaces = kOrder + 1;

struct Node {
  int location;
  int children[kPlaces];
  int keys[kPlaces];
  int leaf;
  int used;
};

struct Ends {
  long long* at;     // the node of each query
  long long* found;  // the child that a thread has found
  const int* keys;   // wanted
};

// The thread between whose keys the wanted one lies names the child.
static __device__ __forceinline__ void step_down(const Node* nodes, long long node_count,
                                                 const Ends& end, int query, int thread) {
  const Node* node = nodes + end.at[query];
  if (node->keys[thread] <= end.keys[query] && node->keys[thread + 1] > end.keys[query]) {
    const int* child = &nodes[end.found[query]].children[thread];
    if (*child < node_count) {
      read_again();
      end.found[query] = *child;
    }
  }
}

extern "C" __global__ void btree_range(long long height, const Node* nodes, long long node_count,
                                       long long* first_at, long long* first_found,
                                       long long* last_at, long long* last_found,
                                       const int* first_keys, const int* last_keys, int* starts,
                                       int* lengths) {
  const int thread = static_cast<int>(threadIdx.x), query = static_cast<int>(blockIdx.x);
  const Ends first{first_at, first_found, first_keys}, last{last_at, last_found, last_keys};
#pragma unroll 1
  for (long long level = 0; level < height; ++level) {
    step_down(nodes, node_count, first, query, thread);
    step_down(nodes, node_count, last, query, thread);
    __syncthreads();
    if (thread == 0) {
      first_at[query] = first_found[query];
      last_at[query] = last_found[query];
    }
    __syncthreads();
  }
  const Node* leaf = nodes + first_at[query];
  if (leaf->keys[thread] == first_keys[query]) starts[query] = leaf->children[thread];
  __syncthreads();
  leaf = nodes + last_at[query];
  if (leaf->keys[thread] == last_keys[query])
    lengths[query] = leaf->children[thread] - starts[query] + 1;
}
