// Single and double precision instructions against the host's arithmetic under the same rounding
// mode.
#include <cfenv>
#include <cmath>

#include "instruction_case.h"

namespace raddle::exec::test::float_test {
namespace {

constexpr std::pair<const char*, int> kModes[] = {
    {"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};

/// f() with the host's rounding mode; volatile keeps the compiler from computing it earlier.
template <class T, class F>
T rounded(int mode, F f, T a, T b, T c = 0) {
  volatile T x = a, y = b, z = c;
  std::fesetround(mode);
  volatile T r = f(x, y, z);
  std::fesetround(FE_TONEAREST);
  return r;
}
float flush(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x; }
float sat(float x) { return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f; }

template <class T>
struct Names;
template <>
struct Names<float> {
  static constexpr const char *type = "f32", *kinds = "ffff";
  static float of(u64 v) { return f32(v); }
};
template <>
struct Names<double> {
  static constexpr const char *type = "f64", *kinds = "dddd";
  static double of(u64 v) { return f64(v); }
};

template <class T, class F>
void check_rounded(const std::string& op, int sources, F f) {
  using N = Names<T>;
  const char* operands[] = {"", " <D>, <A>;", " <D>, <A>, <B>;", " <D>, <A>, <B>, <C>;"};
  for (const auto& [name, mode] : kModes)
    check({op + "." + name + "." + N::type + operands[sources],
           std::string(N::kinds).substr(0, 1 + static_cast<std::size_t>(sources)),
           [=, mode = mode](u64 a, u64 b, u64 c) {
             return raw(rounded<T>(mode, f, N::of(a), N::of(b), N::of(c)));
           }});
}

TEST(Float, ArithmeticInFourRoundings) {
  check_rounded<float>("add", 2, [](float a, float b, float) { return a + b; });
  check_rounded<float>("sub", 2, [](float a, float b, float) { return a - b; });
  check_rounded<float>("mul", 2, [](float a, float b, float) { return a * b; });
  check_rounded<float>("div", 2, [](float a, float b, float) { return a / b; });
  check_rounded<float>("fma", 3, [](float a, float b, float c) { return std::fma(a, b, c); });
  check_rounded<float>("sqrt", 1, [](float a, float, float) { return std::sqrt(a); });
  check_rounded<float>("rcp", 1, [](float a, float, float) { return 1.0f / a; });
}
TEST(Double, ArithmeticInFourRoundings) {
  check_rounded<double>("add", 2, [](double a, double b, double) { return a + b; });
  check_rounded<double>("sub", 2, [](double a, double b, double) { return a - b; });
  check_rounded<double>("mul", 2, [](double a, double b, double) { return a * b; });
  check_rounded<double>("div", 2, [](double a, double b, double) { return a / b; });
  check_rounded<double>("fma", 3, [](double a, double b, double c) { return std::fma(a, b, c); });
  check_rounded<double>("sqrt", 1, [](double a, double, double) { return std::sqrt(a); });
  check_rounded<double>("rcp", 1, [](double a, double, double) { return 1.0 / a; });
}
TEST(Float, FlushAndSaturate) {
  check({"add.ftz.f32 <D>, <A>, <B>;", "fff",
         [](u64 a, u64 b, u64) { return raw(flush(flush(f32(a)) + flush(f32(b)))); }});
  check({"mul.ftz.f32 <D>, <A>, <B>;", "fff",
         [](u64 a, u64 b, u64) { return raw(flush(flush(f32(a)) * flush(f32(b)))); }});
  check({"fma.rn.ftz.f32 <D>, <A>, <B>, <C>;", "ffff", [](u64 a, u64 b, u64 c) {
           return raw(flush(std::fma(flush(f32(a)), flush(f32(b)), flush(f32(c)))));
         }});
  check({"div.rn.ftz.f32 <D>, <A>, <B>;", "fff",
         [](u64 a, u64 b, u64) { return raw(flush(flush(f32(a)) / flush(f32(b)))); }});
  check({"sub.sat.f32 <D>, <A>, <B>;", "fff",
         [](u64 a, u64 b, u64) { return raw(sat(f32(a) - f32(b))); }});
  check({"fma.rn.ftz.sat.f32 <D>, <A>, <B>, <C>;", "ffff", [](u64 a, u64 b, u64 c) {
           return raw(sat(flush(std::fma(flush(f32(a)), flush(f32(b)), flush(f32(c))))));
         }});
  check({"abs.f32 <D>, <A>;", "ff", [](u64 a, u64, u64) { return a & 0x7fffffff; }});
  check({"neg.f32 <D>, <A>;", "ff", [](u64 a, u64, u64) { return a ^ 0x80000000; }});
  check({"neg.f64 <D>, <A>;", "dd", [](u64 a, u64, u64) { return a ^ 0x8000000000000000; }});
  check({"abs.f64 <D>, <A>;", "dd", [](u64 a, u64, u64) { return a & 0x7fffffffffffffff; }});
  check({"copysign.f32 <D>, <A>, <B>;", "fff",
         [](u64 a, u64 b, u64) { return (a & 0x80000000) | (b & 0x7fffffff); }});
  check({"copysign.f64 <D>, <A>, <B>;", "ddd",
         [](u64 a, u64 b, u64) { return (a & 0x8000000000000000) | (b & 0x7fffffffffffffff); }});
}
template <class T>
u64 smaller(T a, T b) {
  if (a != a) return raw(b);
  if (b != b) return raw(a);
  if (a == b) return raw(std::signbit(a) ? a : b);
  return raw(a < b ? a : b);
}
template <class T>
u64 larger(T a, T b) {
  if (a != a) return raw(b);
  if (b != b) return raw(a);
  if (a == b) return raw(std::signbit(a) ? b : a);
  return raw(a > b ? a : b);
}
TEST(Float, MinMax) {
  check(
      {"min.f32 <D>, <A>, <B>;", "fff", [](u64 a, u64 b, u64) { return smaller(f32(a), f32(b)); }});
  check(
      {"max.f32 <D>, <A>, <B>;", "fff", [](u64 a, u64 b, u64) { return larger(f32(a), f32(b)); }});
  check(
      {"min.f64 <D>, <A>, <B>;", "ddd", [](u64 a, u64 b, u64) { return smaller(f64(a), f64(b)); }});
  check(
      {"max.f64 <D>, <A>, <B>;", "ddd", [](u64 a, u64 b, u64) { return larger(f64(a), f64(b)); }});
  check({"max.ftz.f32 <D>, <A>, <B>;", "fff",
         [](u64 a, u64 b, u64) { return larger(flush(f32(a)), flush(f32(b))); }});
  check({"min.NaN.f32 <D>, <A>, <B>;", "fff", [](u64 a, u64 b, u64) {
           return f32(a) != f32(a) || f32(b) != f32(b) ? 0x7fffffff : smaller(f32(a), f32(b));
         }});
  check({"max.NaN.xorsign.abs.f32 <D>, <A>, <B>;", "fff", [](u64 a, u64 b, u64) {
           if (f32(a) != f32(a) || f32(b) != f32(b)) return 0x7fffffff ^ ((a ^ b) & 0x80000000);
           return larger(std::fabs(f32(a)), std::fabs(f32(b))) ^ ((a ^ b) & 0x80000000);
         }});
}
// The hardware multiplies by a reciprocal, which it flushes to zero beyond 2^126.
TEST(Float, ApproximateQuotientsOfTheLargest) {
  check({"div.approx.ftz.f32 <D>, <A>, <B>;", "fff", [](u64 a, u64 b, u64) {
           const float left = flush(f32(a)), right = flush(f32(b));
           const bool lost = std::fabs(right) > 0x1p126f && std::isfinite(right);
           return raw(flush(lost ? left * std::copysign(0.0f, right) : left / right));
         }});
  check({"div.approx.f32 <D>, <A>, <B>;", "fff",
         [](u64 a, u64 b, u64) { return raw(f32(a) / f32(b)); }});
}
// "Ignore the least significant 32 bits" (PTX ISA 9.0, rcp.approx.ftz.f64): of source and result.
TEST(Double, ApproximationsOfUpperHalves) {
  const auto upper = [](u64 value) { return value & 0xffffffff00000000; };
  const auto flushed = [](double x) {
    return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0, x) : x;
  };
  for (const u64 low : {0ull, 1ull, 0x80000000ull, 0xffffffffull}) {
    const std::string source = "{ .reg .b64 t; and.b64 t, <A>, 0xffffffff00000000; or.b64 t, t, " +
                               std::to_string(low) + "; ";
    check({source + "rcp.approx.ftz.f64 <D>, t; }", "qq",
           [=](u64 a, u64, u64) { return upper(raw(flushed(1.0 / flushed(f64(upper(a)))))); }});
    check({source + "rsqrt.approx.ftz.f64 <D>, t; }", "qd", [=](u64 a, u64, u64) {
             return upper(raw(flushed(1.0 / std::sqrt(flushed(f64(upper(a)))))));
           }});
  }
}
TEST(Float, TestP) {
  using Class = bool (*)(double, bool);
  const std::pair<const char*, Class> classes[] = {
      {"finite", [](double x, bool) { return std::isfinite(x); }},
      {"infinite", [](double x, bool) { return std::isinf(x); }},
      {"number", [](double x, bool) { return x == x; }},
      {"notanumber", [](double x, bool) { return x != x; }},
      {"normal",
       [](double x, bool single) {
         const double minimum = single ? 0x1p-126 : 0x1p-1022;
         return x == 0 || (std::isfinite(x) && std::fabs(x) >= minimum);
       }},
      {"subnormal", [](double x, bool single) {
         return x != 0 && std::fabs(x) < (single ? 0x1p-126 : 0x1p-1022);
       }}};
  for (const auto& [name, f] : classes) {
    check({std::string("testp.") + name + ".f32 %p1, <A>; selp.b32 <D>, 1, 0, %p1;", "rf",
           [f = f](u64 a, u64, u64) { return u64{f(f32(a), true)}; }});
    check({std::string("testp.") + name + ".f64 %p1, <A>; selp.b32 <D>, 1, 0, %p1;", "rd",
           [f = f](u64 a, u64, u64) { return u64{f(f64(a), false)}; }});
  }
}

// --- approximate functions: within one unit in the last place -----------------------------------
void check_close(const std::string& body, double (*f)(double), double tolerance_ulp) {
  for (const std::string& lanes : lane_builds()) {
    use_lanes(lanes);
    Rig rig(kernel_of({body, "ff", {}}));
    std::vector<std::array<u64, 3>> in;
    for (int i = -2000; i < 2000; ++i) in.push_back({raw(static_cast<float>(i) * 0.0173f), 0, 0});
    for (int e = -140; e < 127; ++e) in.push_back({raw(std::ldexp(1.37f, e)), 0, 0});
    in.resize((in.size() + 127) / 128 * 128);
    const Address from = rig.upload(in), to = rig.zeros(in.size() * 8);
    rig.run("k", {static_cast<u32>(in.size() / 128), 1, 1}, {128, 1, 1}, from, to, ~0u);
    const auto out = rig.download<u64>(to, in.size());
    for (std::size_t i = 0; i < in.size(); ++i) {
      const double want = f(f32(in[i][0]));
      const float got = f32(out[i]), nearest = static_cast<float>(want);
      if (want != want) {
        ASSERT_NE(got, got) << body << f32(in[i][0]);
      } else if (std::isinf(nearest) || nearest == 0) {
        ASSERT_EQ(got, nearest) << body << f32(in[i][0]);
      } else {
        const double ulp = std::max(std::ldexp(1.0, std::ilogb(nearest) - 23), 0x1p-149);
        ASSERT_LE(std::fabs(got - want), tolerance_ulp * ulp)
            << body << " of " << f32(in[i][0]) << " " << lanes;
      }
    }
  }
  unsetenv("RADDLE_LANES");
}
TEST(Float, Approximations) {
  check_close(
      "ex2.approx.f32 <D>, <A>;", [](double x) { return std::exp2(x); }, 0.51);
  check_close(
      "lg2.approx.f32 <D>, <A>;", [](double x) { return std::log2(x); }, 0.51);
  check_close(
      "rsqrt.approx.f32 <D>, <A>;", [](double x) { return 1 / std::sqrt(x); }, 0.51);
  check_close(
      "rcp.approx.f32 <D>, <A>;", [](double x) { return 1 / x; }, 0.51);
  check_close(
      "sqrt.approx.f32 <D>, <A>;", [](double x) { return std::sqrt(x); }, 0.51);
  check_close(
      "tanh.approx.f32 <D>, <A>;", [](double x) { return std::tanh(x); }, 8);
  check_close(
      "abs.f32 <D>, <A>; min.f32 <D>, <D>, 0f49000000; sin.approx.f32 <D>, <D>;",
      [](double x) { return std::sin(std::fmin(std::fabs(x), 0x1p19)); }, 0.6);
  check_close(
      "abs.f32 <D>, <A>; min.f32 <D>, <D>, 0f49000000; cos.approx.f32 <D>, <D>;",
      [](double x) { return std::cos(std::fmin(std::fabs(x), 0x1p19)); }, 0.6);
}
TEST(Float, ApproximationsAtTheEdges) {
  const auto one = [](const char* body, u64 x, u64 want) {
    Rig rig(kernel_of({body, "ff", {}}));
    const Address from = rig.upload(std::vector<u64>(96, x)), to = rig.zeros(256);
    rig.run("k", {1, 1, 1}, {32, 1, 1}, from, to, ~0u);
    EXPECT_EQ(rig.download<u64>(to, 1)[0] & 0xffffffff, want) << body << std::hex << x;
  };
  one("lg2.approx.f32 <D>, <A>;", 0, 0xff800000);
  one("lg2.approx.f32 <D>, <A>;", 0xbf800000, 0x7fffffff);
  one("lg2.approx.f32 <D>, <A>;", 0x7f800000, 0x7f800000);
  one("ex2.approx.f32 <D>, <A>;", 0xff800000, 0);
  one("ex2.approx.f32 <D>, <A>;", 0x7f800000, 0x7f800000);
  one("ex2.approx.ftz.f32 <D>, <A>;", 0xc3020000, 0);  // 2^-130
  one("sin.approx.f32 <D>, <A>;", 0x7f800000, 0x7fffffff);
  one("cos.approx.f32 <D>, <A>;", 0, 0x3f800000);
  one("rsqrt.approx.f32 <D>, <A>;", 0, 0x7f800000);
  one("rsqrt.approx.f32 <D>, <A>;", 0x80000000, 0xff800000);
  one("tanh.approx.f32 <D>, <A>;", 0x7f800000, 0x3f800000);
  for (const char* odd : {"sin.approx.f32 <D>, <A>;", "tanh.approx.f32 <D>, <A>;"}) {
    one(odd, 0x80000000, 0x80000000);
    one(odd, 0, 0);
  }
  one("sin.approx.ftz.f32 <D>, <A>;", 0x80000001, 0x80000000);
}

}  // namespace
}  // namespace raddle::exec::test::float_test
