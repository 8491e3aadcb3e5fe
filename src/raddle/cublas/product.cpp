#include "raddle/cublas/product.h"

#include <algorithm>
#include <limits>

namespace raddle::cublas {

namespace {

bool is_complex(int type) { return (type >= 4 && type <= 7) || type == 11 || type == 13; }

bool is_float_compute(int compute) {
  return compute == kCompute32F || compute == kCompute32FPedantic ||
         compute == kCompute32FFast16F || compute == kCompute32FFast16BF ||
         compute == kCompute32FFastTf32;
}

/// A kernel, and the side of its tiles.
struct Choice {
  const char* module;
  std::string kernel;
  int tile, threads;
};

std::string sides(int tile) { return "_" + std::to_string(tile) + "x" + std::to_string(tile); }

Choice simt(const char* stem, int tile) { return {"gemm", stem + sides(tile), tile, kSimtThreads}; }
Choice tensor(const char* module, const char* stem, int tile, const Product& p) {
  const std::string letters =
      std::string(p.op_a == kPlain ? "n" : "t") + (p.op_b == kPlain ? "n" : "t");
  return {module, stem + sides(tile) + "_" + letters, tile, tensor_threads(tile)};
}

/// Large tiles read less, small ones fill the machine.
int tile_for(const Handle& h, const Product& p) {
  const auto tiles = [](std::int64_t n) { return (n - 1) / kLargeTile + 1; };
  return tiles(p.m) * tiles(p.n) * p.batch >= h.device.multiprocessors() ? kLargeTile : kSmallTile;
}

/// By generation: matrix instructions for half precision came with 7.0, for integers with 7.2, for
/// bfloat16 and TF32 with 8.0. Before 3.5 a thread has 63 registers, too few for large tiles.
Choice choose(const Handle& handle, const Product& product) {
  constexpr int kVolta = 70, kTuring = 75, kAmpere = 80, kManyRegisters = 35;
  const int capability = handle.device.compute_capability();
  const bool pedantic = handle.is_pedantic() || product.compute == kCompute16FPedantic ||
                        product.compute == kCompute32FPedantic ||
                        product.compute == kCompute32IPedantic;
  const int from = pedantic ? 0 : capability;
  const int tile = tile_for(handle, product);
  switch (product.type_ab) {
    case kF64:
      return simt("blas_dgemm", kSmallTile);
    case kF16:
      return from >= kVolta ? tensor("tensor_half", "blas_hgemm_tensor", tile, product)
                            : simt("blas_hgemm", kSmallTile);
    case kBF16:
      return from >= kAmpere ? tensor("tensor_ampere", "blas_bgemm_tensor", tile, product)
                             : simt("blas_bgemm", kSmallTile);
    case kS8:
      if (product.type_c == kS32)
        return from >= kTuring ? tensor("tensor_integer", "blas_igemm_tensor", kSmallTile, product)
                               : simt("blas_igemm", kSmallTile);
      return from >= kTuring
                 ? tensor("tensor_integer", "blas_igemm_tensor_float", kSmallTile, product)
                 : simt("blas_igemm_float", kSmallTile);
    default:
      break;
  }
  const bool fast = product.compute == kCompute32FFast16F ||
                    product.compute == kCompute32FFast16BF ||
                    product.compute == kCompute32FFastTf32 || handle.uses_tf32();
  if (fast && from >= kAmpere) return tensor("tensor_ampere", "blas_sgemm_tensor", tile, product);
  if (product.bias != nullptr || product.activation != kNoActivation)
    return simt("blas_sgemm_bias", kSmallTile);
  return simt("blas_sgemm", capability >= kManyRegisters ? tile : kSmallTile);
}

Operand operand_of(const ProductOperand& o, bool by_pointers) {
  return {.base = o.at,
          .stride = o.stride,
          .ld = static_cast<int>(o.ld),
          .is_array = by_pointers ? 1 : 0};
}

}  // namespace

DataType scale_type(int compute, int type_a, int type_b, int type_c, const std::string& what) {
  const auto is = [&](int ab, int c) { return type_a == ab && type_b == ab && type_c == c; };
  if ((compute == kCompute16F || compute == kCompute16FPedantic) && is(kF16, kF16)) return kF16;
  if ((compute == kCompute64F || compute == kCompute64FPedantic) && is(kF64, kF64)) return kF64;
  if ((compute == kCompute32I || compute == kCompute32IPedantic) && is(kS8, kS32)) return kS32;
  if (is_float_compute(compute) && (is(kF32, kF32) || is(kF16, kF16) || is(kF16, kF32) ||
                                    is(kBF16, kBF16) || is(kBF16, kF32) || is(kS8, kF32)))
    return kF32;
  constexpr int kFirstOf8Bits = 28;  // CUDA_R_8F_E4M3 and those after it
  if (is_complex(type_a) || is_complex(type_c) || type_a >= kFirstOf8Bits ||
      compute > kCompute32FFastTf32)
    lacks(what + " with types " + std::to_string(type_a) + ", " + std::to_string(type_b) + ", " +
          std::to_string(type_c) + " and compute type " + std::to_string(compute));
  throw Refusal{kNotSupported};
}

void check(const Product& p) {
  require(is_operation(p.op_a) && is_operation(p.op_b));
  require(p.m >= 0 && p.n >= 0 && p.k >= 0 && p.batch >= 0);
  const auto holds = [](std::int64_t ld, std::int64_t lines) {
    return ld >= std::max<std::int64_t>(lines, 1);
  };
  require(holds(p.a.ld, p.op_a == kPlain ? p.m : p.k));
  require(holds(p.b.ld, p.op_b == kPlain ? p.k : p.n));
  require(holds(p.c.ld, p.m) && holds(p.d.ld, p.m));
  constexpr std::int64_t kMax = std::numeric_limits<int>::max();
  if (std::max({p.m, p.n, p.k, p.a.ld, p.b.ld, p.c.ld, p.d.ld, p.batch}) > kMax)
    throw Refusal{lacks("a matrix product with a size of 2^31 or more")};
}

void multiply(Handle& handle, const Product& product, Stream stream) {
  if (product.m == 0 || product.n == 0 || product.batch == 0) return;
  require(product.d.at != nullptr);
  const Choice choice = choose(handle, product);
  Gemm gemm{.a = operand_of(product.a, product.by_pointers),
            .b = operand_of(product.b, product.by_pointers),
            .c = operand_of(product.c, product.by_pointers),
            .d = operand_of(product.d, product.by_pointers),
            .m = static_cast<int>(product.m),
            .n = static_cast<int>(product.n),
            .k = static_cast<int>(product.k),
            .first = 0,
            .transposed_a = product.op_a != kPlain,
            .transposed_b = product.op_b != kPlain,
            .out = static_cast<DataType>(product.type_c),
            .activation = product.activation,
            .alpha = product.alpha,
            .beta = product.beta,
            .bias = product.bias,
            .bias_type = product.bias_type};
  const auto tiles = [&](std::int64_t n) {
    return static_cast<unsigned>((n - 1) / choice.tile + 1);
  };
  constexpr std::int64_t kMaxLayers = 65535;  // of a grid
  for (std::int64_t first = 0; first < product.batch; first += kMaxLayers) {
    gemm.first = static_cast<int>(first);
    void* arguments[] = {&gemm};
    handle.device.launch(choice.module, choice.kernel,
                         {tiles(product.m) * tiles(product.n), 1,
                          static_cast<unsigned>(std::min(product.batch - first, kMaxLayers))},
                         static_cast<unsigned>(choice.threads), arguments, stream);
  }
}

}  // namespace raddle::cublas
