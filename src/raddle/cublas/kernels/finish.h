// What becomes of a sum of products: scaled, added to what C holds, with a bias, activated, stored.
#pragma once
#include "raddle/cublas/kernels/numbers.h"

namespace raddle::cublas {

/// Sums of single precision; C and D are of 16 or 32 bits.
struct FloatFinish {
  const char* c;
  char* d;
  const void* bias;
  long long ld_c, ld_d;
  float alpha, beta;
  DataType out, bias_type;
  Activation activation;

  __device__ __forceinline__ FloatFinish(const Gemm& g, int number)
      : c(matrix_of(g.c, g.out, number)),
        d(matrix_of(g.d, g.out, number)),
        bias(g.bias),
        ld_c(g.c.ld),
        ld_d(g.d.ld),
        alpha(value_of<float>(g.alpha)),
        beta(value_of<float>(g.beta)),
        out(g.out),
        bias_type(g.bias_type),
        activation(g.activation) {}

  __device__ __forceinline__ bool wants_products() const { return alpha != 0; }
  /// What C holds is not read where beta is 0.
  template <class Sum>
  __device__ __forceinline__ void put(int row, int column, Sum sum) const {
    float x = alpha * static_cast<float>(sum);
    if (beta != 0) x += beta * float_at(c, row + column * ld_c, out);
    if (bias != nullptr) x += float_at(bias, row, bias_type);
    put_float(d, row + column * ld_d, out, activated(x, activation));
  }
};

/// C and D are what sums are: no conversions, and nothing is added.
template <class T>
struct PlainFinish {
  const T* c;
  T* d;
  long long ld_c, ld_d;
  T alpha, beta;

  __device__ __forceinline__ PlainFinish(const Gemm& g, int number)
      : c(matrix<const T>(g.c, number)),
        d(matrix<T>(g.d, number)),
        ld_c(g.c.ld),
        ld_d(g.d.ld),
        alpha(value_of<T>(g.alpha)),
        beta(value_of<T>(g.beta)) {}

  __device__ __forceinline__ bool wants_products() const { return alpha != 0; }
  __device__ __forceinline__ void put(int row, int column, T sum) const {
    const T x = alpha * sum;
    d[row + column * ld_d] = beta != 0 ? x + beta * c[row + column * ld_c] : x;
  }
};

}  // namespace raddle::cublas
