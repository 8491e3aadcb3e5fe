// Attention of one query to a part of a sequence whose keys and values lie in pages. See README.md.
#pragma once
#include "common/half_lite.h"

namespace attention_of {

constexpr unsigned kMaxSplit = 512;                    // tokens of a block
constexpr unsigned kLanesOfKey = 8, kKeysAtOnce = 16;  // 128 threads
constexpr float kNoScore = -3.0e38f;                   // finite: differences of it are numbers

/// One head's keys or values: [page][slot][kv head][number].
struct PagedRows {
  const unsigned* pages;                   // of this sequence
  unsigned page_shift, kv_heads, kv_head;  // a page has 2^page_shift tokens

  __device__ __forceinline__ unsigned long long row(unsigned token) const {
    const unsigned slot = token & ((1u << page_shift) - 1);
    const unsigned long long page = pages[token >> page_shift];
    return ((page << page_shift) + slot) * kv_heads + kv_head;
  }
};

/// A thread has every eighth chunk of eight numbers of a row.
template <int kDim>
struct QueryPart {
  static constexpr int kChunks = kDim / 64;
  float scores_of[kChunks][8];  // its numbers of the query
  unsigned lane = threadIdx.x % kLanesOfKey, group = threadIdx.x / kLanesOfKey;

  __device__ __forceinline__ QueryPart(const half_bits* query, float scale) {
#pragma unroll
    for (int chunk = 0; chunk < kChunks; ++chunk) {
      const Eight x = load_eight(query + offset(chunk));
#pragma unroll
      for (int k = 0; k < 8; ++k) scores_of[chunk][k] = x.at[k] * scale;
    }
  }
  __device__ __forceinline__ unsigned offset(int chunk) const {
    return (lane + static_cast<unsigned>(chunk) * kLanesOfKey) * 8;
  }

  /// Scores of keys `first` to `first` + `count` go to `scores`; the largest that the thread saw.
  __device__ __forceinline__ float score(const half_bits* keys, const PagedRows& rows,
                                         unsigned first, unsigned count, float* scores) const {
    float largest = kNoScore;
    for (unsigned from = 0; from < count; from += kKeysAtOnce) {
      const unsigned key = from + group;
      float product = 0.0f;
      if (key < count) {
        const half_bits* const row = keys + rows.row(first + key) * kDim;
#pragma unroll
        for (int chunk = 0; chunk < kChunks; ++chunk) {
          const Eight x = load_eight(row + offset(chunk));
#pragma unroll
          for (int k = 0; k < 8; ++k) product = fmaf(scores_of[chunk][k], x.at[k], product);
        }
      }
#pragma unroll
      for (int lanes = kLanesOfKey / 2; lanes > 0; lanes /= 2)
        product += __shfl_xor_sync(~0u, product, lanes);
      if (key < count) {
        if (lane == 0) scores[key] = product;
        largest = fmaxf(largest, product);
      }
    }
    return largest;
  }

  /// Sums of values by `weights`, over all warps; `sums`: kDim words for each of four warps.
  __device__ __forceinline__ float value(const half_bits* values, const PagedRows& rows,
                                         unsigned first, unsigned count, const float* weights,
                                         float* sums) const {
    float sum[kChunks][8] = {};
    for (unsigned key = group; key < count; key += kKeysAtOnce) {
      const half_bits* const row = values + rows.row(first + key) * kDim;
      const float weight = weights[key];
#pragma unroll
      for (int chunk = 0; chunk < kChunks; ++chunk) {
        const Eight x = load_eight(row + offset(chunk));
#pragma unroll
        for (int k = 0; k < 8; ++k) sum[chunk][k] = fmaf(weight, x.at[k], sum[chunk][k]);
      }
    }
#pragma unroll
    for (int chunk = 0; chunk < kChunks; ++chunk)
#pragma unroll
      for (int k = 0; k < 8; ++k) {
        float all = sum[chunk][k];
        all += __shfl_xor_sync(~0u, all, 8);
        all += __shfl_xor_sync(~0u, all, 16);
        if (threadIdx.x % 32 < kLanesOfKey)
          sums[threadIdx.x / 32 * kDim + offset(chunk) + static_cast<unsigned>(k)] = all;
      }
    __syncthreads();
    if (threadIdx.x >= kDim) return 0.0f;
    return sums[threadIdx.x] + sums[kDim + threadIdx.x] + sums[2 * kDim + threadIdx.x] +
           sums[3 * kDim + threadIdx.x];
  }
};

}  // namespace attention_of
