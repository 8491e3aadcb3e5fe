// The op stream of a launch in the order of a schedule: what a warp did in each run of a basic
// block, put into the block's new order, as the timing model reads it. Cannot be live: it reads to
// the block's end before it hands out the beginning.
#pragma once
#include <memory>
#include <mutex>
#include <vector>

#include "raddle/lowering/schedule.h"
#include "raddle/trace/stream.h"

namespace raddle::lowering {

class ScheduledStream final : public trace::KernelStream {
 public:
  ScheduledStream(std::shared_ptr<trace::KernelStream> inner,
                  std::shared_ptr<const Schedule> schedule);
  ~ScheduledStream() override;
  const trace::KernelCode& code() const override { return schedule_->code; }
  const trace::LaunchShape& shape() const override { return inner_->shape(); }
  bool concurrent() const override { return inner_->concurrent(); }
  trace::WarpCursor open(std::uint32_t block, unsigned warp) override;
  bool refill(trace::WarpCursor& cursor) override;
  void close(std::uint32_t block) override;

 private:
  class Warp;
  using Warps = std::vector<std::unique_ptr<Warp>>;  // of a block
  Warps take_spare();

  std::shared_ptr<trace::KernelStream> inner_;
  std::shared_ptr<const Schedule> schedule_;
  std::vector<Warps> warps_;  // by block
  std::mutex mutex_;          // of what follows
  std::vector<Warps> spare_;  // of blocks that have ended: their memory is used again
};

}  // namespace raddle::lowering
