// target: sm_80
// Attention of one query of each sequence, whose keys and values lie in pages, by matrix
// instructions. See README.md.
#include "flash_attention/tile.h"

namespace paged_of {

using flash_of::at_step;
using flash_of::kUnder;
using flash_of::kWarps;

constexpr unsigned kKeys = 16, kHeads = 16;  // of a matrix instruction

/// Keys and values: [page][slot][kv head][number].
struct Cache {
  const half_bits *keys, *values;
  const unsigned *pages, *lengths;
  unsigned pages_of_sequence, page_shift, kv_heads, group, split;
};

/// What a warp has of the heads that share keys: its own keys, 16 at a time, two times of them in
/// its own part of shared memory. No other warp is waited for.
template <unsigned kDim>
struct Warp {
  using Of = flash_of::Form<kDim, 1, kKeys>;
  static constexpr unsigned kStageBytes = 2 * Of::kTileBytes;  // keys, then values
  static constexpr unsigned kBytes = 2 * kStageBytes;
  const Cache& of;
  const unsigned* pages;  // of the sequence
  unsigned lane = threadIdx.x % 32, kv_head, end;
  SharedAddress own;

  __device__ __forceinline__ Warp(const Cache& cache, unsigned head, unsigned sequence,
                                  unsigned first_behind, SharedAddress tiles)
      : of(cache),
        pages(cache.pages + sequence * cache.pages_of_sequence),
        kv_head(head),
        end(first_behind),
        own(tiles + threadIdx.x / 32 * kBytes) {}

  /// The page of the 16 keys from `key` on, which are in one.
  __device__ __forceinline__ unsigned page(unsigned key) const {
    return key < end ? pages[key >> of.page_shift] : 0;
  }
  __device__ __forceinline__ void copy(unsigned key, unsigned page, unsigned stage) const {
    const unsigned row = lane / Of::kChunks, chunk = lane % Of::kChunks;
    if (key < end) {
      const unsigned long long slot = (page << of.page_shift) + (key & ((1u << of.page_shift) - 1));
      const unsigned long long at = ((slot + row) * of.kv_heads + kv_head) * kDim + chunk * 8;
      const SharedAddress to = own + stage * kStageBytes + row * Of::kRowBytes;
      const unsigned first = (chunk ^ row) * 16, left = key + row < end ? end - key - row : 0;
      copy_rows(to, first, of.keys + at, left);
      copy_rows(to + Of::kTileBytes, first, of.values + at, left);
    }
    end_copy_group();
  }

 private:
  // A warp has 2 or 4 rows at once, so of a row's number the lower bits are the lane's.
  template <unsigned kRow = 0>
  __device__ __forceinline__ void copy_rows(SharedAddress to, unsigned first, const half_bits* from,
                                            unsigned left) const {
    constexpr unsigned kApart = 32 / Of::kChunks;
    copy_16<kRow * Of::kRowBytes>(to + (first ^ kRow % 8 * 16), from, kRow < left);
    if constexpr (kRow + kApart < kKeys)
      copy_rows<kRow + kApart>(to, first, from + kApart * of.kv_heads * kDim, left);
  }
};

/// As the left factor of matrix instructions: a row for each head, zeros behind the last.
template <unsigned kDim>
static __device__ __forceinline__ void load_heads(FourMatrices (&query)[kDim / 16],
                                                  const half_bits* heads, unsigned group) {
  const unsigned row = threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
#pragma unroll
  for (unsigned step = 0; step < kDim / 16; ++step)
#pragma unroll
    for (unsigned k = 0; k < 4; ++k) {
      const unsigned head = row + k % 2 * 8, at = step * 16 + k / 2 * 8 + column;
      query[step].word[k] =
          head < group ? *reinterpret_cast<const unsigned*>(heads + head * kDim + at) : 0;
    }
}

/// What four warps have of a head becomes one. `sums`: [warp][head][number], `states`: largest
/// score and sum of weights, [warp][head].
template <unsigned kDim>
static __device__ __forceinline__ void combine_warps(const float* sums, const float2* states,
                                                     unsigned group, float* partial,
                                                     float2* states_out, unsigned apart) {
  for (unsigned at = threadIdx.x; at < group * kDim; at += flash_of::kThreads) {
    const unsigned head = at / kDim, number = at % kDim;
    float maximum = kUnder, sum = 0.0f, value = 0.0f;
#pragma unroll
    for (unsigned warp = 0; warp < kWarps; ++warp)
      maximum = fmaxf(maximum, states[warp * kHeads + head].x);
#pragma unroll
    for (unsigned warp = 0; warp < kWarps; ++warp) {
      const float2 state = states[warp * kHeads + head];
      const float weight = power_of_two(state.x - maximum);
      sum = fmaf(weight, state.y, sum);
      value = fmaf(weight, sums[(warp * kHeads + head) * kDim + number], value);
    }
    partial[static_cast<unsigned long long>(head) * apart * kDim + number] = value;
    if (number == 0) {
      float2 state = {maximum, sum};
      states_out[static_cast<unsigned long long>(head) * apart] = state;
    }
  }
}

template <unsigned kDim>
static __device__ __forceinline__ void decode(const half_bits* queries, const Cache& of,
                                              float scale, float* partial, float2* states) {
  using Of = typename Warp<kDim>::Of;
  extern __shared__ __align__(128) unsigned char tiles[];
  const unsigned sequence = blockIdx.z, kv_head = blockIdx.y, part = blockIdx.x;
  const unsigned heads = of.kv_heads * of.group, length = of.lengths[sequence];
  const unsigned begin = part * of.split;
  if (begin >= length) return;
  const unsigned end = length - begin < of.split ? length : begin + of.split;
  const unsigned first_head = sequence * heads + kv_head * of.group;

  const Warp<kDim> warp(of, kv_head, sequence, end, shared_address(tiles));
  flash_of::Rows<Of> rows(warp.own);
  load_heads<kDim>(rows.query[0], queries + static_cast<unsigned long long>(first_head) * kDim,
                   of.group);
  unsigned key = begin + threadIdx.x / 32 * kKeys, stage = 0;
  warp.copy(key, warp.page(key), 0);
  unsigned page = warp.page(key + kWarps * kKeys);
#pragma unroll 1
  for (; key < end; key += kWarps * kKeys, stage ^= 1) {
    sync_lanes();  // all have left the other stage
    warp.copy(key + kWarps * kKeys, page, stage ^ 1);
    page = warp.page(key + 2 * kWarps * kKeys);
    wait_for_copies<1>();
    sync_lanes();
    const SharedAddress keys = warp.own + stage * Warp<kDim>::kStageBytes;
    Sums scores[1][kKeys / 8] = {};
    rows.score(scores, keys);
    if (key + kKeys > end) rows.hide(scores, static_cast<int>(end - key) - 1, 0);
    rows.weigh(scores, scale * 1.4426950408889634f);
    rows.add_values(scores, keys + Of::kTileBytes);
  }
  wait_for_copies<0>();
  __syncthreads();
  float* const sums = reinterpret_cast<float*>(tiles);  // [warp][head][number]
  float2* const own_states = reinterpret_cast<float2*>(sums + kWarps * kHeads * kDim);
  rows.leave(sums + threadIdx.x / 32 * kHeads * kDim, own_states + threadIdx.x / 32 * kHeads);
  __syncthreads();
  const unsigned long long at = static_cast<unsigned long long>(first_head) * gridDim.x + part;
  combine_warps<kDim>(sums, own_states, of.group, partial + at * kDim, states + at, gridDim.x);
}

}  // namespace paged_of

// Grid: parts of a sequence x heads of keys x sequences. `partial`: sums of values, not yet
// divided; `states`: of a part the largest score, in powers of two, and its sum of weights.
#define DECODE(dim)                                                                            \
  extern "C" __global__ void __launch_bounds__(flash_of::kThreads) paged_decode_##dim(         \
      const half_bits* queries, const half_bits* keys, const half_bits* values,                \
      const unsigned* pages, const unsigned* lengths, unsigned pages_of_sequence,              \
      unsigned page_shift, unsigned kv_heads, unsigned group, unsigned split, float scale,     \
      float* partial, float2* states) {                                                        \
    paged_of::decode<dim>(                                                                     \
        queries,                                                                               \
        {keys, values, pages, lengths, pages_of_sequence, page_shift, kv_heads, group, split}, \
        scale, partial, states);                                                               \
  }
DECODE(64)
DECODE(128)

// Grid: heads x sequences; a thread for each number of a head. The parts of a sequence become one.
extern "C" __global__ void paged_combine(const float* partial, const float2* states,
                                         const unsigned* lengths, half_bits* out, unsigned splits,
                                         unsigned split) {
  const unsigned parts = (lengths[blockIdx.y] + split - 1) / split;
  const unsigned long long row =
      static_cast<unsigned long long>(blockIdx.y) * gridDim.x + blockIdx.x;
  float maximum = flash_of::kUnder, sum = 0.0f, value = 0.0f;
  for (unsigned part = 0; part < parts; ++part)
    maximum = fmaxf(maximum, states[row * splits + part].x);
  for (unsigned part = 0; part < parts; ++part) {
    const float2 state = states[row * splits + part];
    const float weight = power_of_two(state.x - maximum);
    sum = fmaf(weight, state.y, sum);
    value = fmaf(weight, partial[(row * splits + part) * blockDim.x + threadIdx.x], value);
  }
  out[row * blockDim.x + threadIdx.x] = to_half(value / sum);
}
