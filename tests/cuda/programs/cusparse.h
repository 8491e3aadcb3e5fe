// What programs that test cuSPARSE share: checks, numbers of all types, sparse matrices on host and
// device.
#pragma once
#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <cusparse.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

inline int failures = 0;

inline void check(bool good, const std::string& what) {
  if (good) return;
  if (++failures < 40) std::printf("WRONG %s\n", what.c_str());
}
inline void status(cusparseStatus_t got, cusparseStatus_t want, const std::string& what) {
  check(got == want,
        what + ": " + cusparseGetErrorName(got) + ", not " + cusparseGetErrorName(want));
}
inline void good(cusparseStatus_t got, const std::string& what) {
  status(got, CUSPARSE_STATUS_SUCCESS, what);
}

struct Random {
  std::uint32_t state = 12345;
  int next(int below) {
    state = state * 1664525u + 1013904223u;
    return static_cast<int>((state >> 8) % static_cast<unsigned>(below));
  }
  double number() { return next(4001) / 2000.0 - 1; }
};

/// References are computed in this, whatever the type is.
using Number = std::complex<double>;

template <class T>
struct Of;
#define TYPE(T, cuda_type, compute_type, Compute_, name_, eps_, from, to)   \
  template <>                                                               \
  struct Of<T> {                                                            \
    using Compute = Compute_;                                               \
    static constexpr cudaDataType type = cuda_type, compute = compute_type; \
    static constexpr const char* name = name_;                              \
    static constexpr double eps = eps_; /* of a rounding */                 \
    static Number widen(T x) { return to; }                                 \
    static T make(Number x) { return from; }                                \
  };
TYPE(float, CUDA_R_32F, CUDA_R_32F, float, "s", 6e-8, float(x.real()), Number(x))
TYPE(double, CUDA_R_64F, CUDA_R_64F, double, "d", 1.2e-16, x.real(), Number(x))
TYPE(cuComplex, CUDA_C_32F, CUDA_C_32F, cuComplex, "c", 6e-8,
     make_cuComplex(float(x.real()), float(x.imag())), Number(x.x, x.y))
TYPE(cuDoubleComplex, CUDA_C_64F, CUDA_C_64F, cuDoubleComplex, "z", 1.2e-16,
     make_cuDoubleComplex(x.real(), x.imag()), Number(x.x, x.y))
TYPE(__half, CUDA_R_16F, CUDA_R_32F, float, "h", 5e-4, __float2half(float(x.real())),
     Number(__half2float(x)))
TYPE(__nv_bfloat16, CUDA_R_16BF, CUDA_R_32F, float, "b", 4e-3, __float2bfloat16(float(x.real())),
     Number(__bfloat162float(x)))

template <class T>
bool is_complex() {
  return Of<T>::type == CUDA_C_32F || Of<T>::type == CUDA_C_64F;
}
/// A number that the type holds as it is; complex where the type is.
template <class T>
T random_number(Random& random) {
  const double real = random.number(), imaginary = random.number();
  return Of<T>::make(is_complex<T>() ? Number(real, imaginary) : Number(real));
}
inline Number applied(Number x, cusparseOperation_t op) {
  return op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE ? std::conj(x) : x;
}

/// `scale`: the sum of the magnitudes of what was added; `roundings` of results and of sums.
template <class T>
void near(T got, Number want, double scale, double roundings, const std::string& what) {
  const Number x = Of<T>::widen(got);
  const double allowed = roundings * Of<T>::eps * scale + 1e-30;
  if (std::abs(x - want) <= allowed) return;
  char text[200];
  std::snprintf(text, sizeof text, ": (%g, %g), not (%g, %g), off by %g of %g", x.real(), x.imag(),
                want.real(), want.imag(), std::abs(x - want), allowed);
  check(false, what + " " + Of<T>::name + text);
}

/// The same on host and device.
template <class T>
struct Array {
  std::vector<T> host;
  T* device = nullptr;
  explicit Array(std::size_t n) : host(n) { allocate(); }
  explicit Array(std::vector<T> from) : host(std::move(from)) { allocate(); }
  Array(std::size_t n, Random& random) : host(n) {
    for (T& one : host) one = random_number<T>(random);
    allocate();
  }
  ~Array() { cudaFree(device); }
  Array(const Array&) = delete;
  void up() { cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice); }
  std::vector<T> down() const {
    std::vector<T> out(host.size());
    cudaMemcpy(out.data(), device, out.size() * sizeof(T), cudaMemcpyDeviceToHost);
    return out;
  }

 private:
  void allocate() {
    cudaMalloc(reinterpret_cast<void**>(&device), (host.size() + 1) * sizeof(T));
    up();
  }
};

/// alpha or beta, where the handle's pointer mode wants it.
template <class T>
struct Scalar {
  T here;
  Array<T> there;
  bool on_device;
  Scalar(T value, bool device) : here(value), there(std::vector<T>{value}), on_device(device) {}
  const void* at() const { return on_device ? static_cast<const void*>(there.device) : &here; }
  Number value() const { return Of<T>::widen(here); }
};

/// Memory of a size that the library asked for.
struct Buffer {
  void* at = nullptr;
  explicit Buffer(std::size_t bytes) { cudaMalloc(&at, bytes > 0 ? bytes : 8); }
  ~Buffer() { cudaFree(at); }
  Buffer(const Buffer&) = delete;
};

/// What a matrix is, on the host: entries in order of rows, then columns.
struct Entry {
  int row, column;
  Number value;
};
using Entries = std::vector<Entry>;
inline void by_rows(Entries& all) {
  std::sort(all.begin(), all.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.row, a.column) < std::pair(b.row, b.column);
  });
}
inline void by_columns(Entries& all) {
  std::sort(all.begin(), all.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.column, a.row) < std::pair(b.column, b.row);
  });
}

/// About `each` entries in a row, some rows empty; `skewed`: one row is full, too.
template <class T>
Entries random_matrix(int rows, int columns, int each, bool skewed, Random& random) {
  std::map<std::pair<int, int>, Number> all;
  const auto put = [&](int i, int j) { all[{i, j}] = Of<T>::widen(random_number<T>(random)); };
  for (int i = 0; i < rows; ++i) {
    if (i % 7 == 3) continue;
    const int count = 1 + random.next(2 * each - 1);
    for (int k = 0; k < count; ++k) put(i, random.next(columns));
  }
  if (skewed)
    for (int j = 0; j < columns; ++j) put(rows / 2, j);
  Entries out;
  for (const auto& [where, value] : all) out.push_back({where.first, where.second, value});
  return out;
}

/// In one of the formats, with its descriptor. Offsets and indices are of 32 or 64 bits.
template <class T, class Offset = int, class Index = int>
struct Matrix {
  int rows, columns;
  Entries entries;  // as they are stored
  Array<Offset> first;
  Array<Index> second;
  Array<T> values;
  cusparseSpMatDescr_t descriptor = nullptr;

  Matrix(cusparseFormat_t format, int rows_, int columns_, Entries from, int base = 0)
      : rows(rows_),
        columns(columns_),
        entries(sorted(std::move(from), format)),
        first(offsets(format, base)),
        second(indices(format, base)),
        values(entries.size()) {
    for (std::size_t k = 0; k < entries.size(); ++k) values.host[k] = Of<T>::make(entries[k].value);
    values.up();
    constexpr auto wide = [](std::size_t bytes) {
      return bytes == 8 ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I;
    };
    const auto of_base = static_cast<cusparseIndexBase_t>(base);
    const auto count = static_cast<std::int64_t>(entries.size());
    if (format == CUSPARSE_FORMAT_COO)
      good(cusparseCreateCoo(&descriptor, rows, columns, count, first.device, second.device,
                             values.device, wide(sizeof(Index)), of_base, Of<T>::type),
           "coo");
    else
      good((format == CUSPARSE_FORMAT_CSR ? cusparseCreateCsr : cusparseCreateCsc)(
               &descriptor, rows, columns, count, first.device, second.device, values.device,
               wide(sizeof(Offset)), wide(sizeof(Index)), of_base, Of<T>::type),
           "csr, csc");
  }
  ~Matrix() { cusparseDestroySpMat(descriptor); }
  Matrix(const Matrix&) = delete;

 private:
  static Entries sorted(Entries all, cusparseFormat_t format) {
    format == CUSPARSE_FORMAT_CSC ? by_columns(all) : by_rows(all);
    return all;
  }
  std::vector<Offset> offsets(cusparseFormat_t format, int base) const {
    std::vector<Offset> out;
    if (format == CUSPARSE_FORMAT_COO) {
      for (const Entry& e : entries) out.push_back(static_cast<Offset>(e.row + base));
      return out;
    }
    const bool csc = format == CUSPARSE_FORMAT_CSC;
    out.assign((csc ? columns : rows) + 1, 0);
    for (const Entry& e : entries) ++out[(csc ? e.column : e.row) + 1];
    out[0] = base;
    for (std::size_t i = 1; i < out.size(); ++i) out[i] += out[i - 1];
    return out;
  }
  std::vector<Index> indices(cusparseFormat_t format, int base) const {
    std::vector<Index> out;
    for (const Entry& e : entries)
      out.push_back(static_cast<Index>((format == CUSPARSE_FORMAT_CSC ? e.row : e.column) + base));
    return out;
  }
};

/// A dense vector or matrix with its descriptor.
template <class T>
struct Vector {
  Array<T> values;
  cusparseDnVecDescr_t descriptor = nullptr;
  Vector(int n, Random& random) : values(n, random) {
    good(cusparseCreateDnVec(&descriptor, n, values.device, Of<T>::type), "vector");
  }
  ~Vector() { cusparseDestroyDnVec(descriptor); }
};
template <class T>
struct Dense {
  int rows, columns, ld;
  cusparseOrder_t order;
  Array<T> values;
  cusparseDnMatDescr_t descriptor = nullptr;
  /// Lines are `padding` apart from each other.
  Dense(int rows_, int columns_, cusparseOrder_t order_, int padding, Random& random, int batch = 1)
      : rows(rows_),
        columns(columns_),
        ld((order_ == CUSPARSE_ORDER_ROW ? columns_ : rows_) + padding),
        order(order_),
        values(static_cast<std::size_t>(stride()) * batch, random) {
    good(cusparseCreateDnMat(&descriptor, rows, columns, ld, values.device, Of<T>::type, order),
         "dense");
    if (batch > 1) good(cusparseDnMatSetStridedBatch(descriptor, batch, stride()), "batch");
  }
  ~Dense() { cusparseDestroyDnMat(descriptor); }
  int stride() const { return ld * (order == CUSPARSE_ORDER_ROW ? rows : columns); }
  std::size_t place(int i, int j, int number = 0) const {
    return static_cast<std::size_t>(number) * stride() +
           (order == CUSPARSE_ORDER_ROW ? i * ld + j : i + j * ld);
  }
  Number operator()(int i, int j, int number = 0) const {
    return Of<T>::widen(values.host[place(i, j, number)]);
  }
};

inline void mode(cusparseHandle_t h, bool on_device) {
  cusparseSetPointerMode(h, on_device ? CUSPARSE_POINTER_MODE_DEVICE : CUSPARSE_POINTER_MODE_HOST);
}

inline int finish() {
  if (cudaDeviceSynchronize() != cudaSuccess) check(false, cudaGetErrorString(cudaGetLastError()));
  std::printf(failures == 0 ? "PASS\n" : "FAIL\n");
  return failures == 0 ? 0 : 1;
}
