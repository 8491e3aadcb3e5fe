// What the decoder and the device's memory rely on ends the program where it does not hold.
#include <gtest/gtest.h>

#include "raddle/exec/decode/emitter.h"
#include "raddle/exec/decode/frame_layout.h"
#include "raddle/exec/memory/texture.h"

namespace raddle::exec::test::assertions_test {
namespace {

TEST(EmitterDeathTest, InstructionsComeInOrderEachOnce) {
  Code code;
  Emitter out(code);
  out.begin(0);
  out.begin(1);
  EXPECT_DEATH(out.begin(1), "index == start_.size");
  EXPECT_DEATH(out.begin(3), "index == start_.size");
}

TEST(EmitterDeathTest, AFormThatATableDoesNotHaveIsNoRecord) {
  Code code;
  Emitter out(code);
  out.begin(0);
  EXPECT_DEATH(out.alu(kOps, 0, 0), "op < kOps");
}

TEST(EmitterDeathTest, AnInstructionHasOneStreamRecordOfItsOwn) {
  Code code;
  Emitter out(code);
  out.begin(0);
  out.emit_own(O_simple, trace::OpKind::Fence);
  EXPECT_DEATH(out.emit_own(O_simple, trace::OpKind::Fence), "!own_");
}

TEST(EmitterDeathTest, AJumpGoesToAnInstructionOfTheFunction) {
  Code code;
  Emitter out(code);
  out.begin(0);
  out.emit(O_bra);
  out.jump(7, 1);
  out.begin(1);
  EXPECT_DEATH(out.patch_jumps(), "to <= end");
}

TEST(FrameLayoutDeathTest, ARegisterIsOneOfTheFunction) {
  ptx::Module module;
  module.functions.emplace_back();
  module.functions[0].registers.push_back({"%r1", ptx::Type::U32});
  const Layout layout{&module, {}};
  const SharedLayout shared;
  const ParameterLayout parameters;
  const DecodeScope scope{&layout, &shared, &parameters};
  Code code;
  FrameLayout frame(scope, code);
  EXPECT_EQ(frame.register_width(0), 4u);
  EXPECT_DEATH(frame.register_at(1), "reg < register_at_.size");
  EXPECT_DEATH(frame.register_at(ptx::kNoIndex), "reg < register_at_.size");
  EXPECT_DEATH(frame.variable_at(0), "variable < variable_at_.size");
  EXPECT_DEATH(frame.kernel_parameter(0, 4, 8, false), "size <= width");
  EXPECT_DEATH(frame.constant(3, 0), "width == 2");
}

TEST(TextureDeathTest, AnImageHasElements) {
  Image image = lay_out_array({}, {});
  image.shape.layers = 0;
  EXPECT_DEATH(image_bytes(image), "image.shape.layers != 0");
}

}  // namespace
}  // namespace raddle::exec::test::assertions_test
