#include "raddle/base/shortened.h"

#include <gtest/gtest.h>

#include "raddle/base/error.h"

namespace raddle::shortened_test {
namespace {

const std::string kLong(100'000, '['), kCut = std::string(80, '[') + "...";

TEST(Shortened, CutsWhatIsQuotedAtEightyCharacters) {
  EXPECT_EQ(shortened("expected a number, found '" + kLong + "'"),
            "expected a number, found '" + kCut + "'");
  EXPECT_EQ(shortened("found '" + kLong + "'; did you mean 'it's'?"),
            "found '" + kCut + "'; did you mean 'it's'?");
  const std::string line = "expected ACTION, found '" + std::string(80, 'x') + "'";
  EXPECT_EQ(shortened(line), line);
}

TEST(Shortened, CutsAWordWithoutEnd) {
  EXPECT_EQ(shortened("--threads: Value " + kLong + " not in range"),
            "--threads: Value " + kCut + " not in range");
  const std::string path = "/a" + std::string(300, 'b') + "/c.toml cannot be read";
  EXPECT_EQ(shortened(path), path) << "paths are told whole";
}

TEST(Shortened, LeavesCharactersOfUtf8Whole) {
  std::string text = "x";
  for (int i = 0; i < 100; ++i) text += "\u00e4";
  const std::string cut = shortened("found '" + text + "'");
  EXPECT_EQ(cut, "found '" + text.substr(0, 79) + "...'");
}

TEST(Shortened, EndsWhateverStandsInIt) {
  std::string quotes, pieces;
  for (int i = 0; i < 50'000; ++i) {
    quotes += "' ";
    pieces += "'a";
  }
  EXPECT_LT(shortened(quotes).size(), 4200u);
  EXPECT_LT(shortened(pieces).size(), 4200u);
  EXPECT_LT(shortened(std::string(100'000, '\'')).size(), 4200u);
}

TEST(Shortened, IsWhatEveryInputErrorIs) {
  const InputError error({"f", 9, 0}, "found '" + kLong + "'");
  EXPECT_EQ(error.what(), "f:9: found '" + kCut + "'");
  EXPECT_EQ(error.diagnostics().front().message, "found '" + kCut + "'");
}

}  // namespace
}  // namespace raddle::shortened_test
