// The block suite: a little GPU whose SMs hold a few blocks each and finish them at random, some
// much more slowly; launches one after another, then several at once.
#include <algorithm>
#include <array>
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

  /// Runs the launches at the same time; the second and later ones begin a little later. Returns
  /// the rule that was broken. Every decision is added to `log`.
  std::string run(const std::vector<policy::BlockLaunch>& launches, unsigned slots,
                  std::vector<BlockChoice>& log) {
    slots_ = slots;
    std::size_t begun = 0;
    // With 1 in 100 chances a cycle, this many cycles without a block ending means nothing is going
    // on.
    for (Cycle quiet = 0; begun != launches.size() || running_ != 0; ++now_, ++quiet) {
      if (begun != launches.size() && (begun == 0 || rng_.below(50) == 0)) begin(launches[begun++]);
      if (std::string broken = hand_out(log); !broken.empty()) return broken;
      if (finish_some()) quiet = 0;
      if (quiet > 10'000) return "stands still with " + std::to_string(left()) + " blocks left";
    }
    return "";
  }

 private:
  struct Block {
    std::uint32_t number;
    unsigned slot;
  };
  struct Sm {
    std::vector<Block> blocks;
    unsigned chance = 1;  ///< a block ends in one cycle out of so many
  };
  struct Kernel {
    std::vector<bool> given;
    std::uint32_t left = 0, running = 0;
  };

  void begin(const policy::BlockLaunch& launch) {
    Kernel& k = kernels_[launch.slot];
    k.given.assign(launch.blocks, false);
    k.left = k.running = launch.blocks;
    running_ += launch.blocks;
    policy_->on_launch(launch);
  }
  std::uint32_t left() const {
    std::uint32_t sum = 0;
    for (const Kernel& k : kernels_) sum += k.left;
    return sum;
  }

  std::string hand_out(std::vector<BlockChoice>& log) {
    SmSet room;
    for (unsigned i = 0; i < sm_.size(); ++i)
      if (sm_[i].blocks.size() < slots_) room.set(i);
    std::uint32_t declined = 0;
    for (unsigned n = policy_->blocks_per_cycle(); n > 0 && room.any();) {
      // The kernel whose turn it is, or the next one with blocks left.
      unsigned slot = rng_.below(32);
      for (unsigned i = 0; i < 32; ++i, slot = (slot + 1) % 32)
        if (kernels_[slot].left != 0 && (declined >> slot & 1) == 0) break;
      Kernel& k = kernels_[slot];
      if (k.left == 0 || (declined >> slot & 1) != 0) break;
      const std::optional<BlockChoice> pick = policy_->pick({room, now_, slot});
      if (!pick) {
        declined |= 1u << slot;
        continue;
      }
      const std::string what =
          "block " + std::to_string(pick->block) + " to SM " + std::to_string(pick->sm);
      if (pick->sm >= sm_.size() || !room.test(pick->sm))
        return what + ", which has no room or was served";
      if (pick->block >= k.given.size()) return what + ", a block that does not exist";
      if (k.given[pick->block]) return what + " for the second time";
      k.given[pick->block] = true;
      --k.left, --n;
      room.clear(pick->sm);
      sm_[pick->sm].blocks.push_back({pick->block, slot});
      log.push_back(*pick);
    }
    return "";
  }

  bool finish_some() {
    bool any = false;
    for (unsigned i = 0; i < sm_.size(); ++i) {
      std::vector<Block>& blocks = sm_[i].blocks;
      if (blocks.empty() || rng_.below(sm_[i].chance) != 0) continue;
      const std::size_t at = rng_.below(static_cast<std::uint32_t>(blocks.size()));
      const Block block = blocks[at];
      blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(at));
      policy_->on_block_done(i, block.number, block.slot);
      if (--kernels_[block.slot].running == 0) policy_->on_kernel_end(block.slot);
      --running_;
      any = true;
    }
    return any;
  }

  Rng rng_;
  std::unique_ptr<BlockPolicy> policy_;
  std::vector<Sm> sm_;
  std::array<Kernel, 32> kernels_;
  std::uint32_t running_ = 0;
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
  for (unsigned round = 0; round < 12; ++round) {
    std::vector<policy::BlockLaunch> together;
    for (unsigned n = round < 6 ? 1 : 1 + rng.below(3); n != 0; --n, ++launch.sequence) {
      launch.kernel = launch.sequence % 3 == 0 ? "first" : "second";
      if (launch.sequence % 4 != 1)  // now and then the same grid again
        launch.grid = {1 + rng.below(rng.below(3) == 0 ? 2 : 40), 1 + rng.below(5),
                       1 + rng.below(2)};
      launch.blocks = static_cast<std::uint32_t>(launch.grid.count());
      launch.slot = static_cast<unsigned>(5 * launch.sequence % 32);
      together.push_back(launch);
    }
    if (std::string broken = gpu.run(together, 1 + rng.below(8), log); !broken.empty())
      return broken + " (round " + std::to_string(round) + ", " + std::to_string(together.size()) +
             " launches, " + std::to_string(sms) + " SMs)";
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
