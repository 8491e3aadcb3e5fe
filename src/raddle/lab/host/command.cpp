#include "raddle/lab/host/command.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "raddle/base/error.h"

namespace raddle::lab {

namespace {

using Clock = std::chrono::steady_clock;

struct Pipe {
  int read = -1, write = -1;
  Pipe() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0)
      throw RunError(std::string("cannot make a pipe: ") + std::strerror(errno));
    read = ends[0];
    write = ends[1];
  }
  ~Pipe() {
    close_write();
    if (read >= 0) close(read);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close_write() {
    if (write >= 0) close(write);
    write = -1;
  }
};

/// 0, or why it could not be started.
int spawn(const std::vector<std::string>& words, const Pipe& out, const Pipe& err, pid_t& pid) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out.write, 1);
  posix_spawn_file_actions_adddup2(&actions, err.write, 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const int error = posix_spawnp(&pid, argv[0], &actions, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return error;
}

constexpr std::chrono::milliseconds kAskEvery{200};

/// Reads both until both are closed; false when `until` came first, or `stop` said so.
bool read_both(Pipe& out, Pipe& err, CommandOutcome& outcome, Clock::time_point until,
               const std::function<bool()>& stop) {
  std::array<pollfd, 2> files{pollfd{out.read, POLLIN, 0}, pollfd{err.read, POLLIN, 0}};
  std::array<std::string*, 2> texts{&outcome.out, &outcome.err};
  while (files[0].fd >= 0 || files[1].fd >= 0) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
    outcome.stopped = stop && stop();
    if (outcome.stopped || left.count() <= 0) return false;
    if (stop) left = std::min(left, kAskEvery);
    if (poll(files.data(), files.size(), static_cast<int>(left.count())) <= 0) continue;
    for (std::size_t i = 0; i < files.size(); ++i) {
      if (files[i].fd < 0 || files[i].revents == 0) continue;
      std::array<char, 4096> buffer;
      const ssize_t n = read(files[i].fd, buffer.data(), buffer.size());
      if (n > 0) texts[i]->append(buffer.data(), static_cast<std::size_t>(n));
      else if (n == 0 || errno != EINTR) files[i].fd = -1;
    }
  }
  return true;
}

}  // namespace

CommandOutcome run_command(const std::vector<std::string>& words, std::chrono::seconds limit,
                           const std::function<bool()>& stop) {
  RADDLE_ASSERT(!words.empty());
  CommandOutcome outcome;
  Pipe out, err;
  pid_t pid = 0;
  if (const int error = spawn(words, out, err, pid); error != 0) {
    outcome.status = 127;
    outcome.err = words[0] + ": " + std::strerror(error);
    return outcome;
  }
  out.close_write();
  err.close_write();
  if (!read_both(out, err, outcome, Clock::now() + limit, stop)) {
    outcome.timed_out = !outcome.stopped;
    kill(-pid, SIGKILL);
  }
  int raw = 0;
  while (waitpid(pid, &raw, 0) < 0 && errno == EINTR) continue;
  outcome.status = WIFSIGNALED(raw) ? 128 + WTERMSIG(raw) : WEXITSTATUS(raw);
  return outcome;
}

bool is_in_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream in(path == nullptr ? "" : path);
  for (std::string folder; std::getline(in, folder, ':');)
    if (access((folder + "/" + program).c_str(), X_OK) == 0) return true;
  return false;
}

}  // namespace raddle::lab
