// Sums of sparse matrices: a warp merges a row of A with one of B. Where an entry goes follows from
// its own number, a search in the other row, and how many columns before it are in both.
#include "raddle/cusparse/kernels/numbers.h"

namespace raddle::cusparse {

/// A row: its entries' columns from 0 on.
struct RowView {
  const int* columns;
  int start, count, base;
  __device__ __forceinline__ RowView(const int* offsets, const int* all, int row, int base_)
      : columns(all),
        start(offsets[row] - base_),
        count(offsets[row + 1] - offsets[row]),
        base(base_) {}
  __device__ __forceinline__ int column(int i) const { return columns[start + i] - base; }
  /// How many are before the column.
  __device__ __forceinline__ int below(int which) const {
    int low = 0, high = count;
    while (low < high) {
      const int middle = low + (high - low) / 2;
      if (column(middle) < which) low = middle + 1;
      else high = middle;
    }
    return low;
  }
};

/// Calls put(own number, the other's number, slot in the merged row, whether both have it) for each
/// entry of `own`; returns how many both have.
template <class Put>
DEVICE int merge(const RowView& own, const RowView& other, const Put& put) {
  int both = 0;
  for (int first = 0; first < own.count; first += 32) {
    const int i = first + lane_number();
    const bool inside = i < own.count;
    const int column = inside ? own.column(i) : 0;
    const int before = inside ? other.below(column) : 0;
    const bool common = inside && before < other.count && other.column(before) == column;
    const unsigned all = ballot(common);
    if (inside) put(i, before, i + before - both - ones(all & lower_lanes()), common);
    both += ones(all);
  }
  return both;
}

DEVICE void count_sums(const Geam& g) {
  const int row = static_cast<int>(group_number(32));
  if (row >= g.rows) return;
  const RowView a(g.a_offsets, g.a_columns, row, g.a_base);
  const RowView b(g.b_offsets, g.b_columns, row, g.b_base);
  const int both = merge(a, b, [](int, int, int, bool) {});
  if (lane_number() == 0) g.c_offsets[row] = a.count + b.count - both;
}
template <class T>
DEVICE void add_rows(const Geam& g) {
  const int row = static_cast<int>(group_number(32));
  if (row >= g.rows) return;
  const RowView a(g.a_offsets, g.a_columns, row, g.a_base);
  const RowView b(g.b_offsets, g.b_columns, row, g.b_base);
  const T alpha = value_of<T>(g.alpha), beta = value_of<T>(g.beta);
  const int start = g.c_offsets[row] - g.c_base;
  const auto put = [&](int slot, int column, T value) {
    g.c_columns[start + slot] = column + g.c_base;
    at<T>(g.c_values, start + slot) = value;
  };
  merge(a, b, [&](int i, int j, int slot, bool common) {
    T value = alpha * at<T>(g.a_values, a.start + i);
    if (common) value += beta * at<T>(g.b_values, b.start + j);
    put(slot, a.column(i), value);
  });
  merge(b, a, [&](int j, int, int slot, bool common) {
    if (!common) put(slot, b.column(j), beta * at<T>(g.b_values, b.start + j));
  });
}

}  // namespace raddle::cusparse

using namespace raddle::cusparse;

extern "C" __global__ void __launch_bounds__(kThreads) sparse_csrgeam2_count(const Geam g) {
  count_sums(g);
}
#define GEAM(letter, T)                                                                            \
  extern "C" __global__ void __launch_bounds__(kThreads) sparse_##letter##csrgeam2(const Geam g) { \
    add_rows<T>(g);                                                                                \
  }
GEAM(s, float)
GEAM(d, double)
GEAM(c, ComplexFloat)
GEAM(z, ComplexDouble)
