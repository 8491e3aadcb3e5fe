// cublasLtMatmul: D = activation(alpha op(A) op(B) + beta C + bias), as descriptors say it.
#include <algorithm>

#include "raddle/cublas/lt.h"

using namespace raddle::cublas;

extern "C" {
int raddle_cublasCreate_v2(Handle** to);
int raddle_cublasDestroy_v2(Handle* handle);
int raddle_cublasGetVersion_v2(Handle* handle, int* to);
int raddle_cublasGetProperty(int which, int* to);
std::size_t raddle_cublasGetCudartVersion();
}

namespace {

/// cublasLtMatmulAlgo_t and cublasLtMatmulHeuristicResult_t.
struct Algorithm {
  std::uint64_t data[8];
};
struct HeuristicResult {
  Algorithm algorithm;
  std::size_t workspace_bytes;
  int state;
  float waves;
  int reserved[4];
};

[[noreturn]] void refuse(const std::string& what) {
  throw Refusal{lacks("cublasLtMatmul with " + what)};
}

struct Matrices {
  const Layout *a, *b, *c, *d;
};

/// A matrix by rows is its transpose by columns.
int operation(int op, const Layout& layout) {
  require(is_operation(op) && (layout.order == kByColumns || layout.order == kByRows));
  const bool transposed = (op != kPlain) != (layout.order == kByRows);
  return transposed ? kTransposed : kPlain;
}
ProductOperand operand(const void* at, const Layout& layout) {
  return {.at = at, .ld = layout.ld, .stride = layout.batch > 1 ? layout.stride : 0};
}

void add_epilogue(const MatmulDescription& how, const Layout& d, Product& p) {
  const int kind = how.epilogue & ~kEpilogueDefault;
  if ((kind & ~(kEpilogueRelu | kEpilogueBias | kEpilogueGelu)) != 0 ||
      (kind & (kEpilogueRelu | kEpilogueGelu)) == (kEpilogueRelu | kEpilogueGelu))
    refuse("epilogue " + std::to_string(how.epilogue));
  if (kind == 0) return;
  if (d.type == kF64 || d.type == kS32) refuse("an epilogue for type " + std::to_string(d.type));
  p.activation = (kind & kEpilogueRelu) != 0   ? kRelu
                 : (kind & kEpilogueGelu) != 0 ? kGelu
                                               : kNoActivation;
  if ((kind & kEpilogueBias) == 0) return;
  require(how.bias != nullptr);
  const int type = how.bias_type < 0 ? d.type : how.bias_type;
  if (type != kF32 && type != kF16 && type != kBF16)
    refuse("a bias of type " + std::to_string(type));
  if (how.bias_stride != 0 && d.batch > 1) refuse("a bias for each of a batch");
  p.bias = how.bias;
  p.bias_type = static_cast<DataType>(type);
}

/// All but pointers and scales. Throws Refusal when sizes do not fit, or we have no such product.
Product product_of(const MatmulDescription& how, const Matrices& of) {
  const Layout &left = *of.a, &right = *of.b, &kept = *of.c, &out = *of.d;
  if (kept.order != kByColumns || out.order != kByColumns) refuse("C or D not by columns");
  if (how.op_c != kPlain) refuse("C transposed");
  if (kept.type != out.type) refuse("C and D of different types");
  const auto rows = [](const Layout& layout, int op) {
    return static_cast<std::int64_t>(op == kPlain ? layout.rows : layout.columns);
  };
  const auto other = [](int op) { return op == kPlain ? kTransposed : kPlain; };
  Product product;
  product.m = rows(out, kPlain);
  product.n = rows(out, kTransposed);
  product.k = rows(left, other(how.op_a));
  require(rows(left, how.op_a) == product.m && rows(right, how.op_b) == product.k &&
          rows(right, other(how.op_b)) == product.n && kept.rows == out.rows &&
          kept.columns == out.columns);
  require(left.batch == out.batch && right.batch == out.batch && kept.batch == out.batch &&
          out.batch >= 1);
  product.batch = out.batch;
  product.op_a = operation(how.op_a, left);
  product.op_b = operation(how.op_b, right);
  product.a = operand(nullptr, left);
  product.b = operand(nullptr, right);
  product.c = operand(nullptr, kept);
  product.d = operand(nullptr, out);
  product.type_ab = left.type;
  product.type_c = kept.type;
  product.compute = how.compute;
  check(product);
  const DataType scale =
      scale_type(how.compute, left.type, right.type, kept.type, "cublasLtMatmul");
  require(scale == how.scale_type, kNotSupported);
  add_epilogue(how, out, product);
  return product;
}

}  // namespace

extern "C" {

int raddle_cublasLtCreate(Handle** to) { return raddle_cublasCreate_v2(to); }
int raddle_cublasLtDestroy(Handle* handle) { return raddle_cublasDestroy_v2(handle); }
std::size_t raddle_cublasLtGetVersion() {
  int version = 0;
  raddle_cublasGetVersion_v2(nullptr, &version);
  return static_cast<std::size_t>(version);
}
std::size_t raddle_cublasLtGetCudartVersion() { return raddle_cublasGetCudartVersion(); }
int raddle_cublasLtGetProperty(int which, int* to) { return raddle_cublasGetProperty(which, to); }

/// The algorithm is ours, whatever the program has chosen, and needs no workspace.
int raddle_cublasLtMatmul(Handle* handle, const MatmulDescription* how, const void* alpha,
                          const void* a, const Layout* layout_a, const void* b,
                          const Layout* layout_b, const void* beta, const void* c,
                          const Layout* layout_c, void* d, const Layout* layout_d, const Algorithm*,
                          void*, std::size_t, Stream stream) {
  return call(handle, [&](Handle& h) {
    const Matrices of{layout_a, layout_b, layout_c, layout_d};
    require(how != nullptr && of.a != nullptr && of.b != nullptr && of.c != nullptr &&
            of.d != nullptr);
    Product p = product_of(*how, of);
    if (how->pointer_mode != kHostPointers && how->pointer_mode != kDevicePointers)
      refuse("pointer mode " + std::to_string(how->pointer_mode));
    const auto mode = static_cast<PointerMode>(how->pointer_mode);
    const auto type = static_cast<DataType>(how->scale_type);
    p.alpha = scale_of(mode, alpha, type);
    p.beta = scale_of(mode, beta, type);
    require(c != nullptr || (p.beta.at == nullptr && p.beta.value == 0));
    p.a.at = a;
    p.b.at = b;
    p.c.at = c;
    p.d.at = d;
    multiply(h, p, stream);
  });
}

int raddle_cublasLtMatmulAlgoGetHeuristic(Handle* handle, const MatmulDescription* how,
                                          const Layout* a, const Layout* b, const Layout* c,
                                          const Layout* d, const void* preference, int wanted,
                                          HeuristicResult* results, int* count) {
  return call(handle, [&](Handle&) {
    require(how != nullptr && a != nullptr && b != nullptr && c != nullptr && d != nullptr &&
            preference != nullptr && results != nullptr && count != nullptr && wanted > 0);
    *count = 0;
    product_of(*how, {a, b, c, d});
    *count = 1;
    results[0] = {
        .algorithm = {{1}}, .workspace_bytes = 0, .state = kSuccess, .waves = 1, .reserved = {}};
  });
}
int raddle_cublasLtMatmulAlgoCheck(Handle* handle, const MatmulDescription* how, const Layout* a,
                                   const Layout* b, const Layout* c, const Layout* d,
                                   const Algorithm* algorithm, HeuristicResult* result) {
  if (algorithm == nullptr || result == nullptr) return kInvalidValue;
  int count = 0;
  return raddle_cublasLtMatmulAlgoGetHeuristic(handle, how, a, b, c, d, algorithm, 1, result,
                                               &count);
}

/// There is nothing to log.
int raddle_cublasLtLoggerSetLevel(int) { return kSuccess; }
int raddle_cublasLtLoggerSetMask(int) { return kSuccess; }
int raddle_cublasLtLoggerForceDisable() { return kSuccess; }

}  // extern "C"
