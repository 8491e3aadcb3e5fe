// Products of sparse matrices, row by row: a hash table collects the columns of a row of C, in
// shared memory for short rows, in device memory for long ones (after Nagasaka, Nishida and
// Matsuoka, High-performance and memory-saving sparse general matrix-matrix multiplication, 2017).
// Values are added in the order of A's entries, so equal runs have equal results.
#include "raddle/cusparse/kernels/numbers.h"

namespace raddle::cusparse {

inline constexpr int kEmpty = -1;  // as unsigned it comes after all columns

/// Threads that have a row together: a warp of a block, or a block.
struct WarpTeam {
  static constexpr int kSize = 32, kWarps = 1;
  DEVICE int number() { return static_cast<int>(blockIdx.x) * kSmallWarps + threadIdx.x / 32; }
  DEVICE int rank() { return lane_number(); }
  DEVICE int warp() { return 0; }
  DEVICE void barrier() { warp_barrier(); }
};
struct BlockTeam {
  static constexpr int kSize = kMediumThreads, kWarps = kMediumThreads / 32;
  DEVICE int number() { return static_cast<int>(blockIdx.x); }
  DEVICE int rank() { return static_cast<int>(threadIdx.x); }
  DEVICE int warp() { return static_cast<int>(threadIdx.x) / 32; }
  DEVICE void barrier() { __syncthreads(); }
};

/// A power of two above twice of what a row may have; never less than a warp sorts.
DEVICE int table_size(long long products, long long width) {
  const long long most = products < width ? products : width;
  int size = 64;
  while (size < 2 * most) size *= 2;
  return size;
}

/// The slot of a column; `added` when it is new. A lane never waits for another.
DEVICE int slot_of(int* keys, int size, int column, bool& added) {
  unsigned slot = static_cast<unsigned>(column) * 2654435761u;  // Knuth's multiplicative hash
  for (slot ^= slot >> 16;; ++slot) {
    slot &= static_cast<unsigned>(size - 1);
    const int found = atomic_swap_if(&keys[slot], kEmpty, column);
    if (found != kEmpty && found != column) continue;
    added = found == kEmpty;
    return static_cast<int>(slot);
  }
}

/// Each warp takes one entry of A after another, its lanes those of the row of B.
template <class Team>
DEVICE void count_row(const Spgemm& p, int row, int* keys, int size) {
  for (int i = Team::rank(); i < size; i += Team::kSize) keys[i] = kEmpty;
  Team::barrier();
  const long long end = start_of(p.a, row + 1);
  int count = 0;
  for (long long k = start_of(p.a, row) + Team::warp(); k < end; k += Team::kWarps) {
    const long long line = index_at(p.a.indices, k) - p.a.base;
    const long long last = start_of(p.b, line + 1);
    for (long long entry = start_of(p.b, line) + lane_number(); entry < last; entry += 32) {
      bool added;
      slot_of(keys, size, static_cast<int>(index_at(p.b.indices, entry) - p.b.base), added);
      count += added;
    }
  }
  count = sum_of_lanes(count, 32);
  if (lane_number() == 0 && count != 0) atomic_add(&p.counts[row], count);
}

/// Sorts by key in a bitonic network; the size is a power of two.
template <class Team, class T>
DEVICE void sort(int* keys, T* values, int size) {
  for (int run = 2; run <= size; run *= 2)
    for (int apart = run / 2; apart > 0; apart /= 2) {
      Team::barrier();
      for (int pair = Team::rank(); pair < size / 2; pair += Team::kSize) {
        const int low = pair / apart * apart * 2 + pair % apart, high = low + apart;
        const bool ascending = (low & run) == 0;
        const auto left = static_cast<unsigned>(keys[low]);
        const auto right = static_cast<unsigned>(keys[high]);
        if (left == right || (left > right) != ascending) continue;
        keys[low] = static_cast<int>(right);
        keys[high] = static_cast<int>(left);
        const T value = values[low];
        values[low] = values[high];
        values[high] = value;
      }
    }
  Team::barrier();
}

template <class Team, class T>
DEVICE void fill_row(const Spgemm& p, int row, int* keys, T* values, int size) {
  for (int i = Team::rank(); i < size; i += Team::kSize) {
    keys[i] = kEmpty;
    values[i] = T{};
  }
  const long long end = start_of(p.a, row + 1);
  for (long long k = start_of(p.a, row); k < end; ++k) {
    Team::barrier();
    const T a = at<T>(p.a.values, k);
    const long long line = index_at(p.a.indices, k) - p.a.base;
    const long long last = start_of(p.b, line + 1);
    for (long long entry = start_of(p.b, line) + Team::rank(); entry < last; entry += Team::kSize) {
      bool added;
      const int column = static_cast<int>(index_at(p.b.indices, entry) - p.b.base);
      values[slot_of(keys, size, column, added)] += a * at<T>(p.b.values, entry);
    }
  }
  sort<Team>(keys, values, size);
  const T alpha = value_of<T>(p.alpha), beta = value_of<T>(p.beta);
  const int start = p.offsets[row], count = p.offsets[row + 1] - start;
  for (int i = Team::rank(); i < count; i += Team::kSize) {
    at<int>(p.c_indices, start + i) = keys[i] + p.c_base;
    T& c = at<T>(p.c_values, start + i);
    c = alpha * values[i] + scaled(beta, c);
  }
  Team::barrier();
}

/// How many products a row has: the lengths of B's rows that it names.
DEVICE void count_products(const Sparse& a, const Sparse& b, long long* products,
                           SpgemmState* state) {
  constexpr int kLanes = 8;
  const long long row = group_number(kLanes);
  long long sum = 0;
  if (row < a.lines) {
    const long long end = start_of(a, row + 1);
    for (long long k = start_of(a, row) + lane_number() % kLanes; k < end; k += kLanes) {
      const long long line = index_at(a.indices, k) - a.base;
      sum += start_of(b, line + 1) - start_of(b, line);
    }
  }
  sum = sum_of_lanes(sum, kLanes);
  if (row >= a.lines || lane_number() % kLanes != 0) return;
  products[row] = sum;
  if (sum != 0) atomic_add(reinterpret_cast<unsigned long long*>(&state->products), sum);
}
/// Rows into lists of their classes; those of the last class get slots in device memory.
DEVICE void classify(const long long* products, int count, long long width, int* lists,
                     unsigned long long* table_at, SpgemmState* state) {
  const int row = static_cast<int>(thread_number());
  if (row >= count) return;
  const int size = table_size(products[row], width);
  const int which = size <= kSmallTable ? 0 : size <= kMediumTable ? 1 : 2;
  const int number = atomic_add(reinterpret_cast<int*>(&state->rows[which]), 1);
  lists[which * count + number] = row;
  if (which == 2)
    table_at[row] = atomic_add(&state->table_entries, static_cast<unsigned long long>(size));
}

}  // namespace raddle::cusparse

using namespace raddle::cusparse;

extern "C" __global__ void __launch_bounds__(kThreads)
    sparse_spgemm_products(const Sparse a, const Sparse b, long long* products,
                           SpgemmState* state) {
  count_products(a, b, products, state);
}
extern "C" __global__ void __launch_bounds__(kThreads)
    sparse_spgemm_classes(const long long* products, int count, long long width, int* lists,
                          unsigned long long* table_at, SpgemmState* state) {
  classify(products, count, width, lists, table_at, state);
}
extern "C" __global__ void __launch_bounds__(kSmallWarps * 32)
    sparse_spgemm_count_small(const Spgemm p) {
  __shared__ int keys[kSmallWarps][kSmallTable];
  const int number = WarpTeam::number();
  if (number < p.row_count)
    count_row<WarpTeam>(p, p.rows[number], keys[threadIdx.x / 32], kSmallTable);
}
extern "C" __global__ void __launch_bounds__(kMediumThreads)
    sparse_spgemm_count_medium(const Spgemm p) {
  __shared__ int keys[kMediumTable];
  count_row<BlockTeam>(p, p.rows[BlockTeam::number()], keys, kMediumTable);
}
extern "C" __global__ void __launch_bounds__(kMediumThreads)
    sparse_spgemm_count_large(const Spgemm p) {
  const int row = p.rows[BlockTeam::number()];
  count_row<BlockTeam>(p, row, p.table_keys + p.table_at[row],
                       table_size(p.products[row], p.b.width));
}

#define FILL(letter, T)                                                                     \
  extern "C" __global__ void __launch_bounds__(kSmallWarps * 32)                            \
      sparse_##letter##spgemm_small(const Spgemm p) {                                       \
    __shared__ int keys[kSmallWarps][kSmallTable];                                          \
    __shared__ __align__(16) char values[kSmallWarps][kSmallTable * sizeof(T)];             \
    const int number = WarpTeam::number(), warp = static_cast<int>(threadIdx.x) / 32;       \
    if (number < p.row_count)                                                               \
      fill_row<WarpTeam>(p, p.rows[number], keys[warp], reinterpret_cast<T*>(values[warp]), \
                         kSmallTable);                                                      \
  }                                                                                         \
  extern "C" __global__ void __launch_bounds__(kMediumThreads)                              \
      sparse_##letter##spgemm_medium(const Spgemm p) {                                      \
    __shared__ int keys[kMediumTable];                                                      \
    __shared__ __align__(16) char values[kMediumTable * sizeof(T)];                         \
    fill_row<BlockTeam>(p, p.rows[BlockTeam::number()], keys, reinterpret_cast<T*>(values), \
                        kMediumTable);                                                      \
  }                                                                                         \
  extern "C" __global__ void __launch_bounds__(kMediumThreads)                              \
      sparse_##letter##spgemm_large(const Spgemm p) {                                       \
    const int row = p.rows[BlockTeam::number()];                                            \
    fill_row<BlockTeam>(p, row, p.table_keys + p.table_at[row],                             \
                        static_cast<T*>(p.table_values) + p.table_at[row],                  \
                        table_size(p.products[row], p.b.width));                            \
  }
FILL(s, float)
FILL(d, double)
FILL(c, ComplexFloat)
FILL(z, ComplexDouble)
