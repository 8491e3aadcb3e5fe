#include "raddle/cli/early_end.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace raddle::cli {

namespace {

constexpr int kFailed = 1;

/// The process whose command is under way; a copy of it (fork) may end as it likes.
std::atomic<pid_t> under_way = 0;

[[noreturn]] void end_now(int status) {
  for (;;) syscall(SYS_exit_group, status);
}

/// Before exit() and quick_exit() give memory and files back.
void report_early_end() {
  if (under_way != getpid()) return;
  std::fputs("raddle: something called exit() before the command was done\n", stderr);
  std::fflush(nullptr);
  end_now(kFailed);
}

/// What _exit() does here, which no handler sees.
[[noreturn]] void end_without_handlers(int status) {
  if (status == 0 && under_way == getpid()) {
    constexpr char kMessage[] = "raddle: something called _exit() before the command was done\n";
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kMessage, sizeof kMessage - 1);
    status = kFailed;
  }
  end_now(status);
}

}  // namespace

CommandUnderWay::CommandUnderWay() {
  [[maybe_unused]] static const int once =
      std::atexit(report_early_end) + std::at_quick_exit(report_early_end);
  under_way = getpid();
}
CommandUnderWay::~CommandUnderWay() { under_way = 0; }

}  // namespace raddle::cli

// The program's own stand before libc's for whatever it loads. libc's exit() does not come by.
extern "C" {
void _exit(int status) { raddle::cli::end_without_handlers(status); }
void _Exit(int status) noexcept { raddle::cli::end_without_handlers(status); }
}
