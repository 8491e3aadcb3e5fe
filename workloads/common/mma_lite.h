// What tensor-core kernels of machines since 8.0 are made of: copies to shared memory beside the
// warp (cp.async), matrices of 8 x 8 halves from there to registers (ldmatrix), and products of
// 16 x 8 x 16 with sums in single precision, whose layout over the lanes is known (PTX ISA,
// "Matrix Fragments for mma.m16n8k16"): lane 4 g + t has rows g and g + 8, columns 2 t and 2 t + 1.
#pragma once
#include "common/half_lite.h"

/// An address of shared memory, in bytes.
using SharedAddress = unsigned;
static __device__ __forceinline__ SharedAddress shared_address(const void* at) {
  SharedAddress address;
  __asm__("{\n\t.reg .u64 wide;\n\tcvta.to.shared.u64 wide, %1;\n\tcvt.u32.u64 %0, wide;\n\t}"
          : "=r"(address)
          : "l"(at));
  return address;
}

/// 16 bytes to `to` + kOffset.
template <unsigned kOffset>
static __device__ __forceinline__ void copy_16(SharedAddress to, const half_bits* from) {
  __asm__ volatile("cp.async.cg.shared.global [%0+%2], [%1], 16;"
                   :
                   : "r"(to), "l"(from), "n"(kOffset)
                   : "memory");
}
/// Zeros when not `wanted`, and then `from` is not read.
template <unsigned kOffset>
static __device__ __forceinline__ void copy_16(SharedAddress to, const half_bits* from,
                                               bool wanted) {
  __asm__ volatile("cp.async.cg.shared.global [%0+%3], [%1], 16, %2;"
                   :
                   : "r"(to), "l"(from), "r"(wanted ? 16 : 0), "n"(kOffset)
                   : "memory");
}
/// What the thread has copied since the last call is a group.
static __device__ __forceinline__ void end_copy_group() {
  __asm__ volatile("cp.async.commit_group;" : : : "memory");
}
/// All groups of the thread but the youngest `kGroups` have come.
template <int kGroups>
static __device__ __forceinline__ void wait_for_copies() {
  __asm__ volatile("cp.async.wait_group %0;" : : "n"(kGroups) : "memory");
}
/// Four matrices of 8 x 8 halves; lanes 8 i to 8 i + 7 have the addresses of the rows of number i.
struct FourMatrices {
  unsigned word[4];
};
/// Of rows at `row` + kOffset.
#define LOAD_MATRICES(name, words)                                                            \
  template <unsigned kOffset>                                                                 \
  static __device__ __forceinline__ FourMatrices name(SharedAddress row) {                    \
    FourMatrices to;                                                                          \
    __asm__ volatile("ldmatrix.sync.aligned.m8n8.x4" words                                    \
                     ".shared.b16 {%0, %1, %2, %3}, [%4+%5];"                                 \
                     : "=r"(to.word[0]), "=r"(to.word[1]), "=r"(to.word[2]), "=r"(to.word[3]) \
                     : "r"(row), "n"(kOffset)                                                 \
                     : "memory");                                                             \
    return to;                                                                                \
  }
LOAD_MATRICES(load_matrices, "")
LOAD_MATRICES(load_transposed, ".trans")
#undef LOAD_MATRICES

/// As they are loaded.
static __device__ __forceinline__ void store_matrices(SharedAddress row, const unsigned* word) {
  __asm__ volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
                   :
                   : "r"(row), "r"(word[0]), "r"(word[1]), "r"(word[2]), "r"(word[3])
                   : "memory");
}

/// kCount of them, kApart bytes from one to the next.
template <unsigned kCount, unsigned kApart, unsigned kFrom = 0>
static __device__ __forceinline__ void load_matrices(FourMatrices (&to)[kCount],
                                                     SharedAddress row) {
  to[kFrom] = load_matrices<kFrom * kApart>(row);
  if constexpr (kFrom + 1 < kCount) load_matrices<kCount, kApart, kFrom + 1>(to, row);
}
template <unsigned kCount, unsigned kApart, unsigned kFrom = 0>
static __device__ __forceinline__ void load_all_transposed(FourMatrices (&to)[kCount],
                                                           SharedAddress row) {
  to[kFrom] = load_transposed<kFrom * kApart>(row);
  if constexpr (kFrom + 1 < kCount) load_all_transposed<kCount, kApart, kFrom + 1>(to, row);
}

/// 16 x 8 sums: at[0], at[1] of row g, at[2], at[3] of row g + 8.
struct Sums {
  float at[4];
};
/// `left`: 16 x 16, the halves of its rows 0 to 7 and 8 to 15, then the same of columns 8 to 15.
/// `first`, `second`: of the right factor, 16 x 8, rows 0 to 7 and 8 to 15.
static __device__ __forceinline__ void add_product(Sums& sums, const FourMatrices& left,
                                                   unsigned first, unsigned second) {
  __asm__(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
      "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sums.at[0]), "+f"(sums.at[1]), "+f"(sums.at[2]), "+f"(sums.at[3])
      : "r"(left.word[0]), "r"(left.word[1]), "r"(left.word[2]), "r"(left.word[3]), "r"(first),
        "r"(second));
}

/// By one instruction; what is too small for a normal number is zero.
static __device__ __forceinline__ float power_of_two(float x) {
  float power;
  __asm__("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
  return power;
}
/// Two numbers to the nearest halves, `low` in the lower 16 bits, by one instruction.
static __device__ __forceinline__ unsigned two_halves(float low, float high) {
  unsigned word;
  __asm__("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
  return word;
}

/// A word to shared memory, and 16 bytes from there.
static __device__ __forceinline__ void put_word(SharedAddress to, unsigned word) {
  __asm__ volatile("st.shared.b32 [%0], %1;" : : "r"(to), "r"(word) : "memory");
}
static __device__ __forceinline__ float4 get_chunk(SharedAddress from) {
  float x, y, z, w;
  __asm__ volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                   : "=f"(x), "=f"(y), "=f"(z), "=f"(w)
                   : "r"(from)
                   : "memory");
  float4 chunk = {x, y, z, w};
  return chunk;
}
/// What lanes of the warp stored is there for the others.
static __device__ __forceinline__ void sync_lanes() {
  __asm__ volatile("bar.warp.sync 0xffffffff;" : : : "memory");
}
