// Triangular systems by levels: rows of one level depend on none of each other (Naumov, Parallel
// solution of sparse triangular linear systems in the preconditioned iterative methods on the GPU,
// 2011). Levels follow one another by launches, or in one block by barriers: no thread ever waits
// for a value in memory, so this needs neither independent lanes nor blocks that run at once.
#include "raddle/cusparse/kernels/numbers.h"

namespace raddle::cusparse {

/// Whether row `row` needs the result of row `column` first.
DEVICE bool depends(int row, int column, int upper) {
  return upper != 0 ? column > row : column < row;
}

/// Dependences of each row; those that have none are the first level.
DEVICE void count_open(const int* offsets, const int* columns, const Levels& l) {
  constexpr int kLanes = 8;
  const int row = static_cast<int>(group_number(kLanes));
  int count = 0;
  if (row < l.rows)
    for (int k = offsets[row] + lane_number() % kLanes; k < offsets[row + 1]; k += kLanes)
      count += depends(row, columns[k], l.upper);
  count = sum_of_lanes(count, kLanes);
  if (row >= l.rows || lane_number() % kLanes != 0) return;
  l.open[row] = count;
  if (count == 0) l.order[atomic_add(&l.state->next, 1)] = row;
}

/// A warp goes through the rows that wait for this one.
DEVICE void release_children(const Levels& l, int row) {
  const int end = l.child_offsets[row + 1];
  for (int k = l.child_offsets[row] + lane_number(); k < end; k += 32) {
    const int child = l.children[k];
    if (depends(child, row, l.upper) && atomic_add(&l.open[child], -1) == 1)
      l.order[atomic_add(&l.state->next, 1)] = child;
  }
}
/// The rows found since are the next level, if there are any.
DEVICE void advance(const Levels& l) {
  LevelState& state = *l.state;
  state.first = state.last;
  state.last = state.next;
  if (state.last > state.first) l.levels[++state.levels] = state.last;
}

/// One block: levels one after another, for as long as they are narrow.
DEVICE void search_narrow(const Levels& l) {
  __shared__ int first, last;
  for (;;) {
    if (threadIdx.x == 0) {
      first = l.state->first;
      last = l.state->last;
    }
    __syncthreads();
    const int from = first, to = last;
    if (from == to || to - from > kNarrowLevel) return;
    for (int i = from + static_cast<int>(threadIdx.x) / 32; i < to; i += kSolveWarps)
      release_children(l, l.order[i]);
    __syncthreads();
    if (threadIdx.x == 0) advance(l);
    __syncthreads();
  }
}

template <class T>
DEVICE void take_diagonal(const Triangle& t, T* diagonal) {
  constexpr int kLanes = 8;
  const long long row = group_number(kLanes);
  if (row >= t.rows) return;
  for (int k = t.offsets[row] + lane_number() % kLanes; k < t.offsets[row + 1]; k += kLanes)
    if (t.columns[k] == row) diagonal[row] = at<T>(t.values, k);
}

/// One right-hand side: lanes share the entries of a row.
template <class T>
DEVICE void solve_row(const Solve& s, int row) {
  T sum{};
  const int end = s.a.offsets[row + 1];
  for (int k = s.a.offsets[row] + lane_number(); k < end; k += 32) {
    const int column = s.a.columns[k];
    if (depends(row, column, s.a.upper)) sum += at<T>(s.a.values, k) * at<T>(s.x.at, column);
  }
  sum = sum_of_lanes(sum, 32);
  if (lane_number() != 0) return;
  const T x = value_of<T>(s.alpha) * at<T>(s.b.at, row) - sum;
  at<T>(s.x.at, row) = s.a.unit != 0 ? x : x / at<T>(s.a.diagonal, row);
}
/// Several: lanes are columns.
template <class T>
DEVICE void solve_columns(const Solve& s, int row) {
  const long long column = static_cast<long long>(blockIdx.y) * 32 + lane_number();
  if (column >= s.columns) return;
  T sum{};
  const int end = s.a.offsets[row + 1];
  for (int k = s.a.offsets[row]; k < end; ++k) {
    const int from = s.a.columns[k];
    if (depends(row, from, s.a.upper)) sum += at<T>(s.a.values, k) * element<T>(s.x, from, column);
  }
  const T b = conjugated(element<T>(s.b, row, column), s.conjugate_b != 0);
  const T x = value_of<T>(s.alpha) * b - sum;
  element<T>(s.x, row, column) = s.a.unit != 0 ? x : x / at<T>(s.a.diagonal, row);
}

/// A grid does one level, a block several, a warp a row.
template <class T, bool kVector>
DEVICE void solve(const Solve& s) {
  const int warp = static_cast<int>(group_number(32));
  const int warps = static_cast<int>(gridDim.x) * kSolveWarps;
  for (int level = s.first_level; level < s.last_level; ++level) {
    for (int i = s.a.levels[level] + warp; i < s.a.levels[level + 1]; i += warps) {
      if constexpr (kVector) solve_row<T>(s, s.a.order[i]);
      else solve_columns<T>(s, s.a.order[i]);
    }
    __syncthreads();
  }
}

}  // namespace raddle::cusparse

using namespace raddle::cusparse;

extern "C" __global__ void __launch_bounds__(kThreads)
    sparse_levels_open(const int* offsets, const int* columns, const Levels l) {
  count_open(offsets, columns, l);
}
extern "C" __global__ void __launch_bounds__(kThreads) sparse_levels_wide(const Levels l) {
  const long long i = l.state->first + group_number(32);
  if (i < l.state->last) release_children(l, l.order[i]);
}
extern "C" __global__ void sparse_levels_advance(const Levels l) { advance(l); }
extern "C" __global__ void __launch_bounds__(kSolveWarps * 32)
    sparse_levels_narrow(const Levels l) {
  search_narrow(l);
}

#define SOLVES(letter, T)                                        \
  extern "C" __global__ void __launch_bounds__(kThreads)         \
      sparse_##letter##diagonal(const Triangle t, T* diagonal) { \
    take_diagonal(t, diagonal);                                  \
  }                                                              \
  extern "C" __global__ void __launch_bounds__(kSolveWarps * 32) \
      sparse_##letter##spsv(const Solve s) {                     \
    solve<T, true>(s);                                           \
  }                                                              \
  extern "C" __global__ void __launch_bounds__(kSolveWarps * 32) \
      sparse_##letter##spsm(const Solve s) {                     \
    solve<T, false>(s);                                          \
  }
SOLVES(s, float)
SOLVES(d, double)
SOLVES(c, ComplexFloat)
SOLVES(z, ComplexDouble)
