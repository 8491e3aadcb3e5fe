#include "raddle/sim/corun/tenant_host.h"

#include <algorithm>
#include <string>

#include "raddle/base/error.h"
#include "raddle/sim/run/recorder.h"

namespace raddle::sim {

TenantHost::TenantHost(TenantId tenant, const TenantProgram& program, Address base, TimedGpu& gpu,
                       const Setup& setup)
    : program_(program),
      gpu_(gpu),
      host_{tenant, 0},
      base_(base),
      max_pending_(setup.machine.kernels.pending) {
  RADDLE_ASSERT(base % trace::kLineBytes == 0);
  for (const TenantProgram::Step& step : program.steps) {
    code_.emplace_back();
    for (const runtime::LaunchedStream& launch : step.tree) {
      gpu.admit(launch.stream->code(), launch.stream->shape());
      code_.back().push_back(gpu.lowered(launch.stream->code()));
      const timing::BlockNeeds block = timing::taken_by_block(
          setup.machine.sm, code_.back().back()->code, launch.stream->shape());
      largest_block_ = {std::max(largest_block_.threads, block.threads),
                        std::max(largest_block_.warps, block.warps),
                        std::max(largest_block_.registers, block.registers),
                        std::max(largest_block_.shared_bytes, block.shared_bytes)};
    }
  }
}

void TenantHost::drive(std::uint64_t& sequence) {
  while (may_go_on()) {
    const TenantProgram::Step& step = program_.steps[step_];
    if (operation_ < step.operations.size()) {
      operate(step.operations[operation_]);
    } else if (step.tree.empty()) {
      waits_ = WaitsFor::All;  // the program's end
      next_step();
    } else if (launch(step, sequence)) {
      next_step();
    } else {
      return;  // too many are pending
    }
  }
}

/// What it waits for is over: the host's time is that of the end.
bool TenantHost::may_go_on() {
  timing::Gpu& gpu = gpu_.gpu();
  switch (waits_) {
    case WaitsFor::Nothing:
      return true;
    case WaitsFor::All:
      if (!gpu.idle(host_.tenant)) return false;
      host_.now = std::max(host_.now, last_end_);
      break;
    case WaitsFor::Milestone:
      if (gpu.reached(mark_) == kNever) return false;
      host_.now = std::max(host_.now, gpu.reached(mark_));
      break;
    case WaitsFor::DefaultStream:  // nothing submitted later could overlap with its launch
      if (!gpu.idle(host_.tenant)) return false;
      break;
  }
  waits_ = WaitsFor::Nothing;
  if (step_ == program_.steps.size()) {
    step_ = 0;
    ++rounds_;
    milestones_.clear();
  }
  return true;
}

void TenantHost::next_step() {
  ++step_;
  operation_ = 0;
}

void TenantHost::operate(const nlohmann::ordered_json& operation) {
  timing::Gpu& gpu = gpu_.gpu();
  const std::string name = operation.at(0);
  auto number = [&](std::size_t i) { return operation.at(i).get<std::uint64_t>(); };
  auto stream = [&] { return StreamId{static_cast<std::uint32_t>(number(1))}; };
  if (name == Recorder::kWrite && !gpu.idle(host_.tenant)) {
    waits_ = WaitsFor::All;  // then once more
    return;
  }
  ++operation_;
  if (name == Recorder::kRecord) {
    milestones_.push_back(gpu.record(host_, stream()));
  } else if (name == Recorder::kWait) {
    gpu.wait(host_, stream(), milestones_.at(number(2)));
  } else if (name == Recorder::kWrite) {
    host_.now = std::max(host_.now, last_end_);
    gpu.host_wrote(base_ + number(1), number(2));
  } else if (name == Recorder::kRead) {
    // Others may be running: what a tenant's host reads moves nothing (coherence.host).
  } else if (operation.size() == 1) {
    waits_ = WaitsFor::All;
  } else {
    mark_ = milestones_.at(number(1));
    waits_ = WaitsFor::Milestone;
  }
}

/// False: the host waits because too many launches are pending, as in an ordinary run.
bool TenantHost::launch(const TenantProgram::Step& step, std::uint64_t& sequence) {
  std::uint64_t warp_instructions = 0;
  for (const runtime::LaunchedStream& one : step.tree)
    warp_instructions += one.record.warp_instructions;
  const bool room = pending_.empty() ||
                    (pending_.size() < max_pending_ &&
                     pending_instructions_ + warp_instructions <= timing::kMaxPendingInstructions);
  if (!room) {
    waited_for_room_ = true;
    return false;
  }
  if (waited_for_room_) host_.now = std::max(host_.now, last_end_);
  waited_for_room_ = false;
  pending_[sequence] = {warp_instructions, step.tree.size()};
  pending_instructions_ += warp_instructions;
  std::vector<timing::Submission> tree;
  for (std::size_t i = 0; i < step.tree.size(); ++i) {
    const auto& [stream, record] = step.tree[i];
    launches_[sequence] = {.tenant = static_cast<std::uint32_t>(index(host_.tenant)),
                           .name = record.name,
                           .stream = static_cast<std::uint32_t>(index(record.stream)),
                           .grid = record.grid,
                           .block = record.block};
    tree.push_back(
        {gpu_.in_order(stream),
         code_[step_][i],
         {record.name, record.stream, sequence++, record.warp_instructions, host_.tenant, base_},
         record.origin.value_or(trace::DeviceOrigin{})});
  }
  if (index(step.tree.front().record.stream) == 0) waits_ = WaitsFor::DefaultStream;
  gpu_.gpu().enqueue(host_, std::move(tree));
  return true;
}

void TenantHost::completed(const timing::Completion& completion) {
  RADDLE_ASSERT(completion.tenant == host_.tenant);
  const auto of = pending_.find(completion.sequence);
  RADDLE_ASSERT(of != pending_.end());
  launches_completed_ += of->second.launches;
  pending_instructions_ -= of->second.warp_instructions;
  pending_.erase(of);
  last_end_ = std::max(last_end_, completion.at);
}

}  // namespace raddle::sim
