// cp.async, barrier objects, elections, vector atomics.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "instruction_case.h"

namespace raddle::exec::test::async_test {
namespace {

TEST(AsyncCopy, BytesZerosAndIgnoredSources) {
  const struct {
    const char* text;
    unsigned copied, zeroed;
  } kCases[] = {{"cp.async.ca.shared.global [%r2], [%q1], 4;", 4, 0},
                {"cp.async.ca.shared.global [%r2], [%q1], 8;", 8, 0},
                {"cp.async.ca.shared::cta.global.L2::128B [%r2], [%q1], 16;", 16, 0},
                {"cp.async.cg.shared.global [%r2], [%q1], 16;", 16, 0},
                {"cp.async.cg.shared.global [%r2], [%q1], 16, 12;", 12, 4},
                {"mov.u32 %r8, 1; cp.async.ca.shared.global [%r2], [%q1], 8, %r8;", 1, 7},
                {"mov.u32 %r8, 0; cp.async.ca.shared.global [%r2], [%q1], 8, %r8;", 0, 8},
                {"setp.eq.u32 %p1, 0, 0; cp.async.ca.shared.global [%r2], [%q1], 8, %p1;", 0, 8}};
  for (const auto& test : kCases) {
    SCOPED_TRACE(test.text);
    Rig rig(fmt::format(R"(
.visible .entry k(.param .u64 in, .param .u64 out)
{{
  .reg .pred %p<4>; .reg .b32 %r<20>; .reg .b64 %q<9>; .shared .align 16 .b8 s[512];
  ld.param.u64 %q1, [in]; ld.param.u64 %q2, [out]; mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 4;
  cvt.u64.u32 %q3, %r2; add.u64 %q1, %q1, %q3; add.u64 %q2, %q2, %q3;
  mov.u32 %r3, -1; st.shared.v4.u32 [%r2], {{%r3, %r3, %r3, %r3}};
  {}
  cp.async.commit_group; cp.async.wait_group 0; cp.async.wait_all;
  ld.shared.v4.u32 {{%r4, %r5, %r6, %r7}}, [%r2]; st.global.v4.u32 [%q2], {{%r4, %r5, %r6, %r7}};
  ret;
}}
)",
                        test.text));
    std::vector<u8> in(512);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<u8>(i * 7 + 1);
    const Address out = rig.zeros(512);
    rig.run("k", {1, 1, 1}, {32, 1, 1}, rig.upload(in), out);
    const auto got = rig.download<u8>(out, 512);
    for (unsigned i = 0; i < 512; ++i) {
      const unsigned at = i % 16;
      const unsigned want = at < test.copied ? in[i] : at < test.copied + test.zeroed ? 0 : 0xff;
      ASSERT_EQ(got[i], want) << i;
    }
  }
}
TEST(AsyncCopy, IsAGlobalLoadThatNobodyWaitsFor) {
  Rig rig(R"(
.visible .entry k(.param .u64 in)
{ .reg .b32 %r<20>; .reg .b64 %q<9>; .shared .align 16 .b8 s[512];
  ld.param.u64 %q1, [in]; mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 4; cvt.u64.u32 %q3, %r2;
  add.u64 %q1, %q1, %q3; cp.async.cg.shared.global [%r2], [%q1], 16; cp.async.commit_group;
  cp.async.wait_group 3; cp.async.wait_group 1000; cp.async.wait_all; ret; }
)");
  const auto trace = rig.record("k", {1, 1, 1}, {32, 1, 1}, rig.zeros(512));
  unsigned loads = 0;
  std::vector<unsigned> fences;
  for (const Op& op : ops_of(*trace, 0, 0)) {
    const auto& inst = trace->code().instructions.at(op.inst);
    if (inst.kind == trace::OpKind::LoadGlobal) {
      ++loads;
      EXPECT_EQ(op.transactions.size(), 4u);
      EXPECT_TRUE(inst.writes.empty());
      EXPECT_TRUE(inst.bypass_l1);
      EXPECT_EQ(inst.bytes, 16);
    }
    if (inst.kind == trace::OpKind::Fence) fences.push_back(inst.bytes);
  }
  EXPECT_EQ(loads, 1u);
  const unsigned shift = trace::kGroupsLeft;
  EXPECT_THAT(fences, testing::ElementsAre(trace::kEndsGroup, trace::kWaitsForGroups | 3 << shift,
                                           trace::kWaitsForGroups | trace::kMaxGroupsLeft << shift,
                                           trace::kWaitsForCopies));
}
TEST(AsyncCopy, FaultsAndRefusals) {
  const std::string text = R"(
.visible .entry k(.param .u64 in)
{ .reg .b32 %r<20>; .reg .b64 %q<9>; .shared .align 16 .b8 s[64];
  ld.param.u64 %q1, [in]; mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 4;
  cp.async.cg.shared.global [%r2], [%q1], 16; ret; }
)";
  Rig rig(text);
  const Address in = rig.zeros(64);
  EXPECT_THAT(run_error([&] {
                rig.run("k", {1, 1, 1}, {32, 1, 1}, in);
              }),
              testing::AllOf(testing::HasSubstr("shared"), testing::HasSubstr("thread (4,0,0)")));
  const auto refused =
      unsupported(ptx::parse(kHeader + ".visible .entry k() { .reg .b32 %r<9>; .reg .b64 %q<9>;\n"
                                       "cp.async.cg.shared.global [%r2], [%q1], 8;\n"
                                       "cp.async.ca.shared.global [%r2], [%q1], 12; ret; }",
                             "t.ptx"));
  EXPECT_EQ(refused.size(), 2u);
}

/// Two warps and more meet at a barrier object: nobody reads before everybody has written.
std::string meeting(const std::string& wait) {
  return fmt::format(R"(
.visible .entry k(.param .u64 out)
{{
  .reg .pred %p<4>; .reg .b32 %r<20>; .reg .b64 %q<9>;
  .shared .align 8 .b64 bar; .shared .align 4 .b8 s[1024];
  ld.param.u64 %q1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ntid.x; mov.u32 %r10, bar;
  setp.ne.u32 %p1, %r1, 0; @%p1 bra READY; mbarrier.init.shared.b64 [%r10], %r2;
READY: bar.sync 0;
  mov.u32 %r3, s; shl.b32 %r4, %r1, 2; add.u32 %r4, %r3, %r4; mov.u32 %r8, 0; mov.u32 %r9, 0;
ROUND:
  add.u32 %r5, %r1, %r8; st.shared.u32 [%r4], %r5;
  mbarrier.arrive.shared.b64 %q2, [%r10]; and.b32 %r12, %r8, 1;
WAIT: {} @!%p2 bra WAIT;
  sub.u32 %r6, %r2, %r1; sub.u32 %r6, %r6, 1; shl.b32 %r6, %r6, 2; add.u32 %r6, %r3, %r6;
  ld.shared.u32 %r7, [%r6]; add.u32 %r9, %r9, %r7; bar.sync 0;
  add.u32 %r8, %r8, 1; setp.lt.u32 %p1, %r8, 3; @%p1 bra ROUND;
  mul.wide.u32 %q3, %r1, 4; add.u64 %q1, %q1, %q3; st.global.u32 [%q1], %r9; ret;
}}
)",
                     wait);
}
TEST(BarrierObject, WaitingByStateAndByParity) {
  for (const char* wait :
       {"mbarrier.test_wait.shared.b64 %p2, [%r10], %q2;",
        "mbarrier.try_wait.shared.b64 %p2, [%r10], %q2;",
        "mbarrier.test_wait.parity.shared.b64 %p2, [%r10], %r12;",
        "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p2, [%r10], %r12, 10000;"}) {
    SCOPED_TRACE(wait);
    Rig rig(meeting(wait));
    const Address out = rig.zeros(4 * 256);
    rig.run("k", {1, 1, 1}, {256, 1, 1}, out);
    const auto got = rig.download<u32>(out, 256);
    for (u32 i = 0; i < 256; ++i) ASSERT_EQ(got[i], 3 * (255 - i) + 0 + 1 + 2) << i;
  }
}

/// One thread's instructions on one object; results go to out[0], out[1], ...
std::vector<u64> alone(const std::string& body, unsigned results) {
  Rig rig(R"(
.visible .entry k(.param .u64 out)
{ .reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %q<20>; .shared .align 8 .b64 bar;
  ld.param.u64 %q1, [out]; mov.u32 %r1, bar; mov.u64 %q3, bar; cvta.shared.u64 %q3, %q3;
)" + body +
          " ret; }");
  const Address out = rig.zeros(8 * results);
  rig.run("k", {1, 1, 1}, {1, 1, 1}, out);
  return rig.download<u64>(out, results);
}
std::string test_parity(int parity, int at) {
  return fmt::format(
      "mbarrier.test_wait.parity.shared.b64 %p1, [%r1], {}; selp.u64 %q9, 1, 0, %p1; "
      "st.global.u64 [%q1+{}], %q9; ",
      parity, 8 * at);
}
TEST(BarrierObject, PhasesCountsAndDrops) {
  EXPECT_THAT(
      alone("mbarrier.init.shared.b64 [%r1], 3; " + test_parity(1, 0) + test_parity(0, 1) +
                "mbarrier.arrive.shared.b64 %q2, [%r1], 2; mbarrier.pending_count.b64 %r5, %q2; "
                "cvt.u64.u32 %q4, %r5; st.global.u64 [%q1+16], %q4; " +
                test_parity(0, 3) + "mbarrier.arrive_drop.b64 _, [%q3]; " + test_parity(0, 4) +
                // Two are expected from now on.
                "mbarrier.arrive.shared.b64 _, [%r1], 2; " + test_parity(1, 5) + test_parity(0, 6) +
                "mbarrier.inval.shared.b64 [%r1];",
            7),
      testing::ElementsAre(1, 0, 3, 0, 1, 1, 0));
}
TEST(BarrierObject, TransactionsKeepThePhaseOpen) {
  EXPECT_THAT(
      alone(
          "mbarrier.init.shared.b64 [%r1], 1; mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 64; " +
              test_parity(0, 0) + "mbarrier.complete_tx.relaxed.cta.shared.b64 [%r1], 48; " +
              test_parity(0, 1) + "mbarrier.complete_tx.relaxed.cta.shared.b64 [%r1], 16; " +
              test_parity(0, 2) +
              "mbarrier.expect_tx.relaxed.cta.shared.b64 [%r1], 8; mbarrier.arrive.shared.b64 _, "
              "[%r1]; " +
              test_parity(1, 3),
          4),
      testing::ElementsAre(0, 0, 1, 0));
}
TEST(BarrierObject, CopiesArrive) {
  EXPECT_THAT(alone("mbarrier.init.shared.b64 [%r1], 2; cp.async.mbarrier.arrive.shared.b64 [%r1]; "
                    "mbarrier.arrive.shared.b64 _, [%r1]; " +
                        test_parity(0, 0) + "cp.async.mbarrier.arrive.noinc.shared.b64 [%r1]; " +
                        test_parity(0, 1),
                    2),
              testing::ElementsAre(0, 1));
}
TEST(BarrierObject, TooManyArrivalsAreAFault) {
  EXPECT_THAT(run_error([] {
                alone("mbarrier.init.shared.b64 [%r1], 1; mbarrier.arrive.shared.b64 _, [%r1], 2;",
                      1);
              }),
              testing::HasSubstr("2 arrivals at a barrier object that expects 1 more"));
}

TEST(Elect, OneLaneIsChosen) {
  Rig rig(R"(
.visible .entry k(.param .u64 out)
{ .reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %q<20>;
  ld.param.u64 %q1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %q2, %r1, 4; add.u64 %q1, %q1, %q2;
  setp.lt.u32 %p1, %r1, 5; @%p1 bra DONE;
  elect.sync %r2|%p2, 0xffffffe0; selp.u32 %r3, 100, 0, %p2; add.u32 %r2, %r2, %r3;
  st.global.u32 [%q1], %r2; DONE: ret; }
)");
  const Address out = rig.zeros(128);
  rig.run("k", {1, 1, 1}, {32, 1, 1}, out);
  const auto got = rig.download<u32>(out, 32);
  for (u32 i = 0; i < 32; ++i) EXPECT_EQ(got[i], i < 5 ? 0 : i == 5 ? 105 : 5) << i;
}

TEST(VectorAtomics, EachElement) {
  Rig rig(R"(
.visible .entry k(.param .u64 p, .param .u64 out)
{ .reg .b32 %r<20>; .reg .f32 %f<20>; .reg .b64 %q<20>;
  ld.param.u64 %q1, [p]; ld.param.u64 %q2, [out]; mov.u32 %r1, %tid.x; cvt.rn.f32.u32 %f1, %r1;
  mov.f32 %f2, 0f3F800000; red.global.add.v2.f32 [%q1], {%f1, %f2};
  atom.global.v4.f32.add {%f3, %f4, %f5, %f6}, [%q1+16], {%f2, %f1, %f2, %f2};
  mul.wide.u32 %q3, %r1, 4; add.u64 %q2, %q2, %q3; st.global.f32 [%q2], %f3;
  mov.u32 %r2, 0x3c004000; red.global.add.noftz.v2.f16x2 [%q1+32], {%r2, %r2}; ret; }
)");
  const Address p = rig.zeros(64), out = rig.zeros(128);
  const auto trace = rig.record("k", {1, 1, 1}, {32, 1, 1}, p, out);
  EXPECT_THAT(rig.download<float>(p, 8), testing::ElementsAre(496, 32, 0, 0, 32, 496, 32, 32));
  for (u32 word : rig.download<u32>(p + 32, 2)) EXPECT_EQ(word, 0x50005400u);  // 32, 64
  const auto old = rig.download<float>(out, 32);
  for (u32 i = 0; i < 32; ++i) EXPECT_EQ(old[i], static_cast<float>(i));
  unsigned atomics = 0, reductions = 0;
  for (const auto& inst : trace->code().instructions) {
    atomics += inst.kind == trace::OpKind::AtomicGlobal ? 1 : 0;
    reductions += inst.kind == trace::OpKind::ReduceGlobal ? 1 : 0;
  }
  EXPECT_EQ(atomics, 1u);
  EXPECT_EQ(reductions, 2u);
}

}  // namespace
}  // namespace raddle::exec::test::async_test
