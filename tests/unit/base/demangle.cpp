#include "raddle/base/demangle.h"

#include <gtest/gtest.h>

namespace raddle::demangle_test {
namespace {

TEST(Demangle, GivesTheNameAsItsAuthorWroteIt) {
  EXPECT_EQ(demangled("_Z9bfs_levelPKiS0_PiiiS1_"),
            "bfs_level(int const*, int const*, int*, int, int, int*)");
  EXPECT_EQ(demangled("_Z4fillILi3EEvPfi"), "fill<3>(float*, int)") << "without what it returns";
  EXPECT_EQ(short_name("_Z4fillILi3EEvPfi"), "fill<3>");
  EXPECT_EQ(short_name("_ZN2ns3addIfEEvT_S1_"), "ns::add<float>");
  EXPECT_EQ(short_name("_ZN12_GLOBAL__N_14stepEv"), "(anonymous namespace)::step");
  EXPECT_EQ(short_name("_Z1kPFvvE"), "k") << "parameters with parentheses of their own";
}

TEST(Demangle, LeavesOtherNames) {
  for (const char* name : {"", "vecadd", "_Z", "_Zbad", "main", "f(int)", "_ZN"})
    EXPECT_EQ(demangled(name), name);
  EXPECT_EQ(short_name("vecadd"), "vecadd");
  EXPECT_EQ(short_name("(odd)"), "(odd)") << "something is left of every name";
}

// Each level names the one before it twice: 2^n letters from n.
TEST(Demangle, DoesNotLetANameGrow) {
  std::string grown = "_Z1f";
  for (int i = 0; i < 300; ++i) grown += "PFvS_S_E";
  EXPECT_EQ(demangled(grown), grown);
  const std::string deep = "_Z1f" + std::string(3000, 'P') + "i";
  EXPECT_LE(demangled(deep).size(), 4096u);
  const std::string far = "_Z1f" + std::string(1 << 20, 'P') + "i";
  EXPECT_EQ(demangled(far), far);
}

}  // namespace
}  // namespace raddle::demangle_test
