// Sparse vectors, dense matrices made sparse and back, and the conversions and sorts of the older interface.
#include "cusparse.h"

#include <numeric>

/// Different indices, in no order.
std::vector<int> distinct(int count, int below, Random& random) {
  std::vector<int> all(below);
  std::iota(all.begin(), all.end(), 0);
  for (int i = 0; i < count; ++i) std::swap(all[i], all[i + random.next(below - i)]);
  all.resize(count);
  return all;
}

template <class T, class Index>
struct SparseVector {
  std::vector<int> where;
  Array<Index> indices;
  Array<T> values;
  cusparseSpVecDescr_t descriptor = nullptr;
  SparseVector(int size, int count, int base, Random& random)
      : where(distinct(count, size, random)), indices(count), values(count, random) {
    for (int i = 0; i < count; ++i) indices.host[i] = static_cast<Index>(where[i] + base);
    indices.up();
    good(cusparseCreateSpVec(&descriptor, size, count, indices.device, values.device,
                             sizeof(Index) == 8 ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I,
                             static_cast<cusparseIndexBase_t>(base), Of<T>::type), "sparse vector");
  }
  ~SparseVector() { cusparseDestroySpVec(descriptor); }
};

template <class T, class Index>
void vectors(cusparseHandle_t h, int size, int count, bool on_device) {
  Random random;
  SparseVector<T, Index> x(size, count, on_device ? 1 : 0, random);
  Vector<T> y(size, random);
  const Scalar<T> alpha(Of<T>::make({0.75, is_complex<T>() ? 0.5 : 0}), on_device),
      beta(Of<T>::make(-0.5), on_device), c(Of<T>::make(0.6), on_device),
      s(Of<T>::make(0.8), on_device);
  mode(h, on_device);
  std::vector<Number> want(size), at_x(count);
  for (int i = 0; i < size; ++i) want[i] = Of<T>::widen(y.values.host[i]);
  for (int i = 0; i < count; ++i) at_x[i] = Of<T>::widen(x.values.host[i]);

  for (const bool conjugate : {false, true}) {
    Number sum = 0;
    double scale = 0;
    for (int i = 0; i < count; ++i) {
      const Number one = (conjugate ? std::conj(at_x[i]) : at_x[i]) * want[x.where[i]];
      sum += one;
      scale += std::abs(one);
    }
    const auto op =
        conjugate ? CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE : CUSPARSE_OPERATION_NON_TRANSPOSE;
    T here = Of<T>::make(77);
    Array<T> there(std::vector<T>{here});
    void* const to = on_device ? static_cast<void*>(there.device) : &here;
    std::size_t bytes = 0;
    good(cusparseSpVV_bufferSize(h, op, x.descriptor, y.descriptor, to, Of<T>::type, &bytes), "dot");
    Buffer buffer(bytes);
    good(cusparseSpVV(h, op, x.descriptor, y.descriptor, to, Of<T>::type, buffer.at), "dot");
    near(on_device ? there.down()[0] : here, sum, scale, 40, "dot");
  }

  good(cusparseAxpby(h, alpha.at(), x.descriptor, beta.at(), y.descriptor), "axpby");
  for (Number& one : want) one *= beta.value();
  for (int i = 0; i < count; ++i) want[x.where[i]] += alpha.value() * at_x[i];
  good(cusparseRot(h, c.at(), s.at(), x.descriptor, y.descriptor), "rot");
  for (int i = 0; i < count; ++i) {
    Number& other = want[x.where[i]];
    const Number held = at_x[i];
    at_x[i] = c.value() * held + s.value() * other;
    other = c.value() * other - s.value() * held;
  }
  const auto got_y = y.values.down(), got_x = x.values.down();
  for (int i = 0; i < size; ++i) near(got_y[i], want[i], 2, 10, "axpby, rot: y");
  for (int i = 0; i < count; ++i) near(got_x[i], at_x[i], 2, 10, "axpby, rot: x");

  good(cusparseGather(h, y.descriptor, x.descriptor), "gather");
  const auto gathered = x.values.down();
  for (int i = 0; i < count; ++i)
    check(Of<T>::widen(gathered[i]) == Of<T>::widen(got_y[x.where[i]]), "gather");
  x.values.up();
  good(cusparseScatter(h, x.descriptor, y.descriptor), "scatter");
  const auto scattered = y.values.down();
  for (int i = 0; i < count; ++i)
    check(Of<T>::widen(scattered[x.where[i]]) == Of<T>::widen(x.values.host[i]), "scatter");
}

/// A dense matrix of which a third is 0, made sparse, compared with one that was made on the host,
/// and made dense again.
template <class T, class Offset, class Index>
void dense_and_back(cusparseHandle_t h, cusparseFormat_t format, cusparseOrder_t order, int m, int n,
                    int base) {
  Random random;
  Dense<T> from(m, n, order, 3, random), back(m, n, order, 2, random);
  Entries entries;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      if (random.next(3) == 0 || i == 2) from.values.host[from.place(i, j)] = Of<T>::make(0);
      if (from(i, j) != 0.0) entries.push_back({i, j, from(i, j)});
    }
  from.values.up();
  const Matrix<T, Offset, Index> want(format, m, n, entries, base);
  Matrix<T, Offset, Index> a(format, m, n, entries, base);
  const std::string what = "dense to sparse, format " + std::to_string(format) + " order " +
                           std::to_string(order) + " " + std::to_string(m);
  // The size is found by the analysis; what was there is overwritten.
  cudaMemset(a.first.device, 0xff, a.first.host.size() * sizeof(Offset));
  cudaMemset(a.second.device, 0xff, a.second.host.size() * sizeof(Index));
  cudaMemset(a.values.device, 0xff, a.values.host.size() * sizeof(T));
  std::size_t bytes = 0;
  constexpr auto algorithm = CUSPARSE_DENSETOSPARSE_ALG_DEFAULT;
  good(cusparseDenseToSparse_bufferSize(h, from.descriptor, a.descriptor, algorithm, &bytes), what);
  Buffer buffer(bytes);
  good(cusparseDenseToSparse_analysis(h, from.descriptor, a.descriptor, algorithm, buffer.at), what);
  std::int64_t rows, columns, count;
  good(cusparseSpMatGetSize(a.descriptor, &rows, &columns, &count), what);
  check(rows == m && columns == n && count == std::int64_t(entries.size()), what + ": size");
  good(cusparseDenseToSparse_convert(h, from.descriptor, a.descriptor, algorithm, buffer.at), what);
  check(a.first.down() == want.first.host, what + ": offsets or rows");
  check(a.second.down() == want.second.host, what + ": indices");
  const auto values = a.values.down();
  for (std::size_t e = 0; e < values.size(); ++e)
    check(Of<T>::widen(values[e]) == want.entries[e].value, what + ": values");

  good(cusparseSparseToDense_bufferSize(h, a.descriptor, back.descriptor,
                                        CUSPARSE_SPARSETODENSE_ALG_DEFAULT, &bytes), "to dense");
  Buffer other(bytes);
  good(cusparseSparseToDense(h, a.descriptor, back.descriptor, CUSPARSE_SPARSETODENSE_ALG_DEFAULT,
                             other.at), "to dense");
  const auto got = back.values.down();
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      check(Of<T>::widen(got[back.place(i, j)]) == from(i, j), "sparse to dense");
  check(Of<T>::widen(got[back.ld - 1]) == Of<T>::widen(back.values.host[back.ld - 1]),
        "sparse to dense: between lines");
}
template <class T>
void all_dense(cusparseHandle_t h) {
  for (const cusparseFormat_t format :
       {CUSPARSE_FORMAT_CSR, CUSPARSE_FORMAT_CSC, CUSPARSE_FORMAT_COO})
    for (const cusparseOrder_t order : {CUSPARSE_ORDER_ROW, CUSPARSE_ORDER_COL}) {
      dense_and_back<T, int, int>(h, format, order, 37, 70, 0);
      dense_and_back<T, long long, long long>(h, format, order, 5, 3, 1);
    }
  dense_and_back<T, int, int>(h, CUSPARSE_FORMAT_CSR, CUSPARSE_ORDER_ROW, 1500, 3, 1);
}

/// CSR to COO and back, and to CSC.
template <class T>
void formats(cusparseHandle_t h, int m, int n, int each, int base) {
  Random random;
  const Entries entries = random_matrix<T>(m, n, each, true, random);
  const Matrix<T> csr(CUSPARSE_FORMAT_CSR, m, n, entries, base),
      csc(CUSPARSE_FORMAT_CSC, m, n, entries, base), coo(CUSPARSE_FORMAT_COO, m, n, entries, base);
  const int count = static_cast<int>(entries.size());
  const auto of_base = static_cast<cusparseIndexBase_t>(base);
  Array<int> rows(count), offsets(m + 1), to_offsets(n + 1), to_rows(count);
  Array<T> to_values(count);
  good(cusparseXcsr2coo(h, csr.first.device, count, m, rows.device, of_base), "csr2coo");
  check(rows.down() == coo.first.host, "csr2coo");
  good(cusparseXcoo2csr(h, rows.device, count, m, offsets.device, of_base), "coo2csr");
  check(offsets.down() == csr.first.host, "coo2csr");
  std::size_t bytes = 0;
  good(cusparseCsr2cscEx2_bufferSize(h, m, n, count, csr.values.device, csr.first.device,
                                     csr.second.device, to_values.device, to_offsets.device,
                                     to_rows.device, Of<T>::type, CUSPARSE_ACTION_NUMERIC, of_base,
                                     CUSPARSE_CSR2CSC_ALG1, &bytes), "csr2csc");
  Buffer buffer(bytes);
  for (const auto action : {CUSPARSE_ACTION_SYMBOLIC, CUSPARSE_ACTION_NUMERIC}) {
    good(cusparseCsr2cscEx2(h, m, n, count, csr.values.device, csr.first.device, csr.second.device,
                            to_values.device, to_offsets.device, to_rows.device, Of<T>::type, action,
                            of_base, CUSPARSE_CSR2CSC_ALG1, buffer.at), "csr2csc");
    check(to_offsets.down() == csc.first.host, "csr2csc: offsets");
    check(to_rows.down() == csc.second.host, "csr2csc: rows");
    const auto values = to_values.down();
    for (int e = 0; e < count; ++e)
      check((Of<T>::widen(values[e]) == csc.entries[e].value) == (action == CUSPARSE_ACTION_NUMERIC),
            "csr2csc: values");
  }
}

/// Entries in disorder; `p` says where each was. Of COO, CSR and CSC.
void sorts(cusparseHandle_t h, int m, int n, int each) {
  Random random;
  Entries sorted = random_matrix<float>(m, n, each, false, random);
  const int count = static_cast<int>(sorted.size());
  Entries mixed = sorted;
  for (int i = count - 1; i > 0; --i) std::swap(mixed[i], mixed[random.next(i + 1)]);
  std::size_t bytes = 0;
  Array<int> rows(count), columns(count), p(count);
  const auto fill = [&](const Entries& from) {
    for (int e = 0; e < count; ++e) {
      rows.host[e] = from[e].row;
      columns.host[e] = from[e].column;
    }
    rows.up();
    columns.up();
    good(cusparseCreateIdentityPermutation(h, count, p.device), "identity");
    check(p.down().back() == count - 1, "identity");
  };
  const auto compare = [&](const Entries& from, const Entries& want, const char* what) {
    const auto got_rows = rows.down(), got_columns = columns.down(), got_p = p.down();
    for (int e = 0; e < count; ++e) {
      check(got_rows[e] == want[e].row && got_columns[e] == want[e].column, what);
      check(from[got_p[e]].value == want[e].value, std::string(what) + ": P");
    }
  };
  good(cusparseXcoosort_bufferSizeExt(h, m, n, count, rows.device, columns.device, &bytes), "coosort");
  Buffer buffer(bytes);
  fill(mixed);
  good(cusparseXcoosortByRow(h, m, n, count, rows.device, columns.device, p.device, buffer.at),
       "coosort");
  compare(mixed, sorted, "coosort by row");
  fill(mixed);
  good(cusparseXcoosortByColumn(h, m, n, count, rows.device, columns.device, p.device, buffer.at),
       "coosort");
  by_columns(sorted);
  compare(mixed, sorted, "coosort by column");

  cusparseMatDescr_t legacy;
  good(cusparseCreateMatDescr(&legacy), "descriptor");
  for (const bool csc : {false, true}) {
    csc ? by_columns(sorted) : by_rows(sorted);
    const Matrix<float> a(csc ? CUSPARSE_FORMAT_CSC : CUSPARSE_FORMAT_CSR, m, n, sorted);
    // Each line backwards.
    mixed = sorted;
    std::reverse(mixed.begin(), mixed.end());
    std::stable_sort(mixed.begin(), mixed.end(), [&](const Entry& x, const Entry& y) {
      return csc ? x.column < y.column : x.row < y.row;
    });
    fill(mixed);
    good(csc ? cusparseXcscsort_bufferSizeExt(h, m, n, count, a.first.device, rows.device, &bytes)
             : cusparseXcsrsort_bufferSizeExt(h, m, n, count, a.first.device, columns.device, &bytes),
         "csrsort, cscsort");
    Buffer other(bytes);
    good(csc ? cusparseXcscsort(h, m, n, count, legacy, a.first.device, rows.device, p.device, other.at)
             : cusparseXcsrsort(h, m, n, count, legacy, a.first.device, columns.device, p.device,
                                other.at), "csrsort, cscsort");
    compare(mixed, sorted, csc ? "cscsort" : "csrsort");
  }
  good(cusparseDestroyMatDescr(legacy), "destroy");
}

template <class T>
void all(cusparseHandle_t h) {
  for (const bool on_device : {false, true}) {
    vectors<T, int>(h, 100, 37, on_device);
    vectors<T, long long>(h, 5000, 3000, on_device);
    vectors<T, int>(h, 9, 1, on_device);
  }
  all_dense<T>(h);
  formats<T>(h, 40, 70, 5, 0);
  formats<T>(h, 300, 20, 8, 1);
}

int main(int argc, char** argv) {
  const std::string only = argc > 1 ? argv[1] : "sdczhol";
  cusparseHandle_t h;
  good(cusparseCreate(&h), "create");
  for (const char type : only) {
    if (type == 's') all<float>(h);
    if (type == 'd') all<double>(h);
    if (type == 'c') all<cuComplex>(h);
    if (type == 'z') all<cuDoubleComplex>(h);
    if (type == 'h') all_dense<__half>(h);
    // So many lines that sums of blocks' sums are more than a block has threads.
    if (type == 'l')
      dense_and_back<float, int, int>(h, CUSPARSE_FORMAT_CSR, CUSPARSE_ORDER_ROW, 270000, 1, 0);
    if (type == 'o') {
      sorts(h, 50, 60, 4);
      sorts(h, 700, 300, 8);  // several blocks, three digits
    }
  }
  good(cusparseDestroy(h), "destroy");
  return finish();
}
