// Forces between particles of neighbouring boxes, one block per box. See README.md.
#include "common/cuda_lite.h"

constexpr int kMaximum = 100;  // particles of a box

struct Vector {
  double v, x, y, z;
};
struct Neighbor {
  int x, y, z, number;
  unsigned long long first;
};
struct Box {
  int x, y, z, number;
  unsigned long long first;  // of its particles
  int neighbors, unused;
  Neighbor neighbor[26];
};

// e^x for |x| < 700: 2^n e^r with |r| <= ln 2 / 2, the latter by its series to r^13 / 13!, whose
// rest is below 2^-53.
static __device__ __forceinline__ double exponential(double x) {
  double n = __builtin_rint(x * 1.4426950408889634);
  double r = __builtin_fma(n, -0.6931471805599453, x);
  r = __builtin_fma(n, -2.3190468138462996e-17, r);  // what ln 2 has beyond a double
  double sum = 1.0 / 6227020800;
  const double inverse[] = {1.0 / 479001600,
                            1.0 / 39916800,
                            1.0 / 3628800,
                            1.0 / 362880,
                            1.0 / 40320,
                            1.0 / 5040,
                            1.0 / 720,
                            1.0 / 120,
                            1.0 / 24,
                            1.0 / 6,
                            1.0 / 2,
                            1.0,
                            1.0};
#pragma unroll
  for (double factor : inverse) sum = __builtin_fma(sum, r, factor);
  auto power = static_cast<unsigned long long>(static_cast<long long>(n) + 1023) << 52;
  return sum * __builtin_bit_cast(double, power);
}

// Component `offset / 8` of what lies at `at`, in global memory: read, added to, written, before
// the next is read. The compiler would keep it in a register.
template <int offset>
static __device__ __forceinline__ void add_in_memory(unsigned long long at, double a, double b) {
  double sum;
  __asm__ volatile("ld.global.f64 %0, [%1+%2];" : "=d"(sum) : "l"(at), "n"(offset));
  sum += a * b;
  __asm__ volatile("st.global.f64 [%0+%1], %2;" : : "l"(at), "n"(offset), "d"(sum));
}

// a2 is twice the square of the potential's reach.
extern "C" __global__ void lavamd(const Box* box, const Vector* position, const double* charge,
                                  Vector* force, double a2, int particles) {
  __shared__ Vector home[kMaximum], other[kMaximum];
  __shared__ double other_charge[kMaximum];
  const Box* own = box + blockIdx.x;
  const int threads = static_cast<int>(blockDim.x), tx = static_cast<int>(threadIdx.x);
  for (int i = tx; i < particles; i += threads) home[i] = position[own->first + i];
  __syncthreads();

  for (int k = 0; k <= own->neighbors; ++k) {
    unsigned long long first = k == 0 ? own->first : box[own->neighbor[k - 1].number].first;
    for (int i = tx; i < particles; i += threads) {
      other[i] = position[first + i];
      other_charge[i] = charge[first + i];
    }
    __syncthreads();
    for (int i = tx; i < particles; i += threads) {
      Vector sum = force[own->first + i];
      const Vector here = home[i];
#pragma unroll 1
      for (int j = 0; j < particles; ++j) {
        const Vector there = other[j];
        double r2 = here.v + there.v - (here.x * there.x + here.y * there.y + here.z * there.z);
        double potential = exponential(-a2 * r2);
        double scale = 2 * potential * other_charge[j];
        sum.v += other_charge[j] * potential;
        sum.x += scale * (here.x - there.x);
        sum.y += scale * (here.y - there.y);
        sum.z += scale * (here.z - there.z);
      }
      force[own->first + i] = sum;
    }
    __syncthreads();
  }
}

// The same with the sums where the public program has them: in memory, four reads and writes a pair.
extern "C" __global__ void lavamd_in_memory(const Box* box, const Vector* position,
                                            const double* charge, Vector* force, double a2,
                                            int particles) {
  __shared__ Vector home[kMaximum], other[kMaximum];
  __shared__ double other_charge[kMaximum];
  const Box* own = box + blockIdx.x;
  const int threads = static_cast<int>(blockDim.x), tx = static_cast<int>(threadIdx.x);
  for (int i = tx; i < particles; i += threads) home[i] = position[own->first + i];
  __syncthreads();

  for (int k = 0; k <= own->neighbors; ++k) {
    unsigned long long first = k == 0 ? own->first : box[own->neighbor[k - 1].number].first;
    for (int i = tx; i < particles; i += threads) {
      other[i] = position[first + i];
      other_charge[i] = charge[first + i];
    }
    __syncthreads();
    for (int i = tx; i < particles; i += threads) {
      unsigned long long sum;
      __asm__("cvta.to.global.u64 %0, %1;" : "=l"(sum) : "l"(force + own->first + i));
#pragma unroll 1
      for (int j = 0; j < particles; ++j) {
        const Vector here = home[i], there = other[j];
        double r2 = here.v + there.v - (here.x * there.x + here.y * there.y + here.z * there.z);
        double potential = exponential(-a2 * r2), scale = 2 * potential;
        add_in_memory<0>(sum, other_charge[j], potential);
        add_in_memory<8>(sum, other_charge[j], scale * (here.x - there.x));
        add_in_memory<16>(sum, other_charge[j], scale * (here.y - there.y));
        add_in_memory<24>(sum, other_charge[j], scale * (here.z - there.z));
      }
    }
    __syncthreads();
  }
}
