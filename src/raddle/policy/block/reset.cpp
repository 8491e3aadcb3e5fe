// Reset: chunks that start at SM 0 in every launch, so that a block runs where the same block of
// the launch before ran. Rule: docs/mechanisms/ikra.md (R of IKRA).
#include "raddle/policy/block/chunk_scheduler.h"
#include "raddle/policy/registry.h"

namespace raddle::policy {
namespace {

class Reset final : public RepeatingScheduler {
 public:
  using RepeatingScheduler::RepeatingScheduler;

 private:
  void deal(const BlockLaunch& launch, ChunkDeal& deal) override {
    deal_as_before(launch, deal, false);
  }
};

}  // namespace

void add_block_reset(Registry<BlockPolicy>& r) {
  r.add<Reset>("reset", "chunks that go to the same SMs in every launch");
}

}  // namespace raddle::policy
