// Shortest paths by lists of improved vertices, in which long rows are relaxed by child kernels. See
// README.md.
#include "common/nested_work.h"

struct Relaxation {
  const unsigned *column, *weight;
  unsigned* distance;
  unsigned *list, *list_size;
  unsigned capacity;
};

// Edge `e` of a vertex at distance `from`: who gets nearer is listed. The size is read again after
// the atomicAdd, as in the public program; it is beyond the capacity when there is no room.
static __device__ __forceinline__ void relax(const Relaxation& r, unsigned e, unsigned from) {
  const unsigned v = r.column[e];
  const unsigned through = from + r.weight[e];
  if (through >= r.distance[v]) return;
  if (through >= atomicMin(&r.distance[v], through)) return;
  const unsigned at = atomicAdd(r.list_size, 1);
  if (*static_cast<const volatile unsigned*>(r.list_size) > r.capacity) return;
  r.list[at] = v;
}

// One edge a thread.
extern "C" __global__ void nested_sssp_child(unsigned first, unsigned length, unsigned from,
                                             const unsigned* column, const unsigned* weight,
                                             unsigned* distance, unsigned* list,
                                             unsigned* list_size, unsigned capacity) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < length) relax({column, weight, distance, list, list_size, capacity}, first + i, from);
}

template <Split kSplit>
static __device__ __forceinline__ void expand(const unsigned* row, const unsigned* frontier,
                                              unsigned frontier_size, const Relaxation& r,
                                              unsigned threshold, unsigned child_block) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < frontier_size;
       i += gridDim.x * blockDim.x) {
    const unsigned v = frontier[i];
    const unsigned from = r.distance[v];
    unsigned first = row[v];
    const unsigned end = row[v + 1];
    if constexpr (kSplit != Split::Flat) {
      const ChildShare child = share_of_row<kSplit>(end - first, threshold, child_block);
      if (child.blocks != 0) {
        LAUNCH_CHILD(nested_sssp_child, child.blocks, child_block, own_stream(), first,
                     child.length, from, r.column, r.weight, r.distance, r.list, r.list_size,
                     r.capacity);
        first += child.length;
      }
    }
    for (unsigned e = first; e < end; ++e) relax(r, e, from);
  }
}

extern "C" __global__ void nested_sssp_expand(const unsigned* row, const unsigned* column,
                                              const unsigned* weight, unsigned* distance,
                                              const unsigned* frontier, unsigned* list,
                                              unsigned* list_size, unsigned frontier_size,
                                              unsigned capacity, unsigned threshold,
                                              unsigned child_block) {
  expand<Split::Blocks>(row, frontier, frontier_size,
                        {column, weight, distance, list, list_size, capacity}, threshold,
                        child_block);
}

extern "C" __global__ void nested_sssp_expand_flat(const unsigned* row, const unsigned* column,
                                                   const unsigned* weight, unsigned* distance,
                                                   const unsigned* frontier, unsigned* list,
                                                   unsigned* list_size, unsigned frontier_size,
                                                   unsigned capacity) {
  expand<Split::Flat>(row, frontier, frontier_size,
                      {column, weight, distance, list, list_size, capacity}, 0, 0);
}

// Of a row that has children they take all.
extern "C" __global__ void nested_sssp_expand_row(const unsigned* row, const unsigned* column,
                                                  const unsigned* weight, unsigned* distance,
                                                  const unsigned* frontier, unsigned* list,
                                                  unsigned* list_size, unsigned frontier_size,
                                                  unsigned capacity, unsigned threshold,
                                                  unsigned child_block) {
  expand<Split::Row>(row, frontier, frontier_size,
                     {column, weight, distance, list, list_size, capacity}, threshold, child_block);
}
