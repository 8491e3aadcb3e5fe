#include "raddle/base/error.h"

#include <gtest/gtest.h>

namespace raddle::error_test {
namespace {

TEST(Diagnostic, LeavesOutWhatDoesNotApply) {
  EXPECT_EQ((Diagnostic{{"a.toml", 3, 7}, "wrong"}.text()), "a.toml:3:7: wrong");
  EXPECT_EQ((Diagnostic{{"a.toml", 3, 0}, "wrong"}.text()), "a.toml:3: wrong");
  EXPECT_EQ((Diagnostic{{"a.toml", 0, 0}, "wrong"}.text()), "a.toml: wrong");
  EXPECT_EQ((Diagnostic{{"", 3, 7}, "wrong"}.text()), "line 3:7: wrong");
  EXPECT_EQ((Diagnostic{{}, "wrong"}.text()), "wrong");
}

TEST(InputError, TellsEverythingOneLineEach) {
  const InputError error({{{"a", 1, 2}, "first"}, {{"b", 0, 0}, "second"}});
  EXPECT_STREQ(error.what(), "a:1:2: first\nb: second");
  ASSERT_EQ(error.diagnostics().size(), 2u);
  EXPECT_EQ(error.diagnostics()[1].message, "second");
}

TEST(InputError, OfAMessageOrAPlaceAndAMessage) {
  EXPECT_STREQ(InputError("plain").what(), "plain");
  EXPECT_STREQ(InputError({"f", 9, 0}, "placed").what(), "f:9: placed");
}

TEST(AssertDeathTest, SaysWhatDoesNotHoldAndWhere) {
  EXPECT_DEATH(RADDLE_ASSERT(1 + 1 == 3),
               "internal error: .*error.cpp:[0-9]+: 1 \\+ 1 == 3 does not hold");
}

TEST(Assert, IsQuietWhenItHolds) { RADDLE_ASSERT(1 + 1 == 2); }

}  // namespace
}  // namespace raddle::error_test
