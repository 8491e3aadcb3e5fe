// What it would save to make one point of a clustering a centre. See README.md.
#include "common/cuda_lite.h"

struct Point {  // 16 bytes: fields lie in stripes of that width
  float weight;
  unsigned centre;  // the point that is its centre
  float cost;       // weight times squared distance to its centre
  unsigned unused;
};

// Squared distance of points a and b, dimension by dimension: coordinates[d * points + p].
static __device__ __forceinline__ float squared_distance(const float* coordinates, unsigned points,
                                                         unsigned dimensions, unsigned a,
                                                         unsigned b) {
  float sum = 0.0f;
  for (unsigned d = 0; d < dimensions; ++d) {
    float difference = coordinates[d * points + a] - coordinates[d * points + b];
    sum = fmaf(difference, difference, sum);
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
  float current = point[p].cost;
  float* row = rows + p * stride;
  if (cost < current) {
    nearer[p] = 1;
    row[stride - 1] += cost - current;
  } else {
    row[slot[point[p].centre]] += current - cost;
  }
}
