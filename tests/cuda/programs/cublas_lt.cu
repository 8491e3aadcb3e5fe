// cublasLtMatmul with layouts, batches, scales on both sides and epilogues, against sums in double
// precision; and what descriptors and wrong arguments give.
#include "cublas.h"

#include <cublasLt.h>

struct Layouts {
  cublasLtMatrixLayout_t a, b, c, d;
};

template <class T>
void set(cublasLtMatmulDesc_t how, cublasLtMatmulDescAttributes_t which, T value) {
  good(cublasLtMatmulDescSetAttribute(how, which, &value, sizeof value), "attribute");
}
cublasLtMatrixLayout_t layout(cudaDataType type, int rows, int columns, int ld, int batch,
                              std::int64_t stride) {
  cublasLtMatrixLayout_t out;
  good(cublasLtMatrixLayoutCreate(&out, type, rows, columns, ld), "layout");
  good(cublasLtMatrixLayoutSetAttribute(out, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch,
                                        sizeof batch), "batch");
  good(cublasLtMatrixLayoutSetAttribute(out, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride,
                                        sizeof stride), "stride");
  return out;
}

double activated(int epilogue, double x) {
  if ((epilogue & CUBLASLT_EPILOGUE_RELU) != 0) return std::max(x, 0.0);
  if ((epilogue & CUBLASLT_EPILOGUE_GELU) != 0)
    return 0.5 * x * (1 + std::tanh(0.7978845608 * (x + 0.044715 * x * x * x)));
  return x;
}

template <class T>
void product(cublasLtHandle_t h, cudaDataType type, int epilogue, bool by_rows, bool on_device,
             int batch, double rounding) {
  constexpr int kM = 70, kN = 45, kK = 33, kPad = 8;
  Random random;
  // A as written is k x m (transposed); by rows its lines are those of m.
  const int lda = (by_rows ? kM : kK) + kPad, ldb = kK + kPad, ldc = kM, ldd = kM + kPad;
  const std::int64_t sa = 1LL * lda * (by_rows ? kK : kM), sb = 1LL * ldb * kN, sc = 1LL * ldc * kN,
                     sd = 1LL * ldd * kN;
  Array<T> a(sa * batch, random), b(sb * batch, random), c(sc * batch, random),
      d(sd * batch, random), bias(kM, random);
  const Layouts of{layout(type, kK, kM, lda, batch, sa), layout(type, kK, kN, ldb, batch, sb),
                   layout(type, kM, kN, ldc, batch, sc), layout(type, kM, kN, ldd, batch, sd)};
  if (by_rows) {
    const cublasLtOrder_t order = CUBLASLT_ORDER_ROW;
    good(cublasLtMatrixLayoutSetAttribute(of.a, CUBLASLT_MATRIX_LAYOUT_ORDER, &order, sizeof order),
         "order");
  }
  cublasLtMatmulDesc_t how;
  good(cublasLtMatmulDescCreate(&how, CUBLAS_COMPUTE_32F, CUDA_R_32F), "description");
  set(how, CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
  set(how, CUBLASLT_MATMUL_DESC_EPILOGUE, static_cast<cublasLtEpilogue_t>(epilogue));
  set(how, CUBLASLT_MATMUL_DESC_BIAS_POINTER, static_cast<const void*>(bias.device));
  if (on_device)
    set(how, CUBLASLT_MATMUL_DESC_POINTER_MODE, CUBLASLT_POINTER_MODE_DEVICE);
  cublasLtMatmulPreference_t preference;
  good(cublasLtMatmulPreferenceCreate(&preference), "preference");
  const std::size_t bytes = 1 << 20;
  good(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                            &bytes, sizeof bytes), "workspace");
  cublasLtMatmulHeuristicResult_t best{};
  int count = 0;
  good(cublasLtMatmulAlgoGetHeuristic(h, how, of.a, of.b, of.c, of.d, preference, 1, &best, &count),
       "heuristic");
  check(count == 1 && best.state == CUBLAS_STATUS_SUCCESS, "an algorithm");
  const float alpha = 0.5f, beta = -1.25f;
  const OnDevice<float> alpha_there(alpha), beta_there(beta);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  good(cublasLtMatmul(h, how, on_device ? alpha_there.at : &alpha, a.device, of.a, b.device, of.b,
                      on_device ? beta_there.at : &beta, c.device, of.c, d.device, of.d, &best.algo,
                      nullptr, 0, stream), "matmul");
  cudaStreamSynchronize(stream);
  const auto got = d.down();
  check(c.down().size() == c.host.size(), "C");
  double worst = 0;
  for (int t = 0; t < batch; ++t)
    for (int j = 0; j < kN; ++j)
      for (int i = 0; i < kM; ++i) {
        double sum = 0;
        for (int p = 0; p < kK; ++p)
          sum += as_double(a.host[t * sa + (by_rows ? i + p * lda : p + i * lda)]) *
                 as_double(b.host[t * sb + p + j * ldb]);
        double want = alpha * sum + beta * as_double(c.host[t * sc + i + j * ldc]);
        if ((epilogue & CUBLASLT_EPILOGUE_BIAS) != 0) want += as_double(bias.host[i]);
        want = activated(epilogue, want);
        const double error = std::abs(as_double(got[t * sd + i + j * ldd]) - want);
        worst = std::max(worst, error - rounding * std::abs(want));
      }
  check(worst < 5e-6, "type " + std::to_string(type) + " epilogue " + std::to_string(epilogue) +
                          " off by " + std::to_string(worst));
  for (int j = 0; j < kN; ++j)  // below D
    check(as_double(got[kM + j * ldd]) == as_double(d.host[kM + j * ldd]), "below D");
  for (const cublasLtMatrixLayout_t one : {of.a, of.b, of.c, of.d})
    good(cublasLtMatrixLayoutDestroy(one), "destroy");
  good(cublasLtMatmulDescDestroy(how), "destroy");
  good(cublasLtMatmulPreferenceDestroy(preference), "destroy");
}

void descriptors(cublasLtHandle_t h) {
  cublasLtMatrixLayoutOpaque_t here;
  good(cublasLtMatrixLayoutInit(&here, CUDA_R_16F, 3, 4, 5), "layout in place");
  std::uint64_t rows = 0;
  std::size_t bytes = 0;
  good(cublasLtMatrixLayoutGetAttribute(&here, CUBLASLT_MATRIX_LAYOUT_ROWS, nullptr, 0, &bytes),
       "size of an attribute");
  good(cublasLtMatrixLayoutGetAttribute(&here, CUBLASLT_MATRIX_LAYOUT_ROWS, &rows, sizeof rows,
                                        &bytes), "attribute");
  check(bytes == 8 && rows == 3, "rows as set");
  status(cublasLtMatrixLayoutSetAttribute(&here, CUBLASLT_MATRIX_LAYOUT_ROWS, &rows, 4),
         CUBLAS_STATUS_INVALID_VALUE, "attribute of another size");
  cublasLtMatmulDesc_t how;
  good(cublasLtMatmulDescCreate(&how, CUBLAS_COMPUTE_32F, CUDA_R_32F), "description");
  const Layouts of{layout(CUDA_R_32F, 4, 4, 4, 1, 0), layout(CUDA_R_32F, 5, 4, 5, 1, 0),
                   layout(CUDA_R_32F, 4, 4, 4, 1, 0), layout(CUDA_R_32F, 4, 4, 3, 1, 0)};
  const float one = 1;
  const auto matmul = [&](cublasLtHandle_t handle, cublasLtMatrixLayout_t b,
                          cublasLtMatrixLayout_t d) {
    return cublasLtMatmul(handle, how, &one, &one, of.a, &one, b, &one, &one, of.c,
                          const_cast<float*>(&one), d, nullptr, nullptr, 0, nullptr);
  };
  status(matmul(h, of.b, of.c), CUBLAS_STATUS_INVALID_VALUE, "k of A and B");
  status(matmul(h, of.a, of.d), CUBLAS_STATUS_INVALID_VALUE, "ld of D");
  status(matmul(nullptr, of.a, of.c), CUBLAS_STATUS_NOT_INITIALIZED, "no handle");
  status(matmul(h, of.a, nullptr), CUBLAS_STATUS_INVALID_VALUE, "no layout");
}

/// What we do not have.
void more() {
  cublasLtMatmulDesc_t how;
  good(cublasLtMatmulDescCreate(&how, CUBLAS_COMPUTE_32F, CUDA_R_32F), "description");
  const void* scale = nullptr;
  status(cublasLtMatmulDescSetAttribute(how, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, &scale,
                                        sizeof scale), CUBLAS_STATUS_NOT_SUPPORTED, "a scale of A");
  good(cublasLtMatmulDescDestroy(how), "destroy");
}

int main(int argc, char**) {
  cublasLtHandle_t h;
  good(cublasLtCreate(&h), "create");
  check(cublasLtGetVersion() / 10000 == 13, "version");
  int turn = 0;
  for (const int epilogue :
       {CUBLASLT_EPILOGUE_DEFAULT, CUBLASLT_EPILOGUE_BIAS, CUBLASLT_EPILOGUE_RELU,
        CUBLASLT_EPILOGUE_RELU_BIAS, CUBLASLT_EPILOGUE_GELU, CUBLASLT_EPILOGUE_GELU_BIAS}) {
    ++turn;
    const bool rows = turn % 2 == 0, device = turn % 3 == 0;
    product<float>(h, CUDA_R_32F, epilogue, rows, device, 1 + turn % 2, 1e-6);
    product<__half>(h, CUDA_R_16F, epilogue, rows, device, 1 + turn % 3, 1e-3);
    product<__nv_bfloat16>(h, CUDA_R_16BF, epilogue, rows, device, 1, 8e-3);
  }
  descriptors(h);
  if (argc > 1) more();
  good(cublasLtDestroy(h), "destroy");
  return finish();
}
