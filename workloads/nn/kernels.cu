// Distance of every record to a point. See README.md.
#include "common/cuda_lite.h"

extern "C" __global__ void nn(const float2* __restrict__ places, float* __restrict__ distance,
                              unsigned n, float latitude, float longitude) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float2 place = places[i];
  float dy = place.x - latitude, dx = place.y - longitude;
  distance[i] = sqrtf(dy * dy + dx * dx);
}
