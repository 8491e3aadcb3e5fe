#include "raddle/policy/dispatch/two_step.h"

#include <algorithm>

#include "raddle/base/error.h"
#include "raddle/policy/fault.h"

namespace raddle::policy {

TwoStep::TwoStep(const Params&, const Context& context) {
  RADDLE_ASSERT(context.kernel != nullptr && context.block != nullptr);
  RADDLE_ASSERT(context.entries <= kKernelSlots);
  kernel_name_ = context.kernel->name();
  block_name_ = context.block->name();
  kernel_ = context.kernel->make({context.seed});
  block_ = context.block->make({context.sms, context.seed});
}

void TwoStep::on_enter(const GridInfo& grid) {
  const unsigned entry = grid.entry.value();
  RADDLE_ASSERT(entry < kKernelSlots && !under_way_.test(entry));
  grids_[entry] = grid;
  if (grid.id >= entry_of_.size()) entry_of_.resize(grid.id + 1);
  entry_of_[grid.id] = static_cast<std::uint8_t>(entry);
  under_way_.set(entry);
  age_.insert(entry);
  kernel_->on_launch({.sequence = grid.sequence,
                      .kernel = grid.kernel,
                      .stream = grid.stream,
                      .blocks = grid.blocks,
                      .slot = entry,
                      .parent = grid.parent});
  block_->on_launch({.sequence = grid.sequence,
                     .kernel = grid.kernel,
                     .grid = grid.grid,
                     .blocks = grid.blocks,
                     .slot = entry,
                     .parent = grid.parent,
                     .max_on_sm = grid.max_on_sm});
}

void TwoStep::on_block_end(GridId grid, std::uint32_t block, std::uint32_t sm) {
  block_->on_block_done(sm, block, entry_of_[grid]);
}

void TwoStep::on_block_progress(GridId grid, std::uint32_t sm, const BlockProgress& progress) {
  block_->on_progress(sm, entry_of_[grid], progress);
}

void TwoStep::on_grid_end(GridId grid) {
  const unsigned entry = entry_of_[grid];
  RADDLE_ASSERT(under_way_.test(entry) && grids_[entry].id == grid);
  under_way_.clear(entry);
  block_->on_kernel_end(entry);
  kernel_->on_end(entry);
}

/// Kernels with blocks left that the block policy has not declined in this cycle.
KernelView TwoStep::offer(const DispatchView& view) const {
  KernelView offer{{}, {}, age_, view.now};
  (under_way_ - declined_).each([&](unsigned entry) {
    const GridId grid = grids_[entry].id;
    if (!view.has_blocks(grid)) return;
    offer.waiting.set(entry);
    if (view.free_sms(grid).any()) offer.fits.set(entry);
  });
  if (view.shared) offer.waiting = offer.fits;
  return offer;
}

std::optional<BlockDispatch> TwoStep::pick(const DispatchView& view) {
  if (asked_ != view.now) declined_ = {};
  asked_ = view.now;
  not_named_ = {};
  for (;;) {
    const KernelView kernels = offer(view);
    if (!kernels.fits.any()) return std::nullopt;
    const std::optional<unsigned> entry = kernel_->pick(kernels);
    if (!entry) {
      not_named_ = kernels.fits;
      return std::nullopt;
    }
    if (*entry >= KernelSet::kSize || !kernels.fits.test(*entry))
      wrong_answer("kernel=" + kernel_name_, "names a kernel whose block fits");
    const GridId grid = grids_[*entry].id;
    const SmSet free = view.free_sms(grid);
    if (const std::optional<BlockChoice> choice = block_->pick({free, view.now, *entry}))
      return BlockDispatch{grid, choice->block, choice->sm, choice->stolen};
    declined_.set(*entry);
  }
}

Cycle TwoStep::waits_until(Cycle now) const {
  return std::min(kernel_->waits_until(now), block_->waits_until(now));
}

std::string TwoStep::refusals() const {
  const auto launches = [&](const KernelSet& entries) {
    std::string out;
    entries.each([&](unsigned entry) {
      out += (out.empty() ? "" : ", ") + std::to_string(grids_[entry].sequence);
    });
    return out;
  };
  std::string out;
  if (declined_.any())
    out += "policy 'block=" + block_name_ + "' declines launch " + launches(declined_);
  if (not_named_.any())
    out += (out.empty() ? "" : "; ") + ("policy 'kernel=" + kernel_name_) +
           "' names none of launch " + launches(not_named_);
  return out;
}

void add_dispatch_two_step(Registry<DispatchPolicy>& r) {
  r.add<TwoStep>("two_step",
                 "a policy of level kernel names a kernel, one of level block its block");
}

}  // namespace raddle::policy
