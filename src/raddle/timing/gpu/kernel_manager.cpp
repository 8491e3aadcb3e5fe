#include "raddle/timing/gpu/kernel_manager.h"

#include <algorithm>

#include "raddle/base/error.h"

namespace raddle::timing {

void KernelManager::launch(StreamId stream, std::uint32_t job, Cycle now) {
  submit({Operation::Kind::Launch, index(stream), job}, stream, now);
}

Mark KernelManager::record(StreamId stream, Cycle now) {
  auto mark = static_cast<Mark>(marks_.size());
  marks_.push_back(kNever);
  submit({Operation::Kind::Record, index(stream), mark}, stream, now);
  return mark;
}

void KernelManager::wait(StreamId stream, Mark mark, Cycle now) {
  RADDLE_ASSERT(mark < marks_.size());
  submit({Operation::Kind::Wait, index(stream), mark}, stream, now);
}

void KernelManager::submit(Operation operation, StreamId stream, Cycle now) {
  const std::size_t s = index(stream);
  if (s >= streams_.size()) streams_.resize(s + 1);
  operation.before = streams_[s].submitted++, operation.barrier = streams_[0].submitted;
  operation.submitted = now;
  ++open_;
  if (s == 0) --operation.barrier, open_before_.push_back(0);
  else ++open_before_.back();
  queues_[s % queues_.size()].operations.push_back(operation);
}

void KernelManager::ended(StreamId stream, Cycle at) { complete(index(stream), at); }

void KernelManager::complete(std::uint32_t stream, Cycle at) {
  Stream& s = streams_[stream];
  ++s.complete, --open_;
  s.end = std::max(s.end, at), last_end_ = std::max(last_end_, at);
  if (stream == 0) open_before_.pop_front();
  else --open_before_.front();  // no other group's operations can complete before these have
}

/// When the operation may leave its queue; kNever: not known yet.
Cycle KernelManager::free_to_go(const Operation& o, const Queue& queue) const {
  const Stream &own = streams_[o.stream], &legacy = streams_[0];
  if (own.complete != o.before || legacy.complete != o.barrier) return kNever;
  if (o.stream == 0 && open_before_.front() != 0) return kNever;
  Cycle at = std::max({o.submitted, queue.moved, o.stream == 0 ? last_end_ : own.end, legacy.end});
  if (o.kind == Operation::Kind::Wait) {
    if (marks_[o.value] == kNever) return kNever;
    at = std::max(at, marks_[o.value]);
  }
  return at;
}

void KernelManager::leave(const Operation& o, Cycle at) {
  if (o.kind == Operation::Kind::Launch) return insert({o.value, at, at + launch_latency_});
  if (o.kind == Operation::Kind::Record) marks_[o.value] = at;
  complete(o.stream, at);
}

void KernelManager::insert(const Pending& p) {
  auto later = std::find_if(pending_.begin(), pending_.end(), [&](const Pending& other) {
    return other.arrival > p.arrival || (other.arrival == p.arrival && other.job > p.job);
  });
  pending_.insert(later, p);
}

// What leaves one queue may free the head of another.
void KernelManager::advance() {
  for (bool moved = true; moved;) {
    moved = false;
    for (Queue& queue : queues_)
      while (!queue.operations.empty()) {
        const Cycle at = free_to_go(queue.operations.front(), queue);
        if (at == kNever) break;
        leave(queue.operations.front(), at);
        queue.operations.pop_front();
        queue.moved = at, moved = true;
      }
  }
}

std::size_t KernelManager::queued() const {
  std::size_t n = 0;
  for (const Queue& queue : queues_) n += queue.operations.size();
  return n;
}

void KernelManager::describe(std::string& out) const {
  if (pending_.empty() && queued() == 0) return;
  out += "launches: " + std::to_string(pending_.size()) + " wait for an entry, " +
         std::to_string(queued()) + " operations wait in queues\n";
}

}  // namespace raddle::timing
