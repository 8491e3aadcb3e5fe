// target: sm_80
// Attention of whole sequences by matrix instructions. See README.md.
#include "flash_attention/tile.h"

namespace flash_of {

/// Token by token; strides in numbers.
struct Tensors {
  const half_bits *queries, *keys, *values;
  half_bits* out;
  unsigned query_stride, kv_stride, out_stride, sequence, group, causal;
};

template <class Of>
static __device__ __forceinline__ void attend(const Tensors& of, float scale) {
  extern __shared__ __align__(128) unsigned char tiles[];
  const SharedAddress query_tile = shared_address(tiles), key_tile = query_tile + Of::kQueryBytes;
  const SharedAddress value_tile = key_tile + 2 * Of::kTileBytes;
  const unsigned head = blockIdx.y, kv_head = head / of.group;
  // With a causal mask later queries have more to do: they begin first.
  const unsigned query0 = (gridDim.x - 1 - blockIdx.x) * Of::kQueries;
  const unsigned long long token0 = static_cast<unsigned long long>(blockIdx.z) * of.sequence;
  const half_bits* const keys = of.keys + token0 * of.kv_stride + kv_head * Of::kDim;
  const half_bits* const values = of.values + token0 * of.kv_stride + kv_head * Of::kDim;
  const unsigned seen =
      of.causal != 0 && query0 + Of::kQueries < of.sequence ? query0 + Of::kQueries : of.sequence;
  const unsigned count = (seen + Of::kKeys - 1) / Of::kKeys;
  auto copy = [&](SharedAddress tile, const half_bits* from, unsigned number) {
    const unsigned first = number * Of::kKeys;
    if (number < count)
      copy_tile<Of, Of::kKeys>(tile + number % 2 * Of::kTileBytes,
                               from + static_cast<unsigned long long>(first) * of.kv_stride,
                               of.kv_stride, of.sequence - first);
    end_copy_group();
  };
  copy_tile<Of, Of::kQueries>(query_tile,
                              of.queries + (token0 + query0) * of.query_stride + head * Of::kDim,
                              of.query_stride, of.sequence - query0);
  copy(key_tile, keys, 0);
  copy(value_tile, values, 0);

  Rows<Of> rows(query_tile);
  const unsigned own = threadIdx.x / 32 * Of::kParts * 16;  // the warp's first query in the tile
#pragma unroll 1
  for (unsigned number = 0; number < count; ++number) {
    wait_for_copies<1>();  // keys have come, and at first the queries
    __syncthreads();       // and all have left the tiles before
    copy(key_tile, keys, number + 1);
    copy(value_tile, values, number + 1);
    if (number == 0) rows.load_queries();
    Sums scores[Of::kParts][Of::kKeys / 8] = {};
    rows.score(scores, key_tile + number % 2 * Of::kTileBytes);
    const unsigned first = number * Of::kKeys;
    const bool crosses = of.causal != 0 && first + Of::kKeys > query0 + own + 1;
    if (crosses) rows.hide(scores, static_cast<int>(query0 + own) - static_cast<int>(first), 1);
    if (first + Of::kKeys > of.sequence)
      rows.hide(scores, static_cast<int>(of.sequence - first) - 1, 0);
    rows.weigh(scores, scale * 1.4426950408889634f);
    wait_for_copies<2>();  // values have come
    __syncthreads();
    rows.add_values(scores, value_tile + number % 2 * Of::kTileBytes);
  }
  const unsigned query = query0 + own;
  rows.store(of.out + (token0 + query) * of.out_stride + head * Of::kDim, of.out_stride,
             query < of.sequence ? of.sequence - query : 0);
}

}  // namespace flash_of

// Grid: tiles of queries x heads x sequences. `group` heads of queries share one of keys.
#define FLASH(dim, parts, keys_)                                                                \
  extern "C" __global__ void __launch_bounds__(flash_of::kThreads) flash_attention_##dim(       \
      const half_bits* queries, const half_bits* keys, const half_bits* values, half_bits* out, \
      unsigned query_stride, unsigned kv_stride, unsigned out_stride, unsigned sequence,        \
      unsigned group, unsigned causal, float scale) {                                           \
    flash_of::attend<flash_of::Form<dim, parts, keys_>>(                                        \
        {queries, keys, values, out, query_stride, kv_stride, out_stride, sequence, group,      \
         causal},                                                                               \
        scale);                                                                                 \
  }
FLASH(64, 2, 32)
FLASH(128, 1, 64)
