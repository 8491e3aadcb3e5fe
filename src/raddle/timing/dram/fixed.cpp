// dram.model = "fixed": a channel begins to serve one line (or part of one) every
// fixed_interval_cycles, in order, and a read's data are there fixed_latency_cycles later. All in
// core cycles. No banks, rows, directions or refresh; the policy is not asked.
#include <algorithm>

#include "raddle/timing/dram/channel.h"

namespace raddle::timing {

void DramChannel::push_fixed(Cycle now, const DramRequest& request) {
  const Cycle start = std::max(now, fixed_free_);
  fixed_free_ = start + spec_.fixed_interval_cycles;
  stats::DramCounters& c = counters_[request.kernel];
  const std::uint64_t bytes =
      static_cast<unsigned>(std::popcount(request.sectors)) * std::uint64_t{sector_bytes_};
  c.bytes += bytes;
  c.queue_cycles += start - now;
  c.bus_busy_cycles += spec_.fixed_interval_cycles;
  if (request.write) {
    ++c.writes;
    c.written_bytes += bytes;
  } else {
    ++c.reads;
    reply(start + spec_.fixed_latency_cycles, now, request);
  }
  starts_.push(start);
  ++size_;
  due_ = starts_.front();
}

/// What is being served has left the queue.
void DramChannel::tick_fixed(Cycle now) {
  for (; !starts_.empty() && starts_.front() <= now; starts_.pop()) --size_;
  due_ = starts_.empty() ? kNever : starts_.front();
}

}  // namespace raddle::timing
