// Level 3 beside products: sums of matrices.
#include <algorithm>
#include <limits>
#include <string>
#include <type_traits>

#include "raddle/cublas/product.h"

using namespace raddle::cublas;

namespace {

template <class T>
int geam(Handle* from, int op_a, int op_b, std::int64_t rows, std::int64_t columns, const T* alpha,
         const T* left, std::int64_t lda, const T* beta, const T* right, std::int64_t ldb, T* to,
         std::int64_t ldc) {
  return call(from, [&](Handle& handle) {
    require(is_operation(op_a) && is_operation(op_b) && rows >= 0 && columns >= 0);
    const auto lines = [&](int op) {
      return std::max<std::int64_t>(op == kPlain ? rows : columns, 1);
    };
    require(lda >= lines(op_a) && ldb >= lines(op_b) && ldc >= lines(kPlain));
    // In place, an operand is read where the result is written.
    require(to != left || (op_a == kPlain && lda == ldc));
    require(to != right || (op_b == kPlain && ldb == ldc));
    if (std::max(rows, columns) > std::numeric_limits<int>::max())
      throw Refusal{lacks("a sum of matrices with a size of 2^31 or more")};
    Geam sum{.a = left,
             .b = right,
             .c = to,
             .ld_a = lda,
             .ld_b = ldb,
             .ld_c = ldc,
             .m = static_cast<int>(rows),
             .n = static_cast<int>(columns),
             .transposed_a = op_a != kPlain,
             .transposed_b = op_b != kPlain,
             .alpha = scale_of(handle, alpha),
             .beta = scale_of(handle, beta)};
    if (rows == 0 || columns == 0) return;
    require(to != nullptr);
    const auto tiles = [](std::int64_t side) {
      return static_cast<unsigned>((side - 1) / kGeamTile + 1);
    };
    void* arguments[] = {&sum};
    handle.device.launch("matrices", std::is_same_v<T, float> ? "blas_sgeam" : "blas_dgeam",
                         {tiles(rows) * tiles(columns), 1, 1}, kGeamThreads, arguments,
                         handle.stream);
  });
}

}  // namespace

#define GEAM(L, T, Int, suffix)                                                                   \
  int raddle_cublas##L##geam##suffix(Handle* h, int op_a, int op_b, Int m, Int n, const T* alpha, \
                                     const T* a, Int lda, const T* beta, const T* b, Int ldb,     \
                                     T* c, Int ldc) {                                             \
    return geam<T>(h, op_a, op_b, m, n, alpha, a, lda, beta, b, ldb, c, ldc);                     \
  }

extern "C" {
GEAM(S, float, int, )
GEAM(S, float, std::int64_t, _64)
GEAM(D, double, int, )
GEAM(D, double, std::int64_t, _64)
}
