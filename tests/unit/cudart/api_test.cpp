// The list of functions, and that it has what real programs call.
#include "raddle/cudart/api.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "raddle/base/files.h"
#include "raddle/cudart/errors.h"
#include "raddle_paths.h"

namespace raddle::cudart::api_test {
namespace {

struct Counted {
  std::string name, kind;
  unsigned programs;
};

/// How many of 707 programs of ten public suites call each function.
std::vector<Counted> counted() {
  std::ifstream in(RADDLE_SOURCE_DIR "/tests/data/cuda_api.csv");
  std::vector<Counted> out;
  std::string line;
  std::getline(in, line);  // heading
  while (std::getline(in, line)) {
    std::istringstream fields(line);
    Counted row;
    std::string number;
    std::getline(fields, row.name, ',');
    std::getline(fields, row.kind, ',');
    std::getline(fields, number, ',');
    row.programs = static_cast<unsigned>(std::stoul(number));
    out.push_back(row);
  }
  return out;
}

TEST(Api, EveryFunctionThatTwoProgramsCallIsSupported) {
  // Interoperation with OpenGL needs a window; the one suite that has it shows pictures.
  const auto excused = [](const std::string& name) { return name.starts_with("cudaGraphics"); };
  std::map<std::string, bool> have;
  for (const ApiFunction& f : api_functions()) have[f.name] = f.supported;
  unsigned checked = 0;
  for (const Counted& row : counted()) {
    if (row.kind != "runtime" && row.kind != "internal") continue;
    EXPECT_TRUE(have.contains(row.name)) << row.name << " is not exported";
    if (row.programs < 2 || excused(row.name)) continue;
    EXPECT_TRUE(have[row.name]) << row.name << " is called by " << row.programs;
    ++checked;
  }
  EXPECT_GT(checked, 90u);
}

TEST(Api, AVersionHasAFunctionOnce) {
  for (int version : {11, 12, 13}) {
    std::set<std::string> seen;
    for (const ApiFunction& f : api_functions())
      if (f.first <= version && version <= f.last) {
        EXPECT_TRUE(seen.insert(f.name).second) << f.name << " in libcudart " << version;
      }
  }
  for (const ApiFunction& f : api_functions()) {
    EXPECT_LE(11, f.first) << f.name;
    EXPECT_LE(f.first, f.last) << f.name;
    EXPECT_LE(f.last, 13) << f.name;
  }
}

// RADDLE_CUDA_PAGE=1 (./x verify sets it) writes the table instead of comparing it.
TEST(Api, DocumentationHasTheTableOfTheCode) {
  const std::string file = RADDLE_SOURCE_DIR "/docs/cuda.md", mark = "<!-- from the code -->\n";
  std::ifstream in(file);
  std::ostringstream out;
  out << in.rdbuf();
  const std::string text = out.str();
  const std::size_t at = text.find(mark);
  ASSERT_NE(at, std::string::npos);
  const std::string wanted =
      text.substr(0, at) + mark + "\n" + api_table() +
      "\n## The driver's functions\n\n"
      "What the `libcuda.so.1` of CUDA 13 exports. Those that we do not have "
      "return `CUDA_ERROR_NOT_SUPPORTED`.\n" +
      driver_table();
  if (std::getenv("RADDLE_CUDA_PAGE") != nullptr) write_file(file, wanted);
  else EXPECT_EQ(text, wanted) << "docs/cuda.md is old; write it with ./x verify";
}

TEST(Errors, HaveTheNamesOfCuda) {
  EXPECT_STREQ(error_name(0), "cudaSuccess");
  EXPECT_STREQ(error_name(700), "cudaErrorIllegalAddress");
  EXPECT_STREQ(error_text(2), "out of memory");
  EXPECT_STREQ(error_name(801), "cudaErrorNotSupported");
  EXPECT_STREQ(error_name(5000), "unrecognized error code");
  EXPECT_STREQ(error_text(-1), "unrecognized error code");
}

}  // namespace
}  // namespace raddle::cudart::api_test
