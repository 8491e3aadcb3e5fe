#include "raddle/cusparse/descriptors.h"

#include <cstring>
#include <memory>

namespace raddle::cusparse {

Sparse sparse_of(const SparseMatrixDescriptor& a) {
  const Indices first{.at = a.first, .wide = a.first_type == kIndex64};
  Sparse out{};
  (a.format == kCoo ? out.positions : out.offsets) = first;
  out.indices = {.at = a.second, .wide = a.second_type == kIndex64};
  out.values = a.values;
  out.lines = a.lines();
  out.width = a.width();
  out.entries = a.entries;
  out.offsets_apart = a.first_stride;
  out.entries_apart = a.second_stride;
  out.base = a.base;
  return out;
}

SparseVector vector_of(const SparseVectorDescriptor& x) {
  return {.indices = {.at = x.indices, .wide = x.index_type == kIndex64},
          .values = x.values,
          .entries = x.entries,
          .base = x.base};
}

Dense dense_of(const DenseMatrixDescriptor& m, int op) {
  const bool lines_are_rows = (m.order == kByRows) == (op == kPlain);
  return {.at = m.values,
          .row_step = lines_are_rows ? m.ld : 1,
          .column_step = lines_are_rows ? 1 : m.ld,
          .apart = m.stride};
}

std::string width_suffix(const SparseMatrixDescriptor& a) {
  if (a.first_type == kIndex32) return "";
  return a.second_type == kIndex64 ? "_64" : "_64_32";
}

}  // namespace raddle::cusparse

using namespace raddle::cusparse;

namespace {

bool is_index(int type) { return type == kIndex32 || type == kIndex64; }
bool is_base(int base) { return base == 0 || base == 1; }
/// Any of cudaDataType_t; a function says which of them it has.
bool is_type(int type) { return type >= 0 && type <= 33; }

template <class T>
int create(T** to, const T& descriptor, bool valid) {
  return guarded([&] {
    require(to != nullptr && valid);
    *to = std::make_unique<T>(descriptor).release();
  });
}
template <class T>
int destroy(T* descriptor) {
  if (descriptor == nullptr) return kInvalidValue;
  delete descriptor;
  return kSuccess;
}

int create_sparse(SparseMatrixDescriptor** to, Format format, std::int64_t rows,
                  std::int64_t columns, std::int64_t entries, const void* first, const void* second,
                  const void* values, int first_type, int second_type, int base, int type) {
  const bool sizes = rows >= 0 && columns >= 0 && entries >= 0;
  // Narrow offsets with wide indices are none of NVIDIA's.
  const bool widths = is_index(first_type) && is_index(second_type) &&
                      (first_type == second_type || first_type == kIndex64);
  return create(to,
                SparseMatrixDescriptor{.format = format,
                                       .rows = rows,
                                       .columns = columns,
                                       .entries = entries,
                                       .first = const_cast<void*>(first),
                                       .second = const_cast<void*>(second),
                                       .values = const_cast<void*>(values),
                                       .first_type = first_type,
                                       .second_type = second_type,
                                       .base = base,
                                       .type = type},
                sizes && widths && is_base(base) && is_type(type));
}

/// What the three formats' getters give; `offset_type` is null for COO.
template <class Pointer>
int get_sparse(const SparseMatrixDescriptor* from, Format format, std::int64_t* rows,
               std::int64_t* columns, std::int64_t* entries, Pointer* first, Pointer* second,
               Pointer* values, int* offset_type, int* index_type, int* base, int* type) {
  return guarded([&] {
    const SparseMatrixDescriptor& a = given(from);
    require(a.format == format);
    given(rows) = a.rows;
    given(columns) = a.columns;
    given(entries) = a.entries;
    given(first) = a.first;
    given(second) = a.second;
    given(values) = a.values;
    if (format != kCoo) given(offset_type) = a.first_type;
    given(index_type) = a.second_type;
    given(base) = a.base;
    given(type) = a.type;
  });
}

int set_pointers(SparseMatrixDescriptor* to, Format format, void* first, void* second,
                 void* values) {
  return guarded([&] {
    SparseMatrixDescriptor& a = given(to);
    require(a.format == format && first != nullptr);
    require(a.entries == 0 || (second != nullptr && values != nullptr));
    a.first = first;
    a.second = second;
    a.values = values;
  });
}

template <class From, class To>
int get(const From* from, To From::*member, To* to) {
  return guarded([&] { given(to) = given(from).*member; });
}
template <class From>
int get_values(const From* from, const void** to) {
  return guarded([&] { given(to) = given(from).values; });
}
template <class To>
int set_values(To* to, void* values) {
  return guarded([&] {
    require(values != nullptr);
    given(to).values = values;
  });
}

template <class Pointer>
int get_sparse_vector(const SparseVectorDescriptor* from, std::int64_t* size, std::int64_t* entries,
                      Pointer* indices, Pointer* values, int* index_type, int* base, int* type) {
  return guarded([&] {
    const SparseVectorDescriptor& x = given(from);
    given(size) = x.size;
    given(entries) = x.entries;
    given(indices) = x.indices;
    given(values) = x.values;
    given(index_type) = x.index_type;
    given(base) = x.base;
    given(type) = x.type;
  });
}
template <class Pointer>
int get_dense_vector(const DenseVectorDescriptor* from, std::int64_t* size, Pointer* values,
                     int* type) {
  return guarded([&] {
    given(size) = given(from).size;
    given(values) = from->values;
    given(type) = from->type;
  });
}
template <class Pointer>
int get_dense_matrix(const DenseMatrixDescriptor* from, std::int64_t* rows, std::int64_t* columns,
                     std::int64_t* ld, Pointer* values, int* type, int* order) {
  return guarded([&] {
    const DenseMatrixDescriptor& m = given(from);
    given(rows) = m.rows;
    given(columns) = m.columns;
    given(ld) = m.ld;
    given(values) = m.values;
    given(type) = m.type;
    given(order) = m.order;
  });
}

int set_batch(SparseMatrixDescriptor* to, Format format, int count, std::int64_t first,
              std::int64_t second) {
  return guarded([&] {
    SparseMatrixDescriptor& a = given(to);
    require(a.format == format && count >= 1 && first >= 0 && second >= 0);
    a.batch = count;
    a.first_stride = first;
    a.second_stride = second;
  });
}

enum Attribute : int { kFillAttribute = 0, kDiagonalAttribute = 1 };
int& attribute_of(SparseMatrixDescriptor& a, int which) {
  require(which == kFillAttribute || which == kDiagonalAttribute);
  return which == kFillAttribute ? a.fill : a.diagonal;
}

int set_legacy(LegacyDescriptor* to, int LegacyDescriptor::*member, int value, int maximum) {
  return guarded([&] {
    require(value >= 0 && value <= maximum);
    given(to).*member = value;
  });
}
int get_legacy(const LegacyDescriptor* from, int LegacyDescriptor::*member) {
  return from == nullptr ? 0 : from->*member;
}

}  // namespace

extern "C" {

// --- vectors ------------------------------------------------------------------------------------

int raddle_cusparseCreateSpVec(SparseVectorDescriptor** to, std::int64_t size, std::int64_t entries,
                               void* indices, void* values, int index_type, int base, int type) {
  return create(to, SparseVectorDescriptor{size, entries, indices, values, index_type, base, type},
                size >= 0 && entries >= 0 && entries <= size && is_index(index_type) &&
                    is_base(base) && is_type(type));
}
int raddle_cusparseDestroySpVec(SparseVectorDescriptor* x) { return destroy(x); }
int raddle_cusparseSpVecGet(const SparseVectorDescriptor* x, std::int64_t* size,
                            std::int64_t* entries, void** indices, void** values, int* index_type,
                            int* base, int* type) {
  return get_sparse_vector(x, size, entries, indices, values, index_type, base, type);
}
int raddle_cusparseSpVecGetIndexBase(const SparseVectorDescriptor* x, int* to) {
  return get(x, &SparseVectorDescriptor::base, to);
}
int raddle_cusparseSpVecGetValues(const SparseVectorDescriptor* x, const void** to) {
  return get_values(x, to);
}
int raddle_cusparseSpVecSetValues(SparseVectorDescriptor* x, void* values) {
  return set_values(x, values);
}

int raddle_cusparseCreateDnVec(DenseVectorDescriptor** to, std::int64_t size, void* values,
                               int type) {
  return create(to, DenseVectorDescriptor{size, values, type}, size >= 0 && is_type(type));
}
int raddle_cusparseDestroyDnVec(DenseVectorDescriptor* x) { return destroy(x); }
int raddle_cusparseDnVecGet(const DenseVectorDescriptor* x, std::int64_t* size, void** values,
                            int* type) {
  return get_dense_vector(x, size, values, type);
}
int raddle_cusparseDnVecGetValues(const DenseVectorDescriptor* x, const void** to) {
  return get_values(x, to);
}
int raddle_cusparseDnVecSetValues(DenseVectorDescriptor* x, void* values) {
  return set_values(x, values);
}

// --- dense matrices -----------------------------------------------------------------------------

int raddle_cusparseCreateDnMat(DenseMatrixDescriptor** to, std::int64_t rows, std::int64_t columns,
                               std::int64_t ld, void* values, int type, int order) {
  const bool ordered = order == kByColumns || order == kByRows;
  return create(to,
                DenseMatrixDescriptor{.rows = rows,
                                      .columns = columns,
                                      .ld = ld,
                                      .values = values,
                                      .type = type,
                                      .order = order},
                rows >= 0 && columns >= 0 && ordered && is_type(type) &&
                    ld >= (order == kByRows ? columns : rows));
}
int raddle_cusparseDestroyDnMat(DenseMatrixDescriptor* m) { return destroy(m); }
int raddle_cusparseDnMatGet(const DenseMatrixDescriptor* m, std::int64_t* rows,
                            std::int64_t* columns, std::int64_t* ld, void** values, int* type,
                            int* order) {
  return get_dense_matrix(m, rows, columns, ld, values, type, order);
}
int raddle_cusparseDnMatGetValues(const DenseMatrixDescriptor* m, const void** to) {
  return get_values(m, to);
}
int raddle_cusparseDnMatSetValues(DenseMatrixDescriptor* m, void* values) {
  return set_values(m, values);
}
int raddle_cusparseDnMatSetStridedBatch(DenseMatrixDescriptor* m, int count, std::int64_t stride) {
  return guarded([&] {
    DenseMatrixDescriptor& to = given(m);
    const std::int64_t lines = to.order == kByRows ? to.rows : to.columns;
    require(count >= 1 && (stride == 0 || stride >= to.ld * lines));
    to.batch = count;
    to.stride = stride;
  });
}
int raddle_cusparseDnMatGetStridedBatch(const DenseMatrixDescriptor* m, int* count,
                                        std::int64_t* stride) {
  return guarded([&] {
    given(count) = given(m).batch;
    given(stride) = m->stride;
  });
}

// --- sparse matrices ----------------------------------------------------------------------------

int raddle_cusparseCreateCsr(SparseMatrixDescriptor** to, std::int64_t rows, std::int64_t columns,
                             std::int64_t entries, void* offsets, void* indices, void* values,
                             int offset_type, int index_type, int base, int type) {
  return create_sparse(to, kCsr, rows, columns, entries, offsets, indices, values, offset_type,
                       index_type, base, type);
}
int raddle_cusparseCreateCsc(SparseMatrixDescriptor** to, std::int64_t rows, std::int64_t columns,
                             std::int64_t entries, void* offsets, void* indices, void* values,
                             int offset_type, int index_type, int base, int type) {
  return create_sparse(to, kCsc, rows, columns, entries, offsets, indices, values, offset_type,
                       index_type, base, type);
}
int raddle_cusparseCreateCoo(SparseMatrixDescriptor** to, std::int64_t rows, std::int64_t columns,
                             std::int64_t entries, void* row_indices, void* column_indices,
                             void* values, int index_type, int base, int type) {
  return create_sparse(to, kCoo, rows, columns, entries, row_indices, column_indices, values,
                       index_type, index_type, base, type);
}
int raddle_cusparseDestroySpMat(SparseMatrixDescriptor* a) { return destroy(a); }

int raddle_cusparseCsrGet(const SparseMatrixDescriptor* a, std::int64_t* rows,
                          std::int64_t* columns, std::int64_t* entries, void** offsets,
                          void** indices, void** values, int* offset_type, int* index_type,
                          int* base, int* type) {
  return get_sparse(a, kCsr, rows, columns, entries, offsets, indices, values, offset_type,
                    index_type, base, type);
}
int raddle_cusparseCscGet(const SparseMatrixDescriptor* a, std::int64_t* rows,
                          std::int64_t* columns, std::int64_t* entries, void** offsets,
                          void** indices, void** values, int* offset_type, int* index_type,
                          int* base, int* type) {
  return get_sparse(a, kCsc, rows, columns, entries, offsets, indices, values, offset_type,
                    index_type, base, type);
}
int raddle_cusparseCooGet(const SparseMatrixDescriptor* a, std::int64_t* rows,
                          std::int64_t* columns, std::int64_t* entries, void** row_indices,
                          void** column_indices, void** values, int* index_type, int* base,
                          int* type) {
  return get_sparse<void*>(a, kCoo, rows, columns, entries, row_indices, column_indices, values,
                           nullptr, index_type, base, type);
}
int raddle_cusparseCsrSetPointers(SparseMatrixDescriptor* a, void* offsets, void* indices,
                                  void* values) {
  return set_pointers(a, kCsr, offsets, indices, values);
}
int raddle_cusparseCscSetPointers(SparseMatrixDescriptor* a, void* offsets, void* indices,
                                  void* values) {
  return set_pointers(a, kCsc, offsets, indices, values);
}
int raddle_cusparseCooSetPointers(SparseMatrixDescriptor* a, void* rows, void* columns,
                                  void* values) {
  return set_pointers(a, kCoo, rows, columns, values);
}

int raddle_cusparseSpMatGetFormat(const SparseMatrixDescriptor* a, int* to) {
  return get(a, &SparseMatrixDescriptor::format, to);
}
int raddle_cusparseSpMatGetIndexBase(const SparseMatrixDescriptor* a, int* to) {
  return get(a, &SparseMatrixDescriptor::base, to);
}
int raddle_cusparseSpMatGetValues(const SparseMatrixDescriptor* a, const void** to) {
  return get_values(a, to);
}
int raddle_cusparseSpMatSetValues(SparseMatrixDescriptor* a, void* values) {
  return set_values(a, values);
}
int raddle_cusparseSpMatGetSize(const SparseMatrixDescriptor* a, std::int64_t* rows,
                                std::int64_t* columns, std::int64_t* entries) {
  return guarded([&] {
    given(rows) = given(a).rows;
    given(columns) = a->columns;
    given(entries) = a->entries;
  });
}
int raddle_cusparseSpMatGetStridedBatch(const SparseMatrixDescriptor* a, int* count) {
  return get(a, &SparseMatrixDescriptor::batch, count);
}
int raddle_cusparseCsrSetStridedBatch(SparseMatrixDescriptor* a, int count,
                                      std::int64_t offsets_stride, std::int64_t entries_stride) {
  return set_batch(a, kCsr, count, offsets_stride, entries_stride);
}
int raddle_cusparseCooSetStridedBatch(SparseMatrixDescriptor* a, int count, std::int64_t stride) {
  return set_batch(a, kCoo, count, stride, stride);
}
int raddle_cusparseSpMatGetAttribute(SparseMatrixDescriptor* a, int which, void* to,
                                     std::size_t bytes) {
  return guarded([&] {
    const int& value = attribute_of(given(a), which);
    require(to != nullptr && bytes == sizeof value);
    std::memcpy(to, &value, sizeof value);
  });
}
int raddle_cusparseSpMatSetAttribute(SparseMatrixDescriptor* a, int which, const void* from,
                                     std::size_t bytes) {
  return guarded([&] {
    int& to = attribute_of(given(a), which);
    int value = 0;
    require(from != nullptr && bytes == sizeof value);
    std::memcpy(&value, from, sizeof value);
    require(value == 0 || value == 1);
    to = value;
  });
}

// --- those of the older interface ---------------------------------------------------------------

int raddle_cusparseCreateMatDescr(LegacyDescriptor** to) { return create(to, {}, true); }
int raddle_cusparseDestroyMatDescr(LegacyDescriptor* a) {
  delete a;
  return kSuccess;
}
int raddle_cusparseSetMatType(LegacyDescriptor* a, int type) {
  return set_legacy(a, &LegacyDescriptor::type, type, 3);
}
int raddle_cusparseGetMatType(const LegacyDescriptor* a) {
  return get_legacy(a, &LegacyDescriptor::type);
}
int raddle_cusparseSetMatFillMode(LegacyDescriptor* a, int fill) {
  return set_legacy(a, &LegacyDescriptor::fill, fill, 1);
}
int raddle_cusparseGetMatFillMode(const LegacyDescriptor* a) {
  return get_legacy(a, &LegacyDescriptor::fill);
}
int raddle_cusparseSetMatDiagType(LegacyDescriptor* a, int diagonal) {
  return set_legacy(a, &LegacyDescriptor::diagonal, diagonal, 1);
}
int raddle_cusparseGetMatDiagType(const LegacyDescriptor* a) {
  return get_legacy(a, &LegacyDescriptor::diagonal);
}
int raddle_cusparseSetMatIndexBase(LegacyDescriptor* a, int base) {
  return set_legacy(a, &LegacyDescriptor::base, base, 1);
}
int raddle_cusparseGetMatIndexBase(const LegacyDescriptor* a) {
  return get_legacy(a, &LegacyDescriptor::base);
}

}  // extern "C"
