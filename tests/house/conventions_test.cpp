// What a project of this kind has at its root, and that it says the same everywhere: one version,
// a changelog with an entry for it, pages that can all be reached.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>

#include "raddle_paths.h"

namespace raddle::house::conventions_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const fs::path kRoot = RADDLE_SOURCE_DIR;
constexpr std::size_t kReadmeLines = 120;

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Conventions, TheVersionIsSemanticAndTheSameEverywhere) {
  EXPECT_THAT(RADDLE_VERSION, testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
  EXPECT_THAT(text_of(kRoot / "CITATION.cff"), HasSubstr("\nversion: " RADDLE_VERSION "\n"));
  EXPECT_THAT(text_of(kRoot / "CHANGELOG.md"), HasSubstr("\n## [" RADDLE_VERSION "]"));
}

TEST(Conventions, TheChangelogKnowsTheKindsOfChange) {
  static const std::set<std::string> kKinds = {"Added",   "Changed", "Deprecated",
                                               "Removed", "Fixed",   "Security"};
  const std::string text = text_of(kRoot / "CHANGELOG.md");
  const std::regex heading(R"(\n### (.*))");
  std::size_t found = 0;
  for (std::sregex_iterator at(text.begin(), text.end(), heading), end; at != end; ++at, ++found)
    EXPECT_TRUE(kKinds.contains((*at)[1])) << (*at)[1];
  EXPECT_GE(found, 1u);
}

TEST(Conventions, TheReadmeIsShort) {
  const std::string text = text_of(kRoot / "README.md");
  EXPECT_LE(static_cast<std::size_t>(std::ranges::count(text, '\n')), kReadmeLines);
}

TEST(Conventions, EveryPageCanBeReachedFromTheReadme) {
  std::set<fs::path> seen;
  std::vector<fs::path> next = {"README.md"};
  const std::regex link(R"(\]\(([^)# ]+\.md)(?:#[^)]*)?\))");
  while (!next.empty()) {
    const fs::path page = next.back();
    next.pop_back();
    if (!seen.insert(page).second) continue;
    const std::string text = text_of(kRoot / page);
    for (std::sregex_iterator at(text.begin(), text.end(), link), end; at != end; ++at) {
      const fs::path target = (page.parent_path() / (*at)[1].str()).lexically_normal();
      if (fs::exists(kRoot / target)) next.push_back(target);
    }
  }
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / "docs"))
    EXPECT_TRUE(entry.path().extension() != ".md" ||
                seen.contains(fs::relative(entry.path(), kRoot)))
        << entry.path();
}

}  // namespace
}  // namespace raddle::house::conventions_test
