// Divergence and reconvergence, calls, barriers, and what ends a run.
#include "instruction_case.h"

namespace raddle::exec::test::control_test {
namespace {

/// Runs entry "k(out)" with one block of `threads` and returns one word per thread, the same from
/// every build.
std::vector<u32> results(const std::string& ptx, u32 threads, u32 blocks = 1) {
  std::vector<u32> first;
  for (const std::string& lanes : lane_builds()) {
    use_lanes(lanes);
    Rig rig(ptx);
    const Address out = rig.zeros(4 * threads * blocks);
    rig.run("k", {blocks, 1, 1}, {threads, 1, 1}, out);
    const auto r = rig.download<u32>(out, threads * blocks);
    if (first.empty()) first = r;
    EXPECT_EQ(r, first) << lanes;
  }
  unsetenv("RADDLE_LANES");
  return first;
}
std::string kernel(const std::string& body, const std::string& before = "") {
  return before + R"(
.visible .entry k(.param .u64 out)
{
  .reg .pred %p<20>; .reg .b32 %r<60>; .reg .b64 %q<20>; .reg .f32 %f<20>;
  ld.param.u64 %q1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r58, %ctaid.x; mov.u32 %r59, %ntid.x;
  mad.lo.u32 %r57, %r58, %r59, %r1;
  mul.wide.u32 %q2, %r57, 4; add.u64 %q2, %q1, %q2; mov.u32 %r2, 0;
)" + body +
         "\nEND:\n  st.global.u32 [%q2], %r2;\n  ret;\n}\n";
}
template <class F>
void expect(const std::string& ptx, u32 threads, F f, u32 blocks = 1) {
  const auto r = results(ptx, threads, blocks);
  for (u32 i = 0; i < r.size(); ++i) ASSERT_EQ(r[i], f(i)) << "thread " << i;
}

TEST(Control, NestedIfs) {
  expect(kernel(R"(
  and.b32 %r3, %r1, 1; setp.eq.u32 %p1, %r3, 0; @%p1 bra EVEN;
  setp.lt.u32 %p2, %r1, 10; @%p2 bra SMALL;
  add.u32 %r2, %r2, 100; bra JOIN1;
SMALL: add.u32 %r2, %r2, 7;
JOIN1: add.u32 %r2, %r2, 1000; bra JOIN;
EVEN: add.u32 %r2, %r2, 3;
JOIN: add.u32 %r2, %r2, 10000;
)"),
         70, [](u32 i) { return 10000 + (i % 2 == 0 ? 3 : 1000 + (i < 10 ? 7 : 100)); });
}
TEST(Control, DivergentLoopWithBreakAndContinue) {
  // for (i = 0; ; ++i) { if (i == tid % 13) break; if (i & 1) continue; sum += i; }
  expect(kernel(R"(
  rem.u32 %r3, %r1, 13; mov.u32 %r4, 0;
LOOP: setp.eq.u32 %p1, %r4, %r3; @%p1 bra OUT;
  and.b32 %r5, %r4, 1; setp.eq.u32 %p2, %r5, 1; @%p2 bra NEXT;
  add.u32 %r2, %r2, %r4;
NEXT: add.u32 %r4, %r4, 1; bra LOOP;
OUT: mad.lo.u32 %r2, %r4, 1000, %r2;
)"),
         96, [](u32 t) {
           u32 sum = 0;
           for (u32 i = 0; i < t % 13; ++i) sum += i % 2 ? 0 : i;
           return t % 13 * 1000 + sum;
         });
}
TEST(Control, LoopInLoopInIf) {
  expect(kernel(R"(
  setp.lt.u32 %p1, %r1, 20; @!%p1 bra END;
  mov.u32 %r3, 0;
A: setp.ge.u32 %p2, %r3, %r1; @%p2 bra END;
  mov.u32 %r4, 0;
B: setp.gt.u32 %p3, %r4, %r3; @%p3 bra C;
  add.u32 %r2, %r2, %r4; add.u32 %r4, %r4, 1; bra B;
C: add.u32 %r3, %r3, 1; bra A;
)"),
         64, [](u32 t) {
           u32 sum = 0;
           if (t < 20)
             for (u32 i = 0; i < t; ++i)
               for (u32 j = 0; j <= i; ++j) sum += j;
           return sum;
         });
}
TEST(Control, EarlyExitLeavesOthersRunning) {
  expect(kernel(R"(
  mov.u32 %r2, 5; setp.gt.u32 %p1, %r1, 40; @%p1 exit;
  setp.eq.u32 %p2, %r1, 3; @%p2 bra GONE; bra STAY;
GONE: exit;
STAY: mov.u32 %r2, 6;
)"),
         64, [](u32 t) { return t > 40 || t == 3 ? 0u : 6u; });
}
TEST(Control, PredicatedInstructions) {
  expect(kernel(R"(
  setp.lt.u32 %p1, %r1, 11; @%p1 add.u32 %r2, %r1, 1; @!%p1 mul.lo.u32 %r2, %r1, 3;
  setp.gt.u32 %p2, %r1, 500; @%p2 add.u32 %r2, %r2, 1;
)"),
         32, [](u32 t) { return t < 11 ? t + 1 : 3 * t; });
}
TEST(Control, RegistersOfOtherWidthsKeepTheirLanesAcrossDivergence) {
  // %r3 lives on in the lanes that branch away; the others fill as many 64-bit, 32-bit and 16-bit
  // registers as they like.
  std::string busy;
  for (int i = 5; i < 15; ++i)
    busy += "  cvt.u64.u32 %q" + std::to_string(i) + ", %r1; not.b64 %q" + std::to_string(i) +
            ", %q" + std::to_string(i) + ";\n";
  busy += "  mov.u64 %q4, 0;\n";
  for (int i = 5; i < 15; ++i) busy += "  add.u64 %q4, %q4, %q" + std::to_string(i) + ";\n";
  expect(kernel("  { .reg .b16 %h<9>; mul.lo.u32 %r3, %r1, 3; add.u32 %r4, %r1, 9; cvt.u16.u32 "
                "%h1, %r1;\n"
                "  and.b32 %r5, %r1, 5; setp.eq.u32 %p1, %r5, 4; @%p1 bra FAR;\n" +
                busy +
                "  cvt.u32.u64 %r2, %q4; bra NEAR;\nFAR: cvt.u32.u16 %r6, %h1; add.u32 %r2, %r3, "
                "%r4; add.u32 %r2, %r2, %r6;\nNEAR:\n }"),
         96, [](u32 t) { return (t & 5) == 4 ? 5 * t + 9 : 10 * ~t; });
}
TEST(Control, IndexedBranch) {
  expect(kernel(R"(
  rem.u32 %r3, %r1, 3;
TABLE: .branchtargets T0, T1, T2;
  brx.idx %r3, TABLE;
T0: mov.u32 %r2, 10; bra JOIN;
T1: mov.u32 %r2, 20; bra JOIN;
T2: add.u32 %r2, %r1, 30;
JOIN: add.u32 %r2, %r2, 1;
)"),
         40, [](u32 t) {
           return 1 + (t % 3 == 0 ? 10 : t % 3 == 1 ? 20 : t + 30);
         });
}

// --- calls ---------------------------------------------------------------------------------------
constexpr const char* kFunctions = R"(
.func (.param .b32 r) twice_if_even(.param .b32 a)
{ .reg .b32 %x<5>; .reg .pred %c;
  ld.param.u32 %x1, [a]; and.b32 %x2, %x1, 1; setp.eq.u32 %c, %x2, 1; @%c bra ODD;
  shl.b32 %x1, %x1, 1; st.param.b32 [r], %x1; ret;
ODD: add.u32 %x1, %x1, 1000; st.param.b32 [r], %x1; ret;
}
.func (.param .b32 r) factorial(.param .b32 n)
{ .reg .b32 %x<9>; .reg .pred %c; .local .align 8 .b8 depot[16]; .reg .b64 %q<3>;
  ld.param.u32 %x1, [n]; mov.u64 %q1, depot; st.local.u32 [%q1+4], %x1;
  setp.gt.u32 %c, %x1, 1; @%c bra MORE;
  st.param.b32 [r], 1; ret;
MORE: sub.u32 %x2, %x1, 1;
  { .param .b32 p; .param .b32 v; st.param.b32 [p], %x2; call.uni (v), factorial, (p);
  ld.param.b32 %x3, [v]; }
  ld.local.u32 %x4, [%q1+4]; mul.lo.u32 %x3, %x3, %x4; st.param.b32 [r], %x3; ret;
}
.func (.reg .b32 d) add_registers(.reg .b32 a, .reg .b32 b) { add.u32 d, a, b; ret; }
)";
u32 factorial(u32 n) { return n > 1 ? n * factorial(n - 1) : 1; }

TEST(Calls, DivergentCallAndDivergenceInside) {
  expect(kernel(R"(
  setp.lt.u32 %p1, %r1, 20; @!%p1 bra SKIP;
  { .param .b32 p; .param .b32 v; st.param.b32 [p], %r1; call (v), twice_if_even, (p);
  ld.param.b32 %r2, [v]; }
SKIP: add.u32 %r2, %r2, 1;
)",
                kFunctions),
         64, [](u32 t) { return 1 + (t < 20 ? (t % 2 ? t + 1000 : 2 * t) : 0); });
}
TEST(Calls, RecursionOfDifferentDepths) {
  expect(kernel(R"(
  and.b32 %r3, %r1, 7;
  { .param .b32 p; .param .b32 v; st.param.b32 [p], %r3; call.uni (v), factorial, (p);
  ld.param.b32 %r2, [v]; }
)",
                kFunctions),
         64, [](u32 t) { return factorial(t % 8); });
}
TEST(Calls, RegistersAsParametersAndGuards) {
  expect(kernel("  setp.lt.u32 %p1, %r1, 9; @%p1 call (%r2), add_registers, (%r1, %r1);\n",
                kFunctions),
         32, [](u32 t) { return t < 9 ? 2 * t : 0; });
}
TEST(Calls, IndirectByLane) {
  const std::string more = std::string(kFunctions) + R"(
.func (.param .b32 r) plus_nine(.param .b32 a) { .reg .b32 %x; ld.param.u32 %x, [a];
  add.u32 %x, %x, 9; st.param.b32 [r], %x; ret; }
.global .align 8 .u64 table[3] = {twice_if_even, plus_nine, factorial};
)";
  expect(kernel(R"(
  rem.u32 %r3, %r1, 3; mul.wide.u32 %q3, %r3, 8; mov.u64 %q4, table; add.u64 %q4, %q4, %q3;
  ld.global.u64 %q5, [%q4];
  rem.u32 %r4, %r1, 5;
  { .param .b32 p; .param .b32 v; st.param.b32 [p], %r4;
    PROTO: .callprototype (.param .b32 _) _ (.param .b32 _);
    call (v), %q5, (p), PROTO; ld.param.b32 %r2, [v]; }
  add.u32 %r2, %r2, 100000;
)",
                more),
         48, [](u32 t) {
           const u32 x = t % 5;
           return 100000 + (t % 3 == 0   ? (x % 2 ? x + 1000 : 2 * x)
                            : t % 3 == 1 ? x + 9
                                         : factorial(x));
         });
}
TEST(Calls, EndlessRecursionIsAFault) {
  const std::string f = R"(
.func down(.param .b32 a)
{ .reg .b32 %x; .local .align 4 .b8 big[1024]; ld.param.u32 %x, [a];
  { .param .b32 p; st.param.b32 [p], %x; call down, (p); }
  ret; }
)";
  Rig rig(kernel("  { .param .b32 p; st.param.b32 [p], %r1; call down, (p); }\n", f));
  const Address out = rig.zeros(256);
  const std::string what = run_error([&] { rig.run("k", {1, 1, 1}, {32, 1, 1}, out); });
  EXPECT_NE(what.find("call stack overflow"), std::string::npos) << what;
  EXPECT_NE(what.find("call down, (p);"), std::string::npos) << what;
}

// --- barriers ------------------------------------------------------------------------------------
TEST(Barriers, AllWarpsSeeEachOthersStores) {
  expect(kernel(R"(
  .shared .align 4 .b8 s[1024];
  mov.u32 %r3, s; shl.b32 %r4, %r1, 2; add.u32 %r5, %r3, %r4; mul.lo.u32 %r6, %r1, %r1;
  st.shared.u32 [%r5], %r6;
  bar.sync 0;
  sub.u32 %r7, 255, %r1; shl.b32 %r7, %r7, 2; add.u32 %r7, %r7, %r3; ld.shared.u32 %r2, [%r7];
)"),
         256, [](u32 t) { return (255 - t) * (255 - t); });
}
TEST(Barriers, NamedWithCountAndArrive) {
  // Warp 0 produces and arrives; warp 1 waits for it; warps 2 and 3 take no part.
  expect(kernel(R"(
  .shared .align 4 .b8 s[128];
  mov.u32 %r3, s; and.b32 %r4, %r1, 31; shl.b32 %r4, %r4, 2; add.u32 %r5, %r3, %r4;
  shr.u32 %r6, %r1, 5;
  setp.eq.u32 %p1, %r6, 1; @%p1 bra CONSUME; setp.gt.u32 %p2, %r6, 1; @%p2 bra END;
  add.u32 %r7, %r1, 77; st.shared.u32 [%r5], %r7; bar.arrive 3, 64; bra END;
CONSUME: bar.sync 3, 64; ld.shared.u32 %r2, [%r5];
)"),
         128, [](u32 t) { return t / 32 == 1 ? t - 32 + 77 : 0; });
}
TEST(Barriers, Reductions) {
  expect(kernel(R"(
  setp.lt.u32 %p1, %r1, 50; bar.red.popc.u32 %r2, 0, %p1;
  bar.red.and.pred %p2, 0, %p1; bar.red.or.pred %p3, 0, !%p1;
  @%p2 add.u32 %r2, %r2, 1000; @%p3 add.u32 %r2, %r2, 10000;
)"),
         96, [](u32) { return 10050u; });
}
TEST(Barriers, ExitedWarpsAreNotWaitedFor) {
  expect(kernel("  setp.gt.u32 %p1, %r1, 63; @%p1 bra END; bar.sync 0; mov.u32 %r2, 1;\n"), 128,
         [](u32 t) { return t < 64 ? 1u : 0u; });
}
TEST(Barriers, OneThatCannotCompleteNamesWarpsAndLines) {
  Rig rig(kernel(
      "  setp.gt.u32 %p1, %r1, 31; @%p1 bra B;\n  bar.sync 1;\n  bra END;\nB:\n  bar.sync 2;\n"));
  const Address out = rig.zeros(256);
  const std::string what = run_error([&] { rig.run("k", {1, 1, 1}, {64, 1, 1}, out); });
  EXPECT_NE(what.find("warp 0 at barrier 1 (1 of 2 warps have come), test.ptx:12 'bar.sync 1;'"),
            std::string::npos)
      << what;
  EXPECT_NE(what.find("warp 1 at barrier 2"), std::string::npos) << what;
}
TEST(Limits, AWarpThatNeverEndsIsNamed) {
  MachineOptions options;
  options.max_warp_instructions = 5000;
  Rig rig(kernel("LOOP:\n  add.u32 %r2, %r2, 1;\n  bra LOOP;\n"), options);
  const Address out = rig.zeros(256);
  const std::string what = run_error([&] { rig.run("k", {1, 1, 1}, {32, 1, 1}, out); });
  EXPECT_NE(what.find("kernel k has not ended after 5000 warp instructions: block (0,0,0) warp 0 "
                      "stands at test.ptx:"),
            std::string::npos)
      << what;
}
TEST(Limits, SpinningWarpsLetOthersRun) {
  // Warp 0 waits for warp 1 of its block, block 0 for block 1.
  const std::string spin = R"(
.global .align 4 .u32 flags[2];
)";
  expect(
      kernel(R"(
  mov.u64 %q3, flags; setp.eq.u32 %p1, %r1, 0; @!%p1 bra SET;
WAIT1: ld.volatile.global.u32 %r3, [%q3]; setp.eq.u32 %p2, %r3, 0; @%p2 bra WAIT1;
  setp.ne.u32 %p3, %r58, 0; @%p3 bra DONE;
WAIT2: ld.volatile.global.u32 %r3, [%q3+4]; setp.eq.u32 %p2, %r3, 0; @%p2 bra WAIT2;
  bra DONE;
SET: setp.eq.u32 %p4, %r1, 32; @!%p4 bra DONE; mov.u32 %r4, 1; st.volatile.global.u32 [%q3], %r4;
  setp.eq.u32 %p5, %r58, 1; @%p5 st.volatile.global.u32 [%q3+4], %r4;
DONE: mov.u32 %r2, 9;
)",
             spin),
      64, [](u32) { return 9u; }, 2);
}
TEST(Limits, LaunchesThatCannotBe) {
  Rig rig(kernel(""));
  const Address out = rig.zeros(256);
  EXPECT_THROW(rig.run("k", {1, 1, 1}, {1025, 1, 1}, out), InputError);
  EXPECT_THROW(rig.run("k", {0, 1, 1}, {32, 1, 1}, out), InputError);
  rig.dynamic_shared = 300000;
  try {
    rig.run("k", {1, 1, 1}, {32, 1, 1}, out);
    FAIL();
  } catch (const InputError& e) {
    EXPECT_NE(
        std::string(e.what()).find("300000 bytes of shared memory per block; the limit is 232448"),
        std::string::npos)
        << e.what();
  }
  EXPECT_THROW(rig.program.kernel("nope"), InputError);
}

}  // namespace
}  // namespace raddle::exec::test::control_test
