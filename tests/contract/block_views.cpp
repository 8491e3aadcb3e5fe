// The block suite: a little GPU whose SMs hold a few blocks each and finish them at random, some
// much more slowly.
#include <algorithm>
#include <vector>

#include "contract/seeded_views.h"
#include "raddle/base/rng.h"

namespace raddle::contract {

namespace {

using policy::BlockChoice;
using policy::BlockPolicy;

class RandomGpu {
 public:
  RandomGpu(std::uint64_t seed, unsigned sms, std::unique_ptr<BlockPolicy> policy)
      : rng_(seed, "gpu"), policy_(std::move(policy)), sm_(sms) {
    for (Sm& sm : sm_) sm.chance = 1 + rng_.below(rng_.below(4) == 0 ? 100 : 10);
  }

  /// Returns the rule that was broken. Every decision is added to `log`.
  std::string run(const policy::BlockLaunch& launch, unsigned slots,
                  std::vector<BlockChoice>& log) {
    policy_->on_launch(launch);
    given_.assign(launch.blocks, false);
    left_ = running_ = launch.blocks;
    slots_ = slots;
    // With 1 in 100 chances a cycle, this many cycles without a block ending means nothing is going
    // on.
    for (Cycle quiet = 0; running_ != 0; ++now_, ++quiet) {
      if (std::string broken = hand_out(log); !broken.empty()) return broken;
      if (finish_some()) quiet = 0;
      if (quiet > 10'000) return "stands still with " + std::to_string(left_) + " blocks left";
    }
    policy_->on_kernel_end();
    return "";
  }

 private:
  struct Sm {
    std::vector<std::uint32_t> blocks;
    unsigned chance = 1;  ///< a block ends in one cycle out of so many
  };

  std::string hand_out(std::vector<BlockChoice>& log) {
    SmSet room;
    for (unsigned i = 0; i < sm_.size(); ++i)
      if (sm_[i].blocks.size() < slots_) room.set(i);
    for (unsigned n = policy_->blocks_per_cycle(); n > 0 && left_ > 0 && room.any(); --n) {
      const std::optional<BlockChoice> pick = policy_->pick({room, now_});
      if (!pick) break;
      const std::string what =
          "block " + std::to_string(pick->block) + " to SM " + std::to_string(pick->sm);
      if (pick->sm >= sm_.size() || !room.test(pick->sm))
        return what + ", which has no room or was served";
      if (pick->block >= given_.size()) return what + ", a block that does not exist";
      if (given_[pick->block]) return what + " for the second time";
      given_[pick->block] = true;
      --left_;
      room.clear(pick->sm);
      sm_[pick->sm].blocks.push_back(pick->block);
      log.push_back(*pick);
    }
    return "";
  }

  bool finish_some() {
    bool any = false;
    for (unsigned i = 0; i < sm_.size(); ++i) {
      std::vector<std::uint32_t>& blocks = sm_[i].blocks;
      if (blocks.empty() || rng_.below(sm_[i].chance) != 0) continue;
      const std::size_t at = rng_.below(static_cast<std::uint32_t>(blocks.size()));
      const std::uint32_t block = blocks[at];
      blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(at));
      policy_->on_block_done(i, block);
      --running_;
      any = true;
    }
    return any;
  }

  Rng rng_;
  std::unique_ptr<BlockPolicy> policy_;
  std::vector<Sm> sm_;
  std::vector<bool> given_;
  std::uint32_t left_ = 0, running_ = 0;
  unsigned slots_ = 1;
  Cycle now_ = 0;
};

std::string play_launches(const Make<BlockPolicy>& make, std::uint64_t seed, unsigned sms,
                          std::vector<BlockChoice>& log) {
  BlockPolicy::Context context;
  context.sms = sms;
  context.seed = seed;
  RandomGpu gpu(seed, sms, make(context));
  Rng rng(seed, "launches");
  policy::BlockLaunch launch;
  for (launch.sequence = 0; launch.sequence < 12; ++launch.sequence) {
    launch.kernel = launch.sequence % 3 == 0 ? "first" : "second";
    if (launch.sequence % 4 != 1)  // now and then the same grid again
      launch.grid = {1 + rng.below(rng.below(3) == 0 ? 2 : 40), 1 + rng.below(5), 1 + rng.below(2)};
    launch.blocks = static_cast<std::uint32_t>(launch.grid.count());
    if (std::string broken = gpu.run(launch, 1 + rng.below(8), log); !broken.empty())
      return broken + " (launch " + std::to_string(launch.sequence) + ", " +
             std::to_string(launch.blocks) + " blocks, " + std::to_string(sms) + " SMs)";
  }
  return "";
}

}  // namespace

std::string check_block(const Make<BlockPolicy>& make, std::uint64_t seed) {
  for (unsigned sms : {1u, 2u, 15u, 64u, 132u, 256u}) {
    std::vector<BlockChoice> first, second;
    if (std::string broken = play_launches(make, seed, sms, first); !broken.empty()) return broken;
    if (std::string broken = play_launches(make, seed, sms, second); !broken.empty()) return broken;
    auto equal = [](const BlockChoice& a, const BlockChoice& b) {
      return a.sm == b.sm && a.block == b.block;
    };
    if (!std::equal(first.begin(), first.end(), second.begin(), second.end(), equal))
      return "the same history gave other decisions";
  }
  return "";
}

}  // namespace raddle::contract
