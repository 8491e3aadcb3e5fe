// Breadth-first search by lists of vertices, in which long rows are expanded by child kernels. See
// README.md.
#include "common/nested_work.h"

// One edge a thread: list[at + i] = column[first + i].
extern "C" __global__ void nested_bfs_child(unsigned first, unsigned length, const unsigned* column,
                                            unsigned* list, unsigned at) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < length) list[at + i] = column[first + i];
}

struct Expansion {
  const unsigned *row, *column;
  unsigned* distance;
  const unsigned* frontier;
  unsigned *list, *list_size;
  unsigned frontier_size, capacity, level;
};

// The neighbours of the frontier's vertices into the list. A block whose neighbours find no room
// leaves them; the host sees it in *list_size.
template <Split kSplit>
static __device__ __forceinline__ void expand(const Expansion& e, unsigned threshold,
                                              unsigned child_block) {
  for (unsigned begin = blockIdx.x * blockDim.x; begin < e.frontier_size;
       begin += gridDim.x * blockDim.x) {
    const unsigned i = begin + threadIdx.x;
    unsigned first = 0, length = 0;
    if (i < e.frontier_size) {
      const unsigned v = e.frontier[i];
      if (e.distance[v] == ~0u) e.distance[v] = e.level;
      first = e.row[v];
      length = e.row[v + 1] - first;
    }
    const Room room = room_for(length, e.list_size);
    if (room.block_end > e.capacity) return;
    unsigned at = room.at;
    if constexpr (kSplit != Split::Flat) {
      const ChildShare child = share_of_row<kSplit>(length, threshold, child_block);
      if (child.blocks != 0) {
        LAUNCH_CHILD(nested_bfs_child, child.blocks, child_block, own_stream(), first, child.length,
                     e.column, e.list, at);
        first += child.length;
        length -= child.length;
        at += child.length;
      }
    }
    for (unsigned k = 0; k < length; ++k) e.list[at + k] = e.column[first + k];
  }
}

extern "C" __global__ void nested_bfs_expand(const unsigned* row, const unsigned* column,
                                             unsigned* distance, const unsigned* frontier,
                                             unsigned* list, unsigned* list_size,
                                             unsigned frontier_size, unsigned capacity,
                                             unsigned level, unsigned threshold,
                                             unsigned child_block) {
  expand<Split::Blocks>(
      {row, column, distance, frontier, list, list_size, frontier_size, capacity, level}, threshold,
      child_block);
}

extern "C" __global__ void nested_bfs_expand_flat(const unsigned* row, const unsigned* column,
                                                  unsigned* distance, const unsigned* frontier,
                                                  unsigned* list, unsigned* list_size,
                                                  unsigned frontier_size, unsigned capacity,
                                                  unsigned level) {
  expand<Split::Flat>(
      {row, column, distance, frontier, list, list_size, frontier_size, capacity, level}, 0, 0);
}

// Those of the list whose bit is not set become the frontier. A byte has the bits of eight
// vertices and is written as a whole, not atomically: of bits set at the same time some are lost,
// and the same vertex may be found several times.
extern "C" __global__ void nested_bfs_contract(unsigned char* visited, const unsigned* list,
                                               unsigned* frontier, unsigned* frontier_size,
                                               unsigned list_size) {
  for (unsigned begin = blockIdx.x * blockDim.x; begin < list_size;
       begin += gridDim.x * blockDim.x) {
    const unsigned i = begin + threadIdx.x;
    unsigned v = 0, fresh = 0;
    if (i < list_size) {
      v = list[i];
      const unsigned char bits = visited[v / 8];
      const unsigned char bit = static_cast<unsigned char>(1u << v % 8);
      if ((bits & bit) == 0) {
        visited[v / 8] = bits | bit;
        fresh = 1;
      }
    }
    const Room room = room_for(fresh, frontier_size);
    if (fresh != 0) frontier[room.at] = v;
  }
}

// Of a row that has children they take all.
extern "C" __global__ void nested_bfs_expand_row(const unsigned* row, const unsigned* column,
                                                 unsigned* distance, const unsigned* frontier,
                                                 unsigned* list, unsigned* list_size,
                                                 unsigned frontier_size, unsigned capacity,
                                                 unsigned level, unsigned threshold,
                                                 unsigned child_block) {
  expand<Split::Row>(
      {row, column, distance, frontier, list, list_size, frontier_size, capacity, level}, threshold,
      child_block);
}
