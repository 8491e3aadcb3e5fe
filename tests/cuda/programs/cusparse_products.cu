// Sparse matrices with dense vectors and matrices (SpMV, SpMM), and products of dense matrices where a sparse one has
// entries (SDDMM): all types, formats, widths of indices, operations and layouts, against sums on the host.
#include "cusparse.h"

constexpr cusparseOperation_t kOperations[] = {CUSPARSE_OPERATION_NON_TRANSPOSE,
                                               CUSPARSE_OPERATION_TRANSPOSE,
                                               CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE};
constexpr cusparseFormat_t kFormats[] = {CUSPARSE_FORMAT_CSR, CUSPARSE_FORMAT_CSC,
                                         CUSPARSE_FORMAT_COO};

// Sums of single precision for results of 16 bits: two roundings of the result and one of y.
template <class Y>
double roundings(int terms) {
  return sizeof(Y) == 2 ? 3 : 2 * terms + 4;
}

template <class T, class Y, class M>
void spmv(cusparseHandle_t h, const M& a, cusparseOperation_t op, cusparseSpMVAlg_t algorithm,
          bool on_device, bool keeps, const std::string& what) {
  using Compute = typename Of<T>::Compute;
  const bool plain = op == CUSPARSE_OPERATION_NON_TRANSPOSE;
  const int n_x = plain ? a.columns : a.rows, n_y = plain ? a.rows : a.columns;
  Random random;
  Vector<T> x(n_x, random);
  Vector<Y> y(n_y, random);
  if (!keeps)
    for (Y& one : y.values.host) one = Of<Y>::make(NAN);  // is not read where beta is 0
  y.values.up();
  const Scalar<Compute> alpha(Of<Compute>::make({0.75, is_complex<T>() ? 0.5 : 0}), on_device),
      beta(Of<Compute>::make(keeps ? Number(-0.5, is_complex<T>() ? 0.25 : 0) : 0), on_device);
  mode(h, on_device);
  std::size_t bytes = 1;
  good(cusparseSpMV_bufferSize(h, op, alpha.at(), a.descriptor, x.descriptor, beta.at(),
                               y.descriptor, Of<T>::compute, algorithm, &bytes), what);
  Buffer buffer(bytes);
  good(cusparseSpMV_preprocess(h, op, alpha.at(), a.descriptor, x.descriptor, beta.at(),
                               y.descriptor, Of<T>::compute, algorithm, buffer.at), what);
  good(cusparseSpMV(h, op, alpha.at(), a.descriptor, x.descriptor, beta.at(), y.descriptor,
                    Of<T>::compute, algorithm, buffer.at), what);
  std::vector<Number> want(n_y);
  std::vector<double> scale(n_y);
  std::vector<int> terms(n_y);
  for (const Entry& e : a.entries) {
    const int to = plain ? e.row : e.column;
    const Number one =
        alpha.value() * applied(e.value, op) * Of<T>::widen(x.values.host[plain ? e.column : e.row]);
    want[to] += one;
    scale[to] += std::abs(one);
    ++terms[to];
  }
  const auto got = y.values.down();
  for (int i = 0; i < n_y; ++i) {
    const Number old = keeps ? beta.value() * Of<Y>::widen(y.values.host[i]) : 0;
    near(got[i], want[i] + old, scale[i] + std::abs(old), roundings<Y>(terms[i]),
         what + " y " + std::to_string(i));
  }
}

/// Every way to call it with a matrix of these types.
template <class T, class Y, class Offset, class Index>
void all_spmv(cusparseHandle_t h, int rows, int columns, int each, bool skewed, int base) {
  Random random;
  const Entries entries = random_matrix<T>(rows, columns, each, skewed, random);
  bool on_device = false, keeps = false;
  for (const cusparseFormat_t format : kFormats) {
    if (format == CUSPARSE_FORMAT_COO && sizeof(Offset) != sizeof(Index)) continue;
    const Matrix<T, Offset, Index> a(format, rows, columns, entries, base);
    std::vector<cusparseSpMVAlg_t> algorithms = {CUSPARSE_SPMV_CSR_ALG1, CUSPARSE_SPMV_CSR_ALG2};
    if (format == CUSPARSE_FORMAT_COO) algorithms = {CUSPARSE_SPMV_COO_ALG1, CUSPARSE_SPMV_COO_ALG2};
    algorithms.push_back(CUSPARSE_SPMV_ALG_DEFAULT);
    for (const cusparseOperation_t op : kOperations) {
      // Of 16-bit results there are no transposes.
      const bool lines = (format == CUSPARSE_FORMAT_CSC) == (op != CUSPARSE_OPERATION_NON_TRANSPOSE);
      if (sizeof(Y) == 2 && !lines) continue;
      for (const cusparseSpMVAlg_t algorithm : algorithms) {
        on_device = !on_device;
        keeps = on_device ? !keeps : keeps;
        spmv<T, Y>(h, a, op, algorithm, on_device, keeps,
                   "spmv format " + std::to_string(format) + " op " + std::to_string(op) + " alg " +
                       std::to_string(algorithm) + " " + std::to_string(rows) + "x" +
                       std::to_string(columns) + " width " + std::to_string(sizeof(Index)));
      }
    }
  }
}

/// The same matrix and vectors give the same bits.
void deterministic(cusparseHandle_t h) {
  Random random;
  const Matrix<float> a(CUSPARSE_FORMAT_CSR, 300, 500, random_matrix<float>(300, 500, 9, true, random));
  Vector<float> x(500, random), y(300, random), z(300, random);
  const float one = 1, zero = 0;
  mode(h, false);
  for (const auto& to : {&y, &z}) {
    std::size_t bytes = 0;
    cusparseSpMV_bufferSize(h, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a.descriptor, x.descriptor,
                            &zero, to->descriptor, CUDA_R_32F, CUSPARSE_SPMV_CSR_ALG2, &bytes);
    Buffer buffer(bytes);
    good(cusparseSpMV(h, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a.descriptor, x.descriptor, &zero,
                      to->descriptor, CUDA_R_32F, CUSPARSE_SPMV_CSR_ALG2, buffer.at), "spmv");
  }
  check(y.values.down() == z.values.down(), "equal runs");
}

template <class T, class Y, class Offset = int, class Index = int>
void spmm(cusparseHandle_t h, cusparseFormat_t format, int m, int n, int k,
          cusparseOperation_t op_a, cusparseOperation_t op_b, cusparseOrder_t order_b,
          cusparseOrder_t order_c, bool on_device) {
  using Compute = typename Of<T>::Compute;
  const bool plain_a = op_a == CUSPARSE_OPERATION_NON_TRANSPOSE,
             plain_b = op_b == CUSPARSE_OPERATION_NON_TRANSPOSE;
  Random random;
  const int rows = plain_a ? m : k, columns = plain_a ? k : m;
  const Matrix<T, Offset, Index> a(format, rows, columns,
                                   random_matrix<T>(rows, columns, 6, true, random), 1);
  Dense<T> b(plain_b ? k : n, plain_b ? n : k, order_b, 3, random);
  Dense<Y> c(m, n, order_c, 2, random);
  const Scalar<Compute> alpha(Of<Compute>::make(0.75), on_device),
      beta(Of<Compute>::make(on_device ? -0.5 : 0), on_device);
  const std::string what = "spmm format " + std::to_string(format) + " ops " +
                           std::to_string(op_a) + std::to_string(op_b) + " orders " +
                           std::to_string(order_b) + std::to_string(order_c);
  mode(h, on_device);
  const auto algorithm = CUSPARSE_SPMM_ALG_DEFAULT;
  std::size_t bytes = 0;
  good(cusparseSpMM_bufferSize(h, op_a, op_b, alpha.at(), a.descriptor, b.descriptor, beta.at(),
                               c.descriptor, Of<T>::compute, algorithm, &bytes), what);
  Buffer buffer(bytes);
  good(cusparseSpMM_preprocess(h, op_a, op_b, alpha.at(), a.descriptor, b.descriptor, beta.at(),
                               c.descriptor, Of<T>::compute, algorithm, buffer.at), what);
  good(cusparseSpMM(h, op_a, op_b, alpha.at(), a.descriptor, b.descriptor, beta.at(), c.descriptor,
                    Of<T>::compute, algorithm, buffer.at), what);
  std::vector<Number> want(m * n);
  std::vector<double> scale(m * n);
  for (const Entry& e : a.entries)
    for (int j = 0; j < n; ++j) {
      const int row = plain_a ? e.row : e.column, from = plain_a ? e.column : e.row;
      const Number one = alpha.value() * applied(e.value, op_a) *
                         applied(plain_b ? b(from, j) : b(j, from), op_b);
      want[row * n + j] += one;
      scale[row * n + j] += std::abs(one);
    }
  const auto got = c.values.down();
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      const Number old = beta.value() * c(i, j);
      near(got[c.place(i, j)], want[i * n + j] + old, scale[i * n + j] + std::abs(old),
           roundings<Y>(k), what + " c");
    }
  for (int line = 0; line < (order_c == CUSPARSE_ORDER_ROW ? m : n); ++line) {
    const std::size_t gap = static_cast<std::size_t>(line) * c.ld + c.ld - 1;
    check(Of<Y>::widen(got[gap]) == Of<Y>::widen(c.values.host[gap]), what + ": between lines");
  }
}
template <class T, class Y>
void all_spmm(cusparseHandle_t h, bool transposes) {
  bool on_device = false;
  for (const cusparseFormat_t format : kFormats)
    for (const cusparseOperation_t op_a : kOperations) {
      const bool lines =
          (format == CUSPARSE_FORMAT_CSC) == (op_a != CUSPARSE_OPERATION_NON_TRANSPOSE);
      if (!transposes && !lines) continue;
      for (const cusparseOperation_t op_b : kOperations)
        for (const cusparseOrder_t order : {CUSPARSE_ORDER_ROW, CUSPARSE_ORDER_COL}) {
          on_device = !on_device;
          spmm<T, Y>(h, format, 37, op_b == kOperations[1] ? 41 : 5, 45, op_a, op_b, order,
                     on_device ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL, on_device);
        }
    }
}

/// Three products at once: of one A, or of three with the same offsets and columns.
void batches(cusparseHandle_t h) {
  constexpr int kBatch = 3, kM = 20, kN = 9, kK = 30;
  Random random;
  const float one = 1, zero = 0;
  mode(h, false);
  for (const cusparseFormat_t format : {CUSPARSE_FORMAT_CSR, CUSPARSE_FORMAT_COO})
    for (const bool several : {false, true}) {
      const Entries entries = random_matrix<float>(kM, kK, 5, false, random);
      const int count = static_cast<int>(entries.size());
      Matrix<float> a(format, kM, kK, entries);
      // All of the batch one after another, each with values of its own.
      std::vector<int> first, second;
      std::vector<float> values;
      for (int number = 0; number < (several ? kBatch : 1); ++number) {
        first.insert(first.end(), a.first.host.begin(), a.first.host.end());
        second.insert(second.end(), a.second.host.begin(), a.second.host.end());
        for (const float value : a.values.host) values.push_back(value * float(number + 1));
      }
      Array<int> all_first(first), all_second(second);
      Array<float> all_values(values);
      if (format == CUSPARSE_FORMAT_CSR)
        good(cusparseCsrSetPointers(a.descriptor, all_first.device, all_second.device,
                                    all_values.device), "pointers");
      else
        good(cusparseCooSetPointers(a.descriptor, all_first.device, all_second.device,
                                    all_values.device), "pointers");
      if (several && format == CUSPARSE_FORMAT_CSR)
        good(cusparseCsrSetStridedBatch(a.descriptor, kBatch, kM + 1, count), "batch of csr");
      if (several && format == CUSPARSE_FORMAT_COO)
        good(cusparseCooSetStridedBatch(a.descriptor, kBatch, count), "batch of coo");
      Dense<float> b(kK, kN, CUSPARSE_ORDER_COL, 1, random, kBatch);
      Dense<float> c(kM, kN, CUSPARSE_ORDER_COL, 0, random, kBatch);
      std::size_t bytes = 0;
      const auto op = CUSPARSE_OPERATION_NON_TRANSPOSE;
      good(cusparseSpMM_bufferSize(h, op, op, &one, a.descriptor, b.descriptor, &zero, c.descriptor,
                                   CUDA_R_32F, CUSPARSE_SPMM_ALG_DEFAULT, &bytes), "batch");
      Buffer buffer(bytes);
      good(cusparseSpMM(h, op, op, &one, a.descriptor, b.descriptor, &zero, c.descriptor,
                        CUDA_R_32F, CUSPARSE_SPMM_ALG_DEFAULT, buffer.at), "batch");
      const auto got = c.values.down();
      for (int number = 0; number < kBatch; ++number) {
        std::vector<Number> want(kM * kN);
        for (const Entry& e : a.entries)
          for (int j = 0; j < kN; ++j)
            want[e.row * kN + j] +=
                e.value * b(e.column, j, number) * double(several ? number + 1 : 1);
        for (int i = 0; i < kM; ++i)
          for (int j = 0; j < kN; ++j)
            near(got[c.place(i, j, number)], want[i * kN + j], 20, 20, "batch");
      }
    }
}

template <class T>
void sddmm(cusparseHandle_t h, cusparseOperation_t op_a, cusparseOperation_t op_b,
           cusparseOrder_t order_a, cusparseOrder_t order_b, bool on_device) {
  constexpr int kM = 33, kN = 29, kDepth = 21;
  const bool plain_a = op_a == CUSPARSE_OPERATION_NON_TRANSPOSE,
             plain_b = op_b == CUSPARSE_OPERATION_NON_TRANSPOSE;
  Random random;
  Dense<T> a(plain_a ? kM : kDepth, plain_a ? kDepth : kM, order_a, 2, random);
  Dense<T> b(plain_b ? kDepth : kN, plain_b ? kN : kDepth, order_b, 1, random);
  Matrix<T> c(CUSPARSE_FORMAT_CSR, kM, kN, random_matrix<T>(kM, kN, 7, true, random));
  const Scalar<T> alpha(Of<T>::make(1.5), on_device), beta(Of<T>::make(0.5), on_device);
  mode(h, on_device);
  std::size_t bytes = 0;
  good(cusparseSDDMM_bufferSize(h, op_a, op_b, alpha.at(), a.descriptor, b.descriptor, beta.at(),
                                c.descriptor, Of<T>::type, CUSPARSE_SDDMM_ALG_DEFAULT, &bytes),
       "sddmm size");
  Buffer buffer(bytes);
  good(cusparseSDDMM_preprocess(h, op_a, op_b, alpha.at(), a.descriptor, b.descriptor, beta.at(),
                                c.descriptor, Of<T>::type, CUSPARSE_SDDMM_ALG_DEFAULT, buffer.at),
       "sddmm preprocess");
  good(cusparseSDDMM(h, op_a, op_b, alpha.at(), a.descriptor, b.descriptor, beta.at(), c.descriptor,
                     Of<T>::type, CUSPARSE_SDDMM_ALG_DEFAULT, buffer.at), "sddmm");
  const auto got = c.values.down();
  for (std::size_t e = 0; e < c.entries.size(); ++e) {
    Number sum = 0.5 * c.entries[e].value;
    for (int k = 0; k < kDepth; ++k) {
      const int i = c.entries[e].row, j = c.entries[e].column;
      sum += 1.5 * (plain_a ? a(i, k) : a(k, i)) * (plain_b ? b(k, j) : b(j, k));
    }
    near(got[e], sum, 3 * kDepth, 8, "sddmm");
  }
}
template <class T>
void all_sddmm(cusparseHandle_t h) {
  for (const cusparseOperation_t op_a : {kOperations[0], kOperations[1]})
    for (const cusparseOperation_t op_b : {kOperations[0], kOperations[1]})
      for (const cusparseOrder_t order : {CUSPARSE_ORDER_ROW, CUSPARSE_ORDER_COL})
        sddmm<T>(h, op_a, op_b, order, op_a == op_b ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL,
                 op_a == op_b);
}

template <class T>
void uniform(cusparseHandle_t h) {
  all_spmv<T, T, int, int>(h, 70, 90, 4, true, 0);
  all_spmv<T, T, long long, int>(h, 33, 20, 9, false, 1);
  all_spmv<T, T, long long, long long>(h, 130, 50, 20, true, 1);
  all_spmm<T, T>(h, true);
  spmm<T, T, long long, long long>(h, CUSPARSE_FORMAT_CSR, 20, 40, 30, kOperations[0],
                                   kOperations[0], CUSPARSE_ORDER_ROW, CUSPARSE_ORDER_ROW, false);
  spmm<T, T, long long, int>(h, CUSPARSE_FORMAT_CSC, 20, 3, 30, kOperations[0], kOperations[0],
                             CUSPARSE_ORDER_COL, CUSPARSE_ORDER_COL, true);
  all_sddmm<T>(h);
}
/// Storage of 16 bits; results of 16 or 32 bits.
template <class T>
void mixed(cusparseHandle_t h) {
  all_spmv<T, T, int, int>(h, 70, 90, 4, true, 0);
  all_spmv<T, float, int, int>(h, 70, 90, 4, true, 1);
  all_spmm<T, T>(h, false);
  all_spmm<T, float>(h, true);
}

int main(int argc, char** argv) {
  const std::string only = argc > 1 ? argv[1] : "sdczhb";
  cusparseHandle_t h;
  good(cusparseCreate(&h), "create");
  for (const char type : only) {
    if (type == 's') uniform<float>(h);
    if (type == 'd') uniform<double>(h);
    if (type == 'c') uniform<cuComplex>(h);
    if (type == 'z') uniform<cuDoubleComplex>(h);
    if (type == 'h') mixed<__half>(h);
    if (type == 'b') mixed<__nv_bfloat16>(h);
  }
  // Rows of every mean length have groups of other sizes; blocks share long rows.
  for (const int each : {1, 3, 12, 40}) all_spmv<float, float, int, int>(h, 90, 400, each, true, 0);
  all_spmv<double, double, int, int>(h, 5, 3000, 1500, true, 0);
  deterministic(h);
  batches(h);
  good(cusparseDestroy(h), "destroy");
  return finish();
}
