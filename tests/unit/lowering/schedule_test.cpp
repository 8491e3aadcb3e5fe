// The order of a block's instructions, joined loads, and streams put into that order.
#include "raddle/lowering/schedule.h"

#include <gtest/gtest.h>

#include "raddle/lowering/scheduled_stream.h"
#include "raddle/trace/memory_trace.h"
#include "unit/lowering/code_builder.h"

namespace raddle::lowering::schedule_test {
namespace {

using trace::KernelCode;
using trace::OpKind;
using trace::Record;

/// The builder's code with the bytes of its accesses; addresses without a register at these places.
KernelCode code_of(const CodeBuilder& builder, std::vector<std::int64_t> places = {}) {
  KernelCode code = builder.code();
  std::size_t next = 0;
  for (trace::StaticInst& in : code.instructions) {
    if (in.op_class == trace::OpClass::Memory) in.bytes = 4;
    if (in.kind != OpKind::LoadShared || next == places.size()) continue;
    in.operands.push_back({trace::Operand::Kind::Address, trace::kNoRegister, places[next++]});
  }
  return code;
}

/// Opcodes of the code, in order.
std::string names(const KernelCode& code) {
  std::string out;
  for (const trace::StaticInst& in : code.instructions)
    out += (out.empty() ? "" : " ") + code.opcode_names[in.opcode];
  return out;
}

std::vector<std::uint32_t> blocks_of(const Schedule& s) {
  std::vector<std::uint32_t> out;
  for (const ScheduleStep& step : s.steps) out.push_back(step.block);
  return out;
}

TEST(Schedule, LoadsAndTheirAddressesGoFirst) {
  CodeBuilder b;
  b.add("ld1", {"r1"}, {"[d1]"}, OpKind::LoadGlobal).add("use1", {"r2"}, {"r1", "r2"});
  b.add("address", {"d2"}, {"d1", "#"});
  b.add("ld2", {"r3"}, {"[d2]"}, OpKind::LoadGlobal).add("use2", {"r2"}, {"r3", "r2"});
  b.add("ret", {}, {}, OpKind::Exit);
  const Schedule s = schedule(code_of(b));
  EXPECT_EQ(names(s.code), "ld1 address ld2 use1 use2 ret");
  EXPECT_EQ(s.place, (std::vector<std::uint32_t>{0, 3, 1, 2, 4, 5}));
}

TEST(Schedule, ALoadStaysBehindAStoreThatMayBeToItsPlace) {
  CodeBuilder b;
  b.add("use0", {"r1"}, {"r2"}).add("st", {}, {"[d1]", "r1"}, OpKind::StoreGlobal);
  b.add("ld", {"r3"}, {"[d2]"}, OpKind::LoadGlobal);
  b.add("other", {"r4"}, {"[d3]"}, OpKind::LoadShared).add("ret", {}, {}, OpKind::Exit);
  EXPECT_EQ(names(schedule(code_of(b)).code), "other use0 st ld ret");
}

TEST(Schedule, NothingInMemoryPassesABarrier) {
  CodeBuilder b;
  b.add("use", {"r1"}, {"r2"}).add("st", {}, {"[d1]", "r1"}, OpKind::StoreShared);
  b.add("bar", {}, {}, OpKind::Barrier).add("ld", {"r3"}, {"[d2]"}, OpKind::LoadGlobal);
  b.add("ret", {}, {}, OpKind::Exit);
  EXPECT_EQ(names(schedule(code_of(b)).code), "use st bar ld ret");
}

TEST(Schedule, AValueIsReadBeforeItsRegisterIsWrittenAgain) {
  CodeBuilder b;
  b.add("use", {"r9"}, {"r1"}).add("ld", {"r1"}, {"[d1]"}, OpKind::LoadGlobal);
  b.add("ret", {}, {}, OpKind::Exit);
  EXPECT_EQ(names(schedule(code_of(b)).code), "use ld ret");
}

TEST(Schedule, NoMoreLoadsGoAheadThanRegistersAreMeantForThem) {
  CodeBuilder b;
  std::string expected;
  for (unsigned i = 0; i < kGlobalWordsAhead + 2; ++i) {
    const std::string n = std::to_string(i);
    b.add("ld" + n, {"r" + n}, {"[d1]"}, OpKind::LoadGlobal).add("use" + n, {"r99"}, {"r" + n});
  }
  b.add("ret", {}, {}, OpKind::Exit);
  for (unsigned i = 0; i < kGlobalWordsAhead; ++i) expected += "ld" + std::to_string(i) + " ";
  EXPECT_TRUE(names(schedule(code_of(b)).code).starts_with(expected + "use0 ld16 use1 ld17 use2"));
}

Delays all(std::uint32_t cycles) {
  Delays out;
  out.fill(cycles);
  return out;
}

/// Two chains of three: each waits four cycles for a result.
TEST(ListSchedule, ChainsTakeTurns) {
  CodeBuilder b;
  for (const std::string chain : {"1", "2"})
    for (const char* step : {"a", "b", "c"})
      b.add(step + chain, {"r" + chain}, {"r" + chain, "r3"});
  b.add("ret", {}, {}, OpKind::Exit);
  EXPECT_EQ(names(schedule(code_of(b), {}, all(4)).code), "a1 a2 b1 b2 c1 c2 ret");
  EXPECT_EQ(names(schedule(code_of(b), {}, all(1)).code), "a1 b1 c1 a2 b2 c2 ret")
      << "nothing to hide";
  EXPECT_EQ(names(schedule(code_of(b)).code), "a1 b1 c1 a2 b2 c2 ret");
}

/// Where none has its operands, the one comes that has them soonest.
TEST(ListSchedule, TheSoonestComesWhereAllWait) {
  CodeBuilder b;
  b.add("slow", {"r1"}, {"r9"}).add("fast", {"r2"}, {"r9"});
  b.add("of_slow", {"r3"}, {"r1"}).add("of_fast", {"r4"}, {"r2"}).add("ret", {}, {}, OpKind::Exit);
  KernelCode code = code_of(b);
  code.instructions[0].op_class = trace::OpClass::Sfu;
  Delays delays = all(4);
  delays[static_cast<unsigned>(trace::OpClass::Sfu)] = 20;
  EXPECT_EQ(names(schedule(code, {}, delays).code), "slow fast of_fast of_slow ret");
}

/// A thread has seven predicates: the eighth comparison waits until one has been read.
TEST(ListSchedule, PredicatesAreFew) {
  CodeBuilder b;
  for (unsigned i = 1; i <= 9; ++i) {
    const std::string n = std::to_string(i);
    b.add("set" + n, {"p" + n}, {"r1", "#"});
    b.add("use" + n, {"r2"}, {"@p" + n, "r2", "r3"});
  }
  b.add("ret", {}, {}, OpKind::Exit);
  const std::string order = names(schedule(code_of(b), {}, all(40)).code);
  EXPECT_TRUE(order.starts_with("set1 set2 set3 set4 set5 set6 set7 use1 ")) << order;
}

TEST(ListSchedule, OnlySoManyGoBeforeTheirTurn) {
  CodeBuilder b;
  b.add("slow", {"r1"}, {"r9"}).add("reader", {"r2"}, {"r1"});
  for (unsigned i = 0; i < 100; ++i) b.add("x", {"r" + std::to_string(10 + i)}, {"r9"});
  b.add("ret", {}, {}, OpKind::Exit);
  const Schedule s = schedule(code_of(b), {}, all(500));
  EXPECT_EQ(s.place[1], 1 + LatencyOrder::kMaxAhead);
}

TEST(Schedule, FourAlignedWordsOfSharedMemoryAreOneLoad) {
  CodeBuilder b;
  for (const char* r : {"r3", "r0", "r1", "r2", "r4", "r5"})
    b.add("ld.shared", {r}, {}, OpKind::LoadShared);
  b.add("ret", {}, {}, OpKind::Exit);
  const Schedule s = schedule(code_of(b, {28, 16, 20, 24, 36, 40}));  // 36 and 40: not aligned to 8
  ASSERT_EQ(s.code.instructions.size(), 4u);
  EXPECT_EQ(s.code.instructions[0].bytes, 16);
  EXPECT_EQ(s.code.instructions[0].operands.size(), 5u);
  EXPECT_EQ(s.place, (std::vector<std::uint32_t>{0, 0, 0, 0, 1, 2, 3}));
  EXPECT_EQ(s.joined, (std::vector<bool>{false, true, true, true, false, false, false}));
}

TEST(Schedule, WordsBeforeAndAfterAStoreAreNotOneLoad) {
  CodeBuilder b;
  b.add("ld.shared", {"r0"}, {}, OpKind::LoadShared);
  b.add("st", {}, {"[d1]", "r9"}, OpKind::StoreShared);
  b.add("ld.shared", {"r1"}, {}, OpKind::LoadShared).add("ret", {}, {}, OpKind::Exit);
  EXPECT_EQ(schedule(code_of(b, {0, 4})).code.instructions.size(), 4u);
}

/// Two loads that may be left out, each with what is stored else: 0 to 4, 5 to 9, 10.
CodeBuilder two_guarded_loads() {
  CodeBuilder b;
  for (const char* n : {"1", "2"}) {
    const std::string i = n;
    b.add("setp.lt.u32", {"p" + i}, {"%tid", "#"}).add("mov.u32", {"r" + i}, {"#"});
    b.branch(b.size() + 2, "p" + i).add("ld" + i, {"r" + i}, {"[d" + i + "]"}, OpKind::LoadGlobal);
    b.add("st" + i, {}, {"[d9]", "r" + i}, OpKind::StoreShared);
  }
  return b.add("ret", {}, {}, OpKind::Exit);
}

TEST(Schedule, SidesThatArePredicatedAreOneBlockWithWhatIsAround) {
  const KernelCode code = code_of(two_guarded_loads());
  const Schedule s = schedule(code);
  EXPECT_EQ(names(s.code), "setp.lt.u32 mov.u32 ld1 setp.lt.u32 mov.u32 ld2 st1 st2 ret");
  EXPECT_EQ(blocks_of(s), std::vector<std::uint32_t>(11, 0));
  EXPECT_EQ(s.dropped, (std::vector<bool>{false, false, true, false, false, false, false, true,
                                          false, false, false}));
  const auto predicate = [&](unsigned i) { return s.code.instructions[i].predicate; };
  EXPECT_EQ(predicate(2), code.instructions[2].operands[0].reg) << "that of the branch";
  EXPECT_EQ(predicate(5), code.instructions[7].operands[0].reg);
  for (const unsigned i : {0u, 1u, 3u, 4u, 6u, 7u, 8u}) EXPECT_EQ(predicate(i), trace::kNoRegister);
  EXPECT_EQ(s.code.instructions[2].operands, code.instructions[3].operands) << "as they were";
}

TEST(Schedule, WhatASideWritesKeepsItsPlaceBehindTheOldValueAndBeforeItsReaders) {
  CodeBuilder b;
  b.add("setp.lt.u32", {"p1"}, {"%tid", "#"}).add("slow", {"r1"}, {"r7"});
  b.add("use0", {"r8"}, {"r1"}).branch(5, "p1");
  b.add("ld", {"r1"}, {"[d1]"}, OpKind::LoadGlobal);
  b.add("use1", {"r9"}, {"r1"}).add("ret", {}, {}, OpKind::Exit);
  EXPECT_EQ(names(schedule(code_of(b)).code), "setp.lt.u32 slow use0 ld use1 ret");
}

TEST(Schedule, SidesStayBlocksWhereSomebodyElseComesIn) {
  CodeBuilder b;
  b.add("setp.lt.u32", {"p1"}, {"%tid", "#"}).branch(3, "p1");  // 0, 1
  b.add("ld", {"r1"}, {"[d1]"}, OpKind::LoadGlobal);            // 2
  b.add("use", {"r2"}, {"r1"}).add("setp.eq.u32", {"p2"}, {"r2", "#"});
  b.branch(3, "p2").add("ret", {}, {}, OpKind::Exit);  // a loop from the meeting place
  const Schedule s = schedule(code_of(b));
  EXPECT_EQ(blocks_of(s), (std::vector<std::uint32_t>{0, 0, 1, 2, 2, 2, 3}));
  EXPECT_EQ(s.dropped, std::vector<bool>(7, false));
  EXPECT_EQ(s.code.instructions[2].predicate, trace::kNoRegister);
}

TEST(Schedule, MachinesWithoutPredicatedSidesKeepTheirBlocks) {
  LoweringSpec kepler;
  kepler.generation = Generation::Kepler;
  const Schedule s = schedule(code_of(two_guarded_loads()), kepler);
  EXPECT_EQ(blocks_of(s).back(), 4u);
  EXPECT_EQ(s.dropped, std::vector<bool>(11, false));
}

/// Records of one warp.
class Stream : public testing::Test {
 protected:
  void put(std::uint32_t inst, unsigned count, unsigned transactions, std::uint32_t mask,
           const std::vector<std::uint32_t>& payload = {}) {
    const Record r = Record::make(inst, count, transactions, mask);
    words.insert(words.end(), {r.head, r.mask});
    words.insert(words.end(), payload.begin(), payload.end());
  }
  /// "place:count/pieces@mask" of each record as scheduled.
  std::string read(const KernelCode& code) {
    auto inner = std::make_shared<trace::MemoryTrace>(std::make_shared<KernelCode>(code),
                                                      trace::LaunchShape{{1}, {32}, 0});
    const auto room = inner->grow(0, 0, static_cast<unsigned>(words.size()));
    std::copy(words.begin(), words.end(), room.at);
    inner->commit(0, 0, room.at + words.size());
    inner->finish(0);
    ScheduledStream stream(inner, std::make_shared<const Schedule>(schedule(code)));
    std::string out;
    trace::WarpCursor at = stream.open(0, 0);
    do {
      while (at.at != at.end) {
        const Record r{at.at[0], at.at[1]};
        out += (out.empty() ? "" : " ") + std::to_string(r.inst()) + ":" +
               std::to_string(r.count()) + "/" + std::to_string(r.transactions()) + "@" +
               std::to_string(r.mask);
        const bool transactions =
            trace::carries_transactions(stream.code().instructions[r.inst()].kind);
        if (transactions && r.transactions() != 0) out += "(" + std::to_string(at.at[2]) + ")";
        at.at +=
            trace::kRecordWords + (transactions ? r.transactions() * trace::kTransactionWords : 0);
      }
    } while (stream.refill(at));
    stream.close(0);
    return out;
  }
  std::vector<std::uint32_t> words;
};

TEST_F(Stream, EachRunOfABlockIsPutIntoItsOrder) {
  CodeBuilder b;
  b.add("a", {"r5"}, {"r6"});
  b.add("ld1", {"r1"}, {"[d1]"}, OpKind::LoadGlobal).add("use1", {"r2"}, {"r1", "r2"});
  b.add("ld2", {"r3"}, {"[d1]"}, OpKind::LoadGlobal).add("use2", {"r2"}, {"r3", "r2"});
  b.branch(1, "p1").add("ret", {}, {}, OpKind::Exit);
  put(0, 1, 0, 7);
  for (const std::uint32_t line : {70u, 80u}) {  // twice round the loop
    put(1, 1, 1, 7, {line, 1, 7});
    put(2, 1, 0, 7);
    put(3, 1, 1, 7, {line + 1, 1, 7});
    put(4, 2, 0, 7);
  }
  put(6, 1, 0, 7);
  // Places: a 0, ld1 1, ld2 2, use1 3, use2 4, branch 5, ret 6.
  EXPECT_EQ(read(code_of(b)),
            "0:1/0@7 1:1/1@7(70) 2:1/1@7(71) 3:3/0@7 1:1/1@7(80) 2:1/1@7(81) 3:3/0@7 6:1/0@7");
}

TEST_F(Stream, JoinedLoadsAreOneRecordWithTheWorstOfTheirPasses) {
  CodeBuilder b;
  b.add("ld.shared", {"r0"}, {}, OpKind::LoadShared).add("use", {"r9"}, {"r0"});
  b.add("ld.shared", {"r1"}, {}, OpKind::LoadShared).add("ret", {}, {}, OpKind::Exit);
  put(0, 1, 1, 15);
  put(1, 1, 0, 15);
  put(2, 1, 4, 15);
  put(3, 1, 0, 15);
  EXPECT_EQ(read(code_of(b, {8, 12})), "0:1/4@15 1:1/0@15 2:1/0@15");
}

// A run with fewer lanes, and a predicated instruction's own mask.
TEST_F(Stream, MasksStayWithTheirInstructions) {
  CodeBuilder b;
  b.add("x", {"r1"}, {"r2"}).add("y", {"r3"}, {"r4", "@p1"}).add("z", {"r5"}, {"r6"});
  b.add("ret", {}, {}, OpKind::Exit);
  put(0, 1, 0, 3);
  put(1, 1, 0, 1);
  put(2, 1, 0, 3);
  put(3, 1, 0, 3);
  EXPECT_EQ(read(code_of(b)), "0:1/0@3 1:1/0@1 2:1/0@3 3:1/0@3");
}

// Some lanes load, or none: the branches are gone, sides keep their lanes, and what is predicated
// is issued whatever its lanes do.
TEST_F(Stream, PredicatedSidesAreExecutedByTheirLanes) {
  const KernelCode code = code_of(two_guarded_loads());
  put(0, 3, 0, ~0u);               // setp, mov, the branch
  put(3, 1, 1, 0xff, {11, 0, 0});  // ld1, of eight lanes
  put(4, 1, 1, ~0u);               // st1
  put(5, 2, 0, ~0u);
  put(7, 1, 0, ~0u);  // setp, mov; the branch by itself, which all take
  put(9, 1, 2, ~0u);
  put(10, 1, 0, ~0u);
  EXPECT_EQ(read(code),
            "0:2/0@4294967295 2:1/1@255(11) 3:2/0@4294967295 5:1/0@4294967295 6:1/1@4294967295 "
            "7:1/2@4294967295 8:1/0@4294967295");
}

}  // namespace
}  // namespace raddle::lowering::schedule_test
