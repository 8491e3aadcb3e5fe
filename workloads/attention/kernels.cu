// Attention in half precision with sums in single: of whole sequences, and of one query to each
// sequence's pages of keys and values. See README.md.
#include "attention/paged.h"
#include "attention/tensor.h"
#include "attention/tiles.h"

namespace attention_of {

struct Rows {
  const half_bits* queries;
  const half_bits* keys;
  const half_bits* values;
  half_bits* out;
  unsigned query_stride, kv_stride, out_stride;  // numbers from token to token
};

template <int kDim>
static __device__ __forceinline__ void prefill(const Rows& rows, unsigned sequence, unsigned group,
                                               unsigned causal, float scale) {
  __shared__ __align__(16) float query_tile[kQueries * Tiles<kDim>::kLine];
  __shared__ __align__(16) float key_tile[Tiles<kDim>::kKeys * Tiles<kDim>::kLine];
  __shared__ __align__(16) float weight_tile[kQueries * Tiles<kDim>::kWeightLine];
  Tiles<kDim> tiles(query_tile, key_tile, weight_tile);
  const int length = static_cast<int>(sequence);
  const int query0 = static_cast<int>(blockIdx.x) * kQueries;
  const unsigned head = blockIdx.y, kv_head = head / group;
  const unsigned long long token0 = static_cast<unsigned long long>(blockIdx.z) * sequence;
  const half_bits* const keys = rows.keys + token0 * rows.kv_stride + kv_head * kDim;
  const half_bits* const values = rows.values + token0 * rows.kv_stride + kv_head * kDim;
  Tiles<kDim>::stage(query_tile, rows.queries + (token0 + query0) * rows.query_stride + head * kDim,
                     rows.query_stride, kQueries, length - query0);

  const int end = causal != 0 ? min(length, query0 + kQueries) : length;
#pragma unroll 1
  for (int key0 = 0; key0 < end; key0 += Tiles<kDim>::kKeys) {
    const unsigned long long from = static_cast<unsigned long long>(key0) * rows.kv_stride;
    Tiles<kDim>::stage(key_tile, keys + from, rows.kv_stride, Tiles<kDim>::kKeys, length - key0);
    __syncthreads();
    float score[kRowsOfThread][Tiles<kDim>::kKeysOfThread] = {};
    tiles.scores(score);
    __syncthreads();
    Tiles<kDim>::stage(key_tile, values + from, rows.kv_stride, Tiles<kDim>::kKeys, length - key0);
#pragma unroll
    for (int i = 0; i < kRowsOfThread; ++i) {
      const int seen = causal != 0 ? min(length, query0 + tiles.row + i + 1) : length;
      tiles.weigh(i, score[i], seen - key0, scale);
    }
    __syncthreads();
    tiles.add_values();
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < kRowsOfThread; ++i) {
    const int query = query0 + tiles.row + i;
    if (query < length) tiles.store(i, rows.out + (token0 + query) * rows.out_stride + head * kDim);
  }
}

template <int kDim>
static __device__ __forceinline__ void tensor_prefill(const Rows& rows, unsigned sequence,
                                                      unsigned group, unsigned causal,
                                                      float scale) {
  using Tiles = TensorTiles<kDim>;
  __shared__ __align__(128) half_bits query_tile[kTensorQueries * Tiles::kLine];
  __shared__ __align__(128) half_bits key_tile[kTensorKeys * Tiles::kLine];
  __shared__ __align__(128) half_bits value_tile[kTensorKeys * Tiles::kLine];
  __shared__ __align__(128) float score_tile[kTensorQueries * Tiles::kScoreLine];
  Tiles tiles(query_tile, key_tile, value_tile, score_tile);
  const int length = static_cast<int>(sequence);
  const int query0 = static_cast<int>(blockIdx.x * kTensorQueries);
  const unsigned head = blockIdx.y, kv_head = head / group;
  const unsigned long long token0 = static_cast<unsigned long long>(blockIdx.z) * sequence;
  const half_bits* const keys = rows.keys + token0 * rows.kv_stride + kv_head * kDim;
  const half_bits* const values = rows.values + token0 * rows.kv_stride + kv_head * kDim;
  Tiles::stage(query_tile, rows.queries + (token0 + query0) * rows.query_stride + head * kDim,
               rows.query_stride, kTensorQueries, length - query0);

  const int first = query0 + static_cast<int>(threadIdx.x / 32 * kFragment);  // of the warp
  const int own = first + static_cast<int>(tiles.row);
  const int end = causal != 0 ? min(length, query0 + static_cast<int>(kTensorQueries)) : length;
  const int seen = causal != 0 ? min(length, own + 1) : length;
#pragma unroll 1
  for (int key0 = 0; key0 < end; key0 += static_cast<int>(kTensorKeys)) {
    const unsigned long long from = static_cast<unsigned long long>(key0) * rows.kv_stride;
    Tiles::stage(key_tile, keys + from, rows.kv_stride, kTensorKeys, length - key0);
    Tiles::stage(value_tile, values + from, rows.kv_stride, kTensorKeys, length - key0);
    __syncthreads();
    tiles.score();
    tiles.weigh(seen - key0, scale);
    tiles.add_values();
    __syncthreads();
  }
  tiles.store(rows.out + (token0 + first) * rows.out_stride + head * kDim, rows.out_stride,
              length - first);
}

struct Cache {
  const half_bits* keys;
  const half_bits* values;
  const unsigned* pages;
  const unsigned* lengths;
  unsigned pages_of_sequence, page_shift, kv_heads, group, split;
};

template <int kDim>
static __device__ __forceinline__ void decode(const half_bits* queries, unsigned stride,
                                              const Cache& cache, float scale, float* partial,
                                              float* states) {
  __shared__ float scores[kMaxSplit];
  __shared__ float maxima[32];
  __shared__ float totals[32];
  __shared__ float sums[4 * kDim];
  const unsigned head = blockIdx.y, sequence = blockIdx.z;
  const unsigned first = blockIdx.x * cache.split, length = cache.lengths[sequence];
  if (first >= length) return;
  const unsigned rest = length - first, count = rest < cache.split ? rest : cache.split;
  const PagedRows rows = {cache.pages + sequence * cache.pages_of_sequence, cache.page_shift,
                          cache.kv_heads, head / cache.group};
  const QueryPart<kDim> part(
      queries + static_cast<unsigned long long>(sequence) * stride + head * kDim, scale);
  const float maximum =
      block_max(part.score(cache.keys, rows, first, count, scores), kNoScore, maxima);
  float sum = 0.0f;
  for (unsigned key = threadIdx.x; key < count; key += blockDim.x) {
    scores[key] = __expf(scores[key] - maximum);
    sum += scores[key];
  }
  sum = block_sum(sum, totals);
  const float value = part.value(cache.values, rows, first, count, scores, sums);
  const unsigned long long at =
      (static_cast<unsigned long long>(sequence) * gridDim.y + head) * gridDim.x + blockIdx.x;
  if (threadIdx.x < kDim) partial[at * kDim + threadIdx.x] = value;
  if (threadIdx.x == 0) {
    states[at * 2] = maximum;
    states[at * 2 + 1] = sum;
  }
}

}  // namespace attention_of

// Grid: tiles of 32 queries x heads x sequences. `group` heads of queries share one of keys.
#define PREFILL(dim)                                                                              \
  extern "C" __global__ void __launch_bounds__(attention_of::kThreads) attention_prefill_##dim(   \
      const half_bits* queries, const half_bits* keys, const half_bits* values, half_bits* out,   \
      unsigned query_stride, unsigned kv_stride, unsigned out_stride, unsigned sequence,          \
      unsigned group, unsigned causal, float scale) {                                             \
    attention_of::prefill<dim>({queries, keys, values, out, query_stride, kv_stride, out_stride}, \
                               sequence, group, causal, scale);                                   \
  }
PREFILL(64)
PREFILL(128)

// The same by matrix instructions, 64 queries to a tile.
#define TENSOR_PREFILL(dim)                                                                  \
  extern "C" __global__ void __launch_bounds__(attention_of::kTensorThreads)                 \
      attention_tensor_##dim(const half_bits* queries, const half_bits* keys,                \
                             const half_bits* values, half_bits* out, unsigned query_stride, \
                             unsigned kv_stride, unsigned out_stride, unsigned sequence,     \
                             unsigned group, unsigned causal, float scale) {                 \
    attention_of::tensor_prefill<dim>(                                                       \
        {queries, keys, values, out, query_stride, kv_stride, out_stride}, sequence, group,  \
        causal, scale);                                                                      \
  }
TENSOR_PREFILL(64)
TENSOR_PREFILL(128)

// Grid: parts of a sequence x heads x sequences. `partial`: sums of values, not yet divided;
// `states`: the maximum score of a part, and its sum of exponentials.
#define DECODE(dim)                                                                              \
  extern "C" __global__ void __launch_bounds__(attention_of::kThreads) attention_decode_##dim(   \
      const half_bits* queries, unsigned stride, const half_bits* keys, const half_bits* values, \
      const unsigned* pages, const unsigned* lengths, unsigned pages_of_sequence,                \
      unsigned page_shift, unsigned kv_heads, unsigned group, unsigned split, float scale,       \
      float* partial, float* states) {                                                           \
    attention_of::decode<dim>(                                                                   \
        queries, stride,                                                                         \
        {keys, values, pages, lengths, pages_of_sequence, page_shift, kv_heads, group, split},   \
        scale, partial, states);                                                                 \
  }
DECODE(64)
DECODE(128)

// Grid: heads x sequences; a thread for each number of a head. The parts of a sequence become one.
extern "C" __global__ void attention_combine(const float* partial, const float* states,
                                             const unsigned* lengths, half_bits* out,
                                             unsigned splits, unsigned split) {
  const unsigned parts = (lengths[blockIdx.y] + split - 1) / split;
  const unsigned long long row =
      static_cast<unsigned long long>(blockIdx.y) * gridDim.x + blockIdx.x;
  const float* const state = states + row * splits * 2;
  float maximum = state[0];
  for (unsigned part = 1; part < parts; ++part) maximum = fmaxf(maximum, state[part * 2]);
  float sum = 0.0f, value = 0.0f;
  for (unsigned part = 0; part < parts; ++part) {
    const float weight = __expf(state[part * 2] - maximum);
    sum = fmaf(weight, state[part * 2 + 1], sum);
    value = fmaf(weight, partial[(row * splits + part) * blockDim.x + threadIdx.x], value);
  }
  out[row * blockDim.x + threadIdx.x] = to_half(value / sum);
}
