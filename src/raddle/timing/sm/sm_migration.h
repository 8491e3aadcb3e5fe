// Warps that leave an SM and arrive at another (warp_context.h). Definitions for sm.cpp.
#pragma once
#include "raddle/timing/sm/sm_of.h"

namespace raddle::timing {

template <L1Protocol L1>
void SmOf<L1>::allow_migration(MigrationBoard& board, SegmentQueue* leaving,
                               policy::Passage::Shared shared) {
  RADDLE_ASSERT(idle());
  board_ = &board;
  shared_ = shared;
  guests_.resize(blocks_.slots() * SmSpec::kMostWarps);
  if (leaving != nullptr) lsu_.send_transfers_of(*leaving);
  homes_.resize(warps_.slots());
  lsu_.keep_descriptors();
}

/// What one warp's execution context takes, rounded as a block's is.
template <L1Protocol L1>
BlockNeeds SmOf<L1>::context_needs(unsigned w) const {
  const Warp& warp = warps_[w];
  const std::uint32_t registers = warp.launch->code->code().registers_per_thread * kLanes;
  BlockNeeds out;
  out.threads = warp.lanes;
  out.warps = 1;
  out.registers = (registers + register_unit_ - 1) / register_unit_ * register_unit_;
  return out;
}

template <L1Protocol L1>
ExportRefusal SmOf<L1>::may_export(unsigned w) const {
  if (!has(warps_.resident, w)) return ExportRefusal::NotResident;
  if (has(warps_.ended, w)) return ExportRefusal::Ended;
  if (has(warps_.parked(), w)) return ExportRefusal::Parked;
  const Warp& warp = warps_[w];
  if (shared_ == policy::Passage::Shared::Forbid && warp.launch->code->shares_with_block())
    return ExportRefusal::SharesWithBlock;
  if (board_ == nullptr) return ExportRefusal::Unsupported;
  return lsu_.may_leave(last_tick_, w, *warp.launch->code, warp.pending, warp.outstanding);
}

template <L1Protocol L1>
policy::WarpState SmOf<L1>::state_of(unsigned w) const {
  const Warp& warp = warps_[w];
  policy::WarpState out;
  out.converged = warp.active == warp.lanes;
  RegisterSet awaited = warp.pending_memory;
  awaited &= warp.next->uses;
  out.awaited = awaited.size();
  out.adopted = is_adopted(w);
  return out;
}

template <L1Protocol L1>
bool SmOf<L1>::is_home_of(unsigned w, unsigned sm) const {
  return sm == (is_adopted(w) ? homes_[w].sm : id_);
}

template <L1Protocol L1>
WarpContext SmOf<L1>::export_warp(Cycle now, unsigned w) {
  RADDLE_ASSERT(may_export(w) == ExportRefusal::None);
  const Warp warp = warps_[w];
  WarpContext out;
  out.launch = warp.launch;
  out.home = is_adopted(w) ? homes_[w] : HomeBlock{id_, block_id(w), warp.block};
  out.index = warp.index;
  out.local_window = warp.local_window;
  out.cursor = warp.cursor;
  out.next = warp.next;
  out.mask = warp.mask;
  out.remaining = warp.remaining;
  out.pieces = warp.pieces;
  out.record_words = warp.record_words;
  out.lanes = warp.lanes;
  out.active = warp.active;
  out.needs = context_needs(w);
  out.loads = lsu_.take_loads(now, w, counters_, migration_);

  count_warps(now);
  // Its scheduler has one warp less to wait for; loads and MSHRs are free for others.
  look_again_ |= bit_of(w) | (warps_.ready & units_.wanting(Unit::Lsu) & ~bit_of(w));
  units_.withdraw(w, warp.next->unit);
  warps_.forget_hazards(w);
  warps_.emptied &= ~bit_of(w);
  throttle_.forget(w);
  if (throttle_.present()) {
    for (std::size_t i = 0; i < out.loads.size(); ++i)
      throttle_.load_done(now, warp.launch->tenant);
    throttle_.warp_ended(now, w);
  }
  warps_.leave(w);
  schedulers_.warp_left(w);
  if (is_adopted(w)) adopted_ &= ~bit_of(w);
  else blocks_.leave_for_abroad(warp.block, w);
  ++migration_.warps_out;
  progress_ = called_ = now;
  return out;
}

template <L1Protocol L1>
ImportRefusal SmOf<L1>::may_import(const WarpContext& context) const {
  RADDLE_ASSERT(board_ != nullptr);
  if (context.home.sm == id_) return ImportRefusal::OwnWarp;
  if (static_cast<unsigned>(std::popcount(warps_.resident)) == warps_.slots())
    return ImportRefusal::NoSlot;
  return ImportRefusal::None;
}

template <L1Protocol L1>
unsigned SmOf<L1>::import_warp(Cycle now, const WarpContext& context) {
  RADDLE_ASSERT(may_import(context) == ImportRefusal::None);
  const Launch& launch = *context.launch;
  const bool first = lsu_.start_block(now, launch, false);
  if (first && throttle_.present()) throttle_.kernel_started(now);
  kernels_.set(launch.slot);
  const unsigned w = schedulers_.deal(warps_.resident);
  count_warps(now);
  Warp& warp = warps_.enter(w, kAbroad);
  adopted_ |= bit_of(w);
  homes_[w] = context.home;
  warp.launch = &launch;
  warp.kernel = launch.slot;
  warps_.of_tenant[raddle::index(launch.tenant)] |= bit_of(w);
  warp.index = context.index;
  warp.local_window = context.local_window;
  warp.cursor = context.cursor;
  warp.next = context.next;
  warp.mask = context.mask;
  warp.remaining = context.remaining;
  warp.pieces = context.pieces;
  warp.record_words = context.record_words;
  warp.lanes = context.lanes;
  warp.active = context.active;
  if (known_ != nullptr) known_->ledger.started(now, w);
  if (profile_ != nullptr) profile_->arrived(w);
  schedulers_.warp_started(w);
  if (throttle_.present()) throttle_.warp_started(now, w);
  lsu_.warp_started({now, launch.sequence, context.home.block, context.index,
                     static_cast<std::uint8_t>(w), launch.slot, launch.tenant});
  for (const PendingLoad& load : context.loads) {
    expect_load(warp, launch.code->instructions()[load.inst]);
    ++warp.outstanding;
    if (throttle_.present()) throttle_.load_issued(now, launch.tenant);
    arriving_.push_back({w, load});
  }
  enter_arriving(now);
  ++migration_.warps_in;
  progress_ = called_ = now;
  if (front_end_.present()) refill_buffer(now, w);
  else present_next(w);
  return w;
}

/// Loads that were under way where their warps come from enter the load/store unit in order, as it
/// takes them. True: some wait, or did.
template <L1Protocol L1>
bool SmOf<L1>::enter_arriving(Cycle now) {
  const bool any = !arriving_.empty();
  for (; !arriving_.empty() && lsu_.accepts(); arriving_.pop_front()) {
    const auto& [w, load] = arriving_.front();
    const Launch& launch = *warps_[w].launch;
    lsu_.enter_again(now,
                     {static_cast<std::uint8_t>(w), launch.slot, launch.tenant, load.inst,
                      &launch.code->instructions()[load.inst]},
                     load);
  }
  return any;
}

template <L1Protocol L1>
void SmOf<L1>::end_adopted(Cycle now, unsigned w) {
  RADDLE_ASSERT(is_adopted(w));
  ended_here_.push_back({warps_[w].launch, homes_[w], warps_[w].index, context_needs(w), now});
  board_->told.store(true, std::memory_order_relaxed);
  adopted_ &= ~bit_of(w);
}

// Its block hears of the end of the stream and of the warp at once.
template <L1Protocol L1>
void SmOf<L1>::warp_ended_abroad(Cycle now, const WarpEnded& ended) {
  RADDLE_ASSERT(ended.home.sm == id_);
  const unsigned slot = ended.home.slot;
  blocks_.stream_ended(slot, [&](const Opened& o) { open_barrier(now, slot, o); });
  if (blocks_.ended_abroad(slot)) end_block(now, slot);
  progress_ = called_ = now;
}

}  // namespace raddle::timing
