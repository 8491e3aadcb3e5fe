// Of the older interface: incomplete factorisations (csrilu02, csric02) against the host, rows without pivots, sums of
// sparse matrices (csrgeam2); and a solver as programs write it, conjugate gradients with a preconditioner.
#include "cusparse.h"

constexpr auto kPlain = CUSPARSE_OPERATION_NON_TRANSPOSE;

template <class T>
struct Names;
#define NAMES(T, L)                                                      \
  template <>                                                            \
  struct Names<T> {                                                      \
    static constexpr auto lu_size = cusparse##L##csrilu02_bufferSize;    \
    static constexpr auto lu_analysis = cusparse##L##csrilu02_analysis;  \
    static constexpr auto lu = cusparse##L##csrilu02;                    \
    static constexpr auto boost = cusparse##L##csrilu02_numericBoost;    \
    static constexpr auto ic_size = cusparse##L##csric02_bufferSize;     \
    static constexpr auto ic_analysis = cusparse##L##csric02_analysis;   \
    static constexpr auto ic = cusparse##L##csric02;                     \
    static constexpr auto sum_size = cusparse##L##csrgeam2_bufferSizeExt; \
    static constexpr auto sum = cusparse##L##csrgeam2;                   \
  };
NAMES(float, S)
NAMES(double, D)
NAMES(cuComplex, C)
NAMES(cuDoubleComplex, Z)

/// Hermitian, diagonally dominant: a grid of `side` points in two dimensions, and a few more.
template <class T>
Entries grid(int side, Random& random) {
  std::map<std::pair<int, int>, Number> all;
  const int n = side * side;
  const auto couple = [&](int i, int j) {
    const Number value = Of<T>::widen(random_number<T>(random));
    all[{i, j}] = value;
    all[{j, i}] = std::conj(value);
  };
  for (int i = 0; i < n; ++i) {
    if (i % side != 0) couple(i, i - 1);
    if (i >= side) couple(i, i - side);
    if (i > 5 && i % 3 == 0) couple(i, random.next(i));
  }
  std::vector<double> sums(n, 1);
  for (const auto& [where, value] : all)
    if (where.first != where.second) sums[where.first] += std::abs(value);
  for (int i = 0; i < n; ++i) all[{i, i}] = std::ceil(sums[i]);
  Entries out;
  for (const auto& [where, value] : all) out.push_back({where.first, where.second, value});
  return out;
}

using Rows = std::vector<std::map<int, Number>>;
Rows rows_of(const Entries& all, int n) {
  Rows out(n);
  for (const Entry& e : all) out[e.row][e.column] = e.value;
  return out;
}
void eliminate(Rows& rows) {
  for (int i = 0; i < int(rows.size()); ++i)
    for (auto& [k, value] : rows[i]) {
      if (k >= i) break;
      value /= rows[k].at(k);
      for (const auto& [j, above] : rows[k])
        if (j > k && rows[i].count(j) != 0) rows[i][j] -= value * above;
    }
}
void factor(Rows& rows) {
  for (int i = 0; i < int(rows.size()); ++i) {
    double diagonal = 0;
    for (auto& [k, value] : rows[i]) {
      if (k >= i) break;
      for (const auto& [j, above] : rows[k])
        if (j < k && rows[i].count(j) != 0) value -= rows[i][j] * std::conj(above);
      value /= rows[k].at(k);
      diagonal += std::norm(value);
    }
    rows[i][i] = std::sqrt(rows[i].at(i).real() - diagonal);
  }
}

/// A descriptor and info of one matrix, and the calls in their order.
template <class T>
struct Factorisation {
  cusparseHandle_t h;
  Matrix<T>& a;
  cusparseMatDescr_t descriptor;
  csrilu02Info_t lu_info;
  csric02Info_t ic_info;
  const int count;
  Factorisation(cusparseHandle_t handle, Matrix<T>& matrix, int base)
      : h(handle), a(matrix), count(static_cast<int>(matrix.entries.size())) {
    good(cusparseCreateMatDescr(&descriptor), "descriptor");
    good(cusparseSetMatIndexBase(descriptor, static_cast<cusparseIndexBase_t>(base)), "base");
    good(cusparseCreateCsrilu02Info(&lu_info), "info");
    good(cusparseCreateCsric02Info(&ic_info), "info");
  }
  ~Factorisation() {
    good(cusparseDestroyCsrilu02Info(lu_info), "destroy");
    good(cusparseDestroyCsric02Info(ic_info), "destroy");
    good(cusparseDestroyMatDescr(descriptor), "destroy");
  }
  void lu() {
    int bytes = 0;
    good(Names<T>::lu_size(h, a.rows, count, descriptor, a.values.device, a.first.device,
                           a.second.device, lu_info, &bytes), "size");
    Buffer buffer(bytes);
    good(Names<T>::lu_analysis(h, a.rows, count, descriptor, a.values.device, a.first.device,
                               a.second.device, lu_info, CUSPARSE_SOLVE_POLICY_USE_LEVEL,
                               buffer.at), "analysis");
    good(Names<T>::lu(h, a.rows, count, descriptor, a.values.device, a.first.device,
                      a.second.device, lu_info, CUSPARSE_SOLVE_POLICY_USE_LEVEL, buffer.at), "lu");
  }
  void ic() {
    int bytes = 0;
    good(Names<T>::ic_size(h, a.rows, count, descriptor, a.values.device, a.first.device,
                           a.second.device, ic_info, &bytes), "size");
    Buffer buffer(bytes);
    good(Names<T>::ic_analysis(h, a.rows, count, descriptor, a.values.device, a.first.device,
                               a.second.device, ic_info, CUSPARSE_SOLVE_POLICY_NO_LEVEL,
                               buffer.at), "analysis");
    good(Names<T>::ic(h, a.rows, count, descriptor, a.values.device, a.first.device,
                      a.second.device, ic_info, CUSPARSE_SOLVE_POLICY_NO_LEVEL, buffer.at), "ic");
  }
  void no_pivot(bool of_lu, int want, const char* what) {
    int position = 77;
    const auto got = of_lu ? cusparseXcsrilu02_zeroPivot(h, lu_info, &position)
                           : cusparseXcsric02_zeroPivot(h, ic_info, &position);
    status(got, want < 0 ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_ZERO_PIVOT, what);
    check(position == want, std::string(what) + ": row " + std::to_string(position));
  }
};

/// Diagonally dominant: errors stay some roundings of the largest element.
constexpr double kRoundings = 60;

template <class T>
void factors(cusparseHandle_t h, int side, int base) {
  Random random;
  const int n = side * side;
  mode(h, false);
  const Entries entries = grid<T>(side, random);
  double largest = 0;
  for (const Entry& e : entries) largest = std::max(largest, std::abs(e.value));
  for (const bool of_lu : {true, false}) {
    Matrix<T> a(CUSPARSE_FORMAT_CSR, n, n, entries, base);
    Factorisation<T> f(h, a, base);
    Rows want = rows_of(entries, n);
    of_lu ? f.lu() : f.ic();
    of_lu ? eliminate(want) : factor(want);
    f.no_pivot(of_lu, -1, "all pivots are there");
    const auto got = a.values.down();
    for (std::size_t e = 0; e < a.entries.size(); ++e)
      near(got[e], want[a.entries[e].row][a.entries[e].column], largest, kRoundings,
           of_lu ? "csrilu02" : "csric02");
  }
}

/// Rows whose pivot is missing, becomes 0, or is replaced.
void pivots(cusparseHandle_t h) {
  Matrix<double> missing(CUSPARSE_FORMAT_CSR, 3, 3, {{0, 0, 2}, {1, 0, 1}, {2, 2, 1}}, 1);
  Factorisation<double> first(h, missing, 1);
  first.lu();
  first.no_pivot(true, 2, "no pivot");
  first.ic();
  first.no_pivot(false, 2, "no pivot");
  const Entries singular = {{0, 0, 2}, {0, 1, 4}, {1, 0, 1}, {1, 1, 2}};
  Matrix<double> zero(CUSPARSE_FORMAT_CSR, 2, 2, singular);
  Factorisation<double> second(h, zero, 0);
  second.lu();
  second.no_pivot(true, 1, "a pivot of 0");
  zero.values.up();
  double tolerance = 1e-9, value = 5;
  good(Names<double>::boost(h, second.lu_info, 1, &tolerance, &value), "boost");
  second.lu();
  second.no_pivot(true, -1, "a pivot that was replaced");
  check(zero.values.down()[3] == 5, "the value of the pivot");
}

/// C = alpha A + beta B; bases differ, and where the number of entries goes.
template <class T>
void sums(cusparseHandle_t h, int m, int n, int each_a, int each_b, bool on_device) {
  Random random;
  const Matrix<T> a(CUSPARSE_FORMAT_CSR, m, n, random_matrix<T>(m, n, each_a, true, random), 1),
      b(CUSPARSE_FORMAT_CSR, m, n, random_matrix<T>(m, n, each_b, false, random), 0);
  std::map<std::pair<int, int>, Number> want;
  const Scalar<T> alpha(Of<T>::make({0.5, is_complex<T>() ? 2 : 0}), on_device),
      beta(Of<T>::make(-3), on_device);
  for (const Entry& e : a.entries) want[{e.row, e.column}] += alpha.value() * e.value;
  for (const Entry& e : b.entries) want[{e.row, e.column}] += beta.value() * e.value;
  cusparseMatDescr_t from_0, from_1;
  good(cusparseCreateMatDescr(&from_0), "descriptor");
  good(cusparseCreateMatDescr(&from_1), "descriptor");
  good(cusparseSetMatIndexBase(from_1, CUSPARSE_INDEX_BASE_ONE), "base");
  const int count_a = static_cast<int>(a.entries.size()), count_b = static_cast<int>(b.entries.size());
  const auto *const at_alpha = static_cast<const T*>(alpha.at()),
             *const at_beta = static_cast<const T*>(beta.at());
  Array<int> offsets(m + 1), total(std::vector<int>{-1});
  mode(h, on_device);
  std::size_t bytes = 0;
  good(Names<T>::sum_size(h, m, n, at_alpha, from_1, count_a, a.values.device, a.first.device,
                          a.second.device, at_beta, from_0, count_b, b.values.device, b.first.device,
                          b.second.device, from_1, nullptr, offsets.device, nullptr, &bytes), "size");
  Buffer buffer(bytes);
  good(cusparseXcsrgeam2Nnz(h, m, n, from_1, count_a, a.first.device, a.second.device, from_0,
                            count_b, b.first.device, b.second.device, from_1, offsets.device,
                            on_device ? total.device : total.host.data(), buffer.at), "nnz");
  const int count = on_device ? total.down()[0] : total.host[0];
  check(count == int(want.size()), "entries of a sum");
  if (count != int(want.size())) return;
  Array<int> columns(count);
  Array<T> values(count);
  good(Names<T>::sum(h, m, n, at_alpha, from_1, count_a, a.values.device, a.first.device,
                     a.second.device, at_beta, from_0, count_b, b.values.device, b.first.device,
                     b.second.device, from_1, values.device, offsets.device, columns.device,
                     buffer.at), "sum");
  const auto got = values.down();
  const auto got_columns = columns.down(), got_offsets = offsets.down();
  int number = 0;
  for (const auto& [where, value] : want) {
    near(got[number], value, 8, 4, "sum");
    check(got_columns[number] == where.second + 1, "columns of a sum");
    check(got_offsets[where.first] - 1 <= number && number < got_offsets[where.first + 1] - 1,
          "rows of a sum");
    ++number;
  }
  good(cusparseDestroyMatDescr(from_0), "destroy");
  good(cusparseDestroyMatDescr(from_1), "destroy");
}

/// Solves A x = b as CUDA's sample does, without cuBLAS: sums are made on the host.
void conjugate_gradients(cusparseHandle_t h) {
  Random random;
  const int side = 12, n = side * side;
  Matrix<double> a(CUSPARSE_FORMAT_CSR, n, n, grid<double>(side, random)),
      l(CUSPARSE_FORMAT_CSR, n, n, a.entries);
  Factorisation<double> f(h, l, 0);
  mode(h, false);
  f.ic();
  cusparseFillMode_t lower = CUSPARSE_FILL_MODE_LOWER;
  good(cusparseSpMatSetAttribute(l.descriptor, CUSPARSE_SPMAT_FILL_MODE, &lower, sizeof lower), "fill");
  Vector<double> r(n, random), y(n, random), z(n, random), p(n, random), q(n, random);
  const double one = 1, zero = 0;
  const cusparseOperation_t ops[] = {kPlain, CUSPARSE_OPERATION_TRANSPOSE};
  cusparseSpSVDescr_t solves[2];
  void* memory[2];
  for (int i = 0; i < 2; ++i) {
    std::size_t bytes = 0;
    good(cusparseSpSV_createDescr(&solves[i]), "descriptor");
    good(cusparseSpSV_bufferSize(h, ops[i], &one, l.descriptor, r.descriptor, y.descriptor, CUDA_R_64F,
                                 CUSPARSE_SPSV_ALG_DEFAULT, solves[i], &bytes), "size");
    cudaMalloc(&memory[i], bytes);
    good(cusparseSpSV_analysis(h, ops[i], &one, l.descriptor, r.descriptor, y.descriptor, CUDA_R_64F,
                               CUSPARSE_SPSV_ALG_DEFAULT, solves[i], memory[i]), "analysis");
  }
  const auto dot = [&](const std::vector<double>& u, const std::vector<double>& v) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += u[i] * v[i];
    return sum;
  };
  const std::vector<double> b = r.values.host;
  std::vector<double> x(n, 0), residual = b, direction(n, 0);
  double rho = 0;
  int rounds = 0;
  for (; rounds < 60 && dot(residual, residual) > 1e-22 * dot(b, b); ++rounds) {
    r.values.host = residual;
    r.values.up();
    good(cusparseSpSV_solve(h, ops[0], &one, l.descriptor, r.descriptor, y.descriptor, CUDA_R_64F,
                            CUSPARSE_SPSV_ALG_DEFAULT, solves[0]), "solve");
    good(cusparseSpSV_solve(h, ops[1], &one, l.descriptor, y.descriptor, z.descriptor, CUDA_R_64F,
                            CUSPARSE_SPSV_ALG_DEFAULT, solves[1]), "solve");
    const auto conditioned = z.values.down();
    const double before = rho;
    rho = dot(residual, conditioned);
    for (int i = 0; i < n; ++i)
      direction[i] = conditioned[i] + (rounds > 0 ? rho / before * direction[i] : 0);
    p.values.host = direction;
    p.values.up();
    good(cusparseSpMV(h, kPlain, &one, a.descriptor, p.descriptor, &zero, q.descriptor, CUDA_R_64F,
                      CUSPARSE_SPMV_ALG_DEFAULT, nullptr), "product");
    const auto image = q.values.down();
    const double step = rho / dot(direction, image);
    for (int i = 0; i < n; ++i) {
      x[i] += step * direction[i];
      residual[i] -= step * image[i];
    }
  }
  check(rounds < 25, "it converges, in " + std::to_string(rounds) + " rounds");
  std::vector<double> sum(n, 0);
  for (const Entry& e : a.entries) sum[e.row] += e.value.real() * x[e.column];
  for (int i = 0; i < n; ++i) check(std::abs(sum[i] - b[i]) < 1e-9, "A x = b");
  for (int i = 0; i < 2; ++i) {
    good(cusparseSpSV_destroyDescr(solves[i]), "destroy");
    cudaFree(memory[i]);
  }
}

int main(int, char**) {
  cusparseHandle_t h;
  good(cusparseCreate(&h), "create");
  factors<float>(h, 9, 0);
  factors<double>(h, 16, 1);
  factors<cuComplex>(h, 7, 1);
  factors<cuDoubleComplex>(h, 9, 0);
  pivots(h);
  sums<float>(h, 60, 90, 5, 3, false);
  sums<double>(h, 33, 400, 50, 70, true);
  sums<cuComplex>(h, 40, 50, 4, 9, true);
  sums<cuDoubleComplex>(h, 1, 7, 2, 2, false);
  conjugate_gradients(h);
  good(cusparseDestroy(h), "destroy");
  return finish();
}
