// y = alpha op(A) x + beta y. Three ways: a group of lanes for each line (CSR), equal numbers of
// entries for each block (COO, and CSR whose rows differ much in length), and for transposes each
// line's entries added where they belong.
#pragma once
#include "raddle/cusparse/kernels/numbers.h"

namespace raddle::cusparse {

/// Types of one instance: what A and x, and y hold, sums, offsets and indices.
template <class In_, class Out_, class Acc_, class Offset_, class Index_>
struct SpmvTypes {
  using In = In_;
  using Out = Out_;
  using Acc = Acc_;
  using Offset = Offset_;
  using Index = Index_;
};

template <class Types>
DEVICE typename Types::Acc product_at(const Spmv& p, long long entry) {
  using Acc = typename Types::Acc;
  using In = typename Types::In;
  const long long column = at<typename Types::Index>(p.a.indices.at, entry) - p.a.base;
  const Acc value = widened<Acc>(at<In>(p.a.values, entry));
  return conjugated(value, p.conjugate != 0) * widened<Acc>(at<In>(p.x, column));
}

/// Lanes of a group read neighbouring entries of a row.
template <class Types, int kLanes>
DEVICE void spmv_rows(const Spmv& p) {
  using Acc = typename Types::Acc;
  using Out = typename Types::Out;
  using Offset = typename Types::Offset;
  const Acc alpha = value_of<Acc>(p.alpha), beta = value_of<Acc>(p.beta);
  const long long row = group_number(kLanes);
  const bool inside = row < p.a.lines;
  Acc sum{};
  if (inside) {
    const long long end = at<Offset>(p.a.offsets.at, row + 1) - p.a.base;
    long long entry = at<Offset>(p.a.offsets.at, row) - p.a.base;
    for (entry += lane_number() % kLanes; entry < end; entry += kLanes)
      sum += product_at<Types>(p, entry);
  }
  sum = sum_of_lanes(sum, kLanes);
  if (!inside || lane_number() % kLanes != 0) return;
  Out& y = at<Out>(p.y, row);
  y = narrowed<Out>(alpha * sum + scaled(beta, y));
}

/// y = beta y, before sums are added.
template <class Out, class Acc>
DEVICE void scale_vector(void* y, long long n, const Scale& by) {
  const Acc beta = value_of<Acc>(by);
  for (long long i = thread_number(); i < n; i += thread_count())
    at<Out>(y, i) = narrowed<Out>(scaled(beta, at<Out>(y, i)));
}

template <class Out, class Acc>
DEVICE void add_to(void* y, long long row, Acc x) {
  Out& to = at<Out>(y, row);
  to = narrowed<Out>(widened<Acc>(to) + x);
}

/// The last of `rows` + 1 offsets from `low` on that is not above the entry.
template <class Offset>
DEVICE long long row_of(const void* offsets, long long low, long long rows, long long entry) {
  long long high = rows;  // row `low` starts at or before the entry, row `high` after it
  while (high - low > 1) {
    const long long middle = low + (high - low) / 2;
    if (at<Offset>(offsets, middle) <= entry) low = middle;
    else high = middle;
  }
  return low;
}

/// The sum of the last row so far, of entries in their order.
template <class Acc>
struct Segment {
  int row;
  Acc sum;
  /// This one comes after `other`.
  __device__ __forceinline__ void follow(int other_row, Acc other_sum) {
    if (row == other_row) sum += other_sum;
  }
};

/// Rows of a thread's entries, counted from the block's first; the last entry's beyond the end.
template <class Types, bool kByPositions>
DEVICE void rows_of_thread(const Sparse& a, const long long* block_rows, long long first,
                           long long first_row, int (&rows)[kSegmentItems]) {
  using Offset = typename Types::Offset;
  const auto entry_at = [&](int i) {
    const long long entry = first + static_cast<long long>(threadIdx.x) * kSegmentItems + i;
    return entry < a.entries ? entry : a.entries - 1;
  };
  if constexpr (kByPositions) {
#pragma unroll
    for (int i = 0; i < kSegmentItems; ++i)
      rows[i] = static_cast<int>(at<typename Types::Index>(a.positions.at, entry_at(i)) - a.base -
                                 first_row);
  } else {
    const long long end = block_rows[blockIdx.x + 1] + 1;
    long long row = row_of<Offset>(a.offsets.at, first_row, end, entry_at(0) + a.base);
#pragma unroll
    for (int i = 0; i < kSegmentItems; ++i) {
      while (at<Offset>(a.offsets.at, row + 1) - a.base <= entry_at(i)) ++row;
      rows[i] = static_cast<int>(row - first_row);
    }
  }
}

/// What the threads before this one leave of their last row, and in `whole` what all of the block
/// do (a segmented scan: in warps by shuffles, then over the warps).
template <class Acc>
DEVICE Segment<Acc> segment_before(Segment<Acc> mine, Segment<Acc>& whole) {
  constexpr int kWarps = kSpmvThreads / 32;
  __shared__ __align__(16) char sum_bytes[kWarps * sizeof(Acc)];
  __shared__ int tails[kWarps];
  Acc* const sums = reinterpret_cast<Acc*>(sum_bytes);
  const int lane = lane_number(), warp = static_cast<int>(threadIdx.x) / 32;
#pragma unroll
  for (int by = 1; by < 32; by *= 2) {
    const int row = from_lane_above(mine.row, by);
    const Acc sum = shuffle_up(mine.sum, by);
    if (lane >= by) mine.follow(row, sum);
  }
  if (lane == 31) {
    sums[warp] = mine.sum;
    tails[warp] = mine.row;
  }
  __syncthreads();
  Segment<Acc> carried{-1, Acc{}};
  for (int other = 0; other < warp; ++other) {
    Segment<Acc> next{tails[other], sums[other]};
    next.follow(carried.row, carried.sum);
    carried = next;
  }
  Segment<Acc> before{from_lane_above(mine.row, 1), shuffle_up(mine.sum, 1)};
  before.follow(carried.row, carried.sum);
  mine.follow(carried.row, carried.sum);
  whole = mine;
  return lane == 0 ? carried : before;
}

/// Sums of a block's entries by row. A row that starts and ends inside is added to y; the first
/// row, which earlier blocks may share, and the last one are left as carries.
template <class Types, bool kByPositions>
DEVICE void spmv_segments(const Spmv& product, const long long* block_rows, Carry* carries) {
  using Acc = typename Types::Acc;
  using Out = typename Types::Out;
  // A gap after each 32, so that threads which read kSegmentItems neighbours use all banks.
  __shared__ __align__(16) char bytes[(kSegmentEntries + kSegmentEntries / 32) * sizeof(Acc)];
  Acc* const products = reinterpret_cast<Acc*>(bytes);
  const int thread = static_cast<int>(threadIdx.x);
  const Acc alpha = value_of<Acc>(product.alpha);
  const long long first = static_cast<long long>(blockIdx.x) * kSegmentEntries;
  const long long first_row =
      kByPositions ? at<typename Types::Index>(product.a.positions.at, first) - product.a.base
                   : block_rows[blockIdx.x];
#pragma unroll
  for (int step = 0; step < kSegmentItems; ++step) {
    const int i = thread + step * kSpmvThreads;
    products[i + i / 32] =
        first + i < product.a.entries ? product_at<Types>(product, first + i) : Acc{};
  }
  int rows[kSegmentItems];
  rows_of_thread<Types, kByPositions>(product.a, block_rows, first, first_row, rows);
  __syncthreads();

  // A thread's own entries: its first segment may go on from the thread before, its last one into
  // the next; those between are complete.
  const int head = rows[0];
  Segment<Acc> mine{head, Acc{}};
  Acc head_sum{};
#pragma unroll
  for (int i = 0; i < kSegmentItems; ++i) {
    const int number = thread * kSegmentItems + i;
    if (rows[i] != mine.row) {
      if (mine.row == head) head_sum = mine.sum;
      else add_to<Out>(product.y, first_row + mine.row, alpha * mine.sum);
      mine = {rows[i], Acc{}};
    }
    mine.sum += products[number + number / 32];
  }
  const int tail = mine.row;
  Segment<Acc> whole;
  const Segment<Acc> before = segment_before(mine, whole);

  // The last segment of the threads before ends here or goes on into the head.
  const auto finish = [&](int row, Acc sum) {
    const Acc x = alpha * sum;
    if (row == 0) carries[2 * blockIdx.x] = {first_row, real_of(x), imaginary_of(x)};
    else add_to<Out>(product.y, first_row + row, x);
  };
  if (thread > 0 && before.row != head) finish(before.row, before.sum);
  if (head != tail) finish(head, before.row == head ? head_sum + before.sum : head_sum);
  if (thread != kSpmvThreads - 1) return;
  const Acc last = alpha * whole.sum;
  carries[2 * blockIdx.x + 1] = {first_row + tail, real_of(last), imaginary_of(last)};
  if (tail == 0) carries[2 * blockIdx.x] = {first_row, 0, 0};
}

/// Adds what blocks left, in their order: the thread of a row's first carry takes all of them.
template <class Out, class Acc>
DEVICE void add_carries(const Carry* carries, int count, void* y) {
  const int i = static_cast<int>(thread_number());
  if (i >= count) return;
  const long long row = carries[i].row;
  if (i > 0 && carries[i - 1].row == row) return;
  Acc sum{};
  for (int next = i; next < count && carries[next].row == row; ++next)
    sum += number<Acc>(carries[next].real, carries[next].imaginary);
  add_to<Out>(y, row, sum);
}

/// Each line's entries times its x, added to y by their indices.
template <class Types, int kLanes>
DEVICE void spmv_scatter(const Spmv& p) {
  using Acc = typename Types::Acc;
  using In = typename Types::In;
  using Offset = typename Types::Offset;
  const long long line = group_number(kLanes);
  if (line >= p.a.lines) return;
  const Acc x = value_of<Acc>(p.alpha) * widened<Acc>(at<In>(p.x, line));
  const long long end = at<Offset>(p.a.offsets.at, line + 1) - p.a.base;
  long long entry = at<Offset>(p.a.offsets.at, line) - p.a.base;
  for (entry += lane_number() % kLanes; entry < end; entry += kLanes) {
    const long long to = at<typename Types::Index>(p.a.indices.at, entry) - p.a.base;
    const Acc value = widened<Acc>(at<In>(p.a.values, entry));
    atomic_add(&at<Acc>(p.y, to), conjugated(value, p.conjugate != 0) * x);
  }
}
/// The same of COO, a thread for each entry.
template <class Types>
DEVICE void spmv_scatter_coo(const Spmv& p) {
  using Acc = typename Types::Acc;
  using In = typename Types::In;
  using Index = typename Types::Index;
  const long long entry = thread_number();
  if (entry >= p.a.entries) return;
  const long long from = at<Index>(p.a.positions.at, entry) - p.a.base;
  const long long to = at<Index>(p.a.indices.at, entry) - p.a.base;
  const Acc value = conjugated(widened<Acc>(at<In>(p.a.values, entry)), p.conjugate != 0);
  atomic_add(&at<Acc>(p.y, to), value_of<Acc>(p.alpha) * value * widened<Acc>(at<In>(p.x, from)));
}

}  // namespace raddle::cusparse

// Kernels of one set of types. Their names say, in this order: type, what they do, lanes of a
// group, width of offsets and indices where it is not 32 bits.
#define SPMV_ROWS(letter, lanes, suffix, ...)                                        \
  extern "C" __global__ void __launch_bounds__(raddle::cusparse::kSpmvThreads)       \
      sparse_##letter##spmv_csr_##lanes##suffix(const raddle::cusparse::Spmv p) {    \
    raddle::cusparse::spmv_rows<raddle::cusparse::SpmvTypes<__VA_ARGS__>, lanes>(p); \
  }
#define SPMV_SCATTER(letter, lanes, suffix, ...)                                         \
  extern "C" __global__ void __launch_bounds__(raddle::cusparse::kSpmvThreads)           \
      sparse_##letter##spmv_transposed_##lanes##suffix(const raddle::cusparse::Spmv p) { \
    raddle::cusparse::spmv_scatter<raddle::cusparse::SpmvTypes<__VA_ARGS__>, lanes>(p);  \
  }
#define SPMV_SEGMENTS(letter, word, by_positions, suffix, ...)                                    \
  extern "C" __global__ void __launch_bounds__(raddle::cusparse::kSpmvThreads)                    \
      sparse_##letter##spmv_##word##suffix(const raddle::cusparse::Spmv p, const long long* rows, \
                                           raddle::cusparse::Carry* carries) {                    \
    raddle::cusparse::spmv_segments<raddle::cusparse::SpmvTypes<__VA_ARGS__>, by_positions>(      \
        p, rows, carries);                                                                        \
  }
#define SPMV_GATHER_OF(letter, suffix, ...)  \
  SPMV_ROWS(letter, 2, suffix, __VA_ARGS__)  \
  SPMV_ROWS(letter, 4, suffix, __VA_ARGS__)  \
  SPMV_ROWS(letter, 8, suffix, __VA_ARGS__)  \
  SPMV_ROWS(letter, 16, suffix, __VA_ARGS__) \
  SPMV_ROWS(letter, 32, suffix, __VA_ARGS__) \
  SPMV_SEGMENTS(letter, csr_split, false, suffix, __VA_ARGS__)
#define SPMV_SCATTER_OF(letter, suffix, ...)   \
  SPMV_SCATTER(letter, 4, suffix, __VA_ARGS__) \
  SPMV_SCATTER(letter, 32, suffix, __VA_ARGS__)
#define SPMV_COO_SCATTER(letter, suffix, ...)                                        \
  extern "C" __global__ void __launch_bounds__(raddle::cusparse::kSpmvThreads)       \
      sparse_##letter##spmv_coo_transposed##suffix(const raddle::cusparse::Spmv p) { \
    raddle::cusparse::spmv_scatter_coo<raddle::cusparse::SpmvTypes<__VA_ARGS__>>(p); \
  }
#define SPMV_AROUND(letter, Out, Acc)                                                              \
  extern "C" __global__ void sparse_##letter##scale(void* y, long long n,                          \
                                                    const raddle::cusparse::Scale beta) {          \
    raddle::cusparse::scale_vector<Out, Acc>(y, n, beta);                                          \
  }                                                                                                \
  extern "C" __global__ void sparse_##letter##spmv_carries(const raddle::cusparse::Carry* carries, \
                                                           int count, void* y) {                   \
    raddle::cusparse::add_carries<Out, Acc>(carries, count, y);                                    \
  }
/// All index widths of one set of types; y must be of the sums' type for SPMV_SCATTERS.
#define SPMV_GATHERS(letter, In, Out, Acc)                                  \
  SPMV_GATHER_OF(letter, , In, Out, Acc, int, int)                          \
  SPMV_GATHER_OF(letter, _64, In, Out, Acc, long long, long long)           \
  SPMV_GATHER_OF(letter, _64_32, In, Out, Acc, long long, int)              \
  SPMV_SEGMENTS(letter, coo, true, , In, Out, Acc, int, int)                \
  SPMV_SEGMENTS(letter, coo, true, _64, In, Out, Acc, long long, long long) \
  SPMV_AROUND(letter, Out, Acc)
#define SPMV_SCATTERS(letter, In, Out, Acc)                        \
  SPMV_SCATTER_OF(letter, , In, Out, Acc, int, int)                \
  SPMV_SCATTER_OF(letter, _64, In, Out, Acc, long long, long long) \
  SPMV_SCATTER_OF(letter, _64_32, In, Out, Acc, long long, int)    \
  SPMV_COO_SCATTER(letter, , In, Out, Acc, int, int)               \
  SPMV_COO_SCATTER(letter, _64, In, Out, Acc, long long, long long)
