// Vectors, and matrices with vectors. Sums are those of threads, then of blocks, then of the grid's
// partial results in a kernel of one block: always in the same order.
#include "raddle/cublas/kernels/numbers.h"

namespace raddle::cublas {

static __device__ __forceinline__ long long thread_number() {
  return static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
}
static __device__ __forceinline__ long long thread_count() {
  return static_cast<long long>(gridDim.x) * blockDim.x;
}
template <class T>
static __device__ __forceinline__ T& element(const Vector& v, long long i) {
  return static_cast<T*>(v.at)[i * v.step];
}
template <class T>
static __device__ __forceinline__ T magnitude(T x) {
  return x < 0 ? -x : x;
}

template <class T>
static __device__ __forceinline__ void axpy(long long n, const Scale& scale, const Vector& x,
                                            const Vector& y) {
  const T alpha = value_of<T>(scale);
  for (long long i = thread_number(); i < n; i += thread_count())
    element<T>(y, i) += alpha * element<T>(x, i);
}
template <class T>
static __device__ __forceinline__ void scal(long long n, const Scale& scale, const Vector& x) {
  const T alpha = value_of<T>(scale);
  for (long long i = thread_number(); i < n; i += thread_count()) element<T>(x, i) *= alpha;
}
template <class T>
static __device__ __forceinline__ void copy(long long n, const Vector& x, const Vector& y) {
  for (long long i = thread_number(); i < n; i += thread_count())
    element<T>(y, i) = element<T>(x, i);
}
template <class T>
static __device__ __forceinline__ void swap(long long n, const Vector& x, const Vector& y) {
  for (long long i = thread_number(); i < n; i += thread_count()) {
    const T held = element<T>(x, i);
    element<T>(x, i) = element<T>(y, i);
    element<T>(y, i) = held;
  }
}
template <class T>
static __device__ __forceinline__ void rot(long long n, const Vector& x, const Vector& y,
                                           const Scale& cosine, const Scale& sine) {
  const T c = value_of<T>(cosine), s = value_of<T>(sine);
  for (long long i = thread_number(); i < n; i += thread_count()) {
    const T a = element<T>(x, i), b = element<T>(y, i);
    element<T>(x, i) = c * a + s * b;
    element<T>(y, i) = c * b - s * a;
  }
}

// --- reductions: a state that takes elements and other states, and ends as a number -------------

template <class T>
struct Dot {
  T sum = 0;
  __device__ __forceinline__ void take(const Vector& x, const Vector& y, long long i) {
    sum += element<T>(x, i) * element<T>(y, i);
  }
  __device__ __forceinline__ void take(const Dot& other) { sum += other.sum; }
  __device__ __forceinline__ T end() const { return sum; }
};
template <class T>
struct Asum {
  T sum = 0;
  __device__ __forceinline__ void take(const Vector& x, const Vector&, long long i) {
    sum += magnitude(element<T>(x, i));
  }
  __device__ __forceinline__ void take(const Asum& other) { sum += other.sum; }
  __device__ __forceinline__ T end() const { return sum; }
};
/// Squares of what is large, small and between apart, the first two scaled, so that none overflows
/// or is lost (Blue, A portable Fortran program to find the Euclidean norm of a vector, 1978).
template <class T>
struct Norm {
  static constexpr bool kDouble = sizeof(T) == 8;
  static constexpr T kLarge = static_cast<T>(kDouble ? 0x1p486 : 0x1p52);
  static constexpr T kSmall = static_cast<T>(kDouble ? 0x1p-511 : 0x1p-63);
  static constexpr T kDown = static_cast<T>(kDouble ? 0x1p-538 : 0x1p-76);
  static constexpr T kUp = static_cast<T>(kDouble ? 0x1p537 : 0x1p75);
  T large = 0, between = 0, small = 0;
  __device__ __forceinline__ void take(const Vector& x, const Vector&, long long i) {
    const T value = magnitude(element<T>(x, i));
    if (value > kLarge) large += value * kDown * (value * kDown);
    else if (value < kSmall) small += value * kUp * (value * kUp);
    else between += value * value;
  }
  __device__ __forceinline__ void take(const Norm& other) {
    large += other.large;
    between += other.between;
    small += other.small;
  }
  static __device__ __forceinline__ T root(T x) {
    if constexpr (kDouble) return sqrt(x);
    else return sqrtf(x);
  }
  __device__ __forceinline__ T end() const {
    if (large > 0) return root(large + between * kDown * kDown) / kDown;
    if (between == between && between > 0) return root(between + small / kUp / kUp);
    return between != between ? between : root(small) / kUp;
  }
};
/// The first of the largest, or smallest.
template <class T, bool kLargest>
struct Extreme {
  T value = 0;
  long long place = -1;
  __device__ __forceinline__ void take(T other, long long i) {
    const bool better = kLargest ? other > value : other < value;
    if (i >= 0 && (place < 0 || better || (other == value && i < place))) value = other, place = i;
  }
  __device__ __forceinline__ void take(const Vector& x, const Vector&, long long i) {
    take(magnitude(element<T>(x, i)), i);
  }
  __device__ __forceinline__ void take(const Extreme& other) { take(other.value, other.place); }
  __device__ __forceinline__ long long end() const { return place + 1; }
};
static_assert(sizeof(Norm<double>) <= kPartialBytes &&
              sizeof(Extreme<double, true>) <= kPartialBytes);

/// The block's, in thread 0.
template <class State>
static __device__ __forceinline__ void reduce(State& state) {
  // States begin as something: they cannot lie in shared memory by their own type.
  __shared__ __align__(16) char room[kReductionThreads * sizeof(State)];
  State* const all = reinterpret_cast<State*>(room);
  const int thread = static_cast<int>(threadIdx.x);
  all[thread] = state;
  for (int half = kReductionThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (thread < half) {
      state.take(all[thread + half]);
      all[thread] = state;
    }
  }
}
template <class State>
static __device__ __forceinline__ void reduce_grid(long long n, const Vector& x, const Vector& y,
                                                   void* partial) {
  State state;
  for (long long i = thread_number(); i < n; i += thread_count()) state.take(x, y, i);
  reduce(state);
  if (threadIdx.x == 0) static_cast<State*>(partial)[blockIdx.x] = state;
}
template <class State, class Result>
static __device__ __forceinline__ void reduce_partial(int count, const void* partial, void* to) {
  State state;
  for (int i = static_cast<int>(threadIdx.x); i < count; i += kReductionThreads)
    state.take(static_cast<const State*>(partial)[i]);
  reduce(state);
  if (threadIdx.x == 0) *static_cast<Result*>(to) = static_cast<Result>(state.end());
}

// --- matrices by columns, with vectors ----------------------------------------------------------

/// Some columns of each row are a slice, and a thread's.
template <class T>
static __device__ __forceinline__ void gemv_n(long long m, long long n, const Scale& scale,
                                              const T* a, long long ld, const Vector& x,
                                              const Scale& keep, const Vector& y) {
  __shared__ T sums[kGemvSlices][kGemvRows];
  const int row = static_cast<int>(threadIdx.x) % kGemvRows;
  const int slice = static_cast<int>(threadIdx.x) / kGemvRows;
  const long long i = static_cast<long long>(blockIdx.x) * kGemvRows + row;
  const T alpha = value_of<T>(scale), beta = value_of<T>(keep);
  T sum = 0;
  if (i < m && alpha != 0)
    for (long long j = slice; j < n; j += kGemvSlices) sum += a[i + j * ld] * element<T>(x, j);
  sums[slice][row] = sum;
  __syncthreads();
  if (slice != 0 || i >= m) return;
  for (int other = 1; other < kGemvSlices; ++other) sum += sums[other][row];
  T& to = element<T>(y, i);
  to = alpha * sum + (beta != 0 ? beta * to : T(0));
}
/// A block for each column.
template <class T>
static __device__ __forceinline__ void gemv_t(long long m, const Scale& scale, const T* a,
                                              long long ld, const Vector& x, const Scale& keep,
                                              const Vector& y) {
  __shared__ T sums[kGemvThreads];
  const int thread = static_cast<int>(threadIdx.x);
  const long long j = blockIdx.x;
  const T alpha = value_of<T>(scale), beta = value_of<T>(keep);
  T sum = 0;
  if (alpha != 0)
    for (long long i = thread; i < m; i += kGemvThreads) sum += a[i + j * ld] * element<T>(x, i);
  sums[thread] = sum;
  for (int half = kGemvThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (thread < half) sums[thread] = sum += sums[thread + half];
  }
  if (thread != 0) return;
  T& to = element<T>(y, j);
  to = alpha * sum + (beta != 0 ? beta * to : T(0));
}
/// Threads of a block are neighbours in a column.
template <class T>
static __device__ __forceinline__ void ger(long long m, const Scale& scale, const Vector& x,
                                           const Vector& y, T* a, long long ld) {
  const T alpha = value_of<T>(scale);
  const long long i = thread_number(), j = blockIdx.y;
  if (i < m) a[i + j * ld] += alpha * element<T>(x, i) * element<T>(y, j);
}

}  // namespace raddle::cublas

using namespace raddle::cublas;

#define REDUCTION(letter, T, word, State, Result)                                       \
  extern "C" __global__ void __launch_bounds__(kReductionThreads)                       \
      blas_##letter##word(long long n, const Vector x, const Vector y, void* partial) { \
    reduce_grid<State>(n, x, y, partial);                                               \
  }                                                                                     \
  extern "C" __global__ void __launch_bounds__(kReductionThreads)                       \
      blas_##letter##word##_end(int count, const void* partial, void* to) {             \
    reduce_partial<State, Result>(count, partial, to);                                  \
  }
#define BOTH_EXTREMES(letter, T, word, largest)                                \
  using letter##word = Extreme<T, largest>;                                    \
  REDUCTION(letter, T, word, letter##word, int)                                \
  extern "C" __global__ void __launch_bounds__(kReductionThreads)              \
      blas_##letter##word##_end_64(int count, const void* partial, void* to) { \
    reduce_partial<letter##word, long long>(count, partial, to);               \
  }
#define VECTORS(letter, T)                                                                         \
  extern "C" __global__ void blas_##letter##axpy(long long n, const Scale alpha, const Vector x,   \
                                                 const Vector y) {                                 \
    axpy<T>(n, alpha, x, y);                                                                       \
  }                                                                                                \
  extern "C" __global__ void blas_##letter##scal(long long n, const Scale alpha, const Vector x) { \
    scal<T>(n, alpha, x);                                                                          \
  }                                                                                                \
  extern "C" __global__ void blas_##letter##copy(long long n, const Vector x, const Vector y) {    \
    copy<T>(n, x, y);                                                                              \
  }                                                                                                \
  extern "C" __global__ void blas_##letter##swap(long long n, const Vector x, const Vector y) {    \
    swap<T>(n, x, y);                                                                              \
  }                                                                                                \
  extern "C" __global__ void blas_##letter##rot(long long n, const Vector x, const Vector y,       \
                                                const Scale c, const Scale s) {                    \
    rot<T>(n, x, y, c, s);                                                                         \
  }                                                                                                \
  REDUCTION(letter, T, dot, Dot<T>, T)                                                             \
  REDUCTION(letter, T, asum, Asum<T>, T)                                                           \
  REDUCTION(letter, T, nrm2, Norm<T>, T)                                                           \
  BOTH_EXTREMES(letter, T, amax, true)                                                             \
  BOTH_EXTREMES(letter, T, amin, false)                                                            \
  extern "C" __global__ void __launch_bounds__(kGemvRows* kGemvSlices)                             \
      blas_##letter##gemv_n(long long m, long long n, const Scale alpha, const T* a, long long ld, \
                            const Vector x, const Scale beta, const Vector y) {                    \
    gemv_n<T>(m, n, alpha, a, ld, x, beta, y);                                                     \
  }                                                                                                \
  extern "C" __global__ void __launch_bounds__(kGemvThreads)                                       \
      blas_##letter##gemv_t(long long m, const Scale alpha, const T* a, long long ld,              \
                            const Vector x, const Scale beta, const Vector y) {                    \
    gemv_t<T>(m, alpha, a, ld, x, beta, y);                                                        \
  }                                                                                                \
  extern "C" __global__ void blas_##letter##ger(long long m, const Scale alpha, const Vector x,    \
                                                const Vector y, T* a, long long ld) {              \
    ger<T>(m, alpha, x, y, a, ld);                                                                 \
  }
VECTORS(s, float)
VECTORS(d, double)
