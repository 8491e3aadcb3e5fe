// Blocks, labels, branches, branch tables, calls.
#include <gmock/gmock.h>

#include "unit/ptx/support.h"

namespace raddle::ptx::test::control_test {
namespace {

using Kind = Operand::Kind;
using testing::ElementsAre;

TEST(Labels, BranchesGoForwardsAndBackwards) {
  const Module module =
      parse_kernel("L0: L1:\nadd.s32 %r1, %r1, 1;\n@%p1 bra L0;\nbra.uni END;\nbra L1;\nEND: ret;");
  const std::vector<Instruction>& all = module.functions[0].instructions;
  EXPECT_EQ(all[1].operands[0].kind, Kind::Label);
  EXPECT_EQ(all[1].operands[0].target, 0u);
  EXPECT_EQ(all[2].operands[0].target, 4u);
  EXPECT_EQ(all[3].operands[0].target, 0u);
}

TEST(Labels, AtTheEndOfTheBodyStandForTheExit) {
  const Module module = parse_kernel("bra END;\nEND:");
  EXPECT_EQ(module.functions[0].instructions[0].operands[0].target, 1u);
}

// Inline assembly repeats its labels in blocks of its own.
TEST(Labels, BelongToTheirBlock) {
  const Module module =
      parse_kernel("{ bra DONE; ret; DONE: }\n{ bra DONE; trap; DONE: }\nbra DONE;\nDONE: exit;");
  const std::vector<Instruction>& all = module.functions[0].instructions;
  EXPECT_EQ(all[0].operands[0].target, 2u);
  EXPECT_EQ(all[2].operands[0].target, 4u);
  EXPECT_EQ(all[4].operands[0].target, 5u);
}

TEST(Labels, InnerBlocksReachOuterOnesDeclaredLater) {
  const Module module = parse_kernel("{ { bra OUT; } ret; OUT: }\nOUT: exit;");
  EXPECT_EQ(module.functions[0].instructions[0].operands[0].target, 2u)
      << "the middle block's label, though it comes after the branch";
}

TEST(Scopes, InnerRegistersHideOuterOnes) {
  const Module module = parse_kernel(
      "mov.b32 %r1, 1;\n{ .reg .b64 %r1; mov.b64 %r1, 2; }\n{ .reg .f32 %r<3>; mov.f32 %r1, "
      "0f00000000;"
      " mov.b32 %r5, 1; }\nmov.b32 %r1, 3;");
  const Function& f = module.functions[0];
  const auto type_of = [&](std::size_t i) {
    return f.registers[f.instructions[i].operands[0].reg].type;
  };
  EXPECT_EQ(type_of(0), Type::B32);
  EXPECT_EQ(type_of(1), Type::B64);
  EXPECT_EQ(type_of(2), Type::F32);
  EXPECT_EQ(type_of(3), Type::B32) << "%r5 is beyond %r<3>";
  EXPECT_EQ(f.instructions[4].operands[0].reg, f.instructions[0].operands[0].reg);
}

TEST(Scopes, EachCallBlockHasItsOwnParameters) {
  const Module module = parse_kernel(
      "{ .param .b32 p0; st.param.b32 [p0+0], 1; }\n{ .param .align 8 .b8 p0[16]; "
      "st.param.b64 [p0+8], %rd1; }");
  const Function& f = module.functions[0];
  ASSERT_EQ(f.variables.size(), 2u);
  EXPECT_EQ(f.variables[1].size, 16u);
  EXPECT_EQ(f.variables[1].space, Space::Param);
  EXPECT_EQ(f.instructions[0].operands[0].symbol.index, 0u);
  EXPECT_EQ(f.instructions[1].operands[0].symbol.index, 1u);
}

TEST(Scopes, RegisterRangesAndNamesWithDigitsDoNotMix) {
  const Module module = parse_module(
      ".entry k() { .reg .b32 r<12>, r1x, a1<3>, plain; .reg .b64 r20; mov.b32 r11, r1x;\n"
      "mov.b32 a12, plain; mov.b64 r20, 1; }");
  const Function& f = module.functions[0];
  ASSERT_EQ(f.registers.size(), 5u);
  EXPECT_EQ(f.registers[2].name, "a12") << "the third of a1<3>";
  EXPECT_EQ(f.registers[4].type, Type::B64);
}

TEST(BranchTables, MayStandBeforeOrAfterTheBranch) {
  const Module module = parse_kernel(
      "T: .branchtargets A, B, A;\nbrx.idx %r1, T;\nA: ret;\n@%p1 brx.idx.uni %r2, LATE;\n"
      "B: exit;\nLATE: .branchtargets\n A,\n B;\n");
  const std::vector<Instruction>& all = module.functions[0].instructions;
  EXPECT_THAT(all[0].branch_targets, ElementsAre(1, 3, 1));
  EXPECT_THAT(all[2].branch_targets, ElementsAre(1, 3));
  EXPECT_EQ(all[0].operands.size(), 1u);
  EXPECT_EQ(all[0].operands[0].kind, Kind::Register);
}

const std::string kCallees =
    ".extern .func (.param .b32 r) f(.param .b64 x, .param .b32 y);\n.func g;\n"
    ".func h(.param .b32 x);\n";

TEST(Calls, DirectWithReturnAndArguments) {
  const Module module =
      parse_module(kCallees +
                   ".entry k() { .param .b64 a; .param .b32 b; .param .b32 r;\n"
                   "call.uni (r),\n f,\n (\n a,\n b\n );\ncall g;\ncall h, (b); }");
  const Function& k = module.functions[3];
  ASSERT_EQ(k.calls.size(), 3u);
  const Call& call = k.calls[k.instructions[0].call];
  EXPECT_EQ(call.callee.symbol.scope, SymbolRef::Scope::Code);
  EXPECT_EQ(call.callee.symbol.index, 0u);
  ASSERT_EQ(call.arguments.size(), 2u);
  EXPECT_EQ(call.arguments[1].symbol.scope, SymbolRef::Scope::Function);
  EXPECT_EQ(call.returns.size(), 1u);
  EXPECT_EQ(call.prototype, kNoIndex);
  EXPECT_TRUE(k.instructions[0].has("uni"));
  EXPECT_TRUE(k.calls[1].arguments.empty());
  EXPECT_EQ(k.calls[2].arguments.size(), 1u);
}

TEST(Calls, IndirectWithPrototype) {
  const Module module = parse_module(
      ".entry k() { .reg .b64 %rd<3>; .param .b32 a; .param .b32 r;\n"
      "proto : .callprototype (.param .b32 _) _ (.param .align 8 .b8 _[16], .param .b32 _) "
      ".noreturn;\n"
      "call (r), %rd1, (a), proto; }");
  const Function& k = module.functions[0];
  EXPECT_EQ(k.calls[0].callee.kind, Kind::Register);
  EXPECT_EQ(k.calls[0].prototype, 0u);
  EXPECT_EQ(k.prototypes[0].parameters.size(), 2u);
  EXPECT_EQ(k.prototypes[0].parameters[0].size, 16u);
  EXPECT_EQ(k.prototypes[0].returns.size(), 1u);
}

TEST(Calls, IndirectWithTargets) {
  const Module module =
      parse_module(kCallees + ".entry k() { .reg .b64 d; T: .calltargets g, f; call d, T; }");
  EXPECT_THAT(module.functions[3].calls[0].targets, ElementsAre(1, 0));
}

TEST(Calls, RecursionNeedsNoDeclaration) {
  const Module module = parse_module(".func f(.param .b32 x) { call f, (x); ret; }");
  EXPECT_EQ(module.functions[0].calls[0].callee.symbol.index, 0u);
}

}  // namespace
}  // namespace raddle::ptx::test::control_test
