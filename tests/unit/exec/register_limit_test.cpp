// How many registers a thread has at most: as ptxas limits them.
#include "rig.h"

namespace raddle::exec::test::register_limit_test {
namespace {

/// A kernel that keeps 300 values, and has these directives.
std::string wide(const std::string& directives) {
  std::string body = ".visible .entry k(.param .u64 in)\n" + directives +
                     "\n{\n  .reg .b32 %r<301>;\n  .reg .b64 %q<2>;\n  ld.param.u64 %q1, [in];\n";
  for (unsigned i = 0; i < 300; ++i)
    body += "  ld.global.u32 %r" + std::to_string(i) + ", [%q1+" + std::to_string(4 * i) + "];\n";
  for (unsigned i = 0; i < 300; ++i)
    body += "  st.global.u32 [%q1+" + std::to_string(4 * (299 - i)) + "], %r" + std::to_string(i) +
            ";\n";
  return body + "  ret;\n}\n";
}
std::uint32_t registers(const std::string& directives) {
  Rig rig(wide(directives));
  return code_of(rig.program.kernel("k"))->registers_per_thread;
}

/// The figures of ptxas 13 for kernels that want more.
TEST(RegisterLimit, IsThatOfPtxas) {
  EXPECT_EQ(registers(""), 255u);
  EXPECT_EQ(registers(".maxntid 32, 1, 1"), 255u);
  EXPECT_EQ(registers(".maxntid 320, 1, 1"), 168u);
  EXPECT_EQ(registers(".maxntid 640, 1, 1"), 96u);
  EXPECT_EQ(registers(".maxntid 768, 1, 1"), 80u);
  EXPECT_EQ(registers(".maxntid 1024, 1, 1"), 64u);
  EXPECT_EQ(registers(".reqntid 32, 8, 4"), 64u);
  EXPECT_EQ(registers(".maxntid 96, 1, 1 .minnctapersm 4"), 168u);
  EXPECT_EQ(registers(".maxntid 256, 1, 1 .minnctapersm 3"), 80u);
  EXPECT_EQ(registers(".maxntid 128, 1, 1 .minnctapersm 5"), 96u);
  EXPECT_EQ(registers(".maxntid 1024, 1, 1 .minnctapersm 2"), 32u);
  EXPECT_EQ(registers(".maxnreg 40"), 40u);
}

}  // namespace
}  // namespace raddle::exec::test::register_limit_test
