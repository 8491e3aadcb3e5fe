// Shuffles, votes, matches and reductions across the warp, printf, and what is refused by name.
#include <gmock/gmock.h>

#include "instruction_case.h"

namespace raddle::exec::test::warp_test {
namespace {

constexpr u32 kActive = 0x7ff0f00fu;  // lanes that take part in the partial runs

std::string kernel(const std::string& body, const std::string& before = "") {
  return before + R"(
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 mask)
{
  .reg .pred %p<20>; .reg .b32 %r<60>; .reg .b64 %q<20>; .reg .f64 %d<9>; .reg .f32 %f<9>;
  ld.param.u64 %q1, [in]; ld.param.u64 %q2, [out]; ld.param.u32 %r10, [mask]; mov.u32 %r1, %tid.x;
  mul.wide.u32 %q3, %r1, 4; add.u64 %q1, %q1, %q3; add.u64 %q3, %q2, %q3; ld.global.u32 %r2, [%q1];
  shr.u32 %r11, %r10, %r1; and.b32 %r11, %r11, 1; setp.eq.u32 %p9, %r11, 0; @%p9 bra SKIP;
)" + body +
         "\n  st.global.u32 [%q3], %r3;\nSKIP:\n  ret;\n}\n";
}
/// f(lane, values, active) gives what the lane stores.
template <class F>
void expect(const std::string& body, F f) {
  SCOPED_TRACE(body);
  std::vector<u32> values(32);
  for (u32 i = 0; i < 32; ++i) values[i] = i * 2654435761u >> (i % 7) & (i % 5 == 0 ? 1u : ~0u);
  for (const std::string& lanes : lane_builds())
    for (u32 active : {~0u, kActive}) {
      use_lanes(lanes);
      Rig rig(kernel(body));
      const Address in = rig.upload(values), out = rig.upload(std::vector<u32>(32, 77));
      rig.run("k", {1, 1, 1}, {32, 1, 1}, in, out, active);
      const auto r = rig.download<u32>(out, 32);
      for (u32 i = 0; i < 32; ++i)
        ASSERT_EQ(r[i], active >> i & 1 ? f(i, values, active) : 77)
            << lanes << " lane " << i << " active " << std::hex << active;
    }
  unsetenv("RADDLE_LANES");
}

TEST(Warp, ShufflesInAllModes) {
  for (const char* mode : {"up", "down", "bfly", "idx"})
    for (u32 offset : {0u, 1u, 3u, 5u, 16u, 31u})
      for (u32 control : {0u, 31u, 0x181fu, 0x1c07u, 0x1800u, 0x0f0fu}) {
        const auto source = [=](u32 lane, bool* inside) {  // the manual's loop
          const u32 segment = control >> 8 & 31, clamp = control & 31;
          const s32 maximum = static_cast<s32>((lane & segment) | (clamp & ~segment)),
                    minimum = static_cast<s32>(lane & segment);
          s32 j = 0;
          const std::string name = mode;
          if (name == "up") {
            j = static_cast<s32>(lane - offset);
            *inside = j >= maximum;
          }
          if (name == "down") {
            j = static_cast<s32>(lane + offset);
            *inside = j <= maximum;
          }
          if (name == "bfly") {
            j = static_cast<s32>(lane ^ offset);
            *inside = j <= maximum;
          }
          if (name == "idx") {
            j = minimum | static_cast<s32>(offset & ~segment);
            *inside = j <= maximum;
          }
          return *inside ? static_cast<u32>(j) : lane;
        };
        const std::string text = std::string("shfl.sync.") + mode + ".b32 %r3|%p1, %r2, " +
                                 std::to_string(offset) + ", " + std::to_string(control) + ", -1;";
        expect(text + " selp.b32 %r4, 1, 0, %p1; shl.b32 %r3, %r3, 1; or.b32 %r3, %r3, %r4;",
               [&](u32 lane, const auto& values, u32 active) {
                 bool inside = false;
                 const u32 from = source(lane, &inside);
                 const u32 value = (active >> (from & 31) & 1) != 0 ? values[from & 31] : 0;
                 return value << 1 | (inside ? 1u : 0u);
               });
      }
}
TEST(Warp, ShuffleByRegister) {
  expect("and.b32 %r4, %r2, 31; mov.u32 %r5, 31; shfl.sync.idx.b32 %r3, %r1, %r4, %r5, %r10;",
         [](u32 lane, const auto& v, u32 active) {
           const u32 from = v[lane] & 31;
           return (active >> from & 1) != 0 ? from : 0;
         });
}
TEST(Warp, Votes) {
  const std::string odd = "and.b32 %r4, %r2, 1; setp.eq.u32 %p1, %r4, 1; ";
  const auto ballot = [](const auto& v, u32 active) {
    u32 r = 0;
    for (u32 i = 0; i < 32; ++i) r |= (v[i] & 1) << i;
    return r & active;
  };
  expect(odd + "vote.sync.ballot.b32 %r3, %p1, %r10;",
         [&](u32, const auto& v, u32 a) { return ballot(v, a); });
  expect(odd + "vote.sync.ballot.b32 %r3, !%p1, %r10;",
         [&](u32, const auto& v, u32 a) { return a & ~ballot(v, a); });
  expect(odd + "vote.sync.any.pred %p2, %p1, %r10; selp.b32 %r3, 1, 0, %p2;",
         [&](u32, const auto& v, u32 a) { return ballot(v, a) != 0 ? 1u : 0u; });
  expect(odd + "vote.sync.all.pred %p2, %p1, %r10; selp.b32 %r3, 1, 0, %p2;",
         [&](u32, const auto& v, u32 a) { return ballot(v, a) == a ? 1u : 0u; });
  expect(
      "setp.lt.u32 %p1, %r1, 40; vote.sync.uni.pred %p2, %p1, -1; vote.sync.all.pred %p3, %p1, -1; "
      "and.pred %p2, %p2, %p3; selp.b32 %r3, 1, 0, %p2;",
      [](u32, const auto&, u32) { return 1u; });
  expect("activemask.b32 %r3;", [](u32, const auto&, u32 a) { return a; });
}
/// PTX leaves it undefined; ptxas takes the votes of all that are there, and then the mask.
TEST(Warp, ALaneThatItsMaskDoesNotNameIsToldOfThoseThatItNames) {
  const std::string below =
      "mov.u32 %r12, %lanemask_lt; and.b32 %r13, %r2, 1; "
      "setp.ne.u32 %p1, %r13, 0; ";
  const auto asked = [](u32 lane, u32 active) { return active & ((1u << lane) - 1); };
  const auto odd = [](const auto& v, u32 lanes) {
    u32 out = 0;
    for (u32 i = 0; i < 32; ++i) out |= (lanes >> i & 1 & v[i]) << i;
    return out;
  };
  expect(below + "vote.sync.ballot.b32 %r3, %p1, %r12;",
         [&](u32 lane, const auto& v, u32 active) { return odd(v, asked(lane, active)); });
  expect(below + "vote.sync.any.pred %p2, %p1, %r12; selp.b32 %r3, 1, 0, %p2;",
         [&](u32 lane, const auto& v, u32 active) {
           return odd(v, asked(lane, active)) != 0 ? 1u : 0u;
         });
  expect(below + "match.any.sync.b32 %r3, %r13, %r12;", [&](u32 lane, const auto& v, u32 active) {
    const u32 of = asked(lane, active), ones = odd(v, of);
    return (v[lane] & 1) != 0 ? ones : of & ~ones;
  });
}

TEST(Warp, MatchAndReduce) {
  expect("and.b32 %r4, %r2, 3; match.any.sync.b32 %r3, %r4, %r10;",
         [](u32 lane, const auto& values, u32 active) {
           u32 out = 0;
           for (u32 i = 0; i < 32; ++i) out |= (values[i] & 3) == (values[lane] & 3) ? 1u << i : 0;
           return out & active;
         });
  expect("cvt.u64.u32 %q5, %r2; and.b64 %q5, %q5, 1; match.any.sync.b64 %r3, %q5, %r10;",
         [](u32 lane, const auto& values, u32 active) {
           u32 out = 0;
           for (u32 i = 0; i < 32; ++i) out |= (values[i] & 1) == (values[lane] & 1) ? 1u << i : 0;
           return out & active;
         });
  expect(
      "mov.u32 %r4, 5; match.all.sync.b32 %r3|%p1, %r4, %r10; match.all.sync.b32 %r5|%p2, %r1, "
      "%r10; @%p1 add.u32 %r3, %r3, %r5; @%p2 add.u32 %r3, %r3, 1;",
      [](u32, const auto&, u32 a) { return a; });
  const auto fold = [](const auto& values, u32 active, auto combine) {
    u32 out = values[static_cast<u32>(std::countr_zero(active))];
    for (u32 i = 0; i < 32; ++i)
      if (active >> i & 1 && i != static_cast<u32>(std::countr_zero(active)))
        out = combine(out, values[i]);
    return out;
  };
  expect("redux.sync.add.u32 %r3, %r2, %r10;", [&](u32, const auto& values, u32 active) {
    return fold(values, active, [](u32 x, u32 y) { return x + y; });
  });
  expect("redux.sync.min.s32 %r3, %r2, %r10;", [&](u32, const auto& values, u32 active) {
    return fold(values, active,
                [](u32 x, u32 y) { return static_cast<s32>(x) < static_cast<s32>(y) ? x : y; });
  });
  expect("redux.sync.max.u32 %r3, %r2, %r10;", [&](u32, const auto& values, u32 active) {
    return fold(values, active, [](u32 x, u32 y) { return x > y ? x : y; });
  });
  expect("redux.sync.xor.b32 %r3, %r2, %r10;", [&](u32, const auto& values, u32 active) {
    return fold(values, active, [](u32 x, u32 y) { return x ^ y; });
  });
}
TEST(Warp, SpecialRegisters) {
  Rig rig(R"(
.visible .entry k(.param .u64 out)
{ .reg .b32 %r<30>; .reg .b64 %q<9>;
  ld.param.u64 %q1, [out];
  mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z; mov.u32 %r4, %ctaid.x;
  mov.u32 %r5, %ctaid.y; mov.u32 %r6, %ctaid.z;
  mov.u32 %r7, %ntid.x; mov.u32 %r8, %ntid.y; mov.u32 %r9, %nctaid.x; mov.u32 %r10, %nctaid.y;
  mov.u32 %r11, %laneid; mov.u32 %r12, %lanemask_lt; mov.u32 %r13, %warpid;
  mad.lo.u32 %r20, %r6, %r10, %r5; mad.lo.u32 %r20, %r20, %r9, %r4; mul.lo.u32 %r21, %r7, %r8;
  mad.lo.u32 %r22, %r3, %r8, %r2; mad.lo.u32 %r22, %r22, %r7, %r1;
  mov.u32 %r23, %ntid.z; mul.lo.u32 %r21, %r21, %r23; mad.lo.u32 %r24, %r20, %r21, %r22;
  mul.wide.u32 %q2, %r24, 4; add.u64 %q2, %q1, %q2; mad.lo.u32 %r25, %r13, 32, %r11;
  popc.b32 %r26, %r12; shl.b32 %r26, %r26, 16; add.u32 %r25, %r25, %r26;
  st.global.u32 [%q2], %r25; ret; }
)");
  const Address out = rig.zeros(4 * 24 * 90);
  rig.run("k", {3, 4, 2}, {5, 6, 3}, out);
  const auto r = rig.download<u32>(out, 24 * 90);
  for (u32 i = 0; i < r.size(); ++i) ASSERT_EQ(r[i], i % 90 + (i % 90 % 32 << 16)) << i;
}

// --- printf --------------------------------------------------------------------------------------
std::string print_kernel(const std::string& format, const std::string& stores, int bytes) {
  std::string text;
  for (char c : format) text += std::to_string(static_cast<int>(c)) + ", ";
  return ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n.global .align 1 "
         ".b8 format[] = {" +
         text + "0};\n.global .align 1 .b8 word[4] = {97, 98, 99, 0};\n" +
         kernel(".local .align 8 .b8 depot[" + std::to_string(bytes) + "]; mov.u64 %q5, depot; " +
                stores +
                R"( cvta.local.u64 %q6, %q5; mov.u64 %q7, format; cvta.global.u64 %q7, %q7;
  { .param .b64 a; .param .b64 b; .param .b32 v;
    st.param.b64 [a], %q7; st.param.b64 [b], %q6; call.uni (v), vprintf, (a, b);
    ld.param.b32 %r3, [v]; })")
             .substr(0);
}
TEST(Print, EveryConversion) {
  const std::string ptx =
      print_kernel("%d|%u %x %c %5.2f %e %s %lld %p %% %-4d|%hhd\n",
                   "st.local.u32 [%q5], -5; st.local.u32 [%q5+4], %r1; st.local.u32 [%q5+8], "
                   "0xBEEF; st.local.u32 [%q5+12], 65; mov.f64 %d1, 0d400921FB54442D18; "
                   "st.local.f64 [%q5+16], %d1; st.local.f64 [%q5+24], %d1;"
                   "mov.u64 %q8, word; cvta.global.u64 %q8, %q8; st.local.u64 [%q5+32], %q8; "
                   "mov.u64 %q9, -1; st.local.u64 [%q5+40], %q9; mov.u64 %q9, 4096; st.local.u64 "
                   "[%q5+48], %q9; st.local.u32 [%q5+56], 7; st.local.u32 [%q5+60], 257;",
                   64);
  Rig rig(ptx);
  const Address in = rig.zeros(128), out = rig.zeros(128);
  rig.run("k", {1, 1, 1}, {32, 1, 1}, in, out, 0x6u);
  const std::string tail = " beef A  3.14 3.141593e+00 abc -1 0x1000 % 7   |1\n";
  EXPECT_EQ(rig.printed, "-5|1" + tail + "-5|2" + tail);
  EXPECT_EQ(rig.download<u32>(out, 3)[1], 11u);  // arguments, as CUDA counts
}
/// CUDA's guide lets the host's C library format: what stands between two '%' it reads over.
TEST(Print, PercentSignsWithFlagsAndSizes) {
  Rig rig(print_kernel("[%5%] [%-05%] [%.3%] [%l%] [%] %d [%y]\n", "st.local.u32 [%q5], 7;", 8));
  const Address in = rig.zeros(128), out = rig.zeros(128);
  rig.run("k", {1, 1, 1}, {1, 1, 1}, in, out, 0x1u);
  EXPECT_EQ(rig.printed, "[%] [%] [%] [%] [%] 7 [%y]\n");
}
TEST(Print, WithoutAFormatGivesMinusOneAndPrintsNothing) {
  const std::string with = print_kernel("%d", "st.local.u32 [%q5], 7;", 8);
  std::string without = with;
  const std::string pattern = "mov.u64 %q7, format; cvta.global.u64 %q7, %q7;";
  without.replace(without.find(pattern), pattern.size(), "mov.u64 %q7, 0;");
  for (const auto& [text, printed, result] :
       {std::tuple{with, "7", 1u}, std::tuple{without, "", ~0u}}) {
    Rig rig(text);
    const Address in = rig.zeros(128), out = rig.zeros(128);
    rig.run("k", {1, 1, 1}, {1, 1, 1}, in, out, 0x1u);
    EXPECT_EQ(rig.printed, printed);
    EXPECT_EQ(rig.download<u32>(out, 1)[0], result);
  }
}
TEST(Print, AssertFailNamesTheExpression) {
  std::string text;
  for (char c : std::string("x > 0")) text += std::to_string(static_cast<int>(c)) + ", ";
  Rig rig(
      ".extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, "
      ".param .b64 c);\n.global .align 1 .b8 what[] = {" +
      text + "0};\n" + kernel(R"(mov.u64 %q5, what; cvta.global.u64 %q5, %q5; mov.u32 %r3, 42;
  { .param .b64 m; .param .b64 f; .param .b32 l; .param .b64 n; .param .b64 c;
  st.param.b64 [m], %q5; st.param.b64 [f], %q5; st.param.b32 [l], %r3; st.param.b64 [n], %q5;
  st.param.b64 [c], 1;
    call.uni __assertfail, (m, f, l, n, c); })"));
  const Address in = rig.zeros(128), out = rig.zeros(128);
  const std::string what = run_error([&] { rig.run("k", {1, 1, 1}, {32, 1, 1}, in, out, 0x10u); });
  EXPECT_NE(what.find("assertion failed: x > 0, x > 0:42"), std::string::npos) << what;
  EXPECT_NE(what.find("thread (4,0,0)"), std::string::npos) << what;
}

// --- refusals ------------------------------------------------------------------------------------
TEST(Unsupported, IsNamedWithItsLineAndOthersStillRun) {
  const std::string text = R"(.visible .entry good() { ret; }
.visible .entry odd(.param .u64 a)
{ .reg .b32 %r<9>; .reg .b64 %q<3>;
  ld.param.u64 %q1, [a];
  tcgen05.wait::ld.sync.aligned;
  tcgen05.wait::st.sync.aligned;
  ret; }
.extern .func (.param .b64 r) absent(.param .b64 n);
.visible .entry heap() { .param .b64 n; .param .b64 r; st.param.b64 [n], 8; call (r), absent, (n);
  ret; }
)";
  const ptx::Module module = ptx::parse(kHeader + text, "test.ptx");
  const auto list = unsupported(module);
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(list[0].instruction, "tcgen05.wait::ld.sync.aligned");
  EXPECT_EQ(list[0].line, 8u);
  EXPECT_EQ(list[1].function, "odd");
  EXPECT_THAT(list[1].instruction, testing::StartsWith("tcgen05.wait::st"));
  EXPECT_THAT(list[2].instruction, testing::HasSubstr("absent"));
  Rig rig(text);
  rig.run("good", {1, 1, 1}, {1, 1, 1});
  try {
    rig.program.kernel("odd");
    FAIL();
  } catch (const InputError& error) {
    ASSERT_EQ(error.diagnostics().size(), 2u);
    EXPECT_EQ(error.diagnostics()[0].place.line, 8u);
    EXPECT_THAT(error.what(),
                testing::HasSubstr(
                    "kernel odd needs 'tcgen05.wait::ld.sync.aligned', which is not supported"));
  }
}

}  // namespace
}  // namespace raddle::exec::test::warp_test
