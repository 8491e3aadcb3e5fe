// Names in the sources are made of the field's words, and the rule would notice if they were not.
#include "house/words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "raddle_paths.h"

namespace raddle::house::words_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

std::string glossary() {
  std::ifstream in(RADDLE_SOURCE_DIR "/docs/glossary.md");
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}

TEST(House, NamesAreMadeOfTheFieldsWords) {
  const auto refused = refused_in_names(glossary());
  ASSERT_GE(refused.size(), 10u) << "docs/glossary.md, the table of words that are not used";
  std::string found;
  for (const char* folder : {"src/raddle", "workloads", "tests", "bench"})
    for (const SourceFile& file : sources(folder)) {
      if (file.path.starts_with("tests/house/")) continue;  // the rule's own examples
      for (const std::string& finding : dialect(file, refused)) found += finding + "\n";
    }
  EXPECT_EQ(found, "");
}

constexpr const char* kTable =
    "## Words\n| crew | pool | - | refused |\n## Words we do not use\n\n"
    "| word | use instead | allowed | in names |\n|---|---|---|---|\n"
    "| pile | queue | - | refused |\n| hand out | dispatch | - | refused |\n"
    "| most- | max | - | refused |\n| mark | event | in a text | allowed |\n";

TEST(Dialect, RefusedWordsAreThoseOfTheSecondTableThatSaySo) {
  EXPECT_THAT(refused_in_names(kTable), ElementsAre(Pair("hand_out", "dispatch"),
                                                    Pair("most-", "max"), Pair("pile", "queue")));
  EXPECT_THAT(refused_in_names(""), IsEmpty());
}

TEST(Dialect, NamesAreCutIntoWords) {
  EXPECT_THAT(words_of("kMostSms"), ElementsAre("most", "sms"));
  EXPECT_THAT(words_of("most_sms_"), ElementsAre("most", "sms"));
  EXPECT_THAT(words_of("L1Leaving"), ElementsAre("l1", "leaving"));
  EXPECT_THAT(words_of("readTOMLFile"), ElementsAre("read", "toml", "file"));
  EXPECT_THAT(words_of("k"), ElementsAre("k"));
  EXPECT_THAT(words_of("almost"), ElementsAre("almost"));
}

Findings dialect_in(const std::string& code) {
  return dialect({"a.cpp", code}, refused_in_names(kTable));
}

TEST(Dialect, IsFoundInNamesOfEveryStyleOnceEach) {
  EXPECT_THAT(dialect_in("int a;\nint pile_of = 1, b = pile_of;\n"),
              ElementsAre("a.cpp:2: 'pile_of': the glossary says 'queue' instead of 'pile'"));
  EXPECT_EQ(dialect_in("struct PileOf { int pile_; }; void hand_out(); int kHandOut;").size(), 4u);
  EXPECT_EQ(dialect_in("int kMostSms, most_sms;").size(), 2u);
}

TEST(Dialect, IsNotFoundInOtherWordsTextsAndNamesOfTests) {
  for (const char* code :
       {"int compile, piles_up;", "// a pile\nauto a = \"pile\";", "TEST(A, TokensDoNotPileUp) {}",
        "int hand, out;", "int out_hand;", "int at_most, kHalfMost;"})
    EXPECT_THAT(dialect_in(code), IsEmpty()) << code;
}

}  // namespace
}  // namespace raddle::house::words_test
