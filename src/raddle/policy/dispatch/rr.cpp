// The usual scheduler of a GPU on which kernels launch kernels, LaPerm's baseline (section III.B):
// kernels first come, first served; of one kernel its own blocks in order, then those of the groups
// that have joined it, in the order in which they came; each block to the next SM with room. A
// block that fits nowhere is not overtaken. On the chip there is a table of so many groups; the
// rest is in memory (Wang et al., DTBL, ISCA 2015). docs/mechanisms/laperm.md.
#include "raddle/policy/dispatch/launch_policy.h"
#include "raddle/policy/dispatch/launch_queues.h"
#include "raddle/policy/registry.h"

namespace raddle::policy {
namespace {

class Rr final : public LaunchPolicy {
 public:
  struct Params {
    std::uint32_t table = 1024;
    void visit(FieldVisitor& v) {
      v.field("table", table, {1, 1u << 20}, "groups", "that have a place on the chip");
    }
  };
  Rr(const Params& params, const Context& context)
      : sms_(context.sms), table_(0, params.table), kernels_(kKernelSlots, LevelQueues(0)) {}

  void on_begin(GridId grid, Cycle now) override {
    if (known(grid).group && !table_.add(grid, 0)) to_memory(grid);
    else kernels_[known(grid).entry].push(grid, 0);
    count(now);
  }
  void on_fetched(GridId grid, Cycle) override { kernels_[known(grid).entry].push(grid, 0); }

  std::optional<BlockDispatch> pick(const DispatchView& view) override {
    const std::optional<GridId> grid = head(view);
    if (!grid) return std::nullopt;
    const SmSet room = view.room(*grid);
    if (!room.any()) {
      held();
      return std::nullopt;
    }
    const unsigned sm = room.first_from(turn_);
    turn_ = (sm + 1) % sms_;
    const BlockDispatch out = next_block(*grid, sm);
    if (known(*grid).all_out()) leave(*grid, view.now);
    return out;
  }

 private:
  /// The oldest kernel's first grid with blocks left.
  std::optional<GridId> head(const DispatchView& view) const {
    std::optional<GridId> best;
    std::uint64_t oldest = ~std::uint64_t{0};
    for (unsigned entry = 0; entry < kKernelSlots; ++entry) {
      if (kernels_[entry].empty() || since(entry) > oldest) continue;
      const std::optional<GridId> grid =
          kernels_[entry].first([&](GridId one) { return !view.shared || view.room(one).any(); });
      if (!grid) continue;
      best = grid;
      oldest = since(entry);
    }
    return best;
  }
  void leave(GridId grid, Cycle now) {
    kernels_[known(grid).entry].remove(grid, 0);
    if (known(grid).group)
      if (const std::optional<GridId> next = table_.remove()) from_memory(*next);
    count(now);
  }
  void count(Cycle now) {
    const std::size_t groups = table_.on_chip() + table_.in_memory();
    count_entries(now, groups, groups);
  }

  unsigned sms_, turn_ = 0;
  EntryTable table_;
  std::vector<LevelQueues> kernels_;  // by entry; what has blocks left and is on the chip
};

}  // namespace

void add_dispatch_rr(Registry<DispatchPolicy>& r) {
  r.add<Rr>("rr",
            "kernels in order of their launch, then the groups that joined them; SMs in turn");
}

}  // namespace raddle::policy
