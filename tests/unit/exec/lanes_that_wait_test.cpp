// Lanes of one warp that wait for one another (run/sides.h).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rig.h"

namespace raddle::exec::test::lanes_that_wait_test {
namespace {

using u32 = std::uint32_t;
using testing::HasSubstr;

/// Every lane takes a lock, adds one and gives it back. Behind that all meet, and each adds the
/// number of lanes that are with it.
constexpr const char* kLock = R"(
.visible .entry take(.param .u64 lock, .param .u64 count, .param .u64 together)
{
  .reg .pred %p<2>;
  .reg .b32 %r<9>;
  .reg .b64 %q<9>;
  ld.param.u64 %q1, [lock];
  ld.param.u64 %q2, [count];
  ld.param.u64 %q3, [together];
ask:
  atom.global.cas.b32 %r1, [%q1], 0, 1;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra ask;
  ld.volatile.global.u32 %r2, [%q2];
  add.u32 %r2, %r2, 1;
  st.volatile.global.u32 [%q2], %r2;
  membar.gl;
  atom.global.exch.b32 %r3, [%q1], 0;
  bar.warp.sync 0xffffffff;
  activemask.b32 %r4;
  popc.b32 %r4, %r4;
  red.global.add.u32 [%q3], %r4;
  ret;
}
)";

struct Lock {
  explicit Lock(MachineOptions options = {}) : rig(kLock, std::move(options)) {
    lock = rig.zeros(4);
    count = rig.zeros(4);
    together = rig.zeros(4);
  }
  Launch launch(u32 blocks, u32 threads) {
    return rig.launch("take", {blocks, 1, 1}, {threads, 1, 1}, lock, count, together);
  }
  u32 word(Address at) { return rig.download<u32>(at, 1)[0]; }
  Rig rig;
  Address lock = 0, count = 0, together = 0;
};

class Locks : public testing::TestWithParam<std::tuple<u32, u32, bool>> {};

TEST_P(Locks, AreTakenByEveryLane) {
  const auto [blocks, threads, short_turns] = GetParam();
  MachineOptions options;
  options.max_warp_instructions = 2'000'000;
  options.short_turns = short_turns;
  Lock lock(options);
  lock.rig.machine.run(lock.launch(blocks, threads), nullptr);
  EXPECT_EQ(lock.word(lock.count), blocks * threads);
  EXPECT_EQ(lock.word(lock.together), blocks * threads * std::min(threads, kLanes));
}
INSTANTIATE_TEST_SUITE_P(All, Locks,
                         testing::Combine(testing::Values(1u, 2u, 7u),
                                          testing::Values(2u, 32u, 64u, 96u), testing::Bool()));

TEST(LanesThatWait, AreInTheStream) {
  for (const std::string& build : lane_builds()) {
    use_lanes(build);
    Lock lock;
    const Launch launch = lock.launch(1, 32);
    trace::MemoryTrace kept(code_of(*launch.kernel), launch.shape);
    const RunCount count = lock.rig.machine.run(launch, &kept);
    EXPECT_EQ(lock.word(lock.count), 32u);
    std::uint64_t instructions = 0, sets_free = 0;
    for (const Op& op : ops_of(kept, 0, 0)) {
      instructions += op.count;
      const trace::KernelCode& code = *code_of(*launch.kernel);
      if (code.opcode_names[code.instructions[op.inst].opcode] == "atom.global.exch.b32")
        sets_free += static_cast<unsigned>(__builtin_popcount(op.mask));
    }
    EXPECT_EQ(instructions, count.warp_instructions) << build;
    EXPECT_EQ(sets_free, 32u) << build;
    EXPECT_LT(instructions, 100'000u) << build;
  }
  use_lanes("");
}

TEST(LanesThatWait, ComeToNoEndOnOlderMachinesAndThatIsTold) {
  MachineOptions options;
  options.independent_lanes = false;
  for (const u32 blocks : {1u, 3u}) {
    Lock lock(options);
    const std::string what =
        run_error([&] { lock.rig.machine.run(lock.launch(blocks, 64), nullptr); });
    EXPECT_THAT(what, HasSubstr("kernel take: lanes of one warp wait for one another"));
    EXPECT_THAT(what, HasSubstr("warp 0 of block (0,0,0) lanes 0xfffffffe"));
    EXPECT_THAT(what, HasSubstr("before compute capability 7.0"));
    EXPECT_THAT(what, HasSubstr("test.ptx:1"));
  }
}

/// Lane 0 calls a function that asks until another lane has set the flag, which calls one as well.
TEST(LanesThatWait, InsideFunctions) {
  MachineOptions options;
  options.max_warp_instructions = 1'000'000;
  Rig rig(R"(
.func (.reg .b32 %out) wait_for(.reg .b64 %flag, .reg .b32 %value)
{
  .reg .pred %p<2>;
ask:
  ld.volatile.global.u32 %out, [%flag];
  setp.ne.u32 %p1, %out, %value;
  @%p1 bra ask;
  ret;
}
.func (.reg .b32 %out) add_three(.reg .b32 %in)
{
  add.u32 %out, %in, 3;
  ret;
}
.visible .entry both(.param .u64 flag, .param .u64 out)
{
  .reg .pred %p<3>;
  .reg .b32 %r<9>;
  .reg .b64 %q<9>;
  ld.param.u64 %q1, [flag];
  ld.param.u64 %q2, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %q3, %r1, 4;
  add.u64 %q4, %q2, %q3;
  setp.eq.u32 %p1, %r1, 0;
  mov.u32 %r2, 0;
  mov.u32 %r4, 7;
  mov.u32 %r5, 9;
  @%p1 bra first;
  call (%r3), add_three, (%r1);
  setp.ne.u32 %p2, %r1, 1;
  @%p2 bra other;
  st.volatile.global.u32 [%q1], %r4;
other:
  call (%r2), wait_for, (%q1, %r5);
  add.u32 %r2, %r2, %r3;
  bra done;
first:
  call (%r2), wait_for, (%q1, %r4);
  call (%r3), add_three, (%r2);
  st.volatile.global.u32 [%q1], %r5;
  add.u32 %r2, %r2, %r3;
done:
  st.global.u32 [%q4], %r2;
  ret;
}
)",
          options);
  const Address flag = rig.zeros(4), out = rig.zeros(128);
  rig.run("both", {1, 1, 1}, {32, 1, 1}, flag, out);
  std::vector<u32> expected(32);
  for (u32 lane = 0; lane < 32; ++lane) expected[lane] = lane == 0 ? 17 : 9 + lane + 3;
  EXPECT_EQ(rig.download<u32>(out, 32), expected);
}

/// A function whose loop changes its own registers alone does not go round in circles.
TEST(LanesThatWait, ALongLoopInAFunctionIsNoWaiting) {
  Rig rig(R"(
.func (.reg .b32 %out) count_to(.reg .b32 %end)
{
  .reg .pred %p<2>;
  mov.u32 %out, 0;
on:
  add.u32 %out, %out, 1;
  setp.ne.u32 %p1, %out, %end;
  @%p1 bra on;
  ret;
}
.visible .entry long_one(.param .u64 out)
{
  .reg .b32 %r<3>;
  .reg .b64 %q<3>;
  ld.param.u64 %q1, [out];
  mov.u32 %r2, 3000000;
  call (%r1), count_to, (%r2);
  st.global.u32 [%q1], %r1;
  ret;
}
)",
          [] {
            MachineOptions options;
            options.short_turns = true;
            return options;
          }());
  const Address out = rig.zeros(4);
  const Launch launch = rig.launch("long_one", {2, 1, 1}, {1, 1, 1}, out);
  EXPECT_FALSE(rig.machine.run(launch, nullptr).waits);
  EXPECT_EQ(rig.download<u32>(out, 1)[0], 3'000'000u);
}

TEST(LanesThatWait, ForOneThatNeverComesIsTold) {
  Lock lock;
  const std::vector<u32> taken{1};
  std::memcpy(lock.rig.memory.host(lock.lock), taken.data(), 4);
  const std::string what = run_error([&] { lock.rig.machine.run(lock.launch(2, 64), nullptr); });
  EXPECT_THAT(what, HasSubstr("kernel take does not end: every warp that runs goes round in circles"
                              " and nothing changes any more; warp 0 of block (0,0,0) asks again "
                              "and again at test.ptx:"));
}

}  // namespace
}  // namespace raddle::exec::test::lanes_that_wait_test
