#include "raddle/sim/corun/tenant_program.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "raddle/base/error.h"
#include "raddle/sim/run/named_workload.h"
#include "raddle/sim/run/parts.h"
#include "raddle/sim/run/recorder.h"
#include "raddle/trace/memory_trace.h"

namespace raddle::sim {

namespace {

using Json = nlohmann::ordered_json;

/// Keeps each launch in memory instead of timing it, and what the host did before it.
class Keeper final : public runtime::LaunchSink {
 public:
  explicit Keeper(std::vector<TenantProgram::Step>& steps) : steps_(steps) {}
  void admit(const trace::KernelCode&, const trace::LaunchShape&) override {}
  void submit(std::shared_ptr<trace::KernelStream> stream,
              const runtime::LaunchRecord& record) override {
    submit_tree({{std::move(stream), record}});
  }
  void submit_tree(const std::vector<runtime::LaunchedStream>& tree) override {
    steps_.push_back({take_operations(), tree});
  }
  runtime::Milestone record(StreamId stream) override {
    operations_.push_back({Recorder::kRecord, index(stream)});
    return milestones_++;
  }
  void wait(StreamId stream, runtime::Milestone mark) override {
    operations_.push_back({Recorder::kWait, index(stream), mark});
  }
  void synchronize() override { operations_.push_back(Json::array({Recorder::kSynchronize})); }
  void synchronize(runtime::Milestone mark) override {
    operations_.push_back({Recorder::kSynchronize, mark});
  }
  void host_wrote(Address at, std::uint64_t bytes) override {
    operations_.push_back({Recorder::kWrite, at, bytes});
  }
  Cycle reached(runtime::Milestone) const override { return 0; }
  double milliseconds(Cycle) const override { return 0; }
  Json take_operations() { return std::exchange(operations_, Json::array()); }

 private:
  std::vector<TenantProgram::Step>& steps_;
  Json operations_ = Json::array();
  runtime::Milestone milestones_ = 0;
};

bool is_global(trace::OpKind kind) {
  return trace::carries_lines(kind) && kind != trace::OpKind::LoadLocal &&
         kind != trace::OpKind::StoreLocal;
}

void cover(Footprint& footprint, Address begin, Address end) {
  footprint.begin = std::min(footprint.begin, begin);
  footprint.end = std::max(footprint.end, end);
}

/// Lines of the records in [at, end).
void cover(Footprint& footprint, const trace::KernelCode& code, const std::uint32_t* at,
           const std::uint32_t* end) {
  while (at < end) {
    const trace::Record record{at[0], at[1]};
    at += trace::kRecordWords;
    const trace::OpKind kind = code.instructions[record.inst()].kind;
    if (!trace::carries_transactions(kind)) continue;
    for (unsigned i = 0; i < record.transactions(); ++i, at += trace::kTransactionWords) {
      const Address line = Address{at[0]} * trace::kLineBytes;
      if (is_global(kind)) cover(footprint, line, line + trace::kLineBytes);
    }
  }
  RADDLE_ASSERT(at == end);
}

/// Lines of the whole launch, whose blocks are closed one after another.
void cover(Footprint& footprint, trace::KernelStream& stream) {
  const std::uint64_t blocks = stream.shape().grid.count();
  for (std::uint32_t block = 0; block < blocks; ++block) {
    for (unsigned warp = 0; warp < stream.shape().warps_per_block(); ++warp) {
      trace::WarpCursor cursor = stream.open(block, warp);
      do {
        cover(footprint, stream.code(), cursor.at, cursor.end);
        cursor.at = cursor.end;
      } while (stream.refill(cursor));
    }
    stream.close(block);
  }
}

void finish(TenantProgram& program, Json operations) {
  if (program.steps.empty())
    throw InputError("'" + program.info.name + "' launches no kernel: it cannot be a tenant");
  program.steps.push_back({std::move(operations), {}});
}

/// A launch of a recording whose blocks come into memory when they first start and stay there: a
/// tenant runs them again, but of a grid that is larger than its horizon it runs few.
class KeptStream final : public trace::KernelStream {
 public:
  KeptStream(std::shared_ptr<const trace::Recording> recording, std::size_t i)
      : recording_(std::move(recording)),
        from_(recording_->open(i)),
        kept_(std::make_shared<const trace::KernelCode>(from_->code()), from_->shape(),
              std::make_shared<trace::TraceArena>(), 0),  // a warp's words come at once
        is_kept_(from_->shape().grid.count()) {}
  const trace::KernelCode& code() const override { return kept_.code(); }
  const trace::LaunchShape& shape() const override { return kept_.shape(); }
  bool concurrent() const override { return true; }
  trace::WarpCursor open(std::uint32_t block, unsigned warp) override {
    keep(block);
    return kept_.open(block, warp);
  }
  bool refill(trace::WarpCursor& cursor) override { return kept_.refill(cursor); }
  void close(std::uint32_t) override {}
  void keep_all() {
    for (std::uint32_t block = 0; block < is_kept_.size(); ++block) keep(block);
  }

 private:
  void keep(std::uint32_t block) {
    const std::lock_guard lock(mutex_);
    if (is_kept_[block]) return;
    copy_block(*from_, kept_, block);
    is_kept_[block] = true;
  }

  std::shared_ptr<const trace::Recording> recording_;
  std::unique_ptr<trace::KernelStream> from_;
  trace::MemoryTrace kept_;
  std::vector<bool> is_kept_;
  std::mutex mutex_;
};

runtime::LaunchedStream load_launch(const std::shared_ptr<const trace::Recording>& recording,
                                    std::size_t i, Footprint& footprint) {
  const trace::LaunchHeader launch = recording->launch(i);
  auto stream = std::make_shared<KeptStream>(recording, i);
  // Where launches come in order, this is the last time that its blocks can be read.
  if (!recording->any_order()) stream->keep_all();
  cover(footprint, recording->any_order() ? *recording->open(i) : *stream);
  const trace::LaunchShape shape = stream->shape();
  return {stream,
          {launch.sequence, launch.name, shape.grid, shape.block, StreamId{launch.stream},
           launch.warp_instructions, launch.thread_instructions, launch.origin}};
}

}  // namespace

TenantProgram execute_tenant(runtime::Workload& workload, const WorkloadInfo& info,
                             const Setup& setup, const Options& options) {
  check_capability(workload, info.name, setup);
  TenantProgram program;
  program.info = info;
  Keeper sink(program.steps);
  runtime::SimulatedDeviceOptions settings = device_options(seen_by_workload(setup), options);
  settings.live = false;
  settings.sink = &sink;
  runtime::SimulatedDevice device(settings);
  Result judged;
  run_and_judge(workload, device, setup.run.seed, judged);
  program.input_hash = judged.input_hash;
  program.verdict = judged.verdict;
  program.difference = judged.difference;
  for (const TenantProgram::Step& step : program.steps)
    for (const runtime::LaunchedStream& launch : step.tree)
      cover(program.footprint, *launch.stream);
  finish(program, sink.take_operations());
  return program;
}

TenantProgram load_tenant(std::shared_ptr<const trace::Recording> recording) {
  TenantProgram program;
  program.info = {recording->header().at("workload"), recording->header().at("parameters")};
  std::uint64_t marks = 0;
  for (std::size_t i = 0; i < recording->launches();) {
    TenantProgram::Step step{recording->launch(i).operations, {}};
    check_operations(step.operations, marks);
    for (const std::size_t end = end_of_tree(*recording, i); i < end; ++i)
      step.tree.push_back(load_launch(recording, i, program.footprint));
    program.steps.push_back(std::move(step));
  }
  check_operations(recording->trailer().at("operations"), marks);
  Result judged;
  fill_verdict(judged, recording->trailer());
  program.input_hash = judged.input_hash;
  program.verdict = judged.verdict;
  program.difference = judged.difference;
  finish(program, recording->trailer().at("operations"));
  return program;
}

}  // namespace raddle::sim
