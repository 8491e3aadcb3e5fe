// Score matrix of a global alignment, anti-diagonal by anti-diagonal of square blocks. See
// README.md.
#include "common/cuda_lite.h"

// One score from its three neighbours: `north_west` points to the first of them in a tile whose
// rows have kSide + 1 words, `gain` to what it is worth to align the two letters.
template <int kSide>
static __device__ __forceinline__ void align(int* north_west, const int* gain, int penalty) {
  int aligned = north_west[0] + *gain;
  int from_west = north_west[kSide + 1] - penalty;
  int from_north = north_west[1] - penalty;
  north_west[kSide + 2] = max(max(aligned, from_west), from_north);
}

// scores and substitution are matrices of `width` words per row; row 0 and column 0 of scores are
// given. Block b of the launch does the kSide x kSide scores of block column left + b and block row
// bottom - b, counted from cell (1, 1): one thread per column, a wavefront inside shared memory,
// first the diagonals that grow, then those that shrink. Loops are unrolled and barriers are where
// the well-known program has them, which decides how many instructions go with each line.
template <int kSide>
__device__ __forceinline__ void align_block(const int* substitution, int* scores, int width,
                                            int left, int bottom, int penalty) {
  __shared__ int gain[kSide][kSide];
  __shared__ int score[kSide + 1][kSide + 1];
  int t = static_cast<int>(threadIdx.x), b = static_cast<int>(blockIdx.x);
  int corner = (bottom - b) * kSide * width + (left + b) * kSide;  // cell north-west of the block
  int first = corner + width + 1 + t;  // topmost cell of this thread's column

  if (t == 0) score[0][0] = scores[corner];
  const int* from = substitution + first;
#pragma unroll
  for (int row = 0; row < kSide; ++row, from += width) gain[row][t] = *from;
  __syncthreads();
  score[t + 1][0] = scores[corner + (t + 1) * width];
  __syncthreads();
  score[0][t + 1] = scores[corner + 1 + t];
  __syncthreads();

  int* growing = &score[0][0] - t * kSide;
  const int* growing_gain = &gain[0][0] - t * (kSide - 1);
#pragma unroll
  for (int step = 0; step < kSide; ++step) {
    if (t <= step) align<kSide>(growing + step * (kSide + 1), growing_gain + step * kSide, penalty);
    __syncthreads();
  }
  int* shrinking = &score[kSide - 1][0] - t * kSide;
  const int* shrinking_gain = &gain[kSide - 1][0] - t * (kSide - 1);
#pragma unroll
  for (int step = 1; step < kSide; ++step) {
    if (t < kSide - step) align<kSide>(shrinking + step, shrinking_gain + step, penalty);
    __syncthreads();
  }

  int* to = scores + first;
#pragma unroll
  for (int row = 0; row < kSide; ++row, to += width) *to = score[row + 1][t + 1];
}

extern "C" __global__ void __launch_bounds__(16)
    nw_diagonal_16(const int* substitution, int* scores, int width, int left, int bottom,
                   int penalty) {
  align_block<16>(substitution, scores, width, left, bottom, penalty);
}

extern "C" __global__ void __launch_bounds__(8)
    nw_diagonal_8(const int* substitution, int* scores, int width, int left, int bottom,
                  int penalty) {
  align_block<8>(substitution, scores, width, left, bottom, penalty);
}
