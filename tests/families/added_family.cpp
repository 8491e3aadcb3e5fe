// A family of instructions is one file in src/raddle/exec/decode/family: this program has one file
// more (family/tripling.cpp), and nothing else knows of it.
#include "raddle/exec/decode/decode_context.h"
#include "support/exec_rig.h"

namespace raddle::exec::test::added_family_test {
namespace {

const std::string kKernel = R"(
.visible .entry k(.param .u64 out) {
  .reg .u64 %rd<2>;
  .reg .u32 %r<3>;
  .reg .f32 %f<3>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  TRIPLE
  mad.wide.u32 %rd1, %r1, 4, %rd1;
  st.global.u32 [%rd1], %r2;
  ret;
}
)";

std::string kernel_with(const std::string& instruction) {
  std::string text = kKernel;
  return text.replace(text.find("TRIPLE"), 6, instruction);
}

TEST(AddedFamily, IsFoundAndRuns) {
  Rig rig(kernel_with("triple.u32 %r2, %r1;"));
  const Address out = rig.zeros(32 * 4);
  rig.run("k", {1, 1, 1}, {32, 1, 1}, out);
  const auto values = rig.download<std::uint32_t>(out, 32);
  for (std::uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(values[lane], 3 * lane);
}

TEST(AddedFamily, WhatItRefusesIsReportedWithItsReason) {
  Rig rig(kernel_with("triple.f32 %f2, %f1;"));
  try {
    rig.program.kernel("k");
    FAIL() << "not refused";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("'triple.f32' (type), which is not supported"),
              std::string::npos)
        << error.what();
  }
}

void nothing(DecodeContext& /*ctx*/, const ptx::Instruction& /*inst*/) {}
void something(DecodeContext& /*ctx*/, const ptx::Instruction& /*inst*/) {}

TEST(Handlers, TheFirstTypeChoosesBetweenFloatAndOther) {
  Handlers handlers;
  handlers.add({"add"}, nothing);
  handlers.add_float({"add"}, something);
  ptx::Instruction inst;
  inst.opcode = "add";
  EXPECT_EQ(handlers.find(inst), nothing);
  inst.types = {ptx::Type::S32, ptx::Type::F32};
  EXPECT_EQ(handlers.find(inst), nothing);
  inst.types = {ptx::Type::F16};
  EXPECT_EQ(handlers.find(inst), something);
  inst.opcode = "sub";
  EXPECT_EQ(handlers.find(inst), nullptr);
}

TEST(HandlersDeathTest, AnOpcodeHasOneFamily) {
  Handlers handlers;
  handlers.add({"add"}, nothing);
  handlers.add_float({"add"}, something);
  EXPECT_DEATH(handlers.add({"sub", "add"}, something), "entry.all == nullptr");
  EXPECT_DEATH(handlers.add_float({"add"}, nothing), "entry.of_float == nullptr");
}

}  // namespace
}  // namespace raddle::exec::test::added_family_test
