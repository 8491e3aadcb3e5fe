// Video instructions against the manual's definitions, written out for one form each; conversions
// to tf32 and 8-bit reals against a search for the nearest value; comparisons of halves.
#include <algorithm>
#include <array>
#include <cmath>

#include "instruction_case.h"
#include "support/errors.h"

namespace raddle::exec::test::video_test {
namespace {

s64 byte_of(u64 x, unsigned n, bool is_signed) {
  const auto b = static_cast<u8>(x >> 8 * n);
  return is_signed ? static_cast<std::int8_t>(b) : b;
}
s64 half_of(u64 x, unsigned n, bool is_signed) {
  const auto h = static_cast<u16>(x >> 16 * n);
  return is_signed ? static_cast<s16>(h) : h;
}
template <class F>
std::function<u64(u64, u64, u64)> bytes(bool is_signed, F f) {
  return [=](u64 a, u64 b, u64) {
    u64 r = 0;
    for (unsigned n = 0; n < 4; ++n)
      r |= (static_cast<u64>(f(byte_of(a, n, is_signed), byte_of(b, n, is_signed))) & 255) << 8 * n;
    return r;
  };
}
template <class F>
std::function<u64(u64, u64, u64)> halves(bool is_signed, F f) {
  return [=](u64 a, u64 b, u64) {
    u64 r = 0;
    for (unsigned n = 0; n < 2; ++n)
      r |= (static_cast<u64>(f(half_of(a, n, is_signed), half_of(b, n, is_signed))) & 0xffff)
           << 16 * n;
    return r;
  };
}
const auto distance = [](s64 x, s64 y) { return x > y ? x - y : y - x; };

TEST(Video, FourBytes) {
  check({"vabsdiff4.u32.u32.u32 <D>, <A>, <B>, 0;", "rrr", bytes(false, distance)});
  check({"vabsdiff4.u32.u32.u32.add <D>, <A>, <B>, <C>;", "rrrr", [](u64 a, u64 b, u64 c) {
           for (unsigned n = 0; n < 4; ++n)
             c += static_cast<u64>(distance(byte_of(a, n, false), byte_of(b, n, false)));
           return c;
         }});
  check({"vabsdiff4.u32.s32.s32 <D>, <A>, <B>, 0;", "rrr", bytes(true, distance)});
  check({"vadd4.u32.u32.u32 <D>, <A>, <B>, 0;", "rrr",
         bytes(false, [](s64 x, s64 y) { return x + y; })});
  check({"vadd4.s32.s32.s32.sat <D>, <A>, <B>, 0;", "rrr",
         bytes(true, [](s64 x, s64 y) { return std::clamp<s64>(x + y, -128, 127); })});
  check({"vsub4.u32.u32.u32.sat <D>, <A>, <B>, 0;", "rrr",
         bytes(false, [](s64 x, s64 y) { return std::clamp<s64>(x - y, 0, 255); })});
  check({"vmin4.s32.s32.s32 <D>, <A>, <B>, 0;", "rrr",
         bytes(true, [](s64 x, s64 y) { return std::min(x, y); })});
  check({"vmax4.u32.u32.u32 <D>, <A>, <B>, 0;", "rrr",
         bytes(false, [](s64 x, s64 y) { return std::max(x, y); })});
  check({"vset4.u32.u32.lt <D>, <A>, <B>, 0;", "rrr",
         bytes(false, [](s64 x, s64 y) { return x < y ? 1 : 0; })});
  check({"vavrg4.u32.u32.u32 <D>, <A>, <B>, 0;", "rrr",
         bytes(false, [](s64 x, s64 y) { return (x + y + 1) / 2; })});
}
TEST(Video, TwoHalves) {
  check({"vabsdiff2.u32.u32.u32.add <D>, <A>, <B>, <C>;", "rrrr", [](u64 a, u64 b, u64 c) {
           for (unsigned n = 0; n < 2; ++n)
             c += static_cast<u64>(distance(half_of(a, n, false), half_of(b, n, false)));
           return c;
         }});
  check({"vadd2.s32.s32.s32.sat <D>, <A>, <B>, 0;", "rrr",
         halves(true, [](s64 x, s64 y) { return std::clamp<s64>(x + y, -32768, 32767); })});
  check({"vmax2.s32.s32.s32 <D>, <A>, <B>, 0;", "rrr",
         halves(true, [](s64 x, s64 y) { return std::max(x, y); })});
  check({"vset2.s32.s32.ge <D>, <A>, <B>, 0;", "rrr",
         halves(true, [](s64 x, s64 y) { return x >= y ? 1 : 0; })});
  // The lower half of the result, from the upper half of a and the lower of b; c gives the rest.
  check({"vsub2.s32.s32.s32 <D>.h0, <A>.h01, <B>.h22, <C>;", "rrrr", [](u64 a, u64 b, u64 c) {
           return (c & 0xffff0000) |
                  (static_cast<u64>(half_of(a, 1, true) - half_of(b, 0, true)) & 0xffff);
         }});
}
TEST(Video, Scalar) {
  check({"vadd.s32.u32.s32 <D>, <A>.b3, <B>.h1;", "rrr", [](u64 a, u64 b, u64) {
           return static_cast<u64>(byte_of(a, 3, false) + half_of(b, 1, true));
         }});
  check({"vsub.u32.u32.u32.sat <D>, <A>, <B>;", "rrr",
         [](u64 a, u64 b, u64) { return a < b ? 0 : a - b; }});
  check({"vadd.s32.s32.s32.sat <D>, <A>, <B>;", "rrr", [](u64 a, u64 b, u64) {
           const s64 sum = s64{static_cast<s32>(a)} + static_cast<s32>(b);
           return static_cast<u64>(std::clamp<s64>(sum, INT32_MIN, INT32_MAX));
         }});
  check({"vabsdiff.u32.u32.u32.add <D>, <A>, <B>, <C>;", "rrrr",
         [](u64 a, u64 b, u64 c) { return (a > b ? a - b : b - a) + c; }});
  check({"vmax.s32.s32.s32.min <D>, <A>, <B>, <C>;", "rrrr", [](u64 a, u64 b, u64 c) {
           const s32 maximum = std::max(static_cast<s32>(a), static_cast<s32>(b));
           return static_cast<u64>(static_cast<u32>(std::min(maximum, static_cast<s32>(c))));
         }});
  check({"vmin.u32.u32.u32 <D>.b2, <A>, <B>, <C>;", "rrrr",
         [](u64 a, u64 b, u64 c) { return (c & 0xff00ffff) | (std::min(a, b) & 255) << 16; }});
  check({"vshl.u32.u32.u32.clamp <D>, <A>, <B>;", "rrr",
         [](u64 a, u64 b, u64) { return b > 31 ? 0 : a << b; }});
  check({"vshr.s32.s32.u32.wrap <D>, <A>, <B>;", "rrr",
         [](u64 a, u64 b, u64) { return static_cast<u64>(static_cast<s32>(a) >> (b & 31)); }});
  check({"vmad.u32.u32.u32.shr7 <D>, <A>.h0, <B>.h0, <C>;", "rrrr",
         [](u64 a, u64 b, u64 c) { return ((a & 0xffff) * (b & 0xffff) + c) >> 7; }});
  check({"vset.u32.u32.ne <D>, <A>, <B>;", "rrr",
         [](u64 a, u64 b, u64) { return a != b ? 1u : 0u; }});
}

/// 9.7.18.2: the results are added as they are, not cut to the width of a part.
TEST(Video, AccumulatesWholeResults) {
  const auto sum = [](auto part, unsigned parts, bool is_signed, auto f) {
    return [=](u64 a, u64 b, u64 c) {
      for (unsigned n = 0; n < parts; ++n)
        c += static_cast<u64>(f(part(a, n, is_signed), part(b, n, is_signed)));
      return c;
    };
  };
  const auto plus = [](s64 x, s64 y) { return x + y; };
  const auto minus = [](s64 x, s64 y) { return x - y; };
  for (const char* d : {"u32", "s32"}) {  // says nothing where nothing is clamped
    const std::string operands = " <D>, <A>, <B>, <C>;", type = std::string(".") + d;
    check({"vadd4" + type + ".u32.u32.add" + operands, "rrrr", sum(byte_of, 4, false, plus)});
    check({"vadd4" + type + ".s32.s32.add" + operands, "rrrr", sum(byte_of, 4, true, plus)});
    check({"vsub4" + type + ".u32.u32.add" + operands, "rrrr", sum(byte_of, 4, false, minus)});
    check(
        {"vabsdiff4" + type + ".s32.s32.add" + operands, "rrrr", sum(byte_of, 4, true, distance)});
    check({"vadd2" + type + ".u32.u32.add" + operands, "rrrr", sum(half_of, 2, false, plus)});
    check({"vsub2" + type + ".s32.s32.add" + operands, "rrrr", sum(half_of, 2, true, minus)});
  }
  check({"vadd4.u32.u32.u32.add <D>.b20, <A>, <B>, <C>;", "rrrr", [](u64 a, u64 b, u64 c) {
           for (const unsigned n : {0u, 2u})
             c += static_cast<u64>(byte_of(a, n, false) + byte_of(b, n, false));
           return c;
         }});
}

/// One line of the ISA's table of vmad: whether a and b are signed, and what is negated.
struct Mad {
  bool a_signed, b_signed;
  const char *a, *b, *c;
};
__extension__ using Wide = __int128;
Wide mad(const Mad& of, u64 a, u64 b, u64 c) {
  const auto value = [](u64 x, bool is_signed) {
    return is_signed ? Wide{static_cast<s32>(x)} : Wide{static_cast<u32>(x)};
  };
  const bool product = (*of.a == '-') != (*of.b == '-'), third = *of.c == '-';
  const bool is_signed = of.a_signed || of.b_signed || product || third;
  Wide sum = value(a, of.a_signed) * value(b, of.b_signed);
  if (product) sum = -sum;
  // What a negated c of 2^31 and more is says only the ISA's text: -(2^32 - c) of ~c.
  return sum + (third ? value(~c, true) + 1 : value(c, is_signed));
}

TEST(Video, MultiplyAddWithNegatedOperands) {
  for (const bool a_signed : {false, true})
    for (const bool b_signed : {false, true})
      for (const auto& [sign_a, sign_b, sign_c] :
           std::initializer_list<std::array<const char*, 3>>{{"", "", ""},
                                                             {"-", "", ""},
                                                             {"", "-", ""},
                                                             {"-", "-", ""},
                                                             {"", "", "-"},
                                                             {"-", "-", "-"}}) {
        const Mad of{a_signed, b_signed, sign_a, sign_b, sign_c};
        const std::string types = std::string(a_signed ? ".s32" : ".u32") +
                                  (b_signed ? ".s32" : ".u32"),
                          operands = std::string(" <D>, ") + sign_a + "<A>, " + sign_b + "<B>, " +
                                     sign_c + "<C>;";
        const bool is_signed =
            a_signed || b_signed || std::string(sign_a) != sign_b || *sign_c == '-';
        check({"vmad.s32" + types + operands, "rrrr",
               [=](u64 x, u64 y, u64 z) { return u64{static_cast<u32>(mad(of, x, y, z))}; }});
        check({"vmad.u32" + types + ".shr15" + operands, "rrrr",
               [=](u64 x, u64 y, u64 z) { return u64{static_cast<u32>(mad(of, x, y, z) >> 15)}; }});
        check({"vmad.u32" + types + ".sat.shr7" + operands, "rrrr", [=](u64 x, u64 y, u64 z) {
                 const Wide low = is_signed ? INT32_MIN : 0;
                 const Wide high = is_signed ? INT32_MAX : UINT32_MAX;
                 return u64{static_cast<u32>(std::clamp(mad(of, x, y, z) >> 7, low, high))};
               }});
      }
  check({"vmad.s32.s32.u32 <D>, -<A>.b1, <B>.h1, <C>;", "rrrr", [](u64 a, u64 b, u64 c) {
           return static_cast<u64>(-byte_of(a, 1, true) * half_of(b, 1, false)) + c;
         }});
  check({"vmad.u32.u32.u32.po.shr7 <D>, <A>.b0, <B>.b3, <C>;", "rrrr", [](u64 a, u64 b, u64 c) {
           return (static_cast<u64>(byte_of(a, 0, false) * byte_of(b, 3, false)) + c + 1) >> 7;
         }});
}

/// As ptxas refuses it.
TEST(Video, RefusesWhatTheIsaHasNot) {
  const auto refused = [](const std::string& text) {
    const auto found = unsupported(ptx::parse(
        kHeader + ".visible .entry k() { .reg .b32 %r<5>; " + text + " ret; }", "t.ptx"));
    return found.empty() ? std::string() : found.front().instruction;
  };
  EXPECT_NE(refused("vmad.s32.s32.s32 %r1, -%r2, %r3, -%r4;"), "");
  EXPECT_NE(refused("vmad.s32.s32.s32.po %r1, -%r2, %r3, %r4;"), "");
  EXPECT_NE(refused("vmad.s32.s32.s32.po %r1, -%r2, -%r3, %r4;"), "");
  EXPECT_NE(refused("vmad.s32.s32.s32.po %r1, %r2, %r3, -%r4;"), "");
  EXPECT_NE(refused("vmad.s32.s32.s32 %r1, %r2, %r3;"), "");
  EXPECT_NE(refused("vmad.s32.s32.s32 %r1.b0, %r2, %r3, %r4;"), "");
  EXPECT_NE(refused("vadd.s32.s32.s32.po %r1, %r2, %r3;"), "");
  EXPECT_NE(refused("vadd4.s32.s32.s32.sat.add %r1, %r2, %r3, %r4;"), "");
  EXPECT_EQ(refused("vmad.s32.s32.s32.sat.po.shr15 %r1, %r2, %r3, %r4;"), "");
  for (const char* text : {"vadd.s32.s32.s32 %r1, -%r2, %r3;", "add.s32 %r1, %r2, -%r3;",
                           "vadd4.s32.s32.s32 %r1, -%r2, %r3, %r4;"})
    EXPECT_NE(raddle::test::input_error_of([&] { refused(text); }).find("cannot be negated"),
              std::string::npos)
        << text;
}

TEST(Lop3, WithAPredicate) {
  check(
      {"setp.gt.s32 %p1, <C>, 5; lop3.or.b32 <D>|%p2, <A>, <B>, <C>, 0xc0, %p1; selp.b32 <D>, 1, "
       "0, %p2;",
       "rrrr",
       [](u64 a, u64 b, u64 c) { return (a & b) != 0 || static_cast<s32>(c) > 5 ? 1u : 0u; }});
  check(
      {"setp.gt.s32 %p1, <C>, 5; lop3.and.b32 _|%p2, <A>, <B>, <C>, 0xc0, !%p1; selp.b32 <D>, 1, "
       "0, %p2;",
       "rrrr",
       [](u64 a, u64 b, u64 c) { return (a & b) != 0 && static_cast<s32>(c) <= 5 ? 1u : 0u; }});
}

// --- conversions ---------------------------------------------------------------------------------
TEST(Tf32, RoundsTo10Bits) {
  const auto rounded = [](u64 a, bool away) -> u64 {
    const double x = f32(a);
    if (x != x) return 0x7fffffff;
    if (std::isinf(x) || x == 0) return a;
    const double step = std::ldexp(1.0, std::max(std::ilogb(x), -126) - 10);
    const double n = std::fabs(x) / step;
    const double r = (away ? std::floor(n + 0.5) : std::nearbyint(n)) * step;
    return raw(static_cast<float>(std::copysign(r, x)));
  };
  check({"cvt.rna.tf32.f32 <D>, <A>;", "rf", [=](u64 a, u64, u64) { return rounded(a, true); }});
  check({"cvt.rn.tf32.f32 <D>, <A>;", "rf", [=](u64 a, u64, u64) { return rounded(a, false); }});
  check({"cvt.rz.tf32.f32 <D>, <A>;", "rf",
         [](u64 a, u64, u64) { return f32(a) != f32(a) ? 0x7fffffff : a & 0xffffe000; }});
}

double f8_value(unsigned code, bool wide) {
  const unsigned mantissa = wide ? 2 : 3, bias = wide ? 15 : 7;
  const unsigned e = (code & 0x7f) >> mantissa, m = code & ((1u << mantissa) - 1);
  const double fraction = static_cast<double>(m) / (1 << mantissa);
  const double x = e == 0 ? std::ldexp(fraction, 1 - static_cast<int>(bias))
                          : std::ldexp(1 + fraction, static_cast<int>(e) - static_cast<int>(bias));
  return (code & 0x80) != 0 ? -x : x;
}
/// The nearest finite value, ties to an even code.
unsigned nearest_f8(float x, bool wide) {
  if (x != x) return 0x7f;
  const unsigned maximum = wide ? 0x7b : 0x7e;
  unsigned best = 0;
  for (unsigned code = 1; code <= maximum; ++code) {
    const double old = std::fabs(f8_value(best, wide) - std::fabs(double{x}));
    const double now = std::fabs(f8_value(code, wide) - std::fabs(double{x}));
    if (now < old || (now == old && code % 2 == 0)) best = code;
  }
  if (std::fabs(double{x}) >= f8_value(maximum, wide)) best = maximum;
  return best | (std::signbit(x) ? 0x80u : 0u);
}
TEST(EightBitReals, ToAndFrom) {
  for (bool wide : {false, true}) {
    const std::string t = wide ? "e5m2x2" : "e4m3x2";
    check({"cvt.rn.satfinite." + t + ".f32 <D>, <A>, <B>;", "hff", [=](u64 a, u64 b, u64) {
             return u64{nearest_f8(f32(a), wide)} << 8 | nearest_f8(f32(b), wide);
           }});
    check({"cvt.rn.f16x2." + t + " <D>, <A>;", "rh", [=](u64 a, u64, u64) {
             u64 r = 0;
             for (unsigned n = 0; n < 2; ++n) {
               const unsigned code = static_cast<unsigned>(a >> 8 * n) & 255, m = code & 0x7f;
               u64 half = 0x7fff;
               if (wide && m <= 0x7c) half = u64{code} << 8;
               if (!wide && m < 0x7f) {
                 const double x = f8_value(code, false);
                 half = (code & 0x80) << 8;
                 if (x != 0) {
                   const int e = std::ilogb(x);
                   half |= static_cast<u64>(e + 15) << 10 |
                           (static_cast<u64>(std::fabs(x) / std::ldexp(1.0, e) * 1024) & 1023);
                 }
               }
               r |= half << 16 * n;
             }
             return r;
           }});
  }
}
TEST(CvtPack, ClampsAndPacks) {
  check({"cvt.pack.sat.u8.s32.b32 <D>, <A>, <B>, <C>;", "rrrr", [](u64 a, u64 b, u64 c) {
           const auto cut = [](u64 x) {
             return static_cast<u64>(std::clamp(static_cast<s32>(x), 0, 255));
           };
           return (c & 0xffff) << 16 | cut(a) << 8 | cut(b);
         }});
  check({"cvt.pack.sat.s16.s32 <D>, <A>, <B>;", "rrr", [](u64 a, u64 b, u64) {
           const auto cut = [](u64 x) {
             return static_cast<u64>(std::clamp(static_cast<s32>(x), -32768, 32767)) & 0xffff;
           };
           return cut(a) << 16 | cut(b);
         }});
}

// --- comparisons of halves -----------------------------------------------------------------------
double half_value(u64 h) {
  const u64 e = h >> 10 & 31, m = h & 1023;
  const double x = e == 31  ? (m == 0 ? INFINITY : NAN)
                   : e == 0 ? std::ldexp(static_cast<double>(m), -24)
                            : std::ldexp(static_cast<double>(m + 1024), static_cast<int>(e) - 25);
  return (h & 0x8000) != 0 ? -x : x;
}
double brain_value(u64 h) { return f32(h << 16); }
TEST(Set, Halves) {
  check({"set.eq.f16.f16 <D>, <A>, <B>;", "hhh",
         [](u64 a, u64 b, u64) { return half_value(a) == half_value(b) ? 0x3c00u : 0u; }});
  check({"set.ltu.bf16.bf16 <D>, <A>, <B>;", "hhh",
         [](u64 a, u64 b, u64) { return !(brain_value(a) >= brain_value(b)) ? 0x3f80u : 0u; }});
  check({"set.nan.u16.f16 <D>, <A>, <B>;", "hhh", [](u64 a, u64 b, u64) {
           return std::isnan(half_value(a)) || std::isnan(half_value(b)) ? 0xffffu : 0u;
         }});
  const auto pair = [](auto compare, u64 yes) {
    return [=](u64 a, u64 b, u64) {
      u64 r = 0;
      for (unsigned n = 0; n < 2; ++n)
        if (compare(half_value(a >> 16 * n & 0xffff), half_value(b >> 16 * n & 0xffff)))
          r |= yes << 16 * n;
      return r;
    };
  };
  check({"set.gt.f16x2.f16x2 <D>, <A>, <B>;", "rrr",
         pair([](double x, double y) { return x > y; }, 0x3c00)});
  check({"set.ltu.u32.f16x2 <D>, <A>, <B>;", "rrr",
         pair([](double x, double y) { return !(x >= y); }, 0xffff)});
}
TEST(Setp, PairsGiveTwoPredicates) {
  check(
      {"setp.lt.f16x2 %p1|%p2, <A>, <B>; selp.b32 <D>, 1, 0, %p1; selp.b32 %x9, 2, 0, %p2; "
       "or.b32 <D>, <D>, %x9;",
       "rrr", [](u64 a, u64 b, u64) {
         return (half_value(a & 0xffff) < half_value(b & 0xffff) ? 1u : 0u) |
                (half_value(a >> 16) < half_value(b >> 16) ? 2u : 0u);
       }});
}

}  // namespace
}  // namespace raddle::exec::test::video_test
