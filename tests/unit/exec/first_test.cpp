#include "rig.h"
namespace raddle::exec::test {
TEST(First, VecAdd) {
  Rig rig(R"(
.visible .entry vecadd(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)
{
  .reg .pred %p<2>; .reg .f32 %f<4>; .reg .b32 %r<6>; .reg .b64 %rd<11>;
  ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [c]; ld.param.u32 %r2, [n];
  mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x;
  mad.lo.s32 %r1, %r3, %r4, %r5;
  setp.ge.s32 %p1, %r1, %r2;
  @%p1 bra $L1;
  cvta.to.global.u64 %rd4, %rd1; mul.wide.s32 %rd5, %r1, 4; add.s64 %rd6, %rd4, %rd5;
  cvta.to.global.u64 %rd7, %rd2; add.s64 %rd8, %rd7, %rd5;
  ld.global.f32 %f1, [%rd8]; ld.global.f32 %f2, [%rd6]; add.f32 %f3, %f2, %f1;
  cvta.to.global.u64 %rd9, %rd3; add.s64 %rd10, %rd9, %rd5; st.global.f32 [%rd10], %f3;
$L1:
  ret;
})");
  const std::uint32_t n = 1000;
  std::vector<float> a(n), b(n);
  for (std::uint32_t i = 0; i < n; ++i) a[i] = static_cast<float>(i), b[i] = 0.5f * static_cast<float>(i);
  const Address da = rig.upload(a), db = rig.upload(b), dc = rig.zeros(4 * n);
  auto t = rig.record("vecadd", {4, 1, 1}, {256, 1, 1}, da, db, dc, n);
  const auto c = rig.download<float>(dc, n);
  for (std::uint32_t i = 0; i < n; ++i) ASSERT_EQ(c[i], a[i] + b[i]) << i;
  for (const Op& op : ops_of(*t, 3, 7)) printf("%u x%u p%u %08x %zu\n", op.inst, op.count, op.pieces_field, op.mask, op.pieces.size());
}
}
