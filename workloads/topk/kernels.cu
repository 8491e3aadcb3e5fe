// One token of each row's k most likely ones, drawn. See README.md.
#include "common/half_lite.h"

namespace topk_of {

constexpr unsigned kMaxK = 256, kDigits = 256, kDigitBits = 8, kWordBits = 32;

// Words in the order of the floats.
static __device__ __forceinline__ unsigned ordered(float value) {
  const unsigned bits = __float_as_uint(value);
  return bits ^ ((bits & 0x80000000u) != 0 ? 0xffffffffu : 0x80000000u);
}
static __device__ __forceinline__ float value_of(unsigned word) {
  return __uint_as_float(word ^ ((word & 0x80000000u) != 0 ? 0x80000000u : 0xffffffffu));
}

// What the block's threads share while they look for the k-th word from above.
struct Search {
  unsigned counts[kDigits];
  unsigned prefix;  // the digits found so far
  unsigned wanted;  // of the words with this prefix, from above
  unsigned taken;   // entries of `best` so far
  unsigned long long best[kMaxK];
  float weights[kMaxK];
  float warps[32];
};

static __device__ __forceinline__ void count_digits(Search& search, const float* row,
                                                    unsigned columns, unsigned shift) {
  for (unsigned i = threadIdx.x; i < kDigits; i += blockDim.x) search.counts[i] = 0;
  __syncthreads();
  const unsigned prefix = search.prefix;
  for (unsigned i = threadIdx.x; i < columns; i += blockDim.x) {
    const unsigned word = ordered(row[i]);
    const bool counts = shift + kDigitBits == kWordBits || word >> (shift + kDigitBits) == prefix;
    if (counts) atomicAdd(&search.counts[word >> shift & (kDigits - 1)], 1u);
  }
  __syncthreads();
}

// The first warp: eight digits a lane, the largest in lane 0.
static __device__ __forceinline__ void choose_digit(Search& search) {
  constexpr unsigned kOfLane = kDigits / 32;
  if (threadIdx.x < 32) {
    const unsigned top = kDigits - 1 - threadIdx.x * kOfLane, wanted = search.wanted;
    unsigned own = 0;
    for (unsigned i = 0; i < kOfLane; ++i) own += search.counts[top - i];
    unsigned above = own;
    for (unsigned lanes = 1; lanes < 32; lanes *= 2) {
      const unsigned other = __shfl_up_sync(~0u, above, lanes);
      if (threadIdx.x >= lanes) above += other;
    }
    above -= own;
    if (above < wanted && wanted <= above + own) {
      unsigned digit = top;
      while (above + search.counts[digit] < wanted) above += search.counts[digit--];
      search.prefix = search.prefix << kDigitBits | digit;
      search.wanted = wanted - above;
    }
  }
  __syncthreads();
}

static __device__ __forceinline__ void take(Search& search, unsigned slot, unsigned word,
                                            unsigned index) {
  search.best[slot] = static_cast<unsigned long long>(word) << kWordBits | ~index;
}

// Words above the k-th, and as many that equal it as are wanted, those of the lowest index. Their
// order is settled by sorting.
static __device__ __forceinline__ void collect(Search& search, const float* row, unsigned columns,
                                               unsigned k) {
  const unsigned last = search.prefix, wanted = search.wanted,
                 equal = search.counts[last % kDigits];
  for (unsigned i = threadIdx.x; i < columns; i += blockDim.x) {
    const unsigned word = ordered(row[i]);
    if (word > last || (word == last && equal == wanted))
      take(search, atomicAdd(&search.taken, 1u), word, i);
  }
  __syncthreads();
  if (equal == wanted) return;
  // More are equal than wanted: the first warp takes them in order.
  if (threadIdx.x >= 32) return;
  unsigned missing = wanted;
  for (unsigned from = 0; from < columns && missing > 0; from += 32) {
    const unsigned i = from + threadIdx.x;
    const unsigned is_equal = i < columns && ordered(row[i]) == last ? 1 : 0;
    unsigned before = is_equal;
    for (unsigned lanes = 1; lanes < 32; lanes *= 2) {
      const unsigned other = __shfl_up_sync(~0u, before, lanes);
      if (threadIdx.x >= lanes) before += other;
    }
    if (is_equal != 0 && before <= missing) take(search, k - missing + before - 1, last, i);
    const unsigned found = static_cast<unsigned>(warp_sum(static_cast<float>(is_equal)));
    missing -= found < missing ? found : missing;
  }
}

// Bitonic, the largest first; `size` is a power of two, entries from k on are 0.
static __device__ __forceinline__ void sort(unsigned long long* best, unsigned size) {
  for (unsigned run = 2; run <= size; run *= 2)
    for (unsigned distance = run / 2; distance > 0; distance /= 2) {
      __syncthreads();
      const unsigned i = threadIdx.x, other = i ^ distance;
      if (i < size && other > i) {
        const unsigned long long low = best[i], high = best[other];
        if ((low < high) == ((i & run) == 0)) {
          best[i] = high;
          best[other] = low;
        }
      }
    }
  __syncthreads();
}

// How many of the running sums of weights do not exceed `draw` of their total.
static __device__ __forceinline__ unsigned drawn(Search& search, unsigned k, float draw,
                                                 float inverse_temperature) {
  const unsigned i = threadIdx.x;
  const float largest = value_of(static_cast<unsigned>(search.best[0] >> kWordBits));
  float sum = 0.0f;
  if (i < k) {
    const float value = value_of(static_cast<unsigned>(search.best[i] >> kWordBits));
    sum = __expf((value - largest) * inverse_temperature);
  }
  for (unsigned distance = 1; distance < k; distance *= 2) {
    if (i < k) search.weights[i] = sum;
    __syncthreads();
    if (i < k && i >= distance) sum += search.weights[i - distance];
    __syncthreads();
  }
  if (i < k) search.weights[i] = sum;
  __syncthreads();
  const float target = draw * search.weights[k - 1];
  const float below = block_sum(i < k && sum <= target ? 1.0f : 0.0f, search.warps);
  const unsigned chosen = static_cast<unsigned>(below);
  return chosen < k ? chosen : k - 1;
}

}  // namespace topk_of

// Block of 256 threads or more: a row. `best`: the k largest numbers' columns, the largest first,
// of equal ones the lower column first. `draws`: uniform in [0, 1), one for each row.
extern "C" __global__ void topk_sample(const float* __restrict__ logits,
                                       const float* __restrict__ draws, unsigned* best,
                                       unsigned* tokens, unsigned columns, unsigned k,
                                       unsigned size, float inverse_temperature) {
  using namespace topk_of;
  __shared__ Search search;
  const float* const row = logits + static_cast<unsigned long long>(blockIdx.x) * columns;
  if (threadIdx.x < kMaxK) search.best[threadIdx.x] = 0;
  if (threadIdx.x == 0) {
    search.prefix = 0;
    search.wanted = k;
    search.taken = 0;
  }
  __syncthreads();
  for (unsigned shift = kWordBits; shift > 0;) {
    shift -= kDigitBits;
    count_digits(search, row, columns, shift);
    choose_digit(search);
  }
  collect(search, row, columns, k);
  sort(search.best, size);
  const unsigned chosen = drawn(search, k, draws[blockIdx.x], inverse_temperature);
  if (threadIdx.x < k)
    best[blockIdx.x * k + threadIdx.x] = ~static_cast<unsigned>(search.best[threadIdx.x]);
  if (threadIdx.x == 0) tokens[blockIdx.x] = ~static_cast<unsigned>(search.best[chosen]);
}
