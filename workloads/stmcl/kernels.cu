// What it would save to make one point of a clustering a centre. See README.md.
#include "common/cuda_lite.h"

// 32 bytes, as the well-known program's with a pointer and a long of 64 bits: fields lie in stripes
// of that width.
struct Point {
  float weight;
  unsigned unused[3];
  unsigned centre;  // the point that is its centre
  unsigned unused_half;
  float cost;  // weight times squared distance to its centre
  unsigned padding;
};

// Squared distance of points a and b, dimension by dimension: coordinates[d * points + p].
static __device__ __forceinline__ float squared_distance(const float* coordinates, unsigned points,
                                                         unsigned dimensions, unsigned a,
                                                         unsigned b) {
  float sum = 0.0f;
  const float* of_a = coordinates + a;
  const float* of_b = coordinates + b;
#pragma unroll 4
  for (unsigned d = 0; d < dimensions; ++d) {
    float difference = *of_a - *of_b;
    sum = fmaf(difference, difference, sum);
    of_a += points;
    of_b += points;
  }
  return sum;
}

// Thread = point. A point nearer to the candidate than to its centre sets its flag and adds what
// that changes to the last word of its row of `stride` words; any other adds what it would cost to
// move it to the word of its centre, whose number slot[centre] is.
extern "C" __global__ void stmcl_gain(const Point* point, const float* coordinates,
                                      const unsigned* slot, float* rows, unsigned char* nearer,
                                      unsigned points, unsigned dimensions, unsigned candidate,
                                      unsigned stride) {
  unsigned p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= points) return;
  float distance = squared_distance(coordinates, points, dimensions, p, candidate);
  float cost = __fmul_rn(distance, point[p].weight);
  float* row = rows + p * stride;
  if (cost < point[p].cost) {
    nearer[p] = 1;
    row[stride - 1] += cost - point[p].cost;  // loaded again: the store may have changed it
  } else {
    row[slot[point[p].centre]] += point[p].cost - cost;
  }
}
