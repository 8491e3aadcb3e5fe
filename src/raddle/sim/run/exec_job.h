// How `raddle exec` and the runtime library inside the program it starts (room cudart) talk: files
// in one folder. job.json says what is wanted; each process that used the device leaves its
// outcome, written last, beside what it was asked for.
#pragma once
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "raddle/sim/run/simulation.h"

namespace raddle::sim {

struct ExecJob {
  /// The environment variable that names the folder.
  static constexpr const char* kVariable = "RADDLE_EXEC_FOLDER";

  std::string name;                    ///< the program's, for results
  std::vector<std::string> arguments;  ///< the program's
  std::string command, date;           ///< for the report
  bool functional = false, skip = true, report = false, timeline = false;
  bool quiet = false;            ///< no progress
  bool print_to_stderr = false;  ///< device printf; else it goes to standard output
  unsigned threads = 1;
  std::uint64_t max_cycles = kNever, max_warp_instructions = 0, sample_interval = 0;
  std::uint64_t max_stream_bytes = 0, first_launches = 0;
  std::uint64_t single_launches = kMaxSingleLaunches;  ///< of the result
  std::uint64_t timeline_events = 0;                   ///< at most; 0: as many as by default
  std::string record;                  ///< op streams go to this file; empty = they do not
  std::string out_of_bounds = "page";  ///< of kOutOfBoundsNames
  std::vector<std::string> checks;     ///< of exec::kCheckNames
  std::uint64_t input_hash = 0;        ///< identity.h

  /// By exec::OutOfBounds.
  static constexpr std::array<const char*, 3> kOutOfBoundsNames = {"fault", "page", "ignore"};
  exec::OutOfBounds out_of_bounds_mode() const;

  /// Writes `folder`/job.json and `folder`/config.json, the resolved configuration. Throws
  /// RunError.
  void write(const std::string& folder, const nlohmann::ordered_json& config) const;
  /// Throws InputError when it is not there or not whole.
  static ExecJob read(const std::string& folder);
  static std::string config_file(const std::string& folder) { return folder + "/config.json"; }
};

/// What became of one process that used the device.
struct ExecOutcome {
  /// In order: what made the run fail, one sentence each, as the program's errors were told.
  std::vector<std::string> failures;
  /// In order: libraries of machine code that asked for the driver, each with its function's name.
  std::vector<std::string> machine_code;
  std::string nothing_launched;  ///< why there was no launch; "" when there was one
  std::string summary;           ///< for a terminal
  bool has_result = false;  ///< result.json, and the report and the timeline asked for, are there

  static std::string file(const std::string& folder, long process, const std::string& what);
  void write(const std::string& folder, long process) const;
  /// Throws InputError when it is not there or not whole.
  static ExecOutcome read(const std::string& folder, long process);
  /// Processes that left something in the folder, in order of number: that they have started to
  /// use the device, or an outcome.
  static std::vector<long> processes(const std::string& folder);
};

}  // namespace raddle::sim
