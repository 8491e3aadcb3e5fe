// What lines become in the op stream.
#include <numeric>
#include <tuple>

#include "unit/accelsim/trace_files.h"

namespace raddle::accelsim::import_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using trace::OpClass;
using trace::OpKind;

using Import = TraceFiles;

TEST_F(Import, KeepsCountsRegistersAndOrder) {
  const auto all = imported({"0000 ffffffff 1 R1 MOV 0 0 0 ", "0010 ffffffff 1 R0 S2R 0 0 0 ",
                             "0020 0000ffff 1 R2 FFMA 3 R0 R1 R255 0 0 ",
                             "0030 00000000 0 BRA 0 0 528 ", "0040 ffffffff 0 EXIT 0 0 0 "});
  ASSERT_EQ(all.size(), 5u);
  EXPECT_EQ(all[0].inst->op_class, OpClass::Move);
  EXPECT_EQ(all[2].inst->op_class, OpClass::Fp32);
  EXPECT_THAT(all[2].inst->reads, ElementsAre(0, 1)) << "R255 is no register";
  EXPECT_THAT(all[2].inst->writes, ElementsAre(2));
  EXPECT_EQ(all[2].record.mask, 0xffffu);
  EXPECT_EQ(all[3].inst->kind, OpKind::Branch);
  EXPECT_EQ(all[4].inst->kind, OpKind::Exit);
  EXPECT_EQ(recording_->launch(0).warp_instructions, 5u);
  EXPECT_EQ(recording_->launch(0).thread_instructions, 32u * 3 + 16);
  EXPECT_EQ(stream_->code().registers_per_thread, 32u);
  EXPECT_EQ(stream_->code().static_shared_bytes, 64u);
}

TEST_F(Import, StraightRunsShareRecordsUpToWhatARecordHolds) {
  std::vector<std::string> lines;
  for (unsigned i = 0; i < 100; ++i) {
    char text[64];
    std::snprintf(text, sizeof text, "%04x ffffffff 1 R1 IADD3 1 R1 0 0 ", i * 16);
    lines.push_back(text);
  }
  const auto all = imported(lines);
  ASSERT_EQ(all.size(), 100u);
  EXPECT_EQ(all[0].record.count(), trace::kMaxRun);
  EXPECT_EQ(all[99].record.count(), 100 - trace::kMaxRun);
}

TEST_F(Import, AddressesInAllThreeModesMeanTheSame) {
  std::string list = "0";
  for (unsigned lane = 0; lane < 32; ++lane) {
    char text[32];
    std::snprintf(text, sizeof text, " 0x%x", 0x1000 + 8 * lane);
    list += text;
  }
  std::string deltas = "2 0x1000";
  for (unsigned lane = 1; lane < 32; ++lane) deltas += " 8";
  const auto all = imported({"0000 ffffffff 1 R4 LDG.E.64.SYS 1 R2 8 " + list + " 0 ",
                             "0010 ffffffff 1 R4 LDG.E.64.SYS 1 R2 8 1 0x1000 8 0 ",
                             "0020 ffffffff 1 R4 LDG.E.64.SYS 1 R2 8 " + deltas + " 0 "});
  ASSERT_EQ(all.size(), 3u);
  for (const Op& op : all) {
    ASSERT_EQ(op.transactions.size(), 2u);
    EXPECT_EQ(op.transactions[0].line, 0x1000u / 128);
    EXPECT_EQ(op.transactions[0].words, ~0u);
    EXPECT_EQ(op.transactions[0].lanes, 0xffffu);
    EXPECT_EQ(op.transactions[1].lanes, 0xffff0000u);
    EXPECT_EQ(op.inst->bytes, 8);
    EXPECT_THAT(op.inst->reads, ElementsAre(2, 3)) << ".E: a pair of registers for the address";
    EXPECT_THAT(op.inst->writes, ElementsAre(4, 5)) << "64 bits";
  }
}

TEST_F(Import, AddressesGoToTheLanesOfTheMask) {
  const auto all = imported({"0000 00000f00 1 R4 LDG.E 1 R2 4 1 0x2000 -4 0 ",
                             "0010 80000001 1 R4 LDG.E 1 R2 4 2 0x2000 128 0 ",
                             "0020 00000010 1 R4 LDG.E 1 R2 4 2 0x2000 0 ",
                             "0030 00000000 1 R4 LDG.E 1 R2 4 1 0x0 0 0 "});
  ASSERT_EQ(all.size(), 4u);
  ASSERT_EQ(all[0].transactions.size(), 2u);
  EXPECT_EQ(all[0].transactions[0].lanes, 0x100u);
  EXPECT_EQ(all[0].transactions[1].lanes, 0xe00u);
  EXPECT_EQ(all[0].transactions[1].words, 0xe0000000u);
  ASSERT_EQ(all[1].transactions.size(), 2u);
  EXPECT_EQ(all[1].transactions[1].lanes, 0x80000000u);
  ASSERT_EQ(all[2].transactions.size(), 1u);
  EXPECT_EQ(all[2].transactions[0].lanes, 0x10u);
  EXPECT_TRUE(all[3].transactions.empty());
}

TEST_F(Import, HighAddressesComeDownAndStayApart) {
  const auto all = imported({"0000 00000001 1 R4 LDG.E 1 R2 4 0 0x7f580face400 0 ",
                             "0010 00000001 1 R4 LDG.E 1 R2 4 0 0x7f590face400 0 ",
                             "0020 00000001 1 R4 LDG.E 1 R2 4 0 0x1100000080 0 ",
                             "0030 00000001 1 R4 LDG.E 1 R2 4 0 0x7f580face400 0 "});
  auto line = [&](std::size_t i) { return all.at(i).transactions.at(0).line; };
  EXPECT_EQ(line(0) % (1u << 25), 0x0face400u / 128) << "within 4 GiB nothing moves";
  EXPECT_NE(line(0), line(1));
  EXPECT_EQ(line(2), 0x1100000080u / 128) << "low addresses stay";
  EXPECT_EQ(line(0), line(3));
}

TEST_F(Import, TooManyRegionsAreRefused) {
  std::vector<std::string> lines;
  for (unsigned i = 0; i < 57; ++i) {
    char text[96];
    std::snprintf(text, sizeof text, "%04x 00000001 1 R4 LDG.E 1 R2 4 0 0x%x00000000 0 ", i * 16,
                  0x7000 + i);
    lines.push_back(text);
  }
  EXPECT_THAT(error_of(kernel_text(lines)), HasSubstr("more than 56 regions"));
}

TEST_F(Import, SharedMemoryCountsBankPasses) {
  const auto all = imported({"0000 ffffffff 1 R4 LDS 1 R2 4 1 0x0 4 0 ",
                             "0010 ffffffff 1 R4 LDS 1 R2 4 1 0x0 128 0 ",
                             "0020 ffffffff 1 R4 LDS 1 R2 4 1 0x40 0 0 ",
                             "0030 ffffffff 1 R4 LDS.128 1 R2 16 1 0x0 16 0 ",
                             "0040 ffffffff 0 ATOMS.ADD 2 R2 R4 4 1 0x0 0 0 ",
                             "0050 ffffffff 4 R4 R5 R6 R7 LDSM.16.M88.4 1 R2 16 1 0x0 16 0 "});
  ASSERT_EQ(all.size(), 6u);
  EXPECT_EQ(all[0].record.transactions(), 1u);
  EXPECT_EQ(all[1].record.transactions(), 32u);
  EXPECT_EQ(all[2].record.transactions(), 1u) << "one word for all";
  EXPECT_EQ(all[3].record.transactions(), 4u) << "a quarter of the warp at a time";
  EXPECT_EQ(all[4].record.transactions(), 32u) << "atomics one by one";
  EXPECT_EQ(all[4].inst->kind, OpKind::AtomicShared);
  EXPECT_EQ(all[5].record.transactions(), 4u) << "four matrices";
  EXPECT_THAT(all[5].inst->writes, ElementsAre(4, 5, 6, 7));
}

TEST_F(Import, LocalMemoryBeginsWhereTheTraceTouchesIt) {
  const auto all = imported({"0000 ffffffff 0 STL 2 R1 R5 4 1 0xfffdc8 0 0 ",
                             "0010 ffffffff 1 R6 LDL.64 1 R1 8 1 0xfffdc0 0 0 "});
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].inst->kind, OpKind::StoreLocal);
  ASSERT_EQ(all[0].transactions.size(), 1u);
  EXPECT_EQ(all[0].transactions[0].line, 2u);
  EXPECT_EQ(all[0].transactions[0].lanes, kFullMask);
  ASSERT_EQ(all[1].transactions.size(), 2u) << "two words, each a line of all lanes";
  EXPECT_EQ(all[1].transactions[0].line, 0u);
  EXPECT_EQ(stream_->code().local_bytes_per_thread, 12u);
  EXPECT_THAT(error_of(kernel_text({"0000 ffffffff 0 STL 2 R1 R5 4 1 0x100 0 0 ",
                                    "0010 ffffffff 0 STL 2 R1 R5 4 1 0xf00000 0 0 "})),
              HasSubstr("at most 524288 bytes of local memory"));
}

// The window says which memory; lanes of different ones make records of their own.
TEST_F(Import, GenericAccessesGoWhereTheirAddressesPoint) {
  const auto all =
      imported({"0000 00000007 1 R4 LD.E 1 R2 4 0 0x7f59dd000010 0x7f59db000020 "
                "0x7f5801000000 0 "});
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].inst->kind, OpKind::LoadShared);
  EXPECT_EQ(all[0].record.mask, 1u);
  EXPECT_EQ(all[1].inst->kind, OpKind::LoadLocal);
  EXPECT_EQ(all[1].record.mask, 2u);
  EXPECT_EQ(all[2].inst->kind, OpKind::LoadGlobal);
  EXPECT_EQ(all[2].record.mask, 4u);
  EXPECT_EQ(all[0].inst->alias_of, all[2].record.inst());
}

TEST_F(Import, CacheModifiersDecideWhoPassesTheL1) {
  const auto all = imported({"0000 00000001 1 R4 LDG.E.STRONG.GPU 1 R2 4 0 0x1000 0 ",
                             "0010 00000001 1 R4 LDG.E.STRONG.SM 1 R2 4 0 0x1000 0 ",
                             "0020 00000001 1 R4 LDG.E.SYS 1 R2 4 0 0x1000 0 ",
                             "0030 00000001 0 LDGSTS.E.BYPASS.128 2 R2 R4 16 0 0x1000 0 ",
                             "0040 00000001 0 RED.E.ADD.STRONG.GPU 2 R2 R4 4 0 0x1000 0 ",
                             "0050 00000001 1 R6 ATOMG.E.ADD.STRONG.GPU 2 R2 R4 4 0 0x1000 0 "});
  EXPECT_TRUE(all[0].inst->bypass_l1);
  EXPECT_FALSE(all[1].inst->bypass_l1);
  EXPECT_FALSE(all[2].inst->bypass_l1);
  EXPECT_TRUE(all[3].inst->bypass_l1);
  EXPECT_EQ(all[3].inst->kind, OpKind::LoadGlobal);
  EXPECT_TRUE(all[3].inst->writes.empty()) << "into shared memory";
  EXPECT_EQ(all[4].inst->kind, OpKind::ReduceGlobal);
  EXPECT_EQ(all[5].inst->kind, OpKind::AtomicGlobal);
}

TEST_F(Import, BarriersFencesAndSleep) {
  const auto all =
      imported({"0000 ffffffff 0 BAR.SYNC.DEFER_BLOCKING 0 0 0 ", "0010 00000000 0 BAR.SYNC 0 0 0 ",
                "0020 ffffffff 0 BAR.ARV 0 0 0 ", "0030 ffffffff 0 MEMBAR.SC.GPU 0 0 0 ",
                "0040 ffffffff 0 MEMBAR.SC.CTA 0 0 0 ", "0050 ffffffff 0 NANOSLEEP 0 0 100 ",
                "0060 ffffffff 0 DEPBAR.LE 0 0 0 ", "0070 ffffffff 0 CCTL.IVALL 0 0 0 ",
                "0080 ffffffff 0 CCTL.IV 0 0 0 ", "0090 ffffffff 0 MEMBAR.GL 0 0 0 "});
  auto barrier = [&](std::size_t i) {
    return static_cast<trace::BarrierKind>(all[i].record.mask >> 4 & 3);
  };
  EXPECT_EQ(barrier(0), trace::BarrierKind::Sync);
  EXPECT_EQ(barrier(1), trace::BarrierKind::Warp) << "nobody comes: nobody waits";
  EXPECT_EQ(barrier(2), trace::BarrierKind::Arrive);
  EXPECT_EQ(all[3].inst->kind, OpKind::Fence);
  EXPECT_EQ(all[3].inst->bytes, trace::kReleaseOnly) << "a CCTL.IVALL follows where one must";
  EXPECT_EQ(all[4].inst->bytes, trace::kBlockScope);
  EXPECT_EQ(all[5].inst->kind, OpKind::Sleep);
  EXPECT_EQ(all[5].record.transactions(), 7u) << "100 ns";
  EXPECT_EQ(all[6].inst->kind, OpKind::Alu) << "no copies to shared memory to wait for";
  EXPECT_EQ(all[7].inst->kind, OpKind::Fence);
  EXPECT_EQ(all[7].inst->bytes, trace::kFullFence);
  EXPECT_EQ(all[8].inst->kind, OpKind::Alu) << "one line";
  EXPECT_EQ(all[9].inst->bytes, trace::kFullFence) << "before Volta there is nothing else";
}

TEST_F(Import, GroupsOfCopiesToSharedMemoryAreWaitedFor) {
  const auto all = imported({"0000 00000001 0 LDGSTS.E.128 2 R2 R4 16 0 0x1000 0 ",
                             "0010 ffffffff 0 LDGDEPBAR 0 0 0 ", "0020 ffffffff 0 DEPBAR.LE 0 0 1 ",
                             "0020 ffffffff 0 DEPBAR.LE 0 0 0 "});
  EXPECT_EQ(all[1].inst->kind, OpKind::Fence);
  EXPECT_EQ(all[1].inst->bytes, trace::kEndsGroup);
  EXPECT_EQ(all[2].inst->kind, OpKind::Fence);
  EXPECT_EQ(all[2].inst->bytes, trace::kWaitsForGroups | 1 << trace::kGroupsLeft);
  EXPECT_EQ(all[3].inst->bytes, trace::kWaitsForGroups) << "another immediate";
  EXPECT_EQ(all[3].inst->alias_of, all[2].record.inst());
}

TEST_F(Import, UnknownOpcodesAreKeptAndCounted) {
  const auto all = imported(
      {"0000 ffffffff 1 R4 FROB.X 2 R2 R3 0 0 ", "0010 00000001 1 R5 GRAB 1 R2 4 0 0x1000 0 ",
       "0000 ffffffff 1 R4 FROB.X 2 R2 R3 0 0 ", "0020 00000001 1 R5 LDG.E 1 R2 0 0 "});
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].name, "FROB.X");
  EXPECT_EQ(all[0].inst->kind, OpKind::Alu);
  EXPECT_THAT(all[0].inst->reads, ElementsAre(2, 3));
  EXPECT_EQ(all[1].inst->kind, OpKind::LoadGlobal);
  const auto& import = recording_->trailer().at("import");
  EXPECT_EQ(import.at("unknown_opcodes").dump(), R"({"FROB.X":2,"GRAB":1})");
  EXPECT_EQ(import.at("without_addresses").dump(), R"({"LDG.E":1})");
}

TEST_F(Import, GenerationsHaveTheirOwnOpcodes) {
  imported({"0000 ffffffff 0 UTMALDG 0 0 0 ", "0010 ffffffff 1 R4 LDSM.16 1 R2 0 0 "}, 90);
  EXPECT_TRUE(recording_->trailer().at("import").at("unknown_opcodes").empty());
  imported({"0000 ffffffff 0 UTMALDG 0 0 0 ", "0010 ffffffff 1 R4 REDUX 1 R2 0 0 "}, 70);
  EXPECT_EQ(recording_->trailer().at("import").at("unknown_opcodes").size(), 2u);
}

// 64: as long as 4096 multiply-adds of f16.
TEST_F(Import, MatrixInstructionsSayTheirWorkAndRegisters) {
  const std::vector<std::tuple<std::string, int, std::size_t>> all = {
      {"HMMA.884.F32.F32.STEP0", 4, 2},
      {"HMMA.884.F16.F16.STEP0", 8, 2},
      {"HMMA.1688.F32", 16, 4},
      {"HMMA.1688.F16", 16, 2},
      {"HMMA.16816.F32", 32, 4},
      {"HMMA.1688.F32.TF32", 32, 4},
      {"IMMA.16816.S8.S8", 16, 4},
      {"IMMA.16864.S4.S4", 32, 4},
      {"IMMA.8816.S8.S8", 8, 2},
      {"BMMA.88128.XOR.POPC", 8, 2},
      {"DMMA.884", 64, 4}};
  for (const auto& [opcode, work, registers] : all) {
    const auto ops = imported({"0000 ffffffff 1 R8 " + opcode + " 3 R32 R40 R48 0 0 "}, 90);
    EXPECT_EQ(ops[0].inst->op_class, OpClass::Tensor) << opcode;
    EXPECT_EQ(ops[0].inst->bytes, work) << opcode;
    EXPECT_EQ(ops[0].inst->writes.size(), registers) << opcode;
  }
}

TEST_F(Import, OnePcOfTwoFunctionsIsTwoInstructions) {
  const auto all = imported({"0000 ffffffff 1 R1 MOV 0 0 0 ", "0010 ffffffff 1 R2 MOV 0 0 0 ",
                             "0000 ffffffff 1 R3 FADD 1 R2 0 0 ", "0010 ffffffff 1 R4 MOV 0 0 0 ",
                             "0000 ffffffff 1 R1 MOV 0 0 0 "});
  ASSERT_EQ(all.size(), 5u);
  EXPECT_EQ(all[2].name, "FADD");
  EXPECT_EQ(all[4].inst, all[0].inst);
  EXPECT_EQ(all[2].record.count(), 2u) << "the other function is a straight run, too";
}

TEST_F(Import, BlocksMayComeInAnyOrderAndAreOpenedInAnyOrder) {
  auto warp = [](unsigned reg) {
    return warp_text(0, {"0000 ffffffff 1 R" + std::to_string(reg) + " MOV 0 0 0 "});
  };
  const TraceRecording recording(trace(header_text(1, 3) + block_text(2, warp(12)) +
                                       block_text(0, warp(10)) + block_text(1, warp(11))));
  const auto stream = recording.open(0);
  for (const std::uint32_t block : {1u, 2u, 0u}) {
    EXPECT_THAT(ops(*stream, block).at(0).inst->writes, ElementsAre(10 + block));
    stream->close(block);
  }
}

TEST_F(Import, OlderAndNewerLines) {
  auto lines = [&](unsigned version, bool lineinfo, const std::string& line,
                   const std::string& front = "") {
    std::string text = header_text() + block_text(0, front + warp_text(0, {line}));
    text.replace(text.find("tracer version = 5"), 18,
                 "tracer version = " + std::to_string(version));
    if (lineinfo) text.replace(text.find("lineinfo = 0"), 12, "lineinfo = 1");
    const TraceRecording recording(trace(text));
    const auto stream = recording.open(0);
    return ops(*stream).at(0).inst->line;
  };
  EXPECT_EQ(lines(2, false, "0 0 0 0 0020 ffffffff 1 R1 MOV 0 0 "), 3u) << "no immediate";
  EXPECT_EQ(lines(5, true, "77 0020 ffffffff 1 R1 MOV 0 0 0 "), 77u);
  EXPECT_EQ(lines(6, false, "0020 ffffffff 1 R1 MOV 0 0 0 0 NoVal",
                  "cluster id = 0,0,0\ncluster rank = 0\n"),
            3u);
}

TEST_F(Import, StreamsAndCopies) {
  auto kernel = [&](unsigned i, const std::string& stream) {
    std::string text = kernel_text({"0000 ffffffff 0 EXIT 0 0 0 "});
    text.replace(text.find("stream id = 0"), 13, "stream id = " + stream);
    file("kernel-" + std::to_string(i) + ".traceg", text);
  };
  kernel(1, "94522334");
  kernel(2, "0");
  kernel(3, "7");
  kernel(4, "94522334");
  kernel(5, "1");
  const TraceRecording recording(
      file("kernelslist.g",
           "MemcpyHtoD,0x7f5801000000,1024\nMemcpyHtoD,0x7f5801000400,1024\nkernel-1.traceg\n"
           "kernel-2.traceg\n\nsomething else\nkernel-3.traceg\nkernel-4.traceg\nkernel-5.traceg\n"
           "MemcpyHtoD,0x7f5801000400,16\n"));
  ASSERT_EQ(recording.launches(), 5u);
  std::vector<std::uint32_t> streams;
  for (std::size_t i = 0; i < 5; ++i) streams.push_back(recording.launch(i).stream);
  EXPECT_THAT(streams, ElementsAre(1, 0, 2, 1, 0));
  EXPECT_EQ(recording.launch(0).operations.dump(), R"([["synchronize"]])");
  EXPECT_EQ(recording.trailer().at("operations").dump(), R"([["synchronize"]])");
  EXPECT_EQ(recording.header().at("parameters").dump(),
            R"({"kernels":5,"copies":3,"copied_bytes":2064})");
  EXPECT_EQ(&recording.open(4)->code(), &recording.open(4)->code());
}

TEST_F(Import, LargeKernelsGoThroughATemporaryFile) {
  std::string text = header_text(1, 400);
  std::uint64_t seed = 1;
  for (unsigned b = 0; b < 400; ++b) {
    std::vector<std::string> lines;
    for (unsigned i = 0; i < 300; ++i) {
      char line[96];
      seed = seed * 6364136223846793005ull + 1442695040888963407ull;
      std::snprintf(line, sizeof line, "%04x %08x 1 R4 LDG.E 1 R2 4 2 0x%llx", i * 16, 0x80000001u,
                    static_cast<unsigned long long>(seed >> 40 << 2));
      lines.push_back(std::string(line) + " 4096 0 ");
    }
    text += block_text(b, warp_text(0, lines));
  }
  const TraceRecording recording(trace(text));
  EXPECT_EQ(recording.launch(0).warp_instructions, 400u * 300);
  const auto a = recording.open(0), b = recording.open(0);
  for (std::uint32_t block = 0; block < 400; ++block) {
    const auto x = ops(*a, block), y = ops(*b, block);
    ASSERT_EQ(x.size(), 300u);
    EXPECT_EQ(x[7].transactions.at(1).line - x[7].transactions.at(0).line, 32u);
    EXPECT_EQ(x[7].transactions.at(0).line, y[7].transactions.at(0).line);
    a->close(block);
    b->close(block);
  }
}

}  // namespace
}  // namespace raddle::accelsim::import_test
