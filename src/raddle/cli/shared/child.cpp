#include "raddle/cli/shared/child.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <string>

#include "raddle/base/error.h"

namespace raddle::cli {

namespace {

constexpr int kEndSignals[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
constexpr timespec kGrace{2, 0}, kNow{0, 0};

bool is_ignored(int signal) {
  struct sigaction now = {};
  return sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

/// While it lives, signals that ask to end wait in line, and so does the end of a child. What is
/// ignored (nohup, a shell's background job) stays so.
class Waiting {
 public:
  Waiting() {
    signal(SIGCHLD, SIG_DFL);
    sigemptyset(&set_);
    sigaddset(&set_, SIGCHLD);
    for (const int one : kEndSignals)
      if (!is_ignored(one)) sigaddset(&set_, one);
    sigprocmask(SIG_BLOCK, &set_, &before_);
  }
  /// What came after the child's end has been answered by it.
  ~Waiting() {
    while (sigtimedwait(&set_, nullptr, &kNow) > 0) {
    }
    restore();
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  void restore() const { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  const sigset_t& set() const { return set_; }

 private:
  sigset_t set_{}, before_{};
};

}  // namespace

ChildEnd run_child(const std::function<void()>& become) {
  std::fflush(nullptr);
  const Waiting waiting;
  const pid_t parent = getpid(), child = fork();
  if (child < 0) throw RunError(std::string("cannot start a process: ") + std::strerror(errno));
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);  // died before we said so
    waiting.restore();
    signal(SIGXFSZ, SIG_DFL);  // our own way with it (main.cpp) is no program's
    become();
    _exit(127);
  }
  ChildEnd end{child, 0, 0};
  bool must_end = false;
  while (waitpid(child, &end.status, WNOHANG) != child) {
    siginfo_t info{};
    const int got = sigtimedwait(&waiting.set(), &info, must_end ? &kGrace : nullptr);
    if (got < 0 && errno == EAGAIN) kill(child, SIGKILL);
    if (got < 0 || got == SIGCHLD) continue;
    end.stopped = got;
    must_end = must_end || got == SIGTERM || got == SIGHUP;
    // What a terminal sends, the program has as well.
    if (info.si_code <= 0) kill(child, got);
  }
  return end;
}

}  // namespace raddle::cli
