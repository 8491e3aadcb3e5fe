// The host's side of the machine, up to the kernel management unit (kmu.h): CUDA streams, events
// and hardware work queues.
//
// Operations (launch, record a mark, wait for a mark) of a stream happen in order, each when the
// one before is complete: a launch at its kernel's end, a mark at once, a wait when its mark is
// reached. Stream 0 is CUDA's legacy default stream: its operations wait for everything submitted
// before them, and everything submitted later waits for them. Streams share hardware queues (stream
// mod queues), and the head of a queue lets nothing pass: with one queue a launch that waits for
// its stream holds up all others (Fermi's false dependences; NVIDIA's Hyper-Q sample,
// "simpleHyperQ"). A launch is with the management unit launch_latency_cycles after the host has
// launched it, and kernels.gap_cycles (if that is 0: launch_latency_cycles) after it has left its
// queue, whichever is later.
//
// Tenants are programs of their own: each has its streams, its legacy default stream, which is a
// barrier to nobody else, and its hardware queues (as clients of NVIDIA's Multi-Process Service
// have since Volta). They meet at the KMU.
//
// All times are explicit, so when advance() is called does not matter, only that it has been told
// of every end before. Left out: priorities, non-blocking streams, copies as operations of a
// stream.
#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "raddle/base/types.h"
#include "raddle/timing/spec/kernel_spec.h"

namespace raddle::timing {

/// A point in a stream.
using Milestone = std::uint32_t;

class KernelManager {
 public:
  KernelManager(const KernelSpec& spec, Cycle launch_latency)
      : queues_(spec.queues),
        launch_latency_(launch_latency),
        gap_(spec.gap_cycles == 0 ? launch_latency : spec.gap_cycles) {}
  // `tenant`: whose stream that is.

  // --- from the host, at time `now` of the host --------------------------------------------------
  void launch(StreamId stream, std::uint32_t job, Cycle now, TenantId tenant = {});
  Milestone record(StreamId stream, Cycle now, TenantId tenant = {});
  void wait(StreamId stream, Milestone mark, Cycle now, TenantId tenant = {});

  // --- from the distributor ----------------------------------------------------------------------
  void ended(StreamId stream, Cycle at, TenantId tenant = {});
  /// Lets everything leave its queue that may.
  void advance();
  struct Pending {
    std::uint32_t job;
    Cycle left;     ///< its queue
    Cycle arrival;  ///< at the KMU
  };
  /// Launches that have left their queues, in order of their arrival at the KMU; whoever takes them
  /// hands them on.
  const std::deque<Pending>& pending() const { return pending_; }
  void take() { pending_.pop_front(); }

  /// Cycle in which the mark was reached; kNever = not yet.
  Cycle reached(Milestone mark) const { return milestones_[mark]; }
  /// Every operation is complete.
  bool idle() const { return open_ == 0; }
  /// ... of the tenant.
  bool idle(TenantId tenant) const {
    return index(tenant) >= programs_.size() || programs_[index(tenant)].open == 0;
  }
  /// Operations in queues.
  std::size_t queued() const;
  void describe(std::string& out) const;

 private:
  struct Operation {
    enum class Kind : std::uint8_t { Launch, Record, Wait } kind;
    std::uint32_t stream;
    std::uint32_t value;        // job or mark
    std::uint64_t before = 0;   // operations of its stream before it
    std::uint64_t barrier = 0;  // operations of stream 0 before it
    Cycle submitted = 0;
  };
  struct Stream {
    std::uint64_t submitted = 0, complete = 0;
    Cycle end = 0;  // of the last complete operation
  };
  struct Queue {
    std::deque<Operation> operations;
    Cycle moved = 0;  // when an operation last left
  };
  /// What the streams of one tenant know of each other.
  struct Program {
    std::vector<Queue> queues;
    std::vector<Stream> streams = std::vector<Stream>(1);
    std::deque<std::uint64_t> open_before = {0};  // open operations of other streams before each
                                                  // open one of stream 0, and after the last
    std::uint64_t open = 0;
    Cycle last_end = 0;
  };
  void submit(Operation operation, TenantId tenant, Cycle now);
  static void complete(Program& program, std::uint32_t stream, Cycle at);
  Cycle free_to_go(const Program& program, const Operation& o, const Queue& queue) const;
  bool advance(Program& program);
  void leave(Program& program, const Operation& o, Cycle at);
  void insert(const Pending& p);

  unsigned queues_;  // of each tenant
  Cycle launch_latency_, gap_;
  std::vector<Program> programs_;  // by tenant
  std::uint64_t open_ = 0;
  std::deque<Pending> pending_;
  std::vector<Cycle> milestones_;
};

}  // namespace raddle::timing
