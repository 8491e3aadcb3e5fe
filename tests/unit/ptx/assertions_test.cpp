// What the parser and the analyses rely on ends the program where it does not hold.
#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "raddle/ptx/analysis.h"
#include "raddle/ptx/scope.h"

namespace raddle::ptx::test::assertions_test {
namespace {

Function function_of(std::vector<std::string_view> opcodes) {
  Function made;
  for (const std::string_view opcode : opcodes) made.instructions.emplace_back().opcode = opcode;
  return made;
}

TEST(ScopeStackDeathTest, ARangeIsDeclaredInAScope) {
  Function function;
  ScopeStack scopes(function);
  EXPECT_DEATH(scopes.declare_range({"%r", 4, Type::B32}), "depth.. != 0");
}

TEST(BlockGraphDeathTest, ABranchHasATargetInTheFunction) {
  Function function = function_of({"bra", "ret"});
  EXPECT_DEATH(successors(function), "!instruction.operands.empty");
  function.instructions[0].operands.emplace_back().kind = Operand::Kind::Label;
  EXPECT_DEATH(successors(function), "out.back.. <= n");
  function.instructions[0].operands[0].target = 1;
  EXPECT_EQ(successors(function)[0], std::vector<std::uint32_t>{1});
}

TEST(RegisterAccessDeathTest, ACallIsOneOfTheFunctions) {
  Function function = function_of({"call", "ret"});
  function.instructions[0].call = 2;
  RegisterAccess access;
  EXPECT_DEATH(register_access(function, function.instructions[0], access),
               "instruction.call < function.calls.size");
}

TEST(LivenessDeathTest, ARegisterIsOneOfTheFunctions) {
  Function function = function_of({"mov", "ret"});
  Operand& operand = function.instructions[0].operands.emplace_back();
  operand.kind = Operand::Kind::Register;
  operand.reg = 5;
  EXPECT_DEATH(assign_registers(function), "reg < intervals_.size");
  function.registers.assign(6, {"%r", Type::B32});
  EXPECT_EQ(assign_registers(function).registers, 1u);
}

}  // namespace
}  // namespace raddle::ptx::test::assertions_test
