// PageRank, pushed along out-edges, one thread per vertex. See README.md.
#include "common/cuda_lite.h"

constexpr float kDamping = 0.85f;

extern "C" __global__ void pagerank_start(float* rank, float* next, float first_rank, unsigned n) {
  unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  rank[v] = first_rank;
  next[v] = 0;
}

// By compare and swap, as where there is no atomic addition of floats. The first guess is what the
// word holds before anyone has added to it, so that nothing is read but by atomics.
static __device__ __forceinline__ void add(float* at, float value) {
  auto* word = reinterpret_cast<unsigned*>(at);
  unsigned expected = 0, found;
  while ((found = atomicCAS(word, expected,
                            __float_as_uint(__fadd_rn(__uint_as_float(expected), value)))) !=
         expected)
    expected = found;
}

// Every vertex deals its rank to those its edges lead to.
extern "C" __global__ void pagerank_push(const unsigned* row, const unsigned* column,
                                         const float* rank, float* next, unsigned n) {
  unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  unsigned first = row[v], end = row[v + 1];
  float share = rank[v] / static_cast<float>(end - first);  // not used without an edge
#pragma unroll 1
  for (unsigned e = first; e < end; ++e) add(next + column[e], share);
}

extern "C" __global__ void pagerank_damp(float* rank, float* next, float base, unsigned n) {
  unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  rank[v] = fmaf(kDamping, next[v], base);
  next[v] = 0;
}
