// Scalar arithmetic behind the operation lists: what PTX says where C++ says something else or
// nothing. Source: PTX ISA 9.0, chapter 9.7. Written branch-free so that loops over lanes
// vectorise.
#pragma once
#include "raddle/exec/lanes/lanes.h"

namespace raddle::exec::RADDLE_ISA {

// --- integers ------------------------------------------------------------------------------------
RADDLE_INLINE s32 clamp_s32(s64 x) {
  return x > 0x7fffffff ? 0x7fffffff : x < -0x80000000ll ? -0x7fffffff - 1 : s32(x);
}
RADDLE_INLINE s32 low24(u32 x) { return s32(x << 8) >> 8; }
RADDLE_INLINE u64 high_product(u64 a, u64 b) {
  return u64(static_cast<unsigned __int128>(a) * b >> 64);
}
RADDLE_INLINE s64 high_product_signed(s64 a, s64 b) {
  return s64(static_cast<__int128>(a) * b >> 64);
}
// Through double, which is exact for 32 bits and has a vector form. Division by zero gives all
// ones, as the hardware does.
RADDLE_INLINE u32 divide_u32(u32 a, u32 b) {
  const f64 q = f64(a) / f64(b == 0 ? 1 : b);
  return b == 0 ? ~0u : u32(s64(q));
}
RADDLE_INLINE u32 divide_s32(s32 a, s32 b) {
  const f64 q = f64(a) / f64(b == 0 ? 1 : b);
  return b == 0 ? ~0u : u32(s64(q));
}
RADDLE_INLINE u64 divide_s64(s64 a, s64 b) {
  if (b == 0) return ~u64(0);
  return b == -1 ? u64(0) - u64(a) : u64(a / b);  // x86 traps on the one that overflows
}
RADDLE_INLINE u32 low_u(u32 x) { return x & 0xffff; }
RADDLE_INLINE s32 low_s(u32 x) { return s32(x << 16) >> 16; }
RADDLE_INLINE u32 pack16(u32 low, u32 high) { return (low & 0xffff) | high << 16; }
RADDLE_INLINE u32 lookup3(u32 a, u32 b, u32 c, u32 table) {
  u32 r = 0;
  for (u32 t = 0; t < 8; ++t) {
    const u32 on = 0u - (table >> t & 1);
    r |= on & ((t & 4) ? a : ~a) & ((t & 2) ? b : ~b) & ((t & 1) ? c : ~c);
  }
  return r;
}
RADDLE_INLINE u32 permute(u32 a, u32 b, u32 selectors) {
  const u64 bytes = u64(b) << 32 | a;
  u32 r = 0;
  for (u32 j = 0; j < 4; ++j) {
    const u32 s = selectors >> (4 * j);
    const u32 byte = u32(bytes >> (8 * (s & 7))) & 255;
    const u32 sign = (byte >> 7) * 255;
    r |= ((s & 8) != 0 ? sign : byte) << (8 * j);
  }
  return r;
}
RADDLE_INLINE u32 backward4(u32 c) {
  return c == 0 ? 0x5670u : c == 1 ? 0x6701u : c == 2 ? 0x7012u : 0x0123u;
}
RADDLE_INLINE u32 edge_low(u32 c) {
  return c == 0 ? 0x3210u : c == 1 ? 0x3211u : c == 2 ? 0x3222u : 0x3333u;
}
RADDLE_INLINE u32 edge_high(u32 c) {
  return c == 0 ? 0x0000u : c == 1 ? 0x1110u : c == 2 ? 0x2210u : 0x3210u;
}
RADDLE_INLINE u32 reverse(u32 x) {
  x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
  x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
  x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
  return __builtin_bswap32(x);
}
RADDLE_INLINE u32 field_mask(u32 at, u32 length) {
  const u32 ones = length > 31 ? ~0u : (1u << (length & 31)) - 1;
  return at > 31 ? 0 : ones << (at & 31);
}
RADDLE_INLINE u64 field_mask64(u32 at, u32 length) {
  const u64 ones = length > 63 ? ~u64(0) : (u64(1) << (length & 63)) - 1;
  return at > 63 ? 0 : ones << (at & 63);
}
RADDLE_INLINE u32 extract_u(u32 a, u32 at, u32 length) {
  return (at > 31 ? 0 : a >> (at & 31)) & field_mask(0, length);
}
RADDLE_INLINE u64 extract_u64(u64 a, u32 at, u32 length) {
  return (at > 63 ? 0 : a >> (at & 63)) & field_mask64(0, length);
}
RADDLE_INLINE u32 extract_s(u32 a, u32 at, u32 length) {
  const s32 x = s32(a) >> (at > 31 ? 31 : at);
  const u32 gap = (32 - length) & 31;
  return length == 0 ? 0 : length > 31 ? u32(x) : u32(s32(u32(x) << gap) >> gap);
}
RADDLE_INLINE u64 extract_s64(u64 a, u32 at, u32 length) {
  const s64 x = s64(a) >> (at > 63 ? 63 : at);
  const u32 gap = (64 - length) & 63;
  return length == 0 ? 0 : length > 63 ? u64(x) : u64(s64(u64(x) << gap) >> gap);
}
RADDLE_INLINE u32 dot_part(u32 x, u32 shift, u32 bits_wide, bool is_signed) {
  const u32 gap = 32 - bits_wide;
  const u32 v = x >> shift << gap;
  return is_signed ? u32(s32(v) >> gap) : v >> gap;
}
/// k: bit 0 a is signed, bit 1 b is.
RADDLE_INLINE u32 dot4(u32 a, u32 b, u32 c, u32 k) {
  for (u32 j = 0; j < 4; ++j) c += dot_part(a, 8 * j, 8, k & 1) * dot_part(b, 8 * j, 8, k & 2);
  return c;
}
/// k: as above, bit 2 takes the high two bytes of b.
RADDLE_INLINE u32 dot2(u32 a, u32 b, u32 c, u32 k) {
  const u32 from = k & 4 ? 16 : 0;
  for (u32 j = 0; j < 2; ++j)
    c += dot_part(a, 16 * j, 16, k & 1) * dot_part(b, from + 8 * j, 8, k & 2);
  return c;
}
RADDLE_INLINE u32 carry64(u64 a, u64 b, u32 c) {
  const u64 s = a + b;
  return u32(s < a) | u32(s + c < s);
}
RADDLE_INLINE u32 find_nth_set(u32 mask, u32 base, s32 nth) {
  if (nth == 0) return mask >> (base & 31) & 1 ? base : ~0u;
  s32 found = 0;
  const s32 step = nth > 0 ? 1 : -1;
  for (s32 at = s32(base); at >= 0 && at < 32; at += step)
    if ((mask >> at & 1) != 0 && (found += step) == nth) return u32(at);
  return ~0u;
}

// --- single and double ---------------------------------------------------------------------------
RADDLE_INLINE f32 nan_f32() { return bits<f32>(0x7fffffffu); }
RADDLE_INLINE f64 nan_f64() { return bits<f64>(u64(0xfff8000000000000ull)); }
RADDLE_INLINE f32 canonical(f32 x) { return x == x ? x : nan_f32(); }
RADDLE_INLINE f64 canonical(f64 x) { return x == x ? x : nan_f64(); }
/// Subnormals to zero of the same sign.
RADDLE_INLINE f32 flush(f32 x) {
  const u32 b = bits<u32>(x);
  return bits<f32>((b & 0x7f800000u) == 0 ? b & 0x80000000u : b);
}
RADDLE_INLINE f64 flush(f64 x) {
  const u64 b = bits<u64>(x);
  return bits<f64>((b & 0x7ff0000000000000ull) == 0 ? b & 0x8000000000000000ull : b);
}
/// a / b where the hardware multiplies by a reciprocal that it flushes: beyond 2^126 that is zero
/// (PTX ISA 9.0, div.approx), and infinity times it no number. Without .ftz the assembler scales.
RADDLE_INLINE f32 divide_flushed(f32 a, f32 b) {
  const u32 magnitude = bits<u32>(b) & 0x7fffffffu;
  const bool lost = magnitude > 0x7e800000u && magnitude < 0x7f800000u;
  const f32 q = a / b, zero = a * bits<f32>(bits<u32>(b) & 0x80000000u);
  return lost ? zero : q;
}
// A number wins over a NaN; -0 is less than +0.
RADDLE_INLINE f32 minimum(f32 a, f32 b) {
  f32 r = a < b ? a : b;
  r = a == b ? bits<f32>(bits<u32>(a) | bits<u32>(b)) : r;
  r = b != b ? a : r;
  return canonical(r);
}
RADDLE_INLINE f32 maximum(f32 a, f32 b) {
  f32 r = a > b ? a : b;
  r = a == b ? bits<f32>(bits<u32>(a) & bits<u32>(b)) : r;
  r = b != b ? a : r;
  return canonical(r);
}
RADDLE_INLINE f64 minimum(f64 a, f64 b) {
  f64 r = a < b ? a : b;
  r = a == b ? bits<f64>(bits<u64>(a) | bits<u64>(b)) : r;
  r = b != b ? a : r;
  return canonical(r);
}
RADDLE_INLINE f64 maximum(f64 a, f64 b) {
  f64 r = a > b ? a : b;
  r = a == b ? bits<f64>(bits<u64>(a) & bits<u64>(b)) : r;
  r = b != b ? a : r;
  return canonical(r);
}
RADDLE_INLINE f32 minimum_nan(f32 a, f32 b) { return a != a || b != b ? nan_f32() : minimum(a, b); }
RADDLE_INLINE f32 maximum_nan(f32 a, f32 b) { return a != a || b != b ? nan_f32() : maximum(a, b); }
RADDLE_INLINE f32 saturate(f32 a) { return a > 0.0f ? (a < 1.0f ? a : 1.0f) : 0.0f; }
/// Bits: 0 finite, 1 infinite, 2 number, 3 not a number, 4 normal, 5 subnormal. Zero is normal (PTX
/// ISA, testp).
RADDLE_INLINE u32 float_class(u32 x) {
  const u32 m = x & 0x7fffffff;
  const bool nan = m > 0x7f800000, infinite = m == 0x7f800000, small = m < 0x00800000;
  return u32(!nan && !infinite) | u32(infinite) << 1 | u32(!nan) << 2 | u32(nan) << 3 |
         u32(!nan && !infinite && (!small || m == 0)) << 4 | u32(small && m != 0) << 5;
}
RADDLE_INLINE u32 float_class64(u64 x) {
  const u64 m = x & 0x7fffffffffffffffull;
  const bool nan = m > 0x7ff0000000000000ull, infinite = m == 0x7ff0000000000000ull,
             small = m < 0x0010000000000000ull;
  return u32(!nan && !infinite) | u32(infinite) << 1 | u32(!nan) << 2 | u32(nan) << 3 |
         u32(!nan && !infinite && (!small || m == 0)) << 4 | u32(small && m != 0) << 5;
}

// --- the approximate functions
// -------------------------------------------------------------------- In double precision with a
// fixed order of operations: within one unit in the last place of single precision, better than the
// hardware's, and the same bits from every compiler and instruction set.
/// 2^x for |x| clamped to 250, which is beyond single precision on both sides.
RADDLE_INLINE f64 power_of_two(f64 x) {
  const f64 y = x > 250.0 ? 250.0 : x < -250.0 ? -250.0 : x == x ? x : 0.0;
  const f64 n = __builtin_rint(y);
  const f64 t = (y - n) * 0.69314718055994530942;
  f64 p = 1.0 / 3628800;
  p = p * t + 1.0 / 362880;
  p = p * t + 1.0 / 40320;
  p = p * t + 1.0 / 5040;
  p = p * t + 1.0 / 720;
  p = p * t + 1.0 / 120;
  p = p * t + 1.0 / 24;
  p = p * t + 1.0 / 6;
  p = p * t + 0.5;
  p = p * t + 1.0;
  p = p * t + 1.0;
  const f64 scale = bits<f64>(u64(s64(n) + 1023) << 52);
  return x == x ? p * scale : x;
}
/// Precondition: x is a single-precision value.
RADDLE_INLINE f64 logarithm2(f64 x) {
  const u64 b = bits<u64>(x);
  const u64 up = (b & 0xfffffffffffffull) > 0x6a09e667f3bcdull ? 1 : 0;  // mantissa above sqrt 2
  const f64 m = bits<f64>((b & 0xfffffffffffffull) | (u64(1023) - up) << 52);
  const f64 e = f64(s32(u32(b >> 52 & 0x7ff) + u32(up)) - 1023);
  const f64 s = (m - 1.0) / (m + 1.0), q = s * s;
  f64 p = 1.0 / 17;
  p = p * q + 1.0 / 15;
  p = p * q + 1.0 / 13;
  p = p * q + 1.0 / 11;
  p = p * q + 1.0 / 9;
  p = p * q + 1.0 / 7;
  p = p * q + 1.0 / 5;
  p = p * q + 1.0 / 3;
  p = p * q + 1.0;
  const f64 r = e + 2.8853900817779268147 * s * p;
  return x > 0.0 ? (x < __builtin_inf() ? r : x) : x == 0.0 ? -__builtin_inf() : nan_f64();
}
/// sin(x + quarter pi/2). Accurate up to |x| of 2^20 or so; arguments from 2^40 count as 0.
RADDLE_INLINE f64 sine(f64 x, u32 quarter) {
  const f64 y = x < 0x1p40 && x > -0x1p40 ? x : 0.0;
  const f64 n = __builtin_rint(y * 0.63661977236758134308);
  const f64 r = ((y - n * 0x1.921fb544p+0) - n * 0x1.0b4611a6p-34) - n * 0x1.3198a2e037073p-69;
  const u32 turn = u32(s64(n)) + quarter;
  const f64 q = r * r;
  f64 s = -1.0 / 1307674368000;
  s = s * q + 1.0 / 6227020800;
  s = s * q - 1.0 / 39916800;
  s = s * q + 1.0 / 362880;
  s = s * q - 1.0 / 5040;
  s = s * q + 1.0 / 120;
  s = s * q - 1.0 / 6;
  s = r + r * q * s;
  f64 c = 1.0 / 20922789888000;
  c = c * q - 1.0 / 87178291200;
  c = c * q + 1.0 / 479001600;
  c = c * q - 1.0 / 3628800;
  c = c * q + 1.0 / 40320;
  c = c * q - 1.0 / 720;
  c = c * q + 1.0 / 24;
  c = c * q - 0.5;
  c = c * q + 1.0;
  f64 v = (turn & 1) != 0 ? c : s;
  v = (turn & 2) != 0 ? -v : v;
  return x - x == 0.0 ? v : nan_f64();
}
RADDLE_INLINE f64 hyperbolic_tangent(f64 x) {
  const f64 t = power_of_two(x * 2.8853900817779268147);
  const f64 wide = 1.0 - 2.0 / (t + 1.0);
  const f64 q = x * x;
  const f64 narrow = x + x * q * (-1.0 / 3 + q * (2.0 / 15 - q * (17.0 / 315)));
  return q == 0 ? x : q < 0.0025 ? narrow : wide;  // a zero keeps its sign
}

// --- half precision and bfloat16 ----------------------------------------------------------------
RADDLE_INLINE f32 from_f16(u32 h) {
  const u32 magnitude = h & 0x7fff, sign = (h & 0x8000) << 16;
  // 2^112 moves the exponent's bias, and normalises subnormals on the way.
  const u32 finite = bits<u32>(bits<f32>(magnitude << 13) * 0x1p112f);
  const u32 r = magnitude > 0x7c00 ? 0x7fffffffu : magnitude == 0x7c00 ? 0x7f800000u : finite;
  return bits<f32>(magnitude > 0x7c00 ? r : r | sign);
}
RADDLE_INLINE f32 from_bf16(u32 h) { return canonical(bits<f32>(h << 16)); }
/// e5m2 is the upper half of a half; e4m3 has no infinity, and one NaN of each sign.
RADDLE_INLINE f32 from_e5m2(u32 b) { return from_f16((b & 0xff) << 8); }
RADDLE_INLINE f32 from_e4m3(u32 b) {
  const u32 magnitude = b & 0x7f, sign = (b & 0x80) << 24;
  const u32 finite = bits<u32>(bits<f32>(magnitude << 20) * 0x1p120f);
  return magnitude == 0x7f ? nan_f32() : bits<f32>(finite | sign);
}
/// One rounding from double to a 16-bit format with `kBits` of mantissa. mode: 0 nearest even,
/// 1 zero, 2 down, 3 up.
template <int kBits, int kBias>
RADDLE_INLINE u16 round_to_16(f64 x, u32 mode) {
  const u64 b = bits<u64>(x);
  const u32 sign = u32(b >> 63);
  const s64 exponent = s64(b >> 52 & 0x7ff) - 1023;
  const u64 mantissa = (b & 0xfffffffffffffull) | u64(exponent > -1023) << 52;
  const s64 deep = (1 - kBias) - exponent;  // below the smallest normal number
  const s64 shift = 52 - kBits + (deep > 0 ? (deep > 18 ? 18 : deep) : 0);
  const u64 kept = mantissa >> shift, rest = mantissa & ((u64(1) << shift) - 1);
  const u64 half = u64(1) << (shift - 1);
  const bool nearest = rest > half || (rest == half && (kept & 1) != 0);
  const bool outward = rest != 0 && mode == (sign != 0 ? 2u : 3u);
  const u64 up = mode == 0 ? u64(nearest) : u64(outward);
  const u64 base = deep > 0 ? 0 : u64(exponent + kBias - 1) << kBits;
  const u64 finite = base + kept + up;
  constexpr u64 kInfinity = u64((1 << (15 - kBits)) - 1) << kBits;
  const bool inward = mode == 1 || (mode == 2 && sign == 0) || (mode == 3 && sign != 0);
  const u64 limit = inward && exponent < 1024 ? kInfinity - 1 : kInfinity;
  const u64 r = finite < kInfinity ? finite : limit;
  return u16(x != x ? 0x7fffu : u32(r) | sign << 15);
}
RADDLE_INLINE u16 to_f16(f64 x, u32 mode = 0) { return round_to_16<10, 15>(x, mode); }
RADDLE_INLINE u16 to_bf16(f64 x, u32 mode = 0) { return round_to_16<7, 127>(x, mode); }
/// Nearest even from single precision, in 32-bit operations.
RADDLE_INLINE u16 nearest_f16(f32 x) {
  const u32 b = bits<u32>(x), m = b & 0x7fffffff;
  const u32 normal = (m + 0xc8000fffu + (m >> 13 & 1)) >> 13;  // rebias by 15 - 127
  // Adding 1/2 leaves the subnormal half's bits, rounded, at the bottom of the sum.
  const u32 tiny = bits<u32>(bits<f32>(m < 0x38800000 ? m : 0) + 0.5f) - 0x3f000000u;
  const u32 r = m < 0x38800000   ? tiny
                : m < 0x477ff000 ? normal
                : m > 0x7f800000 ? 0x7fffu
                                 : 0x7c00u;
  return u16(m > 0x7f800000 ? r : r | (b >> 16 & 0x8000));
}
RADDLE_INLINE u16 nearest_bf16(f32 x) {
  const u32 b = bits<u32>(x);
  return u16(x == x ? (b + 0x7fff + (b >> 16 & 1)) >> 16 : 0x7fffu);
}
/// A double rounded to odd, in single precision rounded to odd (exact below 2^-126 does not matter
/// to half precision).
RADDLE_INLINE f32 narrowed_odd(f64 x) {
  const u64 b = bits<u64>(x);
  const u64 sticky = (b & 0x1fffffff) != 0 ? 0x20000000 : 0;
  return f32(x == x ? bits<f64>((b & ~u64(0x1fffffff)) | sticky) : x);
}
/// a * b + c of narrow values, rounded to odd in double, so that the rounding that follows is the
/// only one.
RADDLE_INLINE f64 fused(f32 a, f32 b, f32 c) {
  const f64 p = f64(a) * b, s = p + c;
  const f64 part = s - p, error = (p - (s - part)) + (c - part);
  const u64 raw = bits<u64>(s);
  const bool inexact = (error > 0.0 || error < 0.0) && (raw & 1) == 0;
  const u64 odd = (error > 0.0) == (s > 0.0) ? raw + 1 : raw - 1;
  return bits<f64>(inexact ? odd : raw);
}

// --- conversions --------------------------------------------------------------------------------
// From integers by parts that fit signed 32-bit conversions, which are exact: the last addition
// rounds. Compilers may still turn a part known to be positive into a difference of large
// constants, which leaves -0 when rounding down; the sign of zero is therefore taken off by integer
// operations.
RADDLE_INLINE f64 without_negative_zero(f64 x) {
  u64 b = bits<u64>(x);
#if defined(__clang__)
  asm("" : "+r"(b));  // or it concludes that zero is positive already
#endif
  return bits<f64>(b << 1 == 0 ? 0 : b);
}
RADDLE_INLINE f64 low_word(u64 x) {
  return f64(s32(x >> 16 & 0xffff)) * 65536.0 + f64(s32(x & 0xffff));
}
RADDLE_INLINE f64 from_word(u32 x) { return without_negative_zero(low_word(x)); }
RADDLE_INLINE f64 from_unsigned(u64 x) {
  return without_negative_zero(low_word(x >> 32) * 4294967296.0 + low_word(x));
}
RADDLE_INLINE f64 from_signed(s64 x) {
  return without_negative_zero(f64(s32(x >> 32)) * 4294967296.0 + low_word(u64(x)));
}
/// To double, rounded to odd.
RADDLE_INLINE f64 from_integer_odd(u64 x) {
  const u32 zeros = x == 0 ? 63 : u32(__builtin_clzll(x | 1));
  const u32 shift = zeros > 10 ? 0 : 11 - zeros;
  const u64 lost = x & ((u64(1) << shift) - 1);
  return from_unsigned((x >> shift | u64(lost != 0)) << shift);
}
RADDLE_INLINE f64 from_signed_odd(s64 x) {
  const f64 magnitude = from_integer_odd(x < 0 ? u64(0) - u64(x) : u64(x));
  return x < 0 ? -magnitude : magnitude;
}
// What is out of range becomes the nearest integer of the type. NaN (PTX ISA 9.0, 9.7.9.21): 0 from
// single precision to 32 bits or fewer; else only the destination's upper bit is set, which
// `nan` is where the destination may be narrower than the result here.
RADDLE_INLINE s32 integer_s32(f32 x) {
  const bool in = x >= -2147483648.0f && x < 2147483648.0f;
  const s32 v = s32(in ? x : 0.0f);
  return in ? v : x > 0.0f ? 0x7fffffff : x < 0.0f ? -0x7fffffff - 1 : 0;
}
RADDLE_INLINE u32 integer_u32(f32 x) {
  const bool in = x >= 0.0f && x < 4294967296.0f;
  const u32 v = u32(in ? x : 0.0f);
  return in ? v : x > 0.0f ? ~0u : 0u;
}
RADDLE_INLINE s64 integer_s64(f64 x) {
  const bool in = x >= -0x1p63 && x < 0x1p63;
  const s64 v = s64(in ? x : 0.0);
  return in ? v : x > 0.0 ? 0x7fffffffffffffffll : -0x7fffffffffffffffll - 1;
}
RADDLE_INLINE u64 integer_u64(f64 x) {
  const bool in = x >= 0.0 && x < 0x1p64;
  const u64 v = u64(in ? x : 0.0);
  return in ? v : x > 0.0 ? ~u64(0) : x != x ? u64(1) << 63 : 0;
}
RADDLE_INLINE s32 integer_s32_f64(f64 x) {
  const bool in = x >= -2147483648.0 && x <= 2147483647.0;
  const s32 v = s32(in ? x : 0.0);
  return in ? v : x > 0.0 ? 0x7fffffff : -0x7fffffff - 1;
}
RADDLE_INLINE u32 integer_u32_f64(f64 x, u32 nan) {
  const bool in = x >= 0.0 && x <= 4294967295.0;
  const u32 v = u32(in ? x : 0.0);
  return in ? v : x > 0.0 ? ~0u : x != x ? nan : 0u;
}

/// The lane types and the expression of each operation.
#define ALU(name, Dt, At, Bt, Ct, expression)                                                  \
  struct F_##name {                                                                            \
    using D = Dt;                                                                              \
    using A = At;                                                                              \
    using B = Bt;                                                                              \
    using C = Ct;                                                                              \
    static RADDLE_INLINE D f([[maybe_unused]] A a, [[maybe_unused]] B b, [[maybe_unused]] C c, \
                             [[maybe_unused]] u32 k) {                                         \
      return D(expression);                                                                    \
    }                                                                                          \
  };
#define SETP(name, At, expression)          \
  struct F_##name {                         \
    using A = At;                           \
    template <class T>                      \
    static RADDLE_INLINE auto f(T a, T b) { \
      return expression;                    \
    }                                       \
  };

}  // namespace raddle::exec::RADDLE_ISA
