// A transformer layer: the kernels of norm, rotary, attention and swiglu as they are in their own
// workloads, matrix products, and keys and values put into their pages. See README.md.
#include "attention/kernels.cu"
#include "llm_layer/products.h"
#include "llm_layer/tensor.h"
#include "rms_norm/kernels.cu"
#include "rotary/kernels.cu"
#include "swiglu/kernels.cu"

// Grid: tiles of 64 outputs x tiles of 64 tokens.
extern "C" __global__ void __launch_bounds__(llm_layer_of::kThreads)
    llm_product(const half_bits* __restrict__ rows, const half_bits* __restrict__ weights,
                half_bits* __restrict__ out, unsigned tokens, unsigned inputs, unsigned outputs) {
  llm_layer_of::tiled({rows, weights, out, tokens, inputs, outputs});
}

extern "C" __global__ void __launch_bounds__(llm_layer_of::kTensorThreads)
    llm_product_tensor(const half_bits* __restrict__ rows, const half_bits* __restrict__ weights,
                       half_bits* __restrict__ out, unsigned tokens, unsigned inputs,
                       unsigned outputs) {
  llm_layer_of::tensor({rows, weights, out, tokens, inputs, outputs});
}

// Grid: 16 outputs, four of each warp, x groups of one or four tokens.
extern "C" __global__ void llm_product_1(const half_bits* __restrict__ rows,
                                         const half_bits* __restrict__ weights,
                                         half_bits* __restrict__ out, unsigned tokens,
                                         unsigned inputs, unsigned outputs) {
  llm_layer_of::few<1>({rows, weights, out, tokens, inputs, outputs});
}
extern "C" __global__ void llm_product_4(const half_bits* __restrict__ rows,
                                         const half_bits* __restrict__ weights,
                                         half_bits* __restrict__ out, unsigned tokens,
                                         unsigned inputs, unsigned outputs) {
  llm_layer_of::few<4>({rows, weights, out, tokens, inputs, outputs});
}

// Block: a sequence, whose last token's keys lie at `rows` and its values behind them.
extern "C" __global__ void llm_append(const half_bits* __restrict__ rows, unsigned stride,
                                      half_bits* __restrict__ keys, half_bits* __restrict__ values,
                                      const unsigned* __restrict__ pages,
                                      const unsigned* __restrict__ lengths,
                                      unsigned pages_of_sequence, unsigned page_shift,
                                      unsigned numbers) {
  const unsigned token = lengths[blockIdx.x] - 1, slot = token & ((1u << page_shift) - 1);
  const unsigned long long page = pages[blockIdx.x * pages_of_sequence + (token >> page_shift)];
  const unsigned long long to = ((page << page_shift) + slot) * numbers;
  const half_bits* const from = rows + static_cast<unsigned long long>(blockIdx.x) * stride;
  for (unsigned i = threadIdx.x * 8; i < numbers; i += blockDim.x * 8) {
    *reinterpret_cast<uint4*>(keys + to + i) = *reinterpret_cast<const uint4*>(from + i);
    *reinterpret_cast<uint4*>(values + to + i) =
        *reinterpret_cast<const uint4*>(from + numbers + i);
  }
}
