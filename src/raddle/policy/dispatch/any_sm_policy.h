// What rr and tb_pri have in common besides launch_policy.h: blocks go to any SM, the next one with
// room in turn; a block that fits nowhere is not overtaken; groups have a table on the chip for all
// SMs. docs/mechanisms/laperm.md.
#pragma once
#include "raddle/policy/dispatch/launch_policy.h"
#include "raddle/policy/dispatch/launch_queues.h"

namespace raddle::policy {

class AnySmPolicy : public LaunchPolicy {
 public:
  /// `top`: the highest level; `places`: groups on the chip.
  AnySmPolicy(unsigned sms, unsigned top, std::size_t places) : sms_(sms), table_(top, places) {}

  void on_begin(GridId grid, Cycle now) override {
    if (known(grid).group && !table_.add(grid, level_of(grid))) to_memory(grid);
    else ready(grid);
    count(now);
  }
  void on_fetched(GridId grid, Cycle) override { ready(grid); }

  std::optional<BlockDispatch> pick(const DispatchView& view) override {
    const std::optional<GridId> grid = head(view);
    if (!grid) return std::nullopt;
    const SmSet free = view.free_sms(*grid);
    if (!free.any()) {
      held();
      return std::nullopt;
    }
    const unsigned sm = free.first_from(turn_);
    turn_ = (sm + 1) % sms_;
    const BlockDispatch out = next_block(*grid, sm);
    if (!known(*grid).all_out()) return out;
    remove(*grid);
    if (known(*grid).group)
      if (const std::optional<GridId> next = table_.remove()) from_memory(*next);
    count(view.now);
    return out;
  }

 protected:
  virtual unsigned level_of(GridId) const { return 0; }
  /// The grid is on the chip and its blocks may go out; all of them have gone.
  virtual void ready(GridId) = 0;
  virtual void remove(GridId) = 0;
  /// The grid whose block is next.
  virtual std::optional<GridId> head(const DispatchView& view) const = 0;

 private:
  void count(Cycle now) {
    const std::size_t groups = table_.on_chip() + table_.in_memory();
    count_entries(now, groups, groups);
  }
  unsigned sms_, turn_ = 0;
  EntryTable table_;
};

}  // namespace raddle::policy
