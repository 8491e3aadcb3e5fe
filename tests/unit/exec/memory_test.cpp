// Loads, stores and atomics in every space; faults with all they must name.
#include <fmt/format.h>

#include "instruction_case.h"

namespace raddle::exec::test::memory_test {
namespace {

std::string kernel(const std::string& body, const std::string& before = "") {
  return before + R"(
.visible .entry k(.param .u64 in, .param .u64 out)
{
  .reg .pred %p<20>; .reg .b16 %h<20>; .reg .b32 %r<60>; .reg .b64 %q<20>; .reg .f32 %f<20>;
  .reg .f64 %d<20>;
  ld.param.u64 %q1, [in]; ld.param.u64 %q2, [out]; mov.u32 %r1, %tid.x;
  mul.wide.u32 %q3, %r1, 4; add.u64 %q3, %q2, %q3;
)" + body +
         "\n  ret;\n}\n";
}
/// Runs `body` with `threads` on 4096 known bytes; out holds 4 bytes per thread.
template <class F>
void expect(const std::string& ptx, u32 threads, F f) {
  for (const std::string& lanes : lane_builds()) {
    use_lanes(lanes);
    Rig rig(ptx);
    std::vector<u8> bytes(4096);
    for (std::size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = static_cast<u8>(i * 37 + (i >> 8) * 11);
    const Address in = rig.upload(bytes), out = rig.zeros(4 * threads);
    rig.run("k", {1, 1, 1}, {threads, 1, 1}, in, out);
    const auto r = rig.download<u32>(out, threads);
    for (u32 t = 0; t < threads; ++t) ASSERT_EQ(r[t], f(t, bytes)) << lanes << " thread " << t;
  }
  unsetenv("RADDLE_LANES");
}
template <class T>
T at(const std::vector<u8>& bytes, std::size_t offset) {
  T v;
  std::memcpy(&v, bytes.data() + offset, sizeof v);
  return v;
}

TEST(Memory, GlobalPatterns) {
  const std::pair<const char*, u32 (*)(u32)> patterns[] = {
      {"shl.b32 %r2, %r1, 2;", [](u32 t) { return 4 * t; }},
      {"shl.b32 %r2, %r1, 2; add.u32 %r2, %r2, 52;", [](u32 t) { return 4 * t + 52; }},
      {"mov.u32 %r2, 76;", [](u32) { return 76u; }},
      {"sub.u32 %r2, 31, %r1; shl.b32 %r2, %r2, 2;", [](u32 t) { return 4 * (31 - t); }},
      {"shl.b32 %r2, %r1, 3;", [](u32 t) { return 8 * t; }},
      {"shl.b32 %r2, %r1, 7; and.b32 %r2, %r2, 4095;", [](u32 t) { return 128 * t & 4095; }},
      {"mul.lo.u32 %r2, %r1, 1732; and.b32 %r2, %r2, 4092;", [](u32 t) { return 1732 * t & 4092; }},
      {"xor.b32 %r2, %r1, 5; shl.b32 %r2, %r2, 2; add.u32 %r2, %r2, 124;",
       [](u32 t) { return 4 * (t ^ 5) + 124; }}};
  for (const auto& [code, offset] : patterns)
    for (const char* guard : {"", "@%p1 "}) {
      SCOPED_TRACE(code);
      const bool partial = guard[0] != 0;
      const auto active = [=](u32 t) { return !partial || t % 3 != 1; };
      const std::string head = std::string(code) +
                               " rem.u32 %r9, %r1, 3; setp.ne.u32 %p1, %r9, 1; mov.u32 %r5, 7; "
                               "cvt.u64.u32 %q4, %r2; add.u64 %q4, %q1, %q4;\n";
      expect(kernel(head + guard + "ld.global.u32 %r5, [%q4]; st.global.u32 [%q3], %r5;"), 32,
             [=, offset = offset](u32 t, const auto& b) {
               return active(t) ? at<u32>(b, offset(t)) : 7;
             });
      expect(kernel("mov.u64 %q9, 7; " + head + " and.b64 %q4, %q4, -8;" + guard +
                    "ld.global.u64 %q9, [%q4]; shr.u64 %q10, %q9, 13; cvt.u32.u64 %r6, %q10; "
                    "st.global.u32 [%q3], %r6;"),
             32, [=, offset = offset](u32 t, const auto& b) {
               return active(t) ? static_cast<u32>(at<u64>(b, offset(t) & ~7u) >> 13) : 0;
             });
    }
}
TEST(Memory, NarrowElementsExtendToTheirRegister) {
  const std::string where =
      "mul.lo.u32 %r2, %r1, 6; cvt.u64.u32 %q4, %r2; add.u64 %q4, %q1, %q4;\n";
  expect(kernel(where + "ld.global.u8 %r3, [%q4+1]; st.global.u32 [%q3], %r3;"), 32,
         [](u32 t, const auto& b) { return u32{b[6 * t + 1]}; });
  expect(kernel(where + "ld.global.s8 %r3, [%q4]; st.global.u32 [%q3], %r3;"), 32,
         [](u32 t, const auto& b) { return static_cast<u32>(static_cast<std::int8_t>(b[6 * t])); });
  expect(kernel(where + "ld.global.s16 %r3, [%q4+2]; st.global.u32 [%q3], %r3;"), 32,
         [](u32 t, const auto& b) { return static_cast<u32>(at<s16>(b, 6 * t + 2)); });
  expect(kernel(where + "ld.global.s8 %h3, [%q4]; cvt.s32.s16 %r3, %h3; st.global.u32 [%q3], %r3;"),
         32,
         [](u32 t, const auto& b) { return static_cast<u32>(static_cast<std::int8_t>(b[6 * t])); });
  expect(kernel(where + "ld.global.s16 %q5, [%q4]; shr.u64 %q5, %q5, 8; cvt.u32.u64 %r3, %q5; "
                        "st.global.u32 [%q3], %r3;"),
         32, [](u32 t, const auto& b) {
           return static_cast<u32>(static_cast<u64>(s64{at<s16>(b, 6 * t)}) >> 8);
         });
  expect(kernel("shl.b32 %r2, %r1, 2; mov.u32 %r4, 0x12345678; st.global.u8 [%q3+2], %r4; "
                "st.global.u16 [%q3], %r4;"),
         32, [](u32, const auto&) { return 0x00785678u; });
}
TEST(Memory, NarrowRuns) {
  // Bytes and halfwords one behind the other, at every place in a line and over its end.
  for (const u32 offset : {0u, 2u, 30u, 96u, 98u, 126u}) {
    const std::string where =
        "cvt.u64.u32 %q4, %r1; add.u64 %q5, %q1, %q4; add.u64 %q6, %q5, %q4;\n";
    const std::string at_text = std::to_string(offset);
    expect(kernel(where + "ld.global.s8 %r3, [%q5+" + at_text + "]; st.global.u32 [%q3], %r3;"), 32,
           [=](u32 t, const auto& b) {
             return static_cast<u32>(static_cast<std::int8_t>(b[t + offset]));
           });
    expect(kernel(where + "ld.global.u16 %h3, [%q6+" + at_text +
                  "]; cvt.u32.u16 %r3, %h3; st.global.u32 [%q3], %r3;"),
           32, [=](u32 t, const auto& b) { return u32{at<u16>(b, 2 * t + offset)}; });
    // Stored into the input, then read back four at a time.
    expect(kernel(where + "mov.u32 %r4, 200; sub.u32 %r4, %r4, %r1; st.global.u8 [%q5+" + at_text +
                  "], %r4; bar.sync 0; and.b32 %r5, %r1, 7; mul.wide.u32 %q7, %r5, 4; add.u64 %q7, "
                  "%q1, %q7; ld.global.u8 %r3, [%q7+" +
                  at_text + "]; st.global.u32 [%q3], %r3;"),
           32, [=](u32 t, const auto&) { return 200 - 4 * (t % 8); });
  }
}
TEST(Memory, ARunPastTheEndOfAnAllocationIsAFault) {
  for (const std::string& lanes : lane_builds()) {
    use_lanes(lanes);
    Rig rig(kernel("cvt.u64.u32 %q4, %r1; add.u64 %q5, %q1, %q4; ld.global.u8 %r3, [%q5+5];"));
    const Address in = rig.upload(std::vector<u8>(36)), out = rig.zeros(128);
    const std::string text = run_error([&] { rig.run("k", {1, 1, 1}, {32, 1, 1}, in, out); });
    EXPECT_NE(text.find("thread (31,0,0)"), std::string::npos) << text;
  }
  unsetenv("RADDLE_LANES");
}
TEST(Memory, Vectors) {
  const std::string where = "shl.b32 %r2, %r1, 4; cvt.u64.u32 %q4, %r2; add.u64 %q4, %q1, %q4;\n";
  expect(kernel(where + "ld.global.v4.u32 {%r3, %r4, %r5, %r6}, [%q4]; xor.b32 %r3, %r3, %r4; "
                        "sub.u32 %r5, %r5, %r6; xor.b32 %r3, %r3, %r5; st.global.u32 [%q3], %r3;"),
         64, [](u32 t, const auto& b) {
           return at<u32>(b, 16 * t) ^ at<u32>(b, 16 * t + 4) ^
                  (at<u32>(b, 16 * t + 8) - at<u32>(b, 16 * t + 12));
         });
  expect(kernel(where + "ld.global.v2.u64 {%q5, %q6}, [%q4]; sub.u64 %q5, %q5, %q6; shr.u64 %q5, "
                        "%q5, 20; cvt.u32.u64 %r3, %q5; st.global.u32 [%q3], %r3;"),
         64, [](u32 t, const auto& b) {
           return static_cast<u32>((at<u64>(b, 16 * t) - at<u64>(b, 16 * t + 8)) >> 20);
         });
  expect(kernel(where + "ld.global.v4.u8 {%h1, _, %h3, %h4}, [%q4+4]; add.u16 %h1, %h1, %h3; "
                        "add.u16 %h1, %h1, %h4; cvt.u32.u16 %r3, %h1; st.global.u32 [%q3], %r3;"),
         64,
         [](u32 t, const auto& b) { return u32{b[16 * t + 4]} + b[16 * t + 6] + b[16 * t + 7]; });
  // The address register is itself overwritten by a part of the vector.
  expect(kernel(where + "ld.global.v2.u64 {%q4, %q5}, [%q4]; shr.u64 %q5, %q5, 1; xor.b64 %q4, "
                        "%q4, %q5; cvt.u32.u64 %r3, %q4; st.global.u32 [%q3], %r3;"),
         64, [](u32 t, const auto& b) {
           return static_cast<u32>(at<u64>(b, 16 * t) ^ at<u64>(b, 16 * t + 8) >> 1);
         });
  expect(kernel(".shared .align 16 .b8 s[1024]; mov.u32 %r2, s; shl.b32 %r3, %r1, 4; add.u32 %r2, "
                "%r2, %r3; add.u32 %r4, %r1, 1;"
                "st.shared.v4.u32 [%r2], {%r1, %r4, %r3, 9}; ld.shared.v2.u32 {%r5, %r6}, [%r2+8]; "
                "ld.shared.u32 %r7, [%r2+4]; add.u32 %r5, %r5, %r6; add.u32 %r5, %r5, %r7; "
                "st.global.u32 [%q3], %r5;"),
         64, [](u32 t, const auto&) { return 16 * t + 9 + t + 1; });
}
TEST(Memory, LocalIsPerThread) {
  expect(kernel(".local .align 8 .b8 depot[64]; mov.u64 %q5, depot; and.b32 %r2, %r1, 7; "
                "mul.wide.u32 %q6, %r2, 8; add.u64 %q6, %q5, %q6;"
                "cvt.u64.u32 %q7, %r1; mul.lo.u64 %q7, %q7, 4294967299; st.local.u64 [%q6], %q7; "
                "st.local.u16 [%q6+2], %r1; ld.local.u32 %r3, [%q6]; ld.local.u32 %r4, [%q6+4]; "
                "add.u32 %r3, %r3, %r4; st.global.u32 [%q3], %r3;"),
         64, [](u32 t, const auto&) { return ((3 * t & 0xffff) | t << 16) + t; });
  expect(kernel(".local .align 16 .b8 depot[64]; mov.u64 %q5, depot; st.local.v4.u32 [%q5+16], "
                "{%r1, 1, 2, 3}; ld.local.v2.u64 {%q6, %q7}, [%q5+16]; add.u64 %q6, %q6, %q7; "
                "cvt.u32.u64 %r3, %q6; st.global.u32 [%q3], %r3;"),
         64, [](u32 t, const auto&) { return t + 2; });
}
// Where cooperative groups of several warps keep their barriers: beside the block's own memory.
TEST(Memory, ReservedSharedMemory) {
  Rig rig(R"(
.visible .entry k(.param .u64 out)
{ .reg .b32 %r<9>; .reg .b64 %q<9>; .shared .align 4 .b8 s[300];
  ld.param.u64 %q1, [out]; mov.u32 %r1, %reserved_smem_offset_1; cvt.u64.u32 %q2, %r1;
  cvta.shared.u64 %q2, %q2; mov.u32 %r2, 77; st.u32 [%q2+1020], %r2; ld.shared.u32 %r3, [%r1+1020];
  mov.u32 %r4, s; st.shared.u32 [%r4+296], %r1; st.global.u32 [%q1], %r3;
  st.global.u32 [%q1+4], %r1; ret; }
)");
  const Address out = rig.zeros(8);
  rig.run("k", {1, 1, 1}, {1, 1, 1}, out);
  const auto got = rig.download<std::uint32_t>(out, 2);
  EXPECT_EQ(got[0], 77u);
  EXPECT_GE(got[1], 300u);
}
TEST(Memory, GenericAddressesMeanAnySpace) {
  // Every third thread global, shared, local, through one instruction.
  expect(kernel(R"(
  .shared .align 8 .b8 s[512]; .local .align 8 .b8 l[16];
  mov.u64 %q5, s; cvta.shared.u64 %q5, %q5; mul.wide.u32 %q6, %r1, 4; add.u64 %q5, %q5, %q6;
  mov.u64 %q7, l; cvta.local.u64 %q7, %q7; add.u64 %q8, %q1, %q6;
  rem.u32 %r2, %r1, 3; setp.eq.u32 %p1, %r2, 1; setp.eq.u32 %p2, %r2, 2;
  selp.b64 %q9, %q5, %q8, %p1; selp.b64 %q9, %q7, %q9, %p2;
  add.u32 %r3, %r1, 500; @%p1 st.u32 [%q9], %r3; @%p2 st.u32 [%q9], %r1;
  ld.u32 %r4, [%q9];
  isspacep.shared %p3, %q9; isspacep.local %p4, %q9; isspacep.global %p5, %q9;
  selp.b32 %r5, 65536, 0, %p3; selp.b32 %r6, 131072, 0, %p4; selp.b32 %r7, 262144, 0, %p5;
  xor.b32 %r4, %r4, %r5; xor.b32 %r4, %r4, %r6; xor.b32 %r4, %r4, %r7;
  st.global.u32 [%q3], %r4;
)"),
         96, [](u32 t, const auto& b) {
           return t % 3 == 0   ? at<u32>(b, 4 * t) ^ 262144
                  : t % 3 == 1 ? (t + 500) ^ 65536
                               : t ^ 131072;
         });
}
// A constant's address may come from anywhere: what it is shows when it is asked.
TEST(Memory, ConstantsAreNoGlobalMemory) {
  expect(
      kernel(R"(
  and.b32 %r2, %r1, 3; mul.wide.u32 %q6, %r2, 4; ld.global.u64 %q7, [pointer];
  add.u64 %q7, %q7, %q6;
  and.b32 %r2, %r1, 8; setp.eq.u32 %p1, %r2, 8; selp.b64 %q7, %q1, %q7, %p1;
  isspacep.const %p2, %q7; isspacep.global %p3, %q7; isspacep.shared %p4, %q7;
  selp.b32 %r3, 1, 0, %p2; selp.b32 %r4, 2, 0, %p3; selp.b32 %r5, 4, 0, %p4;
  or.b32 %r3, %r3, %r4; or.b32 %r3, %r3, %r5; st.global.u32 [%q3], %r3;
)",
             ".const .align 4 .u32 alone = 5;\n.const .align 4 .u32 table[4] = {11, 22, 33, 44};\n"
             ".global .align 8 .u64 pointer = table;\n"),
      32, [](u32 t, const auto&) { return (t & 8) != 0 ? 2u : 1u; });
}
TEST(Memory, ConstantsAndParameters) {
  const std::string variables =
      ".const .align 4 .u32 table[4] = {11, 22, 33, 44};\n.global .align 8 .u64 pointer = table;\n";
  expect(kernel("mov.u64 %q5, table; and.b32 %r2, %r1, 3; mul.wide.u32 %q6, %r2, 4; add.u64 %q5, "
                "%q5, %q6; ld.const.u32 %r3, [%q5]; ld.const.u32 %r4, [table+8]; ld.global.u64 "
                "%q7, [pointer]; ld.u32 %r5, [%q7+4]; add.u32 %r3, %r3, %r4; add.u32 %r3, %r3, "
                "%r5; st.global.u32 [%q3], %r3;",
                variables),
         32, [](u32 t, const auto&) { return 11 * (t % 4 + 1) + 33 + 22; });
  // A by-value aggregate, by name and through an address.
  Rig rig(R"(
.visible .entry k(.param .align 8 .b8 s[24], .param .u64 out)
{ .reg .b32 %r<9>; .reg .b64 %q<9>; .reg .b16 %h<3>;
  ld.param.u64 %q2, [out]; ld.param.u32 %r1, [s+4]; ld.param.v2.u32 {%r2, %r3}, [s+8];
  ld.param.s8 %r4, [s+16];
  mov.b64 %q3, s; mov.u32 %r5, %tid.x; and.b32 %r5, %r5, 1; mul.wide.u32 %q4, %r5, 4;
  add.u64 %q3, %q3, %q4; ld.param.u32 %r6, [%q3];
  add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3; add.u32 %r1, %r1, %r4; add.u32 %r1, %r1, %r6;
  mov.u32 %r5, %tid.x; mul.wide.u32 %q4, %r5, 4; add.u64 %q2, %q2, %q4; st.global.u32 [%q2], %r1;
  ret; }
)");
  struct {
    u32 a, b, c, d;
    std::int8_t e;
  } s{1000, 200, 30, 4, -1};
  std::array<std::byte, 24> bytes{};
  std::memcpy(bytes.data(), &s, sizeof s);
  const Address out = rig.zeros(128);
  rig.run("k", {1, 1, 1}, {32, 1, 1}, bytes, out);
  const auto got = rig.download<u32>(out, 32);
  EXPECT_EQ(got[0], 200u + 30 + 4 - 1 + 1000);
  EXPECT_EQ(got[1], 200u + 30 + 4 - 1 + 200);
}

// --- atomics -------------------------------------------------------------------------------------
TEST(Atomics, EveryOperationInEverySpace) {
  struct Test {
    const char *op, *type;
    u32 start, operand;
    u32 (*f)(u32 old, u32 b);
  };
  const Test tests[] = {
      {"add", "u32", 5, 3, [](u32 o, u32 b) { return o + b; }},
      {"min", "s32", 5, ~0u - 6,
       [](u32 o, u32 b) { return static_cast<s32>(b) < static_cast<s32>(o) ? b : o; }},
      {"min", "u32", 5, ~0u, [](u32 o, u32 b) { return b < o ? b : o; }},
      {"max", "s32", ~0u, 3,
       [](u32 o, u32 b) { return static_cast<s32>(b) > static_cast<s32>(o) ? b : o; }},
      {"max", "u32", 7, 9, [](u32 o, u32 b) { return b > o ? b : o; }},
      {"inc", "u32", 0, 6, [](u32 o, u32 b) { return o >= b ? 0 : o + 1; }},
      {"dec", "u32", 3, 6, [](u32 o, u32 b) { return o == 0 || o > b ? b : o - 1; }},
      {"and", "b32", 0xff, 0xf7, [](u32 o, u32 b) { return o & b; }},
      {"or", "b32", 1, 0x80, [](u32 o, u32 b) { return o | b; }},
      {"xor", "b32", 1, 0x81, [](u32 o, u32 b) { return o ^ b; }},
      {"exch", "b32", 1, 0x81, [](u32, u32 b) { return b; }}};
  for (const Test& test : tests)
    for (const char* space : {"global", "shared", ""})
      for (bool all_same : {false, true}) {
        SCOPED_TRACE(std::string(test.op) + "." + test.type + " " + space);
        const bool shared = std::string(space) == "shared";
        const std::string address = shared ? "%q6" : "%q3",
                          dot = *space ? std::string(".") + space : "";
        std::string body =
            ".shared .align 4 .b8 s[512]; mov.u64 %q6, s; mul.wide.u32 %q7, %r1, 4; add.u64 %q6, "
            "%q6, %q7;\n";
        if (all_same) body += "mov.u64 %q6, s; mov.u64 %q3, %q2;\n";
        body += "mov.u32 %r4, " + std::to_string(test.start) + "; st" +
                (shared ? ".shared" : ".global") + ".u32 [" + address + "], %r4; bar.sync 0;\n";
        body += fmt::format("atom{}.{}.{} %r5, [{}], {}; bar.sync 0;\n", dot, test.op, test.type,
                            address, test.operand);
        body += fmt::format("ld{}.u32 %r6, [{}", shared ? ".shared" : ".global", address) +
                "]; bar.sync 0; mul.wide.u32 %q7, %r1, 4; add.u64 %q3, %q2, %q7; mad.lo.u32 %r6, "
                "%r6, 65537, %r5; st.global.u32 [%q3], %r6;";
        expect(kernel(body), 64, [&](u32 thread, const auto&) {
          u32 value = test.start, mine = 0;
          for (u32 i = all_same ? 0 : thread; i < (all_same ? 64 : thread + 1);
               ++i) {  // lanes in order, warp after warp
            if (i == thread) mine = value;
            value = test.f(value, test.operand);
          }
          return value * 65537 + mine;
        });
      }
}
TEST(Atomics, WideFloatAndCompareAndSwap) {
  expect(
      kernel(
          "mov.u64 %q5, 5000000000; atom.global.add.u64 %q6, [%q1], %q5; bar.sync 0; ld.global.u64 "
          "%q7, [%q1]; shr.u64 %q7, %q7, 3; cvt.u32.u64 %r3, %q7; st.global.u32 [%q3], %r3;"),
      64, [](u32, const auto& b) {
        return static_cast<u32>((at<u64>(b, 0) + 64 * 5000000000ull) >> 3);
      });
  expect(kernel("mov.f32 %f1, 0f3F000000; st.global.f32 [%q1], 0f00000000; bar.sync 0; "
                "red.global.add.f32 [%q1], %f1; bar.sync 0; ld.global.u32 %r3, [%q1]; "
                "st.global.u32 [%q3], %r3;"),
         64, [](u32, const auto&) { return static_cast<u32>(raw(32.0f)); });
  expect(kernel("mov.f64 %d1, 0d3FE0000000000000; st.global.f64 [%q1], 0d0000000000000000; "
                "bar.sync 0; atom.global.add.f64 %d2, [%q1], %d1; bar.sync 0; ld.global.f64 %d3, "
                "[%q1]; cvt.rn.f32.f64 %f3, %d3; st.global.f32 [%q3], %f3;"),
         64, [](u32, const auto&) { return static_cast<u32>(raw(32.0f)); });
  expect(kernel("st.global.u32 [%q1], 17; bar.sync 0; add.u32 %r4, %r1, 17; add.u32 %r5, %r4, 1; "
                "atom.global.cas.b32 %r6, [%q1], %r4, %r5; st.global.u32 [%q3], %r6;"),
         64, [](u32 t, const auto&) { return 17 + t; });  // each lane in turn succeeds
  expect(
      kernel(
          "st.global.u32 [%q1], 0; bar.sync 0; mov.b32 %r4, 0x3C004000; red.global.add.noftz.f16x2 "
          "[%q1], %r4; bar.sync 0; ld.global.u32 %r3, [%q1]; st.global.u32 [%q3], %r3;"),
      32, [](u32, const auto&) { return 0x50005400u; });
}

// --- faults --------------------------------------------------------------------------------------
std::string fault(const std::string& body, std::size_t in_bytes = 4096, u32 threads = 40) {
  std::string first;
  for (const std::string& lanes : lane_builds()) {
    use_lanes(lanes);
    Rig rig(kernel(body));
    const Address in = rig.zeros(in_bytes), out = rig.zeros(4096);
    const std::string what = run_error([&] { rig.run("k", {3, 2, 1}, {threads, 1, 1}, in, out); });
    if (first.empty()) first = what;
    EXPECT_EQ(what, first) << lanes;
  }
  unsetenv("RADDLE_LANES");
  return first;
}
#define EXPECT_PART(part) EXPECT_NE(what.find(part), std::string::npos) << what

TEST(Faults, OneByteBeyondAnAllocation) {
  const std::string what = fault(
      "mul.wide.u32 %q5, %r1, 4; add.u64 %q5, %q1, %q5;\n  ld.global.f32 %f1, [%q5+4];", 4 * 36);
  EXPECT_PART(
      "kernel k: out-of-bounds 4-byte load from global address 0x1000000090 (0 bytes past the end "
      "of the 144-byte allocation at 0x1000000000)");
  EXPECT_PART("at test.ptx:12 'ld.global.f32 %f1, [%q5+4];', block (0,0,0) thread (35,0,0)");
  EXPECT_PART("out-of-bounds 4-byte load");
  const std::string partial = fault("ld.global.v2.u32 {%r3, %r4}, [%q1];", 7);
  EXPECT_NE(partial.find("out-of-bounds 8-byte load from global address 0x1000000000"),
            std::string::npos)
      << partial;
  EXPECT_NE(fault("ld.global.u8 %r3, [%q1+5];", 5).find("out-of-bounds 1-byte load"),
            std::string::npos);
  EXPECT_NE(fault("ld.global.u16 %r3, [%q1+4];", 5).find("out-of-bounds 2-byte load"),
            std::string::npos);
}
/// What running that kernel of a module complains about.
std::string fault_of(const std::string& module, const std::string& name) {
  Rig rig(module);
  return run_error([&] { rig.run(name, {1, 1, 1}, {1, 1, 1}); });
}
TEST(Faults, SayWhichSourceLineThePtxIsFrom) {
  const std::string body =
      ".visible .entry k() {\n .reg .b64 %q<3>;\n .loc 1 17 5\n mov.u64 %q1, 0;\n"
      " .loc 1 18 9, function_name $L__1, inlined_at 1 40 3\n st.global.u32 [%q1], 1;\n ret;\n}\n";
  std::string what =
      fault_of(body + ".file 2 \"other.cu\"\n.file 1 \"bad.cu\", 1700000000, 99\n", "k");
  EXPECT_PART("at bad.cu:18, inlined at bad.cu:40, test.ptx:9 'st.global.u32 [%q1], 1;'");
  what = fault_of(body + ".file 2 \"other.cu\"\n", "k");
  EXPECT_PART("at test.ptx:9 'st.global.u32 [%q1], 1;'") << "there is no .file 1";
  what = fault_of(
      ".file 1 \"bad.cu\"\n.visible .entry k() {\n .reg .b64 %q<3>;\n .loc 1 0 0\n"
      " mov.u64 %q1, 0; st.global.u32 [%q1], 1; ret;\n}\n",
      "k");
  EXPECT_PART("at test.ptx:8") << "line 0 is none";
}
TEST(Faults, NameThingsAsTheProgramDoes) {
  const std::string what = fault_of(
      ".global .align 4 .b8 _ZN2ns5tableE[400];\n.global .align 1 .b8 $str[41];\n"
      ".visible .entry _Z1kPf() { .reg .b64 %q<3>; mov.u64 %q1, _ZN2ns5tableE; "
      "st.global.u32 [%q1+404], 1; ret; }\n",
      "_Z1kPf");
  EXPECT_PART("kernel k: out-of-bounds 4-byte store");
  EXPECT_PART("(4 bytes past the end of variable 'ns::table' of 400 bytes at 0x1000000000)");
}
TEST(Faults, WrongAddressesInEverySpace) {
  std::string what =
      fault("mul.wide.u32 %q5, %r1, 4096; add.u64 %q5, %q1, %q5; st.global.u32 [%q5], %r1;");
  EXPECT_PART("out-of-bounds 4-byte store to global address 0x1000001000");
  what = fault("mov.u64 %q5, 0; ld.u32 %r3, [%q5];");
  EXPECT_PART("out-of-bounds 4-byte load from generic address 0x0 (it lies in no memory)");
  what = fault(".shared .align 4 .b8 s[64]; shl.b32 %r3, %r1, 2; st.shared.u32 [%r3], %r1;");
  EXPECT_PART("out-of-bounds 4-byte store to shared address 0x40 (the block has 64 bytes)");
  EXPECT_PART("thread (16,0,0)");
  what = fault(".shared .align 4 .b8 s[64]; mov.u64 %q5, 0x100000000; ld.shared.u32 %r3, [%q5];");
  EXPECT_PART("out-of-bounds 4-byte load from shared address 0x100000000");
  what = fault(".local .align 4 .b8 l[32]; mov.u64 %q5, l; ld.local.u32 %r3, [%q5+32];");
  EXPECT_PART("out-of-bounds 4-byte load from local address 0x20 (the thread has 32 bytes)");
  what = fault("mov.u64 %q5, 16; ld.param.u32 %r3, [%q5];");
  EXPECT_PART(
      "out-of-bounds 4-byte load from param address 0x10 (there are 16 bytes of parameters)");
  what = fault("atom.global.add.u32 %r3, [%q1+4096], 1;");
  EXPECT_PART("out-of-bounds 4-byte atomic to global address 0x1000001000");
  what = fault(".shared .align 4 .b8 s[64]; atom.shared.add.u32 %r3, [s+64], 1;");
  EXPECT_PART("out-of-bounds 4-byte atomic to shared address 0x40");
}
TEST(Faults, Misalignment) {
  std::string what = fault("ld.global.u32 %r3, [%q1+2];");
  EXPECT_PART("misaligned 4-byte load from global address 0x1000000002");
  what = fault("ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%q1+8];");
  EXPECT_PART("misaligned 16-byte load from global address 0x1000000008");
  what = fault("mul.wide.u32 %q5, %r1, 130; add.u64 %q5, %q1, %q5; ld.global.u32 %r3, [%q5];",
               1 << 16);
  EXPECT_PART("misaligned 4-byte load from global address 0x1000000082");
  what = fault(".shared .align 8 .b8 s[64]; ld.shared.u64 %q5, [s+4];");
  EXPECT_PART("misaligned 8-byte load from shared address 0x4");
  // Beyond its allocation as well: a GPU looks at the alignment first.
  what = fault("st.global.u32 [%q1+2], %r1;", 5);
  EXPECT_PART("misaligned 4-byte store to global address 0x1000000002");
}
/// What a GPU does with accesses outside of allocations, where the machine is asked to.
TEST(Strays, GoOnInMappedPagesAndAreCounted) {
  for (const std::string& lanes : lane_builds()) {
    use_lanes(lanes);
    std::vector<std::string> notified;
    MachineOptions options;
    options.out_of_bounds = OutOfBounds::Page;
    options.warn = [&](const std::string& text) { notified.push_back(text); };
    // Beyond the 128 bytes of `in`, and in its guard: words, bytes, vectors, scattered, atomics.
    Rig rig(kernel("mov.u32 %r3, 7; st.global.u32 [%q1+128], %r3; st.global.u8 [%q1+129], %r3;\n"
                   "  ld.global.v2.u32 {%r4, %r5}, [%q1+128];\n"
                   "  atom.global.add.u32 %r6, [%q1+132], 2; ld.global.u32 %r6, [%q1+132];\n"
                   "  add.u32 %r4, %r4, %r6; st.global.u32 [%q3], %r4;"),
            options);
    const Address in = rig.zeros(128), out = rig.zeros(4);
    rig.run("k", {1, 1, 1}, {1, 1, 1}, in, out);
    EXPECT_EQ(rig.download<u32>(out, 1)[0], 7u + 7 * 256 + 2) << lanes;
    ASSERT_EQ(notified.size(), 1u);
    EXPECT_NE(notified[0].find("out-of-bounds 4-byte store to global address 0x1000000080 (0 bytes "
                               "past the end of the 128-byte allocation"),
              std::string::npos)
        << notified[0];
    EXPECT_EQ(rig.machine.stray_accesses(), (std::map<std::string, std::uint64_t>{{"k", 5}}));
  }
  unsetenv("RADDLE_LANES");
}
TEST(Strays, StillFaultBeyondMappedPagesAndInOtherMemory) {
  MachineOptions options;
  options.out_of_bounds = OutOfBounds::Page;
  for (const char* body :
       {"ld.global.u32 %r3, [%q1+8388608];", "ld.global.u32 %r3, [%q1-4];",
        "ld.global.u32 %r3, [%q1+2];", "mov.u64 %q5, 0; ld.u32 %r3, [%q5];",
        ".shared .align 4 .b8 s[64]; ld.shared.u32 %r3, [s+64];",
        ".local .align 4 .b8 l[32]; mov.u64 %q5, l; ld.local.u32 %r3, [%q5+32];"}) {
    Rig rig(kernel(body), options);
    const Address in = rig.zeros(128), out = rig.zeros(4);
    EXPECT_THROW(rig.run("k", {1, 1, 1}, {1, 1, 1}, in, out), RunError) << body;
  }
}

/// Addresses of 32 bits wrap around, whatever the size of what lies there.
TEST(Shared, NarrowAddressesWrap) {
  for (const char* access :
       {"ld.shared.u64 %q5, [%r4+8]; cvt.u32.u64 %r5, %q5;", "ld.shared.u32 %r5, [%r4+8];",
        "ld.shared.u8 %r5, [%r4+8];", "atom.shared.or.b32 %r5, [%r4+8], 0;"}) {
    Rig rig(kernel(std::string(".shared .align 8 .b8 s[64]; mov.u32 %r3, 77; st.shared.u32 [s], "
                               "%r3; mov.u32 %r4, 0xfffffff8; ") +
                   access + " st.global.u32 [%q3], %r5;"));
    const Address in = rig.zeros(128), out = rig.zeros(128);
    rig.run("k", {1, 1, 1}, {1, 1, 1}, in, out);
    EXPECT_EQ(rig.download<u32>(out, 1)[0], 77u) << access;
  }
}
TEST(Faults, OnlyActiveLanesCount) {
  Rig rig(
      kernel("mul.wide.u32 %q5, %r1, 4; add.u64 %q5, %q1, %q5; setp.lt.u32 %p1, %r1, 10; @%p1 "
             "ld.global.u32 %r3, [%q5]; @%p1 st.global.u32 [%q3], %r3;"));
  const Address in = rig.upload(std::vector<u32>(10, 5)), out = rig.zeros(128);
  rig.run("k", {1, 1, 1}, {32, 1, 1}, in, out);
  EXPECT_EQ(rig.download<u32>(out, 11), (std::vector<u32>{5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 0}));
}
TEST(Faults, TrapAndAssert) {
  std::string what = fault("setp.eq.u32 %p1, %r1, 33; @%p1 trap;");
  EXPECT_PART("kernel k: trap at test.ptx:11");
  EXPECT_PART("block (0,0,0) thread (33,0,0)");
}

}  // namespace
}  // namespace raddle::exec::test::memory_test
