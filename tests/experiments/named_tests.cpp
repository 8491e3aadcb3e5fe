// Tests that rows of experiments/ name exist.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "raddle/lab/file/library.h"
#include "raddle_paths.h"

namespace raddle::lab::named_tests_test {
namespace {

class NamedTests : public testing::TestWithParam<std::string> {};

TEST_P(NamedTests, Exist) {
  const Paper paper = Library("").paper(GetParam(), Scale::Quick);
  for (const Experiment& e : paper.experiments)
    for (const std::string& test : e.tested_by) {
      const std::size_t colon = test.find(": "), dot = test.find('.', colon);
      ASSERT_NE(dot, std::string::npos) << e.full_id() << ": " << test;
      std::ifstream file(std::string(RADDLE_SOURCE_DIR) + "/" + test.substr(0, colon));
      const std::string text{std::istreambuf_iterator<char>(file), {}};
      const std::string name =
          "(" + test.substr(colon + 2, dot - colon - 2) + ", " + test.substr(dot + 1) + ")";
      EXPECT_NE(text.find(name), std::string::npos) << e.full_id() << ": there is no test " << test;
    }
}

INSTANTIATE_TEST_SUITE_P(All, NamedTests, testing::ValuesIn(Library("").papers()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace raddle::lab::named_tests_test
