#include "raddle/base/threads.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>

namespace raddle::threads_test {
namespace {

TEST(StartableThreads, AreThoseWantedWhereNothingLimitsThem) {
  EXPECT_EQ(startable_threads(1), 1u);
  EXPECT_EQ(startable_threads(6), 6u);
}

/// Ends with 7 when a process that may have no second thread has one and goes on.
[[noreturn]] void start_under_a_limit() {
  const rlimit limit{1, 1};
  // What root may start is not limited.
  if (getuid() == 0 && setuid(65534) != 0) std::_Exit(8);
  if (setrlimit(RLIMIT_NPROC, &limit) != 0) std::_Exit(9);
  std::_Exit(startable_threads(8) == 1 ? 7 : 10);
}

TEST(StartableThreads, AreFewerUnderALimit) {
  EXPECT_EXIT(start_under_a_limit(), testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace raddle::threads_test
