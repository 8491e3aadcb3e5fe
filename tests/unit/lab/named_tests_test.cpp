#include "raddle/lab/verdict/named_tests.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "raddle/base/error.h"
#include "unit/lab/support.h"

namespace raddle::lab::test::named_tests_test {
namespace {

namespace fs = std::filesystem;

// What a parameterised test of this program is called.
class Numbers : public testing::TestWithParam<int> {};
TEST_P(Numbers, ArePositive) { EXPECT_GT(GetParam(), 0); }
INSTANTIATE_TEST_SUITE_P(Few, Numbers, testing::Values(1, 2));

TEST(NamedTests, ThoseOfThisProgramPass) {
  const fs::path programs = fs::read_symlink("/proc/self/exe").parent_path();
  const std::string file = "tests/unit/lab/named_tests_test.cpp: ";
  const TestOutcomes out =
      run_named_tests({file + "Numbers.ArePositive", file + "NamedTests.NobodyWroteThis",
                       "tests/nowhere/a.cpp: NamedTests.Numbers"},
                      programs);
  EXPECT_EQ(out,
            (TestOutcomes{{file + "Numbers.ArePositive", TestOutcome::Passed},
                          {file + "NamedTests.NobodyWroteThis", TestOutcome::Failed},
                          {"tests/nowhere/a.cpp: NamedTests.Numbers", TestOutcome::NotBuilt}}));
}

/// A program that writes `report` where GoogleTest would write its own.
TestOutcomes with_report(const std::string& report) {
  const Folder folder;
  const fs::path program =
      folder.write("test_worked",
                   "#!/bin/sh\nfor word; do case $word in --gtest_output=json:*)\n"
                   "cat > \"${word#--gtest_output=json:}\" <<'END'\n" +
                       report + "\nEND\nesac; done\n");
  fs::permissions(program, fs::perms::owner_all);
  return run_named_tests({"tests/worked/a.cpp: A.B"}, folder.path());
}

std::string report(const std::string& tests) {
  return R"({"testsuites": [{"name": "Some/A", "testsuite": [)" + tests + "]}]}";
}

TEST(NamedTests, OneParameterThatFailsFails) {
  const std::string good = R"({"name": "B/0", "result": "COMPLETED"})";
  const std::string bad =
      R"({"name": "B/1", "result": "COMPLETED", "failures": [{"failure": "no"}]})";
  EXPECT_EQ(with_report(report(good)).begin()->second, TestOutcome::Passed);
  EXPECT_EQ(with_report(report(good + "," + bad)).begin()->second, TestOutcome::Failed);
}

TEST(NamedTests, OneThatWasSkippedOrCrashedHasNotPassed) {
  EXPECT_EQ(with_report(report(R"({"name": "B/0", "result": "SKIPPED"})")).begin()->second,
            TestOutcome::Failed);
  EXPECT_EQ(with_report("").begin()->second, TestOutcome::Failed);
  EXPECT_EQ(with_report(R"({"testsuites": [)").begin()->second, TestOutcome::Failed);
}

TEST(NamedTests, AProgramUnderWayEndsWhenAskedTo) {
  const Folder folder;
  const fs::path program = folder.write("test_worked", "#!/bin/sh\nexec sleep 600\n");
  fs::permissions(program, fs::perms::owner_all);
  int asked = 0;
  EXPECT_THROW(
      run_named_tests({"tests/worked/a.cpp: A.B"}, folder.path(), [&] { return ++asked == 2; }),
      RunError);
}

}  // namespace
}  // namespace raddle::lab::test::named_tests_test
