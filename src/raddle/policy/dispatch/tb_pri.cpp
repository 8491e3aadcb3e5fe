// TB-Pri (LaPerm, section IV.A, figure 5b): what a kernel launches has a priority one above its
// parent's, up to a limit, and goes out before anything of lower priority; of one priority first
// come, first served; each block to the next SM with room. A block that fits nowhere is not
// overtaken, so what becomes free goes to the highest priority. The kernel management unit lets
// kernels in by priority too; a full distributor stops all. docs/mechanisms/laperm.md.
#include "raddle/policy/dispatch/any_sm_policy.h"
#include "raddle/policy/registry.h"

namespace raddle::policy {
namespace {

class TbPri final : public AnySmPolicy {
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
      : AnySmPolicy(context.sms, params.levels, params.table),
        params_(params),
        pending_(params.levels),
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

 private:
  unsigned level(const DeviceParent& parent) const {
    return std::min(parent.depth, params_.levels);
  }
  unsigned level_of(GridId grid) const override { return level(known(grid).parent); }
  void ready(GridId grid) override { ready_.push(grid, level_of(grid)); }
  void remove(GridId grid) override { ready_.remove(grid, level_of(grid)); }
  std::optional<GridId> head(const DispatchView& view) const override {
    return ready_.first([&](GridId one) { return !view.shared || view.free_sms(one).any(); });
  }

  Params params_;
  LevelQueues pending_;  // in memory: at the management unit
  LevelQueues ready_;
};

}  // namespace

void add_dispatch_tb_pri(Registry<DispatchPolicy>& r) {
  r.add<TbPri>("tb_pri", "launches by kernels before what launched them, to any SM (LaPerm)");
}

}  // namespace raddle::policy
