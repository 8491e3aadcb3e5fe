#include "raddle/config/spelling.h"

#include <gtest/gtest.h>

#include <vector>

namespace raddle::config::spelling_test {
namespace {

const std::vector<std::string> kKnown = {"size_kib", "line_bytes", "ways", "gto", "lrr"};

TEST(Nearest, FindsOneSlipOfEachKind) {
  EXPECT_EQ(nearest("size_kb", kKnown), "size_kib") << "left out";
  EXPECT_EQ(nearest("size_kiib", kKnown), "size_kib") << "put in";
  EXPECT_EQ(nearest("size_kob", kKnown), "size_kib") << "mistaken";
  EXPECT_EQ(nearest("isze_kib", kKnown), "size_kib") << "swapped";
  EXPECT_EQ(nearest("gtoo", kKnown), "gto");
}

TEST(Nearest, GivesNothingWhenNothingIsNear) {
  EXPECT_EQ(nearest("interleave", kKnown), "");
  EXPECT_EQ(nearest("xyz", kKnown), "");
  EXPECT_EQ(nearest("", kKnown), "");
  EXPECT_EQ(nearest("gto", {}), "");
}

TEST(Nearest, PrefersTheNearestThenTheFirst) {
  const std::vector<std::string> names = {"abcd", "abce", "abxx"};
  EXPECT_EQ(nearest("abcf", names), "abcd");
  EXPECT_EQ(nearest("abxd", names), "abcd");
  EXPECT_EQ(nearest("abxy", names), "abxx");
}

}  // namespace
}  // namespace raddle::config::spelling_test
