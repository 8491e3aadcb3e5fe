// Dense matrices from sparse ones and back, and products of dense ones where a sparse one has
// entries. A warp, or a part of it, has a line of the sparse matrix.
#include "raddle/cusparse/kernels/numbers.h"

namespace raddle::cusparse {

template <class T>
DEVICE bool counts_as_zero(T x) {
  if constexpr (__is_same(T, Half)) return (x.bits & 0x7fff) == 0;
  else return is_zero(x);
}

/// Writes a whole line of the dense matrix, whose element (i, j) is that of line i, index j.
template <class T>
DEVICE void fill_lines(const Sparse& a, const Dense& to) {
  const long long line = group_number(32);
  if (line >= a.lines) return;
  for (long long j = lane_number(); j < a.width; j += 32) element<T>(to, line, j) = T{};
  warp_barrier();
  const long long end = start_of(a, line + 1);
  for (long long entry = start_of(a, line) + lane_number(); entry < end; entry += 32)
    element<T>(to, line, index_at(a.indices, entry) - a.base) = at<T>(a.values, entry);
}
template <class T>
DEVICE void clear_lines(const Sparse& a, const Dense& to) {
  const long long line = group_number(32);
  if (line >= a.lines) return;
  for (long long j = lane_number(); j < a.width; j += 32) element<T>(to, line, j) = T{};
}
/// COO: a thread for each entry.
template <class T>
DEVICE void fill_entries(const Sparse& a, const Dense& to) {
  const long long entry = thread_number();
  if (entry >= a.entries) return;
  element<T>(to, index_at(a.positions, entry) - a.base, index_at(a.indices, entry) - a.base) =
      at<T>(a.values, entry);
}

template <class T>
DEVICE void count_lines(const Dense& from, long long lines, long long width, long long* counts) {
  const long long line = group_number(32);
  if (line >= lines) return;
  int count = 0;
  for (long long j = 0; j < width; j += 32) {
    const long long mine = j + lane_number();
    const bool found = mine < width && !counts_as_zero(element<T>(from, line, mine));
    count += ones(ballot(found));
  }
  if (lane_number() == 0) counts[line] = count;
}
/// Entries of a line in ascending order; `starts` are offsets of base 0.
template <class T>
DEVICE void take_lines(const Dense& from, const Sparse& to, const long long* starts) {
  const long long line = group_number(32);
  if (line >= to.lines) return;
  long long entry = starts[line];
  if (lane_number() == 0 && to.offsets.at != nullptr) {
    put_index(to.offsets, line, entry + to.base);
    if (line == to.lines - 1) put_index(to.offsets, to.lines, starts[to.lines] + to.base);
  }
  for (long long j = 0; j < to.width; j += 32) {
    const long long mine = j + lane_number();
    const T value = mine < to.width ? element<T>(from, line, mine) : T{};
    const bool found = !counts_as_zero(value);
    const unsigned all = ballot(found);
    if (found) {
      const long long where = entry + ones(all & lower_lanes());
      put_index(to.indices, where, mine + to.base);
      if (to.positions.at != nullptr) put_index(to.positions, where, line + to.base);
      at<T>(const_cast<void*>(to.values), where) = value;
    }
    entry += ones(all);
  }
}

/// Eight lanes share the depth of an entry, so that a warp has four entries of a row at once.
template <class T>
DEVICE void sddmm(const Sddmm& p) {
  constexpr int kLanes = 8, kEntries = 32 / kLanes;
  const long long row = group_number(32);
  if (row >= p.c.lines) return;
  const T alpha = value_of<T>(p.alpha), beta = value_of<T>(p.beta);
  const int lane = lane_number() % kLanes;
  const long long end = start_of(p.c, row + 1);
  for (long long first = start_of(p.c, row); first < end; first += kEntries) {
    const long long entry = first + lane_number() / kLanes;
    const bool inside = entry < end;
    T sum{};
    if (inside) {
      const long long column = index_at(p.c.indices, entry) - p.c.base;
      for (long long k = lane; k < p.depth; k += kLanes)
        sum += element<T>(p.a, row, k) * element<T>(p.b, k, column);
    }
    sum = sum_of_lanes(sum, kLanes);
    if (!inside || lane != 0) continue;
    T& c = at<T>(const_cast<void*>(p.c.values), entry);
    c = alpha * sum + scaled(beta, c);
  }
}

}  // namespace raddle::cusparse

using namespace raddle::cusparse;

#define CONVERSIONS(letter, T)                                                                  \
  extern "C" __global__ void __launch_bounds__(kThreads)                                        \
      sparse_##letter##dense(const Sparse a, const Dense to) {                                  \
    fill_lines<T>(a, to);                                                                       \
  }                                                                                             \
  extern "C" __global__ void __launch_bounds__(kThreads)                                        \
      sparse_##letter##dense_clear(const Sparse a, const Dense to) {                            \
    clear_lines<T>(a, to);                                                                      \
  }                                                                                             \
  extern "C" __global__ void __launch_bounds__(kThreads)                                        \
      sparse_##letter##dense_coo(const Sparse a, const Dense to) {                              \
    fill_entries<T>(a, to);                                                                     \
  }                                                                                             \
  extern "C" __global__ void __launch_bounds__(kThreads) sparse_##letter##nonzeros(             \
      const Dense from, long long lines, long long width, long long* counts) {                  \
    count_lines<T>(from, lines, width, counts);                                                 \
  }                                                                                             \
  extern "C" __global__ void __launch_bounds__(kThreads)                                        \
      sparse_##letter##from_dense(const Dense from, const Sparse to, const long long* starts) { \
    take_lines<T>(from, to, starts);                                                            \
  }
#define BOTH(letter, T)                                                                          \
  CONVERSIONS(letter, T)                                                                         \
  extern "C" __global__ void __launch_bounds__(kThreads) sparse_##letter##sddmm(const Sddmm p) { \
    sddmm<T>(p);                                                                                 \
  }
BOTH(s, float)
BOTH(d, double)
BOTH(c, ComplexFloat)
BOTH(z, ComplexDouble)
CONVERSIONS(h, Half)
