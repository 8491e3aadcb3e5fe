// The built program as a child process: what it returns, prints and writes.
#pragma once
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace raddle::test {

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A folder of its own for one test, removed with everything in it.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "raddle-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
    path_ = name;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  /// Writes a file into the folder; returns its path.
  std::string write(const std::string& name, std::string_view text) const {
    std::ofstream(path_ / name, std::ios::binary)
        .write(text.data(), static_cast<long>(text.size()));
    return *this / name;
  }
  /// Names of what lies in it, sorted.
  std::vector<std::string> content() const {
    std::vector<std::string> out;
    for (const auto& entry : std::filesystem::directory_iterator(path_))
      out.push_back(entry.path().filename().string());
    std::ranges::sort(out);
    return out;
  }

 private:
  std::filesystem::path path_;
};

struct Outcome {
  int status = -1;  ///< exit status; 128 + signal when killed
  bool timed_out = false;
  std::string out, err;
  double seconds = 0;
};

/// Runs `program` to its end, or kills it after `limit`.
inline Outcome run_process(const std::string& program, const std::vector<std::string>& arguments,
                           std::chrono::seconds limit = std::chrono::seconds(400)) {
  const Folder capture;
  const std::string out = capture / "out", err = capture / "err";
  std::vector<char*> argv = {const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);

  const auto start = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child == 0) {
    const int flags = O_WRONLY | O_CREAT | O_TRUNC;
    dup2(open("/dev/null", O_RDONLY), 0);
    dup2(open(out.c_str(), flags, 0600), 1);
    dup2(open(err.c_str(), flags, 0600), 2);
    execv(argv[0], argv.data());
    _exit(127);
  }
  Outcome outcome;
  int raw = 0;
  while (waitpid(child, &raw, WNOHANG) == 0) {
    if (!outcome.timed_out && std::chrono::steady_clock::now() - start > limit) {
      outcome.timed_out = true;
      kill(child, SIGKILL);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  outcome.status = WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw);
  outcome.out = read_file(out);
  outcome.err = read_file(err);
  return outcome;
}

inline std::size_t line_count(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

}  // namespace raddle::test
