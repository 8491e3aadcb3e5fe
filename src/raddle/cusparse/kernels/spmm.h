// C = alpha op(A) op(B) + beta C, dense B and C. One warp for each row of op(A): its lanes are
// columns of C where B lies by rows, and entries of A where B lies by columns. For transposes of
// A, what each line gives is added where it belongs.
#pragma once
#include "raddle/cusparse/kernels/numbers.h"

namespace raddle::cusparse {

template <class In_, class Out_, class Acc_, class Offset_, class Index_>
struct SpmmTypes {
  using In = In_;
  using Out = Out_;
  using Acc = Acc_;
  using Offset = Offset_;
  using Index = Index_;
};

/// That of the batch which the block's z is.
DEVICE Spmm of_batch(const Spmm& all, int in_bytes, int out_bytes, int offset_bytes,
                     int index_bytes) {
  Spmm p = all;
  const long long number = blockIdx.z;
  const auto move = [&](const void* base, long long apart, int bytes) {
    return static_cast<const char*>(base) + number * apart * bytes;
  };
  p.a.offsets.at = move(p.a.offsets.at, p.a.offsets_apart, offset_bytes);
  p.a.indices.at = move(p.a.indices.at, p.a.entries_apart, index_bytes);
  p.a.values = move(p.a.values, p.a.entries_apart, in_bytes);
  p.b.at = const_cast<char*>(move(p.b.at, p.b.apart, in_bytes));
  p.c.at = const_cast<char*>(move(p.c.at, p.c.apart, out_bytes));
  return p;
}
template <class Types>
DEVICE Spmm of_batch(const Spmm& all) {
  return of_batch(all, sizeof(typename Types::In), sizeof(typename Types::Out),
                  sizeof(typename Types::Offset), sizeof(typename Types::Index));
}

/// Lanes are columns: an entry of A is read once for all of them.
template <class Types>
DEVICE void spmm_by_columns(const Spmm& all) {
  using Acc = typename Types::Acc;
  using In = typename Types::In;
  using Out = typename Types::Out;
  using Offset = typename Types::Offset;
  const Spmm p = of_batch<Types>(all);
  const long long row = group_number(32);
  const long long column = static_cast<long long>(blockIdx.y) * 32 + lane_number();
  if (row >= p.rows || column >= p.columns) return;
  const Acc alpha = value_of<Acc>(p.alpha), beta = value_of<Acc>(p.beta);
  const long long end = at<Offset>(p.a.offsets.at, row + 1) - p.a.base;
  Acc sum{};
  for (long long entry = at<Offset>(p.a.offsets.at, row) - p.a.base; entry < end; ++entry) {
    const long long from = at<typename Types::Index>(p.a.indices.at, entry) - p.a.base;
    const Acc a = conjugated(widened<Acc>(at<In>(p.a.values, entry)), p.conjugate_a != 0);
    sum += a * conjugated(widened<Acc>(element<In>(p.b, from, column)), p.conjugate_b != 0);
  }
  Out& c = element<Out>(p.c, row, column);
  c = narrowed<Out>(alpha * sum + scaled(beta, c));
}

/// Lanes are entries: a warp makes kSpmmColumns elements of a row.
template <class Types>
DEVICE void spmm_by_entries(const Spmm& all) {
  using Acc = typename Types::Acc;
  using In = typename Types::In;
  using Out = typename Types::Out;
  using Offset = typename Types::Offset;
  const Spmm product = of_batch<Types>(all);
  const long long row = group_number(32);
  const long long column0 = static_cast<long long>(blockIdx.y) * kSpmmColumns;
  const Acc alpha = value_of<Acc>(product.alpha), beta = value_of<Acc>(product.beta);
  Acc sum[kSpmmColumns] = {};
  if (row < product.rows) {
    const long long end = at<Offset>(product.a.offsets.at, row + 1) - product.a.base;
    long long entry = at<Offset>(product.a.offsets.at, row) - product.a.base;
    for (entry += lane_number(); entry < end; entry += 32) {
      const long long from =
          at<typename Types::Index>(product.a.indices.at, entry) - product.a.base;
      const Acc value =
          conjugated(widened<Acc>(at<In>(product.a.values, entry)), product.conjugate_a != 0);
#pragma unroll
      for (int j = 0; j < kSpmmColumns; ++j)
        if (column0 + j < product.columns)
          sum[j] += value * conjugated(widened<Acc>(element<In>(product.b, from, column0 + j)),
                                       product.conjugate_b != 0);
    }
  }
#pragma unroll
  for (int j = 0; j < kSpmmColumns; ++j) {
    const Acc whole = sum_of_lanes(sum[j], 32);
    if (row >= product.rows || lane_number() != 0 || column0 + j >= product.columns) continue;
    Out& result = element<Out>(product.c, row, column0 + j);
    result = narrowed<Out>(alpha * whole + scaled(beta, result));
  }
}

/// A line of A is a column of op(A): a warp adds its products, lanes are columns of C.
template <class Types>
DEVICE void spmm_scatter(const Spmm& all) {
  using Acc = typename Types::Acc;
  using In = typename Types::In;
  using Offset = typename Types::Offset;
  const Spmm p = of_batch<Types>(all);
  const long long line = group_number(32);
  const long long column = static_cast<long long>(blockIdx.y) * 32 + lane_number();
  if (line >= p.a.lines || column >= p.columns) return;
  const Acc b = value_of<Acc>(p.alpha) *
                conjugated(widened<Acc>(element<In>(p.b, line, column)), p.conjugate_b != 0);
  const long long end = at<Offset>(p.a.offsets.at, line + 1) - p.a.base;
  for (long long entry = at<Offset>(p.a.offsets.at, line) - p.a.base; entry < end; ++entry) {
    const long long to = at<typename Types::Index>(p.a.indices.at, entry) - p.a.base;
    const Acc a = conjugated(widened<Acc>(at<In>(p.a.values, entry)), p.conjugate_a != 0);
    atomic_add(&element<Acc>(p.c, to, column), a * b);
  }
}

/// C = beta C, before products are added.
template <class Types>
DEVICE void scale_matrix(const Spmm& all) {
  using Acc = typename Types::Acc;
  using Out = typename Types::Out;
  const Spmm p = of_batch<Types>(all);
  const Acc beta = value_of<Acc>(p.beta);
  for (long long i = thread_number(); i < p.rows * p.columns; i += thread_count()) {
    Out& c = element<Out>(p.c, i / p.columns, i % p.columns);
    c = narrowed<Out>(scaled(beta, c));
  }
}

}  // namespace raddle::cusparse

#define SPMM_KERNEL(name, body, ...)                                           \
  extern "C" __global__ void __launch_bounds__(raddle::cusparse::kSpmmThreads) \
      name(const raddle::cusparse::Spmm p) {                                   \
    raddle::cusparse::body<raddle::cusparse::SpmmTypes<__VA_ARGS__>>(p);       \
  }
#define SPMM_GATHER_OF(letter, suffix, ...)                                           \
  SPMM_KERNEL(sparse_##letter##spmm_by_columns##suffix, spmm_by_columns, __VA_ARGS__) \
  SPMM_KERNEL(sparse_##letter##spmm_by_entries##suffix, spmm_by_entries, __VA_ARGS__)
#define SPMM_SCATTER_OF(letter, suffix, ...) \
  SPMM_KERNEL(sparse_##letter##spmm_transposed##suffix, spmm_scatter, __VA_ARGS__)
/// All index widths of one set of types; C must be of the sums' type for SPMM_SCATTERS.
#define SPMM_GATHERS(letter, In, Out, Acc)                        \
  SPMM_GATHER_OF(letter, , In, Out, Acc, int, int)                \
  SPMM_GATHER_OF(letter, _64, In, Out, Acc, long long, long long) \
  SPMM_GATHER_OF(letter, _64_32, In, Out, Acc, long long, int)    \
  SPMM_KERNEL(sparse_##letter##spmm_scale, scale_matrix, In, Out, Acc, int, int)
#define SPMM_SCATTERS(letter, In, Out, Acc)                        \
  SPMM_SCATTER_OF(letter, , In, Out, Acc, int, int)                \
  SPMM_SCATTER_OF(letter, _64, In, Out, Acc, long long, long long) \
  SPMM_SCATTER_OF(letter, _64_32, In, Out, Acc, long long, int)
