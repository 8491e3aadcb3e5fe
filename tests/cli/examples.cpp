// The studies of examples/, run as their heads say.
#include <filesystem>

#include "cli/raddle.h"
#include "raddle_paths.h"

namespace raddle::test::examples_test {
namespace {

constexpr const char* kExamples = RADDLE_SOURCE_DIR "/examples/";

Outcome script(const std::string& name, const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {"RADDLE=" RADDLE_PROGRAM, kExamples + name};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return run_process("/usr/bin/env", words);
}

/// The experiment file of that name, into folder/r.
void expect_it_holds(const std::string& name, const Folder& folder) {
  const Outcome run = raddle("sweep", {kExamples + name + ".toml", "--results", folder / "r",
                                       "--report", folder / "r.html", "--json", folder / "d.json"});
  EXPECT_EQ(run.status, 0) << run.err;
  const Json document = Json::parse(read_file(folder / "d.json"));
  const Json& e = document["experiments"][0];
  EXPECT_TRUE(e["status"] == "pass" || e["status"] == "no_verdict") << e["shapes"].dump(1);
  for (const Json& figure : e["figures"])
    for (const Json& series : figure["series"])
      for (const Json& value : series["values"])
        EXPECT_TRUE(value.is_number()) << figure["title"] << " " << series["name"];
}

class ExampleFile : public testing::TestWithParam<const char*> {};
TEST_P(ExampleFile, RunsAndHolds) {
  const Folder folder;
  expect_it_holds(GetParam(), folder);
}
INSTANTIATE_TEST_SUITE_P(All, ExampleFile,
                         testing::Values("cache_sizes", "best_limit", "two_tenants", "own_kernel"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Example, WarpSchedulersAndTheirResultsInPython) {
  const Folder folder;
  expect_it_holds("warp_schedulers", folder);
  const Outcome run =
      run_process("/usr/bin/env", {std::string(kExamples) + "results.py", folder / "r"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("spmv"), HasSubstr("most lost to")));
}

TEST(Example, Recording) {
  const Folder folder;
  const Outcome run = script("recording.sh", {folder.path(), "tiny"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("gto+swl limit=8"), HasSubstr("belady"),
                             HasSubstr("hits, intra-thread")));
  EXPECT_TRUE(std::filesystem::exists(folder / "spmv.html"));
}

TEST(Example, Trace) {
  const Outcome run = script("trace.sh", {});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("speed-up"));
}

TEST(Example, PapersFigure) {
  const Folder folder;
  const Outcome run = script("papers_figure.sh", {"", folder.path()});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("demo.warps-with-bfs"), HasSubstr("no_verdict")));
}

TEST(Example, OwnProgram) {
  if (std::system("command -v nvcc > /dev/null") != 0) GTEST_SKIP() << "no nvcc here";
  const Folder folder;
  const Outcome run =
      run_process("/usr/bin/env", {"RADDLE=" RADDLE_PROGRAM, "OUT=" + folder.path().string(),
                                   std::string(kExamples) + "own_program.sh"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("gto+swl:limit=8"));
}

// Without a cluster: what the script checks before it submits.
TEST(Example, SlurmNeedsSlurm) {
  const Folder folder;
  const Outcome run = script("slurm.sh", {std::string(kExamples) + "warp_schedulers.toml",
                                          folder / "r", "--partition=short"});
  EXPECT_THAT(run.out, HasSubstr("15 runs"));
  EXPECT_NE(run.status, 0);
}

}  // namespace
}  // namespace raddle::test::examples_test
