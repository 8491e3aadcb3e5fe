// Nearest-centroid assignment with the points row by row, all through global memory. See README.md.
#include "common/cuda_lite.h"

// One thread per point: it reads its own row, and all centroids, once per cluster. The centroid
// words are the same for all lanes. Blocks form a grid of two dimensions; those beyond the points
// end at once. Equal distances: the first. As in the published program, four features are one round
// of the loop, the index into the rows is unsigned, so that each address is computed anew, and the
// centroid's word is loaded before the point's: the queue before the cache holds one after the other.
extern "C" __global__ void kmn_assign(const float* rows, int features, int points, int clusters,
                                      int* membership, const float* centroids) {
  unsigned p = (gridDim.x * blockIdx.y + blockIdx.x) * blockDim.x + threadIdx.x;
  if (p >= static_cast<unsigned>(points)) return;
  int nearest = -1;
  float least = __builtin_inff();
#pragma unroll 1
  for (int c = 0; c < clusters; ++c) {
    float distance = 0.0f;
    const float* centroid = centroids + c * features;
#pragma unroll 4
    for (int f = 0; f < features; ++f, ++centroid) {
      const float* coordinate = rows + (p * features + f);
      float middle = *centroid;
      float difference = *coordinate - middle;
      distance += difference * difference;
    }
    if (distance < least) {
      least = distance;
      nearest = c;
    }
  }
  membership[p] = nearest;
}
