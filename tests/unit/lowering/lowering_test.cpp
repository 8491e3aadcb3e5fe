#include "raddle/lowering/lowering.h"

#include <gtest/gtest.h>

namespace raddle::lowering {
namespace {

TEST(Lowering, PtxStaysAsItIs) {
  trace::KernelCode code;
  code.instructions.resize(3);
  code.registers_per_thread = 17;
  const trace::LoweredCode out = lower(code, {});
  EXPECT_EQ(out.code.instructions.size(), 3u);
  EXPECT_EQ(out.code.registers_per_thread, 17u);
  EXPECT_EQ(out.first, (std::vector<std::uint32_t>{0, 1, 2, 3}));
}

}  // namespace
}  // namespace raddle::lowering
