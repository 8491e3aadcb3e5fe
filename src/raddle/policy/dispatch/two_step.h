// Two steps, as the hardware work distributor is usually drawn: first whose block goes out next
// (level "kernel"), then which block of that grid and to which SM (level "block"). Grids take
// entries first come, first served, and each has one of its own. The only place that knows both
// levels: where the block policy declines a kernel, the kernel policy is asked for another.
#pragma once
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "raddle/base/age.h"
#include "raddle/base/limits.h"
#include "raddle/policy/block/policy.h"
#include "raddle/policy/dispatch/policy.h"
#include "raddle/policy/kernel/policy.h"
#include "raddle/policy/registry.h"

namespace raddle::policy {

class TwoStep final : public DispatchPolicy {
 public:
  using Params = NoParams;
  /// Precondition: the context has both parts.
  TwoStep(const Params& params, const Context& context);

  void on_enter(const GridInfo& grid) override;
  unsigned blocks_per_cycle() const override { return block_->blocks_per_cycle(); }
  std::optional<BlockDispatch> pick(const DispatchView& view) override;
  void on_block_end(GridId grid, std::uint32_t block, std::uint32_t sm) override;
  bool wants_progress() const override { return block_->wants_progress(); }
  void on_block_progress(GridId grid, std::uint32_t sm, const BlockProgress& progress) override;
  void on_grid_end(GridId grid) override;
  Cycle waits_until(Cycle now) const override;
  std::string refusals() const override;
  KernelPolicy* kernel_policy() override { return kernel_.get(); }
  BlockPolicy* block_policy() override { return block_.get(); }

 private:
  KernelView offer(const DispatchView& view) const;

  std::string kernel_name_, block_name_;
  std::unique_ptr<KernelPolicy> kernel_;
  std::unique_ptr<BlockPolicy> block_;
  std::array<GridInfo, kKernelSlots> grids_;  // by entry
  std::vector<std::uint8_t> entry_of_;        // by grid
  KernelSet under_way_;                       // both levels know a kernel by its entry
  KernelAge age_;
  // Of the cycle in which it was asked last.
  Cycle asked_ = kNever;
  KernelSet declined_, not_named_;
};

}  // namespace raddle::policy
