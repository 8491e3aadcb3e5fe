#include "house/references.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "raddle_paths.h"

namespace raddle::house::references_test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const fs::path kRoot = RADDLE_SOURCE_DIR;

std::string text_of(const fs::path& path) {
  std::ifstream in(path);
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}

std::set<std::string> all_codes() {
  std::set<std::string> out;
  for (const auto& page : fs::directory_iterator(kRoot / "docs/mechanisms"))
    out.merge(codes_of(text_of(page.path())));
  return out;
}

bool is_text(const fs::path& path) {
  static const std::set<std::string> kEndings = {".h",  ".cpp",   ".cc", ".cu",  ".toml", ".md",
                                                 ".sh", ".cmake", ".py", ".mjs", ".csv"};
  return kEndings.contains(path.extension().string());
}

TEST(References, LeadSomewhere) {
  const std::set<std::string> codes = all_codes();
  ASSERT_GT(codes.size(), 30u);
  const auto exists = [](const std::string& path) { return fs::exists(kRoot / path); };
  Findings all;
  std::size_t files = 0;
  for (const char* part : {"src", "gpus", "energy", "experiments", "workloads", "docs", "tests"})
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / part)) {
      const std::string path = fs::relative(entry.path(), kRoot).generic_string();
      // The rule's own examples; programs' outputs and texts of others.
      if (!entry.is_regular_file() || !is_text(entry.path()) || path.starts_with("tests/house/") ||
          path.starts_with("tests/data/"))
        continue;
      ++files;
      const Findings found = dangling_references({path, text_of(entry.path())}, codes, exists);
      all.insert(all.end(), found.begin(), found.end());
    }
  EXPECT_GT(files, 500u);
  EXPECT_THAT(all, IsEmpty());
}

/// Every end of a path in the folders that pages name sources of: "a/b.h" and "b.h" of "src/a/b.h".
std::set<std::string> ends_of_paths() {
  std::set<std::string> out;
  for (const char* part : {"src", "web/src", "tests", "workloads", "cmake", "gpus", "experiments"})
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / part)) {
      const std::string path = fs::relative(entry.path(), kRoot).generic_string();
      out.insert(path);
      for (std::size_t slash = path.find('/'); slash != std::string::npos;
           slash = path.find('/', slash + 1))
        out.insert(path.substr(slash + 1));
    }
  return out;
}

TEST(References, TheMapAndTheReasonsNameSourcesThatAreThere) {
  const std::set<std::string> ends = ends_of_paths();
  const auto is_end = [&](const std::string& name) { return ends.contains(name); };
  for (const char* page : {"docs/architecture.md", "docs/reasons.md"}) {
    const std::string text = text_of(kRoot / page);
    EXPECT_THAT(text, HasSubstr(".h`"));
    EXPECT_THAT(missing_sources({page, text}, is_end), IsEmpty());
  }
}

TEST(References, AMissingSourceIsFound) {
  const auto is_end = [](const std::string& name) { return name == "sm/lsu.h" || name == "lsu.h"; };
  EXPECT_THAT(
      missing_sources({"docs/a.md", "`lsu.h`, `sm/lsu.h`, lsu.cpp, `x/<y>.cpp`, `*.h`"}, is_end),
      IsEmpty());
  EXPECT_THAT(missing_sources({"docs/a.md", "\n`sm/old.h` and `b/lsu.h`"}, is_end),
              ElementsAre("docs/a.md:2: there is no source 'sm/old.h'",
                          "docs/a.md:2: there is no source 'b/lsu.h'"));
}

TEST(References, CodesAreTheFirstCellsOfRows) {
  EXPECT_THAT(codes_of("text A-I9\n| A-I1 | why |\n| x | A-I2 |\n| U-C12 | what |\n"),
              ElementsAre("A-I1", "U-C12"));
}

TEST(References, WhatIsNotThereIsFound) {
  const auto exists = [](const std::string& path) {
    return path == "docs/a.md" || path == "docs/mechanisms/b.md" || path == "README.md";
  };
  const auto found = [&](const std::string& path, const std::string& text) {
    return dangling_references({path, text}, {"A-I1"}, exists);
  };
  EXPECT_THAT(found("src/raddle/x.cpp", "// docs/a.md, README.md and A-I1\n"), IsEmpty());
  EXPECT_THAT(found("docs/mechanisms/b.md", "[a](../a.md) [b](b.md)"), IsEmpty());
  EXPECT_THAT(found("src/raddle/x.cpp", "//\n// rules.md 1.2\n"),
              ElementsAre("src/raddle/x.cpp:2: there is no document 'rules.md'"));
  EXPECT_THAT(found("gpus/x.toml", "# spec/rules.md section 1\n"),
              ElementsAre(HasSubstr("no document 'spec/rules.md'"),
                          HasSubstr("'spec/rules.md' is not in the repository")));
  EXPECT_THAT(found("gpus/x.toml", "a = 1  # facts/data/x.csv\n"),
              ElementsAre(HasSubstr("'facts/data/x.csv' is not in the repository")));
  EXPECT_THAT(found("tests/x.cpp", "// U-C1, NA-I2, A-I12x, A-I1\n"),
              ElementsAre(HasSubstr("no entry 'U-C1'")));
}

}  // namespace
}  // namespace raddle::house::references_test
