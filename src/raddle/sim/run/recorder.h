// The sink of raddle record: op streams go to a file.
#pragma once
#include <memory>
#include <utility>

#include "raddle/sim/run/simulation.h"
#include "raddle/trace/file.h"

namespace raddle::sim {

/// Stores each launch while it runs instead of timing it, and the order of everything.
class Recorder final : public runtime::LaunchSink {
 public:
  /// Operations of the host other than launches, as files name them.
  static constexpr const char *kRecord = "record", *kWait = "wait", *kSynchronize = "synchronize",
                              *kWrite = "write", *kRead = "read";

  Recorder(trace::FileWriter& file, const Options& options) : file_(file), options_(options) {}
  void allocated(const trace::AllocationChanges& changes) override { allocations_ = changes; }
  void admit(const trace::KernelCode&, const trace::LaunchShape&) override {}
  trace::StreamWriter* writer(const trace::KernelCode& code, const trace::LaunchShape& shape,
                              const runtime::LaunchRecord& r) override {
    if (options_.progress) options_.progress({r.sequence, r.name, 0});
    return &file_.begin(code, shape,
                        {r.name, r.sequence, index(r.stream), 0, 0, take_operations(), r.origin,
                         std::exchange(allocations_, {}), r.pointers});
  }
  void written(const runtime::LaunchRecord& r) override {
    file_.end(r.warp_instructions, r.thread_instructions);
  }
  void submit(std::shared_ptr<trace::KernelStream>, const runtime::LaunchRecord&) override {
    RADDLE_ASSERT(false);  // every launch goes through the writer
  }
  runtime::Milestone record(StreamId stream) override {
    operations_.push_back({kRecord, index(stream)});
    return milestones_++;
  }
  void wait(StreamId stream, runtime::Milestone mark) override {
    operations_.push_back({kWait, index(stream), mark});
  }
  void synchronize() override {
    const nlohmann::ordered_json all = {kSynchronize};
    if (operations_.empty() || operations_.back() != all) operations_.push_back(all);
  }
  void synchronize(runtime::Milestone mark) override {
    operations_.push_back({kSynchronize, mark});
  }
  void host_wrote(Address at, std::uint64_t bytes) override {
    operations_.push_back({kWrite, at, bytes});
  }
  void host_read(Address at, std::uint64_t bytes) override {
    operations_.push_back({kRead, at, bytes});
  }
  Cycle reached(runtime::Milestone) const override { return 0; }
  /// What the host did since the last launch, as lists of [name, number ...].
  nlohmann::ordered_json take_operations() {
    return std::exchange(operations_, nlohmann::ordered_json::array());
  }
  double milliseconds(Cycle) const override { return 0; }
  bool times() const override { return false; }

 private:
  trace::FileWriter& file_;
  const Options& options_;
  nlohmann::ordered_json operations_ = nlohmann::ordered_json::array();
  trace::AllocationChanges allocations_;  // that no launch has told yet
  runtime::Milestone milestones_ = 0;
};

}  // namespace raddle::sim
