// Blocks that wait for one another: few instructions are spent on asking, and a launch can go on
// while its stream is read.
#include <gtest/gtest.h>

#include "rig.h"

namespace raddle::exec::test::waiting_test {
namespace {

using u32 = std::uint32_t;

/// Each block adds one, then asks until all have; then it writes what it sees of its neighbour.
constexpr const char* kBarrier = R"(
.visible .entry meet(.param .u64 count, .param .u64 mine, .param .u64 seen, .param .u32 blocks)
{
  .reg .pred %p<2>;
  .reg .b32 %r<9>;
  .reg .b64 %q<9>;
  ld.param.u64 %q1, [count];
  ld.param.u64 %q2, [mine];
  ld.param.u64 %q3, [seen];
  ld.param.u32 %r1, [blocks];
  mov.u32 %r2, %ctaid.x;
  mul.wide.u32 %q4, %r2, 4;
  add.u64 %q5, %q2, %q4;
  add.u32 %r3, %r2, 100;
  st.global.u32 [%q5], %r3;
  membar.gl;
  atom.global.add.u32 %r4, [%q1], 1;
ask:
  ld.volatile.global.u32 %r5, [%q1];
  setp.ne.u32 %p1, %r5, %r1;
  @%p1 bra ask;
  add.u32 %r6, %r2, 1;
  rem.u32 %r6, %r6, %r1;
  mul.wide.u32 %q6, %r6, 4;
  add.u64 %q6, %q2, %q6;
  ld.volatile.global.u32 %r7, [%q6];
  add.u64 %q7, %q3, %q4;
  st.global.u32 [%q7], %r7;
  ret;
}
)";
constexpr u32 kBlocks = 96;

struct Meeting {
  explicit Meeting(MachineOptions options = {}) : rig(kBarrier, std::move(options)) {
    count = rig.zeros(4);
    mine = rig.zeros(4 * kBlocks);
    seen = rig.zeros(4 * kBlocks);
  }
  Launch launch() {
    return rig.launch("meet", {kBlocks, 1, 1}, {1, 1, 1}, count, mine, seen, kBlocks);
  }
  void expect_met() {
    std::vector<u32> expected(kBlocks);
    for (u32 b = 0; b < kBlocks; ++b) expected[b] = 100 + (b + 1) % kBlocks;
    EXPECT_EQ(rig.download<u32>(seen, kBlocks), expected);
  }
  Rig rig;
  Address count = 0, mine = 0, seen = 0;
};

TEST(Waiting, ABarrierOfTheGridCostsFewInstructions) {
  MachineOptions options;
  options.max_warp_instructions = 20'000'000;  // a tenth of what a turn of each block was
  options.short_turns = true;
  Meeting meeting(options);
  const RunCount count = meeting.rig.machine.run(meeting.launch(), nullptr);
  meeting.expect_met();
  EXPECT_LT(count.warp_instructions, kBlocks * 20'000u);
}

TEST(Waiting, LongTurnsSeeItToo) {
  MachineOptions options;
  options.max_warp_instructions = 20'000'000;
  Meeting meeting(options);
  meeting.rig.machine.run(meeting.launch(), nullptr);
  meeting.expect_met();
}

/// Reads all warps' streams in turn, a piece of each, as a timing model might.
u32 read_all(trace::KernelStream& stream) {
  std::vector<trace::WarpCursor> cursors;
  std::vector<Op> ops;
  const auto take = [&](trace::WarpCursor& c) {
    append_ops(stream.code(), c.at, c.end, ops);
    c.at = c.end;
  };
  for (u32 b = 0; b < kBlocks; ++b) take(cursors.emplace_back(stream.open(b, 0)));
  for (bool more = true; more;) {
    more = false;
    for (u32 b = 0; b < kBlocks; ++b) {
      if (cursors[b].position == nullptr) continue;
      more = true;
      if (stream.refill(cursors[b])) {
        take(cursors[b]);
      } else {
        cursors[b].position = nullptr;
        stream.close(b);
      }
    }
  }
  u32 instructions = 0;
  for (const Op& op : ops) instructions += op.count;
  return instructions;
}

TEST(Waiting, TheRestIsExecutedAsItIsRead) {
  MachineOptions options;
  options.short_turns = true;
  Meeting meeting(options);
  const Launch launch = meeting.launch();
  ASSERT_TRUE(Machine::can_follow(launch));
  RunCount count;
  const auto rest = meeting.rig.machine.run_until_waiting(
      launch, std::make_shared<trace::MemoryTrace>(code_of(*launch.kernel), launch.shape), count);
  ASSERT_NE(rest, nullptr);
  // Only the first has come; it has asked in vain.
  EXPECT_EQ(meeting.rig.download<u32>(meeting.count, 1)[0], 1u);
  EXPECT_LT(read_all(*rest), kBlocks * 1000u + 20'000u);
  meeting.expect_met();
}

TEST(Waiting, NobodyWaitsWhereBlocksAreOnTheirOwn) {
  MachineOptions options;
  options.short_turns = true;
  // A loop that is long, and asks for the same word each time, is no waiting.
  Rig rig(R"(
.visible .entry sum(.param .u64 in, .param .u64 out)
{
  .reg .pred %p<2>;
  .reg .b32 %r<6>;
  .reg .b64 %q<5>;
  ld.param.u64 %q1, [in];
  ld.param.u64 %q2, [out];
  mov.u32 %r1, %ctaid.x;
  mul.wide.u32 %q3, %r1, 4;
  add.u64 %q4, %q2, %q3;
  mov.u32 %r2, 0;
  mov.u32 %r3, 0;
loop:
  ld.volatile.global.u32 %r4, [%q1];
  add.u32 %r2, %r2, %r4;
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %p1, %r3, 100000;
  @%p1 bra loop;
  st.global.u32 [%q4], %r2;
  ret;
}
)",
          options);
  const Address in = rig.upload(std::vector<u32>{3}), out = rig.zeros(16);
  const Launch launch = rig.launch("sum", {4, 1, 1}, {1, 1, 1}, in, out);
  RunCount count;
  const auto rest = rig.machine.run_until_waiting(
      launch, std::make_shared<trace::MemoryTrace>(code_of(*launch.kernel), launch.shape), count);
  EXPECT_EQ(rest, nullptr);
  EXPECT_EQ(rig.download<u32>(out, 4), std::vector<u32>(4, 300000));
  EXPECT_EQ(count.warp_instructions, 4u * (5 + 2 + 5 * 100000 + 2));
}

// Its registers are the same each time it comes round, but no other block can change its counter.
TEST(Waiting, NobodyWaitsForOthersInMemoryOfItsOwn) {
  MachineOptions options;
  options.short_turns = true;
  for (const std::string space : {"shared", "local"}) {
    SCOPED_TRACE(space);
    Rig rig(R"(
.visible .entry count(.param .u64 out)
{
  .reg .pred %p<2>;
  .reg .b32 %r<6>;
  .reg .b64 %q<4>;
  .)" + space +
                R"( .u32 counter[1];
  ld.param.u64 %q1, [out];
  mov.u32 %r1, %ctaid.x;
  mul.wide.u32 %q2, %r1, 4;
  add.u64 %q3, %q1, %q2;
  mov.u32 %r2, 0;
  st.)" + space +
                R"(.u32 [counter], %r2;
loop:
  ld.)" + space +
                R"(.u32 %r2, [counter];
  add.u32 %r2, %r2, 1;
  st.)" + space +
                R"(.u32 [counter], %r2;
  setp.lt.u32 %p1, %r2, 100000;
  mov.u32 %r2, 0;
  @%p1 bra loop;
  ld.)" + space +
                R"(.u32 %r2, [counter];
  st.global.u32 [%q3], %r2;
  ret;
}
)",
            options);
    const Address out = rig.zeros(8);
    const Launch launch = rig.launch("count", {2, 1, 1}, {1, 1, 1}, out);
    RunCount count;
    const auto rest = rig.machine.run_until_waiting(
        launch, std::make_shared<trace::MemoryTrace>(code_of(*launch.kernel), launch.shape), count);
    EXPECT_EQ(rest, nullptr);
    EXPECT_EQ(rig.download<u32>(out, 2), std::vector<u32>(2, 100000));
  }
}

std::string error_for_ever(std::uint64_t max_warp_instructions) {
  MachineOptions options;
  options.max_warp_instructions = max_warp_instructions;
  options.short_turns = true;
  Meeting meeting(options);
  const u32 never = kBlocks + 1;
  const Launch launch = meeting.rig.launch("meet", {kBlocks, 1, 1}, {1, 1, 1}, meeting.count,
                                           meeting.mine, meeting.seen, never);
  return run_error([&] { meeting.rig.machine.run(launch, nullptr); });
}

TEST(Waiting, ForEverIsToldSoon) {
  const std::string what = error_for_ever(50'000'000);
  EXPECT_NE(what.find("kernel meet does not end: every warp that runs goes round in circles"),
            std::string::npos)
      << what;
}

TEST(Waiting, ForEverMeetsTheLimit) {
  const std::string what = error_for_ever(100'000);
  EXPECT_NE(what.find("kernel meet has not ended after 100000 warp instructions"),
            std::string::npos)
      << what;
  EXPECT_NE(what.find("--max-cycles moves this limit"), std::string::npos) << what;
}

/// Of each block whose number in its cluster is at least `first` the warps wait for their block's
/// barrier object, at which one arrival of two is missing. With `late` other than 0 the last warp
/// of the first block makes it, for all of the cluster, after so many rounds of a loop;
/// then all write 1.
std::string objects(const std::string& test, const std::string& cluster = "") {
  const std::string distant = cluster.empty() ? "" : R"(
  mov.u32 %r11, 1;
  mapa.shared::cluster.u32 %r11, %r3, %r11;
  mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r11];)";
  return R"(
.visible .entry wait(.param .u64 out, .param .u32 first, .param .u32 late))" +
         cluster + R"(
{
  .reg .pred %p<5>;
  .reg .b32 %r<12>;
  .reg .b64 %q<5>;
  .shared .align 8 .b8 object[8];
  ld.param.u64 %q1, [out];
  ld.param.u32 %r1, [first];
  ld.param.u32 %r2, [late];
  mov.u32 %r3, object;
  mov.u32 %r4, %tid.x;
  mov.u32 %r5, 0;
  setp.ne.u32 %p1, %r4, 0;
  @%p1 bra made;
  mbarrier.init.shared.b64 [%r3], 2;
  mbarrier.arrive.shared.b64 %q2, [%r3];
made:
  barrier.cluster.arrive;
  barrier.cluster.wait;
  mov.u32 %r6, %cluster_ctarank;
  setp.lt.u32 %p2, %r6, %r1;
  @%p2 bra met;
  setp.ne.u32 %p2, %r6, 0;
  @%p2 mov.u32 %r2, 0;
  setp.eq.u32 %p3, %r2, 0;
  @%p3 bra ask;
  mov.u32 %r7, %ntid.x;
  sub.u32 %r7, %r7, 32;
  setp.lt.u32 %p3, %r4, %r7;
  @%p3 bra ask;
count:
  sub.u32 %r2, %r2, 1;
  setp.ne.u32 %p3, %r2, 0;
  @%p3 bra count;
  setp.ne.u32 %p1, %r4, %r7;
  @%p1 bra ask;
  mbarrier.arrive.shared.b64 %q2, [%r3];)" +
         distant + R"(
ask:
)" + test +
         R"(
  @!%p4 bra ask;
met:
  barrier.cluster.arrive;
  barrier.cluster.wait;
  mov.u32 %r8, %ctaid.x;
  mov.u32 %r9, %ntid.x;
  mad.lo.u32 %r8, %r8, %r9, %r4;
  mul.wide.u32 %q3, %r8, 4;
  add.u64 %q3, %q1, %q3;
  mov.u32 %r10, 1;
  st.global.u32 [%q3], %r10;
  ret;
}
)";
}
constexpr const char* kTest = "mbarrier.try_wait.parity.shared.b64 %p4, [%r3], 0;";
constexpr const char* kPair = " .explicitcluster .reqnctapercluster 2, 1, 1";

std::string error_of_objects(const std::string& text, u32 blocks, u32 threads, u32 first = 0) {
  MachineOptions options;
  options.max_warp_instructions = 1'000'000;
  options.short_turns = true;
  Rig rig(text, options);
  const u32 never = 0;
  const Address out = rig.zeros(4 * blocks * threads);
  const Launch launch = rig.launch("wait", {blocks, 1, 1}, {threads, 1, 1}, out, first, never);
  return run_error([&] { rig.machine.run(launch, nullptr); });
}

TEST(Waiting, ForEverForABarrierObjectIsToldSoon) {
  const std::string expected =
      "kernel wait does not end: every warp that runs goes round in circle";
  const auto is_reported = [&](const std::string& what) {
    EXPECT_NE(what.find(expected), std::string::npos) << what;
  };
  for (const u32 blocks : {1u, 2u, 5u})
    for (const u32 threads : {1u, 32u, 64u, 256u}) {
      SCOPED_TRACE(std::to_string(blocks) + " blocks of " + std::to_string(threads));
      is_reported(error_of_objects(objects(kTest), blocks, threads));
    }
  is_reported(
      error_of_objects(objects("mbarrier.test_wait.parity.shared.b64 %p4, [%r3], 0;"), 1, 64));
  // It asks in two places in turn.
  is_reported(error_of_objects(objects(std::string(kTest) + " @%p4 bra met; " + kTest), 1, 64));
  // One block of a cluster may be at the cluster's barrier meanwhile.
  for (const u32 first : {0u, 1u}) {
    is_reported(error_of_objects(objects(kTest, kPair), 2, 64, first));
    is_reported(error_of_objects(objects(kTest, kPair), 6, 32, first));
  }
}

TEST(Waiting, ALoopThatCountsItsQuestionsMeetsTheLimit) {
  const std::string text = objects("add.u32 %r5, %r5, 1; " + std::string(kTest));
  const std::string what = error_of_objects(text, 1, 64);
  EXPECT_NE(what.find("kernel wait has not ended after 1000000 warp inst"), std::string::npos)
      << what;
}

TEST(Waiting, AnArrivalAtABarrierObjectMayBeLate) {
  for (const bool short_turns : {true, false})
    for (const char* cluster : {"", kPair}) {
      MachineOptions options;
      options.short_turns = short_turns;
      Rig rig(objects(kTest, cluster), options);
      const u32 first = 0, late = 300'000;  // thousands of short turns
      const Address out = rig.zeros(4 * 4 * 96);
      const Launch launch = rig.launch("wait", {4, 1, 1}, {96, 1, 1}, out, first, late);
      EXPECT_FALSE(rig.machine.run(launch, nullptr).waits);
      EXPECT_EQ(rig.download<u32>(out, 4 * 96), std::vector<u32>(4 * 96, 1));
    }
}

/// Warps of a block that write one word in turn, and note what they then find there.
TEST(Waiting, WarpsRaceInShortTurns) {
  MachineOptions options;
  options.short_turns = true;
  const std::string race = R"(
.visible .entry race(.param .u64 word, .param .u64 others)
{
  .reg .pred %p<3>;
  .reg .b32 %r<7>;
  .reg .b64 %q<5>;
  ld.param.u64 %q1, [word];
  ld.param.u64 %q2, [others];
  mov.u32 %r1, %tid.x;
  shr.u32 %r1, %r1, 5;
  mov.u32 %r2, 0;
  mov.u32 %r5, 0;
loop:
  st.volatile.global.u32 [%q1], %r1;
  add.u32 %r2, %r2, 1;
  xor.b32 %r3, %r2, 7;
  add.u32 %r3, %r3, 1;
  ld.volatile.global.u32 %r4, [%q1];
  setp.ne.u32 %p1, %r4, %r1;
  @%p1 add.u32 %r5, %r5, 1;
  setp.lt.u32 %p2, %r2, 4096;
  @%p2 bra loop;
  red.global.add.u32 [%q2], %r5;
  ret;
}
)";
  Rig rig(race, options);
  const Address word = rig.zeros(4), others = rig.zeros(4);
  rig.run("race", {1, 1, 1}, {256, 1, 1}, word, others);
  EXPECT_GT(rig.download<u32>(others, 1)[0], 0u);
}

}  // namespace
}  // namespace raddle::exec::test::waiting_test
