// Sparse matrices with dense ones, and products of dense ones where a sparse one has entries.
#include <algorithm>

#include "raddle/cusparse/products.h"
#include "raddle/cusparse/steps.h"

using namespace raddle::cusparse;

namespace {

struct Call {
  int op_a, op_b;
  const SparseMatrixDescriptor& a;
  const DenseMatrixDescriptor &b, &c;
  ProductTypes types;
};

/// cusparseSpMMAlg_t: those of COO, of CSR and CSC, and of formats that are not here.
bool is_of_coo(int algorithm) {
  return algorithm == 1 || algorithm == 2 || algorithm == 3 || algorithm == 5;
}
bool is_of_csr(int algorithm) { return algorithm == 4 || algorithm == 6 || algorithm == 12; }
bool is_of_blocks(int algorithm) { return algorithm == 13 || algorithm == 14; }

Call checked(int op_a, int op_b, const void* alpha, const SparseMatrixDescriptor* a,
             const DenseMatrixDescriptor* b, const void* beta, const DenseMatrixDescriptor* c,
             int compute, int algorithm) {
  require(is_operation(op_a) && is_operation(op_b) && alpha != nullptr && beta != nullptr);
  Call out{op_a, op_b, given(a), given(b), given(c), {}};
  require(c->rows == rows_of(*a, op_a) && c->columns == columns_of(*b, op_b) &&
          columns_of(*a, op_a) == rows_of(*b, op_b));
  require(algorithm == 0 || is_of_coo(algorithm) || is_of_csr(algorithm) ||
          is_of_blocks(algorithm));
  require(algorithm == 0 || (a->format == kCoo ? is_of_coo(algorithm) : is_of_csr(algorithm)),
          kNotSupported);
  // One A or one B may serve a whole batch: its stride is 0.
  const int batch = c->batch;
  const auto serves = [&](int count, std::int64_t stride) {
    return count == batch || (count == 1 && stride == 0);
  };
  require(serves(a->batch, a->second_stride) && serves(b->batch, b->stride));
  out.types = product_types(a->type, b->type, c->type, compute, "cusparseSpMM");
  return out;
}

/// COO gets offsets like CSR's, of each of a batch.
struct Memory {
  void* offsets;
  std::size_t bytes;
};
Memory memory_of(const Call& c, void* at) {
  Buffer buffer(at);
  if (c.a.format != kCoo || c.a.entries == 0) return {nullptr, 0};
  const std::int64_t count = (c.a.rows + 1) * c.a.batch;
  void* const offsets = buffer.take_bytes(count * (c.a.first_type == kIndex64 ? 8 : 4));
  return {offsets, buffer.bytes()};
}

void make_offsets(Handle& h, const Call& c, Sparse& a, void* offsets) {
  const std::int64_t index_bytes = a.positions.wide != 0 ? 8 : 4;
  for (int number = 0; number < c.a.batch; ++number) {
    const auto moved = [&](const void* base, std::int64_t elements) {
      return static_cast<const char*>(base) + number * elements * index_bytes;
    };
    compress(h, {moved(a.positions.at, a.entries_apart), a.positions.wide}, a.entries, a.base,
             a.lines, {moved(offsets, a.lines + 1), a.positions.wide}, a.base);
  }
  a.offsets = {offsets, a.positions.wide};
  a.offsets_apart = c.a.batch > 1 ? a.lines + 1 : 0;
}

void multiply(Handle& handle, const Call& call, const Scale& alpha, const Scale& beta,
              void* buffer) {
  if (call.c.rows == 0 || call.c.columns == 0) return;
  require(call.c.values != nullptr);
  Spmm product{.a = sparse_of(call.a),
               .b = dense_of(call.b, call.op_b),
               .c = dense_of(call.c),
               .rows = call.c.rows,
               .columns = call.c.columns,
               .alpha = alpha,
               .beta = beta,
               .conjugate_a = call.op_a == kConjugateTransposed,
               .conjugate_b = call.op_b == kConjugateTransposed};
  const bool half = call.types.letters != "s" && call.types.letters != "d" &&
                    call.types.letters != "c" && call.types.letters != "z";
  const char* const module = half ? "spmm_half" : "spmm";
  const std::string stem = "sparse_" + call.types.letters + "spmm_", suffix = width_suffix(call.a);
  const auto batch = static_cast<unsigned>(call.c.batch);
  const bool by_rows = lines_are_rows(call.a, call.op_a);
  if (!by_rows && !call.types.adds)
    throw Refusal{lacks("cusparseSpMM of a transposed matrix into 16-bit numbers")};
  if (call.a.format == kCoo && call.a.entries > 0) {
    require(buffer != nullptr);
    make_offsets(handle, call, product.a, memory_of(call, buffer).offsets);
  }
  if (by_rows && call.a.entries > 0) {
    const bool columns = product.b.column_step == 1;
    launch(handle, module, stem + (columns ? "by_columns" : "by_entries") + suffix,
           {blocks_for(product.rows * 32, kSpmmThreads),
            blocks_for(product.columns, columns ? 32 : kSpmmColumns), batch},
           kSpmmThreads, product);
    return;
  }
  constexpr std::int64_t kMaxBlocks = 65535;
  launch(handle, module, stem + "scale",
         {static_cast<unsigned>(
              std::min<std::int64_t>(blocks_for(product.rows * product.columns), kMaxBlocks)),
          1, batch},
         kSpmmThreads, product);
  if (call.a.entries > 0)
    launch(handle, module, stem + "transposed" + suffix,
           {blocks_for(product.a.lines * 32, kSpmmThreads), blocks_for(product.columns, 32), batch},
           kSpmmThreads, product);
}

/// op(A) and op(B) are dense.
Sddmm checked_sddmm(Handle& h, int op_a, int op_b, const void* alpha,
                    const DenseMatrixDescriptor* a, const DenseMatrixDescriptor* b,
                    const void* beta, const SparseMatrixDescriptor* c, int compute, int algorithm) {
  require((op_a == kPlain || op_a == kTransposed) && (op_b == kPlain || op_b == kTransposed));
  require(algorithm == 0);
  require(rows_of(given(a), op_a) == given(c).rows && columns_of(given(b), op_b) == c->columns &&
          columns_of(*a, op_a) == rows_of(*b, op_b));
  require(c->format == kCsr, kNotSupported);
  if (c->type == kF16 && a->type == kF16 && b->type == kF16)
    throw Refusal{lacks("cusparseSDDMM of half precision")};
  require(a->type == compute && b->type == compute && c->type == compute, kNotSupported);
  if (c->batch > 1 || a->batch > 1 || b->batch > 1)
    throw Refusal{lacks("cusparseSDDMM of a batch")};
  return {.c = sparse_of(*c),
          .a = dense_of(*a, op_a),
          .b = dense_of(*b, op_b),
          .depth = columns_of(*a, op_a),
          .alpha = scale_of(h, alpha, compute),
          .beta = scale_of(h, beta, compute)};
}

}  // namespace

#define SPMM_PARAMETERS                                                                   \
  Handle *handle, int op_a, int op_b, const void *alpha, const SparseMatrixDescriptor *a, \
      const DenseMatrixDescriptor *b, const void *beta, const DenseMatrixDescriptor *c,   \
      int compute, int algorithm
#define SDDMM_PARAMETERS                                                                 \
  Handle *handle, int op_a, int op_b, const void *alpha, const DenseMatrixDescriptor *a, \
      const DenseMatrixDescriptor *b, const void *beta, const SparseMatrixDescriptor *c, \
      int compute, int algorithm

extern "C" {

int raddle_cusparseSpMM_bufferSize(SPMM_PARAMETERS, std::size_t* bytes) {
  return call(handle, [&](Handle&) {
    given(bytes) =
        memory_of(checked(op_a, op_b, alpha, a, b, beta, c, compute, algorithm), nullptr).bytes;
  });
}
/// There is nothing to prepare.
int raddle_cusparseSpMM_preprocess(SPMM_PARAMETERS, void*) {
  return call(handle,
              [&](Handle&) { checked(op_a, op_b, alpha, a, b, beta, c, compute, algorithm); });
}
int raddle_cusparseSpMM(SPMM_PARAMETERS, void* buffer) {
  return call(handle, [&](Handle& h) {
    const Call all = checked(op_a, op_b, alpha, a, b, beta, c, compute, algorithm);
    multiply(h, all, scale_of(h, alpha, compute), scale_of(h, beta, compute), buffer);
  });
}

int raddle_cusparseSDDMM_bufferSize(SDDMM_PARAMETERS, std::size_t* bytes) {
  return call(handle, [&](Handle& h) {
    checked_sddmm(h, op_a, op_b, alpha, a, b, beta, c, compute, algorithm);
    given(bytes) = 0;
  });
}
int raddle_cusparseSDDMM_preprocess(SDDMM_PARAMETERS, void*) {
  return call(handle, [&](Handle& h) {
    checked_sddmm(h, op_a, op_b, alpha, a, b, beta, c, compute, algorithm);
  });
}
int raddle_cusparseSDDMM(SDDMM_PARAMETERS, void*) {
  return call(handle, [&](Handle& h) {
    const Sddmm p = checked_sddmm(h, op_a, op_b, alpha, a, b, beta, c, compute, algorithm);
    const std::string letter = letter_of(compute, "cusparseSDDMM");
    if (p.c.entries > 0)
      launch(h, "dense", "sparse_" + letter + "sddmm", {blocks_for(p.c.lines * 32)}, kThreads, p);
  });
}

}  // extern "C"
