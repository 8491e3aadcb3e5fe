// Rotary position embedding of queries and keys, in place. See README.md.
#include "common/half_lite.h"

namespace rotary_of {

struct Turn {
  float cosine[8], sine[8];
};

static __device__ __forceinline__ void load_four(const float* from, float* to) {
  const float4 four = *reinterpret_cast<const float4*>(from);
  to[0] = four.x;
  to[1] = four.y;
  to[2] = four.z;
  to[3] = four.w;
}

}  // namespace rotary_of

// Block: a token, whose row of `stride` numbers begins with `heads` heads of queries and keys.
// Number i of a head's first half is turned with number i of its second; eight pairs per thread.
// `table`: for each position head_dim / 2 cosines, then as many sines.
extern "C" __global__ void rotary(half_bits* rows, const float* __restrict__ table,
                                  const unsigned* __restrict__ positions, unsigned heads,
                                  unsigned head_dim, unsigned stride) {
  const unsigned pairs = head_dim / 2, chunks = pairs / 8;
  half_bits* const row = rows + static_cast<unsigned long long>(blockIdx.x) * stride;
  const float* const own =
      table + static_cast<unsigned long long>(positions[blockIdx.x]) * head_dim;
  for (unsigned item = threadIdx.x; item < heads * chunks; item += blockDim.x) {
    const unsigned pair = item % chunks * 8;
    half_bits* const head = row + item / chunks * head_dim;
    rotary_of::Turn turn;
    rotary_of::load_four(own + pair, turn.cosine);
    rotary_of::load_four(own + pair + 4, turn.cosine + 4);
    rotary_of::load_four(own + pairs + pair, turn.sine);
    rotary_of::load_four(own + pairs + pair + 4, turn.sine + 4);
    Eight first = load_eight(head + pair), second = load_eight(head + pairs + pair);
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const float x = first.at[k], y = second.at[k];
      first.at[k] = x * turn.cosine[k] - y * turn.sine[k];
      second.at[k] = y * turn.cosine[k] + x * turn.sine[k];
    }
    store_eight(head + pair, first);
    store_eight(head + pairs + pair, second);
  }
}
