// MTGP32: a block for each parameter set makes 256 words at a time in shared memory.
#include "raddle/curand/kernels/names.h"
#include "raddle/curand/kernels/twisters.h"

namespace raddle::curand {

static __device__ __forceinline__ void load_set(MtgpSet& set, const unsigned* parameters) {
  const unsigned i = threadIdx.x;
  if (i < 16) {
    set.table[i] = spanned(parameters + 3, i);
    set.tempering[i] = spanned(parameters + 7, i);
  }
  if (i == 0) {
    set.pos = parameters[0];
    set.sh1 = parameters[1];
    set.sh2 = parameters[2];
  }
}

/// The last 351 words to the front.
static __device__ __forceinline__ void move_on(unsigned* words, int i) {
  constexpr int kRest = kMtgpWords - kMtgpChunk;
  __syncthreads();
  const unsigned low = words[kMtgpChunk + i];
  const unsigned high = i < kRest ? words[2 * kMtgpChunk + i] : 0;
  __syncthreads();
  words[i] = low;
  if (i < kRest) words[kMtgpChunk + i] = high;
  __syncthreads();
}

template <Distribution kWhich>
static __device__ __forceinline__ void mtgp(const MtgpDraw& draw) {
  __shared__ unsigned words[kMtgpWords + kMtgpChunk];
  __shared__ unsigned set_words[sizeof(MtgpSet) / sizeof(unsigned)];
  MtgpSet& set = reinterpret_cast<MtgpSet&>(set_words);
  const unsigned long long end = draw.start + draw.units, chunk0 = draw.start / kMtgpChunk;
  // The first chunk of the call that is this set's.
  unsigned long long chunk =
      chunk0 + (blockIdx.x + draw.count - static_cast<unsigned>(chunk0 % draw.count)) % draw.count;
  if (chunk * kMtgpChunk >= end) return;
  const int i = static_cast<int>(threadIdx.x);
  load_set(set, draw.parameters + blockIdx.x * kMtgpParameters);
  unsigned* const state = draw.state + blockIdx.x * kMtgpWords;
  for (int word = i; word < kMtgpWords; word += kMtgpChunk) words[word] = state[word];
  __syncthreads();
  for (; chunk * kMtgpChunk < end; chunk += draw.count) {
    const unsigned next = words[kMtgpWords + i] = mtgp_word(words, i, set);
    const unsigned long long at = chunk * kMtgpChunk + i;
    if (at >= draw.start && at < end)
      static_cast<typename Number<kWhich>::Type*>(draw.to)[at - draw.start] =
          number_of<MtgpWord, kWhich>(mtgp_tempered(words, i, next, set), draw.shape);
    // The next call starts with a chunk that is not finished.
    if ((chunk + 1) * kMtgpChunk > end) break;
    move_on(words, i);
  }
  for (int word = i; word < kMtgpWords; word += kMtgpChunk) state[word] = words[word];
}

}  // namespace raddle::curand

using namespace raddle::curand;

extern "C" __global__ void curand_mtgp32_seed(const MtgpDraw d) {
  const unsigned set = blockIdx.x * blockDim.x + threadIdx.x;
  if (set >= d.count) return;
  const unsigned* const parameters = d.parameters + set * kMtgpParameters;
  mtgp_seed(d.state + set * kMtgpWords, parameters[5], parameters[6], d.seed + set + 1);
}

#define KERNEL(name, which)                                \
  extern "C" __global__ void __launch_bounds__(kMtgpChunk) \
      curand_mtgp32_##name(const MtgpDraw d) {             \
    mtgp<which>(d);                                        \
  }
RADDLE_CURAND_WORD_DISTRIBUTIONS(KERNEL)
