// Instructions of recent PTX while they are timed, as they are and lowered: the results of a
// functional run, and no law of conservation broken.
#include <gtest/gtest.h>

#include <numeric>

#include "support/whole.h"

namespace raddle::test::recent_instructions_test {
namespace {

/// Thread t of 64 works on the words 8t to 8t + 7;
/// a cell of 16 bytes for each warp is behind those.
constexpr const char* kKernel = R"(.version 9.0
.target sm_100a
.address_size 64
.visible .entry recent(.param .u64 buffer)
{
  .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %d<9>; .reg .b16 %h<5>; .reg .b8 %c<3>;
  .reg .b128 %q<5>;
  .shared .align 16 .b8 tile[1024];
  ld.param.u64 %d1, [buffer]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 32; add.u64 %d2, %d1, %d2;
  ld.global.b128 %q1, [%d2]; ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%d2+16];
  mov.u32 %r2, tile; mad.lo.u32 %r3, %r1, 16, %r2; st.shared.b128 [%r3], %q1; bar.sync 0;
  xor.b32 %r4, %r1, 5; mad.lo.u32 %r3, %r4, 16, %r2; ld.shared.b128 %q2, [%r3];
  mov.b128 {%d3, %d4}, %q2;
  add.rn.f32x2 %d5, %d3, %d4; fma.rz.ftz.f32x2 %d5, %d5, %d3, %d4;
  max.f32 %f1, %f1, %f2, %f3; min.ftz.NaN.abs.f32 %f2, %f2, %f3, %f4;
  redux.sync.max.abs.f32 %f3, %f3, 0xffffffff;
  cvt.rn.satfinite.e2m1x2.f32 %c1, %f1, %f2; cvt.rn.f16x2.e2m1x2 %r5, %c1;
  cvt.rn.satfinite.e3m2x2.f32 %h1, %f1, %f2; cvt.rn.f16x2.e3m2x2 %r6, %h1;
  cvt.rp.ue8m0x2.f32 %h2, %f1, %f2; cvt.rn.bf16x2.ue8m0x2 %r7, %h2;
  max.xorsign.abs.bf16x2 %r5, %r5, %r6; min.xorsign.abs.f16x2 %r6, %r5, %r7;
  shr.u32 %r8, %r1, 5; mul.wide.u32 %d6, %r8, 16; add.u64 %d6, %d1, %d6;
  atom.global.exch.b128 %q3, [%d6+2048], %q1; atom.shared.cas.b128 %q4, [tile], %q1, %q2;
  st.global.v4.b32 [%d2], {%r5, %r6, %r7, %r6}; st.global.f32 [%d2+16], %f3;
  st.global.f32 [%d2+20], %f1; st.global.b64 [%d2+24], %d5;
  ret;
}
)";

std::vector<std::uint32_t> results(RunSpec spec) {
  PtxWorkload workload(kKernel, "recent", {1}, {64}, 0);
  workload.words.resize(8 * 64 + 8);
  // Singles of all sizes, of both signs.
  for (std::uint32_t i = 0; i < 8 * 64; ++i) workload.words[i] = 0x3f000000 + i * 0x004a1b37;
  spec.options.audit = !spec.options.functional;
  run_on(workload, "recent", spec);
  return workload.words;
}

TEST(RecentInstructions, AreTimedOnEveryKindOfMachine) {
  RunSpec functional;
  functional.options.functional = true;
  const std::vector<std::uint32_t> want = results(functional);
  EXPECT_NE(std::accumulate(want.begin() + 512, want.end(), 0u), 0u) << "nothing was exchanged";
  for (const char* gpu : {"gtx480", "v100", "a100", "h100"})
    for (const char* lowering : {"isa.lowering=ptx", "isa.lowering=machine"})
      EXPECT_EQ(results({.gpu = gpu, .set = {"sm.count=2", lowering}}), want)
          << gpu << " " << lowering;
  EXPECT_EQ(results({.gpu = "h100", .set = {"sm.count=2", "run.live=true"}}), want);
}

}  // namespace
}  // namespace raddle::test::recent_instructions_test
