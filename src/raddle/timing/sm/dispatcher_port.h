// An SM's wires to the block dispatcher: blocks that come, their ends and fetched queue entries
// that go, and the accesses to the dispatcher's queues that the SM carries out for it, which wait
// here until the load/store unit takes them.
#pragma once
#include <algorithm>
#include <deque>

#include "raddle/base/error.h"
#include "raddle/timing/code/launch.h"
#include "raddle/timing/spec/parts.h"
#include "raddle/timing/wire/link.h"

namespace raddle::timing {

class DispatcherPort {
 public:
  explicit DispatcherPort(const OneSmSpec& spec)
      : id_(spec.id),
        latency_(spec.dispatch_latency),
        block_in_(capacity(spec)),
        block_out_(capacity(spec)) {}
  BlockStartLink& block_in() { return block_in_; }
  BlockEndLink& block_out() { return block_out_; }
  void connect(Mailbox& box) { box_ = &box; }

  /// When receive() has something to do.
  Cycle next_event() const { return std::min(block_in_.next_arrival(), retry_at_); }
  /// start(BlockStart) for each block that has come; send(QueueRequest) for accesses to queues, in
  /// order, until one says that it cannot be sent now: it is offered again in the next cycle.
  template <class Start, class Send>
  void receive(Cycle now, Start start, Send send) {
    for (; block_in_.next_arrival() <= now; block_in_.pop()) {
      const BlockStart& message = block_in_.front();
      if (message.launch != nullptr) start(message);
      else accesses_.push_back(message.queue);
    }
    while (!accesses_.empty() && send(accesses_.front())) accesses_.pop_front();
    retry_at_ = accesses_.empty() ? kNever : now + 1;
  }
  void block_ended(Cycle now, unsigned slot, const policy::BlockProgress& progress) {
    send(now, {.slot = static_cast<std::uint8_t>(slot), .progress = progress});
  }
  /// An entry of a queue is there.
  void entry_fetched(Cycle now, unsigned id) {
    RADDLE_ASSERT(id < QueueRequest::kMaxIds);
    send(now, {.fetched = true, .id = static_cast<std::uint16_t>(id)});
  }

 private:
  // One end for each block and warp, and an access to a queue a cycle.
  static unsigned capacity(const OneSmSpec& spec) {
    return spec.sm.blocks + SmSpec::kMaxWarps + static_cast<unsigned>(spec.dispatch_latency) + 1;
  }
  void send(Cycle now, const BlockEnd& end) {
    RADDLE_ASSERT(box_ != nullptr);
    block_out_.push(now + latency_, end);
    box_->post(now + latency_, id_);
  }

  unsigned id_;
  Cycle latency_;
  BlockStartLink block_in_;
  BlockEndLink block_out_;
  Mailbox* box_ = nullptr;
  std::deque<QueueRequest> accesses_;  // that have not left ...
  Cycle retry_at_ = kNever;            // ... and are tried again then
};

}  // namespace raddle::timing
