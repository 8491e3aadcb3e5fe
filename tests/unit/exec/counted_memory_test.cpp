// Every counted load, store and atomic opcode, by name: loads from each memory against the bytes
// that lie there, stores read back, atomics against the same operations done lane after lane.
// st.param and ld.param of calls are tested with calls (control_test.cpp).
#include <fmt/format.h>

#include <cmath>

#include "counted.h"
#include "instruction_case.h"

namespace raddle::exec::test::counted_memory_test {
namespace {

unsigned bytes_of(const std::string& type) {
  if (type == "f16x2") return 4;
  return static_cast<unsigned>(std::stoul(type.substr(1))) / 8;
}
char letter_of(const std::string& type) {
  if (type == "f32") return 'f';
  if (type == "f64") return 'd';
  const unsigned n = bytes_of(type);
  return n <= 2 ? 'h' : n == 4 ? 'r' : 'q';
}
unsigned register_bytes(char letter) {
  return letter == 'h' ? 2 : letter == 'r' || letter == 'f' ? 4 : 8;
}
const char* raw_type(char letter) {
  return letter == 'h'   ? "b16"
         : letter == 'r' ? "b32"
         : letter == 'f' ? "f32"
         : letter == 'd' ? "f64"
                         : "b64";
}
unsigned elements_of(const Counted& op) { return op.has("v4") ? 4 : op.has("v2") ? 2 : 1; }
std::string registers(char letter, unsigned count) {
  if (count == 1) return fmt::format("%{}10", letter);
  std::vector<std::string> names;
  for (unsigned i = 0; i < count; ++i) names.push_back(fmt::format("%{}{}", letter, 10 + i));
  return fmt::format("{{{}}}", fmt::join(names, ", "));
}

std::vector<u8> pattern() {
  std::vector<u8> bytes(512);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<u8>(i * 37 + i / 7 + 128);
  return bytes;
}
std::string constant_bytes() {
  std::string list;
  for (u8 b : pattern()) list += (list.empty() ? "" : ", ") + std::to_string(b);
  return ".const .align 16 .b8 c[512] = {" + list + "};\n";
}

/// Which memory the opcode's address means, and how the kernel gets one there.
struct Place {
  std::string fill, address, read_back;  ///< text; the address of this lane's 16 bytes
};
Place place_of(const Counted& op) {
  const std::string words = "%r20, %r21, %r22, %r23";
  const std::string load = fmt::format("ld.global.v4.u32 {{{}}}, [%q1]; ", words);
  const auto copied = [&](const char* space, const char* at) {
    return Place{load + fmt::format("st.{}.v4.u32 [{}], {{{}}};", space, at, words), at,
                 fmt::format("ld.{}.v4.u32 {{{}}}, [{}]; st.global.v4.u32 [%q2], {{{}}};", space,
                             words, at, words)};
  };
  if (op.has("shared")) return copied("shared", "%r2");
  if (op.has("local")) return copied("local", "%r3");
  if (op.has("const")) return {"mov.u64 %q5, c; add.u64 %q5, %q5, %q4;", "%q5", ""};
  if (op.has("param")) return {"", "P", ""};
  return {load + fmt::format("st.global.v4.u32 [%q2], {{{}}};", words), "%q2", ""};
}
std::string kernel_of(const std::string& body) {
  return constant_bytes() + fmt::format(R"(
.visible .entry k(.param .u64 in, .param .u64 out, .param .u64 result, .param .align 16 .b8 P[16])
{{
  .reg .b16 %h<40>; .reg .b32 %r<40>; .reg .b64 %q<40>; .reg .f32 %f<40>; .reg .f64 %d<40>;
  .shared .align 16 .b8 s[512]; .local .align 16 .b8 l[32];
  ld.param.u64 %q1, [in]; ld.param.u64 %q2, [out]; ld.param.u64 %q3, [result];
  mov.u32 %r1, %tid.x; mul.wide.u32 %q4, %r1, 16; add.u64 %q1, %q1, %q4; add.u64 %q2, %q2, %q4;
  mul.wide.u32 %q6, %r1, 32; add.u64 %q3, %q3, %q6; mov.u32 %r3, l; add.u32 %r3, %r3, 16;
  mov.u32 %r2, s; cvt.u32.u64 %r4, %q4; add.u32 %r2, %r2, %r4;
  {}
  ret;
}}
)",
                                        body);
}
struct Ran {
  std::vector<u8> out, result;
};
Ran run(const std::string& body) {
  Rig rig(kernel_of(body));
  const Address in = rig.upload(pattern()), out = rig.zeros(512), result = rig.zeros(1024);
  struct Parameter {
    u8 bytes[16];
  } p;
  std::copy_n(pattern().begin(), 16, p.bytes);
  rig.run("k", {1, 1, 1}, {32, 1, 1}, in, out, result, p);
  return {rig.download<u8>(out, 512), rig.download<u8>(result, 1024)};
}

TEST(CountedMemory, LoadsByName) {
  unsigned tested = 0;
  for (const Counted& op : counted_opcodes()) {
    if (op.base != "ld") continue;
    SCOPED_TRACE(op.text);
    const std::string& type = op.types.back();
    const char letter = letter_of(type);
    const unsigned n = elements_of(op), size = bytes_of(type), width = register_bytes(letter);
    const Place place = place_of(op);
    std::string body =
        place.fill + fmt::format(" {} {}, [{}];", op.text, registers(letter, n), place.address);
    for (unsigned i = 0; i < n; ++i)
      body +=
          fmt::format(" st.global.{} [%q3+{}], %{}{};", raw_type(letter), 8 * i, letter, 10 + i);
    const auto got = run(body).result;
    const auto bytes = pattern();
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned i = 0; i < n; ++i) {
        u64 want = 0, found = 0;
        std::memcpy(&want, &bytes[(op.has("param") ? 0 : 16 * lane) + i * size], size);
        const unsigned gap = 64 - 8 * size;
        if (type[0] == 's') want = static_cast<u64>(static_cast<s64>(want << gap) >> gap);
        if (width < 8) want &= (1ull << 8 * width) - 1;
        std::memcpy(&found, &got[32 * lane + 8 * i], width);
        ASSERT_EQ(found, want) << "lane " << lane << " element " << i;
      }
    ++tested;
  }
  EXPECT_GT(tested, 110u);
}

TEST(CountedMemory, StoresByName) {
  unsigned tested = 0;
  for (const Counted& op : counted_opcodes()) {
    if (op.base != "st" || op.has("param")) continue;
    SCOPED_TRACE(op.text);
    const std::string& type = op.types.back();
    const char letter = letter_of(type);
    const unsigned n = elements_of(op), size = bytes_of(type);
    const Place place = place_of(op);
    // Element i is what lies at byte 8 i mod 16 of the input, rotated by a byte for i > 1.
    std::string body = place.fill;
    for (unsigned i = 0; i < n; ++i)
      body += fmt::format(" ld.global.{} %{}{}, [%q1+{}];", raw_type(letter), letter, 10 + i,
                          8 - 8 * (i % 2));
    body += fmt::format(" {} [{}], {};", op.text, place.address, registers(letter, n)) +
            place.read_back;
    const auto got = run(body).out;
    const auto bytes = pattern();
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned b = 0; b < 16; ++b) {
        const unsigned i = b / size;
        const unsigned from = i < n ? 8 - 8 * (i % 2) + b % size : b;
        ASSERT_EQ(got[16 * lane + b], bytes[16 * lane + from]) << "lane " << lane << " byte " << b;
      }
    ++tested;
  }
  EXPECT_GT(tested, 60u);
}

/// What the atomic leaves in memory.
u64 applied(const Counted& op, u64 old, u64 b, u64 c) {
  const std::string& type = op.types.back();
  const auto real = [&](auto zero) -> u64 {
    using T = decltype(zero);
    T x, y;
    std::memcpy(&x, &old, sizeof x);
    std::memcpy(&y, &b, sizeof y);
    const T r = op.has("add") ? x + y : y;
    u64 out = 0;
    std::memcpy(&out, &r, sizeof r);
    return out;
  };
  if (type == "f32") return real(0.0f);
  if (type == "f64") return real(0.0);
  const unsigned n = 8 * bytes_of(type);
  const u64 ones = ~0ull >> (64 - n);
  const s64 x = static_cast<s64>(old << (64 - n)) >> (64 - n),
            y = static_cast<s64>(b << (64 - n)) >> (64 - n);
  const bool less = type[0] == 's' ? y < x : (b & ones) < (old & ones);
  if (op.has("add")) return (old + b) & ones;
  if (op.has("and")) return old & b;
  if (op.has("or")) return old | b;
  if (op.has("xor")) return old ^ b;
  if (op.has("exch")) return b;
  if (op.has("cas")) return old == b ? c : old;
  if (op.has("min")) return less ? b : old;
  if (op.has("max")) return less ? old : b;
  if (op.has("inc")) return old >= b ? 0 : old + 1;
  return old == 0 || old > b ? b : old - 1;  // dec
}
TEST(CountedMemory, AtomicsByName) {
  unsigned tested = 0;
  for (const Counted& op : counted_opcodes()) {
    if (op.base != "atom" && op.base != "red") continue;
    const std::string& type = op.types.back();
    if (type == "f16x2") continue;  // VectorAtomics, and memory_test.cpp
    SCOPED_TRACE(op.text);
    const char letter = letter_of(type);
    const unsigned size = bytes_of(type);
    const bool shared = op.has("shared"), returns = op.base == "atom";
    // All lanes at one place: element 0 of `out`, or of shared memory.
    std::string body = fmt::format(
        "ld.param.u64 %q2, [out]; ld.param.u64 %q7, [in]; mov.u32 %r2, s; ld.global.{0} %{1}30, "
        "[%q7]; {2}.{0} [{3}], %{1}30; ld.global.{0} %{1}11, [%q1]; ld.global.{0} %{1}12, [%q1+8]; "
        "bar.sync 0; ",
        raw_type(letter), letter, shared ? "st.shared" : "st.global", shared ? "%r2" : "%q2");
    const std::string operands = fmt::format("[{}], %{}11{}", shared ? "%r2" : "%q2", letter,
                                             op.has("cas") ? fmt::format(", %{}12", letter) : "");
    body += op.text + " " + (returns ? fmt::format("%{}10, ", letter) : "") + operands + ";";
    if (returns) body += fmt::format(" st.global.{} [%q3], %{}10;", raw_type(letter), letter);
    if (shared)
      body += fmt::format(" bar.sync 0; ld.shared.{0} %{1}13, [%r2]; st.global.{0} [%q2], %{1}13;",
                          raw_type(letter), letter);
    // Operands as small whole numbers, so that real sums are exact; cas finds its match at times.
    std::vector<u8> in(512);
    const auto put = [&](unsigned at, int value) {
      const float as_float = static_cast<float>(value);
      const double as_double = value;
      if (type == "f32") std::memcpy(&in[at], &as_float, 4);
      else if (type == "f64") std::memcpy(&in[at], &as_double, 8);
      else std::memcpy(&in[at], &value, size == 8 ? 4 : size);
    };
    for (int lane = 0; lane < 32; ++lane) {
      put(static_cast<unsigned>(16 * lane), lane * 29 % 23 + 2);
      put(static_cast<unsigned>(16 * lane + 8), (lane + 1) * 29 % 23 + 2);
    }
    Rig rig(kernel_of(body));
    const Address out = rig.zeros(512), result = rig.zeros(1024);
    struct Parameter {
      u8 bytes[16];
    } p{};
    rig.run("k", {1, 1, 1}, {32, 1, 1}, rig.upload(in), out, result, p);
    const auto memory = rig.download<u8>(out, 8), old_values = rig.download<u8>(result, 1024);
    u64 now = 0;
    std::memcpy(&now, &in[0], size);
    for (unsigned lane = 0; lane < 32; ++lane) {
      u64 first = 0, second = 0, old = 0;
      std::memcpy(&first, &in[16 * lane], size);
      std::memcpy(&second, &in[16 * lane + 8], size);
      std::memcpy(&old, &old_values[32 * lane], size);
      if (returns) {
        ASSERT_EQ(old, now) << "lane " << lane;
      }
      now = applied(op, now, first, second);
    }
    u64 left = 0;
    std::memcpy(&left, memory.data(), size);
    ASSERT_EQ(left, now);
    ++tested;
  }
  EXPECT_GT(tested, 40u);
}

}  // namespace
}  // namespace raddle::exec::test::counted_memory_test
