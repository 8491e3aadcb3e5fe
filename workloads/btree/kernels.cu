// Search in a B+ tree: a block per query, a thread per key of a node. See README.md.
#include "common/cuda_lite.h"

// Most children of a node, and one more place for the end of the last one's keys.
constexpr int kOrder = 256, kPlaces = kOrder + 1;

// 2068 bytes: nodes begin at different places of their lines. children are places in nodes, a
// leaf's are records.
struct Node {
  int location;
  int children[kPlaces];
  int keys[kPlaces];
  int leaf;
  int used;
};

// Where a query is lies in global memory: found[query] is the child that a thread found, and thread
// 0 makes it at[query], the node of the next level.
extern "C" __global__ void btree_find(long long height, const Node* nodes, long long node_count,
                                      const int* records, long long* at, long long* found,
                                      const int* queries, int* answers) {
  const int thread = static_cast<int>(threadIdx.x), query = static_cast<int>(blockIdx.x);
#pragma unroll 1
  for (long long level = 0; level < height; ++level) {
    const int* keys = nodes[at[query]].keys;
    const int low = keys[thread], wanted = queries[query];
    if (low <= wanted && keys[thread + 1] > wanted) {
      const int* child = &nodes[found[query]].children[thread];
      if (*child < node_count) {
        read_again();
        found[query] = *child;
      }
    }
    __syncthreads();
    if (thread == 0) at[query] = found[query];
    __syncthreads();
  }
  const Node* leaf = nodes + at[query];
  const int key = leaf->keys[thread];
  if (key == queries[query]) answers[query] = records[leaf->children[thread]];
}
