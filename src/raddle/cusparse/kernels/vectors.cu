// Sparse vectors with dense ones. The sum of products is that of threads, of blocks, then of the
// blocks' results in a kernel of one block: always in the same order.
#include "raddle/cusparse/kernels/numbers.h"

namespace raddle::cusparse {

template <class T>
DEVICE T& dense_of(const SparseVector& x, void* y, long long i) {
  return at<T>(y, index_at(x.indices, i) - x.base);
}

/// y += alpha x; y was scaled before.
template <class T>
DEVICE void axpy(const SparseVector& x, void* y, const Scale& scale) {
  const T alpha = value_of<T>(scale);
  for (long long i = thread_number(); i < x.entries; i += thread_count())
    dense_of<T>(x, y, i) += alpha * at<T>(x.values, i);
}
template <class T>
DEVICE void scale_dense(void* y, long long n, const Scale& scale) {
  const T beta = value_of<T>(scale);
  for (long long i = thread_number(); i < n; i += thread_count())
    at<T>(y, i) = scaled(beta, at<T>(y, i));
}
template <class T>
DEVICE void gather(const SparseVector& x, void* y) {
  for (long long i = thread_number(); i < x.entries; i += thread_count())
    at<T>(x.values, i) = dense_of<T>(x, y, i);
}
template <class T>
DEVICE void scatter(const SparseVector& x, void* y) {
  for (long long i = thread_number(); i < x.entries; i += thread_count())
    dense_of<T>(x, y, i) = at<T>(x.values, i);
}
template <class T>
DEVICE void rotate(const SparseVector& x, void* y, const Scale& cosine, const Scale& sine) {
  const T c = value_of<T>(cosine), s = value_of<T>(sine);
  for (long long i = thread_number(); i < x.entries; i += thread_count()) {
    T& to_x = at<T>(x.values, i);
    T& to_y = dense_of<T>(x, y, i);
    const T a = to_x, b = to_y;
    to_x = c * a + s * b;
    to_y = c * b - s * a;
  }
}

/// The block's sum, in thread 0.
template <class T>
DEVICE T sum_of_block(T x) {
  __shared__ __align__(16) char bytes[kThreads / 32 * sizeof(T)];
  T* const sums = reinterpret_cast<T*>(bytes);
  const int warp = static_cast<int>(threadIdx.x) / 32;
  x = sum_of_lanes(x, 32);
  if (lane_number() == 0) sums[warp] = x;
  __syncthreads();
  if (threadIdx.x == 0)
    for (int other = 1; other < kThreads / 32; ++other) x += sums[other];
  return x;
}
template <class T>
DEVICE void dot(const SparseVector& x, void* y, int conjugate, void* partial) {
  T sum{};
  for (long long i = thread_number(); i < x.entries; i += thread_count())
    sum += conjugated(at<T>(x.values, i), conjugate != 0) * dense_of<T>(x, y, i);
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) at<T>(partial, blockIdx.x) = sum;
}
template <class T>
DEVICE void dot_end(int count, const void* partial, void* to) {
  T sum{};
  for (int i = static_cast<int>(threadIdx.x); i < count; i += kThreads) sum += at<T>(partial, i);
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) at<T>(to, 0) = sum;
}

}  // namespace raddle::cusparse

using namespace raddle::cusparse;

#define MOVES(letter, T)                                                               \
  extern "C" __global__ void sparse_##letter##gather(const SparseVector x, void* y) {  \
    gather<T>(x, y);                                                                   \
  }                                                                                    \
  extern "C" __global__ void sparse_##letter##scatter(const SparseVector x, void* y) { \
    scatter<T>(x, y);                                                                  \
  }
#define VECTORS(letter, T)                                                                      \
  MOVES(letter, T)                                                                              \
  extern "C" __global__ void sparse_##letter##axpy(const SparseVector x, void* y,               \
                                                   const Scale alpha) {                         \
    axpy<T>(x, y, alpha);                                                                       \
  }                                                                                             \
  extern "C" __global__ void sparse_##letter##scal(void* y, long long n, const Scale beta) {    \
    scale_dense<T>(y, n, beta);                                                                 \
  }                                                                                             \
  extern "C" __global__ void sparse_##letter##rot(const SparseVector x, void* y, const Scale c, \
                                                  const Scale s) {                              \
    rotate<T>(x, y, c, s);                                                                      \
  }                                                                                             \
  extern "C" __global__ void __launch_bounds__(kThreads)                                        \
      sparse_##letter##dot(const SparseVector x, void* y, int conjugate, void* partial) {       \
    dot<T>(x, y, conjugate, partial);                                                           \
  }                                                                                             \
  extern "C" __global__ void __launch_bounds__(kThreads)                                        \
      sparse_##letter##dot_end(int count, const void* partial, void* to) {                      \
    dot_end<T>(count, partial, to);                                                             \
  }
VECTORS(s, float)
VECTORS(d, double)
VECTORS(c, ComplexFloat)
VECTORS(z, ComplexDouble)
MOVES(h, Half)
