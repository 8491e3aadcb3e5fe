// target: sm_80
// A mixture of experts: routing of tokens, products grouped by expert, weighted sums. See
// README.md.
#include "moe/experts.h"
#include "moe/route.h"

// Block: kTokensOfBlock tokens, a warp each. `chosen`, `weights`: of a token the top_k experts with
// the largest logits, the largest first, of equal ones the lower first.
#define GATE(experts_)                                                                    \
  extern "C" __global__ void __launch_bounds__(moe_of::kGateThreads) moe_gate_##experts_( \
      const float* __restrict__ logits, unsigned* __restrict__ chosen,                    \
      float* __restrict__ weights, unsigned tokens, unsigned experts, unsigned top_k) {   \
    moe_of::gate<(experts_) / 32>(logits, chosen, weights, tokens, experts, top_k);       \
  }
GATE(32)
GATE(64)
GATE(128)
GATE(256)

// Block: a chunk of kChunk choices. `counts`: [chunk][expert].
extern "C" __global__ void __launch_bounds__(moe_of::kChunk)
    moe_count(const unsigned* __restrict__ chosen, unsigned* __restrict__ counts, unsigned choices,
              unsigned experts) {
  using namespace moe_of;
  __shared__ unsigned of_warps[kChunk / 32 * kMaxExperts];
  rank_in_warp(chosen, choices, experts, of_warps);
  for (unsigned expert = threadIdx.x; expert < experts; expert += kChunk) {
    unsigned sum = 0;
    for (unsigned warp = 0; warp < kChunk / 32; ++warp) sum += of_warps[warp * experts + expert];
    counts[blockIdx.x * experts + expert] = sum;
  }
}

// One block, a thread for each expert. `counts` become what lies before a chunk's choices of an
// expert in the list sorted by expert. `tiles`: expert, first and one behind the last place of at
// most `rows` of its choices; `used`: how many tiles there are.
extern "C" __global__ void __launch_bounds__(moe_of::kMaxExperts)
    moe_scan(unsigned* __restrict__ counts, unsigned* __restrict__ used, uint4* __restrict__ tiles,
             unsigned chunks, unsigned experts, unsigned rows) {
  using namespace moe_of;
  __shared__ unsigned totals[2][kMaxExperts / 32];
  const unsigned expert = threadIdx.x;
  unsigned count = 0;
  if (expert < experts)
    for (unsigned chunk = 0; chunk < chunks; ++chunk) count += counts[chunk * experts + expert];
  const unsigned own_tiles = (count + rows - 1) / rows;
  const unsigned end = sum_up_to(count, totals[0]), tiles_end = sum_up_to(own_tiles, totals[1]);
  if (expert >= experts) return;
  if (expert == experts - 1) *used = tiles_end;
  unsigned place = end - count;
  for (unsigned tile = tiles_end - own_tiles; tile < tiles_end; ++tile, place += rows) {
    const uint4 one = {expert, place, place + rows < end ? place + rows : end, 0};
    tiles[tile] = one;
  }
  place = end - count;
  for (unsigned chunk = 0; chunk < chunks; ++chunk) {
    const unsigned of_chunk = counts[chunk * experts + expert];
    counts[chunk * experts + expert] = place;
    place += of_chunk;
  }
}

// Block: a chunk. `sorted`: the token at a place of the list; `places`: the place of a choice.
extern "C" __global__ void __launch_bounds__(moe_of::kChunk)
    moe_place(const unsigned* __restrict__ chosen, const unsigned* __restrict__ before,
              unsigned* __restrict__ sorted, unsigned* __restrict__ places, unsigned choices,
              unsigned experts, unsigned top_k) {
  using namespace moe_of;
  __shared__ unsigned of_warps[kChunk / 32 * kMaxExperts];
  const Rank own = rank_in_warp(chosen, choices, experts, of_warps);
  const unsigned choice = blockIdx.x * kChunk + threadIdx.x;
  if (choice >= choices) return;
  unsigned place = before[blockIdx.x * experts + own.expert] + own.rank;
  for (unsigned warp = 0; warp < threadIdx.x / 32; ++warp)
    place += of_warps[warp * experts + own.expert];
  sorted[place] = choice / top_k;
  places[choice] = place;
}

// Grid: tiles of columns x places for tiles of rows; those without one end at once.
// moe_gate_up: silu(x gate') * (x up') of the sorted tokens. moe_down: that times down'.
#define EXPERTS(m_, n_, warps_m, warps_n)                                                          \
  extern "C" __global__ void __launch_bounds__(32 * warps_m * warps_n) moe_gate_up_##m_##x##n_(    \
      const half_bits* __restrict__ x, const half_bits* __restrict__ gate_up,                      \
      half_bits* __restrict__ out, const unsigned* __restrict__ sorted,                            \
      const uint4* __restrict__ tiles, const unsigned* __restrict__ used, unsigned hidden,         \
      unsigned intermediate, unsigned stages) {                                                    \
    moe_of::gate_up<gemm_of::Shape<m_, n_, warps_m, warps_n>>(x, gate_up, out, sorted, tiles,      \
                                                              used, hidden, intermediate, stages); \
  }                                                                                                \
  extern "C" __global__ void __launch_bounds__(32 * warps_m * warps_n)                             \
      moe_down_##m_##x##n_(const half_bits* __restrict__ activated,                                \
                           const half_bits* __restrict__ down, half_bits* __restrict__ out,        \
                           const uint4* __restrict__ tiles, const unsigned* __restrict__ used,     \
                           unsigned hidden, unsigned intermediate, unsigned stages) {              \
    moe_of::down<gemm_of::Shape<m_, n_, warps_m, warps_n>>(activated, down, out, tiles, used,      \
                                                           hidden, intermediate, stages);          \
  }
EXPERTS(64, 64, 2, 2)
EXPERTS(128, 128, 2, 2)

// Grid: parts of a row x tokens, eight numbers a thread. A token's experts in their order.
extern "C" __global__ void moe_combine(const half_bits* __restrict__ results,
                                       const unsigned* __restrict__ places,
                                       const float* __restrict__ weights,
                                       half_bits* __restrict__ out, unsigned hidden,
                                       unsigned top_k) {
  const unsigned column = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
  if (column >= hidden) return;
  const unsigned first = blockIdx.y * top_k;
  Eight sum = {};
  for (unsigned i = 0; i < top_k; ++i) {
    const unsigned long long place = places[first + i];
    const Eight one = load_eight(results + place * hidden + column);
    const float weight = weights[first + i];
#pragma unroll
    for (int k = 0; k < 8; ++k) sum.at[k] = fmaf(weight, one.at[k], sum.at[k]);
  }
  store_eight(out + static_cast<unsigned long long>(blockIdx.y) * hidden + column, sum);
}
