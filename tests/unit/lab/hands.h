// An executor whose workers are functions of the test.
#pragma once
#include <deque>
#include <functional>

#include "raddle/lab/host/files.h"
#include "raddle/lab/run/executor.h"
#include "unit/lab/support.h"

namespace raddle::lab::test {

namespace fs = std::filesystem;

/// Runs jobs when waited for, in order, in this process.
class Hands final : public Executor {
 public:
  explicit Hands(fs::path work) : work_(std::move(work)) {}
  /// What a job does instead of running its cell; true: it has been dealt with.
  std::function<bool(const CellFile&, JobEnd&)> instead;
  std::vector<std::string> order;  ///< kinds and workloads, as they were run
  std::set<std::string> elsewhere;
  bool cancelled = false;

  std::vector<std::string> adopt(const std::set<std::string>& names) override {
    std::vector<std::string> out;
    for (const std::string& name : elsewhere)
      if (names.contains(name)) {
        out.push_back(name);
        queue_.push_back({name, 0, 0});
      }
    return out;
  }
  void submit(const std::vector<Job>& jobs) override {
    for (const Job& job : jobs) {
      queue_.push_back(job);
      submitted.push_back(job);
    }
  }
  std::vector<JobEnd> wait(std::chrono::milliseconds) override {
    if (queue_.empty()) return {};
    const Job job = queue_.front();
    queue_.pop_front();
    JobEnd ended{job.name, JobEnd::How::Exited, 0, 0.5, "there"};
    const auto text = read_whole(spec_file(work_, job.name));
    if (!text) return {ended};
    const CellFile cell = read_cell(Json::parse(*text), job.name);
    order.push_back(cell.kind);
    for (const char* between = " "; const Program& program : cell.spec.programs) {
      order.back() += between + program.workload;
      between = " + ";
    }
    if (!instead || !instead(cell, ended))
      write_whole(result_file(work_, job.name), run_cell(cell, catalogue()).dump());
    return {ended};
  }
  std::size_t running() const override { return queue_.empty() ? 0 : 1; }
  std::size_t width() const override { return 1; }
  void cancel() override {
    queue_.clear();
    cancelled = true;
  }
  std::vector<Job> submitted;

 private:
  fs::path work_;
  std::deque<Job> queue_;
};

}  // namespace raddle::lab::test
