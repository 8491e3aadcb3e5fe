// Lane types and loops of the engine, compiled once per instruction set (RADDLE_ISA names the
// namespace). No standard library here: its inline functions, compiled for AVX-512, must not become
// the linker's choice for all. Intrinsics are x86's and optional: on another processor the loops
// over lanes and compiler vectors are all there is (the build "portable").
#pragma once
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "raddle/exec/isa/record.h"

#define RADDLE_INLINE inline __attribute__((always_inline))
#define RADDLE_LIKELY(x) __builtin_expect(!!(x), 1)
#if defined(__clang__)
// clang unrolls 32 trips before it vectorises, and then does not vectorise.
#define RADDLE_LANES \
  _Pragma("clang loop vectorize(assume_safety) unroll(disable)") for (int i = 0; i < kWidth; ++i)
#define RADDLE_UNROLL _Pragma("clang loop unroll(full)")
#else
#define RADDLE_LANES _Pragma("GCC ivdep") for (int i = 0; i < kWidth; ++i)
#define RADDLE_UNROLL _Pragma("GCC unroll 32")
#endif

namespace raddle::exec::RADDLE_ISA {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;
using f32 = float;
using f64 = double;

constexpr int kWidth = 32;
/// A register of the processor's widest: compilers take wider vectors apart.
#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif
constexpr u32 kFull = ~0u;

/// Bit i in element i: testing lanes against a table vectorises where shifting by i does not (SSE).
alignas(64) static constexpr u32 kBit[32] = {
    1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,
    1u << 8,  1u << 9,  1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15,
    1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21, 1u << 22, 1u << 23,
    1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31};
/// 0 .. 31.
alignas(64) static constexpr u32 kIota[32] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                              11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                                              22, 23, 24, 25, 26, 27, 28, 29, 30, 31};

template <class T>
RADDLE_INLINE T* lanes(char* frame, u32 offset) {
  return reinterpret_cast<T*>(frame + offset);
}
RADDLE_INLINE u32& predicate(char* frame, u32 offset) {
  return *reinterpret_cast<u32*>(frame + offset);
}
template <class To, class From>
RADDLE_INLINE To bits(From from) {
  return __builtin_bit_cast(To, from);
}
RADDLE_INLINE unsigned lowest_lane(u32 mask) { return static_cast<unsigned>(__builtin_ctz(mask)); }

/// d = F(a, b, c) in every lane of `e`.
template <class F>
RADDLE_INLINE void alu(const Record* ip, char* frame, u32 e) {
  using D = typename F::D;
  D* d = lanes<D>(frame, ip->d);
  const auto* a = lanes<typename F::A>(frame, ip->a);
  const auto* b = lanes<typename F::B>(frame, ip->b);
  const auto* c = lanes<typename F::C>(frame, ip->c);
  const u32 k = static_cast<u32>(ip->imm);
  if (RADDLE_LIKELY(e == kFull)) {
    RADDLE_LANES d[i] = F::f(a[i], b[i], c[i], k);
  } else {
    RADDLE_LANES {  // compute all, keep some
      const D v = F::f(a[i], b[i], c[i], k);
      d[i] = (e & kBit[i]) != 0 ? v : d[i];
    }
  }
}

/// One bit per lane of F(left, right), every lane.
template <class F>
RADDLE_INLINE u32 compare(const Record* ip, char* frame) {
  using T = typename F::A;
  const T* left = lanes<T>(frame, ip->a);
  const T* right = lanes<T>(frame, ip->b);
  u32 result = 0;
  // No compiler turns a loop over lanes into mask bits; comparing compiler vectors does it.
  typedef T V __attribute__((vector_size(kVectorBytes)));
  constexpr int kPer = kVectorBytes / static_cast<int>(sizeof(T));
  for (int k = 0; k < kWidth / kPer; ++k) {
    V x, y;
    __builtin_memcpy(&x, left + k * kPer, kVectorBytes);
    __builtin_memcpy(&y, right + k * kPer, kVectorBytes);
    const auto truth = F::f(x, y);
#if defined(__AVX512F__)
    __m512i packed;
    __builtin_memcpy(&packed, &truth, kVectorBytes);
    result |= u32(sizeof(T) == 4 ? _mm512_movepi32_mask(packed) : _mm512_movepi64_mask(packed))
              << (k * kPer);
#elif defined(__AVX2__)
    __m256i packed;
    __builtin_memcpy(&packed, &truth, kVectorBytes);
    result |= u32(sizeof(T) == 4 ? _mm256_movemask_ps(_mm256_castsi256_ps(packed))
                                 : _mm256_movemask_pd(_mm256_castsi256_pd(packed)))
              << (k * kPer);
#elif defined(__SSE2__)
    __m128i packed;
    __builtin_memcpy(&packed, &truth, kVectorBytes);
    result |= u32(sizeof(T) == 4 ? _mm_movemask_ps(_mm_castsi128_ps(packed))
                                 : _mm_movemask_pd(_mm_castsi128_pd(packed)))
              << (k * kPer);
#else
    for (int i = 0; i < kPer; ++i) result |= truth[i] != 0 ? kBit[k * kPer + i] : 0;
#endif
  }
  return result;
}
template <class F>
RADDLE_INLINE void set_predicate(const Record* ip, char* frame, u32 e) {
  const u32 r = compare<F>(ip, frame) ^ static_cast<u32>(ip->imm);
  u32& p = predicate(frame, ip->d);
  p = (p & ~e) | (r & e);
}

}  // namespace raddle::exec::RADDLE_ISA
