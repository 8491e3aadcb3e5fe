// What is around the sums of cuSPARSE: handles, descriptors, what wrong arguments give, streams, and calls that are
// captured into a graph.
#include "cusparse.h"

#include <cstring>

constexpr auto kPlain = CUSPARSE_OPERATION_NON_TRANSPOSE;

void handles() {
  status(cusparseCreate(nullptr), CUSPARSE_STATUS_INVALID_VALUE, "create into nothing");
  status(cusparseDestroy(nullptr), CUSPARSE_STATUS_NOT_INITIALIZED, "destroy nothing");
  status(cusparseSetStream(nullptr, nullptr), CUSPARSE_STATUS_NOT_INITIALIZED, "no handle");
  cusparseHandle_t h;
  good(cusparseCreate(&h), "create");
  int version = 0, major = 0;
  good(cusparseGetVersion(h, &version), "version");
  good(cusparseGetProperty(MAJOR_VERSION, &major), "property");
  check(version / 1000 == 12 && major == 12, "version of the interface");
  status(cusparseGetProperty(MAJOR_VERSION, nullptr), CUSPARSE_STATUS_INVALID_VALUE, "no value");
  cusparsePointerMode_t pointers;
  good(cusparseGetPointerMode(h, &pointers), "pointer mode");
  check(pointers == CUSPARSE_POINTER_MODE_HOST, "mode of a handle");
  status(cusparseSetPointerMode(h, static_cast<cusparsePointerMode_t>(5)),
         CUSPARSE_STATUS_INVALID_VALUE, "no such mode");
  cudaStream_t stream, got;
  cudaStreamCreate(&stream);
  good(cusparseSetStream(h, stream), "stream");
  good(cusparseGetStream(h, &got), "stream");
  check(got == stream, "stream as set");
  check(std::strcmp(cusparseGetErrorName(CUSPARSE_STATUS_ZERO_PIVOT),
                    "CUSPARSE_STATUS_ZERO_PIVOT") == 0, "name of a status");
  check(std::strlen(cusparseGetErrorString(CUSPARSE_STATUS_INSUFFICIENT_RESOURCES)) > 0, "text");
  good(cusparseLoggerSetLevel(0), "logger");
  good(cusparseLoggerSetMask(0), "logger");
  good(cusparseLoggerForceDisable(), "logger");
  good(cusparseDestroy(h), "destroy");
}

void legacy_descriptors() {
  cusparseMatDescr_t d;
  good(cusparseCreateMatDescr(&d), "create");
  check(cusparseGetMatType(d) == CUSPARSE_MATRIX_TYPE_GENERAL &&
            cusparseGetMatIndexBase(d) == CUSPARSE_INDEX_BASE_ZERO, "as created");
  good(cusparseSetMatType(d, CUSPARSE_MATRIX_TYPE_TRIANGULAR), "type");
  good(cusparseSetMatFillMode(d, CUSPARSE_FILL_MODE_UPPER), "fill");
  good(cusparseSetMatDiagType(d, CUSPARSE_DIAG_TYPE_UNIT), "diagonal");
  good(cusparseSetMatIndexBase(d, CUSPARSE_INDEX_BASE_ONE), "base");
  check(cusparseGetMatType(d) == CUSPARSE_MATRIX_TYPE_TRIANGULAR &&
            cusparseGetMatFillMode(d) == CUSPARSE_FILL_MODE_UPPER &&
            cusparseGetMatDiagType(d) == CUSPARSE_DIAG_TYPE_UNIT &&
            cusparseGetMatIndexBase(d) == CUSPARSE_INDEX_BASE_ONE, "as set");
  status(cusparseSetMatType(d, static_cast<cusparseMatrixType_t>(9)), CUSPARSE_STATUS_INVALID_VALUE,
         "no such type");
  good(cusparseDestroyMatDescr(d), "destroy");
}

void vector_descriptors() {
  Array<float> values(9), others(9);
  Array<int> indices(9);
  cusparseSpVecDescr_t x;
  good(cusparseCreateSpVec(&x, 20, 9, indices.device, values.device, CUSPARSE_INDEX_32I,
                           CUSPARSE_INDEX_BASE_ONE, CUDA_R_32F), "sparse vector");
  std::int64_t size, count;
  void *at_indices, *at_values;
  const void* constant;
  cusparseIndexType_t width;
  cusparseIndexBase_t base;
  cudaDataType type;
  good(cusparseSpVecGet(x, &size, &count, &at_indices, &at_values, &width, &base, &type), "get");
  check(size == 20 && count == 9 && at_indices == indices.device && at_values == values.device &&
            width == CUSPARSE_INDEX_32I && base == CUSPARSE_INDEX_BASE_ONE && type == CUDA_R_32F,
        "sparse vector as created");
  good(cusparseSpVecSetValues(x, others.device), "values");
  good(cusparseConstSpVecGetValues(x, &constant), "values");
  check(constant == others.device, "values as set");
  good(cusparseSpVecGetIndexBase(x, &base), "base");
  good(cusparseDestroySpVec(x), "destroy");
  status(cusparseCreateSpVec(&x, 5, 9, indices.device, values.device, CUSPARSE_INDEX_32I,
                             CUSPARSE_INDEX_BASE_ONE, CUDA_R_32F), CUSPARSE_STATUS_INVALID_VALUE,
         "more entries than elements");
  cusparseConstDnVecDescr_t y;
  good(cusparseCreateConstDnVec(&y, 9, values.device, CUDA_R_32F), "constant vector");
  good(cusparseConstDnVecGet(y, &size, &constant, &type), "get");
  check(size == 9 && constant == values.device && type == CUDA_R_32F, "vector as created");
  good(cusparseDestroyDnVec(y), "destroy");
  cusparseDnVecDescr_t z;
  status(cusparseCreateDnVec(&z, -1, values.device, CUDA_R_32F), CUSPARSE_STATUS_INVALID_VALUE,
         "less than nothing");
  status(cusparseDnVecGetValues(nullptr, &at_values), CUSPARSE_STATUS_INVALID_VALUE, "no vector");
}

void matrix_descriptors() {
  Array<float> values(12), others(12);
  Array<int> offsets(12), indices(12);
  std::int64_t rows, columns, count, ld;
  void *at_first, *at_second, *at_values;
  const void *first, *second, *constant;
  cusparseIndexType_t offset_type, index_type;
  cusparseIndexBase_t base;
  cudaDataType type;
  cusparseOrder_t order;
  cusparseSpMatDescr_t a;
  good(cusparseCreateCsr(&a, 5, 7, 12, offsets.device, indices.device, values.device,
                         CUSPARSE_INDEX_64I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ONE,
                         CUDA_R_64F), "csr");
  good(cusparseCsrGet(a, &rows, &columns, &count, &at_first, &at_second, &at_values, &offset_type,
                      &index_type, &base, &type), "get");
  check(rows == 5 && columns == 7 && count == 12 && at_first == offsets.device &&
            at_second == indices.device && at_values == values.device &&
            offset_type == CUSPARSE_INDEX_64I && index_type == CUSPARSE_INDEX_32I &&
            base == CUSPARSE_INDEX_BASE_ONE && type == CUDA_R_64F, "csr as created");
  cusparseFormat_t format;
  good(cusparseSpMatGetFormat(a, &format), "format");
  check(format == CUSPARSE_FORMAT_CSR, "format");
  status(cusparseCscGet(a, &rows, &columns, &count, &at_first, &at_second, &at_values, &offset_type,
                        &index_type, &base, &type), CUSPARSE_STATUS_INVALID_VALUE, "another format");
  cusparseFillMode_t fill = CUSPARSE_FILL_MODE_UPPER;
  good(cusparseSpMatGetAttribute(a, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill), "attribute");
  check(fill == CUSPARSE_FILL_MODE_LOWER, "lower, if nothing else is said");
  fill = CUSPARSE_FILL_MODE_UPPER;
  good(cusparseSpMatSetAttribute(a, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill), "attribute");
  fill = CUSPARSE_FILL_MODE_LOWER;
  good(cusparseSpMatGetAttribute(a, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill), "attribute");
  check(fill == CUSPARSE_FILL_MODE_UPPER, "attribute as set");
  status(cusparseSpMatSetAttribute(a, CUSPARSE_SPMAT_FILL_MODE, &fill, 1),
         CUSPARSE_STATUS_INVALID_VALUE, "attribute of another size");
  int batch = 0;
  good(cusparseCsrSetStridedBatch(a, 3, 6, 12), "batch");
  good(cusparseSpMatGetStridedBatch(a, &batch), "batch");
  check(batch == 3, "batch as set");
  good(cusparseSpMatSetValues(a, others.device), "values");
  good(cusparseSpMatGetValues(a, &at_values), "values");
  check(at_values == others.device, "values as set");
  good(cusparseDestroySpMat(a), "destroy");
  cusparseConstSpMatDescr_t coo;
  good(cusparseCreateConstCoo(&coo, 5, 7, 12, offsets.device, indices.device, values.device,
                              CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F), "coo");
  good(cusparseConstCooGet(coo, &rows, &columns, &count, &first, &second, &constant, &index_type,
                           &base, &type), "get");
  check(first == offsets.device && second == indices.device && constant == values.device,
        "coo as created");
  good(cusparseDestroySpMat(coo), "destroy");
  status(cusparseCreateCsr(&a, -5, 7, 12, offsets.device, indices.device, values.device,
                           CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ONE,
                           CUDA_R_64F), CUSPARSE_STATUS_INVALID_VALUE, "rows < 0");
  status(cusparseCreateCsr(&a, 5, 7, 12, offsets.device, indices.device, values.device,
                           static_cast<cusparseIndexType_t>(9), CUSPARSE_INDEX_32I,
                           CUSPARSE_INDEX_BASE_ONE, CUDA_R_64F), CUSPARSE_STATUS_INVALID_VALUE,
         "no such width");
  cusparseDnMatDescr_t m;
  good(cusparseCreateDnMat(&m, 3, 4, 4, values.device, CUDA_R_32F, CUSPARSE_ORDER_ROW), "dense");
  good(cusparseDnMatGet(m, &rows, &columns, &ld, &at_values, &type, &order), "get");
  check(rows == 3 && columns == 4 && ld == 4 && order == CUSPARSE_ORDER_ROW, "dense as created");
  status(cusparseDnMatSetStridedBatch(m, 2, 5), CUSPARSE_STATUS_INVALID_VALUE, "they overlap");
  good(cusparseDestroyDnMat(m), "destroy");
  status(cusparseCreateDnMat(&m, 3, 4, 3, values.device, CUDA_R_32F, CUSPARSE_ORDER_ROW),
         CUSPARSE_STATUS_INVALID_VALUE, "ld below the columns");
}

void wrong_arguments(cusparseHandle_t h) {
  Random random;
  const Matrix<float> a(CUSPARSE_FORMAT_CSR, 6, 9, random_matrix<float>(6, 9, 3, false, random));
  Vector<float> x(9, random), y(6, random);
  Vector<double> wide(6, random);
  const float one = 1;
  std::size_t bytes = 0;
  const auto spmv = [&](cusparseHandle_t handle, int op, const float* alpha, auto* from, auto* to,
                        cudaDataType compute, int algorithm) {
    return cusparseSpMV(handle, static_cast<cusparseOperation_t>(op), alpha, a.descriptor,
                        from == nullptr ? nullptr : from->descriptor, &one, to->descriptor, compute,
                        static_cast<cusparseSpMVAlg_t>(algorithm), nullptr);
  };
  const auto wrong = [&](cusparseStatus_t got, const char* what) {
    status(got, CUSPARSE_STATUS_INVALID_VALUE, what);
  };
  good(spmv(h, 0, &one, &x, &y, CUDA_R_32F, 0), "right");
  status(spmv(nullptr, 0, &one, &x, &y, CUDA_R_32F, 0), CUSPARSE_STATUS_NOT_INITIALIZED, "no handle");
  wrong(spmv(h, 7, &one, &x, &y, CUDA_R_32F, 0), "no such operation");
  wrong(spmv(h, 0, nullptr, &x, &y, CUDA_R_32F, 0), "no alpha");
  wrong(spmv(h, 1, &one, &x, &y, CUDA_R_32F, 0), "sizes that do not fit");
  wrong(spmv(h, 0, &one, static_cast<Vector<float>*>(nullptr), &y, CUDA_R_32F, 0), "no x");
  wrong(spmv(h, 0, &one, &x, &y, CUDA_R_32F, 99), "no such algorithm");
  wrong(spmv(h, 0, &one, &x, &y, CUDA_R_32F, CUSPARSE_SPMV_CSR_ALG2), "no buffer");
  status(spmv(h, 0, &one, &x, &y, CUDA_R_32F, CUSPARSE_SPMV_COO_ALG1), CUSPARSE_STATUS_NOT_SUPPORTED,
         "another format's algorithm");
  status(spmv(h, 0, &one, &x, &wide, CUDA_R_32F, 0), CUSPARSE_STATUS_NOT_SUPPORTED,
         "types that do not go together");
  wrong(cusparseSpMV_bufferSize(h, kPlain, &one, a.descriptor, x.descriptor, &one, y.descriptor,
                                CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, nullptr), "nowhere to put it");
  Dense<float> b(9, 4, CUSPARSE_ORDER_COL, 0, random), c(5, 4, CUSPARSE_ORDER_COL, 0, random);
  wrong(cusparseSpMM_bufferSize(h, kPlain, kPlain, &one, a.descriptor, b.descriptor, &one,
                                c.descriptor, CUDA_R_32F, CUSPARSE_SPMM_ALG_DEFAULT, &bytes),
        "C of other rows");
  cusparseSpSVDescr_t d;
  good(cusparseSpSV_createDescr(&d), "descriptor");
  wrong(cusparseSpSV_bufferSize(h, kPlain, &one, a.descriptor, y.descriptor, y.descriptor,
                                CUDA_R_32F, CUSPARSE_SPSV_ALG_DEFAULT, d, &bytes), "not square");
  const Matrix<float> square(CUSPARSE_FORMAT_CSR, 6, 6, random_matrix<float>(6, 6, 3, false, random));
  wrong(cusparseSpSV_solve(h, kPlain, &one, square.descriptor, y.descriptor, y.descriptor,
                           CUDA_R_32F, CUSPARSE_SPSV_ALG_DEFAULT, d), "without analysis");
  good(cusparseSpSV_destroyDescr(d), "destroy");
  cusparseSpGEMMDescr_t g;
  good(cusparseSpGEMM_createDescr(&g), "descriptor");
  status(cusparseSpGEMM_workEstimation(h, CUSPARSE_OPERATION_TRANSPOSE, kPlain, &one,
                                       square.descriptor, square.descriptor, &one,
                                       square.descriptor, CUDA_R_32F, CUSPARSE_SPGEMM_DEFAULT, g,
                                       &bytes, nullptr), CUSPARSE_STATUS_NOT_SUPPORTED, "transposed");
  wrong(cusparseSpGEMM_compute(h, kPlain, kPlain, &one, square.descriptor, square.descriptor, &one,
                               square.descriptor, CUDA_R_32F, CUSPARSE_SPGEMM_DEFAULT, g, &bytes,
                               nullptr), "without estimation");
  good(cusparseSpGEMM_destroyDescr(g), "destroy");
  wrong(cusparseXcoo2csr(h, nullptr, 5, 5, nullptr, CUSPARSE_INDEX_BASE_ZERO), "no arrays");
  wrong(cusparseCreateIdentityPermutation(h, -1, nullptr), "n < 0");
}

/// Matrices without rows, columns or entries.
void nothing_to_do(cusparseHandle_t h) {
  Random random;
  const Matrix<float> empty(CUSPARSE_FORMAT_CSR, 4, 5, {}), none(CUSPARSE_FORMAT_COO, 0, 5, {});
  Vector<float> x(5, random), y(4, random), z(0, random);
  const float one = 1, two = 2;
  good(cusparseSpMV(h, kPlain, &one, empty.descriptor, x.descriptor, &two, y.descriptor, CUDA_R_32F,
                    CUSPARSE_SPMV_ALG_DEFAULT, nullptr), "without entries");
  for (int i = 0; i < 4; ++i) check(y.values.down()[i] == 2 * y.values.host[i], "y is beta y");
  good(cusparseSpMV(h, kPlain, &one, none.descriptor, x.descriptor, &two, z.descriptor, CUDA_R_32F,
                    CUSPARSE_SPMV_ALG_DEFAULT, nullptr), "without rows");
  Dense<float> b(5, 3, CUSPARSE_ORDER_ROW, 0, random), c(4, 3, CUSPARSE_ORDER_ROW, 0, random);
  good(cusparseSpMM(h, kPlain, kPlain, &one, empty.descriptor, b.descriptor, &two, c.descriptor,
                    CUDA_R_32F, CUSPARSE_SPMM_ALG_DEFAULT, nullptr), "without entries");
  check(c.values.down()[7] == 2 * c.values.host[7], "C is beta C");
}

/// y = A x + y, twice in a row of a stream that captures; the graph is launched three times.
void captured(cusparseHandle_t h) {
  Random random;
  const int n = 60;
  const Matrix<float> a(CUSPARSE_FORMAT_CSR, n, n, random_matrix<float>(n, n, 4, false, random));
  Vector<float> x(n, random), y(n, random);
  const Scalar<float> one(1, true);
  Buffer buffer(1 << 12);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  good(cusparseSetStream(h, stream), "stream");
  mode(h, true);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  for (const auto algorithm : {CUSPARSE_SPMV_CSR_ALG1, CUSPARSE_SPMV_CSR_ALG2})
    good(cusparseSpMV(h, kPlain, one.at(), a.descriptor, x.descriptor, one.at(), y.descriptor,
                      CUDA_R_32F, algorithm, buffer.at), "captured");
  cudaGraph_t graph;
  check(cudaStreamEndCapture(stream, &graph) == cudaSuccess, "capture");
  std::size_t nodes = 0;
  cudaGraphGetNodes(graph, nullptr, &nodes);
  check(nodes == 5, "one kernel, and four: not " + std::to_string(nodes));
  check(y.values.down() == y.values.host, "nothing is done while it is captured");
  cudaGraphExec_t exec;
  cudaGraphInstantiate(&exec, graph, 0);
  for (int i = 0; i < 3; ++i) cudaGraphLaunch(exec, stream);
  cudaStreamSynchronize(stream);
  std::vector<Number> want(n);
  for (const Entry& e : a.entries) want[e.row] += 6.0 * e.value * double(x.values.host[e.column]);
  const auto got = y.values.down();
  for (int i = 0; i < n; ++i)
    near(got[i], want[i] + double(y.values.host[i]), 40, 20, "captured");
  mode(h, false);
  good(cusparseSetStream(h, nullptr), "stream");
}

/// An analysis waits for the stream, so it is done before; solving is captured.
void captured_solve(cusparseHandle_t h) {
  Random random;
  const int n = 30;
  Entries entries;
  for (int i = 0; i < n; ++i) {
    if (i > 0) entries.push_back({i, i - 1, 0.5});
    entries.push_back({i, i, 2});
  }
  const Matrix<double> a(CUSPARSE_FORMAT_CSR, n, n, entries);
  Vector<double> b(n, random), x(n, random);
  const double one = 1;
  cusparseSpSVDescr_t d;
  std::size_t bytes = 0;
  good(cusparseSpSV_createDescr(&d), "descriptor");
  good(cusparseSpSV_bufferSize(h, kPlain, &one, a.descriptor, b.descriptor, x.descriptor, CUDA_R_64F,
                               CUSPARSE_SPSV_ALG_DEFAULT, d, &bytes), "size");
  Buffer buffer(bytes);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  good(cusparseSetStream(h, stream), "stream");
  cudaGraph_t graph;
  const auto analysis = [&] {
    return cusparseSpSV_analysis(h, kPlain, &one, a.descriptor, b.descriptor, x.descriptor,
                                 CUDA_R_64F, CUSPARSE_SPSV_ALG_DEFAULT, d, buffer.at);
  };
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  status(analysis(), CUSPARSE_STATUS_EXECUTION_FAILED, "analysis in a capture");
  cudaStreamEndCapture(stream, &graph);
  cudaGetLastError();
  status(cusparseSpSV_solve(h, kPlain, &one, a.descriptor, b.descriptor, x.descriptor, CUDA_R_64F,
                            CUSPARSE_SPSV_ALG_DEFAULT, d), CUSPARSE_STATUS_INVALID_VALUE,
         "an analysis that failed is none");
  good(analysis(), "analysis");
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  good(cusparseSpSV_solve(h, kPlain, &one, a.descriptor, b.descriptor, x.descriptor, CUDA_R_64F,
                          CUSPARSE_SPSV_ALG_DEFAULT, d), "captured");
  check(cudaStreamEndCapture(stream, &graph) == cudaSuccess, "capture");
  cudaGraphExec_t exec;
  cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphLaunch(exec, stream);
  cudaStreamSynchronize(stream);
  const auto got = x.values.down();
  double before = 0;
  for (int i = 0; i < n; ++i) {
    before = (b.values.host[i] - (i > 0 ? 0.5 * before : 0)) / 2;
    near(got[i], before, 1, 10, "captured solve");
  }
  good(cusparseSpSV_destroyDescr(d), "destroy");
  good(cusparseSetStream(h, nullptr), "stream");
}

/// The same in two streams, which events and the default stream do not join.
void streams(cusparseHandle_t h) {
  Random random;
  const int n = 80;
  const float one = 1, zero = 0;
  const Matrix<float> a(CUSPARSE_FORMAT_COO, n, n, random_matrix<float>(n, n, 4, false, random));
  Vector<float> x(n, random), y(n, random), z(n, random);
  Buffer buffers[] = {Buffer(4096), Buffer(4096)};
  for (int i = 0; i < 2; ++i) {
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    good(cusparseSetStream(h, stream), "stream");
    good(cusparseSpMV(h, kPlain, &one, a.descriptor, x.descriptor, &zero,
                      (i == 0 ? y : z).descriptor, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT,
                      buffers[i].at), "product");
  }
  cudaDeviceSynchronize();
  check(y.values.down() == z.values.down(), "the same in both streams");
  good(cusparseSetStream(h, nullptr), "stream");
}

/// What we do not have, though NVIDIA's does.
void more(cusparseHandle_t h) {
  csru2csrInfo_t info;
  status(cusparseCreateCsru2csrInfo(&info), CUSPARSE_STATUS_NOT_SUPPORTED, "unsorted matrices");
  Random random;
  const Matrix<__half> a(CUSPARSE_FORMAT_CSR, 3, 3, {{0, 1, 1}});
  Vector<__half> x(3, random);
  const float one = 1;
  status(cusparseSpMV(h, CUSPARSE_OPERATION_TRANSPOSE, &one, a.descriptor, x.descriptor, &one,
                      x.descriptor, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, nullptr),
         CUSPARSE_STATUS_NOT_SUPPORTED, "a transposed matrix into 16 bits");
}

int main(int argc, char**) {
  handles();
  legacy_descriptors();
  vector_descriptors();
  matrix_descriptors();
  cusparseHandle_t h;
  good(cusparseCreate(&h), "create");
  wrong_arguments(h);
  nothing_to_do(h);
  captured(h);
  captured_solve(h);
  streams(h);
  if (argc > 1) more(h);
  good(cusparseDestroy(h), "destroy");
  return finish();
}
