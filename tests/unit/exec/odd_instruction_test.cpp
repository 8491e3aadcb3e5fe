// Instructions that elect, hint or stop; local accesses of many lines; clusters of one block.
#include <gmock/gmock.h>

#include "instruction_case.h"

namespace raddle::exec::test::odd_instruction_test {
namespace {

std::string kernel(const std::string& body) {
  return R"(
.visible .entry k(.param .u64 out)
{
  .reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %q<20>; .reg .f32 %f<9>;
  ld.param.u64 %q1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %q2, %r1, 4; add.u64 %q2, %q1, %q2;
  mov.u32 %r2, 0;
)" + body +
         "\n  st.global.u32 [%q2], %r2;\n  ret;\n}\n";
}
std::vector<u32> results(const std::string& body, u32 threads = 32) {
  std::vector<u32> first;
  for (const std::string& lanes : lane_builds()) {
    use_lanes(lanes);
    Rig rig(kernel(body));
    const Address out = rig.zeros(4 * threads);
    rig.run("k", {1, 1, 1}, {threads, 1, 1}, out);
    const auto got = rig.download<u32>(out, threads);
    if (first.empty()) first = got;
    EXPECT_EQ(got, first) << lanes;
  }
  unsetenv("RADDLE_LANES");
  return first;
}

TEST(OddInstruction, ElectNamesTheLowestMember) {
  const auto got = results(R"(
  elect.sync %r3|%p1, 0xffffff00;
  selp.u32 %r4, 100, 0, %p1; add.u32 %r2, %r3, %r4;
)");
  for (u32 i = 0; i < 32; ++i) EXPECT_EQ(got[i], 8 + (i == 8 ? 100u : 0u)) << i;
}
TEST(OddInstruction, ElectWithinADivergentPath) {
  const auto got = results(R"(
  and.b32 %r5, %r1, 3; setp.ne.u32 %p2, %r5, 2; @%p2 bra END;
  elect.sync _|%p1, 0x44444444; selp.u32 %r2, 7, 1, %p1;
END:
)");
  for (u32 i = 0; i < 32; ++i) EXPECT_EQ(got[i], i == 2 ? 7u : i % 4 == 2 ? 1u : 0u) << i;
}
TEST(OddInstruction, HintsChangeNothing) {
  const auto got = results(R"(
  createpolicy.fractional.L2::evict_last.b64 %q3, 1.0;
  prefetch.global.L2 [%q1]; prefetchu.L1 [%q1]; applypriority.global.L2::evict_normal [%q1], 128;
  griddepcontrol.launch_dependents; griddepcontrol.wait;
  setmaxnreg.inc.sync.aligned.u32 240; pmevent 1;
  add.u32 %r2, %r1, 3;
)");
  for (u32 i = 0; i < 32; ++i) EXPECT_EQ(got[i], i + 3);
}
TEST(OddInstruction, BreakpointStopsTheRun) {
  Rig rig(kernel("  setp.eq.u32 %p1, %r1, 5; @%p1 brkpt;"));
  const Address out = rig.zeros(128);
  EXPECT_THAT(run_error([&] {
                rig.run("k", {1, 1, 1}, {32, 1, 1}, out);
              }),
              testing::AllOf(testing::HasSubstr("brkpt"), testing::HasSubstr("thread (5,0,0)")));
}
TEST(OddInstruction, ABlockWithoutClusterIsAClusterOfItsOwn) {
  const auto got = results(R"(
  barrier.cluster.arrive; mov.u32 %r3, %cluster_nctarank; mov.u32 %r4, %cluster_ctarank;
  mad.lo.u32 %r2, %r3, 10, %r4; barrier.cluster.wait; mov.u32 %r5, %is_explicit_cluster;
  mad.lo.u32 %r2, %r5, 100, %r2;
)",
                           96);
  for (u32 v : got) EXPECT_EQ(v, 10u);
}
TEST(OddInstruction, AClusterWhoseBarrierCannotOpenIsTold) {
  // The second block never arrives and waits for the first at an ordinary barrier of 64 threads.
  Rig rig(R"(
.visible .entry k() .reqnctapercluster 2, 1, 1
{
  .reg .pred %p<3>; .reg .b32 %r<3>;
  mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r1, 1; @%p1 bra OTHER;
  barrier.cluster.arrive; barrier.cluster.wait; ret;
OTHER: bar.sync 1, 64; ret;
}
)");
  EXPECT_THAT(run_error([&] {
                rig.run("k", {2, 1, 1}, {32, 1, 1});
              }),
              testing::HasSubstr("every warp waits: warp 0 at its cluster's barrier"));
}

// --- local memory -------------------------------------------------------------------------------
TEST(OddInstruction, WideLocalAccessesAtManyOffsetsKeepAllTheirLines) {
  // 16 bytes at another offset in each lane: 128 lines of the warp's local memory.
  Rig rig(R"(
.visible .entry k(.param .u64 out)
{
  .local .align 16 .b8 depot[512];
  .reg .b32 %r<20>; .reg .b64 %q<9>;
  ld.param.u64 %q1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %q2, %r1, 16; mov.u64 %q3, depot;
  add.u64 %q3, %q3, %q2; add.u32 %r2, %r1, 1; add.u32 %r3, %r1, 2; add.u32 %r4, %r1, 3;
  st.local.v4.u32 [%q3], {%r1, %r2, %r3, %r4};
  ld.local.v4.u32 {%r5, %r6, %r7, %r8}, [%q3];
  add.u32 %r9, %r5, %r8; mul.wide.u32 %q4, %r1, 4; add.u64 %q4, %q1, %q4; st.global.u32 [%q4], %r9;
  ret;
}
)");
  const Address out = rig.zeros(128);
  auto trace = rig.record("k", {1, 1, 1}, {32, 1, 1}, out);
  std::size_t stored = 0, loaded = 0;
  u32 lanes = 0;
  for (const Op& op : ops_of(*trace, 0, 0)) {
    const trace::OpKind kind = trace->code().instructions[op.inst].kind;
    if (kind == trace::OpKind::StoreLocal) {
      stored += op.transactions.size();
      lanes |= op.mask;
    }
    if (kind == trace::OpKind::LoadLocal) loaded += op.transactions.size();
  }
  EXPECT_EQ(stored, 128u);
  EXPECT_EQ(loaded, 128u);
  EXPECT_EQ(lanes, ~0u);
  for (u32 i = 0; i < 32; ++i) EXPECT_EQ(rig.download<u32>(out, 32)[i], 2 * i + 3);
}

}  // namespace
}  // namespace raddle::exec::test::odd_instruction_test
