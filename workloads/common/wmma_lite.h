// Matrix instructions of a warp, 16 x 16 x 16, half precision summed in single: of machines since
// 7.0. Which lane has which element is open, so all goes through shared memory; fragments of sums
// that were loaded alike may be combined element by element.
#pragma once
#include "common/half_lite.h"

/// Of a left or right factor: 256 halves, over the lanes.
struct FactorFragment {
  unsigned word[8];
};
struct SumFragment {
  float at[8];
};

#define WMMA_LOAD(name, what)                                                                  \
  static __device__ __forceinline__ void name(FactorFragment& to, const half_bits* shared,     \
                                              unsigned stride) {                               \
    __asm__ volatile("{\n\t.reg .u64 at;\n\tcvta.to.shared.u64 at, %8;\n\twmma.load." what     \
                     ".m16n16k16.shared.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, [at], %9;\n\t}"  \
                     : "=r"(to.word[0]), "=r"(to.word[1]), "=r"(to.word[2]), "=r"(to.word[3]), \
                       "=r"(to.word[4]), "=r"(to.word[5]), "=r"(to.word[6]), "=r"(to.word[7])  \
                     : "l"(shared), "r"(stride)                                                \
                     : "memory");                                                              \
  }
WMMA_LOAD(load_left, "a.sync.aligned.row")              // [row][depth]
WMMA_LOAD(load_right, "b.sync.aligned.row")             // [depth][column]
WMMA_LOAD(load_right_transposed, "b.sync.aligned.col")  // [column][depth]
#undef WMMA_LOAD

#define WMMA_MULTIPLY(name, layouts)                                                               \
  static __device__ __forceinline__ void name(SumFragment& sum, const FactorFragment& left,        \
                                              const FactorFragment& right) {                       \
    __asm__ volatile("wmma.mma.sync.aligned." layouts                                              \
                     ".m16n16k16.f32.f32 {%0, %1, %2, %3, %4, %5, %6, %7}, "                       \
                     "{%8, %9, %10, %11, %12, %13, %14, %15}, "                                    \
                     "{%16, %17, %18, %19, %20, %21, %22, %23}, "                                  \
                     "{%0, %1, %2, %3, %4, %5, %6, %7};"                                           \
                     : "+f"(sum.at[0]), "+f"(sum.at[1]), "+f"(sum.at[2]), "+f"(sum.at[3]),         \
                       "+f"(sum.at[4]), "+f"(sum.at[5]), "+f"(sum.at[6]), "+f"(sum.at[7])          \
                     : "r"(left.word[0]), "r"(left.word[1]), "r"(left.word[2]), "r"(left.word[3]), \
                       "r"(left.word[4]), "r"(left.word[5]), "r"(left.word[6]), "r"(left.word[7]), \
                       "r"(right.word[0]), "r"(right.word[1]), "r"(right.word[2]),                 \
                       "r"(right.word[3]), "r"(right.word[4]), "r"(right.word[5]),                 \
                       "r"(right.word[6]), "r"(right.word[7]));                                    \
  }
WMMA_MULTIPLY(multiply, "row.row")
WMMA_MULTIPLY(multiply_transposed, "row.col")
#undef WMMA_MULTIPLY

/// By rows, `stride` floats apart.
static __device__ __forceinline__ void store_sum(float* shared, const SumFragment& sum,
                                                 unsigned stride) {
  __asm__ volatile(
      "{\n\t.reg .u64 at;\n\tcvta.to.shared.u64 at, %0;\n\t"
      "wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [at], "
      "{%1, %2, %3, %4, %5, %6, %7, %8}, %9;\n\t}"
      :
      : "l"(shared), "f"(sum.at[0]), "f"(sum.at[1]), "f"(sum.at[2]), "f"(sum.at[3]), "f"(sum.at[4]),
        "f"(sum.at[5]), "f"(sum.at[6]), "f"(sum.at[7]), "r"(stride)
      : "memory");
}
static __device__ __forceinline__ void load_sum(SumFragment& to, const float* shared,
                                                unsigned stride) {
  __asm__ volatile(
      "{\n\t.reg .u64 at;\n\tcvta.to.shared.u64 at, %8;\n\t"
      "wmma.load.c.sync.aligned.row.m16n16k16.shared.f32 {%0, %1, %2, %3, %4, %5, %6, %7}, "
      "[at], %9;\n\t}"
      : "=f"(to.at[0]), "=f"(to.at[1]), "=f"(to.at[2]), "=f"(to.at[3]), "=f"(to.at[4]),
        "=f"(to.at[5]), "=f"(to.at[6]), "=f"(to.at[7])
      : "l"(shared), "r"(stride)
      : "memory");
}

/// What lanes of the warp stored is there for the others.
static __device__ __forceinline__ void sync_warp() {
  __asm__ volatile("bar.warp.sync 0xffffffff;" : : : "memory");
}
