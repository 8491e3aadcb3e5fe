// A program that runs in the place of ours.
#pragma once
#include <functional>

namespace raddle::cli {

struct ChildEnd {
  long process = 0;
  int status = 0;   ///< as wait() gives it
  int stopped = 0;  ///< the signal that asked us to end meanwhile, or 0
};

/// Starts a process in which `become` calls exec, and waits for its end. It ends with us, however
/// we do. A signal that asks us to end (SIGINT, SIGQUIT, SIGTERM, SIGHUP) is passed on to it, and
/// its end is ours; one that is told to end by SIGTERM or SIGHUP and does not is killed. Throws
/// RunError when there can be no process.
ChildEnd run_child(const std::function<void()>& become);

}  // namespace raddle::cli
