// Products of sparse matrices (SpGEMM, also the reusable kind) and triangular systems (SpSV, SpSM), in all four types,
// against the host. Short rows, long ones, and rows whose tables do not fit in shared memory; deep and shallow levels.
#include "cusparse.h"

constexpr cusparseOperation_t kN = CUSPARSE_OPERATION_NON_TRANSPOSE, kT = CUSPARSE_OPERATION_TRANSPOSE,
                              kC = CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE;

struct Sum {
  Number value;
  double scale = 0;
  int terms = 0;
};
using Product = std::map<std::pair<int, int>, Sum>;

Product product_of(const Entries& a, const Entries& b, int middle) {
  std::vector<std::vector<const Entry*>> rows(middle);
  for (const Entry& e : b) rows[e.row].push_back(&e);
  Product out;
  for (const Entry& e : a)
    for (const Entry* other : rows[e.column]) {
      Sum& sum = out[{e.row, other->column}];
      sum.value += e.value * other->value;
      sum.scale += std::abs(e.value * other->value);
      ++sum.terms;
    }
  return out;
}

/// C has the entries of the product, in order, times alpha.
template <class T>
void compare(const Product& want, Number alpha, int rows, int base, const std::vector<int>& offsets,
             const std::vector<int>& columns, const std::vector<T>& values, const char* what) {
  check(columns.size() == want.size(), std::string(what) + ": entries");
  if (columns.size() != want.size()) return;
  std::size_t number = 0;
  for (const auto& [where, sum] : want) {
    check(columns[number] == where.second + base, std::string(what) + ": columns ascend");
    check(offsets[where.first] - base <= int(number) && int(number) < offsets[where.first + 1] - base,
          std::string(what) + ": offsets");
    near(values[number], alpha * sum.value, std::abs(alpha) * sum.scale, 2 * sum.terms + 4, what);
    ++number;
  }
  check(offsets[rows] - base == int(want.size()) && offsets[0] == base, std::string(what) + ": ends");
}

/// The result's arrays are the caller's, made when their size is known.
template <class T>
struct Result {
  Array<int> offsets, columns;
  Array<T> values;
  Result(cusparseSpMatDescr_t c, int rows) : offsets(rows + 1), columns(size(c)), values(size(c)) {
    good(cusparseCsrSetPointers(c, offsets.device, columns.device, values.device), "pointers");
  }
  static std::size_t size(cusparseSpMatDescr_t c) {
    std::int64_t rows, columns, entries;
    good(cusparseSpMatGetSize(c, &rows, &columns, &entries), "size");
    return static_cast<std::size_t>(entries);
  }
};

template <class T>
void spgemm(cusparseHandle_t h, int m, int k, int n, const Entries& left, const Entries& right,
            int base, bool on_device, cusparseSpGEMMAlg_t algorithm) {
  const Matrix<T> a(CUSPARSE_FORMAT_CSR, m, k, left, base), b(CUSPARSE_FORMAT_CSR, k, n, right);
  const Product want = product_of(a.entries, b.entries, k);
  const Scalar<T> alpha(Of<T>::make({1.5, is_complex<T>() ? -0.5 : 0}), on_device),
      beta(Of<T>::make(0), on_device);
  mode(h, on_device);
  cusparseSpMatDescr_t c;
  good(cusparseCreateCsr(&c, m, n, 0, nullptr, nullptr, nullptr, CUSPARSE_INDEX_32I,
                         CUSPARSE_INDEX_32I, static_cast<cusparseIndexBase_t>(base), Of<T>::type),
       "C");
  cusparseSpGEMMDescr_t d;
  good(cusparseSpGEMM_createDescr(&d), "descriptor");
  std::size_t bytes1 = 0, bytes2 = 0, bytes3 = 0;
  const auto estimate = [&](void* at) {
    good(cusparseSpGEMM_workEstimation(h, kN, kN, alpha.at(), a.descriptor, b.descriptor, beta.at(),
                                       c, Of<T>::type, algorithm, d, &bytes1, at), "estimation");
  };
  estimate(nullptr);
  Buffer buffer1(bytes1);
  estimate(buffer1.at);
  std::int64_t products = 0;
  good(cusparseSpGEMM_getNumProducts(d, &products), "products");
  std::int64_t terms = 0;
  for (const auto& one : want) terms += one.second.terms;
  check(products == terms, "number of products");
  if (algorithm != CUSPARSE_SPGEMM_DEFAULT) {
    good(cusparseSpGEMM_estimateMemory(h, kN, kN, alpha.at(), a.descriptor, b.descriptor, beta.at(),
                                       c, Of<T>::type, algorithm, d, 0.2f, &bytes3, nullptr, nullptr),
         "memory");
    Buffer buffer3(bytes3);
    good(cusparseSpGEMM_estimateMemory(h, kN, kN, alpha.at(), a.descriptor, b.descriptor, beta.at(),
                                       c, Of<T>::type, algorithm, d, 0.2f, &bytes3, buffer3.at,
                                       &bytes2), "memory");
  }
  const auto compute = [&](void* at) {
    good(cusparseSpGEMM_compute(h, kN, kN, alpha.at(), a.descriptor, b.descriptor, beta.at(), c,
                                Of<T>::type, algorithm, d, &bytes2, at), "compute");
  };
  if (algorithm == CUSPARSE_SPGEMM_DEFAULT) compute(nullptr);
  Buffer buffer2(bytes2);
  compute(buffer2.at);
  const Result<T> result(c, m);
  good(cusparseSpGEMM_copy(h, kN, kN, alpha.at(), a.descriptor, b.descriptor, beta.at(), c,
                           Of<T>::type, algorithm, d), "copy");
  compare(want, alpha.value(), m, base, result.offsets.down(), result.columns.down(),
          result.values.down(), "spgemm");
  good(cusparseSpGEMM_destroyDescr(d), "destroy");
  cusparseDestroySpMat(c);
}

/// The structure once, then values twice.
template <class T>
void reused(cusparseHandle_t h, int m, int k, int n) {
  Random random;
  Matrix<T> a(CUSPARSE_FORMAT_CSR, m, k, random_matrix<T>(m, k, 6, true, random)),
      b(CUSPARSE_FORMAT_CSR, k, n, random_matrix<T>(k, n, 6, false, random));
  cusparseSpMatDescr_t c;
  good(cusparseCreateCsr(&c, m, n, 0, nullptr, nullptr, nullptr, CUSPARSE_INDEX_32I,
                         CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, Of<T>::type), "C");
  cusparseSpGEMMDescr_t d;
  good(cusparseSpGEMM_createDescr(&d), "descriptor");
  constexpr auto algorithm = CUSPARSE_SPGEMM_CSR_ALG_DETERMINITIC;
  std::size_t bytes[5] = {};
  auto buffer1 = std::pair<void*, void*>();  // freed as soon as it may be
  good(cusparseSpGEMMreuse_workEstimation(h, kN, kN, a.descriptor, b.descriptor, c, algorithm, d,
                                          &bytes[0], nullptr), "estimation");
  cudaMalloc(&buffer1.first, bytes[0]);
  good(cusparseSpGEMMreuse_workEstimation(h, kN, kN, a.descriptor, b.descriptor, c, algorithm, d,
                                          &bytes[0], buffer1.first), "estimation");
  good(cusparseSpGEMMreuse_nnz(h, kN, kN, a.descriptor, b.descriptor, c, algorithm, d, &bytes[1],
                               nullptr, &bytes[2], nullptr, &bytes[3], nullptr), "nnz");
  Buffer buffer2(bytes[1]), buffer3(bytes[2]), buffer4(bytes[3]);
  good(cusparseSpGEMMreuse_nnz(h, kN, kN, a.descriptor, b.descriptor, c, algorithm, d, &bytes[1],
                               buffer2.at, &bytes[2], buffer3.at, &bytes[3], buffer4.at), "nnz");
  cudaMemset(buffer1.first, 0xff, bytes[0]);
  cudaFree(buffer1.first);
  Result<T> result(c, m);
  good(cusparseSpGEMMreuse_copy(h, kN, kN, a.descriptor, b.descriptor, c, algorithm, d, &bytes[4],
                                nullptr), "copy");
  Buffer buffer5(bytes[4]);
  good(cusparseSpGEMMreuse_copy(h, kN, kN, a.descriptor, b.descriptor, c, algorithm, d, &bytes[4],
                                buffer5.at), "copy");
  mode(h, false);
  const T alpha = Of<T>::make(-2), beta = Of<T>::make(0);
  for (int round = 0; round < 2; ++round) {
    for (std::size_t e = 0; e < a.entries.size(); ++e) {
      a.entries[e].value *= 0.5;
      a.values.host[e] = Of<T>::make(a.entries[e].value);
    }
    a.values.up();
    good(cusparseSpGEMMreuse_compute(h, kN, kN, &alpha, a.descriptor, b.descriptor, &beta, c,
                                     Of<T>::type, algorithm, d), "compute");
    compare(product_of(a.entries, b.entries, k), -2, m, 0, result.offsets.down(),
            result.columns.down(), result.values.down(), "reused spgemm");
  }
  // beta C, of the same structure.
  const auto before = result.values.down();
  const T one = Of<T>::make(1);
  good(cusparseSpGEMMreuse_compute(h, kN, kN, &one, a.descriptor, b.descriptor, &one, c,
                                   Of<T>::type, algorithm, d), "compute with beta");
  const Product want = product_of(a.entries, b.entries, k);
  std::size_t number = 0;
  const auto after = result.values.down();
  for (const auto& [where, sum] : want) {
    near(after[number], sum.value + Of<T>::widen(before[number]), 3 * sum.scale,
         2 * sum.terms + 4, "spgemm with beta");
    ++number;
  }
  good(cusparseSpGEMM_destroyDescr(d), "destroy");
  cusparseDestroySpMat(c);
}

template <class T>
void products(cusparseHandle_t h) {
  Random random;
  spgemm<T>(h, 90, 70, 110, random_matrix<T>(90, 70, 4, false, random),
            random_matrix<T>(70, 110, 4, false, random), 1, false, CUSPARSE_SPGEMM_DEFAULT);
  // A full row of products: tables of a block; then tables in device memory.
  spgemm<T>(h, 40, 60, 900, random_matrix<T>(40, 60, 5, true, random),
            random_matrix<T>(60, 900, 8, false, random), 0, true, CUSPARSE_SPGEMM_ALG3);
  spgemm<T>(h, 12, 80, 3000, random_matrix<T>(12, 80, 8, true, random),
            random_matrix<T>(80, 3000, 60, true, random), 0, false, CUSPARSE_SPGEMM_ALG2);
  spgemm<T>(h, 5, 5, 5, {}, {}, 0, false, CUSPARSE_SPGEMM_DEFAULT);
  reused<T>(h, 50, 60, 700);
}

/// A triangle of `levels` or so, with some entries of the other one that must not be read.
template <class T>
Entries triangle(int n, bool upper, int reach, Random& random) {
  Entries out;
  for (int i = 0; i < n; ++i) {
    std::map<int, Number> row;
    for (int k = 0; k < 4; ++k) {
      const int from = std::max(0, i - 1 - random.next(reach));
      if (from < i) row[from] = 0.3 * Of<T>::widen(random_number<T>(random));
    }
    row[i] = 2.0 + Of<T>::widen(random_number<T>(random));
    if (i + 2 < n) row[i + 2] = 1e10;
    for (const auto& [column, value] : row) {
      const Number held = Of<T>::widen(Of<T>::make(value));
      out.push_back(upper ? Entry{n - 1 - i, n - 1 - column, held} : Entry{i, column, held});
    }
  }
  return out;
}

/// x = alpha op(A)^-1 b, and of how large sums it was made.
struct Solution {
  std::vector<Number> x;
  double scale = 0;
};
Solution solved(const Entries& all, int n, bool upper, bool unit, cusparseOperation_t op,
                const std::vector<Number>& b, Number alpha) {
  std::vector<std::vector<std::pair<int, Number>>> rows(n);
  for (const Entry& e : all) {
    if (upper ? e.column < e.row : e.column > e.row) continue;
    const int row = op == kN ? e.row : e.column, column = op == kN ? e.column : e.row;
    rows[row].push_back({column, applied(e.value, op)});
  }
  Solution out{std::vector<Number>(n)};
  const bool backward = upper == (op == kN);
  for (int step = 0; step < n; ++step) {
    const int i = backward ? n - 1 - step : step;
    Number sum = alpha * b[i], diagonal = 1;
    for (const auto& [column, value] : rows[i]) {
      if (column == i) diagonal = value;
      else sum -= value * out.x[column];
    }
    out.x[i] = unit ? sum : sum / diagonal;
    out.scale = std::max(out.scale, std::abs(out.x[i]));
  }
  return out;
}

void set_triangle(cusparseSpMatDescr_t a, bool upper, bool unit) {
  cusparseFillMode_t fill = upper ? CUSPARSE_FILL_MODE_UPPER : CUSPARSE_FILL_MODE_LOWER;
  cusparseDiagType_t diagonal = unit ? CUSPARSE_DIAG_TYPE_UNIT : CUSPARSE_DIAG_TYPE_NON_UNIT;
  good(cusparseSpMatSetAttribute(a, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill), "fill");
  good(cusparseSpMatSetAttribute(a, CUSPARSE_SPMAT_DIAG_TYPE, &diagonal, sizeof diagonal), "diagonal");
}

// Well-conditioned systems: an error is some roundings of the largest x.
constexpr double kRoundings = 100;

template <class T, class Index>
void spsv(cusparseHandle_t h, cusparseFormat_t format, int n, int reach, bool upper, bool unit,
          cusparseOperation_t op, bool on_device) {
  Random random;
  Matrix<T, Index, Index> a(format, n, n, triangle<T>(n, upper, reach, random), on_device ? 1 : 0);
  set_triangle(a.descriptor, upper, unit);
  Vector<T> b(n, random), x(n, random);
  const Scalar<T> alpha(Of<T>::make({0.75, is_complex<T>() ? 0.5 : 0}), on_device);
  mode(h, on_device);
  cusparseSpSVDescr_t d;
  good(cusparseSpSV_createDescr(&d), "descriptor");
  std::size_t bytes = 0;
  constexpr auto algorithm = CUSPARSE_SPSV_ALG_DEFAULT;
  good(cusparseSpSV_bufferSize(h, op, alpha.at(), a.descriptor, b.descriptor, x.descriptor,
                               Of<T>::type, algorithm, d, &bytes), "size");
  Buffer buffer(bytes);
  good(cusparseSpSV_analysis(h, op, alpha.at(), a.descriptor, b.descriptor, x.descriptor,
                             Of<T>::type, algorithm, d, buffer.at), "analysis");
  std::vector<Number> right(n);
  for (int i = 0; i < n; ++i) right[i] = Of<T>::widen(b.values.host[i]);
  const std::string what = "spsv format " + std::to_string(format) + " n " + std::to_string(n) +
                           " op " + std::to_string(op) + (upper ? " upper" : " lower") +
                           (unit ? " unit" : "");
  const auto solve_and_compare = [&](const std::string& when) {
    good(cusparseSpSV_solve(h, op, alpha.at(), a.descriptor, b.descriptor, x.descriptor,
                            Of<T>::type, algorithm, d), what);
    const Solution want = solved(a.entries, n, upper, unit, op, right, alpha.value());
    const auto got = x.values.down();
    for (int i = 0; i < n; ++i) near(got[i], want.x[i], want.scale, kRoundings, what + when);
  };
  solve_and_compare("");
  // Other values, then another diagonal.
  for (Entry& e : a.entries) e.value *= e.row == e.column ? 2.0 : 0.5;
  for (std::size_t e = 0; e < a.entries.size(); ++e) a.values.host[e] = Of<T>::make(a.entries[e].value);
  Array<T> values(a.values.host), diagonal(n, random);
  good(cusparseSpSV_updateMatrix(h, d, values.device, CUSPARSE_SPSV_UPDATE_GENERAL), "update");
  solve_and_compare(" updated");
  for (Entry& e : a.entries)
    if (e.row == e.column) {
      e.value = 4.0 + Of<T>::widen(diagonal.host[e.row]);
      diagonal.host[e.row] = Of<T>::make(e.value);
      e.value = Of<T>::widen(diagonal.host[e.row]);
    }
  diagonal.up();
  good(cusparseSpSV_updateMatrix(h, d, diagonal.device, CUSPARSE_SPSV_UPDATE_DIAGONAL), "update");
  solve_and_compare(" with another diagonal");
  good(cusparseSpSV_destroyDescr(d), "destroy");
}

template <class T>
void spsm(cusparseHandle_t h, cusparseFormat_t format, int n, int columns, bool upper, bool unit,
          cusparseOperation_t op, cusparseOperation_t op_b, cusparseOrder_t order) {
  Random random;
  Matrix<T> a(format, n, n, triangle<T>(n, upper, 30, random));
  set_triangle(a.descriptor, upper, unit);
  Dense<T> b(op_b == kN ? n : columns, op_b == kN ? columns : n, order, 2, random);
  Dense<T> c(n, columns, order == CUSPARSE_ORDER_ROW ? CUSPARSE_ORDER_COL : CUSPARSE_ORDER_ROW, 1,
             random);
  const T alpha = Of<T>::make(1.25);
  mode(h, false);
  cusparseSpSMDescr_t d;
  good(cusparseSpSM_createDescr(&d), "descriptor");
  std::size_t bytes = 0;
  constexpr auto algorithm = CUSPARSE_SPSM_ALG_DEFAULT;
  good(cusparseSpSM_bufferSize(h, op, op_b, &alpha, a.descriptor, b.descriptor, c.descriptor,
                               Of<T>::type, algorithm, d, &bytes), "size");
  Buffer buffer(bytes);
  good(cusparseSpSM_analysis(h, op, op_b, &alpha, a.descriptor, b.descriptor, c.descriptor,
                             Of<T>::type, algorithm, d, buffer.at), "analysis");
  good(cusparseSpSM_solve(h, op, op_b, &alpha, a.descriptor, b.descriptor, c.descriptor,
                          Of<T>::type, algorithm, d), "solve");
  const auto got = c.values.down();
  for (int j = 0; j < columns; ++j) {
    std::vector<Number> right(n);
    for (int i = 0; i < n; ++i) right[i] = applied(op_b == kN ? b(i, j) : b(j, i), op_b);
    const Solution want = solved(a.entries, n, upper, unit, op, right, 1.25);
    for (int i = 0; i < n; ++i)
      near(got[c.place(i, j)], want.x[i], want.scale, kRoundings, "spsm");
  }
  good(cusparseSpSM_destroyDescr(d), "destroy");
}

template <class T>
void systems(cusparseHandle_t h) {
  bool flip = false;
  for (const cusparseFormat_t format :
       {CUSPARSE_FORMAT_CSR, CUSPARSE_FORMAT_CSC, CUSPARSE_FORMAT_COO})
    for (const cusparseOperation_t op : {kN, kT, kC})
      for (const bool upper : {false, true})
        for (const bool unit : {false, true}) {
          flip = !flip;
          // Chains of 200 levels; a few wide levels beside narrow ones.
          spsv<T, int>(h, format, 200, 2, upper, unit, op, flip);
          spsm<T>(h, format, 70, flip ? 3 : 40, upper, unit, op, upper ? kN : op,
                  flip ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL);
        }
  spsv<T, int>(h, CUSPARSE_FORMAT_CSR, 1000, 900, false, false, kN, false);
  spsv<T, long long>(h, CUSPARSE_FORMAT_CSR, 500, 300, true, false, kT, true);
  spsv<T, int>(h, CUSPARSE_FORMAT_CSR, 1, 1, false, false, kN, false);
}

int main(int argc, char** argv) {
  const std::string only = argc > 1 ? argv[1] : "sdcz";
  cusparseHandle_t h;
  good(cusparseCreate(&h), "create");
  const auto both = [&](auto of_type) {
    products<decltype(of_type)>(h);
    systems<decltype(of_type)>(h);
  };
  for (const char type : only) {
    if (type == 's') both(float());
    if (type == 'd') both(double());
    if (type == 'c') both(cuComplex());
    if (type == 'z') both(cuDoubleComplex());
  }
  good(cusparseDestroy(h), "destroy");
  return finish();
}
