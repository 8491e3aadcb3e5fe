// Exclusive prefix sums of blocks of 1024 words, two ways, and the uniform add. See README.md.
#include "common/cuda_lite.h"

constexpr unsigned kBlock = 1024;  // elements per thread block
constexpr unsigned kWarp = 32;
constexpr unsigned kShuffleThreads = kBlock / 4;
constexpr unsigned kTreeThreads = kBlock / 2;

// Inclusive prefix sum over the lanes of a warp.
static __device__ __forceinline__ unsigned warp_scan(unsigned value) {
  unsigned lane = threadIdx.x % kWarp;
#pragma unroll
  for (unsigned delta = 1; delta < kWarp; delta *= 2) {
    unsigned below = __shfl_up_sync(0xffffffffu, value, delta);
    if (lane >= delta) value += below;
  }
  return value;
}

// Words first..first + 3 as one vector access where all exist; those at and beyond n count as 0.
static __device__ __forceinline__ uint4 load_four(const unsigned* in, unsigned first, unsigned n) {
  if (first + 4 <= n) return *reinterpret_cast<const uint4*>(in + first);
  uint4 word;
  word.x = first < n ? in[first] : 0;
  word.y = first + 1 < n ? in[first + 1] : 0;
  word.z = first + 2 < n ? in[first + 2] : 0;
  word.w = 0;
  return word;
}

static __device__ __forceinline__ void store_four(unsigned* out, unsigned first, unsigned n,
                                                  uint4 word) {
  if (first + 4 <= n) {
    *reinterpret_cast<uint4*>(out + first) = word;
    return;
  }
  if (first < n) out[first] = word.x;
  if (first + 1 < n) out[first + 1] = word.y;
  if (first + 2 < n) out[first + 2] = word.z;
}

// Four elements per thread in registers, warp totals through shared memory. totals[block] gets
// the block's sum. `in` and `out` are aligned to 16 bytes.
extern "C" __global__ void __launch_bounds__(kShuffleThreads)
    scan_shuffle(const unsigned* in, unsigned* out, unsigned* totals, unsigned n) {
  __shared__ unsigned warp_totals[kWarp];
  unsigned first = blockIdx.x * kBlock + threadIdx.x * 4;
  uint4 word = load_four(in, first, n);
  unsigned sum = word.x + word.y + word.z + word.w;
  unsigned inclusive = warp_scan(sum);
  unsigned warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
  if (lane == kWarp - 1) warp_totals[warp] = inclusive;
  __syncthreads();
  if (warp == 0) {
    unsigned mine = lane < kShuffleThreads / kWarp ? warp_totals[lane] : 0;
    unsigned scanned = warp_scan(mine);
    warp_totals[lane] = scanned - mine;
    if (lane == kWarp - 1) totals[blockIdx.x] = scanned;
  }
  __syncthreads();
  unsigned before = warp_totals[warp] + inclusive - sum;
  uint4 result;
  result.x = before;
  result.y = result.x + word.x;
  result.z = result.y + word.y;
  result.w = result.z + word.z;
  store_four(out, first, n, result);
}

// One spare word per 32 keeps the strides of the tree out of one bank.
static __device__ __forceinline__ unsigned padded(unsigned i) { return i + i / kWarp; }

// Blelloch's work-efficient scan: up-sweep and down-sweep of a tree in shared memory.
extern "C" __global__ void __launch_bounds__(kTreeThreads)
    scan_blelloch(const unsigned* in, unsigned* out, unsigned* totals, unsigned n) {
  __shared__ unsigned tree[kBlock + kBlock / kWarp];
  unsigned t = threadIdx.x, base = blockIdx.x * kBlock;
  for (unsigned i = t; i < kBlock; i += kTreeThreads)
    tree[padded(i)] = base + i < n ? in[base + i] : 0;
  unsigned stride = 1;
  for (unsigned nodes = kTreeThreads; nodes > 0; nodes /= 2) {
    __syncthreads();
    if (t < nodes) {
      unsigned left = stride * (2 * t + 1) - 1;
      tree[padded(left + stride)] += tree[padded(left)];
    }
    stride *= 2;
  }
  if (t == 0) {
    totals[blockIdx.x] = tree[padded(kBlock - 1)];
    tree[padded(kBlock - 1)] = 0;
  }
  for (unsigned nodes = 1; nodes <= kTreeThreads; nodes *= 2) {
    stride /= 2;
    __syncthreads();
    if (t < nodes) {
      unsigned left = stride * (2 * t + 1) - 1, right = left + stride;
      unsigned value = tree[padded(left)];
      tree[padded(left)] = tree[padded(right)];
      tree[padded(right)] += value;
    }
  }
  __syncthreads();
  for (unsigned i = t; i < kBlock; i += kTreeThreads)
    if (base + i < n) out[base + i] = tree[padded(i)];
}

// Adds to every block of 1024 words the sum of the blocks before it.
extern "C" __global__ void __launch_bounds__(kShuffleThreads)
    scan_add(unsigned* values, const unsigned* __restrict__ offsets, unsigned n) {
  unsigned offset = offsets[blockIdx.x];
  unsigned base = blockIdx.x * kBlock;
#pragma unroll
  for (unsigned i = threadIdx.x; i < kBlock; i += kShuffleThreads)
    if (base + i < n) values[base + i] += offset;
}

constexpr unsigned kNaiveThreads = 256;

// Hillis and Steele's inclusive scan over groups of `size` neighbouring threads, a power of two: in
// log2(size) steps a thread adds what lies twice as far below as in the step before. Each group has
// its zeros below its sums, so that no thread asks whether there is something to add. The array is
// volatile, as in the published program: a sum is read again after the last barrier.
static __device__ __forceinline__ unsigned naive_scan(unsigned value, volatile unsigned* sums,
                                                      unsigned size) {
  unsigned own = 2 * threadIdx.x - (threadIdx.x & (size - 1));
  sums[own] = 0;
  own += size;
  sums[own] = value;
  for (unsigned distance = 1; distance < size; distance *= 2) {
    __syncthreads();
    unsigned sum = sums[own] + sums[own - distance];
    __syncthreads();
    sums[own] = sum;
  }
  return sums[own];
}

// Exclusive scans of arrays of `length` words, 4 to 1024, four words per thread.
extern "C" __global__ void __launch_bounds__(kNaiveThreads)
    scan_naive(const uint4* in, uint4* out, unsigned length) {
  __shared__ unsigned sums[2 * kNaiveThreads];
  unsigned own = blockIdx.x * kNaiveThreads + threadIdx.x;
  uint4 word = in[own];
  uint4 sum = word;
  sum.y += sum.x;
  sum.z += sum.y;
  sum.w += sum.z;
  unsigned before = naive_scan(sum.w, sums, length / 4) - sum.w;
  out[own] = sum + before - word;
}

// The last word of each block's scan and of its input make the block's total: 4 KB from lane to
// lane. Exclusive scans of the totals of `blocks` blocks, `size` to an array.
extern "C" __global__ void __launch_bounds__(kNaiveThreads)
    scan_tops(const unsigned* in, const unsigned* out, unsigned* offsets, unsigned blocks,
              unsigned size) {
  __shared__ unsigned sums[2 * kNaiveThreads];
  unsigned own = blockIdx.x * kNaiveThreads + threadIdx.x;
  unsigned total = 0;
  if (own < blocks) total = out[own * kBlock + kBlock - 1] + in[own * kBlock + kBlock - 1];
  unsigned before = naive_scan(total, sums, size) - total;
  if (own < blocks) offsets[own] = before;
}

// As scan_add, with the offset through shared memory and four words per thread.
extern "C" __global__ void __launch_bounds__(kNaiveThreads)
    scan_offset(uint4* values, const unsigned* offsets) {
  __shared__ unsigned offset;
  unsigned own = blockIdx.x * kNaiveThreads + threadIdx.x;
  if (threadIdx.x == 0) offset = offsets[blockIdx.x];
  __syncthreads();
  values[own] += offset;
}
