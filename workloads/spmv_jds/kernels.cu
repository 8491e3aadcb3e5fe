// y = A x, A in jagged diagonals. See README.md.
#include "common/cuda_lite.h"

constexpr unsigned kWarp = 32;
constexpr int kMaximum = 5000;  // diagonals, and warps: both tables fit constant memory

__constant__ unsigned spmv_jds_start[kMaximum];  // of each diagonal, the place of its first entry
__constant__ int spmv_jds_length[kMaximum];      // of each warp, the entries of its rows

// Thread = row of the sorted matrix; all rows of a warp have as many entries. Loads run ahead: while
// entry k is added, those of k + 1 and the column of k + 2 are on their way. place: where a sorted
// row was before.
extern "C" __global__ void spmv_jds(const float* __restrict__ value, const int* __restrict__ column,
                                    const int* __restrict__ place, const float* __restrict__ x,
                                    float* __restrict__ y, unsigned rows) {
  const unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const int length = spmv_jds_length[row / kWarp];
  float sum = 0.0f;
  unsigned at = spmv_jds_start[0] + row;
  float factor = value[at], gathered = x[column[at]];
  if (length > 1) {
    at = spmv_jds_start[1] + row;
    int next = column[at];
#pragma unroll 1
    for (int k = 2; k < length; ++k) {
      const unsigned ahead = spmv_jds_start[k] + row;
      // In this order: a compiler would let the column wait until the sum is done.
      const int after_next = unknown(column[ahead]);
      const float next_factor = apart(value[at]), next_gathered = apart(x[next]);
      sum = apart(sum + factor * gathered);
      at = ahead;
      next = after_next;
      factor = next_factor;
      gathered = next_gathered;
    }
    const float last = value[at], last_gathered = x[next];
    sum += factor * gathered;
    factor = last;
    gathered = last_gathered;
  }
  y[place[row]] = sum + factor * gathered;
}
