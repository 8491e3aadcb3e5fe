// What is around the sums of cuBLAS: handles and modes, what wrong arguments give, copies of
// vectors and matrices, streams, and products that are captured into a graph.
#include "cublas.h"

#include <cstring>

void handles_and_modes() {
  status(cublasCreate(nullptr), CUBLAS_STATUS_INVALID_VALUE, "create into nothing");
  status(cublasDestroy(nullptr), CUBLAS_STATUS_NOT_INITIALIZED, "destroy nothing");
  status(cublasSetStream(nullptr, nullptr), CUBLAS_STATUS_NOT_INITIALIZED, "no handle");
  cublasHandle_t h;
  good(cublasCreate(&h), "create");
  int version = 0, major = 0;
  good(cublasGetVersion(h, &version), "version");
  good(cublasGetProperty(MAJOR_VERSION, &major), "property");
  check(version / 10000 == 13 && major == 13, "version of the interface");
  cublasPointerMode_t pointers;
  cublasMath_t math;
  good(cublasGetPointerMode(h, &pointers), "pointer mode");
  good(cublasGetMathMode(h, &math), "math mode");
  check(pointers == CUBLAS_POINTER_MODE_HOST && math == CUBLAS_DEFAULT_MATH, "modes of a handle");
  status(cublasSetPointerMode(h, static_cast<cublasPointerMode_t>(5)), CUBLAS_STATUS_INVALID_VALUE,
         "no such mode");
  good(cublasSetMathMode(h, CUBLAS_TF32_TENSOR_OP_MATH), "math mode");
  good(cublasGetMathMode(h, &math), "math mode");
  check(math == CUBLAS_TF32_TENSOR_OP_MATH, "math mode as set");
  cudaStream_t stream, got;
  cudaStreamCreate(&stream);
  good(cublasSetStream(h, stream), "stream");
  good(cublasGetStream(h, &got), "stream");
  check(got == stream, "stream as set");
  void* room;
  cudaMalloc(&room, 4096);
  good(cublasSetWorkspace(h, room, 4096), "workspace");
  status(cublasSetWorkspace(h, static_cast<char*>(room) + 8, 4088), CUBLAS_STATUS_INVALID_VALUE,
         "workspace of no alignment");
  check(std::strcmp(cublasGetStatusName(CUBLAS_STATUS_ARCH_MISMATCH),
                    "CUBLAS_STATUS_ARCH_MISMATCH") == 0, "name of a status");
  check(std::strlen(cublasGetStatusString(CUBLAS_STATUS_NOT_SUPPORTED)) > 0, "text of a status");
  good(cublasDestroy(h), "destroy");
}

void wrong_arguments(cublasHandle_t h) {
  Random random;
  Array<float> x(64, random);
  const float one = 1;
  float* const at = x.device;
  const auto gemm = [&](cublasOperation_t a, int m, int n, int k, const float* alpha, int lda,
                        int ldb, int ldc, float* c) {
    return cublasSgemm(h, a, CUBLAS_OP_N, m, n, k, alpha, at, lda, at, ldb, &one, c, ldc);
  };
  good(gemm(CUBLAS_OP_N, 0, 4, 4, &one, 1, 4, 1, at), "no rows");
  good(gemm(CUBLAS_OP_N, 4, 4, 4, &one, 4, 4, 4, at), "right");
  const auto wrong = [&](cublasStatus_t got, const char* what) {
    status(got, CUBLAS_STATUS_INVALID_VALUE, what);
  };
  wrong(gemm(CUBLAS_OP_N, -1, 4, 4, &one, 4, 4, 4, at), "m < 0");
  wrong(gemm(CUBLAS_OP_N, 4, -1, 4, &one, 4, 4, 4, at), "n < 0");
  wrong(gemm(CUBLAS_OP_N, 4, 4, -1, &one, 4, 4, 4, at), "k < 0");
  wrong(gemm(CUBLAS_OP_N, 4, 4, 4, &one, 3, 4, 4, at), "lda < m");
  wrong(gemm(CUBLAS_OP_T, 4, 4, 5, &one, 4, 5, 4, at), "lda < k, transposed");
  wrong(gemm(CUBLAS_OP_N, 4, 4, 4, &one, 4, 3, 4, at), "ldb < k");
  wrong(gemm(CUBLAS_OP_N, 4, 4, 4, &one, 4, 4, 3, at), "ldc < m");
  wrong(gemm(static_cast<cublasOperation_t>(9), 4, 4, 4, &one, 4, 4, 4, at), "no operation");
  wrong(gemm(CUBLAS_OP_N, 4, 4, 4, nullptr, 4, 4, 4, at), "no alpha");
  wrong(gemm(CUBLAS_OP_N, 4, 4, 4, &one, 4, 4, 4, nullptr), "no C");
  wrong(cublasSgemmStridedBatched(h, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, at, 2, 4, at, 2, 4,
                                  &one, at, 2, 4, -1), "batch < 0");
  status(cublasSgemm(nullptr, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, at, 1, at, 1, &one, at, 1),
         CUBLAS_STATUS_NOT_INITIALIZED, "no handle");
  status(cublasGemmEx(h, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &one, at, CUDA_R_16F, 4, at, CUDA_R_32F,
                      4, &one, at, CUDA_R_32F, 4, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
         CUBLAS_STATUS_NOT_SUPPORTED, "types that do not go together");
}

void transfers() {
  Random random;
  constexpr int kRows = 5, kColumns = 4, kLd = 7;
  Array<float> there(kLd * kColumns, random);
  std::vector<float> here(kLd * kColumns), back(kLd * kColumns, -1);
  for (std::size_t i = 0; i < here.size(); ++i) here[i] = static_cast<float>(i);
  good(cublasSetMatrix(kRows, kColumns, sizeof(float), here.data(), kLd, there.device, kRows),
       "set matrix");
  good(cublasGetMatrix(kRows, kColumns, sizeof(float), there.device, kRows, back.data(), kLd),
       "get matrix");
  for (int j = 0; j < kColumns; ++j)
    for (int i = 0; i < kLd; ++i)
      check(back[i + j * kLd] == (i < kRows ? here[i + j * kLd] : -1), "matrix there and back");
  good(cublasSetVector(6, sizeof(float), here.data(), 2, there.device, 1), "set vector");
  good(cublasGetVector(6, sizeof(float), there.device, 1, back.data(), 3), "get vector");
  for (int i = 0; i < 6; ++i) check(back[3 * i] == here[2 * i], "vector there and back");
  status(cublasSetMatrix(kRows, 1, 4, here.data(), kRows - 1, there.device, kRows),
         CUBLAS_STATUS_INVALID_VALUE, "ld below the rows");
  status(cublasSetVector(6, 0, here.data(), 1, there.device, 1), CUBLAS_STATUS_INVALID_VALUE,
         "elements of no bytes");
}

/// C = A B and d = x . x, in order in a stream that captures; the graph is launched twice.
void captured(cublasHandle_t h) {
  Random random;
  constexpr int kSide = 48;
  Array<float> a(kSide * kSide, random), c(kSide * kSide, random);
  const OnDevice<float> one(1), dot(0);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  good(cublasSetStream(h, stream), "stream");
  good(cublasSetPointerMode(h, CUBLAS_POINTER_MODE_DEVICE), "mode");
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  // C = A A + C: each launch of the graph adds once more.
  good(cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, kSide, kSide, kSide, one.at, a.device, kSide,
                   a.device, kSide, one.at, c.device, kSide), "captured product");
  good(cublasSdot(h, kSide * kSide, c.device, 1, c.device, 1, dot.at), "captured sum");
  cudaGraph_t graph;
  check(cudaStreamEndCapture(stream, &graph) == cudaSuccess, "capture");
  std::size_t nodes = 0;
  cudaGraphGetNodes(graph, nullptr, &nodes);
  check(nodes == 3, "three kernels in the graph, not " + std::to_string(nodes));
  check(c.down() == c.host, "nothing is done while it is captured");
  cudaGraphExec_t exec;
  cudaGraphInstantiate(&exec, graph, 0);
  for (int i = 0; i < 2; ++i) cudaGraphLaunch(exec, stream);
  cudaStreamSynchronize(stream);
  const auto got = c.down();
  double squares = 0;
  for (int j = 0; j < kSide; ++j)
    for (int i = 0; i < kSide; ++i) {
      double sum = 0;
      for (int p = 0; p < kSide; ++p) sum += double(a.host[i + p * kSide]) * a.host[p + j * kSide];
      const double want = 2 * sum + c.host[i + j * kSide];
      check(std::abs(got[i + j * kSide] - want) < 1e-4, "captured product");
      squares += want * want;
    }
  check(std::abs(dot.value() - squares) < 1e-4 * squares, "captured sum");
  // A result for the host cannot be had while the stream captures.
  good(cublasSetPointerMode(h, CUBLAS_POINTER_MODE_HOST), "mode");
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  float here;
  status(cublasSdot(h, 4, a.device, 1, a.device, 1, &here), CUBLAS_STATUS_EXECUTION_FAILED,
         "result for the host in a capture");
  cudaStreamEndCapture(stream, &graph);
  cudaGetLastError();
  good(cublasSetStream(h, nullptr), "stream");
}

/// Products in two streams, which events and the default stream do not join.
void streams(cublasHandle_t h) {
  Random random;
  constexpr int kSide = 64;
  const float one = 1, zero = 0;
  Array<float> a(kSide * kSide, random), b(kSide * kSide, random), c(kSide * kSide, random);
  cudaStream_t all[2];
  for (cudaStream_t& stream : all) cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  for (int i = 0; i < 2; ++i) {
    good(cublasSetStream(h, all[i]), "stream");
    good(cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, kSide, kSide, kSide, &one, a.device, kSide,
                     a.device, kSide, &zero, i == 0 ? b.device : c.device, kSide), "product");
  }
  cudaDeviceSynchronize();
  check(b.down() == c.down(), "the same in both streams");
  good(cublasSetStream(h, nullptr), "stream");
}

int main(int argc, char**) {
  handles_and_modes();
  cublasHandle_t h;
  good(cublasCreate(&h), "create");
  wrong_arguments(h);
  transfers();
  captured(h);
  streams(h);
  if (argc > 1) {  // what we do not have
    status(cublasCgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, nullptr, nullptr, 1, nullptr, 1,
                       nullptr, nullptr, 1), CUBLAS_STATUS_NOT_SUPPORTED, "complex numbers");
  }
  good(cublasDestroy(h), "destroy");
  return finish();
}
