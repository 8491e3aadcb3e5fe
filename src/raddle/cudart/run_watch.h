// What a user sees of a long run of his program: a line on a terminal, and when a signal asks the
// program to end while it is in a call of ours, how far the simulation has come.
#pragma once
#include <signal.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "raddle/sim/run/simulation.h"

namespace raddle::cudart {

/// While it lives, signals that ask to end wait in line in this thread, but for those that the
/// program answers itself or ignores. Who watches the run takes them; what is left then does what
/// it would have done.
class HeldSignals {
 public:
  HeldSignals();
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

 private:
  sigset_t before_;
};

/// While it lives, a function of the program runs in a call of ours: signals reach it, and who
/// waits sees after seconds what for. CUDA has a thread of its own for such functions; here a
/// function that waits for the thread which launched it waits for ever.
class HostFunctionWatch {
 public:
  explicit HostFunctionWatch(const char* call);
  ~HostFunctionWatch();
  HostFunctionWatch(const HostFunctionWatch&) = delete;
  HostFunctionWatch& operator=(const HostFunctionWatch&) = delete;

 private:
  sigset_t before_;
  std::mutex mutex_ = {};
  std::condition_variable over_ = {};
  bool is_over_ = false;
  std::thread thread_ = {};
};

class RunWatch {
 public:
  explicit RunWatch(bool quiet = true);
  /// The run goes on. Ends the process, as the signal does, when one waits.
  void see(const sim::Progress& progress);
  /// A call ends: nothing of a line is left on the terminal.
  void clear();
  /// How far it is, as a sentence.
  std::string text() const;

 private:
  using Clock = std::chrono::steady_clock;
  bool shows_ = false, shown_ = false;
  std::string kernel_ = {}, place_ = {};
  exec::LaunchProgress executing_ = {};
  Cycle cycles_ = 0, first_cycle_ = 0;
  Clock::time_point start_ = {}, last_line_ = {}, last_place_ = {};
};

}  // namespace raddle::cudart
