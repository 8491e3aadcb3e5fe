// Change of layout and nearest-centroid assignment, all through global memory. See README.md.
#include "common/cuda_lite.h"

// One thread copies one point's row: each lane walks its own lines.
extern "C" __global__ void kmeans_layout(const float* by_point, float* by_feature, unsigned points,
                                         unsigned features) {
  unsigned p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= points) return;
  const float* from = by_point + p * features;
  float* to = by_feature + p;
#pragma unroll 1
  for (unsigned f = 0; f < features; ++f, to += points) *to = *from++;
}

// One thread per point. The centroid words are the same for all lanes. Equal distances: the first.
extern "C" __global__ void kmeans_assign(const float* by_feature, const float* centroids,
                                         unsigned* membership, unsigned points, unsigned features,
                                         unsigned clusters) {
  unsigned p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= points) return;
  unsigned nearest = 0;
  float least = __builtin_inff();
#pragma unroll 1
  for (unsigned c = 0; c < clusters; ++c) {
    float distance = 0.0f;
    const float* feature = by_feature + p;
    const float* centroid = centroids + c * features;
#pragma unroll 1
    for (unsigned f = 0; f < features; ++f, feature += points) {
      float difference = *feature - centroid[f];
      distance += difference * difference;
    }
    if (distance < least) {
      least = distance;
      nearest = c;
    }
  }
  membership[p] = nearest;
}
