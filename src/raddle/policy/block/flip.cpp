// Flip: as reset, and every other launch runs its chunks backwards, so that it begins with the
// blocks whose data the launch before has left in the caches. Rule: docs/mechanisms/ikra.md (F of
// IKRA): the direction turns at every launch, also when the grid changes.
#include "raddle/policy/block/chunk_scheduler.h"
#include "raddle/policy/registry.h"

namespace raddle::policy {
namespace {

class Flip final : public RepeatingScheduler {
 public:
  using RepeatingScheduler::RepeatingScheduler;

 private:
  void deal(const BlockLaunch& launch, ChunkDeal& deal) override {
    deal_as_before(launch, deal, descending_);
    descending_ = !descending_;
  }
  bool descending_ = false;
};

}  // namespace

void add_block_flip(Registry<BlockPolicy>& r) {
  r.add<Flip>("flip", "chunks as in reset, every other launch backwards");
}

}  // namespace raddle::policy
