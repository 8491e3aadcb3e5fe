// One layer of a neural network forwards, and its weights adjusted backwards. See README.md.
#include "common/cuda_lite.h"

constexpr int kSide = 16;          // hidden units, and inputs per block
constexpr double kRate = 0.3;      // of learning
constexpr double kMomentum = 0.3;  // share of the last change that is made again

// The weight between input `16 blockIdx.y + ty` and hidden unit tx, of `hidden` (16). A row has one
// more, as row and column 0 are the bias.
static __device__ __forceinline__ int weight_index(int hidden) {
  int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
  int by = static_cast<int>(blockIdx.y);
  return (hidden + 1) * kSide * by + (hidden + 1) * ty + tx + 1 + (hidden + 1);
}

// Sums input * weight over the block's 16 inputs, for each hidden unit: partial_sums[block][unit].
// The tile with its sums replaces the weights, which the host uploads again. How far a step of the
// tree reaches is not known to the compiler, as in the well-known program, which divides by it.
extern "C" __global__ void __launch_bounds__(kSide* kSide)
    backprop_forward(const float* input, float* weights, float* partial_sums, int hidden) {
  __shared__ float node[kSide];
  __shared__ float tile[kSide][kSide];
  int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
  int block = static_cast<int>(blockIdx.y), at = weight_index(hidden);
  if (tx == 0) node[ty] = input[block * kSide + ty + 1];
  __syncthreads();
  tile[ty][tx] = weights[at];
  __syncthreads();
  tile[ty][tx] = __fmul_rn(tile[ty][tx], node[ty]);
  __syncthreads();
#pragma unroll
  for (int level = 2; level <= kSide; level *= 2) {
    int width = unknown(level);
    if (ty % width == 0) tile[ty][tx] = __fadd_rn(tile[ty][tx], tile[ty + width / 2][tx]);
    __syncthreads();
  }
  weights[at] = tile[ty][tx];
  __syncthreads();
  if (tx == 0) partial_sums[block * hidden + ty] = tile[0][ty];
}

// The same as a compiler leaves it that does not know the values of these functions: a loop whose end
// is a logarithm, and a power of two in floats for each step. Code of its own, so that the PTX of the
// other stays what it was.
extern "C" __global__ void __launch_bounds__(kSide* kSide)
    backprop_forward_powers(const float* input, float* weights, float* partial_sums, int hidden) {
  __shared__ float node[kSide];
  __shared__ float tile[kSide][kSide];
  int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
  int block = static_cast<int>(blockIdx.y), at = weight_index(hidden);
  if (tx == 0) node[ty] = input[block * kSide + ty + 1];
  __syncthreads();
  tile[ty][tx] = weights[at];
  __syncthreads();
  tile[ty][tx] = __fmul_rn(tile[ty][tx], node[ty]);
  __syncthreads();
  float levels = __nvvm_lg2_approx_f(unknown_float(kSide)),
        base = __nvvm_lg2_approx_f(unknown_float(2));
  for (int level = 1; static_cast<float>(level) <= levels; ++level) {
    int width = static_cast<int>(__nvvm_ex2_approx_f(static_cast<float>(level) * base));
    if (ty % width == 0) tile[ty][tx] = __fadd_rn(tile[ty][tx], tile[ty + width / 2][tx]);
    __syncthreads();
  }
  weights[at] = tile[ty][tx];
  __syncthreads();
  if (tx == 0) partial_sums[block * hidden + ty] = tile[0][ty];
}

// In double precision, since the constants are doubles.
static __device__ __forceinline__ double change(double step, float last) {
  return __builtin_fma(kMomentum, static_cast<double>(last), step);
}

// delta[unit + 1] is the error of a hidden unit, changes what was last added to each weight. The
// arrays might overlap for all the compiler knows: after the weight is written everything is read
// again for the second expression.
extern "C" __global__ void __launch_bounds__(kSide* kSide)
    backprop_adjust(const float* delta, int hidden, const float* input, float* weights,
                    float* changes) {
  int unit = static_cast<int>(threadIdx.x) + 1, at = weight_index(hidden);
  int node = static_cast<int>(blockIdx.y) * kSide + static_cast<int>(threadIdx.y) + 1;
  weights[at] =
      static_cast<float>(weights[at] + change(kRate * delta[unit] * input[node], changes[at]));
  read_again();
  changes[at] = static_cast<float>(change(kRate * delta[unit] * input[node], changes[at]));
  __syncthreads();
  if (threadIdx.y == 0 && blockIdx.y == 0) {
    weights[unit] = static_cast<float>(weights[unit] + change(kRate * delta[unit], changes[unit]));
    read_again();
    changes[unit] = static_cast<float>(change(kRate * delta[unit], changes[unit]));
  }
}
