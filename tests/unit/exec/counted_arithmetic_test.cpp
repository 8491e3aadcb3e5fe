// Every counted arithmetic, logic, comparison and conversion opcode, by name, against a reference
// that knows PTX's words and nothing of the machine: edge values, partial masks, every lane build
// (instruction_case.h). Approximate functions and carries have tests of their own.
#include <cfenv>
#include <cmath>
#include <map>

#include "counted.h"
#include "instruction_case.h"

namespace raddle::exec::test::counted_arithmetic_test {
namespace {

unsigned bits_of(const std::string& type) {
  if (type == "f16x2") return 32;
  return static_cast<unsigned>(std::stoul(type.substr(type.find_first_of("0123456789"))));
}
u64 cut(u64 x, const std::string& type) { return x & (~0ull >> (64 - bits_of(type))); }
/// The integer that the bits mean.
__int128 integer(u64 x, const std::string& type) {
  const unsigned gap = 64 - bits_of(type);
  if (type[0] == 's') return static_cast<s64>(x << gap) >> gap;
  return cut(x, type);
}
bool is_real(const std::string& type) { return type[0] == 'f'; }

// --- reals ---------------------------------------------------------------------------------------
double half_value(u64 h) {
  const u64 e = h >> 10 & 31, m = h & 1023;
  const double x = e == 31  ? (m == 0 ? INFINITY : NAN)
                   : e == 0 ? std::ldexp(static_cast<double>(m), -24)
                            : std::ldexp(static_cast<double>(m + 1024), static_cast<int>(e) - 25);
  return (h & 0x8000) != 0 ? -x : x;
}
u64 half_bits(double x) {  // nearest, ties to even
  if (x != x) return 0x7fff;
  const u64 sign = std::signbit(x) ? 0x8000 : 0;
  const double m = std::fabs(x);
  if (m >= 65520) return sign | 0x7c00;
  const double step = std::ldexp(1.0, m == 0 ? -24 : std::max(std::ilogb(m) - 10, -24));
  const double r = std::nearbyint(m / step) * step;
  if (r < std::ldexp(1.0, -14)) return sign | static_cast<u64>(r * std::ldexp(1.0, 24));
  const int e = std::ilogb(r);
  return sign | static_cast<u64>(e + 15) << 10 |
         (static_cast<u64>(r / std::ldexp(1.0, e) * 1024) & 1023);
}
double real(u64 x, const std::string& type) {
  return type == "f16" ? half_value(x & 0xffff) : type == "f32" ? double{f32(x)} : f64(x);
}
double flushed(double x, const Counted& op, const std::string& type) {
  const bool small = type == "f32" && op.has("ftz") && std::fabs(x) < 0x1p-126;
  return small ? std::copysign(0.0, x) : x;
}
int rounding_of(const Counted& op) {
  return op.has("rz")   ? FE_TOWARDZERO
         : op.has("rm") ? FE_DOWNWARD
         : op.has("rp") ? FE_UPWARD
                        : FE_TONEAREST;
}
/// f in the precision of T under the opcode's rounding.
template <class T, class F>
u64 rounded(const Counted& op, F f, double a, double b, double c) {
  volatile T x = static_cast<T>(a), y = static_cast<T>(b), z = static_cast<T>(c);
  std::fesetround(rounding_of(op));
  volatile T r = f(x, y, z);
  std::fesetround(FE_TONEAREST);
  const std::string type = sizeof(T) == 4 ? "f32" : "f64";
  return raw(static_cast<T>(flushed(r, op, type)));
}
template <class F>
u64 real_result(const Counted& op, const std::string& type, F f, u64 a, u64 b, u64 c) {
  if (type == "f16x2")
    return real_result(op, "f16", f, a & 0xffff, b & 0xffff, c & 0xffff) |
           real_result(op, "f16", f, a >> 16 & 0xffff, b >> 16 & 0xffff, c >> 16 & 0xffff) << 16;
  const double x = flushed(real(a, type), op, type), y = flushed(real(b, type), op, type),
               z = flushed(real(c, type), op, type);
  if (type == "f64") return rounded<double>(op, f, x, y, z);
  if (type == "f32") return rounded<float>(op, f, x, y, z);
  // Exact in extended precision: one rounding at the end.
  const long double r =
      f(static_cast<long double>(x), static_cast<long double>(y), static_cast<long double>(z));
  return half_bits(static_cast<double>(r));
}
template <class T>
T fused(T a, T b, T c) {
  return std::fma(a, b, c);
}
long double fused(long double a, long double b, long double c) { return a * b + c; }

bool holds(const std::string& how, auto x, auto y) {
  const bool unordered = x != x || y != y;
  if (how == "num") return !unordered;
  if (how == "nan") return unordered;
  const bool or_unordered = how.size() == 3;
  if (unordered) return or_unordered;
  const std::string base = how.substr(0, 2);
  return base == "eq"   ? x == y
         : base == "ne" ? x != y
         : base == "lt" ? x < y
         : base == "le" ? x <= y
         : base == "gt" ? x > y
                        : x >= y;
}
bool compared(const Counted& op, const std::string& type, u64 a, u64 b) {
  const std::string& how = op.words[1];
  if (is_real(type))
    return holds(how, flushed(real(a, type), op, type), flushed(real(b, type), op, type));
  return holds(how, integer(a, type), integer(b, type));
}

// --- integers ------------------------------------------------------------------------------------
using Reference = std::function<u64(const Counted&, u64, u64, u64)>;

u64 whole(const Counted& op, u64 first, u64 second, u64 third) {
  const std::string& type = op.types[0];
  const __int128 x = integer(first, type), y = integer(second, type);
  const unsigned n = bits_of(type);
  const std::string& base = op.base;
  if (base == "add") return static_cast<u64>(x + y);
  if (base == "sub") return static_cast<u64>(x - y);
  if (base == "mul" || base == "mad") {
    const __int128 wide = type == "u64" ? static_cast<__int128>(static_cast<unsigned __int128>(x) *
                                                                static_cast<unsigned __int128>(y))
                                        : x * y;
    const auto product = static_cast<unsigned __int128>(wide);
    const u64 part = op.has("hi") ? static_cast<u64>(product >> n) : static_cast<u64>(product);
    return base == "mul" ? part : part + third;
  }
  if (base == "min") return static_cast<u64>(std::min(x, y));
  if (base == "max") return static_cast<u64>(std::max(x, y));
  if (base == "abs") return static_cast<u64>(x < 0 ? -x : x);
  if (base == "neg") return static_cast<u64>(-x);
  // By zero: what the hardware gives is not in the manual; all ones and the dividend here.
  if (base == "div") return y == 0 ? ~0ull : static_cast<u64>(x / y);
  if (base == "rem") return y == 0 ? static_cast<u64>(x) : static_cast<u64>(x % y);
  if (base == "and") return first & second;
  if (base == "or") return first | second;
  if (base == "xor") return first ^ second;
  if (base == "not") return ~first;
  const u64 by = second & 0xffffffff;
  if (base == "shl") return by >= n ? 0 : first << by;
  if (base == "shr" && type[0] == 's') return static_cast<u64>(x >> std::min<u64>(by, n - 1));
  if (base == "shr") return by >= n ? 0 : static_cast<u64>(x) >> by;
  if (base == "selp") return (third & 1) != 0 ? first : second;
  return 0xbad;
}
u64 bits(const Counted& op, u64 first, u64 second, u64 third) {
  const std::string& type = op.types.back();
  const unsigned n = bits_of(type);
  const u64 x = cut(first, type);
  if (op.base == "popc") return static_cast<u64>(std::popcount(x));
  if (op.base == "clz") return n - static_cast<unsigned>(std::bit_width(x));
  if (op.base == "bfind") {
    if (x == 0) return 0xffffffff;
    const u64 at = static_cast<u64>(std::bit_width(x)) - 1;
    return op.has("shiftamt") ? n - 1 - at : at;
  }
  if (op.base == "brev") {
    u64 out = 0;
    for (unsigned i = 0; i < n; ++i) out |= (x >> i & 1) << (n - 1 - i);
    return out;
  }
  if (op.base == "bmsk") {  // `second` bits from `first` up
    u64 out = 0;
    for (u64 i = 0; i < 32; ++i)
      out |= i >= cut(first, "u32") && i - first < cut(second, "u32") ? 1ull << i : 0;
    return out;
  }
  if (op.base == "prmt") {
    const u64 pool = cut(second, "u32") << 32 | cut(first, "u32");
    u64 out = 0;
    for (unsigned i = 0; i < 4; ++i) {
      const u64 selector = third >> 4 * i & 15, byte = pool >> 8 * (selector & 7) & 255;
      out |= ((selector & 8) != 0 ? ((byte & 128) != 0 ? 255ull : 0) : byte) << 8 * i;
    }
    return out;
  }
  if (op.base == "lop3") {
    u64 out = 0;
    for (unsigned i = 0; i < 32; ++i)
      out |= (0x6aull >> ((first >> i & 1) << 2 | (second >> i & 1) << 1 | (third >> i & 1)) & 1)
             << i;
    return out;
  }
  if (op.base == "shf") {
    const u64 both = cut(second, "u32") << 32 | cut(first, "u32");
    const u64 by = op.has("wrap") ? third & 31 : std::min<u64>(cut(third, "u32"), 32);
    return op.has("l") ? (by == 0 ? both >> 32 : both >> (32 - by)) : both >> by;
  }
  if (op.base == "dp4a") {
    __int128 sum = integer(third, "s32");
    for (unsigned i = 0; i < 4; ++i)
      sum += integer(first >> 8 * i, op.types[0][0] == 's' ? "s8" : "u8") *
             integer(second >> 8 * i, op.types[1][0] == 's' ? "s8" : "u8");
    return static_cast<u64>(sum);
  }
  return 0xbad;
}
u64 inserted(const Counted& op, u64 a, u64 b, u64 c) {  // bfi at bit 5, c & 255 bits
  const unsigned n = bits_of(op.types[0]);
  u64 r = b;
  for (u64 i = 0; i < (c & 255) && i + 5 < n; ++i)
    r = (r & ~(1ull << (i + 5))) | (a >> i & 1) << (i + 5);
  return r;
}

// --- conversions ---------------------------------------------------------------------------------
long double whole_part(const Counted& op, long double x) {
  if (op.has("rni")) return std::nearbyint(x);
  if (op.has("rzi")) return std::trunc(x);
  if (op.has("rmi")) return std::floor(x);
  if (op.has("rpi")) return std::ceil(x);
  return x;
}
u64 converted(const Counted& op, u64 a, u64, u64) {
  const std::string &to = op.types[0], &from = op.types[1];
  if (!is_real(from) && !is_real(to)) return static_cast<u64>(integer(a, from));
  long double x =
      is_real(from) ? flushed(real(a, from), op, from) : static_cast<long double>(integer(a, from));
  x = whole_part(op, x);
  if (!is_real(to)) {
    const unsigned n = bits_of(to);
    const long double maximum = std::ldexp(1.0L, static_cast<int>(n) - (to[0] == 's' ? 1 : 0)) - 1;
    const long double minimum = to[0] == 's' ? -maximum - 1 : 0;
    if (x != x) return from == "f64" || n == 64 ? u64{1} << (n - 1) : 0;
    const long double v = std::clamp(x, minimum, maximum);
    return v < 0 ? static_cast<u64>(static_cast<s64>(v)) : static_cast<u64>(v);
  }
  if (op.has("sat")) x = x > 0 ? std::min(x, 1.0L) : 0.0L;
  if (to == "f16") return half_bits(static_cast<double>(x));
  std::fesetround(rounding_of(op));
  volatile long double v = x;
  volatile float narrow = static_cast<float>(v);
  volatile double wide = static_cast<double>(v);
  std::fesetround(FE_TONEAREST);
  if (to == "f32") return raw(static_cast<float>(flushed(narrow, op, "f32")));
  return raw(wide);
}

u64 arithmetic(const Counted& op, u64 a, u64 b, u64 c) {
  const std::string& t = op.types[0];
  const auto of = [&](auto f) { return real_result(op, t, f, a, b, c); };
  if (op.base == "add") return of([](auto x, auto y, auto) { return x + y; });
  if (op.base == "sub") return of([](auto x, auto y, auto) { return x - y; });
  if (op.base == "mul") return of([](auto x, auto y, auto) { return x * y; });
  if (op.base == "div") return of([](auto x, auto y, auto) { return x / y; });
  if (op.base == "fma") return of([](auto x, auto y, auto z) { return fused(x, y, z); });
  if (op.base == "sqrt") return of([](auto x, auto, auto) { return std::sqrt(x); });
  if (op.base == "rcp") return of([](auto x, auto, auto) { return 1 / x; });
  const u64 sign = 1ull << (bits_of(t) - 1);
  const u64 x = t == "f32" ? std::bit_cast<u32>(static_cast<float>(flushed(f32(a), op, t))) : a;
  const bool is_nan = t == "f32" && std::isnan(f32(a));
  if (op.base == "neg") return op.has("ftz") && is_nan ? a ^ sign : x ^ sign;
  if (op.base == "abs") return op.has("ftz") && is_nan ? a & ~sign : x & ~sign;
  if (op.base == "copysign") return (a & sign) | (b & ~sign);
  if (op.base == "selp") return (c & 1) != 0 ? a : b;
  const bool minimum = op.base == "min";
  return of([&](auto p, auto q, auto) {
    if (p != p) return q;
    if (q != q) return p;
    if (p == q) return std::signbit(p) == minimum ? p : q;
    return (p < q) == minimum ? p : q;
  });
}

char kind_of(const std::string& type) {
  if (type == "f32") return 'f';
  if (type == "f64") return 'd';
  const unsigned n = bits_of(type);
  return n <= 16 ? 'h' : n == 32 ? 'r' : 'q';
}

/// The instruction's text and operand kinds; an empty text: tested elsewhere.
Case case_of(const Counted& op) {
  const std::string& last = op.types.back();
  const char k = kind_of(last);
  const auto with = [&](const std::string& operands, std::string kinds, Reference reference) {
    return Case{op.text + " " + operands + ";", std::move(kinds),
                [=](u64 a, u64 b, u64 c) { return reference(op, a, b, c); }};
  };
  const std::string one(2, k), two(3, k), three(4, k);
  if (op.base == "setp" || op.base == "set") {
    const bool sets = op.base == "set";
    if (sets && last == "f16x2") return {};  // Set.Halves
    const std::string& type = last;
    const Reference reference = [=](const Counted& counted, u64 left, u64 right, u64) -> u64 {
      const u64 yes = !sets ? 1 : counted.types[0] == "f16" ? 0x3c00 : 0x3f800000;
      return compared(counted, type, left, right) ? yes : 0;
    };
    if (sets) return with("<D>, <A>, <B>", std::string(1, kind_of(op.types[0])) + k + k, reference);
    Case made = with("%p1, <A>, <B>", std::string("r") + k + k, reference);
    made.body += " selp.u32 <D>, 1, 0, %p1;";
    return made;
  }
  if (op.base == "selp") {
    Case made =
        with("<D>, <A>, <B>, %p1", std::string{k, k, k, 'r'}, is_real(last) ? arithmetic : whole);
    made.body = "and.b32 %x9, <C>, 1; setp.eq.u32 %p1, %x9, 1; " + made.body;
    return made;
  }
  if (op.base == "cvt")
    return last == "f32" && op.types[0] == "tf32"
               ? Case{}
               : with("<D>, <A>", std::string{kind_of(op.types[0]), kind_of(op.types[1])},
                      converted);
  if (op.base == "mov")
    return with("<D>, <A>", one, [](const Counted&, u64 a, u64, u64) { return a; });
  if (op.base == "bfi") return with("<D>, <A>, <B>, 5, <C>", std::string{k, k, k, 'r'}, inserted);
  if (op.base == "lop3") return with("<D>, <A>, <B>, <C>, 0x6a", three, bits);
  if (op.base == "prmt" || op.base == "shf") return with("<D>, <A>, <B>, <C>", three, bits);
  if (op.base == "dp4a") return with("<D>, <A>, <B>, <C>", three, bits);
  if (op.base == "bmsk") return with("<D>, <A>, <B>", two, bits);
  if (op.base == "brev") return with("<D>, <A>", one, bits);
  if (op.base == "popc" || op.base == "clz" || op.base == "bfind")
    return with("<D>, <A>", std::string{'r', k}, bits);
  if (op.base == "shl" || op.base == "shr")
    return with("<D>, <A>, <B>", std::string{k, k, 'r'}, whole);
  if (op.has("cc") || op.base == "addc" || op.base == "subc" || op.base == "madc") return {};
  if (op.has("approx") || op.has("full")) return {};
  const Reference reference = is_real(last) ? arithmetic : whole;
  if (op.has("wide")) {
    const char wide = k == 'h' ? 'r' : 'q';
    return with(op.base == "mul" ? "<D>, <A>, <B>" : "<D>, <A>, <B>, <C>",
                op.base == "mul" ? std::string{wide, k, k} : std::string{wide, k, k, wide},
                reference);
  }
  for (const char* unary : {"neg", "abs", "not", "sqrt", "rcp"})
    if (op.base == unary) return with("<D>, <A>", one, reference);
  for (const char* ternary : {"mad", "fma"})
    if (op.base == ternary) return with("<D>, <A>, <B>, <C>", three, reference);
  for (const char* binary :
       {"add", "sub", "mul", "div", "rem", "min", "max", "and", "or", "xor", "copysign"})
    if (op.base == binary) return with("<D>, <A>, <B>", two, reference);
  return {};
}

class CountedArithmetic : public testing::TestWithParam<const char*> {};
TEST_P(CountedArithmetic, ByName) {
  unsigned tested = 0;
  for (const Counted& op : counted_opcodes()) {
    if (op.base != GetParam() || op.types.empty() || op.has("pred")) continue;
    const Case made = case_of(op);
    if (made.body.empty()) continue;
    check(made);
    ++tested;
  }
  EXPECT_GT(tested, 0u);
}
INSTANTIATE_TEST_SUITE_P(Bases, CountedArithmetic,
                         testing::Values("add", "sub", "mul", "mad", "div", "rem", "min", "max",
                                         "abs", "neg", "and", "or", "xor", "not", "shl", "shr",
                                         "selp", "setp", "set", "mov", "cvt", "fma", "sqrt", "rcp",
                                         "copysign", "popc", "clz", "bfind", "brev", "bfi", "bmsk",
                                         "prmt", "lop3", "shf", "dp4a"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace raddle::exec::test::counted_arithmetic_test
