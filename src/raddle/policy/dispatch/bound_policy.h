// What SMX-Bind and Adaptive-Bind are besides their queues (bound_queues.h): where a visit's
// candidate fits its block goes out, one SM is visited a cycle, and the kernel management unit,
// whose queues are bound likewise and in memory, lets in a kernel of one SM a cycle.
// docs/mechanisms/laperm.md.
#pragma once
#include <utility>

#include "raddle/policy/dispatch/bound_queues.h"
#include "raddle/policy/dispatch/launch_policy.h"

namespace raddle::policy {

class BoundPolicy : public LaunchPolicy {
 public:
  explicit BoundPolicy(const BoundQueues::Rules& rules)
      : rules_(rules), pending_(unbounded(rules)), queues_(rules) {}

  void on_grid(const GridInfo& grid) override {
    pending_.insert(grid.id, grid.parent.sm, level(grid.parent));
    ++pend_;
  }
  std::optional<GridId> admit(const PendingView& view) override {
    if (asked_ == view.now) return std::nullopt;
    asked_ = view.now;
    const unsigned sm = std::exchange(visited_, (visited_ + 1) % rules_.sms);
    const std::optional<BoundQueues::Candidate> found = pending_.visit(sm);
    if (!found) return std::nullopt;
    return found->entry;
  }
  /// A search of the queues from the highest on, one a cycle; for a group, of its SM's table.
  Cycle search_cycles(const GridInfo& grid) const override {
    const unsigned of = level(grid.parent);
    return grid.entry ? queues_.ahead(grid.parent.sm, of) : rules_.top - of;
  }
  void on_enter(const GridInfo& grid) override {
    pending_.remove(grid.id, grid.parent.sm, level(grid.parent));
    --pend_;
    LaunchPolicy::on_enter(grid);
  }
  void on_begin(GridId grid, Cycle now) override {
    const DeviceParent& parent = known(grid).parent;
    if (!queues_.insert(grid, parent.sm, level(parent))) to_memory(grid);
    ++queued_;
    if (parent.depth != 0) count_entries(now, entries_queued() + 1, queues_.size(parent.sm));
  }
  void on_fetched(GridId grid, Cycle) override {
    const DeviceParent& parent = known(grid).parent;
    queues_.fetched(grid, parent.sm, level(parent));
  }
  std::optional<BlockDispatch> pick(const DispatchView& view) override {
    const unsigned sm = std::exchange(turn_, (turn_ + 1) % rules_.sms);
    const std::optional<BoundQueues::Candidate> candidate =
        queues_.visit(sm, [&](GridId one) { return !view.shared || view.free_sms(one).any(); });
    if (!candidate) return std::nullopt;
    const GridId grid = candidate->entry;
    if (!view.free_sms(grid).test(sm)) {
      held();
      return std::nullopt;
    }
    const BlockDispatch out = next_block(grid, sm, candidate->stage == BoundQueues::Stage::Backup);
    if (known(grid).all_out()) leave(grid, view.now);
    return out;
  }
  /// Another SM's turn comes in the next cycle.
  Cycle waits_until(Cycle now) const override {
    return pend_ != 0 || queued_ != 0 ? now + 1 : kNever;
  }

 private:
  static BoundQueues::Rules unbounded(BoundQueues::Rules rules) {
    rules.places = ~std::size_t{0};
    rules.adapts = false;
    return rules;
  }
  unsigned level(const DeviceParent& parent) const { return std::min(parent.depth, rules_.top); }
  void leave(GridId grid, Cycle now) {
    const DeviceParent& parent = known(grid).parent;
    if (const std::optional<GridId> next = queues_.remove(grid, parent.sm, level(parent)))
      from_memory(*next);
    --queued_;
    if (parent.depth != 0) count_entries(now, entries_queued() - 1, 0);
  }

  BoundQueues::Rules rules_;
  unsigned turn_ = 0, visited_ = 0;  // SMs
  Cycle asked_ = kNever;
  std::uint64_t pend_ = 0, queued_ = 0;  // entries
  BoundQueues pending_, queues_;
};

/// Parameters of both.
struct BindParams {
  std::uint32_t levels = 4, table = 128, cluster = 1;
  void visit(FieldVisitor& v) {
    v.field("levels", levels, {1, 64}, "levels",
            "of priority above the host's; deeper launches have the highest");
    v.field("table", table, {1, 1u << 20}, "entries",
            "of an SM's queues that have a place on the chip");
    v.field("cluster", cluster, {1, 64}, "SMs", "that share queues");
  }
  BoundQueues::Rules rules(unsigned sms) const {
    return {.sms = sms,
            .cluster = cluster,
            .top = levels,
            .places = table,
            .adapts = false,
            .longest = false};
  }
};

}  // namespace raddle::policy
