// Chains of one instruction: each waits for the one before it. See README.md.
#include "common/cuda_lite.h"

// A step is 32 times four instructions, then the loop's count and branch: nvcc unrolls the measured
// programs' loops, too.
constexpr unsigned kUnrolled = 32;

template <class F>
static __device__ __forceinline__ void repeat(unsigned steps, F f) {
#pragma unroll 1
  for (unsigned i = 0; i < steps; ++i)
#pragma unroll
    for (unsigned k = 0; k < kUnrolled; ++k) f();
}
#define FOUR_TIMES(instruction) \
  instruction "\n\t" instruction "\n\t" instruction "\n\t" instruction "\n\t"

static __device__ __forceinline__ unsigned own_place() {
  return blockIdx.x * blockDim.x + threadIdx.x;
}

// x = a b + x, over and over.
extern "C" __global__ void micro_int(unsigned* x, unsigned a, unsigned b, unsigned steps) {
  unsigned value = x[own_place()];
  repeat(steps, [&] {
    asm volatile(FOUR_TIMES("mad.lo.s32 %0, %1, %2, %0;") : "+r"(value) : "r"(a), "r"(b));
  });
  x[own_place()] = value;
}

extern "C" __global__ void micro_float(float* x, float a, float b, unsigned steps) {
  float value = x[own_place()];
  repeat(steps, [&] {
    asm volatile(FOUR_TIMES("fma.rn.f32 %0, %1, %2, %0;") : "+f"(value) : "f"(a), "f"(b));
  });
  x[own_place()] = value;
}

extern "C" __global__ void micro_double(double* x, double a, double b, unsigned steps) {
  double value = x[own_place()];
  repeat(steps, [&] {
    asm volatile(FOUR_TIMES("fma.rn.f64 %0, %1, %2, %0;") : "+d"(value) : "d"(a), "d"(b));
  });
  x[own_place()] = value;
}

// Two halves in a word: x = a x + b.
extern "C" __global__ void micro_half2(unsigned* x, unsigned a, unsigned b, unsigned steps) {
  unsigned value = x[own_place()];
  repeat(steps, [&] {
    asm volatile(FOUR_TIMES("fma.rn.f16x2 %0, %0, %1, %2;") : "+r"(value) : "r"(a), "r"(b));
  });
  // So that the number of changes is odd.
  asm volatile("fma.rn.f16x2 %0, %0, %1, %2;" : "+r"(value) : "r"(a), "r"(b));
  x[own_place()] = value;
}

extern "C" __global__ void micro_sin(float* x, unsigned steps) {
  float value = x[own_place()];
  repeat(steps, [&] { asm volatile(FOUR_TIMES("sin.approx.ftz.f32 %0, %0;") : "+f"(value)); });
  x[own_place()] = value;
}

// D = A B + D of 16x16 tiles: all elements of A are 1/16, of B 1, so that each product adds 1. One
// element of D for each thread comes back.
extern "C" __global__ void micro_tensor(float* x, unsigned steps) {
  constexpr unsigned kSixteenth = 0x2c002c00, kOne = 0x3c003c00;  // two halves
  float d[8];
#pragma unroll
  for (float& each : d) each = x[own_place()];
  repeat(steps, [&] {
    asm volatile(
        "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%0, %1, %2, %3, %4, %5, %6, %7}, "
        "{%8, %8, %8, %8, %8, %8, %8, %8}, {%9, %9, %9, %9, %9, %9, %9, %9}, "
        "{%0, %1, %2, %3, %4, %5, %6, %7};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
          "+f"(d[7])
        : "r"(kSixteenth), "r"(kOne));
  });
  float sum = 0;
#pragma unroll
  for (const float each : d) sum += each;
  x[own_place()] = sum;
}
