// Descriptors of vectors and matrices. They say where arrays lie; those belong to the caller.
#pragma once
#include "raddle/cusparse/handle.h"

namespace raddle::cusparse {

enum Format : int { kCsr = 1, kCsc = 2, kCoo = 3 };  ///< cusparseFormat_t
enum Order : int { kByColumns = 1, kByRows = 2 };    ///< cusparseOrder_t
enum IndexType : int { kIndex32 = 2, kIndex64 = 3 };
enum FillMode : int { kLower = 0, kUpper = 1 };
enum DiagonalType : int { kNonUnit = 0, kUnit = 1 };

struct SparseVectorDescriptor {
  std::int64_t size, entries;
  void *indices, *values;
  int index_type, base, type;
};
struct DenseVectorDescriptor {
  std::int64_t size;
  void* values;
  int type;
};
struct DenseMatrixDescriptor {
  std::int64_t rows, columns, ld;
  void* values;
  int type, order;
  int batch = 1;
  std::int64_t stride = 0;
};
struct SparseMatrixDescriptor {
  int format;
  std::int64_t rows, columns, entries;
  void* first;   ///< offsets; of COO the rows of entries
  void* second;  ///< indices
  void* values;
  int first_type, second_type, base, type;
  int fill = kLower, diagonal = kNonUnit;
  int batch = 1;
  std::int64_t first_stride = 0, second_stride = 0;

  std::int64_t lines() const { return format == kCsc ? columns : rows; }
  std::int64_t width() const { return format == kCsc ? rows : columns; }
};

/// cusparseMatDescr_t.
struct LegacyDescriptor {
  int type = 0, fill = kLower, diagonal = kNonUnit, base = 0;
};

Sparse sparse_of(const SparseMatrixDescriptor& a);
SparseVector vector_of(const SparseVectorDescriptor& x);
/// Element (i, j) of op(matrix).
Dense dense_of(const DenseMatrixDescriptor& m, int op = kPlain);
/// Rows and columns of op(matrix).
template <class Matrix>
std::int64_t rows_of(const Matrix& m, int op) {
  return op == kPlain ? m.rows : m.columns;
}
template <class Matrix>
std::int64_t columns_of(const Matrix& m, int op) {
  return op == kPlain ? m.columns : m.rows;
}

/// The end of a kernel's name for these offsets and indices.
std::string width_suffix(const SparseMatrixDescriptor& a);

}  // namespace raddle::cusparse
