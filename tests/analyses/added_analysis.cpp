// An analysis that one file adds (raddle/sim/analyses/tallest.cpp beside this one) is in the
// registry, in results, on the command line and in the listing. This
// program compiles what CMake makes of the folder again, with the file added; no source of src/
// knows
// it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "raddle/cli/cli.h"
#include "raddle/sim/profile/analysis.h"
#include "support/errors.h"
#include "support/whole.h"

namespace raddle::added_analysis_test {
namespace {

using testing::Contains;
using testing::HasSubstr;

/// What `raddle WORDS` prints on standard output.
std::string printed(std::vector<std::string> words, int status = 0) {
  words.insert(words.begin(), "raddle");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  testing::internal::CaptureStdout();
  EXPECT_EQ(cli::run(static_cast<int>(argv.size()), argv.data()), status);
  return testing::internal::GetCapturedStdout();
}
std::string refused(const std::vector<std::string>& words) {
  testing::internal::CaptureStderr();
  printed(words, 2);
  return testing::internal::GetCapturedStderr();
}

TEST(AddedAnalysis, IsInTheRegistry) {
  EXPECT_THAT(sim::all_analyses().names(), Contains("tallest"));
  EXPECT_THAT(sim::all_analyses().names(), Contains("cache")) << "beside the others";
}

TEST(AddedAnalysis, IsInResultsThatAskForIt) {
  test::RunSpec spec{"gtx480"};
  spec.options.analyses = {sim::read_analysis("tallest", "test"),
                           sim::read_analysis("none=tallest:at_least=1000", "test")};
  const sim::Result r = test::run("vecadd", spec);
  EXPECT_EQ(r.analysis["tallest"].dump(),
            "{\"most_blocks\":" + std::to_string(r.kernels.front().grid.count()) + "}");
  EXPECT_EQ(r.analysis["none"]["most_blocks"], 0);
}

TEST(AddedAnalysis, MistakesAreToldByName) {
  const auto said = [](const std::string& text) {
    return test::input_error_of([&] { sim::read_analysis(text, "cell 3"); });
  };
  EXPECT_THAT(said("talest"), HasSubstr("did you mean 'tallest'?"));
  EXPECT_THAT(said("tallest:at_last=2"), HasSubstr("at_least"));
  EXPECT_THAT(said("tallest:at_least=3"), HasSubstr("cell 3: at_least: expected an even number"));
  EXPECT_THAT(said("tallest:at_least=2000"), HasSubstr("1000"));
}

TEST(AddedAnalysis, IsASubcommandWithItsParametersAsOptions) {
  const std::string table = printed({"analyze", "tallest", "vecadd", "size=tiny"});
  EXPECT_THAT(table, HasSubstr("most_blocks"));
  const auto json = nlohmann::json::parse(
      printed({"analyze", "tallest", "vecadd", "size=tiny", "--at-least", "1000", "--json", "-"}));
  EXPECT_EQ(json["analysis"]["tallest"]["most_blocks"], 0);
  EXPECT_THAT(refused({"analyze", "tallest", "vecadd", "--at-least", "3"}),
              HasSubstr("expected an even number"));
  EXPECT_THAT(refused({"analyze", "tallst"}), HasSubstr("did you mean 'tallest'?"));
}

TEST(AddedAnalysis, IsListedWithItsFigures) {
  EXPECT_THAT(printed({"list", "analyses"}), HasSubstr("tallest          the largest launch"));
  const auto all = nlohmann::json::parse(printed({"list", "analyses", "--json"}));
  const auto one = std::ranges::find_if(all, [](const auto& a) { return a["name"] == "tallest"; });
  ASSERT_NE(one, all.end());
  EXPECT_EQ((*one)["parameters"][0]["path"], "at_least");
  EXPECT_EQ((*one)["figures"][0].dump(),
            R"({"doc":"of a launch of the host","name":"most_blocks","unit":"blocks"})");
  EXPECT_EQ((*one)["observes"], "op streams of launches");
}

}  // namespace
}  // namespace raddle::added_analysis_test
