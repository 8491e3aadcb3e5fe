// Where blocks ran: what block policies that keep data in caches from launch to launch are judged
// by. Shared by their statistics.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "raddle/policy/block/policy.h"

namespace raddle::policy {

class BlockPlaces {
 public:
  explicit BlockPlaces(unsigned sms) : sms_(sms) {}

  void on_launch(const BlockLaunch& launch) {
    ++launches_;
    Launch& now = launch_[launch.slot];
    now.grid = launch.grid;
    now.sm.assign(launch.blocks, kNowhere);
    now.given.assign(sms_, 0);
  }
  void on_pick(unsigned slot, const BlockChoice& choice) {
    Launch& now = launch_[slot];
    ++blocks_;
    ++now.given[choice.sm];
    now.sm[choice.block] = static_cast<std::uint16_t>(choice.sm);
    if (last_.grid == now.grid && choice.block < last_.sm.size() &&
        last_.sm[choice.block] == choice.sm)
      ++stayed_;
  }
  void on_kernel_end(unsigned slot) {
    last_ = launch_[slot];
    const auto [minimum, maximum] = std::ranges::minmax(last_.given);
    imbalance_ += maximum - minimum;
  }
  void visit(FieldVisitor& v) {
    v.field("launches", launches_, {}, "launches", "kernels handed out");
    v.field("blocks", blocks_, {}, "blocks", "blocks handed out");
    v.field("stayed", stayed_, {}, "blocks",
            "blocks on the SM where the same block of the launch before, of the same grid, ran");
    v.field("imbalance", imbalance_, {}, "blocks",
            "most blocks of an SM less the fewest, summed over launches");
  }

 private:
  static constexpr std::uint16_t kNowhere = 0xffff;
  struct Launch {
    Dim3 grid;
    std::vector<std::uint16_t> sm;     ///< by block
    std::vector<std::uint32_t> given;  ///< blocks, by SM
  };
  unsigned sms_;
  std::array<Launch, kKernelSlots> launch_;  ///< by slot
  Launch last_;                              ///< the launch that ended last
  std::uint64_t launches_ = 0, blocks_ = 0, stayed_ = 0, imbalance_ = 0;
};

}  // namespace raddle::policy
