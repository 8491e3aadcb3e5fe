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

// Two instructions twice: x = (x + a) ^ b.
extern "C" __global__ void micro_logic(unsigned* x, unsigned a, unsigned b, unsigned steps) {
  unsigned value = x[own_place()];
  repeat(steps, [&] {
    asm volatile(
        "add.u32 %0, %0, %1;\n\txor.b32 %0, %0, %2;\n\t"
        "add.u32 %0, %0, %1;\n\txor.b32 %0, %0, %2;"
        : "+r"(value)
        : "r"(a), "r"(b));
  });
  x[own_place()] = value;
}

// To a whole number and back, twice.
extern "C" __global__ void micro_convert(float* x, unsigned steps) {
  float value = x[own_place()];
  repeat(steps, [&] {
    asm volatile(
        "{\n\t.reg .s32 whole;\n\t"
        "cvt.rzi.s32.f32 whole, %0;\n\tcvt.rn.f32.s32 %0, whole;\n\t"
        "cvt.rzi.s32.f32 whole, %0;\n\tcvt.rn.f32.s32 %0, whole;\n\t}"
        : "+f"(value));
  });
  x[own_place()] = value;
}

// From the next lane, the last one from the first.
extern "C" __global__ void micro_shuffle(unsigned* x, unsigned steps) {
  unsigned value = x[own_place()];
  const unsigned from = (threadIdx.x + 1) % 32;
  repeat(steps, [&] {
    asm volatile(FOUR_TIMES("shfl.sync.idx.b32 %0, %0, %1, 31, -1;") : "+r"(value) : "r"(from));
  });
  // So that the number of changes is odd.
  asm volatile("shfl.sync.idx.b32 %0, %0, %1, 31, -1;" : "+r"(value) : "r"(from));
  x[own_place()] = value;
}

// x = a / x: one division after another, each of many instructions.
extern "C" __global__ void micro_int_div(unsigned* x, unsigned a, unsigned steps) {
  unsigned value = x[own_place()];
#pragma unroll 1
  for (unsigned i = 0; i < steps; ++i)
    asm volatile(FOUR_TIMES("div.u32 %0, %1, %0;") : "+r"(value) : "r"(a));
  x[own_place()] = value;
}
extern "C" __global__ void micro_float_div(float* x, float a, unsigned steps) {
  float value = x[own_place()];
#pragma unroll 1
  for (unsigned i = 0; i < steps; ++i)
    asm volatile(FOUR_TIMES("div.rn.f32 %0, %1, %0;") : "+f"(value) : "f"(a));
  x[own_place()] = value;
}
extern "C" __global__ void micro_double_div(double* x, double a, unsigned steps) {
  double value = x[own_place()];
#pragma unroll 1
  for (unsigned i = 0; i < steps; ++i)
    asm volatile(FOUR_TIMES("div.rn.f64 %0, %1, %0;") : "+d"(value) : "d"(a));
  x[own_place()] = value;
}

// All threads of the block wait for one another.
extern "C" __global__ void micro_barrier(unsigned* x, unsigned steps) {
  repeat(steps, [&] { asm volatile(FOUR_TIMES("bar.sync 0;")::: "memory"); });
  x[own_place()] += steps;
}

// A loop of x = (x + a) ^ b whose every pass ends in a comparison and a branch back: 128 passes a
// step.
extern "C" __global__ void micro_loop(unsigned* x, unsigned a, unsigned b, unsigned steps) {
  unsigned value = x[own_place()];
#pragma unroll 1
  for (unsigned i = 0; i < steps * kUnrolled * 4; ++i)
    asm volatile("add.u32 %0, %0, %1;\n\txor.b32 %0, %0, %2;" : "+r"(value) : "r"(a), "r"(b));
  x[own_place()] = value;
}

// Branches that are taken, over a dozen instructions, by a predicate that is long there, with an
// exclusive or behind each: eight, then the loop's, 16 times a step.
extern "C" __global__ void micro_jump(unsigned* x, unsigned a, unsigned b, unsigned steps) {
  unsigned value = x[own_place()];
#define JUMP(label)                                                                           \
  "@taken bra " label ";\n\t" FOUR_TIMES("mad.lo.u32 %0, %0, %1, %2;")                        \
      FOUR_TIMES("mad.lo.u32 %0, %0, %2, %1;") FOUR_TIMES("mad.lo.u32 %0, %0, %1, %2;") label \
      ":\n\txor.b32 %0, %0, %2;\n\t"
#pragma unroll 1
  for (unsigned i = 0; i < steps * 16; ++i)
    asm volatile("{\n\t.reg .pred taken;\n\tsetp.ne.u32 taken, %1, 0;\n\t" JUMP("J0") JUMP("J1")
                     JUMP("J2") JUMP("J3") JUMP("J4") JUMP("J5") JUMP("J6") JUMP("J7") "}"
                 : "+r"(value)
                 : "r"(a), "r"(b));
#undef JUMP
  x[own_place()] = value;
}
