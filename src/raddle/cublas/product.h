// Matrix products, whatever name they were called by.
#pragma once
#include <string>

#include "raddle/cublas/handle.h"

namespace raddle::cublas {

/// cublasOperation_t; for real numbers the conjugate is the number.
enum Operation : int { kPlain = 0, kTransposed = 1, kConjugate = 2 };
constexpr bool is_operation(int op) { return op >= kPlain && op <= kConjugate; }

/// cublasComputeType_t, of what we have.
enum ComputeType : int {
  kCompute16F = 64,
  kCompute16FPedantic = 65,
  kCompute32F = 68,
  kCompute32FPedantic = 69,
  kCompute64F = 70,
  kCompute64FPedantic = 71,
  kCompute32I = 72,
  kCompute32IPedantic = 73,
  kCompute32FFast16F = 74,
  kCompute32FFast16BF = 75,
  kCompute32FFastTf32 = 77,
};

struct ProductOperand {
  const void* at = nullptr;  ///< or an array of pointers
  std::int64_t ld = 0, stride = 0;
};

struct Product {
  int op_a = kPlain, op_b = kPlain;
  std::int64_t m = 0, n = 0, k = 0;
  ProductOperand a = {}, b = {}, c = {}, d = {};
  int type_ab = kF32, type_c = kF32;  ///< cudaDataType_t
  int compute = kCompute32F;
  Scale alpha = {}, beta = {};
  std::int64_t batch = 1;
  bool by_pointers = false;  ///< the batch is arrays of pointers
  const void* bias = nullptr;
  DataType bias_type = kF32;
  Activation activation = kNoActivation;
};

/// The type of alpha and beta. Throws Refusal when we have no such product; `what` is for the user
/// where NVIDIA's library has it.
DataType scale_type(int compute, int type_a, int type_b, int type_c, const std::string& what);

/// Throws Refusal when sizes or pointers are wrong.
void check(const Product& product);

/// Launches it in the stream. `product` is checked, and there are kernels for its types.
void multiply(Handle& handle, const Product& product, Stream stream);

}  // namespace raddle::cublas
