// Matrix products of cuBLAS: every type, every way to transpose, sizes that fit no tile, batches,
// host and device scales, against sums in double precision.
#include "cublas.h"

#include <cstring>

struct Shape {
  int m, n, k, batch;
};

template <class T>
constexpr cudaDataType kType = CUDA_R_32F;
template <>
constexpr cudaDataType kType<double> = CUDA_R_64F;
template <>
constexpr cudaDataType kType<__half> = CUDA_R_16F;
template <>
constexpr cudaDataType kType<__nv_bfloat16> = CUDA_R_16BF;
template <>
constexpr cudaDataType kType<std::int8_t> = CUDA_R_8I;
template <>
constexpr cudaDataType kType<std::int32_t> = CUDA_R_32I;

/// Half a unit in the last place of a result, relative to it.
template <class T>
constexpr double kRounding = 6e-8;
template <>
constexpr double kRounding<double> = 1.2e-16;
template <>
constexpr double kRounding<__half> = 4.9e-4;
template <>
constexpr double kRounding<__nv_bfloat16> = 3.95e-3;
template <>
constexpr double kRounding<std::int32_t> = 0;

enum class By { Name, Ex, Strides, Pointers };

template <class In, class Out, class Scale>
struct Case {
  cublasHandle_t h;
  cublasOperation_t op_a, op_b;
  Shape s;
  int pad;  // of leading dimensions
  double alpha, beta;
  cublasComputeType_t compute;
  double sums;  // relative error of a product in the sums
  bool on_device;
  By by;

  int rows_a() const { return op_a == CUBLAS_OP_N ? s.m : s.k; }
  int columns_a() const { return op_a == CUBLAS_OP_N ? s.k : s.m; }
  int rows_b() const { return op_b == CUBLAS_OP_N ? s.k : s.n; }
  int columns_b() const { return op_b == CUBLAS_OP_N ? s.n : s.k; }

  std::string text() const {
    return "type " + std::to_string(kType<In>) + " to " + std::to_string(kType<Out>) + " ops " +
           std::to_string(op_a) + std::to_string(op_b) + " " + std::to_string(s.m) + "x" +
           std::to_string(s.n) + "x" + std::to_string(s.k) + " batch " + std::to_string(s.batch);
  }

  void launch(const void* alpha_at, const void* beta_at, const Array<In>& a, int lda, long long sa,
              const Array<In>& b, int ldb, long long sb, Array<Out>& c, int ldc, long long sc) {
    const cublasGemmAlgo_t algo = CUBLAS_GEMM_DEFAULT;
    if (by == By::Ex) {
      good(cublasGemmEx(h, op_a, op_b, s.m, s.n, s.k, alpha_at, a.device, kType<In>, lda, b.device,
                        kType<In>, ldb, beta_at, c.device, kType<Out>, ldc, compute, algo),
           text());
    } else if (by == By::Strides) {
      good(cublasGemmStridedBatchedEx_64(h, op_a, op_b, s.m, s.n, s.k, alpha_at, a.device,
                                         kType<In>, lda, sa, b.device, kType<In>, ldb, sb, beta_at,
                                         c.device, kType<Out>, ldc, sc, s.batch, compute, algo),
           text());
    } else if (by == By::Pointers) {
      std::vector<void*> pointers;
      for (int i = 0; i < s.batch; ++i) pointers.push_back(a.device + i * sa);
      for (int i = 0; i < s.batch; ++i) pointers.push_back(b.device + i * sb);
      for (int i = 0; i < s.batch; ++i) pointers.push_back(c.device + i * sc);
      void** there;
      cudaMalloc(&there, pointers.size() * sizeof(void*));
      cudaMemcpy(there, pointers.data(), pointers.size() * sizeof(void*), cudaMemcpyHostToDevice);
      good(cublasGemmBatchedEx(h, op_a, op_b, s.m, s.n, s.k, alpha_at, there, kType<In>, lda,
                               there + s.batch, kType<In>, ldb, beta_at, there + 2 * s.batch,
                               kType<Out>, ldc, s.batch, compute, algo),
           text());
      cudaDeviceSynchronize();
      cudaFree(there);
    } else if constexpr (std::is_same_v<In, float>) {
      good(cublasSgemm(h, op_a, op_b, s.m, s.n, s.k, static_cast<const float*>(alpha_at), a.device,
                       lda, b.device, ldb, static_cast<const float*>(beta_at), c.device, ldc),
           text());
    } else if constexpr (std::is_same_v<In, double>) {
      good(cublasDgemm_64(h, op_a, op_b, s.m, s.n, s.k, static_cast<const double*>(alpha_at),
                          a.device, lda, b.device, ldb, static_cast<const double*>(beta_at),
                          c.device, ldc),
           text());
    } else if constexpr (std::is_same_v<Scale, __half>) {
      good(cublasHgemm(h, op_a, op_b, s.m, s.n, s.k, static_cast<const __half*>(alpha_at), a.device,
                       lda, b.device, ldb, static_cast<const __half*>(beta_at), c.device, ldc),
           text());
    }
  }

  void run() {
    Random random;
    const int lda = rows_a() + pad, ldb = rows_b() + pad, ldc = s.m + pad;
    const long long sa = 1LL * lda * columns_a() + pad, sb = 1LL * ldb * columns_b() + pad,
                    sc = 1LL * ldc * s.n + pad;
    Array<In> a(sa * s.batch, random), b(sb * s.batch, random);
    Array<Out> c(sc * s.batch, random);
    if constexpr (!std::is_integral_v<Out>)
      if (beta == 0)  // what C holds is not read
        for (Out& one : c.host) one = from_double<Out>(std::nan(""));
    c.up();
    const auto scale = [](double x) {
      return std::is_integral_v<Scale> ? static_cast<Scale>(static_cast<float>(x))
                                       : from_double<Scale>(x);
    };
    const Scale alpha_here = scale(alpha), beta_here = scale(beta);
    const OnDevice<Scale> alpha_there(alpha_here), beta_there(beta_here);
    cublasSetPointerMode(h, on_device ? CUBLAS_POINTER_MODE_DEVICE : CUBLAS_POINTER_MODE_HOST);
    launch(on_device ? alpha_there.at : &alpha_here, on_device ? beta_there.at : &beta_here, a, lda,
           sa, b, ldb, sb, c, ldc, sc);
    compare(a, lda, sa, b, ldb, sb, c, ldc, sc);
  }

  void compare(const Array<In>& a, int lda, long long sa, const Array<In>& b, int ldb, long long sb,
               const Array<Out>& c, int ldc, long long sc) {
    const std::vector<Out> got = c.down();
    int wrong = 0;
    double worst = 0;
    for (int t = 0; t < s.batch; ++t)
      for (int j = 0; j < s.n; ++j)
        for (int i = 0; i < s.m; ++i) {
          double sum = 0, size = 0;
          for (int p = 0; p < s.k; ++p) {
            const double x = as_double(a.host[t * sa + (op_a == CUBLAS_OP_N ? i + p * lda : p + i * lda)]);
            const double y = as_double(b.host[t * sb + (op_b == CUBLAS_OP_N ? p + j * ldb : j + p * ldb)]);
            sum += x * y;
            size += std::abs(x * y);
          }
          const long long at = t * sc + i + 1LL * j * ldc;
          const double want = alpha * sum + (beta != 0 ? beta * as_double(c.host[at]) : 0);
          const double allowed = std::abs(alpha) * size * sums + std::abs(want) * kRounding<Out> +
                                 kRounding<Out> * std::abs(beta) * 2 +
                                 (std::is_integral_v<Out> ? 0 : 1e-7 * kRounding<Out>);
          const double error = std::abs(as_double(got[at]) - want);
          worst = std::max(worst, error);
          wrong += !(error <= allowed);
        }
    check(wrong == 0, text() + ": " + std::to_string(wrong) + " elements, error " +
                          std::to_string(worst));
    // Rows beyond m are not touched.
    if (pad > 0)
      check(std::memcmp(&got[s.m], &c.host[s.m], sizeof(Out)) == 0, text() + ": below C");
  }
};

template <class In, class Out, class Scale>
void all(cublasHandle_t h, cublasComputeType_t compute, double sums, bool large) {
  const Shape shapes[] = {{1, 1, 1, 1}, {65, 33, 47, 1}, {16, 130, 7, 3}, {64, 64, 64, 2},
                          {70, 129, 100, 2}};
  constexpr By kWays[] = {By::Ex, By::Strides, By::Pointers};
  const double beta = std::is_integral_v<Scale> ? 3 : -0.5, alpha = std::is_integral_v<Scale> ? -2 : 0.75;
  int turn = 0;
  for (const cublasOperation_t op_a : {CUBLAS_OP_N, CUBLAS_OP_T})
    for (const cublasOperation_t op_b : {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C})
      for (const Shape& shape : shapes) {
        ++turn;
        const By by = shape.batch > 1 ? kWays[1 + turn % 2] : turn % 2 ? By::Ex : By::Name;
        const bool named = !std::is_integral_v<In> && compute != CUBLAS_COMPUTE_32F_FAST_TF32 &&
                           std::is_same_v<In, Out> && !std::is_same_v<In, __nv_bfloat16> &&
                           (std::is_same_v<Scale, In>);
        Case<In, Out, Scale>{h, op_a, op_b, shape, turn % 3 == 0 ? 0 : turn % 3 == 1 ? 3 : 16,
                             alpha, turn % 4 ? beta : 0, compute, sums, turn % 2 == 0,
                             by == By::Name && !named ? By::Ex : by}
            .run();
      }
  Case<In, Out, Scale>{h, CUBLAS_OP_N, CUBLAS_OP_N, {33, 17, 0, 1}, 1, alpha, beta, compute, sums,
                       false, By::Ex}.run();
  if (!large) return;
  for (const cublasOperation_t op : {CUBLAS_OP_N, CUBLAS_OP_T})
    Case<In, Out, Scale>{h, op, op, {1400, 1300, 20, 1}, 8, alpha, beta, compute, sums, false,
                         By::Ex}.run();
}

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "all";
  const bool large = argc > 2;
  cublasHandle_t h;
  good(cublasCreate(&h), "create");
  const auto wants = [&](const char* name) { return what == "all" || what == name; };
  constexpr double kSingle = 4e-7, kTf32 = 1.1e-3;
  if (wants("s")) all<float, float, float>(h, CUBLAS_COMPUTE_32F, kSingle, large);
  if (wants("d")) all<double, double, double>(h, CUBLAS_COMPUTE_64F, 4e-16, large);
  if (wants("h")) {
    all<__half, __half, __half>(h, CUBLAS_COMPUTE_16F, kSingle, large);
    all<__half, __half, float>(h, CUBLAS_COMPUTE_32F, kSingle, false);
    all<__half, float, float>(h, CUBLAS_COMPUTE_32F, kSingle, false);
    all<__half, __half, float>(h, CUBLAS_COMPUTE_32F_PEDANTIC, kSingle, false);
  }
  if (wants("b")) {
    all<__nv_bfloat16, __nv_bfloat16, float>(h, CUBLAS_COMPUTE_32F, kSingle, large);
    all<__nv_bfloat16, float, float>(h, CUBLAS_COMPUTE_32F, kSingle, false);
  }
  if (wants("i")) {
    all<std::int8_t, std::int32_t, std::int32_t>(h, CUBLAS_COMPUTE_32I, 0, large);
    all<std::int8_t, float, float>(h, CUBLAS_COMPUTE_32F, kSingle, false);
  }
  if (wants("t")) all<float, float, float>(h, CUBLAS_COMPUTE_32F_FAST_TF32, kTf32, large);
  good(cublasDestroy(h), "destroy");
  return finish();
}
