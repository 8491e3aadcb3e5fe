// Triangular systems with one right-hand side (SpSV) and with several (SpSM).
#include "raddle/cusparse/triangular.h"

using namespace raddle::cusparse;

namespace {

constexpr const char *kOne = "cusparseSpSV", *kSeveral = "cusparseSpSM";

template <class Descriptor>
int create(Descriptor** to) {
  return guarded([&] {
    require(to != nullptr);
    *to = new Descriptor;
  });
}
int destroy(SolveDescriptor* descriptor) {
  if (descriptor == nullptr) return kInvalidValue;
  delete descriptor;
  return kSuccess;
}

void run(Handle& h, const SolveDescriptor& d, Solve s, const char* word, unsigned tiles) {
  s.a = d.triangle;
  for (const LevelRun& one : d.runs) {
    s.first_level = one.first;
    s.last_level = one.last;
    // Several levels are one block's: it has the barriers between them.
    const bool single = one.last - one.first == 1;
    launch(h, "triangular", "sparse_" + letter_of(d.type, kOne) + word,
           {single ? blocks_for(one.rows, kSolveWarps) : 1, tiles}, kSolveWarps * 32, s);
  }
}

/// Only solving reads and writes them: their values may be null before.
void check_vectors(const SparseMatrixDescriptor* a, const DenseVectorDescriptor* x,
                   const DenseVectorDescriptor* y, int compute) {
  for (const DenseVectorDescriptor* one : {x, y}) {
    require(given(one).size == a->rows);
    require(one->type == compute, kNotSupported);
  }
}
void check_matrices(const SparseMatrixDescriptor* a, int op_b, const DenseMatrixDescriptor* b,
                    const DenseMatrixDescriptor* c, int compute) {
  require(is_operation(op_b));
  require(rows_of(given(b), op_b) == a->rows && given(c).rows == a->rows &&
          columns_of(*b, op_b) == c->columns);
  require(b->type == compute && c->type == compute, kNotSupported);
  if (b->batch > 1 || c->batch > 1 || a->batch > 1) throw Refusal{lacks("cusparseSpSM of a batch")};
}

}  // namespace

#define SPSV_PARAMETERS                                                                           \
  Handle *handle, int op, const void *alpha, const SparseMatrixDescriptor *a,                     \
      const DenseVectorDescriptor *x, const DenseVectorDescriptor *y, int compute, int algorithm, \
      SolveDescriptor *descriptor
#define SPSM_PARAMETERS                                                                           \
  Handle *handle, int op, int op_b, const void *alpha, const SparseMatrixDescriptor *a,           \
      const DenseMatrixDescriptor *b, const DenseMatrixDescriptor *c, int compute, int algorithm, \
      SolveDescriptor *descriptor

extern "C" {

int raddle_cusparseSpSV_createDescr(SolveDescriptor** to) { return create(to); }
int raddle_cusparseSpSV_destroyDescr(SolveDescriptor* d) { return destroy(d); }
int raddle_cusparseSpSM_createDescr(SolveDescriptor** to) { return create(to); }
int raddle_cusparseSpSM_destroyDescr(SolveDescriptor* d) { return destroy(d); }

int raddle_cusparseSpSV_bufferSize(SPSV_PARAMETERS, std::size_t* bytes) {
  return call(handle, [&](Handle&) {
    require(alpha != nullptr && descriptor != nullptr);
    check_triangle(a, op, compute, algorithm, kOne);
    check_vectors(a, x, y, compute);
    given(bytes) = triangle_memory(*a, nullptr).bytes;
  });
}
int raddle_cusparseSpSV_analysis(SPSV_PARAMETERS, void* buffer) {
  return call(handle, [&](Handle& h) {
    require(alpha != nullptr);
    check_triangle(a, op, compute, algorithm, kOne);
    check_vectors(a, x, y, compute);
    analyse(h, given(descriptor), op, *a, buffer, kOne);
  });
}
int raddle_cusparseSpSV_solve(SPSV_PARAMETERS) {
  return call(handle, [&](Handle& h) {
    check_triangle(a, op, compute, algorithm, kOne);
    check_vectors(a, x, y, compute);
    require(given(descriptor).analysed && descriptor->op == op);
    Solve s{};
    s.b.at = x->values;
    s.x.at = y->values;
    s.columns = 1;
    s.alpha = scale_of(h, alpha, compute);
    run(h, *descriptor, s, "spsv", 1);
  });
}
int raddle_cusparseSpSV_updateMatrix(Handle* handle, SolveDescriptor* d, const void* values,
                                     int part) {
  return call(handle, [&](Handle& h) { update(h, given(d), values, part, kOne); });
}

int raddle_cusparseSpSM_bufferSize(SPSM_PARAMETERS, std::size_t* bytes) {
  return call(handle, [&](Handle&) {
    require(alpha != nullptr && descriptor != nullptr);
    check_triangle(a, op, compute, algorithm, kSeveral);
    check_matrices(a, op_b, b, c, compute);
    given(bytes) = triangle_memory(*a, nullptr).bytes;
  });
}
int raddle_cusparseSpSM_analysis(SPSM_PARAMETERS, void* buffer) {
  return call(handle, [&](Handle& h) {
    require(alpha != nullptr);
    check_triangle(a, op, compute, algorithm, kSeveral);
    check_matrices(a, op_b, b, c, compute);
    analyse(h, given(descriptor), op, *a, buffer, kSeveral);
  });
}
int raddle_cusparseSpSM_solve(SPSM_PARAMETERS) {
  return call(handle, [&](Handle& h) {
    check_triangle(a, op, compute, algorithm, kSeveral);
    check_matrices(a, op_b, b, c, compute);
    require(given(descriptor).analysed && descriptor->op == op);
    if (c->columns == 0) return;
    Solve s{};
    s.b = dense_of(*b, op_b);
    s.x = dense_of(*c);
    s.columns = c->columns;
    s.alpha = scale_of(h, alpha, compute);
    s.conjugate_b = op_b == kConjugateTransposed;
    run(h, *descriptor, s, "spsm", blocks_for(c->columns, 32));
  });
}
int raddle_cusparseSpSM_updateMatrix(Handle* handle, SolveDescriptor* d, const void* values,
                                     int part) {
  return call(handle, [&](Handle& h) { update(h, given(d), values, part, kSeveral); });
}

}  // extern "C"
