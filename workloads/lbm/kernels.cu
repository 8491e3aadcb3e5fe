// Lattice Boltzmann in three dimensions: cells collide and hand on what moves. See README.md.
#include "common/cuda_lite.h"

// What a cell holds, in the order in which it is read and written. N, S: rows up and down; E, W:
// columns; T, B: planes; two letters: both.
enum Field {
  kC,
  kN,
  kS,
  kE,
  kW,
  kT,
  kB,
  kNE,
  kNW,
  kSE,
  kSW,
  kNT,
  kNB,
  kST,
  kSB,
  kET,
  kEB,
  kWT,
  kWB
};
constexpr int kMoving = 19;  // fields; the twentieth says what the cell is
constexpr unsigned kObstacle = 1, kDriven = 2;

constexpr float kOmega = 1.95f;  // of the difference from equilibrium a collision takes away
constexpr float kDrivenX = 0.005f, kDrivenY = 0.002f;

// Words between neighbours of a field, and from a field to the next.
struct Strides {
  int row, plane;
  long long field;
};

template <class Move>
static __device__ __forceinline__ void for_each_field(Move move) {
  constexpr int kX[] = {0, 0, 0, 1, -1, 0, 0, 1, -1, 1, -1, 0, 0, 0, 0, 1, 1, -1, -1};
  constexpr int kY[] = {0, 1, -1, 0, 0, 0, 0, 1, 1, -1, -1, 1, 1, -1, -1, 0, 0, 0, 0};
  constexpr int kZ[] = {0, 0, 0, 0, 0, 1, -1, 0, 0, 0, 0, 1, -1, 1, -1, 1, -1, 1, -1};
#pragma unroll
  for (int i = 0; i < kMoving; ++i) move(i, kX[i], kY[i], kZ[i]);
}

// sum + sign * term, without an instruction where nothing is added.
static __device__ __forceinline__ float plus(float sum, int sign, float term) {
  return sign == 0 ? sum : sign > 0 ? sum + term : sum - term;
}
constexpr float kNothing = -0.0f;  // -0 + x is x for every x

// Towards equilibrium (Bhatnagar, Gross, Krook); a driven cell has the lid's velocity.
static __device__ __forceinline__ void collide(float (&f)[kMoving], bool driven) {
  float density = kNothing;
#pragma unroll
  for (float one : f) density += one;
  float x = f[kE] - f[kW] + f[kNE] - f[kNW] + f[kSE] - f[kSW] + f[kET] + f[kEB] - f[kWT] - f[kWB];
  float y = f[kN] - f[kS] + f[kNE] + f[kNW] - f[kSE] - f[kSW] + f[kNT] + f[kNB] - f[kST] - f[kSB];
  float z = f[kT] - f[kB] + f[kNT] - f[kNB] + f[kST] - f[kSB] + f[kET] - f[kEB] + f[kWT] - f[kWB];
  x /= density;
  y /= density;
  z /= density;
  if (driven) x = kDrivenX, y = kDrivenY, z = 0;
  const float rest = 1 - 1.5f * (x * x + y * y + z * z);
  for_each_field([&](int i, int dx, int dy, int dz) {
    const int distance = dx * dx + dy * dy + dz * dz;
    const float weight = distance == 0 ? 1.0f / 3 : distance == 1 ? 1.0f / 18 : 1.0f / 36;
    const float along = plus(plus(plus(kNothing, dx, x), dy, y), dz, z);
    f[i] = (1 - kOmega) * f[i] + kOmega * weight * density * (along * (3 + 4.5f * along) + rest);
  });
}

// What came towards an obstacle goes back.
static __device__ __forceinline__ void turn_back(float (&f)[kMoving]) {
  constexpr Field kPairs[][2] = {{kN, kS},   {kE, kW},   {kT, kB},   {kNE, kSW}, {kNW, kSE},
                                 {kNT, kSB}, {kNB, kST}, {kET, kWB}, {kEB, kWT}};
#pragma unroll
  for (const auto& [a, b] : kPairs) {
    const float was = f[a];
    f[a] = f[b];
    f[b] = was;
  }
}

// One step: a block has a row of cells, a thread reads its own cell and writes to the neighbours'.
// from, to: cell 0 of row 0 of plane 0; two planes more lie on either side.
static __device__ __forceinline__ void step(const float* from, float* to, Strides by) {
  const long long cell = threadIdx.x + static_cast<long long>(blockIdx.x) * by.row +
                         static_cast<long long>(blockIdx.y) * by.plane;
  from += cell;
  to += cell;
  float f[kMoving];
#pragma unroll
  for (float& one : f) {
    one = *from;
    from += by.field;
  }
  const unsigned kind = __float_as_uint(*from);
  if (kind & kObstacle) turn_back(f);
  else collide(f, kind & kDriven);
  for_each_field([&](int i, int dx, int dy, int dz) {
    to[dx + dy * by.row + dz * by.plane] = f[i];
    to += by.field;
  });
}

extern "C" __global__ void lbm(const float* from, float* to, int row, int plane, long long field) {
  step(from, to, {row, plane, field});
}

// As lbm, 24 planes of 120 rows of 120 cells: addresses are constants away from the first.
extern "C" __global__ void lbm_120_24(const float* from, float* to) {
  constexpr int kRow = 128, kPlane = 120 * kRow;
  step(from, to, {kRow, kPlane, (24 + 4) * static_cast<long long>(kPlane)});
}
