// What host code and kernels say to each other. Plain types: both compilers lay them out alike.
// Sizes count elements; indices and offsets of 32 or 64 bits start at `base`.
#pragma once

namespace raddle::cusparse {

/// cudaDataType_t, of what we have.
enum DataType : int { kF32 = 0, kF64 = 1, kF16 = 2, kC32 = 4, kC64 = 5, kBF16 = 14 };

/// alpha or beta: a number, or where the device finds it, of the compute type.
struct Scale {
  const void* at;  ///< in device memory; null: the number is here
  double real, imaginary;
};

/// An array of indices or offsets.
struct Indices {
  const void* at;
  int wide;  ///< 64 bits each
};

/// A sparse matrix by lines: the rows of CSR and COO, the columns of CSC.
struct Sparse {
  Indices offsets;    ///< one more than lines; no `at` for COO
  Indices positions;  ///< of COO: the line of each entry, ascending
  Indices indices;    ///< where in its line each entry stands
  const void* values;
  long long lines, width;  ///< of the matrix; width: indices of a line
  long long entries;
  long long offsets_apart, entries_apart;  ///< from one of a batch to the next
  int base;
};

/// Element (i, j) is at[i * row_step + j * column_step].
struct Dense {
  void* at;
  long long row_step, column_step;
  long long apart;  ///< from one of a batch to the next
};

/// y = alpha op(A) x + beta y.
struct Spmv {
  Sparse a;
  const void* x;
  void* y;
  long long y_size;
  Scale alpha, beta;
  int conjugate;  ///< of A
};
inline constexpr int kSpmvThreads = 256;

/// Entries of a block where work is split by entries, and what it leaves of rows that others share.
inline constexpr int kSegmentItems = 4;  ///< of a thread
inline constexpr int kSegmentEntries = kSpmvThreads * kSegmentItems;
struct Carry {
  long long row;  ///< -1: none
  double real, imaginary;
};

/// C = alpha op(A) op(B) + beta C; the transposes of B and C are in their steps.
struct Spmm {
  Sparse a;
  Dense b, c;
  long long rows, columns;  ///< of C
  Scale alpha, beta;
  int conjugate_a, conjugate_b;
};
inline constexpr int kSpmmThreads = 256;
inline constexpr int kSpmmColumns = 4;  ///< that a warp makes at once where B lies by columns

/// C = alpha (op(A) op(B)) o pattern(C) + beta C.
struct Sddmm {
  Sparse c;
  Dense a, b;
  long long depth;
  Scale alpha, beta;
};

/// C = alpha A + beta B, all three CSR with ascending columns.
struct Geam {
  const int *a_offsets, *a_columns, *b_offsets, *b_columns;
  const void *a_values, *b_values;
  int *c_offsets, *c_columns;  ///< counting: how many a row has, in c_offsets
  void* c_values;
  int rows;
  int a_base, b_base, c_base;
  Scale alpha, beta;
};

/// Vectors of which one is sparse.
struct SparseVector {
  Indices indices;
  void* values;
  long long entries;
  int base;
};

inline constexpr int kThreads = 256;                         ///< of blocks without another number
inline constexpr int kScanItems = 4;                         ///< of a thread
inline constexpr int kScanElements = kThreads * kScanItems;  ///< of a block
inline constexpr int kDigitBits = 4;                         ///< of a pass of the radix sort
inline constexpr int kDigits = 1 << kDigitBits;
inline constexpr int kSortItems = 4;
inline constexpr int kSortElements = kThreads * kSortItems;

/// Products of sparse matrices, rows in three classes by how many products they have.
inline constexpr int kGemmClasses = 3;
inline constexpr int kSmallTable = 128, kMediumTable = 1024;  ///< entries in shared memory
inline constexpr int kSmallWarps = 4;                         ///< rows of a block, a warp each
inline constexpr int kMediumThreads = 128;
struct SpgemmState {
  long long products;                ///< of the whole matrix
  unsigned long long table_entries;  ///< of all rows whose tables lie in device memory
  unsigned rows[kGemmClasses];
  unsigned entries;  ///< of C
};
struct Spgemm {
  Sparse a, b;
  const long long* products;  ///< of each row
  const int* rows;            ///< of this class
  int row_count;
  const unsigned long long* table_at;  ///< of each row of the last class
  int* table_keys;
  void* table_values;
  int* counts;         ///< entries of each row of C, from counting
  const int* offsets;  ///< of C, base 0
  void* c_indices;
  void* c_values;
  int c_base;
  Scale alpha, beta;
};

/// A triangular matrix by rows of op(A), for solving.
struct Triangle {
  const int *offsets, *columns;  ///< base 0, with the entries of the other triangle
  const void* values;
  const void* diagonal;       ///< unused where `unit`
  const int *order, *levels;  ///< rows by levels, where each level starts
  int rows;
  int upper, unit;
};
/// X = alpha op(A)^-1 op(B).
struct Solve {
  Triangle a;
  Dense b, x;
  long long columns;
  Scale alpha;
  int conjugate_b;
  int first_level, last_level;  ///< last: not included
};
inline constexpr int kSolveWarps = 8;
/// Levels of so many rows and fewer are done by one block, one after another.
inline constexpr int kNarrowLevel = 4 * kSolveWarps;

/// The search for levels: rows without open dependences are found level by level.
struct LevelState {
  int levels;       ///< found
  int first, last;  ///< rows in `order` of the next level
  int next;         ///< where `order` ends
};
struct Levels {
  const int *child_offsets, *children;  ///< columns of op(A), base 0
  int* open;                            ///< dependences of each row
  int *order, *levels;
  LevelState* state;
  int rows;
  int upper;
};

/// A matrix that is factored in place, by levels of its lower triangle.
enum PivotKind : int { kStructural, kNumerical, kPivotKinds };
struct Factor {
  const int *offsets, *columns;  ///< the caller's
  void* values;
  const int *order, *levels;
  int* pivots;             ///< of each kind: the least row without one
  double boost_tolerance;  ///< pivots of this magnitude and less are replaced; < 0: none
  double boost_real, boost_imaginary;
  int base;
  int first_level, last_level;  ///< last: not included
};

}  // namespace raddle::cusparse
