// Level 3: the names that matrix products are called by.
#include "raddle/cublas/product.h"

using namespace raddle::cublas;

namespace {

struct Types {
  int ab, c, compute;
};

/// A product with everything but its scales, which the handle says how to read.
int run(const char* name, Handle* handle, Product product, int type_b, const void* alpha,
        const void* beta) {
  return call(handle, [&](Handle& h) {
    product.d = product.c;
    check(product);
    const DataType type =
        scale_type(product.compute, product.type_ab, type_b, product.type_c, name);
    product.alpha = scale_of(h.pointer_mode, alpha, type);
    product.beta = scale_of(h.pointer_mode, beta, type);
    multiply(h, product, h.stream);
  });
}

constexpr Types kSingle = {kF32, kF32, kCompute32F}, kDouble = {kF64, kF64, kCompute64F},
                kHalf = {kF16, kF16, kCompute16F};

}  // namespace

#define SIZES .op_a = op_a, .op_b = op_b, .m = m, .n = n, .k = k
#define GEMM(L, T, types, Int, suffix)                                                         \
  int raddle_cublas##L##gemm##suffix(Handle* h, int op_a, int op_b, Int m, Int n, Int k,       \
                                     const T* alpha, const T* a, Int lda, const T* b, Int ldb, \
                                     const T* beta, T* c, Int ldc) {                           \
    return run("cublas" #L "gemm", h,                                                          \
               {SIZES, .a = {a, lda}, .b = {b, ldb}, .c = {c, ldc}, .type_ab = types.ab,       \
                .type_c = types.c, .compute = types.compute},                                  \
               types.ab, alpha, beta);                                                         \
  }
#define GEMM_BATCHED(L, T, types, Int, suffix)                                                     \
  int raddle_cublas##L##gemmBatched##suffix(                                                       \
      Handle* h, int op_a, int op_b, Int m, Int n, Int k, const T* alpha, const T* const* a,       \
      Int lda, const T* const* b, Int ldb, const T* beta, T* const* c, Int ldc, Int batch) {       \
    return run("cublas" #L "gemmBatched", h,                                                       \
               {SIZES, .a = {a, lda}, .b = {b, ldb}, .c = {c, ldc}, .type_ab = types.ab,           \
                .type_c = types.c, .compute = types.compute, .batch = batch, .by_pointers = true}, \
               types.ab, alpha, beta);                                                             \
  }                                                                                                \
  int raddle_cublas##L##gemmStridedBatched##suffix(                                                \
      Handle* h, int op_a, int op_b, Int m, Int n, Int k, const T* alpha, const T* a, Int lda,     \
      long long stride_a, const T* b, Int ldb, long long stride_b, const T* beta, T* c, Int ldc,   \
      long long stride_c, Int batch) {                                                             \
    return run("cublas" #L "gemmStridedBatched", h,                                                \
               {SIZES, .a = {a, lda, stride_a}, .b = {b, ldb, stride_b}, .c = {c, ldc, stride_c},  \
                .type_ab = types.ab, .type_c = types.c, .compute = types.compute, .batch = batch}, \
               types.ab, alpha, beta);                                                             \
  }
#define GEMM_EX(Int, suffix)                                                                       \
  int raddle_cublasSgemmEx##suffix(Handle* h, int op_a, int op_b, Int m, Int n, Int k,             \
                                   const float* alpha, const void* a, int type_a, Int lda,         \
                                   const void* b, int type_b, Int ldb, const float* beta, void* c, \
                                   int type_c, Int ldc) {                                          \
    return run(                                                                                    \
        "cublasSgemmEx", h,                                                                        \
        {SIZES, .a = {a, lda}, .b = {b, ldb}, .c = {c, ldc}, .type_ab = type_a, .type_c = type_c}, \
        type_b, alpha, beta);                                                                      \
  }                                                                                                \
  int raddle_cublasGemmEx##suffix(Handle* h, int op_a, int op_b, Int m, Int n, Int k,              \
                                  const void* alpha, const void* a, int type_a, Int lda,           \
                                  const void* b, int type_b, Int ldb, const void* beta, void* c,   \
                                  int type_c, Int ldc, int compute, int) {                         \
    return run("cublasGemmEx", h,                                                                  \
               {SIZES, .a = {a, lda}, .b = {b, ldb}, .c = {c, ldc}, .type_ab = type_a,             \
                .type_c = type_c, .compute = compute},                                             \
               type_b, alpha, beta);                                                               \
  }                                                                                                \
  int raddle_cublasGemmBatchedEx##suffix(                                                          \
      Handle* h, int op_a, int op_b, Int m, Int n, Int k, const void* alpha, const void* const* a, \
      int type_a, Int lda, const void* const* b, int type_b, Int ldb, const void* beta,            \
      void* const* c, int type_c, Int ldc, Int batch, int compute, int) {                          \
    return run("cublasGemmBatchedEx", h,                                                           \
               {SIZES, .a = {a, lda}, .b = {b, ldb}, .c = {c, ldc}, .type_ab = type_a,             \
                .type_c = type_c, .compute = compute, .batch = batch, .by_pointers = true},        \
               type_b, alpha, beta);                                                               \
  }                                                                                                \
  int raddle_cublasGemmStridedBatchedEx##suffix(                                                   \
      Handle* h, int op_a, int op_b, Int m, Int n, Int k, const void* alpha, const void* a,        \
      int type_a, Int lda, long long stride_a, const void* b, int type_b, Int ldb,                 \
      long long stride_b, const void* beta, void* c, int type_c, Int ldc, long long stride_c,      \
      Int batch, int compute, int) {                                                               \
    return run("cublasGemmStridedBatchedEx", h,                                                    \
               {SIZES, .a = {a, lda, stride_a}, .b = {b, ldb, stride_b}, .c = {c, ldc, stride_c},  \
                .type_ab = type_a, .type_c = type_c, .compute = compute, .batch = batch},          \
               type_b, alpha, beta);                                                               \
  }

extern "C" {
GEMM(S, float, kSingle, int, _v2)
GEMM(S, float, kSingle, std::int64_t, _v2_64)
GEMM(D, double, kDouble, int, _v2)
GEMM(D, double, kDouble, std::int64_t, _v2_64)
GEMM(H, void, kHalf, int, )
GEMM(H, void, kHalf, std::int64_t, _64)
GEMM_BATCHED(S, float, kSingle, int, )
GEMM_BATCHED(S, float, kSingle, std::int64_t, _64)
GEMM_BATCHED(D, double, kDouble, int, )
GEMM_BATCHED(D, double, kDouble, std::int64_t, _64)
GEMM_BATCHED(H, void, kHalf, int, )
GEMM_BATCHED(H, void, kHalf, std::int64_t, _64)
GEMM_EX(int, )
GEMM_EX(std::int64_t, _64)
}
