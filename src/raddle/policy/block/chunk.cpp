// Chunks: the grid is cut into contiguous pieces, and each SM runs its own piece in order, so that
// neighbouring blocks share an L1. An SM that is done idles until the kernel ends. Rule:
// docs/mechanisms/ikra.md (C of IKRA): the first piece goes to the SM after the one that finished
// last.
#include "raddle/policy/block/chunk_scheduler.h"
#include "raddle/policy/registry.h"

namespace raddle::policy {
namespace {

class ChunkPolicy final : public ChunkScheduler {
 public:
  using Params = ChunkParams;
  using ChunkScheduler::ChunkScheduler;

  void on_block_done(std::uint32_t sm, std::uint32_t, unsigned) override {
    first_sm_ = (sm + 1) % sms();
  }

 private:
  void deal(const BlockLaunch& launch, ChunkDeal& deal) override {
    deal.deal(launch.blocks, sms(), per_sm(), first_sm_, false);
  }
  unsigned first_sm_ = 0;
};

}  // namespace

void add_block_chunk(Registry<BlockPolicy>& r) {
  r.add<ChunkPolicy>("chunk", "contiguous pieces of the grid, one per SM");
}

}  // namespace raddle::policy
