// Another program, called and waited for.
#pragma once
#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace raddle::lab {

struct CommandOutcome {
  /// Exit status; 128 + signal when killed, 127 when it could not be started.
  int status = 0;
  std::string out, err;
  bool timed_out = false, stopped = false;
};

/// Looks `words[0]` up in PATH. It gets nothing on its standard input and is killed after `limit`,
/// or when `stop`, asked now and then, says so. A Ctrl-C of the terminal does not reach it. Throws
/// RunError when the system has no room for it.
CommandOutcome run_command(const std::vector<std::string>& words, std::chrono::seconds limit,
                           const std::function<bool()>& stop = nullptr);

/// Whether PATH has such a program.
bool is_in_path(const std::string& program);

}  // namespace raddle::lab
