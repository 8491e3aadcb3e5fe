// What Hopper's asynchronous instructions become: products of warpgroups, copies, barrier objects.
#include <tuple>

#include "unit/accelsim/trace_files.h"

namespace raddle::accelsim::async_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using trace::BarrierKind;
using trace::CopyKind;
using trace::ObjectAction;
using trace::ObjectChange;
using trace::OpKind;

const std::string kExit = "ff00 ffffffff 0 EXIT 0 0 0 0 NoVal";

class Async : public TraceFiles {
 protected:
  static ObjectChange change(const Op& op, std::size_t i = 0) {
    const trace::Transaction& t = op.transactions.at(i);
    const std::uint32_t words[] = {t.line, t.words, t.lanes};
    return ObjectChange::of(words);
  }
  static ObjectAction action(const Op& op) { return static_cast<ObjectAction>(op.inst->bytes); }
  static BarrierKind kind(const Op& op) {
    return static_cast<BarrierKind>(op.record.mask >> 4 & 3);
  }
  std::string error_of_line(const std::string& line) { return error_of(kernel_6({{line, kExit}})); }
};

// --- products -----------------------------------------------------------------------------------

TEST_F(Async, ProductsOfWarpgroupsAreThoseOfWgmma) {
  constexpr unsigned kProduct = trace::kWarpgroupProduct, kA = trace::kSharedA;
  const std::vector<std::tuple<std::string, std::string, unsigned, std::size_t, std::size_t>> all =
      {{"HGMMA.64x64x16.F32", "1 R24", 4 * 64 | kProduct | kA, 32, 0},
       {"HGMMA.64x256x16.F32.BF16", "2 UR4 R24", 4 * 256 | kProduct | kA, 128, 0},
       {"HGMMA.64x64x16.F16", "1 R24", 4 * 64 | kProduct | kA, 16, 0},
       {"HGMMA.64x8x16.F32", "2 R4 R24", 4 * 8 | kProduct, 4, 4},
       {"HGMMA.64x8x16.F32", "3 R4 UR8 R255", 4 * 8 | kProduct, 4, 4},
       {"HGMMA.SP.64x16x32.F32", "1 R24", 4 * 16 | kProduct | kA | trace::kSparseA, 8, 0},
       {"QGMMA.64x32x32.F32.E4M3.E4M3", "1 R24", 4 * 32 | kProduct | kA, 16, 0},
       {"IGMMA.64x16x32.S8.S8", "1 R24", 4 * 16 | kProduct | kA, 8, 0}};
  for (const auto& [opcode, sources, bytes, writes, reads] : all) {
    const auto ops =
        imported_6({{"0000 ffffffff 1 R24 " + opcode + " " + sources + " 0 0 0 0 NoVal"}});
    ASSERT_EQ(ops.size(), 1u);
    EXPECT_EQ(ops[0].inst->kind, OpKind::Alu);
    EXPECT_EQ(ops[0].inst->bytes, bytes) << opcode;
    EXPECT_EQ(ops[0].inst->writes.size(), writes) << opcode;
    EXPECT_EQ(ops[0].inst->reads.size(), reads) << opcode;
    EXPECT_TRUE(import().at("without_effect").empty());
  }
  imported_6({{"0000 ffffffff 1 R24 HGMMA.64x260x16.F32 1 R24 0 0 0 0 NoVal"}});
  EXPECT_EQ(import().at("without_effect").dump(), R"({"HGMMA.64x260x16.F32":1})");
}

TEST_F(Async, TheTraceSaysWhereGroupsOfProductsEnd) {
  const auto ops = imported_6({{"0000 ffffffff 0 WARPGROUP.ARRIVE 0 0 0 0 NoVal",
                                "0010 ffffffff 1 R24 HGMMA.64x64x16.F32 1 R24 0 0 0 0 NoVal",
                                "0020 ffffffff 1 R24 HGMMA.64x64x16.F32 1 R24 1 0 0 0 NoVal",
                                "0030 ffffffff 1 R56 HGMMA.64x64x16.F32 1 R56 1 0 0 0 NoVal",
                                "0040 ffffffff 0 WARPGROUP.DEPBAR.LE 0 0 1 0 NoVal",
                                "0050 ffffffff 0 WARPGROUP.DEPBAR.LE 0 0 0 0 NoVal",
                                "0050 00000000 0 WARPGROUP.DEPBAR.LE 0 0 0 0 NoVal"}});
  ASSERT_EQ(ops.size(), 9u);
  EXPECT_EQ(ops[0].inst->kind, OpKind::Alu) << "wgmma.fence";
  for (const std::size_t end : {3ul, 5ul}) {
    EXPECT_EQ(ops[end].inst->kind, OpKind::Barrier);
    EXPECT_EQ(ops[end].inst->bytes, trace::kEndsProducts);
    EXPECT_EQ(kind(ops[end]), BarrierKind::Warp);
    EXPECT_EQ(ops[end].inst, ops[end - 1].inst + 1) << "straight code";
  }
  EXPECT_EQ(ops[6].inst->bytes, trace::kWaitsForProductGroups | 1 << trace::kGroupsLeft);
  EXPECT_EQ(ops[7].inst->bytes, trace::kWaitsForProducts);
  EXPECT_EQ(ops[8].inst->kind, OpKind::Alu) << "predicated off";
  EXPECT_TRUE(import().at("rules").empty());
}

TEST_F(Async, OlderTracersDoNotSayWhereGroupsEnd) {
  const auto ops = imported({"0000 ffffffff 0 WARPGROUP.ARRIVE 0 0 0 ",
                             "0010 ffffffff 1 R24 HGMMA.64x64x16.F32 1 R24 0 0 ",
                             "0020 ffffffff 1 R24 HGMMA.64x64x16.F32 1 R24 0 0 ",
                             "0030 ffffffff 0 WARPGROUP.ARRIVE 0 0 0 ",
                             "0040 ffffffff 1 R56 HGMMA.64x64x16.F32 1 R56 0 0 ",
                             "0050 ffffffff 0 WARPGROUP.DEPBAR.LE 0 0 1 "},
                            90);
  ASSERT_EQ(ops.size(), 7u);
  EXPECT_EQ(ops[0].inst->kind, OpKind::Alu);
  EXPECT_EQ(ops[3].inst->bytes, trace::kEndsProducts);
  EXPECT_EQ(ops[5].inst->bytes, trace::kEndsProducts);
  EXPECT_EQ(ops[6].inst->bytes, trace::kWaitsForProductGroups | 1 << trace::kGroupsLeft);
  ASSERT_EQ(import().at("rules").size(), 1u);
  EXPECT_THAT(import().at("rules").at(0).get<std::string>(), HasSubstr("a group of HGMMA ends"));
}

// --- copies -------------------------------------------------------------------------------------

TEST_F(Async, ATensorLoadHasItsLinesAndTellsItsObject) {
  // Two rows of 64 elements of 2 bytes, 256 bytes apart; 16 bytes lie outside.
  std::string deltas;
  for (unsigned i = 1; i < 128; ++i) deltas += i == 64 ? " 130" : " 2";
  const auto ops = imported_6(
      {{"0000 00000001 0 UTMALDG.2D 2 UR8 UR4 2 0x400 0 256 16 4 0x10000 128" + deltas +
            " 0 0 NoVal",
        "0010 00000001 0 UTMALDG.2D 2 UR8 UR4 2 0x400 0 256 0 3 2 0x10000 0x20000 0 NoVal",
        "0020 00000000 0 UTMALDG.2D 2 UR8 UR4 2 0x400 0 256 0 3 0 0 NoVal"}});
  ASSERT_EQ(ops.size(), 5u);
  EXPECT_EQ(ops[0].inst->kind, OpKind::LoadGlobal);
  EXPECT_EQ(ops[0].inst->copy, CopyKind::Tensor);
  EXPECT_TRUE(ops[0].inst->bypass_l1);
  EXPECT_TRUE(ops[0].inst->writes.empty());
  ASSERT_EQ(ops[0].transactions.size(), 2u);
  EXPECT_EQ(ops[0].transactions[0].line, 0x10000u / 128);
  EXPECT_EQ(ops[0].transactions[0].words, ~0u);
  EXPECT_EQ(ops[0].transactions[1].line, 0x10100u / 128);
  EXPECT_EQ(ops[1].inst->kind, OpKind::BarrierObject);
  EXPECT_EQ(ops[1].inst->copy, CopyKind::Tensor);
  EXPECT_EQ(action(ops[1]), ObjectAction::Copied);
  EXPECT_EQ(change(ops[1]).object, 0x400u / 8);
  EXPECT_EQ(change(ops[1]).value, 256u + 16) << "what lies outside is not among the 256";
  ASSERT_EQ(ops[2].transactions.size(), 2u);
  EXPECT_EQ(ops[2].transactions[1].words, ~0u) << "256 bytes at two addresses";
  EXPECT_EQ(change(ops[3]).value, 256u);
  EXPECT_EQ(ops[4].record.transactions(), 0u) << "predicated off";
  EXPECT_THAT(import().at("rules").dump(), HasSubstr("divided by the number of addresses"));
}

TEST_F(Async, BytesOutsideMayBeAmongAllBytes) {
  const auto ops = imported_6(
      {{"0000 00000001 0 UTMALDG.1D 2 UR8 UR4 16 0x8 0 64 32 3 2 0x10000 0x10010 0 NoVal"}});
  EXPECT_EQ(ops[0].transactions.at(0).words, 0xffu) << "32 of 64 bytes";
  EXPECT_EQ(change(ops[1]).value, 64u);
}

TEST_F(Async, LongCopiesAreSeveralRecordsOfOneInstruction) {
  std::string addresses;
  for (unsigned i = 0; i < 100; ++i) addresses += " 0x" + std::to_string(10000000 + 1000 * i);
  const auto ops = imported_6(
      {{"0000 ffffffff 0 UBLKCP.S.G 2 UR8 UR4 16 0x10 0 1600 0 3 100" + addresses + " 0 NoVal"}});
  ASSERT_EQ(ops.size(), 3u);
  EXPECT_EQ(ops[0].transactions.size(), trace::kMaxTransactions);
  EXPECT_EQ(ops[1].transactions.size(), 100 - trace::kMaxTransactions);
  EXPECT_EQ(ops[0].inst, ops[1].inst);
  EXPECT_EQ(ops[0].record.mask, 1u) << "one thread issues it";
  EXPECT_EQ(ops[0].inst->copy, CopyKind::Bulk);
  EXPECT_EQ(ops[2].inst->kind, OpKind::BarrierObject);
}

TEST_F(Async, StoresAreWaitedForInGroups) {
  const std::string copy = " 2 UR8 UR4 16 0x0 0 16 0 3 1 0x10000 0 NoVal";
  const auto ops = imported_6(
      {{"0000 00000001 0 UTMASTG.2D" + copy, "0010 00000001 0 UTMAREDG.2D.ADD" + copy,
        "0020 00000001 0 UBLKCP.G.S" + copy, "0030 00000001 0 UBLKRED.G.S.ADD.F32" + copy,
        "0040 00000001 0 UTMACMDFLUSH 0 0 0 0 NoVal", "0050 00000001 0 DEPBAR.LE 0 0 1 0 NoVal",
        "0060 00000001 0 UBLKCP.S.S" + copy}});
  ASSERT_EQ(ops.size(), 8u);
  EXPECT_EQ(ops[0].inst->kind, OpKind::StoreGlobal);
  EXPECT_EQ(ops[1].inst->kind, OpKind::ReduceGlobal);
  EXPECT_EQ(ops[2].inst->kind, OpKind::StoreGlobal);
  EXPECT_EQ(ops[3].inst->kind, OpKind::ReduceGlobal);
  EXPECT_EQ(ops[4].inst->bytes, trace::kEndsBulkGroup);
  EXPECT_EQ(ops[5].inst->bytes, trace::kWaitsForBulkReads | 1 << trace::kGroupsLeft);
  EXPECT_EQ(ops[6].inst->kind, OpKind::StoreShared) << "to another block of the cluster";
  EXPECT_EQ(ops[6].record.transactions(), trace::kDistant + 1);
  EXPECT_EQ(ops[7].inst->copy, CopyKind::None);
  EXPECT_THAT(import().at("rules").dump(), HasSubstr("wait_group.read"));
}

TEST_F(Async, WhatHasNoEffectIsCountedByName) {
  imported_6({{"0000 00000001 0 UTMAPF.2D 2 UR8 UR4 0 0 0 NoVal",
               "0000 00000001 0 UTMAPF.2D 2 UR8 UR4 0 0 0 NoVal",
               "0010 ffffffff 0 USETMAXREG.DEALLOC.CTAPOOL 0 0 24 0 NoVal",
               "0020 00000001 0 SYNCS.ARRIVE.TRANS64.OPTOUT 2 R2 R3 8 1 0x0 0 0 0 NoVal",
               "0030 00000001 0 SYNCS.EXCH.64 2 UR4 UR6 8 1 0x0 0 0 0 NoVal"}});
  EXPECT_EQ(import().at("without_effect").dump(),
            R"({"SYNCS.ARRIVE.TRANS64.OPTOUT":1,"SYNCS.EXCH.64":1,"USETMAXREG.DEALLOC.CTAPOOL":1,)"
            R"("UTMAPF.2D":2})");
  EXPECT_THAT(import().at("rules").dump(), HasSubstr("values of its registers"));
  imported({"0000 ffffffff 0 UTMALDG.2D 0 0 0 ", "0010 ffffffff 0 SYNCS.EXCH.64 0 8 1 0x0 0 0 "},
           90);
  EXPECT_EQ(import().at("without_effect").dump(), R"({"SYNCS.EXCH.64":1,"UTMALDG.2D":1})")
      << "older tracers write neither addresses nor values";
}

// --- barrier objects ----------------------------------------------------------------------------

std::string init(unsigned count, const std::string& address = "0x400") {
  char value[32];
  std::snprintf(value, sizeof value, "%x", (0x100000 - count) << 1);
  return "0000 00000001 0 SYNCS.EXCH.64 2 UR4 UR6 8 1 " + address + " 0 0 0 Val 1 400 1 " + value;
}
std::string wait(unsigned parity, const std::string& address = "0x400") {
  return "0100 ffffffff 1 P0 SYNCS.PHASECHK.TRANS64.TRYWAIT 2 R3 R2 8 1 " + address +
         " 0 0 0 Val 1 0 1 400 1 " + (parity != 0 ? "80000000" : "0");
}
std::string arrive(const std::string& mask = "00000001", const std::string& address = "0x400") {
  return "0200 " + mask + " 1 R255 SYNCS.ARRIVE.TRANS64.A1T0 2 R3 R255 8 1 " + address +
         " 0 0 0 Val 1 0 1 400 1 0";
}
std::string expect_bytes(unsigned bytes) {
  char value[16];
  std::snprintf(value, sizeof value, "%x", bytes);
  return "0300 00000001 1 R255 SYNCS.ARRIVE.TRANS64 2 R3 R4 8 1 0x400 0 0 0 Val 1 0 1 400 1 " +
         std::string(value);
}
std::string load(unsigned bytes, const std::string& more = "0") {
  return "0400 00000001 0 UTMALDG.2D 2 UR8 UR4 " + std::to_string(bytes) + " 0x400 " + more + " " +
         std::to_string(bytes) + " 0 3 1 0x10000 0 NoVal";
}

TEST_F(Async, AProducerAndAConsumerMeetAtAnObject) {
  const std::string empty = "0x408";
  imported_6({{init(1), init(1, empty), expect_bytes(64), load(64), wait(0, empty),
               expect_bytes(64), load(64), kExit},
              {wait(0), arrive("00000001", empty), wait(1), kExit}});
  const auto producer = ops(*stream_, 0, 0), consumer = ops(*stream_, 0, 1);
  EXPECT_EQ(action(producer[0]), ObjectAction::Init);
  EXPECT_EQ(change(producer[0]).arrivals, 1u);
  EXPECT_EQ(change(producer[0]).object, 0x400u / 8);
  EXPECT_EQ(change(producer[1]).object, 0x408u / 8);
  EXPECT_EQ(action(producer[2]), ObjectAction::Arrive);
  EXPECT_EQ(change(producer[2]).arrivals, 1u);
  EXPECT_EQ(change(producer[2]).value, 64u);
  EXPECT_EQ(change(producer[5]).value, 1u) << "behind a load of two records";
  EXPECT_EQ(action(consumer[0]), ObjectAction::Wait);
  EXPECT_EQ(change(consumer[0]).value, 1u) << "the first phase";
  EXPECT_EQ(change(consumer[0]).arrivals, 0u);
  EXPECT_EQ(change(consumer[0]).lanes, kFullMask);
  EXPECT_EQ(change(consumer[2]).value, 2u);
  EXPECT_EQ(import().at("unended_waits"), 0);
}

TEST_F(Async, EachLaneArrives) {
  const auto all = imported_6({{init(32), arrive("ffffffff"), wait(0)}});
  EXPECT_EQ(change(all[1]).arrivals, 32u);
  EXPECT_EQ(change(all[2]).value, 1u);
}

TEST_F(Async, WhoStartsAheadWaitsForNothing) {
  const auto all = imported_6({{init(1), wait(1), arrive(), wait(0), arrive(), wait(1)}});
  EXPECT_EQ(change(all[1]).value, 0u) << "the phase before the first";
  EXPECT_EQ(change(all[3]).value, 1u);
  EXPECT_EQ(change(all[5]).value, 2u);
}

TEST_F(Async, APollThatIsRepeatedWasNoWait) {
  // The warp must arrive itself before the phase ends, which it does behind the poll.
  const auto all = imported_6({{init(1), wait(0), wait(0), arrive(), wait(0)}});
  EXPECT_EQ(change(all[1]).value, 0u);
  EXPECT_EQ(import().at("unended_waits"), 1) << "the second never ends where it stands";
  EXPECT_EQ(change(all[2]).value, 0u);
}

TEST_F(Async, ReplayedRegionsAreNoInstructions) {
  const auto all = imported_6({{init(1), arrive(), "0100 ffffffff 0 REPLAY_START 0 0 0 0 NoVal",
                                wait(0), "0100 ffffffff 0 REPLAY_END 0 0 0 0 NoVal", kExit}});
  EXPECT_EQ(all.size(), 4u);
  EXPECT_THAT(error_of_line("0100 ffffffff 0 REPLAY_START 0 0 0 0 NoVal"), HasSubstr("no error"));
  EXPECT_THAT(error_of(kernel_6({{"0100 ffffffff 0 REPLAY_START 0 0 0 0 NoVal"}})),
              HasSubstr("a warp without instructions"));
}

TEST_F(Async, BlocksOfAClusterArriveAtEachOther) {
  // Each block expects 64 bytes and loads half of them for both; rank 1 has addresses of its own.
  auto block = [](unsigned rank) {
    const std::string at = rank == 0 ? "0x400" : "0x1000400";
    auto of = [&](std::string line) { return line.replace(line.find("0x400"), 5, at); };
    return warp_text(0, {init(1, at), "0010 ffffffff 0 UCGABAR_ARV 0 0 0 0 NoVal",
                         "0020 ffffffff 0 UCGABAR_WAIT 0 0 0 0 NoVal", of(expect_bytes(64)),
                         of(load(32, "1 0x3")), wait(0, at), kExit});
  };
  const TraceRecording recording(
      trace(header_6(1, 2) + block_6(0, block(0), "0,0,0", 0) + block_6(1, block(1), "0,0,0", 1)));
  const auto stream = recording.open(0);
  EXPECT_EQ(recording.trailer().at("import").at("unended_waits"), 0);
  for (unsigned rank = 0; rank < 2; ++rank) {
    const auto all = ops(*stream, rank);
    ASSERT_EQ(all.size(), 8u);
    EXPECT_EQ(kind(all[1]), BarrierKind::Warp);
    EXPECT_EQ(kind(all[2]), BarrierKind::Sync);
    EXPECT_EQ(change(all[5]).value, 32u) << "what the block's own copy brings";
    EXPECT_EQ(change(all[6]).arrivals, ObjectChange::kBrought);
    EXPECT_EQ(change(all[6]).value, 1u + 32u) << "an arrival and half of the bytes";
  }
}

TEST_F(Async, NamedBarriersHaveTheirThreads) {
  const auto all = imported_6(
      {{"0000 ffffffff 0 BAR.SYNC 0 0 3 64 NoVal",
        "0010 ffffffff 1 R4 BAR.ARV 1 R4 0 64 0 Val 1 5 1 5",
        "0020 ffffffff 0 BAR.SYNC.DEFER_BLOCKING 0 0 0 0 NoVal"},
       {"0000 ffffffff 0 BAR.SYNC 0 0 3 64 NoVal", "0010 ffffffff 0 BAR.SYNC 0 0 5 64 NoVal",
        "0020 ffffffff 0 BAR.SYNC.DEFER_BLOCKING 0 0 0 0 NoVal"}});
  EXPECT_EQ(all[0].record.mask, 3u | 2u << 8);
  EXPECT_EQ(all[1].record.mask, 5u | 1u << 4 | 2u << 8) << "by register";
  EXPECT_EQ(all[2].record.mask, 0u) << "all of the block";
}

TEST_F(Async, BadLinesAreTold) {
  const std::vector<std::pair<std::string, std::string>> lines = {
      {"0000 ffffffff 1 R24 HGMMA.64x8x16.F32 1 R24 2 0 0 NoVal",
       "0 or 1, whether it ends a group"},
      {"0000 ffffffff 1 Q4 MOV 0 0 0 0 NoVal", "a register R0 to R255, found 'Q4'"},
      {"0000 ffffffff 1 UQ4 MOV 0 0 0 0 NoVal", "a register R0 to R255, found 'UQ4'"},
      {"0000 ffffffff 0 BAR.SYNC 0 0 16 64 NoVal", "a barrier from 0 to 15, found 16"},
      {"0000 ffffffff 0 BAR.SYNC 0 0 1 63 NoVal", "a barrier of whole warps"},
      {"0000 ffffffff 0 UTMALDG 0 16 zz", "the address of a barrier object, found 'zz'"},
      {"0000 ffffffff 0 UTMALDG 0 16 0x8 2", "whether it is a multicast, found '2'"},
      {"0000 ffffffff 0 UTMALDG 0 16 0x8 1 0x10000", "a mask of 16 blocks"},
      {"0000 ffffffff 0 UTMALDG 0 16 0x8 0 1048577", "at most 1048576, found '1048577'"},
      {"0000 ffffffff 0 UTMALDG 0 16 0x8 0 16 -1", "bytes outside of the tensor"},
      {"0000 ffffffff 0 UTMALDG 0 16 0x8 0 16 0 1", "an address mode 3 or 4, found '1'"},
      {"0000 ffffffff 0 UTMALDG 0 16 0x8 0 16 0 3 1048577", "the number of addresses"},
      {"0000 ffffffff 0 UTMALDG 0 16 0x8 0 16 0 3 2 0x10", "an address of the copy, found the end"},
      {"0000 ffffffff 0 UTMALDG 0 16 0x8 0 16 0 4 0x10 2", "an address difference"},
      {"0000 ffffffff 0 UTMALDG 0 16 0x8 0 16 0 4 0x10 2 -32", "addresses of 49 bits"},
      {"0000 ffffffff 0 UTMALDG 0 16 0x9 0 16 0 3 1 0x10 0", "a multiple of 8 in 256 KiB"},
      {"0000 ffffffff 0 UTMALDG 0 16 0x10000008 0 16 0 3 1 0x10 0", "blocks 0 to 15"},
      {"0000 00000001 0 SYNCS.EXCH.64 2 R2 R3 8 1 0x0 0 0 0 Val 2 0", "1 or 32 values"},
      {"0000 00000001 0 SYNCS.EXCH.64 2 R2 R3 8 1 0x0 0 0 0 Val 1 0 1", "a value of a register"},
      {"0000 00000001 0 SYNCS.ARRIVE.TRANS64 2 R2 R3 8 1 0x0 0 0 0 Val 1 0 1 100000",
       "at most 1048575 arrivals or bytes"}};
  for (const auto& [line, words] : lines)
    EXPECT_THAT(error_of_line(line), HasSubstr(words)) << line;
}

}  // namespace
}  // namespace raddle::accelsim::async_test
