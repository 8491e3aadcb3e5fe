// Score matrix of a global alignment, anti-diagonal by anti-diagonal of square blocks. See
// README.md.
#include "common/cuda_lite.h"

// scores and substitution are matrices of `width` words per row; row 0 and column 0 of scores are
// given. Block b of the launch does the kSide x kSide scores of block column left + b and block row
// bottom - b, counted from cell (1, 1): one thread per column, a wavefront inside shared memory.
template <int kSide>
__device__ __forceinline__ void align_block(const int* __restrict__ substitution, int* scores,
                                            int width, int left, int bottom, int penalty) {
  __shared__ int gain[kSide][kSide];
  __shared__ int score[kSide + 1][kSide + 1];
  int t = static_cast<int>(threadIdx.x), b = static_cast<int>(blockIdx.x);
  int corner = (bottom - b) * kSide * width + (left + b) * kSide;  // cell north-west of the block
  int first = corner + width + 1 + t;  // topmost cell of this thread's column

  for (int row = 0; row < kSide; ++row) gain[row][t] = substitution[first + row * width];
  if (t == 0) score[0][0] = scores[corner];
  score[0][t + 1] = scores[corner + 1 + t];
  score[t + 1][0] = scores[corner + (t + 1) * width];
  __syncthreads();

  for (int step = 0; step < 2 * kSide - 1; ++step) {
    int row = step - t;
    if (row >= 0 && row < kSide) {
      int aligned = score[row][t] + gain[row][t];
      int gap = max(score[row + 1][t], score[row][t + 1]) - penalty;
      score[row + 1][t + 1] = max(aligned, gap);
    }
    __syncthreads();
  }

  for (int row = 0; row < kSide; ++row) scores[first + row * width] = score[row + 1][t + 1];
}

extern "C" __global__ void __launch_bounds__(16)
    nw_diagonal_16(const int* __restrict__ substitution, int* scores, int width, int left,
                   int bottom, int penalty) {
  align_block<16>(substitution, scores, width, left, bottom, penalty);
}

extern "C" __global__ void __launch_bounds__(8)
    nw_diagonal_8(const int* __restrict__ substitution, int* scores, int width, int left,
                  int bottom, int penalty) {
  align_block<8>(substitution, scores, width, left, bottom, penalty);
}
