// Level 2: matrices with vectors.
#include <algorithm>

#include "raddle/cublas/handle.h"
#include "raddle/cublas/product.h"
#include "raddle/cublas/vector_kernels.h"

using namespace raddle::cublas;

namespace {

template <class T>
int gemv(Handle* handle, int op, std::int64_t m, std::int64_t n, const T* alpha, const T* a,
         std::int64_t ld, const T* x, std::int64_t step_x, const T* beta, T* y,
         std::int64_t step_y) {
  return call(handle, [&](Handle& h) {
    require(is_operation(op) && m >= 0 && n >= 0 && ld >= std::max<std::int64_t>(m, 1));
    require(step_x != 0 && step_y != 0);
    Scale scale = scale_of(h, alpha), keep = scale_of(h, beta);
    if (m == 0 || n == 0) return;
    const bool transposed = op != kPlain;
    Vector from = vector_of(x, transposed ? m : n, step_x, sizeof(T));
    Vector to = vector_of(y, transposed ? n : m, step_y, sizeof(T));
    long long rows = m, columns = n, apart = ld;
    if (transposed) {
      void* arguments[] = {&rows, &scale, &a, &apart, &from, &keep, &to};
      h.device.launch(kVectorModule, vector_kernel<T>("gemv_t"), {static_cast<unsigned>(n), 1, 1},
                      kGemvThreads, arguments, h.stream);
    } else {
      void* arguments[] = {&rows, &columns, &scale, &a, &apart, &from, &keep, &to};
      h.device.launch(kVectorModule, vector_kernel<T>("gemv_n"),
                      {static_cast<unsigned>((m - 1) / kGemvRows + 1), 1, 1},
                      kGemvRows * kGemvSlices, arguments, h.stream);
    }
  });
}

template <class T>
int ger(Handle* handle, std::int64_t m, std::int64_t n, const T* alpha, const T* x,
        std::int64_t step_x, const T* y, std::int64_t step_y, T* a, std::int64_t ld) {
  return call(handle, [&](Handle& h) {
    require(m >= 0 && n >= 0 && ld >= std::max<std::int64_t>(m, 1));
    require(step_x != 0 && step_y != 0);
    Scale scale = scale_of(h, alpha);
    if (m == 0 || n == 0) return;
    constexpr unsigned kThreads = 256;
    constexpr std::int64_t kMaxColumns = 65535;  // of a grid
    Vector left = vector_of(x, m, step_x, sizeof(T)), right = vector_of(y, n, step_y, sizeof(T));
    long long rows = m, apart = ld;
    for (std::int64_t first = 0; first < n; first += kMaxColumns) {
      T* columns = a + first * ld;
      Vector part{.at = static_cast<T*>(right.at) + first * step_y, .step = step_y};
      void* arguments[] = {&rows, &scale, &left, &part, &columns, &apart};
      h.device.launch(kVectorModule, vector_kernel<T>("ger"),
                      {static_cast<unsigned>((m - 1) / kThreads + 1),
                       static_cast<unsigned>(std::min(n - first, kMaxColumns)), 1},
                      kThreads, arguments, h.stream);
    }
  });
}

}  // namespace

#define MATRIX_VECTOR(L, T, Int, suffix)                                                          \
  int raddle_cublas##L##gemv_v2##suffix(Handle* h, int op, Int m, Int n, const T* alpha,          \
                                        const T* a, Int lda, const T* x, Int incx, const T* beta, \
                                        T* y, Int incy) {                                         \
    return gemv<T>(h, op, m, n, alpha, a, lda, x, incx, beta, y, incy);                           \
  }                                                                                               \
  int raddle_cublas##L##ger_v2##suffix(Handle* h, Int m, Int n, const T* alpha, const T* x,       \
                                       Int incx, const T* y, Int incy, T* a, Int lda) {           \
    return ger<T>(h, m, n, alpha, x, incx, y, incy, a, lda);                                      \
  }

extern "C" {
MATRIX_VECTOR(S, float, int, )
MATRIX_VECTOR(S, float, std::int64_t, _64)
MATRIX_VECTOR(D, double, int, )
MATRIX_VECTOR(D, double, std::int64_t, _64)
}
