// Round robin, the usual scheduler of GPUs: blocks leave in linear order, each to the next SM with
// room. Rule: docs/mechanisms/ikra.md (G of IKRA). The turn survives from launch to launch: a
// launch on an idle machine starts after the SM that finished the last block; launches under way at
// the same time share one turn (LaPerm: the next SM, cyclic from the last). With `reset` it
// starts at SM 0 (docs/mechanisms/ikra.md: round robin with reset).
#include <array>

#include "raddle/policy/block/places.h"
#include "raddle/policy/block/policy.h"
#include "raddle/policy/registry.h"

namespace raddle::policy {
namespace {

class RoundRobin final : public BlockPolicy {
 public:
  struct Params {
    bool reset = false;
    void visit(FieldVisitor& v) {
      v.field("reset", reset, "a launch on an idle machine starts at SM 0");
    }
  };
  RoundRobin(const Params& params, const Context& context)
      : sms_(context.sms), reset_(params.reset), places_(context.sms) {}

  void on_launch(const BlockLaunch& launch) override {
    places_.on_launch(launch);
    if (!under_way_.any()) turn_ = reset_ ? 0 : first_turn_;
    under_way_.set(launch.slot);
    left_[launch.slot] = {0, launch.blocks};
  }

  std::optional<BlockChoice> pick(const BlockView& view) override {
    Left& left = left_[view.slot];
    if (left.next == left.end) return std::nullopt;
    const unsigned sm = view.free_sms.first_from(turn_);
    if (sm != turn_) ++skips_;
    turn_ = (sm + 1) % sms_;
    places_.on_pick(view.slot, {sm, left.next});
    return BlockChoice{sm, left.next++};
  }

  void on_block_done(std::uint32_t sm, std::uint32_t, unsigned) override {
    first_turn_ = (sm + 1) % sms_;
  }
  void on_kernel_end(unsigned slot) override {
    under_way_.clear(slot);
    places_.on_kernel_end(slot);
  }
  void visit_statistics(FieldVisitor& v) override {
    places_.visit(v);
    v.field("skips", skips_, {}, "blocks", "the SM whose turn it was had no room");
  }

 private:
  /// Blocks [next, end).
  struct Left {
    std::uint32_t next = 0, end = 0;
  };
  unsigned sms_;
  bool reset_;
  unsigned first_turn_ = 0;  ///< turn of the next launch that finds the machine idle
  unsigned turn_ = 0;
  KernelSet under_way_;
  std::array<Left, kKernelSlots> left_{};  ///< by slot
  std::uint64_t skips_ = 0;
  BlockPlaces places_;
};

}  // namespace

void add_block_rr(Registry<BlockPolicy>& r) {
  r.add<RoundRobin>("rr", "round robin: blocks in order, each to the next SM with room");
}

}  // namespace raddle::policy
