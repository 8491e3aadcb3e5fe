// Join of two relations sorted by key: a child writes the pairs of one right row. See README.md.
#include "common/child_device.h"

// As many rows of the left relation as a block has threads or less, where they find their partners,
// and where their pairs go.
struct Part {
  unsigned left_first, left_end, right_first, right_end, out_first;
};

// Pairs of the right row `right` with the left rows from left_first on, one for each thread.
extern "C" __global__ void join_pairs(unsigned* out_left, unsigned* out_right, unsigned left_first,
                                      unsigned right, unsigned out_first) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out_left[out_first + i] = left_first + i;
  out_right[out_first + i] = right;
}

// How many of the `count` ascending keys are below `bound`.
static __device__ unsigned keys_below(const unsigned* keys, unsigned count, unsigned bound) {
  unsigned first = 0;
  while (count > 0) {
    unsigned half = count / 2;
    if (keys[first + half] < bound) {
      first += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return first;
}

struct Output {
  unsigned* left;
  unsigned* right;
  unsigned threshold, child_block;
};

// The first count / child_block * child_block pairs by a child, the others by this thread; a
// threshold is not below child_block.
template <bool kNested>
static __device__ void write_pairs(const Output& out, unsigned left_first, unsigned right,
                                   unsigned count, unsigned at) {
  unsigned done = 0;
  if (kNested && count >= out.threshold) {
    unsigned blocks = count / out.child_block;
    LAUNCH_CHILD(join_pairs, blocks, out.child_block, own_stream(), out.left, out.right, left_first,
                 right, at);
    done = blocks * out.child_block;
  }
  for (; done < count; ++done) {
    out.left[at + done] = left_first + done;
    out.right[at + done] = right;
  }
}

// The parts of this block one by one: the keys of its left rows, and against them as many of the
// right ones; both in scratchpad. Each thread searches its right key among the left ones.
template <bool kNested>
static __device__ void match(const unsigned* left, const unsigned* right,
                             const unsigned* first_part, const Part* parts, const Output& out) {
  extern __shared__ unsigned staged[];
  __shared__ unsigned sums[32];
  unsigned* left_keys = staged;
  unsigned* right_keys = staged + blockDim.x;
  unsigned end = first_part[blockIdx.x + 1];
  for (unsigned p = first_part[blockIdx.x]; p < end; ++p) {
    Part part = parts[p];
    unsigned left_first = part.left_first, left_count = part.left_end - left_first;
    if (threadIdx.x < left_count) left_keys[threadIdx.x] = left[left_first + threadIdx.x];
    unsigned at = part.out_first;
    for (unsigned first = part.right_first; first < part.right_end; first += blockDim.x) {
      unsigned row = first + threadIdx.x;
      bool any = row < part.right_end;
      if (any) right_keys[threadIdx.x] = right[row];
      __syncthreads();
      unsigned from = 0, count = 0;
      if (any) {
        unsigned key = right_keys[threadIdx.x];
        from = keys_below(left_keys, left_count, key);
        count = keys_below(left_keys, left_count, key + 1) - from;
      }
      unsigned total;
      unsigned before = block_sum_before(count, sums, total);
      write_pairs<kNested>(out, left_first + from, row, count, at + before);
      at += total;
    }
    __syncthreads();
  }
}

extern "C" __global__ void join_match(const unsigned* left, const unsigned* right,
                                      const unsigned* first_part, const Part* parts,
                                      unsigned* out_left, unsigned* out_right, unsigned threshold,
                                      unsigned child_block) {
  match<true>(left, right, first_part, parts, {out_left, out_right, threshold, child_block});
}

extern "C" __global__ void join_match_flat(const unsigned* left, const unsigned* right,
                                           const unsigned* first_part, const Part* parts,
                                           unsigned* out_left, unsigned* out_right) {
  match<false>(left, right, first_part, parts, {out_left, out_right, 0, 0});
}
