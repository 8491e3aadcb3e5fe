// Every file of examples/ is sound at both scales, says at its head how it is run and what to see,
// and is named in examples/README.md. tests/cli/examples.cpp runs them.
#include <gmock/gmock.h>

#include <filesystem>

#include "raddle/cli/shared/lab_options.h"
#include "raddle/lab/file/library.h"
#include "raddle/lab/plan/external_programs.h"
#include "raddle/lab/plan/plan.h"
#include "raddle_paths.h"
#include "support/process.h"

namespace raddle::lab::examples_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::vector<fs::path> examples() {
  std::vector<fs::path> out;
  for (const auto& entry : fs::directory_iterator(RADDLE_SOURCE_DIR "/examples"))
    if (entry.is_regular_file() && entry.path().extension() != ".ptx" &&
        entry.path().extension() != ".md")
      out.push_back(entry.path());
  std::ranges::sort(out);
  return out;
}

TEST(Examples, ThereAreTen) { EXPECT_GE(examples().size(), 10u); }

TEST(Examples, SayHowTheyAreRunAndAreInTheReadme) {
  const std::string readme = test::read_file(RADDLE_SOURCE_DIR "/examples/README.md");
  for (const fs::path& file : examples()) {
    const std::string text = test::read_file(file);
    EXPECT_THAT(text, HasSubstr("What to see:")) << file;
    EXPECT_THAT(text, HasSubstr("examples/" + file.filename().string())) << file;
    EXPECT_THAT(readme, HasSubstr("examples/" + file.filename().string()));
  }
}

TEST(Examples, ExperimentFilesArePlanned) {
  for (const fs::path& file : examples()) {
    if (file.extension() != ".toml") continue;
    for (const Scale scale : {Scale::Quick, Scale::Full}) {
      Paper paper = read_single(file, scale);
      identify(paper, cli::catalogue());
      EXPECT_FALSE(make_plan(select(paper, ""), cli::catalogue()).runs.empty()) << file;
    }
  }
}

}  // namespace
}  // namespace raddle::lab::examples_test
