// MT19937: a block for each subsequence renews its 624 words in three steps, each of words that do
// not need one another.
#include "raddle/curand/kernels/names.h"
#include "raddle/curand/kernels/twisters.h"

namespace raddle::curand {

static __device__ __forceinline__ void renew(unsigned* x) {
  constexpr int kApart = 397, kStep = kTwisterWords - kApart;
  const int i = static_cast<int>(threadIdx.x);
  for (int from = 0; from < kTwisterWords; from += kStep) {
    const int word = from + i;
    const bool mine = i < kStep && word < kTwisterWords;
    unsigned next = 0;
    if (mine)
      next = twisted(x[word], x[word + 1 < kTwisterWords ? word + 1 : 0],
                     x[word < kStep ? word + kApart : word - kStep]);
    __syncthreads();
    if (mine) x[word] = next;
    __syncthreads();
  }
}

template <Distribution kWhich>
static __device__ __forceinline__ void twister(const TwisterDraw& d) {
  using T = typename Number<kWhich>::Type;
  constexpr unsigned long long kRow = 8ULL * kTwisterCount;
  __shared__ unsigned x[kTwisterWords];
  const unsigned subsequence = (d.first + blockIdx.x) % kTwisterCount;
  unsigned* const state = d.state + subsequence * (kTwisterWords + 1LL);
  const int i = static_cast<int>(threadIdx.x);
  for (int w = i; w < kTwisterWords; w += kThreads) x[w] = state[w];
  unsigned renewed = state[kTwisterWords];
  __syncthreads();
  const unsigned long long end = d.start + d.units;
  const unsigned last = static_cast<unsigned>((end - 1) / kRow);
  for (unsigned row0 = static_cast<unsigned>(d.start / kRow) / kTwisterRows * kTwisterRows;
       row0 <= last; row0 += kTwisterRows) {
    for (; renewed <= row0 / kTwisterRows; ++renewed) renew(x);
    for (int w = i; w < kTwisterWords; w += kThreads) {
      const unsigned long long at = (row0 + w / 8) * kRow + subsequence * 8 + w % 8;
      if (at >= d.start && at < end)
        static_cast<T*>(d.to)[at - d.start] = number_of<TwisterWord, kWhich>(
            twister_tempered(x[twister_word(w / 8, w % 8)]), d.shape);
    }
    __syncthreads();
  }
  for (int w = i; w < kTwisterWords; w += kThreads) state[w] = x[w];
  if (i == 0) state[kTwisterWords] = renewed;
}

}  // namespace raddle::curand

using namespace raddle::curand;

#define KERNEL(name, which)                              \
  extern "C" __global__ void __launch_bounds__(kThreads) \
      curand_mt19937_##name(const TwisterDraw d) {       \
    twister<which>(d);                                   \
  }
RADDLE_CURAND_WORD_DISTRIBUTIONS(KERNEL)
