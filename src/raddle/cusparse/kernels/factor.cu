// Incomplete factorisations without fill-in, in place, by the levels of the lower triangle: a warp
// has a row, whose indices ascend. Rows of earlier levels are finished.
#include "raddle/cusparse/kernels/numbers.h"

namespace raddle::cusparse {

/// Where a column is among the entries from `low` up to `end`; -1 if it is not.
DEVICE int find_column(const Factor& f, int low, int end, int column) {
  while (low < end) {
    const int middle = low + (end - low) / 2;
    const int here = f.columns[middle] - f.base;
    if (here == column) return middle;
    if (here < column) low = middle + 1;
    else end = middle;
  }
  return -1;
}
DEVICE int first_of(const Factor& f, int row) { return f.offsets[row] - f.base; }

/// The least row without a pivot, counted as the caller counts. There is none at first: the largest
/// number.
DEVICE void report_pivot(int* at, int row) {
  if (lane_number() == 0) __atomic_fetch_min(at, row, __ATOMIC_RELAXED);
}
template <class T>
DEVICE double magnitude(T x) {
  const double real = real_of(x), imaginary = imaginary_of(x);
  return sqrt(real * real + imaginary * imaginary);
}

/// Row by row of U that this row of L names, as in Gaussian elimination (Saad, Iterative methods
/// for sparse linear systems, ILU(0) in its IKJ form).
template <class T>
DEVICE void eliminate_row(const Factor& matrix, int row) {
  T* const values = static_cast<T*>(matrix.values);
  const int start = first_of(matrix, row), end = first_of(matrix, row + 1);
  for (int k = start; k < end; ++k) {
    const int above = matrix.columns[k] - matrix.base;
    if (above >= row) break;
    const int above_end = first_of(matrix, above + 1);
    const int pivot = find_column(matrix, first_of(matrix, above), above_end, above);
    if (pivot < 0) continue;
    const T factor = values[k] / values[pivot];
    warp_barrier();
    if (lane_number() == 0) values[k] = factor;
    for (int from = pivot + 1 + lane_number(); from < above_end; from += 32) {
      const int to = find_column(matrix, k + 1, end, matrix.columns[from] - matrix.base);
      if (to >= 0) values[to] = values[to] - factor * values[from];
    }
    warp_barrier();
  }
  const int pivot = find_column(matrix, start, end, row);
  if (pivot < 0) {
    report_pivot(&matrix.pivots[kStructural], row + matrix.base);
    return;
  }
  if (matrix.boost_tolerance >= 0 && magnitude(values[pivot]) <= matrix.boost_tolerance) {
    warp_barrier();
    if (lane_number() == 0) values[pivot] = number<T>(matrix.boost_real, matrix.boost_imaginary);
    return;
  }
  if (is_zero(values[pivot])) report_pivot(&matrix.pivots[kNumerical], row + matrix.base);
}

/// L of A = L L^H, in the lower triangle; what is above is not touched.
template <class T>
DEVICE void factor_row(const Factor& matrix, int row) {
  T* const values = static_cast<T*>(matrix.values);
  const int start = first_of(matrix, row), end = first_of(matrix, row + 1);
  double diagonal = 0;
  for (int k = start; k < end; ++k) {
    const int above = matrix.columns[k] - matrix.base;
    if (above >= row) break;
    const int above_start = first_of(matrix, above);
    const int pivot = find_column(matrix, above_start, first_of(matrix, above + 1), above);
    if (pivot < 0) continue;
    T sum{};
    for (int from = above_start + lane_number(); from < pivot; from += 32) {
      const int other = find_column(matrix, start, k, matrix.columns[from] - matrix.base);
      if (other >= 0) sum += values[other] * conjugated(values[from], true);
    }
    sum = sum_of_lanes(sum, 32);
    if (lane_number() == 0) values[k] = (values[k] - sum) / values[pivot];
    warp_barrier();
    const double size = magnitude(values[k]);
    diagonal += size * size;
  }
  const int pivot = find_column(matrix, start, end, row);
  if (pivot < 0) {
    report_pivot(&matrix.pivots[kStructural], row + matrix.base);
    return;
  }
  const double square = real_of(values[pivot]) - diagonal;
  warp_barrier();
  if (square <= 0) report_pivot(&matrix.pivots[kNumerical], row + matrix.base);
  if (lane_number() == 0) values[pivot] = number<T>(sqrt(square), 0);
}

/// A grid does one level, a block several, a warp a row.
template <class T, bool kCholesky>
DEVICE void factor(const Factor& f) {
  const int warp = static_cast<int>(group_number(32));
  const int warps = static_cast<int>(gridDim.x) * kSolveWarps;
  for (int level = f.first_level; level < f.last_level; ++level) {
    for (int i = f.levels[level] + warp; i < f.levels[level + 1]; i += warps) {
      if constexpr (kCholesky) factor_row<T>(f, f.order[i]);
      else eliminate_row<T>(f, f.order[i]);
    }
    __syncthreads();
  }
}

}  // namespace raddle::cusparse

using namespace raddle::cusparse;

#define FACTORS(letter, T)                                       \
  extern "C" __global__ void __launch_bounds__(kSolveWarps * 32) \
      sparse_##letter##csrilu02(const Factor f) {                \
    factor<T, false>(f);                                         \
  }                                                              \
  extern "C" __global__ void __launch_bounds__(kSolveWarps * 32) \
      sparse_##letter##csric02(const Factor f) {                 \
    factor<T, true>(f);                                          \
  }
FACTORS(s, float)
FACTORS(d, double)
FACTORS(c, ComplexFloat)
FACTORS(z, ComplexDouble)
