// Lanes that leave inside a loop or a branch: the others meet behind it all the same.
#include <gtest/gtest.h>

#include <bit>
#include <string>
#include <vector>

#include "rig.h"

namespace raddle::exec::test::early_return_test {
namespace {

using u32 = std::uint32_t;

/// `body` has the lane in %r1 and leaves by `OUT`; behind it each lane stores who is with it, and
/// how many threads of the block have come to a barrier.
std::string kernel(const std::string& body) {
  return R"(
.visible .entry k(.param .u64 with, .param .u64 come)
{
  .reg .pred %p<9>;
  .reg .b32 %r<9>;
  .reg .b64 %q<9>;
  ld.param.u64 %q1, [with];
  ld.param.u64 %q2, [come];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %q3, %r1, 4;
  add.u64 %q1, %q1, %q3;
  add.u64 %q2, %q2, %q3;
)" + body +
         R"(
  activemask.b32 %r5;
  st.global.u32 [%q1], %r5;
  setp.eq.u32 %p8, %r1, %r1;
  barrier.red.popc.u32 %r6, 0, %p8;
  st.global.u32 [%q2], %r6;
OUT:
  ret;
}
)";
}

void expect_that_all_but(u32 gone, const std::string& body) {
  Rig rig(kernel(body));
  const Address with = rig.zeros(4 * 64), come = rig.zeros(4 * 64);
  rig.machine.run(rig.launch("k", {1, 1, 1}, {64, 1, 1}, with, come), nullptr);
  const std::vector<u32> masks = rig.download<u32>(with, 64), counts = rig.download<u32>(come, 64);
  const auto all = static_cast<u32>(2 * std::popcount(~gone));
  for (u32 thread = 0; thread < 64; ++thread) {
    const bool left = (gone >> (thread % 32) & 1) != 0;
    EXPECT_EQ(masks[thread], left ? 0 : ~gone) << thread << body;
    EXPECT_EQ(counts[thread], left ? 0 : all) << thread << body;
  }
}

// Lane l of a warp goes round l % 4 + 1 times; lane 31 leaves in its second round.
TEST(EarlyReturn, InsideALoop) {
  for (const char* leave : {"bra OUT", "ret", "exit"})
    expect_that_all_but(0x8000'0000, R"(
  and.b32 %r2, %r1, 31;
  and.b32 %r3, %r1, 3;
  mov.u32 %r4, 0;
ROUND:
  setp.eq.u32 %p1, %r2, 31;
  setp.eq.and.u32 %p2, %r4, 1, %p1;
  @%p2 )" + std::string(leave) + R"(;
  setp.eq.u32 %p3, %r4, %r3;
  @%p3 bra DONE;
  add.u32 %r4, %r4, 1;
  bra ROUND;
DONE:
)");
}

// Nobody leaves, but the code could.
TEST(EarlyReturn, ThatNobodyTakes) {
  for (const char* leave : {"bra OUT", "ret", "trap"})
    expect_that_all_but(0, R"(
  and.b32 %r2, %r1, 1;
  setp.eq.u32 %p1, %r2, 0;
  setp.gt.u32 %p2, %r1, 99;
  @%p1 bra EVEN;
  @%p2 )" + std::string(leave) +
                               R"(;
  add.u32 %r4, %r1, 1;
  bra MEET;
EVEN:
  @%p2 )" + std::string(leave) +
                               R"(;
  add.u32 %r4, %r1, 2;
MEET:
)");
}

TEST(EarlyReturn, FromAFunction) {
  const std::string text = R"(
.func (.param .b32 out) f(.param .b32 in)
{
  .reg .pred %p<4>;
  .reg .b32 %r<4>;
  ld.param.b32 %r1, [in];
  mov.u32 %r2, 0;
ROUND:
  setp.eq.u32 %p1, %r1, 7;
  st.param.b32 [out], 77;
  @%p1 ret;
  setp.eq.u32 %p2, %r2, %r1;
  @%p2 bra DONE;
  add.u32 %r2, %r2, 1;
  bra ROUND;
DONE:
  activemask.b32 %r3;
  st.param.b32 [out], %r3;
  ret;
}
.visible .entry k(.param .u64 with, .param .u64 after)
{
  .reg .b32 %r<4>;
  .reg .b64 %q<4>;
  .param .b32 in;
  .param .b32 out;
  ld.param.u64 %q1, [with];
  ld.param.u64 %q2, [after];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %q3, %r1, 4;
  add.u64 %q1, %q1, %q3;
  add.u64 %q2, %q2, %q3;
  st.param.b32 [in], %r1;
  call (out), f, (in);
  ld.param.b32 %r2, [out];
  st.global.u32 [%q1], %r2;
  activemask.b32 %r3;
  st.global.u32 [%q2], %r3;
  ret;
}
)";
  Rig rig(text);
  const Address with = rig.zeros(4 * 32), after = rig.zeros(4 * 32);
  rig.machine.run(rig.launch("k", {1, 1, 1}, {32, 1, 1}, with, after), nullptr);
  const std::vector<u32> inside = rig.download<u32>(with, 32),
                         behind = rig.download<u32>(after, 32);
  for (u32 lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(inside[lane], lane == 7 ? 77 : ~0x80u) << lane;
    EXPECT_EQ(behind[lane], ~0u) << lane;
  }
}

}  // namespace
}  // namespace raddle::exec::test::early_return_test
