// Sobol' sequences: blocks of row y make dimension y. A thread's points are a power of two apart.
#include "raddle/curand/kernels/names.h"
#include "raddle/curand/kernels/quasirandom.h"

namespace raddle::curand {

template <class Source, Distribution kWhich>
static __device__ __forceinline__ void sobol(const SobolDraw<typename Source::Word>& d) {
  using Word = typename Source::Word;
  using T = decltype(number_of<Source, kWhich>(Word{}, d.shape));
  __shared__ Word vectors[kBitsOf<Word>];
  const unsigned i = threadIdx.x;
  if (i < kBitsOf<Word>) vectors[i] = d.vectors[blockIdx.y * kBitsOf<Word> + i];
  __syncthreads();
  T* const to = static_cast<T*>(d.to) + blockIdx.y * d.points;
  // Blocks of a row are a power of two, like the threads of one.
  const unsigned stride = gridDim.x * kThreads;
  const int log_stride = 31 - __builtin_clz(stride);
  long long point = static_cast<long long>(blockIdx.x) * kThreads + i;
  if (point >= d.points) return;
  Word x = sobol_point(vectors, d.start + point);
  for (; point < d.points; point += stride) {
    to[point] = number_of<Source, kWhich>(x, d.shape);
    x = sobol_step(x, vectors, d.start + point, log_stride);
  }
}

}  // namespace raddle::curand

using namespace raddle::curand;

#define KERNEL(name, which)                                          \
  extern "C" __global__ void __launch_bounds__(kThreads)             \
      curand_sobol32_##name(const SobolDraw<unsigned> d) {           \
    sobol<Sobol32Word, which>(d);                                    \
  }                                                                  \
  extern "C" __global__ void __launch_bounds__(kThreads)             \
      curand_sobol64_##name(const SobolDraw<unsigned long long> d) { \
    sobol<Sobol64Word, which>(d);                                    \
  }
RADDLE_CURAND_WORD_DISTRIBUTIONS(KERNEL)
