// Colouring by rounds of local maxima of random values, in which long rows are scanned by child
// kernels. See README.md.
#include "common/nested_work.h"

constexpr unsigned kUncolored = ~0u;  // as in nested_coloring.cpp

// One edge a thread: the value of a neighbour without colour goes into its vertex's word.
extern "C" __global__ void nested_coloring_child(unsigned first, unsigned length,
                                                 const unsigned* column, const unsigned* color,
                                                 const unsigned* value, unsigned* greatest) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= length) return;
  const unsigned neighbour = column[first + i];
  if (color[neighbour] == kUncolored) atomicMax(greatest, value[neighbour]);
}

// greatest[v]: the greatest value among v's neighbours without colour, 0 if there is none.
template <Split kSplit>
static __device__ __forceinline__ void scan(const unsigned* row, const unsigned* column,
                                            const unsigned* color, const unsigned* value,
                                            unsigned* greatest, unsigned n, unsigned threshold,
                                            unsigned child_block) {
  for (unsigned v = blockIdx.x * blockDim.x + threadIdx.x; v < n; v += gridDim.x * blockDim.x) {
    if (color[v] != kUncolored) continue;
    unsigned first = row[v], most = 0;
    const unsigned end = row[v + 1];
    ChildShare child{0, 0};
    if constexpr (kSplit != Split::Flat) {
      child = share_of_row<kSplit>(end - first, threshold, child_block);
      if (child.blocks != 0) {
        greatest[v] = 0;
        LAUNCH_CHILD(nested_coloring_child, child.blocks, child_block, own_stream(), first,
                     child.length, column, color, value, greatest + v);
        first += child.length;
      }
    }
    for (unsigned e = first; e < end; ++e) {
      const unsigned neighbour = column[e];
      if (color[neighbour] == kUncolored && value[neighbour] > most) most = value[neighbour];
    }
    if (child.blocks == 0) greatest[v] = most;
    else if (most != 0) atomicMax(&greatest[v], most);
  }
}

extern "C" __global__ void nested_coloring_scan(const unsigned* row, const unsigned* column,
                                                const unsigned* color, const unsigned* value,
                                                unsigned* greatest, unsigned n, unsigned threshold,
                                                unsigned child_block) {
  scan<Split::Blocks>(row, column, color, value, greatest, n, threshold, child_block);
}

extern "C" __global__ void nested_coloring_scan_flat(const unsigned* row, const unsigned* column,
                                                     const unsigned* color, const unsigned* value,
                                                     unsigned* greatest, unsigned n) {
  scan<Split::Flat>(row, column, color, value, greatest, n, 0, 0);
}

// Who is greater than all neighbours left gets the round's colour; *more tells the host to go on.
extern "C" __global__ void nested_coloring_assign(const unsigned* value, const unsigned* greatest,
                                                  unsigned* color, unsigned* more, unsigned fresh,
                                                  unsigned n) {
  for (unsigned v = blockIdx.x * blockDim.x + threadIdx.x; v < n; v += gridDim.x * blockDim.x) {
    if (color[v] != kUncolored) continue;
    if (value[v] > greatest[v]) color[v] = fresh;
    else *more = 1;
  }
}

// Of a row that has children they take all.
extern "C" __global__ void nested_coloring_scan_row(const unsigned* row, const unsigned* column,
                                                    const unsigned* color, const unsigned* value,
                                                    unsigned* greatest, unsigned n,
                                                    unsigned threshold, unsigned child_block) {
  scan<Split::Row>(row, column, color, value, greatest, n, threshold, child_block);
}
