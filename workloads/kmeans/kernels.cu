// Change of layout and nearest-centroid assignment, all through global memory. See README.md.
#include "common/cuda_lite.h"

// One thread copies one point's row: each lane walks its own lines.
extern "C" __global__ void kmeans_layout(const float* by_point, float* by_feature, unsigned points,
                                         unsigned features) {
  unsigned p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= points) return;
  const float* from = by_point + p * features;
  float* to = by_feature + p;
#pragma unroll 4
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

// The centroids of kmeans_nearest, cluster by cluster.
constexpr unsigned kMaxCentroidWords = 1088;
__constant__ float kmeans_centroids[kMaxCentroidWords];

// As kmeans_assign, with the centroids in constant memory and blocks of a grid of rows.
extern "C" __global__ void kmeans_nearest(const float* by_feature, int features, int points,
                                          int clusters, int* membership) {
  const unsigned block = gridDim.x * blockIdx.y + blockIdx.x;
  const unsigned p = block * blockDim.x * blockDim.y + threadIdx.x;
  if (p >= static_cast<unsigned>(points)) return;
  int nearest = -1;
  float least = __FLT_MAX__;
#pragma unroll 1
  for (int c = 0; c < clusters; ++c) {
    const float* feature = by_feature + p;
    const float* centroid = kmeans_centroids + c * features;
    float distance = 0.0f;
#pragma unroll 4
    for (int f = 0; f < features; ++f, feature += points) {
      const float difference = *feature - centroid[f];
      distance += difference * difference;
    }
    if (distance < least) {
      least = distance;
      nearest = c;
    }
  }
  membership[p] = nearest;
}
