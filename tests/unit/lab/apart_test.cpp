#include "raddle/lab/host/apart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "raddle/base/error.h"

namespace raddle::lab::test::apart_test {
namespace {

using namespace std::chrono_literals;

TEST(Apart, GivesWhatWasReturnedWholeAndLeavesThisProcessAlone) {
  int here = 1;
  const std::string big(300'000, 'x');
  EXPECT_EQ(run_apart(
                [&] {
                  here = 2;
                  return big;
                },
                60s),
            big);
  EXPECT_EQ(here, 1);
  EXPECT_EQ(run_apart([] { return std::string(); }, 60s), "");
}

TEST(Apart, TellsWhatWasRefused) {
  try {
    run_apart([]() -> std::string { throw InputError("no such policy"); }, 60s);
    ADD_FAILURE();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "no such policy");
  }
}

TEST(Apart, SurvivesCrashesExitsExceptionsAndLoops) {
  const auto gives_nothing = [](const std::function<std::string()>& body, std::chrono::seconds s) {
    EXPECT_EQ(run_apart(body, s), std::nullopt);
  };
  gives_nothing([]() -> std::string { std::abort(); }, 60s);
  gives_nothing([]() -> std::string { _exit(0); }, 60s);
  gives_nothing([]() -> std::string { throw std::runtime_error("not today"); }, 60s);
  gives_nothing(
      []() -> std::string {
        for (;;) pause();
      },
      1s);
}

TEST(Apart, PrintsNothing) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(run_apart(
                [] {
                  std::puts("to nobody");
                  std::fflush(stdout);
                  return std::string("done");
                },
                60s),
            "done");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

}  // namespace
}  // namespace raddle::lab::test::apart_test
