// cp.async.bulk, cp.reduce.async.bulk, st.async, red.async, st.bulk: bytes, barrier objects, the
// op stream, faults.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "instruction_case.h"

namespace raddle::exec::test::bulk_test {
namespace {

/// A kernel of one block whose thread 0 initialises `bar` (one arrival) before `body`, and whose
/// threads wait for its phase 0 after it where the body branches to WAIT.
std::string kernel(const std::string& body, unsigned shared, const std::string& directives = "") {
  return fmt::format(R"(
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 bytes) {}
{{
  .reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<40>; .reg .b64 %q<20>; .reg .f32 %f<9>;
  .shared .align 128 .b8 s[{}]; .shared .align 8 .b64 bar;
  ld.param.u64 %q1, [in]; ld.param.u64 %q2, [out]; ld.param.u32 %r3, [bytes];
  mov.u32 %r1, s; mov.u32 %r2, bar; mov.u32 %r4, %tid.x; mov.u32 %r5, %ntid.x;
  setp.ne.u32 %p1, %r4, 0; @%p1 bra INITIAL;
  mbarrier.init.shared::cta.b64 [%r2], 1; fence.mbarrier_init.release.cluster;
INITIAL:
  bar.sync 0;
  {}
  bra END;
WAIT:
  mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p2, [%r2], 0, 1000;
  @!%p2 bra WAIT;
  // every thread copies words tid, tid + ntid, ... of the shared memory to `out`
  shl.b32 %r6, %r4, 2;
COPY:
  setp.ge.u32 %p3, %r6, %r3; @%p3 bra END;
  add.u32 %r7, %r1, %r6; ld.shared.u32 %r8, [%r7]; cvt.u64.u32 %q3, %r6; add.u64 %q3, %q2, %q3;
  st.global.u32 [%q3], %r8; shl.b32 %r9, %r5, 2; add.u32 %r6, %r6, %r9; bra COPY;
END:
  ret;
}}
)",
                     directives, shared, body);
}
std::vector<u32> counting(std::size_t words) {
  std::vector<u32> v(words);
  std::iota(v.begin(), v.end(), 1000u);
  return v;
}
const std::string kLoad =
    "@%p1 bra WAIT; mbarrier.arrive.expect_tx.shared::cta.b64 %q5, [%r2], %r3; "
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%q1], %r3, [%r2]; "
    "bra WAIT;";

TEST(BulkCopy, LoadsCompleteTheirBarrierObject) {
  for (const u32 bytes : {16u, 128u, 1040u, 8192u, 40000u}) {
    SCOPED_TRACE(bytes);
    Rig rig(kernel(kLoad, 40000));
    const auto in = counting(bytes / 4);
    const Address out = rig.zeros(bytes);
    rig.run("k", {1, 1, 1}, {96, 1, 1}, rig.upload(in), out, bytes);
    EXPECT_EQ(rig.download<u32>(out, in.size()), in);
  }
}

TEST(BulkCopy, OfALoadTheStreamHasEveryLineAndNothingElse) {
  Rig rig(kernel(kLoad, 40000));
  const u32 bytes = 40000;
  const Address in = rig.upload(counting(bytes / 4)), out = rig.zeros(bytes);
  const auto trace = rig.record("k", {1, 1, 1}, {32, 1, 1}, in, out, bytes);
  std::vector<u32> lines;
  u64 words = 0;
  unsigned records = 0;
  for (const Op& op : ops_of(*trace, 0, 0)) {
    const auto& inst = trace->code().instructions.at(op.inst);
    if (inst.kind != trace::OpKind::LoadGlobal) continue;
    ++records;
    EXPECT_TRUE(inst.bypass_l1);
    EXPECT_TRUE(inst.writes.empty());
    for (const trace::Transaction& t : op.transactions) {
      lines.push_back(t.line);
      words += static_cast<unsigned>(std::popcount(t.words));
      EXPECT_EQ(t.lanes, 1u);
    }
  }
  const std::size_t expected = (in % 128 + bytes + 127) / 128;
  EXPECT_EQ(lines.size(), expected);
  EXPECT_TRUE(std::is_sorted(lines.begin(), lines.end()));
  EXPECT_EQ(words, bytes / 4);
  EXPECT_EQ(records, (expected + 62) / 63);
}

/// Action, object, arrivals and value of each change, in order.
std::vector<std::array<u32, 4>> changes_in(trace::KernelStream& stream, unsigned warp) {
  std::vector<std::array<u32, 4>> out;
  for (const Op& op : ops_of(stream, 0, warp)) {
    const auto& inst = stream.code().instructions.at(op.inst);
    if (inst.kind != trace::OpKind::BarrierObject) continue;
    EXPECT_EQ(inst.op_class, trace::OpClass::Barrier);
    for (const trace::Transaction& words : op.transactions) {
      const auto change = trace::ObjectChange::of(&words.line);
      out.push_back({inst.bytes, change.object, change.arrivals, change.value});
    }
  }
  return out;
}
u32 number_of(trace::ObjectAction action) { return static_cast<u32>(action); }

TEST(BulkCopy, TheStreamSaysWhatHappensToItsBarrierObject) {
  using Action = trace::ObjectAction;
  using Change = std::array<u32, 4>;
  Rig rig(kernel(kLoad, 40000));
  const u32 bytes = 1024, object = 40000 / 8;
  const Address in = rig.upload(counting(bytes / 4)), out = rig.zeros(bytes);
  const auto trace = rig.record("k", {1, 1, 1}, {64, 1, 1}, in, out, bytes);
  EXPECT_THAT(changes_in(*trace, 0),
              testing::ElementsAre(Change{number_of(Action::Init), object, 1, 0},
                                   Change{number_of(Action::Arrive), object, 1, bytes},
                                   Change{number_of(Action::Copied), object, 0, bytes},
                                   Change{number_of(Action::Wait), object, 0, 1}));
  EXPECT_THAT(changes_in(*trace, 1),
              testing::ElementsAre(Change{number_of(Action::Wait), object, 0, 1}));
}

TEST(BulkCopy, LiveStreamsHaveTheSameLines) {
  const auto lines_of = [](trace::KernelStream& stream) {
    std::vector<u32> lines;
    for (const Op& op : ops_of(stream, 0, 0))
      for (const trace::Transaction& t : op.transactions) lines.push_back(t.line);
    return lines;
  };
  Rig rig(kernel(kLoad, 40000));
  const u32 bytes = 40000;
  const Address in = rig.upload(counting(bytes / 4)), out = rig.zeros(bytes);
  const auto kept = rig.record("k", {1, 1, 1}, {32, 1, 1}, in, out, bytes);
  const auto live = rig.machine.live(rig.launch("k", {1, 1, 1}, {32, 1, 1}, in, out, bytes));
  EXPECT_EQ(lines_of(*live), lines_of(*kept));
}

TEST(BulkCopy, StoresAndGroups) {
  Rig rig(kernel(R"(
    shl.b32 %r6, %r4, 2;
FILL:
    setp.ge.u32 %p3, %r6, %r3; @%p3 bra FILLED;
    add.u32 %r7, %r1, %r6; add.u32 %r8, %r6, 7; st.shared.u32 [%r7], %r8;
    shl.b32 %r9, %r5, 2; add.u32 %r6, %r6, %r9; bra FILL;
FILLED:
    fence.proxy.async.shared::cta; bar.sync 0; @%p1 bra END;
    cp.async.bulk.global.shared::cta.bulk_group [%q2], [%r1], %r3;
    cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0; cp.async.bulk.wait_group 0;
    cp.async.bulk.prefetch.L2.global [%q1], %r3;)",
                 8192));
  const Address out = rig.zeros(8192);
  const auto trace = rig.record("k", {1, 1, 1}, {64, 1, 1}, rig.zeros(16), out, u32{8192});
  const auto got = rig.download<u32>(out, 2048);
  for (u32 i = 0; i < 2048; ++i) ASSERT_EQ(got[i], 4 * i + 7);
  unsigned lines = 0;
  std::vector<unsigned> fences;
  for (const Op& op : ops_of(*trace, 0, 0)) {
    const trace::StaticInst& inst = trace->code().instructions.at(op.inst);
    if (inst.kind == trace::OpKind::StoreGlobal) {
      lines += static_cast<unsigned>(op.transactions.size());
      EXPECT_EQ(inst.copy, trace::CopyKind::Bulk);
    }
    if (inst.kind == trace::OpKind::Fence) fences.push_back(inst.bytes);
  }
  EXPECT_EQ(lines, (out % 128 + 8192 + 127) / 128);
  ASSERT_EQ(fences.size(), 5u) << "behind those of the initialisation and of the proxy";
  fences.erase(fences.begin(), fences.begin() + 2);
  EXPECT_THAT(fences, testing::ElementsAre(trace::kEndsBulkGroup, trace::kWaitsForBulkReads,
                                           trace::kWaitsForBulkGroups));
}

struct Reduction {
  const char* words;
  unsigned size;
  std::function<u64(u64 old, u64 operand)> expected;
};
u64 added(float a, float b) { return std::bit_cast<u32>(a + b); }
TEST(BulkReduction, EveryOperationOnEveryElement) {
  const std::vector<Reduction> kCases = {
      {"add.u32", 4, [](u64 a, u64 b) { return u64{static_cast<u32>(a + b)}; }},
      {"add.s32", 4, [](u64 a, u64 b) { return u64{static_cast<u32>(a + b)}; }},
      {"add.u64", 8, [](u64 a, u64 b) { return a + b; }},
      {"min.u32", 4, [](u64 a, u64 b) { return std::min(a, b); }},
      {"max.s32", 4,
       [](u64 a, u64 b) {
         return u64{static_cast<u32>(std::max(static_cast<s32>(a), static_cast<s32>(b)))};
       }},
      {"min.s64", 8,
       [](u64 a, u64 b) {
         return static_cast<u64>(std::min(static_cast<s64>(a), static_cast<s64>(b)));
       }},
      {"max.u64", 8, [](u64 a, u64 b) { return std::max(a, b); }},
      {"and.b32", 4, [](u64 a, u64 b) { return a & b; }},
      {"or.b64", 8, [](u64 a, u64 b) { return a | b; }},
      {"xor.b32", 4, [](u64 a, u64 b) { return a ^ b; }},
      {"inc.u32", 4, [](u64 a, u64 b) { return a >= b ? 0 : a + 1; }},
      {"dec.u32", 4, [](u64 a, u64 b) { return a == 0 || a > b ? b : a - 1; }},
      {"add.f32", 4, [](u64 a, u64 b) { return added(f32(a), f32(b)); }},
      {"add.f64", 8, [](u64 a, u64 b) { return raw(f64(a) + f64(b)); }},
  };
  for (const Reduction& test : kCases) {
    SCOPED_TRACE(test.words);
    Rig rig(kernel(
        fmt::format("@%p1 bra WAITED; mbarrier.arrive.expect_tx.shared::cta.b64 %q5, [%r2], "
                    "%r3; cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1], "
                    "[%q1], %r3, [%r2];\nWAITED: mbarrier.try_wait.parity.shared::cta.b64 %p2, "
                    "[%r2], 0; @!%p2 bra WAITED; @%p1 bra END; "
                    "cp.reduce.async.bulk.global.shared::cta.bulk_group.{} [%q2], [%r1], %r3; "
                    "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;",
                    test.words),
        4096));
    const bool real = std::string_view(test.words).ends_with("f32") ||
                      std::string_view(test.words).ends_with("f64");
    constexpr unsigned kBytes = 1040;
    std::vector<u8> operand(kBytes), old(kBytes);
    for (unsigned i = 0; i < kBytes / test.size; ++i) {
      u64 before = 0x9e3779b97f4a7c15ull * (i + 1);
      u64 operand_bits = 0xbf58476d1ce4e5b9ull * (i + 3);
      if (real) {
        const bool single = test.size == 4;
        before = single ? raw(0.5F * static_cast<float>(i)) : raw(0.5 * i);
        operand_bits = single ? raw(3.25F) : raw(-3.25);
      }
      std::memcpy(&old[i * test.size], &before, test.size);
      std::memcpy(&operand[i * test.size], &operand_bits, test.size);
    }
    const Address out = rig.upload(old);
    rig.run("k", {1, 1, 1}, {32, 1, 1}, rig.upload(operand), out, u32{kBytes});
    const auto got = rig.download<u8>(out, kBytes);
    for (unsigned i = 0; i < kBytes / test.size; ++i) {
      u64 before = 0, operand_bits = 0, after = 0;
      std::memcpy(&before, &old[i * test.size], test.size);
      std::memcpy(&operand_bits, &operand[i * test.size], test.size);
      std::memcpy(&after, &got[i * test.size], test.size);
      ASSERT_EQ(after, test.expected(before, operand_bits)) << i;
    }
  }
}

const std::string kPair = ".explicitcluster .reqnctapercluster 4, 1, 1";
/// Blocks wait for each other before (objects are there) and after (shared memory stays).
const std::string kMeet =
    "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned; ";
std::string to_own_part() {  // out += rank * bytes
  return "mov.u32 %r20, %cluster_ctarank; mul.wide.u32 %q7, %r20, %r3; add.u64 %q2, %q2, %q7; ";
}
TEST(BulkCopy, MulticastReachesTheBlocksOfItsMask) {
  // Block 0 loads for blocks 0, 2 and 3; block 1 loads for itself alone, by an address of its own.
  Rig rig(kernel(to_own_part() + kMeet + R"(
    @%p1 bra WAIT; mbarrier.arrive.expect_tx.shared::cta.b64 %q5, [%r2], %r3;
    setp.eq.u32 %p5, %r20, 1; @%p5 bra ALONE; setp.ne.u32 %p5, %r20, 0; @%p5 bra WAIT;
    mov.b16 %h1, 13;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster
      [%r1], [%q1], %r3, [%r2], %h1;
    bra WAIT;
ALONE:
    mapa.shared::cluster.u32 %r21, %r1, %r20; mapa.shared::cluster.u32 %r22, %r2, %r20;
    cvt.u64.u32 %q8, %r3; add.u64 %q1, %q1, %q8;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r21], [%q1], %r3, [%r22];
    bra WAIT;)",
                 2048, kPair));
  const auto in = counting(1024);
  const Address out = rig.zeros(8192);
  rig.run("k", {4, 1, 1}, {64, 1, 1}, rig.upload(in), out, u32{2048});
  const auto got = rig.download<u32>(out, 2048);
  for (u32 i = 0; i < 2048; ++i) ASSERT_EQ(got[i], in[i / 512 == 1 ? 512 + i % 512 : i % 512]) << i;
}

TEST(BulkCopy, SharedMemoryGoesToTheNextBlock) {
  // The next block's barrier object learns of a copy, of an asynchronous store and of a reduction.
  Rig rig(kernel(to_own_part() + R"(
    add.u32 %r21, %r20, 1; and.b32 %r21, %r21, 3;
    shl.b32 %r6, %r4, 2; add.u32 %r7, %r1, %r6; mad.lo.u32 %r8, %r20, 1000, %r4;
    st.shared.u32 [%r7+1024], %r8; st.shared.u32 [%r7], 5; fence.proxy.async; )" +
                     kMeet + R"(
    mapa.shared::cluster.u32 %r22, %r1, %r21; mapa.shared::cluster.u32 %r23, %r2, %r21;
    @%p1 bra WAIT; mbarrier.arrive.expect_tx.shared::cta.b64 %q5, [%r2], 272;
    cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes
      [%r22], [%r1+1024], 256, [%r23];
    st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32
      [%r22+256], {%r20, 77}, [%r23];
    st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r22+264], 78, [%r23];
    red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32
      [%r22+268], %r20, [%r23];
    bra WAIT;)",
                 2048, kPair));
  const Address out = rig.zeros(4 * 272);
  rig.run("k", {4, 1, 1}, {128, 1, 1}, rig.zeros(16), out, u32{272});
  const auto got = rig.download<u32>(out, 4 * 68);
  for (u32 rank = 0; rank < 4; ++rank) {
    const u32 from = (rank + 3) % 4;
    for (u32 i = 0; i < 64; ++i) ASSERT_EQ(got[rank * 68 + i], 1000 * from + i);
    EXPECT_EQ(got[rank * 68 + 64], from);
    EXPECT_EQ(got[rank * 68 + 65], 77u);
    EXPECT_EQ(got[rank * 68 + 66], 78u);
    EXPECT_EQ(got[rank * 68 + 67], 5 + from);
  }
}

TEST(BarrierObject, BlocksOfAClusterArriveAtOneAnothers) {
  // Block 0's object expects an arrival of each block; the others wait for nothing.
  Rig rig(kernel(to_own_part() + "@%p1 bra A; mbarrier.init.shared::cta.b64 [%r2], 4;\nA:" + kMeet +
                     R"(
    mov.u32 %r22, 0; mapa.shared::cluster.u32 %r23, %r2, %r22; @%p1 bra B;
    mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r23], 1;
B:  setp.ne.u32 %p5, %r20, 0; @%p5 bra END; st.shared.u32 [%r1], 9; bra WAIT;)",
                 64, kPair));
  const Address out = rig.zeros(64);
  rig.run("k", {4, 1, 1}, {32, 1, 1}, rig.zeros(16), out, u32{4});
  EXPECT_EQ(rig.download<u32>(out, 2), (std::vector<u32>{9, 0}));
}

TEST(BarrierObject, TheStreamOfABlockInAClusterHasWhatItsOwnWarpsBring) {
  using Action = trace::ObjectAction;
  using Change = std::array<u32, 4>;
  constexpr u32 kObject = 2048 / 8, kBrought = trace::ObjectChange::kBrought;
  // Each block copies to itself and the next, and arrives at both's objects.
  Rig rig(kernel(R"(
    @%p1 bra INIT2; mbarrier.init.shared::cta.b64 [%r2], 2;
INIT2: )" + kMeet + R"(
    mov.u32 %r20, %cluster_ctarank; add.u32 %r21, %r20, 1; and.b32 %r21, %r21, 3;
    mapa.shared::cluster.u32 %r23, %r2, %r21; @%p1 bra WAIT;
    mov.u32 %r24, 1; shl.b32 %r25, %r24, %r20; shl.b32 %r26, %r24, %r21; or.b32 %r25, %r25, %r26;
    cvt.u16.u32 %h1, %r25; shl.b32 %r27, %r20, 10; and.b32 %r27, %r27, 1024;
    add.u32 %r28, %r1, %r27; mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r2], 2048;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster
      [%r28], [%q1], 1024, [%r2], %h1;
    mbarrier.arrive.shared::cta.b64 %q5, [%r2];
    mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r23], 1;
    bra WAIT;)",
                 2048, kPair));
  const Address in = rig.upload(counting(256)), out = rig.zeros(2048);
  const auto trace = rig.record("k", {4, 1, 1}, {64, 1, 1}, in, out, u32{2048});
  EXPECT_THAT(changes_in(*trace, 0),
              testing::ElementsAre(Change{number_of(Action::Init), kObject, 1, 0},
                                   Change{number_of(Action::Init), kObject, 2, 0},
                                   Change{number_of(Action::Arrive), kObject, 0, 2048},
                                   Change{number_of(Action::Copied), kObject, 0, 1024},
                                   Change{number_of(Action::Arrive), kObject, 1, 0},
                                   Change{number_of(Action::Wait), kObject, kBrought, 1 + 1024}));
  EXPECT_THAT(changes_in(*trace, 1),
              testing::ElementsAre(Change{number_of(Action::Wait), kObject, kBrought, 1 + 1024}));
  const auto got = rig.download<u32>(out, 512);
  for (u32 i = 0; i < 512; ++i) ASSERT_EQ(got[i], 1000 + i % 256) << i;
}

TEST(BulkClear, ZeroesSharedMemory) {
  Rig rig(
      kernel("st.shared.u32 [%r1], 3; st.shared.u32 [%r1+8], 4; st.shared.u32 [%r1+16], 5; "
             "st.bulk.weak.shared::cta [%r1], 16, 0; mbarrier.arrive.shared::cta.b64 _, [%r2]; "
             "bra WAIT;",
             64));
  const Address out = rig.zeros(64);
  rig.run("k", {1, 1, 1}, {1, 1, 1}, rig.zeros(16), out, u32{20});
  EXPECT_EQ(rig.download<u32>(out, 5), (std::vector<u32>{0, 0, 0, 0, 5}));
}

TEST(BulkCopy, FaultsAreNamed) {
  const auto fault = [](const std::string& body, u32 bytes) {
    Rig rig(kernel(body, 1024));
    const Address in = rig.zeros(4096);
    return run_error([&] { rig.run("k", {1, 1, 1}, {32, 1, 1}, in, in, bytes); });
  };
  EXPECT_THAT(fault(kLoad, 24), testing::HasSubstr("size 0x18 is no multiple of 16"));
  EXPECT_THAT(fault(kLoad, 2048), testing::HasSubstr("leaves the block's"));
  EXPECT_THAT(fault("add.u64 %q1, %q1, 8; " + kLoad, 64),
              testing::HasSubstr("is no multiple of 16"));
  EXPECT_THAT(fault("add.u64 %q1, %q1, 4096; add.u64 %q1, %q1, 1048576; " + kLoad, 64),
              testing::HasSubstr("leaves all allocations"));
  EXPECT_THAT(fault("mov.u32 %r2, 4; " + kLoad.substr(kLoad.find("cp.")), 64),
              testing::HasSubstr("no barrier object can be at shared address 0x4"));
  EXPECT_THAT(fault("mov.u32 %r2, 0x1800000; " + kLoad.substr(kLoad.find("cp.")), 64),
              testing::HasSubstr("no barrier object can be at shared address 0x1800000"));
}

TEST(BulkCopy, RefusalsNameTheInstruction) {
  for (const char* text :
       {"cp.async.bulk.global.shared::cta.mbarrier::complete_tx::bytes [%q1], [%r1], 16, [%r2];",
        "cp.async.bulk.shared::cluster.global.bulk_group [%r1], [%q1], 16;",
        "cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%q1], [%r1], 16, %h1;",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.min.f32 [%q1], [%r1], 16;",
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.b16 [%r1], %h1, [%r2];",
        "st.bulk.weak.shared::cta [%r1], 16, 1;"}) {
    SCOPED_TRACE(text);
    const auto refused = unsupported(ptx::parse(kHeader + kernel(text, 64), "t.ptx"));
    ASSERT_EQ(refused.size(), 1u);
    EXPECT_THAT(text, testing::StartsWith(
                          refused[0].instruction.substr(0, refused[0].instruction.find(' '))));
  }
}

}  // namespace
}  // namespace raddle::exec::test::bulk_test
