// Lazy and block-level cooperative scheduling: Lee, Song, Moon, Kim, Cho, Seo, Ryu, "Improving
// GPGPU Resource Utilization through Alternative Thread Block Scheduling", HPCA 2014. BCS gives
// an SM two consecutive blocks at once, which often share lines of the L1; LCS lets an SM have no
// more blocks than were busy while its first block of a launch ran: all that its blocks had issued
// until then over what that block had, rounded up, which under a greedy warp scheduler is how many
// blocks kept the SM busy. docs/mechanisms/more_schedulers.md says what is the paper's and what is
// not.
//
// Pairs go round robin to SMs with room for two, in the first place the second of a pair whose
// first has gone out. Where an odd number fits, one place is for a single block, so that none stays
// empty. Left out: BAWS, the warp scheduler that treats the two blocks of a pair alike, and mixed
// concurrent kernel execution.
#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "raddle/policy/block/places.h"
#include "raddle/policy/block/policy.h"
#include "raddle/policy/registry.h"

namespace raddle::policy {
namespace {

class Bcs final : public BlockPolicy {
 public:
  struct Params {
    bool pairs = true, lazy = true;
    void visit(FieldVisitor& v) {
      v.field("pairs", pairs, "two consecutive blocks go to an SM together (BCS)");
      v.field("lazy", lazy, "an SM has no more blocks than were busy with its first (LCS)");
    }
  };
  Bcs(const Params& params, const Context& context)
      : params_(params), sms_(context.sms), places_(context.sms) {}

  void on_launch(const BlockLaunch& launch) override {
    places_.on_launch(launch);
    if (!under_way_.any()) turn_ = 0;
    under_way_.set(launch.slot);
    Launch& now = launch_[launch.slot];
    now.next = 0;
    now.blocks = launch.blocks;
    now.owing = {};
    now.sm.assign(sms_, {});
    for (OnSm& sm : now.sm) sm.limit = launch.max_on_sm != 0 ? launch.max_on_sm : kUnknown;
  }

  std::optional<BlockChoice> pick(const BlockView& view) override {
    Launch& now = launch_[view.slot];
    if (const SmSet owing = view.free_sms & now.owing; owing.any())
      return second(view.slot, owing.first_from(turn_));
    if (now.next == now.blocks) return std::nullopt;
    for (SmSet left = view.free_sms; left.any();) {
      const unsigned sm = left.first_from(turn_);
      if (const unsigned together = takes(now, now.sm[sm]); together != 0)
        return first(view.slot, sm, together);
      left.clear(sm);
    }
    return std::nullopt;
  }

  bool wants_progress() const override { return params_.lazy; }
  void on_progress(std::uint32_t sm, unsigned slot, const BlockProgress& progress) override {
    OnSm& here = launch_[slot].sm[sm];
    if (here.measured || progress.issued == 0) return;
    here.measured = true;
    const std::uint64_t busy =
        (progress.issued + progress.others + progress.issued - 1) / progress.issued;
    here.limit = static_cast<std::uint32_t>(std::min<std::uint64_t>(here.limit, busy));
    ++stats_.measured;
    stats_.limits += here.limit;
  }
  void on_block_done(std::uint32_t sm, std::uint32_t block, unsigned slot) override {
    OnSm& here = launch_[slot].sm[sm];
    --here.blocks;
    if (here.single == block) here.single.reset();
  }
  void on_kernel_end(unsigned slot) override {
    under_way_.clear(slot);
    places_.on_kernel_end(slot);
  }
  void visit_statistics(FieldVisitor& v) override {
    places_.visit(v);
    stats_.visit(v);
  }

 private:
  static constexpr std::uint32_t kUnknown = 64;  ///< of how many blocks fit; even
  struct OnSm {
    std::uint32_t blocks = 0, limit = 0;
    bool measured = false;
    std::optional<std::uint32_t> single;  ///< block in the odd place
    std::uint32_t owed = 0;               ///< if it is in Launch::owing: the second of a pair
  };
  struct Launch {
    std::uint32_t next = 0, blocks = 0;
    SmSet owing;  ///< SMs that wait for the second of a pair
    std::vector<OnSm> sm;
  };
  struct Stats {
    std::uint64_t pairs = 0, singles = 0, measured = 0, limits = 0;
    void visit(FieldVisitor& v) {
      v.field("pairs", pairs, {}, "pairs", "of blocks that went to one SM together");
      v.field("singles", singles, {}, "blocks", "that went alone");
      v.field("measured", measured, {}, "limits",
              "found when an SM's first block of a launch ended");
      v.field("limits", limits, {}, "blocks", "of an SM, summed over `measured`");
    }
  };

  /// Blocks that the SM takes at once now.
  unsigned takes(const Launch& launch, const OnSm& sm) const {
    if (sm.blocks >= sm.limit) return 0;
    if (!params_.pairs || sm.limit == 1 || launch.next + 1 == launch.blocks) return 1;
    if (sm.limit - sm.blocks >= 2) return 2;
    return sm.limit % 2 == 1 && !sm.single ? 1 : 0;
  }
  BlockChoice first(unsigned slot, unsigned sm, unsigned together) {
    Launch& launch = launch_[slot];
    OnSm& here = launch.sm[sm];
    const std::uint32_t block = launch.next;
    launch.next += together;
    if (together == 2) {
      launch.owing.set(sm);
      here.owed = block + 1;
      ++stats_.pairs;
    } else {
      if (params_.pairs && here.limit % 2 == 1) here.single = block;
      ++stats_.singles;
      turn_ = (sm + 1) % sms_;
    }
    return give(slot, sm, block);
  }
  BlockChoice second(unsigned slot, unsigned sm) {
    launch_[slot].owing.clear(sm);
    turn_ = (sm + 1) % sms_;
    return give(slot, sm, launch_[slot].sm[sm].owed);
  }
  BlockChoice give(unsigned slot, unsigned sm, std::uint32_t block) {
    ++launch_[slot].sm[sm].blocks;
    const BlockChoice choice{sm, block};
    places_.on_pick(slot, choice);
    return choice;
  }

  Params params_;
  unsigned sms_, turn_ = 0;
  KernelSet under_way_;
  std::array<Launch, kKernelSlots> launch_;  ///< by slot
  Stats stats_;
  BlockPlaces places_;
};

}  // namespace

void add_block_bcs(Registry<BlockPolicy>& r) {
  r.add<Bcs>("bcs", "pairs of consecutive blocks, no more on an SM than keep it busy (LCS, BCS)");
}

}  // namespace raddle::policy
