// silu(gate) * up in half precision. See README.md.
#include "common/half_lite.h"

// Grid: parts of a row x rows. A row of `in` is a gate's `width` numbers, then as many to multiply.
// Eight results per thread; `width` is a multiple of 8, rows are aligned to 16 bytes.
extern "C" __global__ void swiglu(const half_bits* __restrict__ in, half_bits* __restrict__ out,
                                  unsigned width) {
  const unsigned i = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
  if (i >= width) return;
  const unsigned long long row = blockIdx.y;
  const Eight gate = load_eight(in + row * 2 * width + i);
  Eight up = load_eight(in + (row * 2 + 1) * width + i);
#pragma unroll
  for (int k = 0; k < 8; ++k) up.at[k] *= __fdividef(gate.at[k], 1.0f + __expf(-gate.at[k]));
  store_eight(out + row * width + i, up);
}
