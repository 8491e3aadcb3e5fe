// Integer, logic, shift and bit instructions against scalar C++.
#include "instruction_case.h"

namespace raddle::exec::test::integer_test {
namespace {

u64 sext(u64 v, unsigned n) {
  return static_cast<u64>(static_cast<s64>(v << (64 - n)) >> (64 - n));
}
u64 cut(u64 v, unsigned n) { return n == 64 ? v : v & ((1ull << n) - 1); }
struct Width {
  char kind;
  unsigned bits;
};
constexpr Width kWidths[] = {{'h', 16}, {'r', 32}, {'q', 64}};
std::string kinds(char k, int n) { return std::string(static_cast<std::size_t>(n), k); }
using Int = __int128;
Int value(u64 v, unsigned n, bool sign) {
  return sign ? static_cast<Int>(static_cast<s64>(sext(v, n))) : static_cast<Int>(cut(v, n));
}

TEST(Integer, AddSubMulMad) {
  for (const Width& w : kWidths)
    for (bool sign : {false, true}) {
      const std::string t = (sign ? "s" : "u") + std::to_string(w.bits);
      check({"add." + t + " <D>, <A>, <B>;", kinds(w.kind, 3),
             [](u64 a, u64 b, u64) { return a + b; }});
      check({"sub." + t + " <D>, <A>, <B>;", kinds(w.kind, 3),
             [](u64 a, u64 b, u64) { return a - b; }});
      check({"mul.lo." + t + " <D>, <A>, <B>;", kinds(w.kind, 3),
             [](u64 a, u64 b, u64) { return a * b; }});
      const unsigned n = w.bits;
      check({"mul.hi." + t + " <D>, <A>, <B>;", kinds(w.kind, 3), [=](u64 a, u64 b, u64) {
               if (n == 64 && !sign)
                 return static_cast<u64>(static_cast<unsigned __int128>(a) * b >> 64);
               return static_cast<u64>(value(a, n, sign) * value(b, n, sign) >> n);
             }});
      check({"mad.lo." + t + " <D>, <A>, <B>, <C>;", kinds(w.kind, 4),
             [](u64 a, u64 b, u64 c) { return a * b + c; }});
    }
}
TEST(Integer, Wide) {
  for (bool sign : {false, true})
    for (unsigned n : {16u, 32u}) {
      const std::string t = (sign ? "s" : "u") + std::to_string(n);
      const std::string in = n == 16 ? "h" : "r", out = n == 16 ? "r" : "q";
      const auto product = [=](u64 a, u64 b) {
        return static_cast<u64>(value(a, n, sign) * value(b, n, sign));
      };
      check({"mul.wide." + t + " <D>, <A>, <B>;", out + in + in,
             [=](u64 a, u64 b, u64) { return product(a, b); }});
      check({"mad.wide." + t + " <D>, <A>, <B>, <C>;", out + in + in + out,
             [=](u64 a, u64 b, u64 c) { return product(a, b) + c; }});
    }
}
TEST(Integer, Saturation) {
  const auto clamp = [](s64 x) {
    return static_cast<u64>(x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x);
  };
  check({"add.sat.s32 <D>, <A>, <B>;", "rrr",
         [=](u64 a, u64 b, u64) { return clamp(s64{static_cast<s32>(a)} + static_cast<s32>(b)); }});
  check({"sub.sat.s32 <D>, <A>, <B>;", "rrr",
         [=](u64 a, u64 b, u64) { return clamp(s64{static_cast<s32>(a)} - static_cast<s32>(b)); }});
  check({"mad.hi.sat.s32 <D>, <A>, <B>, <C>;", "rrrr", [=](u64 a, u64 b, u64 c) {
           return clamp((s64{static_cast<s32>(a)} * static_cast<s32>(b) >> 32) +
                        static_cast<s32>(c));
         }});
}
TEST(Integer, Mul24AndSad) {
  check({"mul24.lo.u32 <D>, <A>, <B>;", "rrr",
         [](u64 a, u64 b, u64) { return (a & 0xffffff) * (b & 0xffffff); }});
  check({"mul24.hi.s32 <D>, <A>, <B>;", "rrr", [](u64 a, u64 b, u64) {
           return static_cast<u64>(static_cast<s64>(sext(a, 24)) * static_cast<s64>(sext(b, 24)) >>
                                   16);
         }});
  check({"mad24.lo.s32 <D>, <A>, <B>, <C>;", "rrrr",
         [](u64 a, u64 b, u64 c) { return sext(a, 24) * sext(b, 24) + c; }});
  for (const Width& w : kWidths)
    for (bool sign : {false, true}) {
      const unsigned n = w.bits;
      check({std::string("sad.") + (sign ? "s" : "u") + std::to_string(n) + " <D>, <A>, <B>, <C>;",
             kinds(w.kind, 4), [=](u64 a, u64 b, u64 c) {
               const Int x = value(a, n, sign), y = value(b, n, sign);
               return static_cast<u64>(x < y ? y - x : x - y) + c;
             }});
    }
}
TEST(Integer, DivRemWithZeroAndOverflow) {
  for (const Width& w : kWidths)
    for (bool sign : {false, true}) {
      const unsigned n = w.bits;
      const std::string t = (sign ? "s" : "u") + std::to_string(n);
      check({"div." + t + " <D>, <A>, <B>;", kinds(w.kind, 3), [=](u64 a, u64 b, u64) {
               return cut(b, n) == 0 ? ~0ull
                                     : static_cast<u64>(value(a, n, sign) / value(b, n, sign));
             }});
      check({"rem." + t + " <D>, <A>, <B>;", kinds(w.kind, 3), [=](u64 a, u64 b, u64) {
               return cut(b, n) == 0 ? a : static_cast<u64>(value(a, n, sign) % value(b, n, sign));
             }});
    }
}
TEST(Integer, MinMaxAbsNeg) {
  for (const Width& w : kWidths)
    for (bool sign : {false, true}) {
      const unsigned n = w.bits;
      const std::string t = (sign ? "s" : "u") + std::to_string(n);
      check({"min." + t + " <D>, <A>, <B>;", kinds(w.kind, 3),
             [=](u64 a, u64 b, u64) { return value(a, n, sign) < value(b, n, sign) ? a : b; }});
      check({"max." + t + " <D>, <A>, <B>;", kinds(w.kind, 3),
             [=](u64 a, u64 b, u64) { return value(a, n, sign) > value(b, n, sign) ? a : b; }});
      if (!sign) continue;
      check({"abs." + t + " <D>, <A>;", kinds(w.kind, 2),
             [=](u64 a, u64, u64) { return value(a, n, true) < 0 ? 0 - a : a; }});
      check({"neg." + t + " <D>, <A>;", kinds(w.kind, 2), [](u64 a, u64, u64) { return 0 - a; }});
    }
}
TEST(Integer, LogicAndShifts) {
  for (const Width& w : kWidths) {
    const unsigned n = w.bits;
    const std::string b = std::to_string(n), two = kinds(w.kind, 2), three = kinds(w.kind, 3);
    check({"and.b" + b + " <D>, <A>, <B>;", three, [](u64 x, u64 y, u64) { return x & y; }});
    check({"or.b" + b + " <D>, <A>, <B>;", three, [](u64 x, u64 y, u64) { return x | y; }});
    check({"xor.b" + b + " <D>, <A>, <B>;", three, [](u64 x, u64 y, u64) { return x ^ y; }});
    check({"not.b" + b + " <D>, <A>;", two, [](u64 x, u64, u64) { return ~x; }});
    check({"cnot.b" + b + " <D>, <A>;", two, [=](u64 x, u64, u64) { return u64{cut(x, n) == 0}; }});
    check({"shl.b" + b + " <D>, <A>, <B>;", two + "r",
           [=](u64 x, u64 s, u64) { return s >= n ? 0 : x << s; }});
    check({"shr.u" + b + " <D>, <A>, <B>;", two + "r",
           [=](u64 x, u64 s, u64) { return s >= n ? 0 : cut(x, n) >> s; }});
    check({"shr.s" + b + " <D>, <A>, <B>;", two + "r", [=](u64 x, u64 s, u64) {
             return static_cast<u64>(static_cast<s64>(sext(x, n)) >> std::min<u64>(s, n - 1));
           }});
  }
  for (bool wrap : {false, true}) {
    const std::string mode = wrap ? "wrap" : "clamp";
    const auto by = [=](u64 c) { return wrap ? c & 31 : std::min<u64>(c, 32); };
    check({"shf.l." + mode + ".b32 <D>, <A>, <B>, <C>;", "rrrr",
           [=](u64 a, u64 b, u64 c) { return by(c) == 32 ? a : (b << 32 | a) << by(c) >> 32; }});
    check({"shf.r." + mode + ".b32 <D>, <A>, <B>, <C>;", "rrrr",
           [=](u64 a, u64 b, u64 c) { return (b << 32 | a) >> by(c); }});
  }
}
TEST(Integer, Lop3AndPermute) {
  for (u32 lut : {0x96u, 0xe8u, 0x80u, 0xfeu, 0x1bu})
    check({"lop3.b32 <D>, <A>, <B>, <C>, " + std::to_string(lut) + ";", "rrrr",
           [=](u64 a, u64 b, u64 c) {
             u64 r = 0;
             for (unsigned i = 0; i < 32; ++i)
               r |= u64{lut >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1)) & 1} << i;
             return r;
           }});
  const auto prmt = [](u64 a, u64 b, u64 selectors) {
    u64 r = 0;
    for (unsigned j = 0; j < 4; ++j) {
      const u64 s = selectors >> 4 * j & 15, byte = (b << 32 | a) >> 8 * (s & 7) & 255;
      r |= (s & 8 ? (byte & 128 ? 255 : 0) : byte) << 8 * j;
    }
    return r;
  };
  check({"prmt.b32 <D>, <A>, <B>, <C>;", "rrrr", prmt});
  const std::pair<const char*, std::array<u64, 4>> modes[] = {
      {"f4e", {0x3210, 0x4321, 0x5432, 0x6543}}, {"b4e", {0x5670, 0x6701, 0x7012, 0x0123}},
      {"rc8", {0x0000, 0x1111, 0x2222, 0x3333}}, {"ecl", {0x3210, 0x3211, 0x3222, 0x3333}},
      {"ecr", {0x0000, 0x1110, 0x2210, 0x3210}}, {"rc16", {0x1010, 0x3232, 0x1010, 0x3232}}};
  for (const auto& [name, table] : modes)
    check({std::string("prmt.b32.") + name + " <D>, <A>, <B>, <C>;", "rrrr",
           [=, t = table](u64 a, u64 b, u64 c) { return prmt(a, b, t[c & 3]); }});
}
TEST(Integer, CountsAndReversals) {
  check({"popc.b32 <D>, <A>;", "rr",
         [](u64 a, u64, u64) { return static_cast<u64>(std::popcount(a)); }});
  check({"popc.b64 <D>, <A>;", "rq",
         [](u64 a, u64, u64) { return static_cast<u64>(std::popcount(a)); }});
  check({"clz.b32 <D>, <A>;", "rr",
         [](u64 a, u64, u64) { return static_cast<u64>(std::countl_zero(static_cast<u32>(a))); }});
  check({"clz.b64 <D>, <A>;", "rq",
         [](u64 a, u64, u64) { return static_cast<u64>(std::countl_zero(a)); }});
  for (bool wide : {false, true})
    for (bool sign : {false, true})
      for (bool amount : {false, true}) {
        const unsigned n = wide ? 64 : 32;
        check({std::string("bfind.") + (amount ? "shiftamt." : "") + (sign ? "s" : "u") +
                   std::to_string(n) + " <D>, <A>;",
               wide ? "rq" : "rr", [=](u64 value, u64, u64) {
                 u64 x = sign ? sext(value, n) : cut(value, n);
                 if (sign && x >> 63) x = ~x;
                 if (x == 0) return u64{0xffffffff};
                 const u64 at = 63 - static_cast<u64>(std::countl_zero(x));
                 return amount ? n - 1 - at : at;
               }});
      }
  const auto reverse = [](u64 value, unsigned n) {
    u64 out = 0;
    for (unsigned i = 0; i < n; ++i) out |= (value >> i & 1) << (n - 1 - i);
    return out;
  };
  check({"brev.b32 <D>, <A>;", "rr", [=](u64 a, u64, u64) { return reverse(a, 32); }});
  check({"brev.b64 <D>, <A>;", "qq", [=](u64 a, u64, u64) { return reverse(a, 64); }});
}
TEST(Integer, BitFields) {
  for (bool wide : {false, true}) {
    const unsigned n = wide ? 64 : 32;
    const std::string k = wide ? "q" : "r", size = std::to_string(n);
    for (bool sign : {false, true})
      check({std::string("bfe.") + (sign ? "s" : "u") + size + " <D>, <A>, <B>, <C>;", k + k + "rr",
             [=](u64 value, u64 from, u64 count) {
               const u64 at = from & 255, len = count & 255, msb = n - 1;  // the loop of the manual
               const u64 sign_bit =
                   !sign || len == 0 ? 0 : value >> std::min(at + len - 1, msb) & 1;
               u64 out = 0;
               for (u64 i = 0; i <= msb; ++i)
                 out |= (i < len && at + i <= msb ? value >> (at + i) & 1 : sign_bit) << i;
               return out;
             }});
    for (u64 len : {0u, 1u, 5u, 31u, 32u, 64u, 255u})
      check({"bfi.b" + size + " <D>, <A>, <B>, <C>, " + std::to_string(len) + ";", k + k + k + "r",
             [=](u64 value, u64 base, u64 from) {
               const u64 at = from & 255;
               u64 out = base;
               for (u64 i = 0; i < len && at + i < n; ++i)
                 out = (out & ~(1ull << (at + i))) | (value >> i & 1) << (at + i);
               return out;
             }});
  }
  const auto mask = [](u64 at, u64 len) {
    return at > 31 ? 0 : (len > 31 ? 0xffffffffull : (1ull << len) - 1) << at;
  };
  check({"bmsk.clamp.b32 <D>, <A>, <B>;", "rrr", [=](u64 a, u64 b, u64) { return mask(a, b); }});
  check({"bmsk.wrap.b32 <D>, <A>, <B>;", "rrr",
         [=](u64 a, u64 b, u64) { return mask(a & 31, b & 31); }});
  check({"szext.clamp.u32 <D>, <A>, <B>;", "rrr",
         [](u64 a, u64 b, u64) { return b > 31 ? a : cut(a, static_cast<unsigned>(b)); }});
  check({"szext.wrap.s32 <D>, <A>, <B>;", "rrr", [](u64 a, u64 b, u64) {
           return (b & 31) == 0 ? 0 : sext(a, static_cast<unsigned>(b & 31));
         }});
}
TEST(Integer, DotProducts) {
  for (bool sa : {false, true})
    for (bool sb : {false, true}) {
      const auto part = [](u64 x, unsigned at, unsigned n, bool s) {
        return s ? sext(x >> at, n) : cut(x >> at, n);
      };
      const std::string types = std::string(sa ? ".s32" : ".u32") + (sb ? ".s32" : ".u32");
      check({"dp4a" + types + " <D>, <A>, <B>, <C>;", "rrrr", [=](u64 a, u64 b, u64 c) {
               for (unsigned j = 0; j < 4; ++j) c += part(a, 8 * j, 8, sa) * part(b, 8 * j, 8, sb);
               return c;
             }});
      check({"dp2a.hi" + types + " <D>, <A>, <B>, <C>;", "rrrr", [=](u64 a, u64 b, u64 c) {
               for (unsigned j = 0; j < 2; ++j)
                 c += part(a, 16 * j, 16, sa) * part(b, 16 + 8 * j, 8, sb);
               return c;
             }});
    }
}
TEST(Integer, CarryChains) {
  // 64-bit sums, differences and products out of 32-bit halves.
  const auto halves = [](const std::string& body) {
    return "{ .reg .b32 a0, a1, b0, b1, d0, d1; mov.b64 {a0, a1}, <A>; mov.b64 {b0, b1}, <B>;\n" +
           body + " mov.b64 <D>, {d0, d1}; }";
  };
  check({halves("add.cc.u32 d0, a0, b0; addc.u32 d1, a1, b1;"), "qqq",
         [](u64 a, u64 b, u64) { return a + b; }});
  check({halves("sub.cc.u32 d0, a0, b0; subc.u32 d1, a1, b1;"), "qqq",
         [](u64 a, u64 b, u64) { return a - b; }});
  check({halves("mul.lo.u32 d0, a0, b0; mul.hi.u32 d1, a0, b0; mad.lo.cc.u32 d1, a0, b1, d1; "
                "madc.lo.u32 d1, a1, b0, d1; sub.u32 d1, d1, 0;"),
         "qqq", [](u64 a, u64 b, u64) {
           const u64 mid = cut(cut(a, 32) * (b >> 32), 32) + (cut(a, 32) * cut(b, 32) >> 32);
           return a * b + ((mid >> 32) << 32);  // the carry of the first mad arrives in the second
         }});
  check({"{ .reg .b64 lo, hi; add.cc.u64 lo, <A>, <B>; addc.u64 <D>, 0, 0; }", "qqq",
         [](u64 a, u64 b, u64) { return u64{a + b < a}; }});
  // The flag of a difference is the carry of a + ~b + 1.
  check({"{ .reg .b64 lo; sub.cc.u64 lo, <A>, <B>; addc.u64 <D>, 0, 0; }", "qqq",
         [](u64 a, u64 b, u64) { return u64{a >= b}; }});
  check({"{ .reg .b64 lo; sub.cc.u64 lo, <A>, <B>; subc.u64 <D>, 0, 0; }", "qqq",
         [](u64 a, u64 b, u64) { return a >= b ? u64{0} : ~u64{0}; }});
  check({"{ .reg .b64 lo; add.cc.u64 lo, <A>, <B>; subc.u64 <D>, 0, 0; }", "qqq",
         [](u64 a, u64 b, u64) { return a + b < a ? u64{0} : ~u64{0}; }});
}
TEST(Integer, Packed16) {
  const auto lanes = [](u64 a, u64 b, auto f) {
    return cut(f(a & 0xffff, b & 0xffff), 16) | cut(f(a >> 16, b >> 16), 16) << 16;
  };
  check({"add.u16x2 <D>, <A>, <B>;", "rrr",
         [=](u64 a, u64 b, u64) { return lanes(a, b, [](u64 x, u64 y) { return x + y; }); }});
  check({"min.s16x2 <D>, <A>, <B>;", "rrr", [=](u64 a, u64 b, u64) {
           return lanes(a, b, [](u64 x, u64 y) {
             return static_cast<s16>(x) < static_cast<s16>(y) ? x : y;
           });
         }});
  check({"max.u16x2 <D>, <A>, <B>;", "rrr", [=](u64 a, u64 b, u64) {
           return lanes(a, b, [](u64 x, u64 y) { return x > y ? x : y; });
         }});
}
TEST(Integer, Moves) {
  check({"{ .reg .b16 w, x, y, z; mov.b64 {w, x, y, z}, <A>; mov.b64 <D>, {z, y, x, w}; }", "qq",
         [](u64 a, u64, u64) {
           return (a & 0xffff) << 48 | (a >> 16 & 0xffff) << 32 | (a >> 32 & 0xffff) << 16 |
                  a >> 48;
         }});
  check({"{ .reg .b32 x, y; mov.b64 {x, y}, <A>; mov.b64 <D>, {y, x}; }", "qq",
         [](u64 a, u64, u64) { return a << 32 | a >> 32; }});
  check({"{ .reg .b16 x, y; mov.b32 {x, y}, <A>; mov.b32 <D>, {y, x}; }", "rr",
         [](u64 a, u64, u64) { return a << 16 | a >> 16; }});
  check({"{ .reg .b8 w, x, y, z; mov.b32 {w, x, y, z}, <A>; mov.b32 <D>, {z, y, x, w}; }", "rr",
         [](u64 a, u64, u64) { return u64{__builtin_bswap32(static_cast<u32>(a))}; }});
  check({"{ .reg .b32 x; mov.b64 {_, x}, <A>; mov.b32 <D>, x; }", "rq",
         [](u64 a, u64, u64) { return a >> 32; }});
}

}  // namespace
}  // namespace raddle::exec::test::integer_test
