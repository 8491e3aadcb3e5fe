// Round robin, the usual scheduler of GPUs: blocks leave in linear order, each to the next SM with
// room. Rule: mechanisms.md 1.2 (G of IKRA). The turn survives from launch to launch: it starts
// after the SM that finished the last block of the launch before.
#include "raddle/policy/block/policy.h"
#include "raddle/policy/registry.h"

namespace raddle::policy {
namespace {

class RoundRobin final : public BlockPolicy {
 public:
  using Params = NoParams;
  RoundRobin(const Params&, const Context& context) : sms_(context.sms) {}

  void on_launch(const BlockLaunch& launch) override {
    ++stats_.launches;
    next_block_ = 0;
    blocks_ = launch.blocks;
    turn_ = first_turn_;
  }

  std::optional<BlockChoice> pick(const BlockView& view) override {
    if (next_block_ == blocks_) return std::nullopt;
    const unsigned sm = view.room.first_from(turn_);
    ++stats_.blocks;
    if (sm != turn_) ++stats_.skips;
    turn_ = (sm + 1) % sms_;
    return BlockChoice{sm, next_block_++};
  }

  void on_block_done(std::uint32_t sm, std::uint32_t) override { first_turn_ = (sm + 1) % sms_; }
  void visit_statistics(FieldVisitor& v) override { stats_.visit(v); }

 private:
  struct Stats {
    std::uint64_t launches = 0, blocks = 0, skips = 0;
    void visit(FieldVisitor& v) {
      v.field("launches", launches, {}, "launches", "kernels handed out");
      v.field("blocks", blocks, {}, "blocks", "blocks handed out");
      v.field("skips", skips, {}, "blocks", "the SM whose turn it was had no room");
    }
  };
  unsigned sms_;
  unsigned first_turn_ = 0;  ///< turn at the start of the next launch
  unsigned turn_ = 0;
  std::uint32_t next_block_ = 0, blocks_ = 0;
  Stats stats_;
};

}  // namespace

void add_block_rr(Registry<BlockPolicy>& r) {
  r.add<RoundRobin>("rr", "round robin: blocks in order, each to the next SM with room");
}

}  // namespace raddle::policy
