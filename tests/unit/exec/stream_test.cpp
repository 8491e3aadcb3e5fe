// The op stream: exact records of small kernels, and the same stream whether run at once or read
// live.
#include <fmt/format.h>

#include <algorithm>

#include "rig.h"

namespace raddle::exec::test::stream_test {
namespace {

using u32 = std::uint32_t;
using K = trace::OpKind;
constexpr u32 kLine0 = static_cast<u32>(DeviceMemory::kBase >> 7);

std::string kernel(const std::string& body) {
  return R"(
.visible .entry k(.param .u64 a)
{
  .reg .pred %p<9>; .reg .b32 %r<40>; .reg .b64 %q<20>; .reg .f32 %f<20>;
  ld.param.u64 %q1, [a]; mov.u32 %r1, %tid.x; mul.wide.u32 %q2, %r1, 4; add.u64 %q2, %q1, %q2;
)" + body +
         "\n  ret;\n}\n";
}
/// Records of warp 0 after the four instructions above; the same from every build.
std::vector<Op> tail(const std::string& body, u32 threads = 32) {
  std::vector<Op> first;
  for (const std::string& lanes : lane_builds()) {
    use_lanes(lanes);
    Rig rig(kernel(body));
    const Address a = rig.zeros(1 << 16);
    auto kept = rig.record("k", {1, 1, 1}, {threads, 1, 1}, a);
    auto ops = ops_of(*kept, 0, 0);
    if (first.empty()) first = ops;
    EXPECT_TRUE(ops == first) << lanes;
  }
  unsetenv("RADDLE_LANES");
  EXPECT_GE(first.size(), 2u);
  EXPECT_EQ(first[0], (Op{0, 1, 1, ~0u, {}}));  // the parameter: one constant address
  first.erase(first.begin());
  return first;
}
#define EXPECT_OPS(ops, ...)                        \
  do {                                              \
    const std::vector<Op> want{__VA_ARGS__};        \
    ASSERT_EQ((ops).size(), want.size());           \
    for (std::size_t i = 0; i < want.size(); ++i) { \
      EXPECT_EQ((ops)[i].inst, want[i].inst);       \
      EXPECT_EQ((ops)[i].count, want[i].count);     \
      EXPECT_EQ((ops)[i].mask, want[i].mask);       \
      EXPECT_TRUE((ops)[i] == want[i]) << i;        \
    }                                               \
  } while (false)

TEST(Stream, InstructionsKnowTheLinesTheyWereWrittenAt) {
  Rig rig(".file 1 \"a.cu\"\n.file 3 \"b.h\"\n" + kernel(R"(
  .loc 3 7 1
  add.u32 %r2, %r1, 1;
  .loc 1 40 9
  add.u32 %r3, %r2, 1;
  .loc 2 5 1
  add.u32 %r4, %r3, 1;)"));
  const auto trace = rig.record("k", {1, 1, 1}, {32, 1, 1}, rig.zeros(32));
  const trace::KernelCode& code = trace->code();
  EXPECT_EQ(code.source_files, (std::vector<std::string>{"b.h", "a.cu"}));
  EXPECT_EQ(code.instructions[3].source, trace::SourcePlace{}) << "before the first .loc";
  EXPECT_EQ(code.instructions[4].source, (trace::SourcePlace{0, 7}));
  EXPECT_EQ(code.instructions[5].source, (trace::SourcePlace{1, 40}));
  EXPECT_EQ(code.instructions[6].source, trace::SourcePlace{}) << "there is no .file 2";
}

TEST(Stream, FilesWhoseNamesAreNoUtf8AreNamedAllTheSame) {
  Rig rig(".file 1 \"gr\xf6sse.cu\"\n" + kernel("  .loc 1 3 1\n  add.u32 %r2, %r1, 1;"));
  const auto trace = rig.record("k", {1, 1, 1}, {32, 1, 1}, rig.zeros(32));
  EXPECT_EQ(trace->code().source_files.at(0), "gr\\xf6sse.cu");
}

TEST(Stream, ASleepCarriesTheLogarithmOfItsLongestTime) {
  EXPECT_OPS(tail(R"(
  nanosleep.u32 100; nanosleep.u32 1024; nanosleep.u32 1025; nanosleep.u32 0;
  nanosleep.u32 4000000000;
  shl.b32 %r2, %r1, 2; nanosleep.u32 %r2;
  setp.lt.u32 %p1, %r1, 4; @%p1 nanosleep.u32 %r2;)"),
             {1, 3, 0, ~0u, {}}, {4, 1, 7, ~0u, {}}, {5, 1, 10, ~0u, {}}, {6, 1, 11, ~0u, {}},
             {7, 1, 0, ~0u, {}}, {8, 1, 20, ~0u, {}}, {9, 1, 0, ~0u, {}}, {10, 1, 7, ~0u, {}},
             {11, 1, 0, ~0u, {}}, {12, 1, 4, 0xfu, {}}, {13, 1, 0, ~0u, {}});
}

TEST(Stream, RunsAreCutByMemoryAndPredicates) {
  EXPECT_OPS(tail(R"(
  ld.global.f32 %f1, [%q2];
  add.f32 %f2, %f1, %f1; mul.f32 %f3, %f2, %f1;
  setp.lt.u32 %p1, %r1, 4; @%p1 add.f32 %f3, %f3, %f1; @!%p1 mov.f32 %f4, %f1;
  add.f32 %f3, %f3, %f2;
  st.global.f32 [%q2], %f3;)"),
             {1, 3, 0, ~0u, {}}, {4, 1, 1, ~0u, {{kLine0, ~0u, ~0u}}}, {5, 3, 0, ~0u, {}},
             {8, 1, 0, 0xfu, {}}, {9, 1, 0, ~0xfu, {}}, {10, 1, 0, ~0u, {}},
             {11, 1, 1, ~0u, {{kLine0, ~0u, ~0u}}}, {12, 1, 0, ~0u, {}});
}
TEST(Stream, PredicatedOffInstructionsAreIssuedWithoutLanes) {
  EXPECT_OPS(tail("setp.gt.u32 %p1, %r1, 99; @%p1 ld.global.f32 %f1, [%q2]; @%p1 bra L; add.f32 "
                  "%f2, %f1, %f1; L:"),
             {1, 4, 0, ~0u, {}}, {5, 1, 0, 0, {}}, {6, 1, 0, 0, {}}, {7, 1, 0, ~0u, {}},
             {8, 1, 0, ~0u, {}});
}
TEST(Stream, DivergenceReconverges) {
  EXPECT_OPS(tail("setp.lt.u32 %p1, %r1, 8; @%p1 bra L; add.u32 %r2, %r1, 1; bra M; L: add.u32 "
                  "%r2, %r1, 2; M: add.u32 %r3, %r2, 1;"),
             {1, 4, 0, ~0u, {}}, {5, 1, 0, 0xffu, {}}, {6, 2, 0, ~0xffu, {}}, {8, 1, 0, 0xffu, {}},
             {9, 1, 0, ~0u, {}}, {10, 1, 0, ~0u, {}});
}
TEST(Stream, LongRunsAreSplit) {
  std::string body;
  for (int i = 0; i < 150; ++i) body += "add.u32 %r2, %r1, 1;\n";
  u32 next = 1;
  for (const Op& op : tail(body)) {
    EXPECT_EQ(op.inst, next);
    EXPECT_LE(op.count, trace::kMaxRun);
    next += op.count;
  }
  EXPECT_EQ(next, 155u);
}
TEST(Stream, PiecesAreLinesInOrderOfTheirLowestLane) {
  // Lane i reads line (i * 3) % 4: lines 0, 3, 2, 1 in order of appearance.
  const auto ops = tail(
      "mul.lo.u32 %r2, %r1, 3; and.b32 %r2, %r2, 3; mul.wide.u32 %q3, %r2, 128; add.u64 %q3, %q1, "
      "%q3; ld.global.u32 %r3, [%q3+8];");
  EXPECT_EQ(ops[1], (Op{8,
                        1,
                        4,
                        ~0u,
                        {{kLine0, 4, 0x11111111},
                         {kLine0 + 3, 4, 0x22222222},
                         {kLine0 + 2, 4, 0x44444444},
                         {kLine0 + 1, 4, 0x88888888}}}));
  // 32 lines of one word each.
  const auto all =
      tail("mul.wide.u32 %q3, %r1, 132; add.u64 %q3, %q1, %q3; ld.global.u32 %r3, [%q3];");
  ASSERT_EQ(all[1].transactions.size(), 32u);
  for (u32 i = 0; i < 32; ++i) {
    EXPECT_EQ(all[1].transactions[i].line, kLine0 + (132 * i >> 7));
    EXPECT_EQ(all[1].transactions[i].words, 1u << (132 * i / 4 % 32));
    EXPECT_EQ(all[1].transactions[i].lanes, 1u << i);
  }
  // Misaligned by 16 bytes: two lines; 8-byte elements: three.
  EXPECT_EQ(tail("ld.global.u32 %r3, [%q2+16];")[1],
            (Op{4, 1, 2, ~0u, {{kLine0, 0xfffffff0, 0x0fffffff}, {kLine0 + 1, 0xf, 0xf0000000}}}));
  EXPECT_EQ(
      tail("mul.wide.u32 %q3, %r1, 8; add.u64 %q3, %q1, %q3; st.global.u64 [%q3+16], %q3;")[1],
      (Op{6,
          1,
          3,
          ~0u,
          {{kLine0, 0xfffffff0, 0x3fff},
           {kLine0 + 1, ~0u, 0x3fffc000},
           {kLine0 + 2, 0xf, 0xc0000000}}}));
  EXPECT_EQ(tail("ld.global.v2.u32 {%r3, %r4}, [%q1+24];")[1],
            (Op{4, 1, 1, ~0u, {{kLine0, 0xc0, ~0u}}}));
}
TEST(Stream, PiecesOfAnyPatternMatchAReference) {
  // Byte offsets (t * factor ^ turn) & mask: runs, pairs, repetitions and scatter, whole and
  // partial warps, each against a list made lane by lane.
  for (const u32 factor : {1u, 2u, 4u, 36u, 64u, 100u, 132u, 7777u})
    for (const u32 mask : {0x7fu, 0x3ffu, 0x3fffu})
      for (const u32 size : {1u, 2u, 4u, 8u})
        for (const bool partial : {false, true}) {
          SCOPED_TRACE(fmt::format("{} {} {} {}", factor, mask, size, partial));
          const auto ops = tail(fmt::format(
              "mul.lo.u32 %r2, %r1, {}; xor.b32 %r2, %r2, 90; and.b32 %r2, %r2, {}; cvt.u64.u32 "
              "%q3, %r2; add.u64 %q3, %q1, %q3; rem.u32 %r9, %r1, 3; setp.ne.u32 %p1, %r9, 1; {} "
              "ld.global.u{} {}, [%q3];",
              factor, mask & ~(size - 1), partial ? "@%p1" : "", 8 * size,
              size == 8 ? "%q4" : "%r3"));
          const Op* load = nullptr;
          for (const Op& op : ops) load = load == nullptr && !op.transactions.empty() ? &op : load;
          ASSERT_NE(load, nullptr);
          std::vector<trace::Transaction> want;
          for (u32 lane = 0; lane < 32; ++lane) {
            if (partial && lane % 3 == 1) continue;
            const u32 at = (lane * factor ^ 90) & mask & ~(size - 1), line = kLine0 + at / 128;
            auto transaction = std::ranges::find(want, line, &trace::Transaction::line);
            if (transaction == want.end()) transaction = want.insert(want.end(), {line, 0, 0});
            transaction->words |= (size == 8 ? 3u : 1u) << (at / 4 % 32);
            transaction->lanes |= 1u << lane;
          }
          ASSERT_EQ(load->transactions.size(), want.size());
          for (std::size_t i = 0; i < want.size(); ++i) {
            EXPECT_EQ(load->transactions[i].line, want[i].line);
            EXPECT_EQ(load->transactions[i].words, want[i].words);
            EXPECT_EQ(load->transactions[i].lanes, want[i].lanes);
          }
        }
}
TEST(Stream, SharedPiecesAreBankPasses) {
  const auto passes = [](const std::string& address, const std::string& access) {
    const auto ops = tail(".shared .align 16 .b8 s[8192]; " + address + access);
    return ops[1].transactions_field;
  };
  const std::string load = " ld.shared.u32 %r9, [%r2];";
  EXPECT_EQ(passes("shl.b32 %r2, %r1, 2;", load), 1u);
  EXPECT_EQ(passes("shl.b32 %r2, %r1, 2; add.u32 %r2, %r2, 20;", load), 1u);
  EXPECT_EQ(passes("mov.u32 %r2, 64;", load), 1u);
  EXPECT_EQ(passes("shl.b32 %r2, %r1, 3;", load), 2u);
  EXPECT_EQ(passes("shl.b32 %r2, %r1, 7;", load), 32u);
  EXPECT_EQ(passes("mul.lo.u32 %r2, %r1, 132;", load), 1u);
  EXPECT_EQ(passes("and.b32 %r2, %r1, 7; shl.b32 %r2, %r2, 7;", load),
            8u);  // four lanes share each word
  EXPECT_EQ(passes("shl.b32 %r2, %r1, 3;", " ld.shared.u64 %q9, [%r2];"), 2u);
  EXPECT_EQ(passes("shl.b32 %r2, %r1, 4;", " ld.shared.v4.u32 {%r3, %r4, %r5, %r6}, [%r2];"), 4u);
  EXPECT_EQ(passes("shl.b32 %r2, %r1, 4;", " st.shared.u64 [%r2], %q1;"), 4u);
  // Within two rows of the banks: words of both rows in one bank take two passes.
  EXPECT_EQ(passes("shl.b32 %r2, %r1, 2; add.u32 %r2, %r2, 100;", load), 1u);
  EXPECT_EQ(passes("and.b32 %r2, %r1, 1; shl.b32 %r2, %r2, 7;", load), 2u);
  const std::string vector = " ld.shared.v4.u32 {%r3, %r4, %r5, %r6}, [%r2];";
  EXPECT_EQ(passes("and.b32 %r2, %r1, 15; shl.b32 %r2, %r2, 4;", vector), 4u);
  EXPECT_EQ(passes("and.b32 %r2, %r1, 1; shl.b32 %r2, %r2, 7;", vector), 8u);
  EXPECT_EQ(passes("mov.u32 %r2, 48;", vector), 4u);
  EXPECT_EQ(passes("mov.u32 %r2, 64;", " atom.shared.add.u32 %r9, [%r2], 1;"),
            32u);  // the same word, one after another
  EXPECT_EQ(passes("shl.b32 %r2, %r1, 2;", " atom.shared.add.u32 %r9, [%r2], 1;"), 1u);
}
TEST(Stream, LocalLinesAreRowsOfTheWarp) {
  EXPECT_EQ(tail(".local .align 8 .b8 l[64]; mov.u64 %q3, l; st.local.u32 [%q3+12], %r1;")[1],
            (Op{5, 1, 1, ~0u, {{3, ~0u, ~0u}}}));
  EXPECT_EQ(tail(".local .align 8 .b8 l[64]; mov.u64 %q3, l; st.local.u64 [%q3+8], %q3;")[1],
            (Op{5, 1, 2, ~0u, {{2, ~0u, ~0u}, {3, ~0u, ~0u}}}));
  EXPECT_EQ(tail(".local .align 8 .b8 l[64]; mov.u64 %q3, l; and.b32 %r2, %r1, 1; mul.wide.u32 "
                 "%q4, %r2, 4; add.u64 %q3, %q3, %q4; ld.local.u32 %r3, [%q3];")[1],
            (Op{8, 1, 2, ~0u, {{0, 0x55555555, 0x55555555}, {1, 0xaaaaaaaa, 0xaaaaaaaa}}}));
}
TEST(Stream, BarriersCarryIdKindAndWarps) {
  const auto ops =
      tail("bar.sync 0; bar.sync 5, 64; bar.arrive 2, 96; bar.warp.sync -1; membar.gl;", 64);
  EXPECT_EQ(ops[1].mask, 0u);
  EXPECT_EQ(ops[2].mask, 5u | 2u << 8);
  EXPECT_EQ(ops[3].mask, 2u | 1u << 4 | 3u << 8);
  EXPECT_EQ(ops[4].mask, 2u << 4);
  EXPECT_EQ(ops[5].mask, ~0u);
}
TEST(Stream, CodeSaysWhatEachInstructionIs) {
  Rig rig(kernel(
      "ld.global.nc.v2.f32 {%f1, %f2}, [%q2]; fma.rn.f32 %f3, %f1, %f2, %f1; "
      "st.volatile.global.f32 [%q2], %f3; sin.approx.f32 %f4, %f3; div.rn.f32 %f5, %f4, %f3; "
      "div.u32 %r3, %r1, 3; ld.f32 %f6, [%q2]; bar.sync 0; atom.global.add.u32 %r4, [%q1], 1; "
      "red.global.add.u32 [%q1], 1; membar.gl; ld.volatile.global.f32 %f7, [%q1];"));
  const trace::KernelCode& code = *code_of(rig.program.kernel("k"));
  const auto& i = code.instructions;
  EXPECT_EQ(i[0].kind, K::LoadConst);
  EXPECT_EQ(i[4].kind, K::LoadGlobal);
  EXPECT_EQ(i[4].bytes, 8);
  EXPECT_FALSE(i[4].bypass_l1);
  EXPECT_EQ(code.opcode_names[i[4].opcode], "ld.global.nc.v2.f32");
  EXPECT_EQ(i[4].line, 9u);
  EXPECT_EQ(i[5].op_class, trace::OpClass::Fp32);
  EXPECT_EQ(i[5].writes.size(), 1u);
  EXPECT_EQ(i[5].reads, i[4].writes);
  EXPECT_TRUE(i[6].bypass_l1);
  EXPECT_EQ(i[7].op_class, trace::OpClass::Sfu);
  EXPECT_EQ(i[8].op_class, trace::OpClass::Fp32Div);
  EXPECT_EQ(i[9].op_class, trace::OpClass::IntDiv);
  EXPECT_EQ(i[10].kind, K::LoadGlobal);
  EXPECT_EQ(i[11].kind, K::Barrier);
  EXPECT_EQ(i[12].kind, K::AtomicGlobal);
  EXPECT_EQ(i[13].kind, K::ReduceGlobal);
  EXPECT_EQ(i[14].kind, K::Fence);
  EXPECT_TRUE(i[15].bypass_l1);
  EXPECT_EQ(i[16].kind, K::Exit);
  ASSERT_EQ(i.size(), 19u);  // the generic load may turn out to be shared or local
  EXPECT_EQ(i[17].kind, K::LoadShared);
  EXPECT_EQ(i[18].kind, K::LoadLocal);
}
/// What an access orders, as letters: acquires, releases.
std::string order_of(const std::string& text) {
  Rig rig(kernel(text));
  for (const trace::StaticInst& inst : code_of(rig.program.kernel("k"))->instructions)
    if (trace::carries_transactions(inst.kind) && inst.kind != K::LoadLocal)
      return std::string(inst.acquires ? "a" : "") + (inst.releases ? "r" : "");
  return "no access";
}
unsigned fence_of(const std::string& text) {
  Rig rig(kernel(text));
  for (const trace::StaticInst& inst : code_of(rig.program.kernel("k"))->instructions)
    if (inst.kind == K::Fence) return inst.bytes;
  return 255;
}
TEST(Stream, AccessesSayWhatTheyOrderBeyondTheirBlock) {
  EXPECT_EQ(order_of("ld.global.u32 %r2, [%q1];"), "");
  EXPECT_EQ(order_of("ld.volatile.global.u32 %r2, [%q1];"), "");
  EXPECT_EQ(order_of("ld.relaxed.gpu.global.u32 %r2, [%q1];"), "");
  EXPECT_EQ(order_of("ld.acquire.cta.global.u32 %r2, [%q1];"), "");
  for (const std::string scope : {"cluster", "gpu", "sys"}) {
    EXPECT_EQ(order_of("ld.acquire." + scope + ".global.u32 %r2, [%q1];"), "a") << scope;
    EXPECT_EQ(order_of("ld.acquire." + scope + ".u32 %r2, [%q1];"), "a") << scope;
    EXPECT_EQ(order_of("st.release." + scope + ".global.u32 [%q1], %r1;"), "r") << scope;
    EXPECT_EQ(order_of("atom.acq_rel." + scope + ".global.add.u32 %r2, [%q1], 1;"), "ar") << scope;
  }
  EXPECT_EQ(order_of("atom.acquire.gpu.global.add.u32 %r2, [%q1], 1;"), "a");
  EXPECT_EQ(order_of("atom.relaxed.gpu.global.add.u32 %r2, [%q1], 1;"), "");
  EXPECT_EQ(order_of("atom.acq_rel.cta.global.add.u32 %r2, [%q1], 1;"), "");
  EXPECT_EQ(order_of("red.release.gpu.global.add.u32 [%q1], 1;"), "r");
}
TEST(Stream, FencesSayWhetherOthersDataIsSeenBehindThem) {
  for (const char* full : {"membar.gl;", "membar.sys;", "fence.sc.gpu;", "fence.acq_rel.gpu;",
                           "fence.acq_rel.cluster;", "fence.acq_rel.sys;"})
    EXPECT_EQ(fence_of(full), trace::kFullFence) << full;
  for (const char* block : {"membar.cta;", "fence.acq_rel.cta;", "fence.sc.cta;"})
    EXPECT_EQ(fence_of(block), trace::kBlockScope) << block;
  EXPECT_EQ(fence_of("fence.proxy.async;"), trace::kReleaseOnly);
  EXPECT_EQ(fence_of("cp.async.wait_all;"), trace::kWaitsForCopies);
}
TEST(Stream, GenericAccessesToSharedMemoryUseTheirSharedForm) {
  const auto ops = tail(
      ".shared .align 4 .b8 s[128]; mov.u64 %q3, s; cvta.shared.u64 %q3, %q3; mul.wide.u32 %q4, "
      "%r1, 4; add.u64 %q3, %q3, %q4; ld.u32 %r3, [%q3];");
  EXPECT_EQ(ops[1], (Op{10, 1, 1, ~0u, {}}));
}
// Even lanes mean the launch's parameters, at two addresses, odd ones global memory.
TEST(Stream, GenericLoadsOfParametersAreConstantOnes) {
  const std::string body =
      "mov.u64 %q3, a; cvta.param.u64 %q3, %q3; and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 1; "
      "and.b32 %r2, %r1, 4; cvt.u64.u32 %q4, %r2; add.u64 %q3, %q3, %q4; selp.b64 %q3, %q2, %q3, "
      "%p1; ld.u32 %r3, [%q3]; st.u32 [%q2], %r3;";
  const auto ops = tail(body);
  ASSERT_EQ(ops.size(), 5u);
  EXPECT_EQ(ops[1].inst, 12u);
  EXPECT_EQ(ops[1].mask, 0xaaaaaaaau);
  EXPECT_EQ(ops[2].inst, 17u);
  EXPECT_EQ(ops[2].mask, 0x55555555u);
  EXPECT_EQ(ops[3].inst, 13u);
  Rig rig(kernel(body));
  const auto& instructions = code_of(rig.program.kernel("k"))->instructions;
  ASSERT_EQ(instructions.size(), 20u);  // the store's other forms are two
  EXPECT_EQ(instructions[17].kind, K::LoadConst);
  EXPECT_EQ(instructions[18].kind, K::StoreShared);
  EXPECT_EQ(instructions[19].kind, K::StoreLocal);
}

// --- live ----------------------------------------------------------------------------------------
constexpr const char* kWork = R"(
.visible .entry k(.param .u64 a)
{
  .reg .pred %p<9>; .reg .b32 %r<40>; .reg .b64 %q<20>;
  .shared .align 4 .b8 s[1024];
  ld.param.u64 %q1, [a]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;
  mad.lo.u32 %r3, %r2, 256, %r1; mul.wide.u32 %q2, %r3, 4; add.u64 %q2, %q1, %q2;
  mov.u32 %r4, s; shl.b32 %r5, %r1, 2; add.u32 %r5, %r4, %r5; mov.u32 %r6, 0; and.b32 %r9, %r1, 15;
L: st.shared.u32 [%r5], %r6; bar.sync 0;
  xor.b32 %r7, %r1, 33; shl.b32 %r7, %r7, 2; add.u32 %r7, %r4, %r7; ld.shared.u32 %r8, [%r7];
  add.u32 %r6, %r8, %r1; bar.sync 0;
  ld.global.u32 %r10, [%q2]; add.u32 %r10, %r10, %r6; st.global.u32 [%q2], %r10;
  mov.u32 %r11, 0;
M: setp.ge.u32 %p2, %r11, %r9; @%p2 bra N; add.u32 %r11, %r11, 1; bra M;
N: add.u32 %r12, %r12, 1; setp.lt.u32 %p1, %r11, 0; @%p1 bra L;
  ret;
}
)";
TEST(Live, StreamEqualsTheRecordedOne) {
  std::vector<std::vector<Op>> recorded;
  std::vector<u32> result;
  {
    Rig rig(kWork);
    const Address out = rig.zeros(4 * 1024);
    auto kept = rig.record("k", {4, 1, 1}, {256, 1, 1}, out);
    for (u32 block = 0; block < 4; ++block)
      for (unsigned warp = 0; warp < 8; ++warp) recorded.push_back(ops_of(*kept, block, warp));
    result = rig.download<u32>(out, 1024);
  }
  Rig rig(kWork);
  const Address out = rig.zeros(4 * 1024);
  const Launch launch = rig.launch("k", {4, 1, 1}, {256, 1, 1}, out);
  auto stream = rig.machine.live(launch);
  EXPECT_FALSE(stream->concurrent());
  // Reads all warps in an odd order, as a timing model might; one at a barrier is left alone until
  // the others have come.
  std::vector<std::vector<Op>> ops(32);
  std::vector<trace::WarpCursor> cursors(32);
  std::vector<u32> waiting(4), state(32);  // 0 runs, 1 at the barrier, 2 done
  const auto take = [&](unsigned i) {
    append_ops(stream->code(), cursors[i].at, cursors[i].end, ops[i]);
    cursors[i].at = cursors[i].end;
    if (stream->code().instructions[ops[i].back().inst].kind == K::Barrier) {
      state[i] = 1;
      if (++waiting[i / 8] == 8)
        for (unsigned k = i / 8 * 8; k < i / 8 * 8 + 8; ++k) {
          state[k] = 0;
          waiting[i / 8] = 0;
        }
    }
  };
  for (unsigned i = 0; i < 32; ++i) {
    const unsigned k = i * 13 % 32;
    cursors[k] = stream->open(k / 8, k % 8);
    take(k);
  }
  for (bool more = true; more;) {
    more = false;
    for (unsigned i = 0; i < 32; ++i) {
      const unsigned k = i * 7 % 32;
      if (state[k] != 0) continue;
      if (stream->refill(cursors[k])) take(k);
      else state[k] = 2;
      more = true;
    }
  }
  for (u32 block = 0; block < 4; ++block) stream->close(block);
  EXPECT_EQ(rig.download<u32>(out, 1024), result);
  const auto joined = [](const std::vector<Op>& list) {  // chunks cut runs elsewhere: compare
                                                         // instruction by instruction
    std::vector<Op> single;
    for (Op op : list)
      for (unsigned i = 0; i < op.count; ++i)
        single.push_back({op.inst + i, 1, op.transactions_field, op.mask, op.transactions});
    return single;
  };
  for (unsigned i = 0; i < 32; ++i) EXPECT_TRUE(joined(ops[i]) == joined(recorded[i])) << i;
}
TEST(Live, AWarpSeesWhatOthersStoredBeforeItWasAsked) {
  Rig rig(
      kernel("setp.lt.u32 %p1, %r1, 32; @!%p1 bra SET; WAIT: ld.volatile.global.u32 %r2, [%q1]; "
             "setp.eq.u32 %p2, %r2, 0; @%p2 bra WAIT; bra END; SET: st.volatile.global.u32 [%q1], "
             "1; END:"));
  const Address a = rig.zeros(256);
  const Launch launch = rig.launch("k", {1, 1, 1}, {64, 1, 1}, a);
  auto stream = rig.machine.live(launch);
  trace::WarpCursor spin = stream->open(0, 0);
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(stream->refill(spin));  // it would go on for ever
  trace::WarpCursor set = stream->open(0, 1);
  while (stream->refill(set)) {
  }
  int left = 0;
  while (stream->refill(spin)) ++left;
  EXPECT_LE(left, 4);
  stream->close(0);
}

}  // namespace
}  // namespace raddle::exec::test::stream_test
