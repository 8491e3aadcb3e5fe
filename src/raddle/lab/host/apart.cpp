#include "raddle/lab/host/apart.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "raddle/base/error.h"

namespace raddle::lab {

namespace {

using Clock = std::chrono::steady_clock;

// The first byte that a copy writes; the last is always kWhole.
constexpr char kReturned = 'r', kRefused = 'i', kWhole = '.';

void write_all(int to, const std::string& text) {
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t some = write(to, text.data() + written, text.size() - written);
    if (some < 0 && errno != EINTR) _exit(1);
    if (some > 0) written += static_cast<std::size_t>(some);
  }
}

[[noreturn]] void be_the_copy(int to, const std::function<std::string()>& body) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  if (const int nowhere = open("/dev/null", O_RDWR); nowhere >= 0)
    for (const int standard : {0, 1, 2}) dup2(nowhere, standard);
  std::string report;
  try {
    report = kReturned + body();
  } catch (const InputError& error) {
    report = std::string(1, kRefused) + error.what();
  } catch (...) {
    _exit(1);
  }
  write_all(to, report + kWhole);
  _exit(0);
}

/// All that comes before `until`.
std::string read_until(int from, Clock::time_point until) {
  std::string out;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
    if (left.count() <= 0) return "";
    pollfd file{from, POLLIN, 0};
    if (poll(&file, 1, static_cast<int>(left.count())) <= 0) continue;
    std::array<char, 4096> some;
    const ssize_t count = read(from, some.data(), some.size());
    if (count > 0) out.append(some.data(), static_cast<std::size_t>(count));
    else if (count == 0 || errno != EINTR) return out;
  }
}

}  // namespace

std::optional<std::string> run_apart(const std::function<std::string()>& body,
                                     std::chrono::seconds limit) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    throw RunError(std::string("cannot make a pipe: ") + std::strerror(errno));
  const pid_t pid = fork();
  if (pid == 0) be_the_copy(ends[1], body);
  close(ends[1]);
  std::string report;
  if (pid > 0) {
    setpgid(pid, pid);  // whoever comes first
    report = read_until(ends[0], Clock::now() + limit);
    kill(-pid, SIGKILL);
    while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) continue;
  }
  close(ends[0]);
  if (pid < 0) throw RunError(std::string("cannot start a process: ") + std::strerror(errno));
  if (report.size() < 2 || report.back() != kWhole) return std::nullopt;
  const std::string text = report.substr(1, report.size() - 2);
  if (report.front() == kRefused) throw InputError(text);
  return text;
}

}  // namespace raddle::lab
