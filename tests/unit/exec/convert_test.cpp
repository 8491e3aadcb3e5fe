// cvt in all directions, and comparisons, against scalar C++.
#include <cfenv>
#include <cmath>

#include "instruction_case.h"

namespace raddle::exec::test::convert_test {
namespace {

struct IntType {
  const char* name;
  unsigned bits;
  bool sign;
};
constexpr IntType kInts[] = {{"u8", 8, false},   {"s8", 8, true},    {"u16", 16, false},
                             {"s16", 16, true},  {"u32", 32, false}, {"s32", 32, true},
                             {"u64", 64, false}, {"s64", 64, true}};
using Int = __int128;
Int value(u64 v, const IntType& t) {
  const u64 low = t.bits == 64 ? v : v & ((1ull << t.bits) - 1);
  if (!t.sign) return low;
  return static_cast<s64>(low << (64 - t.bits)) >> (64 - t.bits);
}
Int maximum(const IntType& t) { return (Int{1} << (t.bits - (t.sign ? 1 : 0))) - 1; }
Int minimum(const IntType& t) { return t.sign ? -(Int{1} << (t.bits - 1)) : 0; }
Int clamp(Int v, const IntType& t) {
  return v > maximum(t) ? maximum(t) : v < minimum(t) ? minimum(t) : v;
}
/// Registers a type may live in.
std::string registers(const IntType& t) {
  return t.bits == 8 ? "hrq" : t.bits == 16 ? "hrq" : t.bits == 32 ? "rq" : "q";
}

TEST(Convert, IntegerToInteger) {
  for (const IntType& to : kInts)
    for (const IntType& from : kInts)
      for (bool sat : {false, true})
        for (char d : registers(to).substr(0, 2))
          for (char a : registers(from).substr(0, 2))
            check({std::string("cvt.") + (sat ? "sat." : "") + to.name + "." + from.name +
                       " <D>, <A>;",
                   {d, a},
                   [=](u64 x, u64, u64) {
                     const Int v = sat ? clamp(value(x, from), to) : value(x, from);
                     return static_cast<u64>(
                         value(static_cast<u64>(v), to));  // extended to the register
                   }});
}
constexpr std::pair<const char*, int> kModes[] = {
    {"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};
template <class T>
T from_integer(Int v, int mode) {
  // Exact in long double; the one rounding is the assignment.
  volatile long double exact = static_cast<long double>(v);
  std::fesetround(mode);
  volatile T r = static_cast<T>(exact);
  std::fesetround(FE_TONEAREST);
  return v == 0 ? T{0} : static_cast<T>(r);
}
TEST(Convert, IntegerToFloat) {
  for (const IntType& from : kInts)
    for (const auto& [name, mode] : kModes) {
      const std::string a = registers(from).substr(0, 1);
      check({std::string("cvt.") + name + ".f32." + from.name + " <D>, <A>;", "f" + a,
             [=, mode = mode](u64 x, u64, u64) {
               return raw(from_integer<float>(value(x, from), mode));
             }});
      check({std::string("cvt.") + name + ".f64." + from.name + " <D>, <A>;", "d" + a,
             [=, mode = mode](u64 x, u64, u64) {
               return raw(from_integer<double>(value(x, from), mode));
             }});
    }
}
template <class T>
u64 to_integer(T x, char mode, const IntType& t) {
  if (x != x && sizeof(T) == 4 && t.bits < 64) return 0;
  if (x != x) return static_cast<u64>(t.sign ? minimum(t) : Int{1} << (t.bits - 1));
  const T r = mode == 'n'   ? std::nearbyint(x)
              : mode == 'z' ? std::trunc(x)
              : mode == 'm' ? std::floor(x)
                            : std::ceil(x);
  if (r >= static_cast<T>(0x1p120)) return static_cast<u64>(maximum(t));
  if (r <= static_cast<T>(-0x1p120)) return static_cast<u64>(minimum(t));
  return static_cast<u64>(clamp(static_cast<Int>(r), t));
}
TEST(Convert, FloatToInteger) {
  for (const IntType& to : kInts)
    for (char mode : {'n', 'z', 'm', 'p'}) {
      const std::string op = std::string("cvt.r") + mode + "i.";
      const std::string d = registers(to).substr(0, 1);
      check({op + to.name + ".f32 <D>, <A>;", d + "f",
             [=](u64 a, u64, u64) { return to_integer(f32(a), mode, to); }});
      check({op + to.name + ".f64 <D>, <A>;", d + "d",
             [=](u64 a, u64, u64) { return to_integer(f64(a), mode, to); }});
    }
}
TEST(Convert, FloatToFloat) {
  for (const auto& [name, mode] : kModes)
    check({std::string("cvt.") + name + ".f32.f64 <D>, <A>;", "fd", [mode = mode](u64 a, u64, u64) {
             volatile double x = f64(a);
             std::fesetround(mode);
             volatile float r = static_cast<float>(x);
             std::fesetround(FE_TONEAREST);
             return raw(static_cast<float>(r));
           }});
  check({"cvt.f64.f32 <D>, <A>;", "df",
         [](u64 a, u64, u64) { return raw(static_cast<double>(f32(a))); }});
  check({"cvt.rni.f32.f32 <D>, <A>;", "ff",
         [](u64 a, u64, u64) { return raw(std::nearbyint(f32(a))); }});
  check(
      {"cvt.rmi.f64.f64 <D>, <A>;", "dd", [](u64 a, u64, u64) { return raw(std::floor(f64(a))); }});
  check({"cvt.rzi.ftz.f32.f32 <D>, <A>;", "ff", [](u64 a, u64, u64) {
           return std::fpclassify(f32(a)) == FP_SUBNORMAL ? a & 0x80000000
                                                          : raw(std::trunc(f32(a)));
         }});
  check({"cvt.sat.f32.f32 <D>, <A>;", "ff",
         [](u64 a, u64, u64) { return f32(a) > 0 ? raw(std::fmin(f32(a), 1.0f)) : 0; }});
}

// --- half and bfloat16 ---------------------------------------------------------------------------
struct Format {
  int mantissa, bias;
};
constexpr Format kHalf{10, 15}, kBrain{7, 127};
#ifdef __SIZEOF_FLOAT128__
using Wide = __float128;
#else
using Wide = long double;  // of 128 bits on AArch64
#endif
Wide decode(u64 h, const Format& f) {
  const int exponent = static_cast<int>(h >> f.mantissa & ((1u << (15 - f.mantissa)) - 1));
  const Wide m = static_cast<Wide>(h & ((1u << f.mantissa) - 1));
  Wide v = exponent == 0 ? m : m + static_cast<Wide>(1u << f.mantissa);
  const int scale = (exponent == 0 ? 1 : exponent) - f.bias - f.mantissa;
  for (int i = 0; i < scale; ++i) v *= 2;
  for (int i = 0; i < -scale; ++i) v /= 2;
  return h & 0x8000 ? -v : v;
}
bool special(u64 h, const Format& f) {
  return (h >> f.mantissa & ((1u << (15 - f.mantissa)) - 1)) == (1u << (15 - f.mantissa)) - 1;
}
/// Nearest even (or toward zero) by trying all values: slow, and surely right. `sticky`: the exact
/// value lies beyond v by a hair.
u64 encode(Wide v, bool negative_zero, const Format& f, bool toward_zero = false, int sticky = 0) {
  const Wide magnitude = v < 0 ? -v : v;
  const u64 sign = v < 0 || (v == 0 && negative_zero) ? 0x8000 : 0;
  const u64 infinity = ((1u << (15 - f.mantissa)) - 1) << f.mantissa;
  u64 low = 0, high = infinity;  // value(low) <= magnitude < value(high)
  while (high - low > 1) {
    const u64 mid = (low + high) / 2;
    (decode(mid, f) <= magnitude ? low : high) = mid;
  }
  const Wide below = decode(low, f);
  const Wide above = high == infinity ? Wide{0} : decode(high, f);
  const Wide step = high == infinity ? decode(low, f) - decode(low - 1, f) : above - below;
  const Wide twice = 2 * (magnitude - below);
  if (toward_zero) return sign | low;
  const bool up = twice > step || (twice == step && (sticky > 0 || (sticky == 0 && (low & 1))));
  return sign | (up ? high : low);
}
template <class F>
u64 half_op(u64 a, u64 b, u64 c, const Format& f, F op) {
  // NaNs and infinities follow single precision, where the operation is the same.
  if (special(a, f) || special(b, f) || special(c, f)) {
    const auto single = [&](u64 h) -> double {
      if (!special(h, f)) return static_cast<double>(decode(h, f));
      const bool nan = h & ((1u << f.mantissa) - 1);
      return nan ? double{NAN} : h & 0x8000 ? -double{INFINITY} : double{INFINITY};
    };
    const double r = op(single(a), single(b), single(c));
    if (r != r) return 0x7fff;
    const u64 infinity = ((1u << (15 - f.mantissa)) - 1) << f.mantissa;
    if (std::isinf(r)) return infinity | (r < 0 ? 0x8000 : 0);
    return encode(static_cast<Wide>(r), std::signbit(r), f);
  }
  const Wide r = op(decode(a, f), decode(b, f), decode(c, f));
  const double sign = op(static_cast<double>(decode(a, f)), static_cast<double>(decode(b, f)),
                         static_cast<double>(decode(c, f)));
  return encode(r, std::signbit(sign), f);
}
TEST(Half, Arithmetic) {
  for (const auto& [type, format] : {std::pair{"f16", kHalf}, std::pair{"bf16", kBrain}}) {
    const std::string t = type;
    const Format f = format;
    check({"add." + t + " <D>, <A>, <B>;", "hhh", [=](u64 a, u64 b, u64) {
             return half_op(a, b, 0, f, [](auto x, auto y, auto) { return x + y; });
           }});
    check({"sub." + t + " <D>, <A>, <B>;", "hhh", [=](u64 a, u64 b, u64) {
             return half_op(a, b, 0, f, [](auto x, auto y, auto) { return x - y; });
           }});
    check({"mul." + t + " <D>, <A>, <B>;", "hhh", [=](u64 a, u64 b, u64) {
             return half_op(a, b, 0, f, [](auto x, auto y, auto) { return x * y; });
           }});
    check({"neg." + t + " <D>, <A>;", "hh", [](u64 a, u64, u64) { return a ^ 0x8000; }});
    check({"abs." + t + " <D>, <A>;", "hh", [](u64 a, u64, u64) { return a & 0x7fff; }});
  }
  check({"fma.rn.f16 <D>, <A>, <B>, <C>;", "hhhh", [](u64 a, u64 b, u64 c) {
           return half_op(a, b, c, kHalf, [](auto x, auto y, auto z) { return x * y + z; });
         }});
}
TEST(Half, PairsAreTwoHalves) {
  check(
      {"{ .reg .b16 l, h, x, y; .reg .b32 p, q, r; mov.b32 p, {<A>, <B>}; mov.b32 q, {<B>, <A>}; "
       "sub.f16x2 r, p, q; mov.b32 {l, h}, r;\n"
       " sub.f16 x, <A>, <B>; sub.f16 y, <B>, <A>; sub.u16 l, l, x; sub.u16 h, h, y; or.b16 <D>, "
       "l, h; }",
       "hhh", [](u64, u64, u64) { return u64{0}; }});
  check(
      {"{ .reg .b16 l, h, x; .reg .b32 p, r; mov.b32 p, {<A>, <B>}; fma.rn.f16x2 r, p, p, p; "
       "mov.b32 {l, h}, r; fma.rn.f16 x, <B>, <B>, <B>; sub.u16 <D>, h, x; }",
       "hhh", [](u64, u64, u64) { return u64{0}; }});
}
TEST(Half, FusedBrainRoundsOnce) {
  // 1.00000001b squared is near a tie; the smallest addend decides. Double precision alone would
  // round twice.
  const auto ulp_tie = [](u64 c) {
    Rig rig(kernel_of({"fma.rn.bf16 <D>, <A>, <B>, <C>;", "hhhh", {}}));
    std::vector<std::array<u64, 3>> in(
        32, {0x3f80 | 0x08, 0x3f80 | 0x08, c});  // 1.0625^2 = 1.12890625 = 1.0010000 1b
    const Address from = rig.upload(in), to = rig.zeros(256);
    rig.run("k", {1, 1, 1}, {32, 1, 1}, from, to, ~0u);
    return rig.download<u64>(to, 1)[0] & 0xffff;
  };
  EXPECT_EQ(ulp_tie(0), 0x3f90u);       // the tie goes to the even neighbour
  EXPECT_EQ(ulp_tie(0x0001), 0x3f91u);  // and up with the smallest number added
  EXPECT_EQ(ulp_tie(0x8001), 0x3f90u);
}
TEST(Half, Conversions) {
  const auto single = [](u64 a, const Format& f, bool toward_zero) -> u64 {
    const float x = f32(a);
    if (x != x) return 0x7fff;
    const u64 infinity = ((1u << (15 - f.mantissa)) - 1) << f.mantissa;
    if (std::isinf(x)) return infinity | (x < 0 ? 0x8000 : 0);
    return encode(static_cast<Wide>(x), std::signbit(x), f, toward_zero);
  };
  check(
      {"cvt.rn.f16.f32 <D>, <A>;", "hf", [=](u64 a, u64, u64) { return single(a, kHalf, false); }});
  check(
      {"cvt.rz.f16.f32 <D>, <A>;", "hf", [=](u64 a, u64, u64) { return single(a, kHalf, true); }});
  check({"cvt.rn.bf16.f32 <D>, <A>;", "hf",
         [=](u64 a, u64, u64) { return single(a, kBrain, false); }});
  check({"cvt.rn.f16x2.f32 <D>, <A>, <B>;", "rff", [=](u64 a, u64 b, u64) {
           return single(a, kHalf, false) << 16 | single(b, kHalf, false);
         }});
  check({"cvt.f32.f16 <D>, <A>;", "fh", [](u64 a, u64, u64) {
           if (special(a, kHalf)) return a & 0x3ff ? 0x7fffffff : 0x7f800000 | (a & 0x8000) << 16;
           return raw(static_cast<float>(decode(a, kHalf))) | (a & 0x8000) << 16;
         }});
  check({"cvt.rn.f16.s32 <D>, <A>;", "hr", [](u64 a, u64, u64) {
           return encode(static_cast<Wide>(static_cast<s32>(a)), false, kHalf);
         }});
  check({"cvt.rzi.s32.f16 <D>, <A>;", "rh", [](u64 a, u64, u64) {
           if (special(a, kHalf)) return a & 0x3ff ? 0 : a & 0x8000 ? 0x80000000 : u64{0x7fffffff};
           return static_cast<u64>(static_cast<s64>(decode(a, kHalf)));
         }});
}

// --- comparisons ---------------------------------------------------------------------------------
TEST(Compare, IntegersAllOperators) {
  using Test = bool (*)(Int, Int);
  const std::pair<const char*, Test> tests[] = {
      {"eq", [](Int a, Int b) { return a == b; }}, {"ne", [](Int a, Int b) { return a != b; }},
      {"lt", [](Int a, Int b) { return a < b; }},  {"le", [](Int a, Int b) { return a <= b; }},
      {"gt", [](Int a, Int b) { return a > b; }},  {"ge", [](Int a, Int b) { return a >= b; }}};
  for (const IntType& t : kInts) {
    if (t.bits == 8) continue;
    const std::string k = registers(t).substr(0, 1);
    for (const auto& [name, f] : tests)
      check(
          {std::string("setp.") + name + "." + t.name + " %p1, <A>, <B>; selp.b32 <D>, 1, 2, %p1;",
           "r" + k + k,
           [=, f = f](u64 a, u64 b, u64) { return f(value(a, t), value(b, t)) ? u64{1} : 2; }});
  }
  check({"setp.lo.u32 %p1, <A>, <B>; selp.b32 <D>, 1, 2, %p1;", "rrr",
         [](u64 a, u64 b, u64) { return a < b ? u64{1} : 2; }});
  check({"setp.hs.u64 %p1, <A>, <B>; selp.b32 <D>, 1, 2, %p1;", "rqq",
         [](u64 a, u64 b, u64) { return a >= b ? u64{1} : 2; }});
}
TEST(Compare, FloatsOrderedAndUnordered) {
  using Test = bool (*)(double, double);
  const std::pair<const char*, Test> tests[] = {
      {"eq", [](double a, double b) { return a == b; }},
      {"ne", [](double a, double b) { return a < b || a > b; }},
      {"lt", [](double a, double b) { return a < b; }},
      {"le", [](double a, double b) { return a <= b; }},
      {"gt", [](double a, double b) { return a > b; }},
      {"ge", [](double a, double b) { return a >= b; }},
      {"equ", [](double a, double b) { return !(a < b || a > b); }},
      {"neu", [](double a, double b) { return a != b; }},
      {"ltu", [](double a, double b) { return !(a >= b); }},
      {"leu", [](double a, double b) { return !(a > b); }},
      {"gtu", [](double a, double b) { return !(a <= b); }},
      {"geu", [](double a, double b) { return !(a < b); }},
      {"num", [](double a, double b) { return a == a && b == b; }},
      {"nan", [](double a, double b) { return a != a || b != b; }}};
  for (const auto& [name, holds] : tests) {
    const std::string n = name;
    check({"setp." + n + ".f32 %p1, <A>, <B>; selp.b32 <D>, 1, 2, %p1;", "rff",
           [holds = holds](u64 a, u64 b, u64) { return holds(f32(a), f32(b)) ? u64{1} : 2; }});
    check({"setp." + n + ".f64 %p1, <A>, <B>; selp.b32 <D>, 1, 2, %p1;", "rdd",
           [holds = holds](u64 a, u64 b, u64) { return holds(f64(a), f64(b)) ? u64{1} : 2; }});
    check({"setp." + n + ".f16 %p1, <A>, <B>; selp.b32 <D>, 1, 2, %p1;", "rhh",
           [holds = holds](u64 left, u64 right, u64) {
             const auto value = [](u64 half) -> double {
               if (!special(half, kHalf)) return static_cast<double>(decode(half, kHalf));
               return half & 0x3ff    ? double{NAN}
                      : half & 0x8000 ? -double{INFINITY}
                                      : double{INFINITY};
             };
             return holds(value(left), value(right)) ? u64{1} : 2;
           }});
  }
  check({"setp.eq.ftz.f32 %p1, <A>, <B>; selp.b32 <D>, 1, 2, %p1;", "rff",
         [](u64 left, u64 right, u64) {
           const auto flush = [](float x) { return std::fpclassify(x) == FP_SUBNORMAL ? 0.0f : x; };
           return flush(f32(left)) == flush(f32(right)) ? u64{1} : 2;
         }});
}
TEST(Compare, CombinedWithAPredicate) {
  const std::string tail =
      " selp.b32 <D>, 1, 0, %p1; selp.b32 %x9, 2, 0, %p2; or.b32 <D>, <D>, %x9;";
  const auto with = [&](const char* op, const char* c, auto f) {
    check({std::string("setp.gt.s32 %p3, <C>, 5; setp.lt.") + op + ".s32 %p1|%p2, <A>, <B>, " + c +
               ";" + tail,
           "rrrr", [=](u64 a, u64 b, u64 third) {
             const bool t = static_cast<s32>(a) < static_cast<s32>(b),
                        p = (static_cast<s32>(third) > 5) != (c[0] == '!');
             return u64{f(t, p)} | u64{f(!t, p)} << 1;
           }});
  };
  with("and", "%p3", [](bool a, bool b) { return a && b; });
  with("or", "!%p3", [](bool a, bool b) { return a || b; });
  with("xor", "%p3", [](bool a, bool b) { return a != b; });
  check({"setp.lt.s32 %p1|%p2, <A>, <B>;" + tail, "rrr",
         [](u64 a, u64 b, u64) { return static_cast<s32>(a) < static_cast<s32>(b) ? u64{1} : 2; }});
}
TEST(Compare, SetSelpSlct) {
  check({"set.lt.u32.s32 <D>, <A>, <B>;", "rrr", [](u64 a, u64 b, u64) {
           return static_cast<s32>(a) < static_cast<s32>(b) ? ~u64{0} : 0;
         }});
  check({"set.ge.f32.f32 <D>, <A>, <B>;", "fff",
         [](u64 a, u64 b, u64) { return f32(a) >= f32(b) ? u64{0x3f800000} : 0; }});
  check({"slct.b64.s32 <D>, <A>, <B>, <C>;", "qqqr",
         [](u64 a, u64 b, u64 c) { return static_cast<s32>(c) >= 0 ? a : b; }});
  check({"slct.u32.f32 <D>, <A>, <B>, <C>;", "rrrf",
         [](u64 a, u64 b, u64 c) { return f32(c) >= 0 ? a : b; }});
  check(
      {"setp.eq.b32 %p1, <C>, 1; not.pred %p2, %p1; and.pred %p3, %p1, !%p2; xor.pred %p3, %p3, "
       "%p2; selp.b16 <D>, <A>, <B>, %p2;",
       "hhhr", [](u64 a, u64 b, u64 c) { return c == 1 ? b : a; }});
}

}  // namespace
}  // namespace raddle::exec::test::convert_test
