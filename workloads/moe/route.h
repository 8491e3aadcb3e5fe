// Which experts a token goes to, and the list of tokens sorted by expert. See README.md.
#pragma once
#include "common/half_lite.h"

namespace moe_of {

constexpr unsigned kMaxExperts = 256;
constexpr unsigned kGateThreads = 128;  // a warp for each token
constexpr unsigned kChunk = 256;        // choices of a block, a thread each

/// The lanes whose `value` is that of this lane.
static __device__ __forceinline__ unsigned lanes_with(unsigned value) {
  unsigned lanes;
  __asm__ volatile("match.any.sync.b32 %0, %1, 0xffffffff;" : "=r"(lanes) : "r"(value));
  return lanes;
}

/// The least of a warp. All lanes get it.
static __device__ __forceinline__ unsigned warp_min(unsigned value) {
  unsigned minimum;
  __asm__ volatile("redux.sync.min.u32 %0, %1, 0xffffffff;" : "=r"(minimum) : "r"(value));
  return minimum;
}

/// kOfLane logits to a lane: experts `lane`, `lane` + 32 ...
template <unsigned kOfLane>
static __device__ __forceinline__ void gate(const float* logits, unsigned* chosen, float* weights,
                                            unsigned tokens, unsigned experts, unsigned top_k) {
  constexpr float kTaken = -__builtin_inff();
  const unsigned lane = threadIdx.x % 32;
  const unsigned token = blockIdx.x * (kGateThreads / 32) + threadIdx.x / 32;
  if (token >= tokens) return;
  const float* const row = logits + static_cast<unsigned long long>(token) * experts;
  float own[kOfLane], largest = kTaken, sum = 0.0f;
#pragma unroll
  for (unsigned i = 0; i < kOfLane; ++i) {
    own[i] = lane + 32 * i < experts ? row[lane + 32 * i] : kTaken;
    largest = fmaxf(largest, own[i]);
  }
  largest = warp_max(largest);
#pragma unroll
  for (unsigned i = 0; i < kOfLane; ++i) sum += __expf(own[i] - largest);
  sum = warp_sum(sum);

  unsigned expert = 0;
  float share = 0.0f, taken = 0.0f;
  for (unsigned round = 0; round < top_k; ++round) {
    float best = own[0];
#pragma unroll
    for (unsigned i = 1; i < kOfLane; ++i) best = fmaxf(best, own[i]);
    best = warp_max(best);
    unsigned its = kMaxExperts;  // the lowest of several
#pragma unroll
    for (unsigned i = kOfLane; i > 0; --i)
      if (own[i - 1] == best) its = lane + 32 * (i - 1);
    its = warp_min(its);
    const float probability = __fdividef(__expf(best - largest), sum);
    taken += probability;
    if (lane == round) {
      expert = its;
      share = probability;
    }
#pragma unroll
    for (unsigned i = 0; i < kOfLane; ++i)
      if (its == lane + 32 * i) own[i] = kTaken;
  }
  if (lane >= top_k) return;
  chosen[token * top_k + lane] = expert;
  weights[token * top_k + lane] = __fdividef(share, taken);
}

struct Rank {
  unsigned expert, rank;  ///< among the warp's choices of this expert
};
/// `of_warps`: [warp][expert], how many choices of the warp are of the expert. All of the block's
/// threads take part.
static __device__ __forceinline__ Rank rank_in_warp(const unsigned* chosen, unsigned choices,
                                                    unsigned experts, unsigned* of_warps) {
  const unsigned choice = blockIdx.x * kChunk + threadIdx.x, lane = threadIdx.x % 32;
  for (unsigned i = threadIdx.x; i < kChunk / 32 * experts; i += kChunk) of_warps[i] = 0;
  const unsigned expert = choice < choices ? chosen[choice] : kMaxExperts;
  __syncthreads();
  const unsigned same = lanes_with(expert);
  const unsigned rank = static_cast<unsigned>(__builtin_popcount(same & ((1u << lane) - 1)));
  if (rank == 0 && choice < choices)
    of_warps[threadIdx.x / 32 * experts + expert] = static_cast<unsigned>(__builtin_popcount(same));
  __syncthreads();
  return {expert, rank};
}

/// Of the block's threads up to this one; kMaxExperts threads. `totals`: a word for each warp.
static __device__ __forceinline__ unsigned sum_up_to(unsigned value, unsigned* totals) {
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
  for (unsigned lanes = 1; lanes < 32; lanes *= 2) {
    const unsigned other = __shfl_up_sync(~0u, value, lanes);
    if (lane >= lanes) value += other;
  }
  if (lane == 31) totals[warp] = value;
  __syncthreads();
  for (unsigned before = 0; before < warp; ++before) value += totals[before];
  return value;
}

}  // namespace moe_of
