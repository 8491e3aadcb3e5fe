#include "house/sentences.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "raddle_paths.h"

namespace raddle::house::sentences_test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

const fs::path kRoot = RADDLE_SOURCE_DIR;
constexpr unsigned kMaxWords = 40;

std::string text_of(const fs::path& path) {
  std::ifstream in(path);
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}

std::vector<std::string> texts(const std::string& markdown) {
  std::vector<std::string> out;
  for (const Sentence& sentence : sentences_of(markdown)) out.push_back(sentence.text);
  return out;
}

std::vector<unsigned> counts(const std::string& markdown) {
  std::vector<unsigned> out;
  for (const Sentence& sentence : sentences_of(markdown)) out.push_back(sentence.words);
  return out;
}

/// The pages at the root and of the folders that have some.
std::vector<fs::path> pages() {
  std::vector<fs::path> out;
  for (const char* name : {"README.md", "CONTRIBUTING.md"}) out.push_back(kRoot / name);
  for (const char* folder : {"docs", "examples", "experiments", "workloads", "data/silicon"})
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder))
      if (entry.path().extension() == ".md") out.push_back(entry.path());
  return out;
}

TEST(Sentences, OfThePagesAreShort) {
  Findings all;
  std::size_t counted = 0;
  for (const fs::path& page : pages()) {
    const std::string text = text_of(page);
    counted += sentences_of(text).size();
    const std::string path = fs::relative(page, kRoot).generic_string();
    const Findings found = long_sentences({path, text}, kMaxWords);
    all.insert(all.end(), found.begin(), found.end());
  }
  EXPECT_GT(counted, 5000u);
  EXPECT_THAT(all, IsEmpty());
}

TEST(Sentences, EndWithAStopAndGoOnOverLines) {
  EXPECT_THAT(texts("One two.\nThree\nfour! Five?\n\nSix\n"),
              ElementsAre("One two.", "Three four!", "Five?", "Six"));
  EXPECT_THAT(texts("It is *so.* And (this is, too.) Then"),
              ElementsAre("It is *so.*", "And (this is, too.)", "Then"));
  EXPECT_THAT(texts("A: b; c, d"), ElementsAre("A: b; c, d"));
}

TEST(Sentences, StopsThatEndNothing) {
  EXPECT_THAT(texts("It is 0.5 of 1.25 GB."), ElementsAre("It is 0.5 of 1.25 GB."));
  EXPECT_THAT(texts("See Fig. 3, e.g. B vs. C by M. D. Sinclair et al. there."),
              ElementsAre("See Fig. 3, e.g. B vs. C by M. D. Sinclair et al. there."));
  EXPECT_THAT(texts("The files a.cpp and ... so on"), ElementsAre("The files a.cpp and ... so on"));
}

TEST(Sentences, ACodeSpanIsAWordAndMayBeginASentence) {
  EXPECT_THAT(texts("Use it. `a b. c` is one."), ElementsAre("Use it.", "` is one."));
  EXPECT_THAT(counts("one `a b c` two ``d ` e`` three"), ElementsAre(5));
}

TEST(Sentences, OfALinkItsTextCounts) {
  EXPECT_THAT(texts("See [the page](docs/a. b.md#c) now"), ElementsAre("See the page now"));
  EXPECT_THAT(texts("![A picture](a.png)"), ElementsAre("A picture"));
}

TEST(Sentences, CodeBlocksAndCommentsAreNone) {
  EXPECT_THAT(texts("a\n```\nb c\n\n# d\n```\ne"), ElementsAre("a", "e"));
  EXPECT_THAT(texts("a\n\n    b c\n\nd"), ElementsAre("a", "d"));
  EXPECT_THAT(texts("a\n<!-- b -->\nc"), ElementsAre("a", "c"));
}

TEST(Sentences, IndentedTextOfAnItemIsProse) {
  EXPECT_THAT(texts("1. a\n\n    b c\n\nd\n\n    e"), ElementsAre("a", "b c", "d"));
}

TEST(Sentences, HeadingsItemsAndCellsStandAlone) {
  EXPECT_THAT(texts("# Head\nText\n* one\n  more\n- two\n3. three"),
              ElementsAre("Head", "Text", "one more", "two", "three"));
  EXPECT_THAT(texts("| a b | cc. D |\n|---|:--:|\n| `x | y` | e \\| f |"),
              ElementsAre("a b", "cc.", "D", "`", "e \\| f"));
}

TEST(Sentences, ACellMayHoldAList) {
  EXPECT_THAT(texts("a; b\n| a: 1 / 2; b: 3 / 4 | `c; d` |"),
              ElementsAre("a; b", "a: 1 / 2;", "b: 3 / 4", "`"));
}

TEST(Sentences, LongOnesAreNamedWithTheirLine) {
  const SourceFile page = {"docs/x.md", "# a\n\none two three.\nFour five six seven.\n"};
  EXPECT_THAT(long_sentences(page, 4), IsEmpty());
  EXPECT_THAT(long_sentences(page, 3),
              ElementsAre("docs/x.md:3: a sentence of 4 words (at most 3): Four five six seven."));
  EXPECT_THAT(counts("a - b & c"), ElementsAre(3));
}

}  // namespace
}  // namespace raddle::house::sentences_test
