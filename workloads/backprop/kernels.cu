// One layer of a neural network forwards, and its weights adjusted backwards. See README.md.
#include "common/cuda_lite.h"

constexpr int kSide = 16;          // hidden units, and inputs per block
constexpr int kWidth = kSide + 1;  // words in a row of weights: the bias's column comes first
constexpr float kRate = 0.3f;      // of learning
constexpr float kMomentum = 0.3f;  // share of the last change that is made again

// The weight between input `16 blockIdx.y + ty` and hidden unit tx; row and column 0 are the bias.
static __device__ __forceinline__ int weight_index() {
  int row = static_cast<int>(blockIdx.y) * kSide + static_cast<int>(threadIdx.y) + 1;
  return row * kWidth + static_cast<int>(threadIdx.x) + 1;
}

// Sums input * weight over the block's 16 inputs, for each hidden unit: partial_sums[block][unit].
// The tile with its sums replaces the weights, which the host uploads again.
extern "C" __global__ void __launch_bounds__(kSide* kSide)
    backprop_forward(const float* input, float* weights, float* partial_sums) {
  __shared__ float node[kSide];
  __shared__ float tile[kSide][kSide];
  int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
  int block = static_cast<int>(blockIdx.y), at = weight_index();
  if (tx == 0) node[ty] = input[block * kSide + ty + 1];
  __syncthreads();
  tile[ty][tx] = weights[at];
  __syncthreads();
  tile[ty][tx] = __fmul_rn(tile[ty][tx], node[ty]);
  __syncthreads();
  for (int reach = 1; reach < kSide; reach *= 2) {
    if (ty % (2 * reach) == 0) tile[ty][tx] = __fadd_rn(tile[ty][tx], tile[ty + reach][tx]);
    __syncthreads();
  }
  weights[at] = tile[ty][tx];
  if (tx == 0) partial_sums[block * kSide + ty] = tile[0][ty];
}

static __device__ __forceinline__ void adjust(float* weights, float* changes, int at, float step) {
  float change = fmaf(kMomentum, changes[at], step);
  weights[at] = __fadd_rn(weights[at], change);
  changes[at] = change;
}

// delta[unit + 1] is the error of a hidden unit, changes what was last added to each weight.
extern "C" __global__ void __launch_bounds__(kSide* kSide)
    backprop_adjust(const float* delta, const float* input, float* weights, float* changes) {
  int unit = static_cast<int>(threadIdx.x) + 1;
  int node = static_cast<int>(blockIdx.y) * kSide + static_cast<int>(threadIdx.y) + 1;
  float step = __fmul_rn(kRate, delta[unit]);
  adjust(weights, changes, weight_index(), __fmul_rn(step, input[node]));
  __syncthreads();
  if (threadIdx.y == 0 && blockIdx.y == 0) adjust(weights, changes, unit, step);
}
