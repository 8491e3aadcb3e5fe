// Every program of this folder as the machines execute it: lowering keeps the one instruction that
// each record of the op stream with a payload belongs to.
#include "nvcc_rig.h"
#include "raddle/lowering/lowering.h"

namespace raddle::exec::test::lowered_test {
namespace {

class Lowered : public OfEachBuild {};
INSTANTIATE_TEST_SUITE_P(Nvcc, Lowered, testing::ValuesIn(kBuilds), build_name);

/// Instructions whose records mean more than that they were executed.
bool must_stay(const trace::StaticInst& inst) {
  return inst.kind != trace::OpKind::Alu && inst.kind != trace::OpKind::Branch &&
         inst.kind != trace::OpKind::LoadConst;
}

TEST_P(Lowered, RecordsWithPayloadKeepTheirInstruction) {
  using lowering::Generation;
  std::size_t images = 0;
  for (const char* program : {"control", "cooperative", "kernels", "samples", "textures"}) {
    Gpu gpu(program, GetParam());
    for (const std::string& name : gpu.program.kernel_names()) {
      const trace::KernelCode& code = *code_of(gpu.program.kernel(name));
      for (const Generation g : {Generation::Volta, Generation::Hopper}) {
        const auto lowered = lowering::lower(code, {lowering::Level::Machine, g});
        ASSERT_EQ(lowered.first.size(), code.instructions.size() + 1);
        for (std::size_t i = 0; i < code.instructions.size(); ++i) {
          if (!must_stay(code.instructions[i])) continue;
          unsigned same = 0;
          for (auto k = lowered.first[i]; k < lowered.first[i + 1]; ++k)
            same += lowered.code.instructions[k].kind == code.instructions[i].kind ? 1 : 0;
          EXPECT_EQ(same, 1u) << name << ": " << code.opcode_names[code.instructions[i].opcode];
          const std::string& text = code.opcode_names[code.instructions[i].opcode];
          images += text.starts_with("tex.") || text.starts_with("su") ? 1 : 0;
        }
      }
    }
  }
  EXPECT_GT(images, 30u);
}

}  // namespace
}  // namespace raddle::exec::test::lowered_test
