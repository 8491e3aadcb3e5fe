// Lowering, rule by rule, on kernels of a few instructions. Range 0 begins with the move of the
// stack's address, so kernels here begin with an instruction that the test does not look at.
#include "raddle/lowering/lowering.h"

#include <gtest/gtest.h>

#include "unit/lowering/code_builder.h"

namespace raddle::lowering::lowering_test {
namespace {

using trace::OpClass;
using trace::OpKind;
using Names = std::vector<std::string>;

trace::LoweredCode machine(const CodeBuilder& b, Generation g = Generation::Volta) {
  return lower(b.code(), {Level::Machine, g});
}
unsigned count(const trace::LoweredCode& l, std::uint32_t i) { return l.first[i + 1] - l.first[i]; }
const trace::StaticInst& at(const trace::LoweredCode& l, std::uint32_t i, unsigned k = 0) {
  return l.code.instructions[l.first[i] + k];
}
CodeBuilder start() {
  CodeBuilder b;
  b.add("bar.sync", {}, {"#"}, OpKind::Barrier);
  return b;
}

TEST(Lowering, PtxStaysAsItIs) {
  CodeBuilder b = start();
  b.add("mov.u32", {"r1"}, {"r2"});
  const trace::LoweredCode out = lower(b.code(), {});
  EXPECT_EQ(out.first, (std::vector<std::uint32_t>{0, 1, 2}));
}

TEST(Lowering, CodeWithoutOperandsStaysAsItIs) {
  trace::KernelCode code;
  code.instructions.resize(3);
  EXPECT_EQ(lower(code, {Level::Machine, Generation::Volta}).code.instructions.size(), 3u);
}

/// Two addresses from parameters, each moved on by an index; both live until the last access.
CodeBuilder two_addresses() {
  CodeBuilder b = start();
  b.add("ld.global.u64", {"d1"}, {"[d9]"}, OpKind::LoadGlobal);
  b.add("ld.global.u64", {"d2"}, {"[d9]"}, OpKind::LoadGlobal);
  b.add("mul.wide.s32", {"d3"}, {"r1", "#"}).add("add.s64", {"d4"}, {"d1", "d3"});
  b.add("add.s64", {"d5"}, {"d2", "d3"});
  b.add("ld.global.u32", {"r2"}, {"[d4]"}, OpKind::LoadGlobal);
  b.add("st.global.u32", {}, {"[d5]", "r2"}, OpKind::StoreGlobal);
  return b;
}

TEST(Lowering, AnAddressOf32BitsTakesOneRegister) {
  const auto registers = [](AddressBits bits) {
    return lower(two_addresses().code(), {Level::Machine, Generation::Fermi, bits})
        .code.registers_per_thread;
  };
  // d1 and d2 live together, then d4 and d5: two registers less.
  EXPECT_EQ(registers(AddressBits::Bits64) - registers(AddressBits::Bits32), 3u);
}

TEST(Lowering, AnAddressThatIsAlsoDataKeepsBothItsWords) {
  CodeBuilder b = two_addresses();
  b.add("st.global.u64", {}, {"[d4]", "d5"}, OpKind::StoreGlobal);
  const auto machine = [&](AddressBits bits) {
    return lower(b.code(), {Level::Machine, Generation::Fermi, bits});
  };
  EXPECT_GT(count(machine(AddressBits::Bits32), 5), count(machine(AddressBits::Bits32), 4))
      << "d5 is stored, d4 is not";
}

TEST(Lowering, RegistersOfTheMachineWithInstructionsOfPtx) {
  const CodeBuilder b = two_addresses();
  const LoweringSpec machine = {Level::Machine, Generation::Fermi, AddressBits::Bits32};
  const LoweringSpec mixed = {Level::Ptx, Generation::Fermi, AddressBits::Bits32,
                              Registers::Machine};
  const trace::LoweredCode out = lower(b.code(), mixed);
  EXPECT_EQ(out.first, trace::as_it_is(b.code()).first);
  EXPECT_EQ(out.code.instructions.size(), b.code().instructions.size());
  EXPECT_EQ(out.code.registers_per_thread, lower(b.code(), machine).code.registers_per_thread);
}

TEST(Lowering, RegistersOfTheProgramsOwnMachineCode) {
  trace::KernelCode code = two_addresses().code();
  LoweringSpec spec;
  spec.registers = Registers::Compiled;
  const auto registers = [&](std::uint32_t capability) {
    spec.compute_capability = capability;
    return lower(code, spec).code.registers_per_thread;
  };
  EXPECT_EQ(registers(70), lower(code, {}).code.registers_per_thread) << "it brings none";
  code.compiled_registers = {{75, 40}, {80, 42}, {90, 50}};
  EXPECT_EQ(registers(70), 42u) << "the lowest above whose SMs hold as many threads";
  EXPECT_EQ(registers(75), 40u);
  EXPECT_EQ(registers(86), 42u) << "no other holds as many: the highest not above";
  EXPECT_EQ(registers(100), 50u) << "the highest not above";
  code.compiled_registers.erase(80);
  EXPECT_EQ(registers(86), 40u);
  EXPECT_EQ(registers(80), 50u);
  code.compiled_registers.erase(90);
  EXPECT_EQ(registers(80), 40u) << "better than none";
  code.compiled_registers = {{75, 40}, {80, 42}, {90, 50}};
  spec.lowering = Level::Machine;
  EXPECT_EQ(registers(80), 42u);
  code.compiled_registers.clear();
  code.registers_per_thread = 12;
  EXPECT_EQ(registers(80), 12u) << "PTX's, not as many as machine code would like to have";
  code = two_addresses().code();
  code.compiled_registers = {{75, 40}, {80, 42}, {90, 50}};
  spec.registers = Registers::Ptx;
  spec.lowering = Level::Ptx;
  EXPECT_EQ(registers(80), lower(two_addresses().code(), {}).code.registers_per_thread);
}

TEST(Lowering, RangesCoverTheMachineCode) {
  CodeBuilder b = start();
  b.add("add.s64", {"d1"}, {"d2", "d3"}).add("mov.u64", {"d4"}, {"d1"});
  b.add("st.global.u64", {}, {"[d4]", "d1"}, OpKind::StoreGlobal);
  const trace::LoweredCode l = machine(b);
  EXPECT_EQ(l.first.size(), 5u);
  EXPECT_EQ(l.first.front(), 0u);
  EXPECT_EQ(l.first.back(), l.code.instructions.size());
  EXPECT_EQ(count(l, 0), 2u) << "the stack's address and the barrier";
  EXPECT_EQ(at(l, 0, 1).kind, OpKind::Barrier);
  EXPECT_EQ(count(l, 1), 2u);
  EXPECT_EQ(count(l, 2), 0u);
  EXPECT_EQ(at(l, 3).kind, OpKind::StoreGlobal);
}

TEST(Lowering, ReadersOfARemovedMoveReadItsSource) {
  CodeBuilder b = start();
  b.add("ld.global.u32", {"r1"}, {"[d1]"}, OpKind::LoadGlobal);
  b.add("mov.u32", {"r2"}, {"r1"}).add("mov.b32", {"r3"}, {"r2"});
  b.add("mul.lo.s32", {"r4"}, {"r3", "r2"});
  const trace::LoweredCode l = machine(b);
  EXPECT_EQ(count(l, 2) + count(l, 3), 0u);
  EXPECT_EQ(at(l, 4).reads, at(l, 1).writes);
}

TEST(Lowering, AMoveStaysWhenItsSourceChangesBeforeAReader) {
  CodeBuilder b = start();
  b.add("add.s32", {"r1"}, {"r5", "r6"}).add("mov.u32", {"r2"}, {"r1"});
  b.add("mul.lo.s32", {"r1"}, {"r5", "r6"}).add("mul.lo.s32", {"r4"}, {"r2", "r1"});
  EXPECT_EQ(count(machine(b), 2), 1u);
}

TEST(Lowering, AGuardedMoveStays) {
  CodeBuilder b = start();
  b.add("setp.lt.s32", {"p1"}, {"r1", "r5"}).add("mov.u32", {"r2"}, {"@p1", "r1"});
  b.add("mul.lo.s32", {"r3"}, {"r2", "r2"});
  const trace::LoweredCode l = machine(b);
  EXPECT_EQ(count(l, 2), 1u);
  EXPECT_EQ(at(l, 2).reads.size(), 2u) << "source and guard";
}

TEST(Lowering, ALoopsCounterNeedsNoMove) {
  // r1 = 0; do { r2 = r1 + 1; p = r2 < r9; r1 = r2 } while (p)
  CodeBuilder b = start();
  b.add("mov.u32", {"r1"}, {"#"});
  b.add("add.s32", {"r2"}, {"r1", "#"}).add("setp.lt.s32", {"p1"}, {"r2", "r9"});
  b.add("mov.u32", {"r1"}, {"r2"}).branch(2, "p1");
  const trace::LoweredCode l = machine(b);
  EXPECT_EQ(count(l, 1), 1u) << "r1 changes later: its start is no constant";
  EXPECT_EQ(count(l, 4), 0u);
  EXPECT_EQ(at(l, 2).writes, at(l, 2).reads) << "counts in place";
}

TEST(Lowering, TheCounterKeepsItsMoveWhenTheOldValueIsStillRead) {
  CodeBuilder b = start();
  b.add("mov.u32", {"r1"}, {"#"});
  b.add("add.s32", {"r2"}, {"r1", "#"}).add("mul.lo.s32", {"r3"}, {"r1", "r9"});
  b.add("mov.u32", {"r1"}, {"r2"}).branch(2, "p1");
  EXPECT_EQ(count(machine(b), 4), 1u);
}

TEST(Lowering, ParametersAreConstantOperands) {
  CodeBuilder b = start();
  b.add("ld.param.u32", {"r1"}, {"#"}, OpKind::LoadConst);
  b.add("mul.lo.s32", {"r2"}, {"r1", "r3"});
  const trace::LoweredCode volta = machine(b);
  EXPECT_EQ(count(volta, 1), 0u);
  EXPECT_EQ(at(volta, 2).reads.size(), 1u);
  const trace::LoweredCode hopper = machine(b, Generation::Hopper);
  EXPECT_EQ(count(hopper, 1), 1u) << "Hopper loads them";
  EXPECT_EQ(at(hopper, 1).kind, OpKind::LoadConst);
}

TEST(Lowering, AParameterThatIsAnAddressIsMovedIntoRegisters) {
  CodeBuilder b = start();
  b.add("ld.param.u64", {"d1"}, {"#"}, OpKind::LoadConst);
  b.add("cvta.to.global.u64", {"d2"}, {"d1"});
  b.add("ld.global.u32", {"r1"}, {"[d2]"}, OpKind::LoadGlobal);
  const trace::LoweredCode l = machine(b);
  EXPECT_EQ(count(l, 1), 2u);
  EXPECT_EQ(count(l, 2), 0u);
  EXPECT_EQ(at(l, 3).reads.size(), 2u);
}

TEST(Lowering, SpecialRegistersAreReadButLaunchConstantsAreNot) {
  CodeBuilder b = start();
  b.add("mov.u32", {"r1"}, {"%tid"}).add("mov.u32", {"r2"}, {"%ntid"});
  b.add("mul.lo.s32", {"r3"}, {"r1", "r2"});
  const trace::LoweredCode l = machine(b);
  EXPECT_EQ(count(l, 1), 1u);
  EXPECT_EQ(count(l, 2), 0u);
}

CodeBuilder address(const Names& between = {}) {
  CodeBuilder b = start();
  b.add("mul.wide.u32", {"d1"}, {"r1", "#"});
  if (!between.empty()) b.add("add.s32", between, {"r7", "r8"});
  b.add("add.s64", {"d3"}, {"d2", "d1"});
  b.add("ld.global.u32", {"r2"}, {"[d3]"}, OpKind::LoadGlobal);
  return b;
}

TEST(Lowering, ProductAndSumOfAnAddressAreOneInstruction) {
  const trace::LoweredCode l = machine(address());
  EXPECT_EQ(count(l, 1), 0u);
  EXPECT_EQ(count(l, 2), 1u);
  EXPECT_EQ(at(l, 2).op_class, OpClass::IntMul);
  EXPECT_EQ(at(l, 2).reads.size(), 3u) << "the index and two words of the base";
  EXPECT_EQ(count(machine(address(), Generation::Kepler), 2), 2u);
}

TEST(Lowering, APairIsNotJoinedOverAChangeOfItsSource) {
  const trace::LoweredCode l = machine(address({"r1"}));
  EXPECT_EQ(count(l, 1), 1u);
  EXPECT_EQ(count(l, 3), 2u);
}

TEST(Lowering, APairWithASecondReaderIsNotJoined) {
  CodeBuilder b = address();
  b.add("shl.b64", {"d9"}, {"d1", "#"});
  EXPECT_EQ(count(machine(b), 1), 1u);
}

TEST(Lowering, APairIsNotJoinedAcrossBlocks) {
  CodeBuilder b = start();
  b.add("mul.wide.u32", {"d1"}, {"r1", "#"}).branch(4, "p1");
  b.add("bar.sync", {}, {"#"}, OpKind::Barrier).add("add.s64", {"d3"}, {"d2", "d1"});
  b.add("ld.global.u32", {"r2"}, {"[d3]"}, OpKind::LoadGlobal);
  EXPECT_EQ(count(machine(b), 1), 1u);
}

TEST(Lowering, AddressesOfSharedMemoryHave32Bits) {
  CodeBuilder b = start();
  b.add("mul.wide.u32", {"d1"}, {"r1", "#"}).add("add.s64", {"d3"}, {"d2", "d1"});
  b.add("add.s64", {"d4"}, {"d3", "d2"});
  b.add("ld.shared.u32", {"r2"}, {"[d4]"}, OpKind::LoadShared);
  const trace::LoweredCode l = machine(b);
  EXPECT_EQ(count(l, 2), 1u);
  EXPECT_EQ(count(l, 3), 1u);
  EXPECT_EQ(at(l, 4).reads.size(), 1u);
}

TEST(Lowering, ComparisonsTakeAnotherPredicate) {
  CodeBuilder b = start();
  b.add("setp.lt.s32", {"p1"}, {"r1", "r2"}).add("setp.lt.s32", {"p2"}, {"r3", "r4"});
  b.add("and.pred", {"p3"}, {"p1", "p2"}).add("selp.b32", {"r5"}, {"r1", "r2", "p3"});
  const trace::LoweredCode l = machine(b);
  EXPECT_EQ(count(l, 1) + count(l, 2) + count(l, 3), 2u);
  EXPECT_EQ(at(l, 3).reads.size(), 3u) << "two numbers and the other predicate";
}

// What stood on a side may run less often than what is around it.
TEST(Lowering, WhatIsPredicatedIsNoPartOfWhatRunsWithoutIt) {
  CodeBuilder b = start();
  b.add("setp.lt.s32", {"p1"}, {"r8", "r9"});
  b.add("mul.lo.s32", {"r3"}, {"r1", "r2"}).add("add.s32", {"r5"}, {"r3", "r4"});
  const auto instructions = [&](std::vector<std::uint32_t> predicated) {
    trace::KernelCode code = b.code();
    for (const std::uint32_t i : predicated)
      code.instructions[i].predicate = code.instructions[1].operands[0].reg;
    return lower(code, {Level::Machine, Generation::Volta});
  };
  EXPECT_EQ(count(instructions({}), 2) + count(instructions({}), 3), 1u);
  EXPECT_EQ(count(instructions({2, 3}), 2) + count(instructions({2, 3}), 3), 1u);
  EXPECT_EQ(count(instructions({3}), 2) + count(instructions({3}), 3), 1u) << "is made for it only";
  EXPECT_EQ(count(instructions({2}), 2) + count(instructions({2}), 3), 2u);
  const trace::LoweredCode l = instructions({2, 3});
  EXPECT_EQ(at(l, 3).reads.size(), 4u) << "three numbers and the predicate";
}

TEST(Lowering, ThreeInputsOnNewGenerations) {
  CodeBuilder b = start();
  b.add("add.s32", {"r3"}, {"r1", "r2"}).add("add.s32", {"r5"}, {"r3", "r4"});
  b.add("and.b32", {"r6"}, {"r5", "r1"}).add("or.b32", {"r7"}, {"r6", "r2"});
  b.add("st.shared.u32", {}, {"[r1]", "r7"}, OpKind::StoreShared);
  const trace::LoweredCode volta = machine(b), fermi = machine(b, Generation::Fermi);
  EXPECT_EQ(volta.first[5] - volta.first[1], 2u);
  EXPECT_EQ(fermi.first[5] - fermi.first[1], 4u);
}

TEST(Lowering, BranchesThatLayoutMakesNeedlessGo) {
  CodeBuilder b = start();
  b.branch(3, "p1").branch(5);                                      // turned round: one branch
  b.add("atom", {"r1"}, {"[d1]"}, OpKind::AtomicGlobal).branch(6);  // 3, 4: no predicates
  b.add("add.s32", {"r4"}, {"r2", "r3"}).add("add.s32", {"r5"}, {"r2", "r3"});
  const trace::LoweredCode l = machine(b);
  EXPECT_EQ(count(l, 1), 1u);
  EXPECT_EQ(count(l, 2), 0u);
  EXPECT_EQ(count(l, 4), 1u) << "6 is also reached from 5";
  EXPECT_EQ(at(l, 1).writes.back(), trace::kPcRegister);
}

TEST(Lowering, DivisionByAConstantIsShorter) {
  CodeBuilder b = start();
  b.add("div.u32", {"r3"}, {"r1", "r2"}).add("div.u32", {"r4"}, {"r1", "#"});
  const trace::LoweredCode l = machine(b);
  EXPECT_EQ(count(l, 1), 17u);
  EXPECT_EQ(count(l, 2), 7u);
}

TEST(Lowering, AnAliasIsLoweredAsWhatItStandsFor) {
  CodeBuilder b = start();
  b.add("ld.u32", {"r1"}, {"[d1]"}, OpKind::LoadGlobal);
  trace::KernelCode code = b.code();
  trace::StaticInst alias = code.instructions[1];
  alias.kind = OpKind::LoadShared;
  alias.alias_of = 1;
  code.instructions.push_back(alias);
  const trace::LoweredCode l = lower(code, {Level::Machine, Generation::Volta});
  EXPECT_EQ(at(l, 2).kind, OpKind::LoadShared);
  EXPECT_EQ(at(l, 2).writes, at(l, 1).writes);
}

TEST(Lowering, RegistersAreCountedOfTheMachineCode) {
  CodeBuilder b = start();
  b.add("ld.global.u64", {"d1"}, {"[d9]"}, OpKind::LoadGlobal);
  b.add("ld.global.u32", {"r1"}, {"[d9]"}, OpKind::LoadGlobal);
  b.add("st.global.u64", {}, {"[d9]", "d1"}, OpKind::StoreGlobal);
  b.add("st.global.u32", {}, {"[d9]", "r1"}, OpKind::StoreGlobal);
  EXPECT_EQ(machine(b).code.registers_per_thread, 6u)
      << "address 2, d1 2, r1 1, and the stack's address";
}

}  // namespace
}  // namespace raddle::lowering::lowering_test
