// dram.model = "fixed": a channel begins to serve one line (or part of one) every
// fixed_interval_cycles, in order, and a read's data are there fixed_latency_cycles later. All in
// core cycles. No banks, rows, directions or refresh; the policy is not asked. An interval of 0, of
// ideal.dram: any number at once.
//
// Contract: push() needs a free slot; a request holds its slot until it begins to be served.
#pragma once
#include <algorithm>

#include "raddle/base/ring.h"
#include "raddle/base/types.h"
#include "raddle/timing/spec/dram_spec.h"

namespace raddle::timing {

class FixedDram {
 public:
  explicit FixedDram(const DramSpec& spec)
      : latency_(spec.fixed_latency_cycles),
        interval_(spec.fixed_interval_cycles),
        starts_(spec.queue) {}
  unsigned size() const { return starts_.size(); }
  unsigned free_slots() const { return starts_.room(); }
  /// Of one request: how long it occupies the channel, and a read's data after its start.
  Cycle interval() const { return interval_; }
  Cycle latency() const { return latency_; }
  /// Returns when the request is served.
  Cycle push(Cycle now) {
    const Cycle start = std::max(now, next_start_);
    next_start_ = start + interval_;
    starts_.push(start);
    return start;
  }
  /// The first start that is still to come; kNever: none is.
  Cycle due() const { return starts_.empty() ? kNever : starts_.front(); }
  /// What is being served has left the queue.
  void tick(Cycle now) {
    while (!starts_.empty() && starts_.front() <= now) starts_.pop();
  }

 private:
  Cycle latency_, interval_, next_start_ = 0;
  Ring<Cycle> starts_;  // of the requests that wait
};

}  // namespace raddle::timing
