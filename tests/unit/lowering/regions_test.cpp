// Branches as an assembler treats them, on the forms that were given to ptxas (docs/lowering.md).
#include "raddle/lowering/regions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "raddle/lowering/lowering.h"
#include "unit/lowering/code_builder.h"

namespace raddle::lowering::regions_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using trace::OpKind;
using Numbers = std::vector<std::uint32_t>;

Numbers set_in(const std::vector<bool>& flags) {
  Numbers out;
  for (std::uint32_t i = 0; i < flags.size(); ++i)
    if (flags[i]) out.push_back(i);
  return out;
}
Regions regions_of(const CodeBuilder& b, Generation g = Generation::Volta) {
  return find_regions(Plan(b.code(), g), g);
}

/// 0, 1: p1 of a value that `source` has; 2: the branch.
CodeBuilder begin(const std::string& source) {
  CodeBuilder b;
  b.add("mov.u32", {"r1"}, {source});
  return b.add("setp.lt.u32", {"p1"}, {"r1", "#"});
}
CodeBuilder& some(CodeBuilder& b, unsigned n) {
  for (unsigned k = 0; k < n; ++k) b.add("fma.rn.f32", {"r2"}, {"r2", "r3", "r3"});
  return b;
}
CodeBuilder& end(CodeBuilder& b) {
  b.add("st.global.u32", {}, {"[d1]", "r2"}, OpKind::StoreGlobal);
  return b.add("ret", {}, {}, OpKind::Exit);
}
/// A branch over n instructions.
CodeBuilder over(const std::string& source, unsigned n) {
  CodeBuilder b = begin(source);
  b.branch(3 + n, "p1");
  some(b, n);
  end(b);
  return b;
}

TEST(Regions, AShortBranchBecomesPredicates) {
  const Regions r = regions_of(over("%tid", kMaxPredicated));
  EXPECT_THAT(set_in(r.predicated), ElementsAre(2));
  EXPECT_THAT(set_in(r.prepares), IsEmpty());
  EXPECT_THAT(set_in(r.meets), IsEmpty());
}

TEST(Regions, SidesKnowTheBranchThatDecides) {
  const Regions r = regions_of(over("%tid", 2));
  EXPECT_THAT(r.branch, ElementsAre(kNone, kNone, kNone, 2, 2, kNone, kNone));
}

TEST(Regions, WhatIsPredicatedWaitsForItsPredicate) {
  const CodeBuilder b = over("%tid", 2);
  const trace::LoweredCode out = lower(b.code(), {Level::Machine, Generation::Volta});
  const auto inst = [&](std::uint32_t i) { return out.code.instructions[out.first[i]]; };
  ASSERT_EQ(inst(1).writes.size(), 1u);
  for (const std::uint32_t i : {3u, 4u}) EXPECT_THAT(inst(i).reads, Contains(inst(1).writes[0]));
  EXPECT_THAT(inst(5).reads, Not(Contains(inst(1).writes[0])));
}

TEST(Regions, BehindALongOneLanesMeet) {
  const Regions r = regions_of(over("%tid", kMaxPredicated + 1));
  EXPECT_THAT(set_in(r.predicated), IsEmpty());
  EXPECT_THAT(set_in(r.prepares), ElementsAre(2));
  EXPECT_THAT(set_in(r.meets), ElementsAre(2 + kMaxPredicated + 2));
}

TEST(Regions, LanesThatGoTogetherNeedNotMeet) {
  EXPECT_THAT(set_in(regions_of(over("%ntid", kMaxPredicatedUniform)).predicated), ElementsAre(2));
  const Regions r = regions_of(over("%ntid", kMaxPredicatedUniform + 1));
  EXPECT_THAT(set_in(r.predicated), IsEmpty());
  EXPECT_THAT(set_in(r.meets), IsEmpty());
}

// What was loaded may differ between lanes; so may what is computed of it.
TEST(Regions, ALoadedValueVaries) {
  CodeBuilder b;
  b.add("ld.global.u32", {"r4"}, {"[d1]"}, OpKind::LoadGlobal);
  b.add("setp.lt.u32", {"p1"}, {"r4", "#"}).branch(13, "p1");
  end(some(b, 10));
  EXPECT_THAT(set_in(regions_of(b).meets), ElementsAre(13));
}

TEST(Regions, TwoShortSides) {
  const auto sides = [](unsigned first, unsigned second) {
    CodeBuilder b = begin("%tid");
    b.branch(4 + first, "p1");
    some(b, first).branch(4 + first + second);
    end(some(b, second));
    return regions_of(b);
  };
  EXPECT_THAT(set_in(sides(8, 8).predicated), ElementsAre(2, 11))
      << "with the way round the second";
  EXPECT_THAT(set_in(sides(8, 9).predicated), IsEmpty());
  EXPECT_THAT(set_in(sides(8, 9).meets), ElementsAre(21));
}

// As clang writes an if: a branch over a branch to the side.
TEST(Regions, ASideOfSeveralBlocksOneAfterAnother) {
  CodeBuilder b = begin("%tid");
  b.branch(6, "p1").branch(4);  // 2, 3
  end(some(b, 2));              // 4 and 5, 6
  const Regions r = regions_of(b);
  EXPECT_THAT(set_in(r.predicated), ElementsAre(2, 3));
  EXPECT_THAT(r.branch, ElementsAre(kNone, kNone, kNone, 2, 2, 2, kNone, kNone));
  EXPECT_THAT(r.meeting, ElementsAre(kNone, kNone, 6, kNone, kNone, kNone, kNone, kNone));
}

TEST(Regions, ASideInWhichTheWayPartsIsNoPredicate) {
  CodeBuilder b = begin("%tid");
  b.branch(6, "p1");                                                      // 2
  b.add("setp.lt.u32", {"p2"}, {"r1", "#"});                              // 3
  b.branch(6, "p2").add("atom", {"r4"}, {"[d1]"}, OpKind::AtomicGlobal);  // 4, 5
  end(b);
  EXPECT_THAT(set_in(regions_of(b).predicated), IsEmpty());
}

TEST(Regions, OnlySomeInstructionsCanHavePredicates) {
  const auto predicated = [](const std::string& source, OpKind kind) {
    CodeBuilder b = begin(source);
    b.branch(4, "p1");
    b.add("x", {"r2"}, {"[d1]"}, kind);
    end(b);
    return !set_in(regions_of(b).predicated).empty();
  };
  EXPECT_TRUE(predicated("%tid", OpKind::LoadShared));
  EXPECT_TRUE(predicated("%tid", OpKind::LoadConst));
  EXPECT_TRUE(predicated("%tid", OpKind::LoadGlobal));
  EXPECT_FALSE(predicated("%tid", OpKind::AtomicGlobal));
}

// Behind a loop that lanes leave one by one they meet; the branch of each pass is no region.
TEST(Regions, ALoop) {
  CodeBuilder b = begin("%tid");
  some(b, 2).add("setp.lt.u32", {"p1"}, {"r2", "r1"}).branch(2, "p1");
  end(b);
  const Regions r = regions_of(b);
  EXPECT_THAT(set_in(r.meets), ElementsAre(6));
  EXPECT_THAT(set_in(r.prepares), IsEmpty());
  EXPECT_THAT(set_in(r.predicated), IsEmpty());
}

// As clang writes loops: one side of a branch may stand before it.
TEST(Regions, SidesInAnyOrder) {
  CodeBuilder b = begin("%tid");
  b.branch(13);       // 2: to the test
  some(b, 9);         // 3 to 11: one side
  b.branch(25);       // 12
  b.branch(3, "p1");  // 13: the test, backwards in the text
  some(b, 11);        // 14 to 24: the other side
  end(b);             // 25
  const Regions r = regions_of(b);
  EXPECT_THAT(set_in(r.prepares), ElementsAre(13));
  EXPECT_THAT(set_in(r.meets), ElementsAre(25));
}

TEST(Regions, NobodyWaitsWhereTheKernelEnds) {
  CodeBuilder b = begin("%tid");
  b.branch(12, "p1");
  some(b, 9).add("ret", {}, {}, OpKind::Exit);
  EXPECT_THAT(set_in(regions_of(b).meets), IsEmpty());
}

TEST(Regions, OlderMachinesHaveNone) {
  for (const Generation g : {Generation::Fermi, Generation::Kepler}) {
    EXPECT_THAT(set_in(regions_of(over("%tid", 3), g).predicated), IsEmpty());
    EXPECT_THAT(set_in(regions_of(over("%tid", 20), g).meets), IsEmpty());
  }
}

// In machine code: BSSY and the branch, BSYNC and the store; the second waits as a branch does.
TEST(Regions, BarriersAreInstructions) {
  const CodeBuilder b = over("%tid", 9);
  const trace::LoweredCode out = lower(b.code(), {Level::Machine, Generation::Volta});
  EXPECT_EQ(out.first[3] - out.first[2], 2u);
  EXPECT_EQ(out.first[13] - out.first[12], 2u);
  const trace::StaticInst& meets = out.code.instructions[out.first[12]];
  EXPECT_EQ(meets.kind, OpKind::Branch);
  EXPECT_THAT(meets.writes, ElementsAre(trace::kPcRegister));
  const trace::LoweredCode short_one =
      lower(over("%tid", 3).code(), {Level::Machine, Generation::Volta});
  EXPECT_EQ(short_one.first[3] - short_one.first[2], 0u) << "the branch is gone";
}

}  // namespace
}  // namespace raddle::lowering::regions_test
