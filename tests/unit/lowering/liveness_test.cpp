// Live registers of kernels of a few instructions, worked out by hand.
#include "raddle/lowering/liveness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "raddle/lowering/lowering.h"
#include "unit/lowering/code_builder.h"

namespace raddle::lowering::liveness_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using trace::OpKind;

void end(CodeBuilder& b) {
  b.branch(b.size());  // to nowhere
  trace::KernelCode& code = const_cast<trace::KernelCode&>(b.code());
  code.instructions.back().next.clear();
}

TEST(LiveRegisters, InAStraightLineFromTheWriteToTheLastRead) {
  CodeBuilder b;
  b.add("mov.u32", {"r1"}, {"#"});
  b.add("ld.global.u64", {"d1"}, {"[d9]"}, OpKind::LoadGlobal);  // r1, d9
  b.add("cvt.u32.u64", {"r2"}, {"d1"});                          // r1, d1
  b.add("add.u32", {"r3"}, {"r1", "r2"});                        // r1, r2
  b.add("st.global.u32", {}, {"[d9]", "r3"}, OpKind::StoreGlobal);
  end(b);
  EXPECT_THAT(live_in_ptx(b.code()), ElementsAre(2, 3, 5, 4, 3, 0)) << "d9 lives to the store";
}

TEST(LiveRegisters, AroundALoopWhatTheNextTripReads) {
  CodeBuilder b;
  b.add("mov.u32", {"r1"}, {"#"});
  b.add("mov.u32", {"r2"}, {"#"});            // r1
  b.add("add.u32", {"r3"}, {"r1", "r2"});     // 2: r1, r2: the loop
  b.add("mul.lo.u32", {"r1"}, {"r3", "r3"});  // r2, r3: not r1, which is written anew
  b.add("setp.lt.u32", {"p1"}, {"r1", "#"});  // r1, r2
  b.branch(2, "p1");                          // r1, r2; predicates do not count
  b.add("st.shared.u32", {}, {"r1"}, OpKind::StoreShared);
  end(b);
  EXPECT_THAT(live_in_ptx(b.code()), ElementsAre(0, 1, 2, 2, 2, 2, 1, 0));
}

TEST(LiveRegisters, BeforeABranchThoseOfBothSides) {
  CodeBuilder b;
  b.branch(3, "p1");                                        // r1, r2, r3
  b.add("add.u32", {"r4"}, {"r1", "r2"});                   // 1: r1, r2
  b.branch(4);                                              // r4
  b.add("mov.u32", {"r4"}, {"r3"});                         // 3: r3
  b.add("st.shared.u32", {}, {"r4"}, OpKind::StoreShared);  // 4: r4
  end(b);
  EXPECT_THAT(live_in_ptx(b.code()), ElementsAre(3, 2, 1, 1, 1, 0));
}

TEST(LiveRegisters, AWriteUnderAGuardLeavesTheOldValueAlive) {
  CodeBuilder b;
  b.add("mov.u32", {"r1"}, {"#"}).add("mov.u32", {"r1"}, {"r2", "@p1"});
  b.add("st.shared.u32", {}, {"r1"}, OpKind::StoreShared);
  end(b);
  EXPECT_THAT(live_in_ptx(b.code()), ElementsAre(1, 2, 1, 0));
}

TEST(LiveRegisters, AnAccumulatorIsReadBesides) {
  CodeBuilder b;
  b.add("wgmma.mma_async", {"r1"}, {"d1"});
  b.add("st.shared.u32", {}, {"r1"}, OpKind::StoreShared);
  end(b);
  EXPECT_THAT(live_in_ptx(b.code()), ElementsAre(3, 1, 0));
}

TEST(LiveRegisters, OfAnAccessInAnotherSpaceAreThoseOfTheAccess) {
  CodeBuilder b;
  b.add("ld.u32", {"r1"}, {"[d1]"}, OpKind::LoadGlobal);
  b.add("st.shared.u32", {}, {"r1"}, OpKind::StoreShared);
  end(b);
  trace::KernelCode code = b.code();
  code.instructions.push_back(code.instructions[0]);
  code.instructions.back().alias_of = 0;
  EXPECT_THAT(live_in_ptx(code), ElementsAre(2, 1, 0, 2));
  const trace::LoweredCode l = lower(code, {Level::Machine, Generation::Volta}, true);
  EXPECT_EQ(l.live.at(l.first[3]), l.live.at(l.first[0] + 1)) << "behind the stack's move";
}

TEST(LiveRegisters, AreNotKnownWithoutOperandsOrWithCalls) {
  trace::KernelCode code;
  code.instructions.resize(3);
  EXPECT_THAT(lower(code, {}, true).live, IsEmpty());
  for (const Level level : {Level::Ptx, Level::Machine}) {
    CodeBuilder b;
    b.add("call.uni", {"r1"}, {"r2"});
    end(b);
    EXPECT_THAT(lower(b.code(), {level}, true).live, IsEmpty());
  }
}

TEST(LiveRegisters, AreWorkedOutOnlyIfWanted) {
  CodeBuilder b;
  b.add("mov.u32", {"r1"}, {"r2"});
  EXPECT_THAT(lower(b.code(), {}).live, IsEmpty());
  EXPECT_THAT(lower(b.code(), {Level::Machine}).live, IsEmpty());
}

TEST(LiveRegisters, AreNoMoreThanTheThreadHas) {
  CodeBuilder b;
  b.add("st.global.u32", {}, {"[d1]", "r1"}, OpKind::StoreGlobal);
  end(b);
  trace::KernelCode code = b.code();
  code.registers_per_thread = 2;
  EXPECT_THAT(lower(code, {}, true).live, ElementsAre(2, 0));
}

// Each PTX instruction's machine instructions and one register for the stack.
/// Loads, so that the registers are written.
CodeBuilder loaded(const std::vector<std::string>& registers) {
  CodeBuilder b;
  for (const std::string& r : registers) b.add("ld.shared.u32", {r}, {"#"}, OpKind::LoadShared);
  return b;
}

TEST(LiveRegisters, OfMachineCodeAreThoseOfItsWords) {
  CodeBuilder b = loaded({"d1", "d3", "r1"});
  b.add("add.s64", {"d2"}, {"d1", "d3"});  // 3: two instructions, a word each
  b.add("st.global.u32", {}, {"[d2]", "r1"}, OpKind::StoreGlobal);
  end(b);
  const trace::LoweredCode l = lower(b.code(), {Level::Machine, Generation::Volta}, true);
  ASSERT_EQ(l.first[4] - l.first[3], 2u);
  EXPECT_EQ(l.live.at(l.first[3]), 1u + 5) << "d1, d3, r1";
  EXPECT_EQ(l.live.at(l.first[3] + 1), 1u + 4) << "the upper words, a word of d2, r1";
  EXPECT_EQ(l.live.at(l.first[4]), 1u + 3);
  EXPECT_EQ(l.live.at(l.first[5]), 1u);
}

// The branch at 4 goes, for nothing else leads to its target; what lives there lives before it.
TEST(LiveRegisters, OfMachineCodeFollowBranchesThatAreGone) {
  CodeBuilder b = loaded({"r1", "r2", "r3"});
  b.add("st.shared.u32", {}, {"[r3]", "r1"}, OpKind::StoreShared);
  b.branch(6);
  end(b);
  b.add("st.shared.u32", {}, {"[r3]", "r2"}, OpKind::StoreShared);
  end(b);
  const trace::LoweredCode l = lower(b.code(), {Level::Machine, Generation::Volta}, true);
  ASSERT_EQ(l.first[4], l.first[5]);
  EXPECT_EQ(l.live.at(l.first[3]), 1u + 3);
  EXPECT_EQ(l.live.at(l.first[5]), 1u) << "the end of the other way";
}

}  // namespace
}  // namespace raddle::lowering::liveness_test
