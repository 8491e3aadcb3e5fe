// Who runs cells: a pool of processes here, or a cluster. All talk through files in one folder, so
// that results outlive whoever waits for them:
//
//   NAME.spec.json    what to run, written by the runner before it submits NAME
//   NAME.result.json  what came of it, put there by rename by `raddle cell`
//   NAME.log          what the worker printed
#pragma once
#include <chrono>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace raddle::lab {

struct Job {
  std::string name;  ///< of its files; unique
  double timeout_seconds = 0;
  std::uint64_t memory_bytes = 0;  ///< what it is expected to need
};

/// A job that is over. Whether it has a result is for its file to say.
struct JobEnd {
  enum class How : std::uint8_t {
    Exited,    ///< `status` is its exit status
    Signal,    ///< `status` is the signal
    TimedOut,  ///< killed after its timeout
    Lost,      ///< the cluster knows it no more
  };
  std::string name;
  How how = How::Exited;
  int status = 0;
  double seconds = 0;
  std::string host;
  std::string reason = {};  ///< of a lost job: what the cluster says of it
};

class Executor {
 public:
  virtual ~Executor() = default;
  /// Which of `names` are still under way from an earlier life of the runner. They will be reported
  /// by wait() as if they had been submitted now.
  virtual std::vector<std::string> adopt(const std::set<std::string>& names) = 0;
  /// Runs the jobs, when there is room, in about this order.
  virtual void submit(const std::vector<Job>& jobs) = 0;
  /// Jobs that have ended since the last call; waits for one at most that long.
  virtual std::vector<JobEnd> wait(std::chrono::milliseconds at_most) = 0;
  /// Jobs that run now, and how many could.
  virtual std::size_t running() const = 0;
  virtual std::size_t width() const = 0;
  /// Ends everything that was submitted; when it returns nothing runs any more.
  virtual void cancel() = 0;
  /// May jobs that are not adopted still be running, of another plan?
  virtual bool outlives_runner() const { return false; }
};

inline std::filesystem::path spec_file(const std::filesystem::path& work, const std::string& name) {
  return work / (name + ".spec.json");
}
inline std::filesystem::path result_file(const std::filesystem::path& work,
                                         const std::string& name) {
  return work / (name + ".result.json");
}
inline std::filesystem::path log_file(const std::filesystem::path& work, const std::string& name) {
  return work / (name + ".log");
}

/// Exit statuses of `raddle cell`: its result could not be written; the specification is of another
/// program.
inline constexpr int kResultNotWritten = 3;
inline constexpr int kOtherProgram = 4;

}  // namespace raddle::lab
