// Results kept in the repository: sound, of this tree's experiments, and docs/reproductions says
// what they say.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "raddle/base/compressed.h"
#include "raddle/lab/file/library.h"
#include "raddle/report/reproduction.h"
#include "raddle_paths.h"

namespace raddle::lab::kept_results_test {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = RADDLE_SOURCE_DIR;

std::string content(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The document of the largest scale that was kept; empty when none was.
fs::path kept(const std::string& paper) {
  for (const char* scale : {"full.json.zst", "full.json", "quick.json.zst", "quick.json"})
    if (const fs::path path = kRoot / "results" / paper / scale; fs::exists(path)) return path;
  return {};
}

class KeptResults : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() == "demo") GTEST_SKIP() << "shows the format, reproduces nothing";
    path_ = kept(GetParam());
    ASSERT_FALSE(path_.empty()) << "no results/" << GetParam();
    document_ = Json::parse(raddle::decompressed(content(path_), 1u << 28, path_.string()));
  }
  fs::path path_;
  Json document_;
};

TEST_P(KeptResults, TextInDocsIsTheirs) {
  EXPECT_EQ(content(kRoot / "docs/reproductions" / (GetParam() + ".md")),
            report::reproduction_text(document_))
      << "raddle report " << path_ << " -o FOLDER writes it anew";
}

/// Rows that came and went since the documents were made, which takes hours: the next full run is
/// to empty both. What newer rows gave stands in their explanations.
const std::set<std::string> kNewer = {"ccbp.n.quota", "laperm.n.step", "latoa.n.balance"};
const std::set<std::string> kGone = {"ccbp.n.factors"};

TEST_P(KeptResults, HaveEveryRowOfThePaper) {
  std::set<std::string> rows, expected;
  for (const Json& e : document_["experiments"]) rows.insert(e["id"]);
  for (const Experiment& e : Library("").paper(GetParam(), Scale::Quick).experiments)
    expected.insert(e.full_id());
  for (const std::string& row : kNewer)
    if (row.starts_with(GetParam() + ".")) {
      EXPECT_EQ(expected.erase(row), 1u) << row << " is no row";
      EXPECT_FALSE(rows.contains(row)) << row << " is no longer newer";
    }
  for (const std::string& row : kGone)
    if (row.starts_with(GetParam() + ".")) {
      EXPECT_EQ(rows.erase(row), 1u) << row << " is gone from the document too";
    }
  EXPECT_EQ(rows, expected);
}

TEST_P(KeptResults, ExplainEveryMiss) {
  for (const Json& e : document_["experiments"])
    if (e["status"] == "fail") {
      EXPECT_NE(e["explanation"], "") << e["id"];
    }
}

INSTANTIATE_TEST_SUITE_P(Papers, KeptResults, testing::ValuesIn(Library("").papers()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace raddle::lab::kept_results_test
