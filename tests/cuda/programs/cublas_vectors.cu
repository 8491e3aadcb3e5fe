// Levels 1 and 2 of cuBLAS, and sums of matrices, in both precisions, with strides of both directions, host and device
// pointers, and the names for 64-bit sizes, against sums on the host.
#include "cublas.h"

template <class T>
struct Names;
#define NAMES(T, L, l)                                                   \
  template <>                                                            \
  struct Names<T> {                                                      \
    static constexpr auto axpy = cublas##L##axpy;                        \
    static constexpr auto axpy_64 = cublas##L##axpy_64;                  \
    static constexpr auto dot = cublas##L##dot;                          \
    static constexpr auto nrm2 = cublas##L##nrm2;                        \
    static constexpr auto asum = cublas##L##asum;                        \
    static constexpr auto scal = cublas##L##scal;                        \
    static constexpr auto copy = cublas##L##copy;                        \
    static constexpr auto swap = cublas##L##swap;                        \
    static constexpr auto rot = cublas##L##rot;                          \
    static constexpr auto amax = cublasI##l##amax;                       \
    static constexpr auto amin = cublasI##l##amin;                       \
    static constexpr auto amax_64 = cublasI##l##amax_64;                 \
    static constexpr auto gemv = cublas##L##gemv;                        \
    static constexpr auto ger = cublas##L##ger;                          \
    static constexpr auto geam = cublas##L##geam;                        \
    static constexpr double eps = sizeof(T) == 4 ? 1.2e-7 : 2.3e-16;     \
    static constexpr const char* name = #L;                              \
  };
NAMES(float, S, s)
NAMES(double, D, d)

/// Where element i of n lies in a vector with this step.
std::size_t place(int i, int n, int step) {
  return static_cast<std::size_t>(step > 0 ? i * step : (i - (n - 1)) * step);
}
std::size_t room(int n, int step) { return static_cast<std::size_t>((n - 1) * std::abs(step) + 1); }

template <class T>
void near(T got, double want, double scale, int terms, const std::string& what) {
  const double allowed = 4 * terms * Names<T>::eps * scale + Names<T>::eps;
  check(std::abs(got - want) <= allowed, what + ": " + std::to_string(got) + ", not " +
                                             std::to_string(want));
}

template <class T>
void elementwise(cublasHandle_t h, int n, int step_x, int step_y, bool on_device) {
  using N = Names<T>;
  Random random;
  Array<T> x(room(n, step_x), random), y(room(n, step_y), random);
  const std::string what = std::string(N::name) + " n=" + std::to_string(n) + " " +
                           std::to_string(step_x) + " " + std::to_string(step_y);
  const T a = T(1.5), c = T(0.6), s = T(0.8);
  const OnDevice<T> a_there(a), c_there(c), s_there(s);
  cublasSetPointerMode(h, on_device ? CUBLAS_POINTER_MODE_DEVICE : CUBLAS_POINTER_MODE_HOST);
  const T *pa = on_device ? a_there.at : &a, *pc = on_device ? c_there.at : &c,
          *ps = on_device ? s_there.at : &s;
  good(N::axpy(h, n, pa, x.device, step_x, y.device, step_y), "axpy");
  good(N::axpy_64(h, n, pa, x.device, step_x, y.device, step_y), "axpy_64");
  good(N::rot(h, n, x.device, step_x, y.device, step_y, pc, ps), "rot");
  good(N::scal(h, n, pa, x.device, std::abs(step_x)), "scal");
  good(N::swap(h, n, x.device, step_x, y.device, step_y), "swap");
  const auto got_x = x.down(), got_y = y.down();
  for (int i = 0; i < n; ++i) {
    const std::size_t ix = place(i, n, step_x), iy = place(i, n, step_y);
    const double from = x.host[ix], to = y.host[iy] + 2.0 * a * from;
    near<T>(got_y[iy], (double(c) * from + double(s) * to) * a, 8, 1, what + " rot scal swap x");
    near<T>(got_x[ix], double(c) * to - double(s) * from, 8, 1, what + " rot swap y");
  }
  good(N::copy(h, n, x.device, step_x, y.device, step_y), "copy");
  const auto copied = y.down();
  for (int i = 0; i < n; ++i)
    check(copied[place(i, n, step_y)] == got_x[place(i, n, step_x)], what + " copy");
  // What lies between is not touched.
  if (std::abs(step_y) > 1 && n > 1) check(copied[1] == y.host[1], what + " between");
}

template <class T, class Call>
T result(bool on_device, Call call) {
  const OnDevice<T> there(T(-77));
  T here = T(-77);
  good(call(on_device ? there.at : &here), "reduction");
  return on_device ? there.value() : here;
}

constexpr int kDepth = 8;  // of sums: they are trees

template <class T>
void reductions(cublasHandle_t h, int n, int step_x, int step_y, bool on_device) {
  using N = Names<T>;
  Random random;
  Array<T> x(room(n, step_x), random), y(room(n, step_y), random);
  const int forward = std::abs(step_x);
  cublasSetPointerMode(h, on_device ? CUBLAS_POINTER_MODE_DEVICE : CUBLAS_POINTER_MODE_HOST);
  long double dot = 0, sum = 0, squares = 0, products = 0;
  double most = -1, least = 1e9;
  int at_most = 0, at_least = 0;
  for (int i = 0; i < n; ++i) {
    const double product = double(x.host[place(i, n, step_x)]) * y.host[place(i, n, step_y)];
    dot += product;
    products += std::abs(product);
    const double one = std::abs(double(x.host[place(i, n, forward)]));
    sum += one;
    squares += one * one;
    if (one > most) most = one, at_most = i + 1;
    if (one < least) least = one, at_least = i + 1;
  }
  const std::string what = std::string(N::name) + " n=" + std::to_string(n);
  const T *px = x.device, *py = y.device;
  near<T>(result<T>(on_device, [&](T* to) { return N::dot(h, n, px, step_x, py, step_y, to); }),
          dot, products, kDepth, what + " dot");
  near<T>(result<T>(on_device, [&](T* to) { return N::asum(h, n, px, forward, to); }), sum, sum,
          kDepth, what + " asum");
  near<T>(result<T>(on_device, [&](T* to) { return N::nrm2(h, n, px, forward, to); }),
          std::sqrt(squares), std::sqrt(squares), kDepth, what + " nrm2");
  check(result<int>(on_device, [&](int* to) { return N::amax(h, n, px, forward, to); }) == at_most,
        what + " amax");
  check(result<int>(on_device, [&](int* to) { return N::amin(h, n, px, forward, to); }) == at_least,
        what + " amin");
  check(result<std::int64_t>(on_device, [&](std::int64_t* to) {
          return N::amax_64(h, n, px, forward, to);
        }) == at_most, what + " amax_64");
}

template <class T>
void norms_beyond_squares(cublasHandle_t h) {
  Random random;
  for (const double scale : {sizeof(T) == 4 ? 1e30 : 1e200, sizeof(T) == 4 ? 1e-30 : 1e-200}) {
    Array<T> x(100, random);
    for (T& one : x.host) one = T(scale * 2);
    x.up();
    cublasSetPointerMode(h, CUBLAS_POINTER_MODE_HOST);
    T norm = 0;
    good(Names<T>::nrm2(h, 100, x.device, 1, &norm), "nrm2");
    near<T>(T(norm / scale), 20, 20, 4, "nrm2 of extreme numbers");
  }
}

template <class T>
void matrix_vector(cublasHandle_t h, int m, int n, int step_x, int step_y, cublasOperation_t op,
                   bool on_device) {
  using N = Names<T>;
  Random random;
  const int ld = m + 3, nx = op == CUBLAS_OP_N ? n : m, ny = op == CUBLAS_OP_N ? m : n;
  Array<T> a(static_cast<std::size_t>(ld) * n, random), x(room(nx, step_x), random),
      y(room(ny, step_y), random);
  const T alpha = T(0.75), beta = T(-0.5);
  const OnDevice<T> alpha_there(alpha), beta_there(beta);
  cublasSetPointerMode(h, on_device ? CUBLAS_POINTER_MODE_DEVICE : CUBLAS_POINTER_MODE_HOST);
  const T *pa = on_device ? alpha_there.at : &alpha, *pb = on_device ? beta_there.at : &beta;
  good(N::gemv(h, op, m, n, pa, a.device, ld, x.device, step_x, pb, y.device, step_y), "gemv");
  const auto got = y.down();
  for (int i = 0; i < ny; ++i) {
    double sum = 0;
    for (int j = 0; j < nx; ++j)
      sum += double(a.host[op == CUBLAS_OP_N ? i + j * ld : j + i * ld]) *
             x.host[place(j, nx, step_x)];
    near<T>(got[place(i, ny, step_y)], alpha * sum + beta * y.host[place(i, ny, step_y)], 1, nx + 2,
            std::string(N::name) + "gemv " + std::to_string(m) + "x" + std::to_string(n));
  }
  Array<T> u(room(m, step_x), random), v(room(n, step_y), random);
  good(N::ger(h, m, n, pa, u.device, step_x, v.device, step_y, a.device, ld), "ger");
  const auto changed = a.down();
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i)
      near<T>(changed[i + j * ld], a.host[i + j * ld] + double(alpha) * u.host[place(i, m, step_x)] *
                                       v.host[place(j, n, step_y)], 1, 2, "ger");
}

/// C = alpha op(A) + beta op(B), and A in place.
template <class T>
void sums(cublasHandle_t h, int m, int n, cublasOperation_t op_a, cublasOperation_t op_b,
          bool on_device) {
  using N = Names<T>;
  Random random;
  const int lda = (op_a == CUBLAS_OP_N ? m : n) + 2, ldb = (op_b == CUBLAS_OP_N ? m : n) + 1,
            ldc = m + 3;
  Array<T> a(static_cast<std::size_t>(lda) * (m + n), random),
      b(static_cast<std::size_t>(ldb) * (m + n), random),
      c(static_cast<std::size_t>(ldc) * n, random);
  const T alpha = T(0.75), beta = T(-2), none = T(0);
  const OnDevice<T> alpha_there(alpha), beta_there(beta);
  cublasSetPointerMode(h, on_device ? CUBLAS_POINTER_MODE_DEVICE : CUBLAS_POINTER_MODE_HOST);
  good(N::geam(h, op_a, op_b, m, n, on_device ? alpha_there.at : &alpha, a.device, lda,
               on_device ? beta_there.at : &beta, b.device, ldb, c.device, ldc), "geam");
  const auto got = c.down();
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < m; ++i)
      near<T>(got[i + j * ldc],
              double(alpha) * a.host[op_a == CUBLAS_OP_N ? i + j * lda : j + i * lda] +
                  double(beta) * b.host[op_b == CUBLAS_OP_N ? i + j * ldb : j + i * ldb],
              1, 2, "geam");
    check(got[m + j * ldc] == c.host[m + j * ldc], "below C");
  }
  cublasSetPointerMode(h, CUBLAS_POINTER_MODE_HOST);
  good(N::geam(h, CUBLAS_OP_N, CUBLAS_OP_N, m, n, &beta, c.device, ldc, &none, nullptr, ldc,
               c.device, ldc), "geam in place, without B");
  check(c.down()[0] == beta * got[0], "geam in place");
  status(N::geam(h, CUBLAS_OP_T, CUBLAS_OP_N, m, m, &beta, c.device, ldc, &none, nullptr, ldc,
                 c.device, ldc), CUBLAS_STATUS_INVALID_VALUE, "transposed in place");
}

template <class T>
void nothing_to_do(cublasHandle_t h) {
  using N = Names<T>;
  Random random;
  Array<T> x(4, random);
  cublasSetPointerMode(h, CUBLAS_POINTER_MODE_HOST);
  T one = T(1);
  int place = 7;
  good(N::axpy(h, 0, &one, x.device, 1, x.device, 1), "axpy of nothing");
  good(N::dot(h, 0, x.device, 1, x.device, 1, &one), "dot of nothing");
  check(one == 0, "dot of nothing is 0");
  good(N::amax(h, -1, x.device, 1, &place), "amax of nothing");
  check(place == 0, "amax of nothing is 0");
  status(N::dot(nullptr, 4, x.device, 1, x.device, 1, &one), CUBLAS_STATUS_NOT_INITIALIZED,
         "no handle");
  status(N::dot(h, 4, x.device, 1, x.device, 1, nullptr), CUBLAS_STATUS_INVALID_VALUE, "no result");
  status(N::gemv(h, CUBLAS_OP_N, 4, 2, &one, x.device, 3, x.device, 1, &one, x.device, 1),
         CUBLAS_STATUS_INVALID_VALUE, "ld below the rows");
  status(N::gemv(h, CUBLAS_OP_N, 2, 2, &one, x.device, 2, x.device, 0, &one, x.device, 1),
         CUBLAS_STATUS_INVALID_VALUE, "step 0");
}

template <class T>
void all(cublasHandle_t h, bool large) {
  for (const bool on_device : {false, true}) {
    for (const int n : {1, 7, 256, large ? 5003 : 1031}) {
      elementwise<T>(h, n, 1, 1, on_device);
      elementwise<T>(h, n, 2, -3, on_device);
      reductions<T>(h, n, 1, 1, on_device);
      reductions<T>(h, n, -2, 3, on_device);
    }
    for (const cublasOperation_t op : {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C}) {
      matrix_vector<T>(h, 37, 19, 1, 1, op, on_device);
      matrix_vector<T>(h, 1, 130, 2, -1, op, on_device);
      matrix_vector<T>(h, large ? 301 : 65, 33, -1, 2, op, on_device);
    }
  }
  for (const cublasOperation_t op_a : {CUBLAS_OP_N, CUBLAS_OP_T})
    for (const cublasOperation_t op_b : {CUBLAS_OP_N, CUBLAS_OP_T})
      sums<T>(h, 45, 70, op_a, op_b, op_a == op_b);
  norms_beyond_squares<T>(h);
  nothing_to_do<T>(h);
}

int main(int argc, char**) {
  cublasHandle_t h;
  good(cublasCreate(&h), "create");
  all<float>(h, argc == 1);
  all<double>(h, argc == 1);
  good(cublasDestroy(h), "destroy");
  return finish();
}
