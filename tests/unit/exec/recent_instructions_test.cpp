// Arithmetic that PTX gained from 8.6 on (sm_90, sm_100): against references that share nothing
// with the engine.
#include <algorithm>
#include <cfenv>
#include <cmath>
#include <optional>

#include "instruction_case.h"
#include "real_number.h"

namespace raddle::exec::test::recent_instructions_test {
namespace {

constexpr std::pair<const char*, int> kModes[] = {
    {"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};

/// f() with the host's rounding mode; volatile keeps the compiler from computing it earlier.
template <class F>
float rounded(int mode, F f, float a, float b, float c = 0) {
  volatile float x = a, y = b, z = c;
  std::fesetround(mode);
  volatile float r = f(x, y, z);
  std::fesetround(FE_TONEAREST);
  return r;
}
float flush(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x; }

// --- minima and maxima ---------------------------------------------------------------------------
/// The greater or smaller of two magnitudes of 16 bits, whose bits are in their order.
u64 magnitude_of_two(u64 a, u64 b, u64 infinity, bool max, bool nan_wins) {
  const bool left = a > infinity, right = b > infinity;
  if ((left && right) || ((left || right) && nan_wins)) return 0x7fff;
  if (left || right) return left ? b : a;
  return max ? std::max(a, b) : std::min(a, b);
}
u64 xorsign(u64 a, u64 b, u64 infinity, bool max, bool nan_wins) {
  return magnitude_of_two(a & 0x7fff, b & 0x7fff, infinity, max, nan_wins) ^ ((a ^ b) & 0x8000);
}
TEST(RecentInstructions, MinimaAndMaximaOfHalvesWithXorOfSigns) {
  for (const auto& [type, infinity] :
       {std::pair{"f16", u64{0x7c00}}, std::pair{"bf16", u64{0x7f80}}})
    for (bool max : {false, true})
      for (bool nan : {false, true}) {
        const std::string op =
            std::string(max ? "max" : "min") + (nan ? ".NaN" : "") + ".xorsign.abs." + type;
        const auto expected = [=, limit = infinity](u64 a, u64 b) {
          return xorsign(a & 0xffff, b & 0xffff, limit, max, nan);
        };
        check({op + " <D>, <A>, <B>;", "hhh", [=](u64 a, u64 b, u64) { return expected(a, b); }});
        check({"{ .reg .b32 p, q; mov.b32 p, {<A>, <B>}; mov.b32 q, {<B>, <C>}; " + op +
                   "x2 <D>, p, q; }",
               "rhhh", [=](u64 a, u64 b, u64 c) { return expected(b, c) << 16 | expected(a, b); }});
      }
  check({"min.ftz.xorsign.abs.f16 <D>, <A>, <B>;", "hhh", [](u64 a, u64 b, u64) {
           const auto flushed = [](u64 x) { return (x & 0x7c00) == 0 ? x & 0x8000 : x; };
           return xorsign(flushed(a), flushed(b), 0x7c00, false, false);
         }});
}

float lesser(float a, float b, bool nan_wins) {
  if (a != a || b != b) return nan_wins ? NAN : a != a ? b : a;
  return a == b ? (std::signbit(a) ? a : b) : std::min(a, b);
}
float greater(float a, float b, bool nan_wins) {
  if (a != a || b != b) return nan_wins ? NAN : a != a ? b : a;
  return a == b ? (std::signbit(a) ? b : a) : std::max(a, b);
}
TEST(RecentInstructions, MinimaAndMaximaOfThree) {
  for (bool max : {false, true})
    for (bool ftz : {false, true})
      for (bool nan : {false, true})
        for (bool abs : {false, true})
          check({std::string(max ? "max" : "min") + (ftz ? ".ftz" : "") + (nan ? ".NaN" : "") +
                     (abs ? ".abs" : "") + ".f32 <D>, <A>, <B>, <C>;",
                 "ffff", [=](u64 a, u64 b, u64 c) {
                   const auto prepared = [=](u64 bits) {
                     const float x = ftz ? flush(f32(bits)) : f32(bits);
                     return abs ? std::fabs(x) : x;
                   };
                   const auto of = max ? greater : lesser;
                   return raw(of(of(prepared(a), prepared(b), nan), prepared(c), nan));
                 }});
}

// --- pairs of singles, mixed precision -----------------------------------------------------------
TEST(RecentInstructions, PairsOfSingles) {
  using Binary = float (*)(float, float, float);
  const std::pair<const char*, Binary> operations[] = {
      {"add", [](float a, float b, float) { return a + b; }},
      {"sub", [](float a, float b, float) { return a - b; }},
      {"mul", [](float a, float b, float) { return a * b; }},
      {"fma", [](float a, float b, float c) { return std::fma(a, b, c); }}};
  for (const auto& [name, f] : operations)
    for (const auto& [mode_name, mode] : kModes)
      for (bool ftz : {false, true})
        for (bool upper : {false, true}) {
          // Halves (A, B) and (B, C), and of the fused one (C, A).
          const bool fused = std::string_view(name) == "fma";
          const std::string op = std::string(name) + "." + mode_name + (ftz ? ".ftz" : "") +
                                 ".f32x2 r, p, q" + (fused ? ", s; " : "; ");
          check(
              {"{ .reg .b64 p, q, s, r; .reg .f32 x; mov.b64 p, {<A>, <B>}; mov.b64 q, {<B>, "
               "<C>}; mov.b64 s, {<C>, <A>}; " +
                   op + (upper ? "mov.b64 {x, <D>}, r; }" : "mov.b64 {<D>, x}, r; }"),
               "ffff", [=, f = f, mode = mode](u64 a, u64 b, u64 c) {
                 const auto in = [=](u64 bits) { return ftz ? flush(f32(bits)) : f32(bits); };
                 const float r = upper ? rounded(mode, f, in(b), in(c), in(a))
                                       : rounded(mode, f, in(a), in(b), in(c));
                 return raw(ftz ? flush(r) : r);
               }});
        }
}
float half_value(u64 bits, const Format& format) {
  const Real real = real_of(bits & 0xffff, format);
  return f32(encoded(real, kF32, Rounding::NearestEven));
}
TEST(RecentInstructions, MixedPrecision) {
  for (const auto& [type, format] : {std::pair{"f16", kF16}, std::pair{"bf16", kBF16}})
    for (const auto& [mode_name, mode] : kModes) {
      const std::string suffix = std::string(".") + mode_name + ".f32." + type + " <D>, <A>, <B>";
      const auto narrow = [form = format](u64 bits) { return half_value(bits, form); };
      check({"add" + suffix + ";", "fhf", [=, mode = mode](u64 a, u64 b, u64) {
               return raw(rounded(
                   mode, [](float x, float y, float) { return x + y; }, narrow(a), f32(b)));
             }});
      check({"sub" + suffix + ";", "fhf", [=, mode = mode](u64 a, u64 b, u64) {
               return raw(rounded(
                   mode, [](float x, float y, float) { return x - y; }, narrow(a), f32(b)));
             }});
      check({"fma" + suffix + ", <C>;", "fhhf", [=, mode = mode](u64 a, u64 b, u64 c) {
               return raw(rounded(
                   mode, [](float x, float y, float z) { return std::fma(x, y, z); }, narrow(a),
                   narrow(b), f32(c)));
             }});
    }
}

// --- numbers of 8, 6 and 4 bits ------------------------------------------------------------------
struct Narrow {
  const char* name;
  unsigned bits, mantissa;
  int bias;
  u64 greatest;            ///< code
  std::optional<u64> nan;  ///< code, where the format has one
};
constexpr Narrow kNarrow[] = {{"e4m3x2", 8, 3, 7, 0x7e, 0x7f},
                              {"e5m2x2", 8, 2, 15, 0x7b, 0x7f},
                              {"e2m1x2", 4, 1, 1, 0x7, {}},
                              {"e2m3x2", 6, 3, 1, 0x1f, {}},
                              {"e3m2x2", 6, 2, 3, 0x1f, {}}};
double value_of(u64 code, const Narrow& format) {
  const double fraction = static_cast<double>(code & ((1u << format.mantissa) - 1));
  const int exponent = static_cast<int>(code >> format.mantissa);
  const double whole = exponent == 0 ? fraction : fraction + (1u << format.mantissa);
  return std::ldexp(whole, std::max(exponent, 1) - format.bias - static_cast<int>(format.mantissa));
}
/// By trying all codes.
u64 nearest_code(double value, const Narrow& format, bool relu) {
  if (value != value) return format.nan.value_or(format.greatest);
  const u64 sign = std::signbit(value) ? u64{1} << (format.bits - 1) : 0;
  if (sign != 0 && relu) return 0;
  if (std::fabs(value) >= value_of(format.greatest, format)) return sign | format.greatest;
  u64 best = 0;
  for (u64 code = 1; code <= format.greatest; ++code) {
    const double here = std::fabs(std::fabs(value) - value_of(code, format));
    const double before = std::fabs(std::fabs(value) - value_of(best, format));
    if (here < before || (here == before && code % 2 == 0)) best = code;
  }
  return sign | best;
}
u64 pair_of(u64 upper, u64 lower, const Narrow& format) {
  return upper << (format.bits == 4 ? 4 : 8) | lower;
}
/// What `body` makes of each value, in D's bits.
std::vector<u64> results_of(const std::string& body, const std::string& kinds,
                            const std::vector<u64>& values) {
  std::vector<std::array<u64, 3>> in;
  for (const u64 value : values) in.push_back({value, values[(in.size() + 1) % values.size()], 0});
  in.resize((values.size() + 127) / 128 * 128);
  Rig rig(kernel_of({body, kinds, {}}));
  const Address from = rig.upload(in), to = rig.zeros(8 * in.size());
  rig.run("k", {static_cast<u32>(in.size() / 128), 1, 1}, {128, 1, 1}, from, to, ~0u);
  return rig.download<u64>(to, values.size());
}
std::vector<u64> all_halves() {
  std::vector<u64> values;
  for (u64 value = 0; value < 0x10000; ++value) values.push_back(value);
  return values;
}
/// Singles at, before and behind each half: ties of the narrow formats among them.
std::vector<u64> singles_near_halves() {
  std::vector<u64> values;
  for (const u64 half : all_halves()) {
    const u64 single = encoded(real_of(half, kF16), kF32, Rounding::NearestEven);
    values.insert(values.end(), {single, (single + 1) & 0xffffffff, (single - 1) & 0xffffffff});
  }
  return values;
}
TEST(RecentInstructions, ToNarrowNumbers) {
  const std::vector<u64> halves = all_halves(), singles = singles_near_halves();
  for (const Narrow& format : kNarrow)
    for (bool relu : {false, true}) {
      const std::string cvt =
          std::string("cvt.rn.satfinite.") + (relu ? "relu." : "") + format.name;
      const auto from_singles = results_of(cvt + ".f32 <D>, <A>, <B>;", "hff", singles);
      for (std::size_t i = 0; i < singles.size(); ++i) {
        const u64 next = singles[(i + 1) % singles.size()];
        ASSERT_EQ(from_singles[i], pair_of(nearest_code(f32(singles[i]), format, relu),
                                           nearest_code(f32(next), format, relu), format))
            << cvt << std::hex << " " << singles[i] << " " << next;
      }
      if (format.bits == 6) continue;  // from singles only
      const auto from_halves = results_of(
          "{ .reg .b32 p; mov.b32 p, {<B>, <A>}; " + cvt + ".f16x2 <D>, p; }", "hhh", halves);
      for (std::size_t i = 0; i < halves.size(); ++i) {
        const u64 next = halves[(i + 1) % halves.size()];
        ASSERT_EQ(from_halves[i],
                  pair_of(nearest_code(half_value(halves[i], kF16), format, relu),
                          nearest_code(half_value(next, kF16), format, relu), format))
            << cvt << std::hex << " " << halves[i] << " " << next;
      }
    }
}
u64 half_of_code(u64 code, const Narrow& format, bool relu) {
  const u64 magnitude = code & ((u64{1} << (format.bits - 1)) - 1);
  const bool negative = (code >> (format.bits - 1) & 1) != 0;
  if (format.bits == 8 && format.mantissa == 2 && magnitude == 0x7c)  // e5m2 has infinities
    return negative ? (relu ? 0 : 0xfc00) : 0x7c00;
  if (format.bits == 8 && magnitude > format.greatest) return 0x7fff;
  if (negative && relu) return 0;
  const int unit = -format.bias - static_cast<int>(format.mantissa) + 1;
  const Real real{
      .negative = negative,
      .magnitude = static_cast<Magnitude>(std::ldexp(value_of(magnitude, format), -unit)),
      .exponent = unit};
  return encoded(real, kF16, Rounding::NearestEven);
}
TEST(RecentInstructions, FromNarrowNumbers) {
  std::vector<u64> codes = all_halves();
  for (const Narrow& format : kNarrow)
    for (bool relu : {false, true}) {
      const std::string cvt =
          std::string("cvt.rn.") + (relu ? "relu." : "") + "f16x2." + format.name + " <D>, <A>;";
      const auto results = results_of(cvt, "rh", codes);
      const unsigned shift = format.bits == 4 ? 4 : 8;
      const u64 ones = (u64{1} << format.bits) - 1;
      for (std::size_t i = 0; i < codes.size(); ++i)
        ASSERT_EQ(results[i], half_of_code(codes[i] >> shift & ones, format, relu) << 16 |
                                  half_of_code(codes[i] & ones, format, relu))
            << cvt << std::hex << codes[i];
    }
}
/// The least (or, towards zero, the greatest) power of two on that side of |x|, as ue8m0.
u64 scale_of(float x, bool upwards, bool finite) {
  if (x != x) return 0xff;
  const u64 last = finite ? 254 : 255;
  for (u64 code = 0; code < 255; ++code) {
    const double power = std::ldexp(1.0, static_cast<int>(code) - 127);
    if (upwards && std::fabs(double{x}) <= power) return code;
    if (!upwards && std::fabs(double{x}) < 2 * power) return code;
  }
  return last;
}
TEST(RecentInstructions, Scales) {
  std::vector<u64> singles;
  for (u64 upper = 0; upper < 0x10000; ++upper)
    singles.insert(singles.end(), {upper << 16, upper << 16 | 1});
  for (bool upwards : {false, true})
    for (bool finite : {false, true}) {
      const std::string cvt =
          std::string("cvt.") + (upwards ? "rp" : "rz") + (finite ? ".satfinite" : "") + ".ue8m0x2";
      const auto scales = results_of(cvt + ".f32 <D>, <A>, <B>;", "hff", singles);
      const auto halves =
          results_of("{ .reg .b32 p; mov.b32 p, {<B>, <A>}; " + cvt + ".bf16x2 <D>, p; }", "hhh",
                     all_halves());
      for (std::size_t i = 0; i < singles.size(); ++i) {
        const float next = f32(singles[(i + 1) % singles.size()]);
        ASSERT_EQ(scales[i],
                  scale_of(f32(singles[i]), upwards, finite) << 8 | scale_of(next, upwards, finite))
            << cvt << std::hex << singles[i];
      }
      for (u64 i = 0; i < 0x10000; ++i)
        ASSERT_EQ(halves[i], scale_of(f32(i << 16), upwards, finite) << 8 |
                                 scale_of(f32(((i + 1) & 0xffff) << 16), upwards, finite))
            << cvt << std::hex << i;
    }
}
TEST(RecentInstructions, FromScales) {
  check({"cvt.rn.bf16x2.ue8m0x2 <D>, <A>;", "rh", [](u64 a, u64, u64) {
           const auto one = [](u64 code) -> u64 {
             if (code == 0xff) return 0x7fff;
             return std::bit_cast<u32>(std::ldexp(1.0f, static_cast<int>(code) - 127)) >> 16;
           };
           return one(a >> 8 & 255) << 16 | one(a & 255);
         }});
}

// --- reductions of singles -----------------------------------------------------------------------
TEST(RecentInstructions, ReductionsOfSingles) {
  const std::vector<u64> values = edge_values('f');
  const std::string body = R"(
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 mask)
{ .reg .b32 %r<9>; .reg .b64 %d<5>; .reg .f32 %f<3>; .reg .pred %p;
  ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out]; ld.param.u32 %r1, [mask];
  mov.u32 %r2, %laneid; shr.u32 %r3, %r1, %r2; and.b32 %r3, %r3, 1; setp.eq.u32 %p, %r3, 0;
  mul.wide.u32 %d3, %r2, 4; add.u64 %d1, %d1, %d3; add.u64 %d2, %d2, %d3;
  @%p bra SKIP;
  ld.global.f32 %f1, [%d1]; )";
  for (bool max : {false, true})
    for (bool abs : {false, true})
      for (bool nan : {false, true}) {
        const std::string op = std::string("redux.sync.") + (max ? "max" : "min") +
                               (abs ? ".abs" : "") + (nan ? ".NaN" : "") +
                               ".f32 %f2, %f1, %r1; st.global.f32 [%d2], %f2; SKIP: ret; }";
        Rig rig(body + op);
        for (std::size_t first = 0; first < values.size(); ++first)
          for (const u32 mask : {~0u, 0x80000001u, 0x00ff00f0u, 0x00000400u}) {
            std::vector<u32> in;
            for (std::size_t lane = 0; lane < 32; ++lane)
              in.push_back(
                  static_cast<u32>(values[(first + lane * (1 + first % 3)) % values.size()]));
            const Address from = rig.upload(in), to = rig.zeros(128);
            rig.run("k", {1, 1, 1}, {32, 1, 1}, from, to, mask);
            float want = NAN;
            bool any = false, one = false;
            for (unsigned lane = 0; lane < 32; ++lane) {
              if ((mask >> lane & 1) == 0) continue;
              const float value = abs ? std::fabs(f32(in[lane])) : f32(in[lane]);
              one |= value != value;
              want = !any ? value : max ? greater(want, value, false) : lesser(want, value, false);
              any = true;
            }
            if (nan && one) want = NAN;
            const auto out = rig.download<u32>(to, 32);
            for (unsigned lane = 0; lane < 32; ++lane)
              ASSERT_EQ(out[lane], (mask >> lane & 1) != 0 ? raw(want) : 0)
                  << op << std::hex << mask << " lane " << lane << " first " << first;
          }
      }
}

// --- refusals ------------------------------------------------------------------------------------
TEST(RecentInstructions, RefusalsNameTheType) {
  const auto refusal = [](const std::string& instruction) {
    Rig rig(".visible .entry k() { .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b128 %q<3>; " +
            instruction + " ret; }");
    try {
      rig.run("k", {1, 1, 1}, {32, 1, 1});
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("not refused");
  };
  EXPECT_NE(refusal("cvt.rs.satfinite.e4m3x4.f32 %r1, {%f1, %f2, %f3, %f4}, %r2;")
                .find("unknown type .e4m3x4"),
            std::string::npos);
  EXPECT_NE(refusal("add %r1, %r2, %r3;").find("found none"), std::string::npos);
  EXPECT_NE(refusal("cvt.u32.b128 %r1, %q1;").find("found .u32.b128"), std::string::npos);
  EXPECT_NE(refusal("max.xorsign.abs.f32 %f1, %f2, %f3, %f4;").find("expected 3 operands"),
            std::string::npos);
}

}  // namespace
}  // namespace raddle::exec::test::recent_instructions_test
