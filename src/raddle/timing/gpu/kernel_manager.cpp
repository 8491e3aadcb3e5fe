#include "raddle/timing/gpu/kernel_manager.h"

#include <algorithm>

#include "raddle/base/error.h"

namespace raddle::timing {

void KernelManager::launch(StreamId stream, std::uint32_t job, Cycle now, TenantId tenant) {
  submit({Operation::Kind::Launch, index(stream), job}, tenant, now);
}

Milestone KernelManager::record(StreamId stream, Cycle now, TenantId tenant) {
  auto mark = static_cast<Milestone>(milestones_.size());
  milestones_.push_back(kNever);
  submit({Operation::Kind::Record, index(stream), mark}, tenant, now);
  return mark;
}

void KernelManager::wait(StreamId stream, Milestone mark, Cycle now, TenantId tenant) {
  RADDLE_ASSERT(mark < milestones_.size());
  submit({Operation::Kind::Wait, index(stream), mark}, tenant, now);
}

void KernelManager::submit(Operation operation, TenantId tenant, Cycle now) {
  RADDLE_ASSERT(index(tenant) < kMaxTenants);
  while (programs_.size() <= index(tenant)) programs_.push_back({std::vector<Queue>(queues_)});
  Program& program = programs_[index(tenant)];
  const std::size_t stream = operation.stream;
  if (stream >= program.streams.size()) program.streams.resize(stream + 1);
  operation.before = program.streams[stream].submitted++;
  operation.barrier = program.streams[0].submitted;
  operation.submitted = now;
  ++open_;
  ++program.open;
  if (stream == 0) {
    --operation.barrier;
    program.open_before.push_back(0);
  } else {
    ++program.open_before.back();
  }
  program.queues[stream % queues_].operations.push_back(operation);
}

void KernelManager::ended(StreamId stream, Cycle at, TenantId tenant) {
  RADDLE_ASSERT(index(tenant) < programs_.size());
  complete(programs_[index(tenant)], index(stream), at);
  --open_;
}

void KernelManager::complete(Program& program, std::uint32_t number, Cycle at) {
  RADDLE_ASSERT(program.open != 0);
  Stream& stream = program.streams[number];
  ++stream.complete;
  --program.open;
  stream.end = std::max(stream.end, at);
  program.last_end = std::max(program.last_end, at);
  if (number == 0) program.open_before.pop_front();
  else --program.open_before.front();  // no other group's operations can complete before these have
}

/// When the operation may leave its queue; kNever: not known yet.
Cycle KernelManager::free_to_go(const Program& program, const Operation& o,
                                const Queue& queue) const {
  const Stream& own = program.streams[o.stream];
  const Stream& legacy = program.streams[0];
  if (own.complete != o.before || legacy.complete != o.barrier) return kNever;
  if (o.stream == 0 && program.open_before.front() != 0) return kNever;
  Cycle at =
      std::max({o.submitted, queue.moved, o.stream == 0 ? program.last_end : own.end, legacy.end});
  if (o.kind == Operation::Kind::Wait) {
    if (milestones_[o.value] == kNever) return kNever;
    at = std::max(at, milestones_[o.value]);
  }
  return at;
}

void KernelManager::leave(Program& program, const Operation& o, Cycle at) {
  if (o.kind == Operation::Kind::Launch)
    return insert({o.value, at, std::max(o.submitted + launch_latency_, at + gap_)});
  if (o.kind == Operation::Kind::Record) milestones_[o.value] = at;
  complete(program, o.stream, at);
  --open_;
}

void KernelManager::insert(const Pending& p) {
  auto later = std::find_if(pending_.begin(), pending_.end(), [&](const Pending& other) {
    return other.arrival > p.arrival || (other.arrival == p.arrival && other.job > p.job);
  });
  pending_.insert(later, p);
}

// What leaves one queue may free the head of another, also of another tenant that waits for a mark.
void KernelManager::advance() {
  for (bool moved = true; moved;) {
    moved = false;
    for (Program& program : programs_) moved |= advance(program);
  }
}

bool KernelManager::advance(Program& program) {
  bool moved = false;
  for (Queue& queue : program.queues)
    while (!queue.operations.empty()) {
      const Cycle at = free_to_go(program, queue.operations.front(), queue);
      if (at == kNever) break;
      leave(program, queue.operations.front(), at);
      queue.operations.pop_front();
      queue.moved = at;
      moved = true;
    }
  return moved;
}

std::size_t KernelManager::queued() const {
  std::size_t n = 0;
  for (const Program& program : programs_)
    for (const Queue& queue : program.queues) n += queue.operations.size();
  return n;
}

void KernelManager::describe(std::string& out) const {
  if (queued() == 0) return;
  out += "streams: " + std::to_string(queued()) + " operations wait in queues\n";
}

}  // namespace raddle::timing
