// TB-Pri (LaPerm, section IV.A, figure 5b): what a kernel launches has a priority one above its
// parent's, up to a limit, and goes out before anything of lower priority; of one priority first
// come, first served; each block to the next SM with room. A block that fits nowhere is not
// overtaken, so what becomes free goes to the highest priority. The kernel management unit lets
// kernels in by priority too; a full distributor stops all. docs/mechanisms/laperm.md.
#include "raddle/policy/dispatch/launch_policy.h"
#include "raddle/policy/dispatch/launch_queues.h"
#include "raddle/policy/registry.h"

namespace raddle::policy {
namespace {

class TbPri final : public LaunchPolicy {
 public:
  struct Params {
    std::uint32_t levels = 4, table = 1024;
    void visit(FieldVisitor& v) {
      v.field("levels", levels, {1, 64}, "levels",
              "of priority above the host's; deeper launches have the highest");
      v.field("table", table, {1, 1u << 20}, "groups", "that have a place on the chip");
    }
  };
  TbPri(const Params& params, const Context& context)
      : params_(params),
        sms_(context.sms),
        pending_(params.levels),
        table_(params.levels, params.table),
        ready_(params.levels) {}

  void on_grid(const GridInfo& grid) override { pending_.push(grid.id, level(grid.parent)); }
  std::optional<GridId> admit(const PendingView&) override { return pending_.first(); }
  /// A search of the queues from the highest on, one a cycle; for a group, of the table.
  Cycle search_cycles(const GridInfo& grid) const override {
    return grid.entry ? ready_.ahead(level(grid.parent)) : params_.levels - level(grid.parent);
  }
  void on_enter(const GridInfo& grid) override {
    pending_.remove(grid.id, level(grid.parent));
    LaunchPolicy::on_enter(grid);
  }
  void on_begin(GridId grid, Cycle now) override {
    if (known(grid).group && !table_.add(grid, level_of(grid))) to_memory(grid);
    else ready_.push(grid, level_of(grid));
    count(now);
  }
  void on_fetched(GridId grid, Cycle) override { ready_.push(grid, level_of(grid)); }

  std::optional<BlockDispatch> pick(const DispatchView& view) override {
    const std::optional<GridId> grid =
        ready_.first([&](GridId one) { return !view.shared || view.room(one).any(); });
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
  unsigned level(const DeviceParent& parent) const {
    return std::min(parent.depth, params_.levels);
  }
  unsigned level_of(GridId grid) const { return level(known(grid).parent); }
  void leave(GridId grid, Cycle now) {
    ready_.remove(grid, level_of(grid));
    if (known(grid).group)
      if (const std::optional<GridId> next = table_.remove()) from_memory(*next);
    count(now);
  }
  void count(Cycle now) {
    const std::size_t groups = table_.on_chip() + table_.in_memory();
    count_entries(now, groups, groups);
  }

  Params params_;
  unsigned sms_, turn_ = 0;
  LevelQueues pending_;  // in memory: at the management unit
  EntryTable table_;
  LevelQueues ready_;
};

}  // namespace

void add_dispatch_tb_pri(Registry<DispatchPolicy>& r) {
  r.add<TbPri>("tb_pri", "launches by kernels before what launched them, to any SM (LaPerm)");
}

}  // namespace raddle::policy
