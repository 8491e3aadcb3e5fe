// A simulation whose host code calls us: the device stands ready until the host says that it has
// finished. simulate() calls the host code instead.
#pragma once
#include <memory>
#include <string>

#include "raddle/runtime/simulated_device.h"
#include "raddle/sim/run/simulation.h"
#include "raddle/sim/setup/seen.h"

namespace raddle::sim {

struct SessionOptions {
  Options run;
  std::string record;  ///< op streams go to this file and nothing is timed; empty = they do not
  /// Device memory lies in this process at the addresses that the device sees.
  bool unified_addresses = false;
  std::uint64_t input_hash = 0;  ///< of the program (identity.h)
};

class Session {
 public:
  /// Throws InputError when the options contradict each other.
  Session(WorkloadInfo info, Setup setup, SessionOptions options);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  runtime::SimulatedDevice& device();
  const SeenByProgram& seen() const;
  /// Waits until everything is complete; no call of the device may follow. The verdict is
  /// `unchecked`: whether the result is right, only the host code knows.
  Result finish();
  /// For a run that a fault has ended: what the checks that were asked for have found; "".
  std::string found() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace raddle::sim
