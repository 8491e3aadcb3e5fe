#include "raddle/runtime/launch_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "raddle/base/error.h"
#include "raddle/exec/decode/program.h"

namespace raddle::runtime {

void notify_changed_words(DeviceObserver& observer, const exec::DeviceMemory& memory, Address to,
                          const std::byte* from, std::uint64_t bytes) {
  const Address end = to + bytes;
  for (Address at = to; at < end;) {
    const Address next = std::min((at & ~Address{3}) + 4, end);
    if (std::memcmp(memory.host(at), from + (at - to), next - at) != 0)
      observer.host_wrote(at & ~Address{3});
    at = next;
  }
}

void LaunchTree::run(const exec::Launch& launch, LaunchRecord record) {
  place_.runtime.forget_pending();
  run_grid(launch, std::move(record), 0);
  while (!tasks_.empty()) {
    const Task task = std::move(tasks_.back());
    tasks_.pop_back();
    perform(task);
  }
}

void LaunchTree::run_grid(const exec::Launch& launch, LaunchRecord record, unsigned depth) {
  const auto grid = std::make_shared<Grid>(place_.runtime, depth);
  grid->number = static_cast<std::uint32_t>(launched_.size());
  LaunchSink* sink = place_.sink;
  const std::shared_ptr<const trace::KernelCode>& code = exec::code_of(*launch.kernel);
  trace::StreamWriter* writer =
      sink != nullptr ? sink->writer(*code, launch.shape, record) : nullptr;
  std::shared_ptr<trace::MemoryTrace> trace;
  if (sink != nullptr && writer == nullptr)
    trace = std::make_shared<trace::MemoryTrace>(code, launch.shape, arena_);
  exec::Launch own = launch;
  own.device = &grid->device;
  if (place_.observer != nullptr) place_.observer->begin(record);
  exec::RunCount count;
  std::shared_ptr<trace::KernelStream> stream = trace;
  if (depth == 0 && trace != nullptr && sink->can_follow() && place_.observer == nullptr &&
      place_.checks == nullptr && exec::Machine::can_follow(own)) {
    if (auto rest = place_.machine.run_until_waiting(own, trace, count)) {
      follows_ = true;
      is_long_ = count.is_long;
      count = {};  // as of every live launch
      stream = std::move(rest);
    }
  } else {
    count = place_.machine.run(own, writer != nullptr ? writer : trace.get());
    if (!keeps_waiting_ && sink != nullptr && count.waits) keeps_waiting_ = grid->number;
  }
  if (place_.observer != nullptr) place_.observer->end();
  record.warp_instructions = count.warp_instructions;
  record.thread_instructions = count.thread_instructions;
  if (writer != nullptr) {
    sink->written(record);
    written_ = true;
  }
  launched_.push_back({std::move(stream), std::move(record)});

  const auto& operations = grid->device.operations();
  for (const bool tail : {true, false})  // the last pushed is the first performed
    for (std::size_t i = operations.size(); i-- > 0;)
      if (operations[i].tail == tail) tasks_.push_back({grid, i});
  grid->numbers.resize(grid->device.launches().size());
}

void LaunchTree::perform(const Task& task) {
  const exec::DeviceOperation& operation = task.of->device.operations()[task.operation];
  if (operation.kind != exec::DeviceOperation::Kind::Launch) return move_bytes(operation);
  const auto number = static_cast<std::uint32_t>(launched_.size());
  task.of->numbers[operation.launch] = number;
  place_.runtime.begins();
  launch_child(*task.of, operation.launch);
}

void LaunchTree::launch_child(const Grid& parent, std::uint32_t call) {
  const exec::DeviceLaunch& made = parent.device.launches()[call];
  const exec::Launch launch{made.kernel, made.shape, made.parameters};
  const trace::KernelCode& code = *exec::code_of(*made.kernel);
  if (place_.sink != nullptr) place_.sink->admit(code, made.shape);
  const unsigned depth = parent.device.depth() + (made.tail ? 0 : 1);
  const LaunchRecord& root = launched_.front().record;
  LaunchRecord record{root.sequence + launched_.size(),
                      code.name,
                      made.shape.grid,
                      made.shape.block,
                      root.stream,
                      0,
                      0};
  record.origin = trace::DeviceOrigin{parent.number,
                                      made.block,
                                      made.warp,
                                      call,
                                      depth,
                                      made.tail,
                                      {},
                                      made.buffer,
                                      static_cast<std::uint32_t>(made.parameters.size())};
  for (const std::uint32_t earlier : made.after)
    record.origin->after.push_back(parent.numbers[earlier]);
  run_grid(launch, std::move(record), depth);
}

void LaunchTree::move_bytes(const exec::DeviceOperation& operation) {
  const auto at = [&](Address address, const char* what) {
    if (!place_.memory.valid(address, operation.bytes))
      throw RunError(fmt::format("{}: {} of {} bytes at {:#x} leaves its allocation ({})",
                                 operation.caller, what, operation.bytes, address,
                                 place_.memory.describe(address)));
    return place_.memory.host(address);
  };
  if (operation.bytes == 0) return;
  const auto notify = [&](const std::byte* from) {
    notify_changed_words(*place_.observer, place_.memory, operation.to, from, operation.bytes);
  };
  if (operation.kind == exec::DeviceOperation::Kind::Set) {
    std::byte* to = at(operation.to, "memset");
    if (place_.observer != nullptr)
      notify(std::vector<std::byte>(operation.bytes, std::byte{operation.value}).data());
    if (place_.checks != nullptr) place_.checks->memory().write(operation.to, operation.bytes);
    std::memset(to, operation.value, operation.bytes);
    return;
  }
  const std::byte* from = at(operation.from, "copy (source)");
  std::byte* to = at(operation.to, "copy (target)");
  if (place_.observer != nullptr) notify(from);
  if (place_.checks != nullptr)
    place_.checks->memory().copy(operation.to, operation.from, operation.bytes);
  std::memmove(to, from, operation.bytes);
}

void LaunchTree::submit() {
  if (written_) return;
  if (launched_.size() == 1) {
    place_.sink->submit(std::move(launched_.front().stream), launched_.front().record);
  } else {
    place_.sink->submit_tree(launched_);
  }
}

}  // namespace raddle::runtime
