// An SM's side of migration: takes warps out of the SM and puts them in (warp_migration.h), and
// lets loads that come with a warp, and accesses to shared memory by warps that are on other SMs,
// into the load/store unit in order, as it takes them. A stage of the SM like others: enter() is
// called in each tick. Warps leave and arrive through the block stage (block_stage.h), which knows
// who must hear of that.
//
// Lsu is what it needs of the load/store unit: loads as descriptors and back (lsu_migration.h).
#pragma once
#include <algorithm>
#include <bit>
#include <deque>
#include <utility>
#include <vector>

#include "raddle/base/error.h"
#include "raddle/timing/sm/block_stage.h"
#include "raddle/timing/sm/memory_instruction.h"
#include "raddle/timing/sm/warp_migration.h"
#include "raddle/timing/sm/warps_abroad.h"

namespace raddle::timing {

template <class Lsu>
class MigrationStage final : public WarpMigration {
 public:
  /// What is done to the SM between windows is noted in `called`. All must outlive the stage.
  MigrationStage(BlockTable& blocks, BlockStage<Lsu>& stage,
                 const typename BlockStage<Lsu>::Parts& parts, Cycle& called)
      : blocks_(blocks), stage_(stage), parts_(parts), board_(parts.board), called_(called) {}

  // --- for the SM --------------------------------------------------------------------------------
  /// True: something waits to enter the load/store unit, or did and has entered.
  bool enter(Cycle now) {
    bool any = enter_arriving(now);
    any |= enter_foreign();
    return any;
  }
  /// The oldest access of a warp elsewhere is done: as they are served one after another, they end
  /// in order.
  void foreign_served();
  /// The SM has ticked.
  void note_tick(Cycle now) {
    last_tick_ = now;
    parts_.abroad.note_tick(parts_.lsu.l1().mshrs_taken());
  }
  /// An adopted warp issues an access to shared memory, which is at its home.
  void access_at_home(unsigned w, const DecodedInst& in);
  /// The last cycle in which a warp or a call came or went.
  Cycle last_progress() const { return progress_; }

  // --- for whoever carries warps -----------------------------------------------------------------
  void allow(MigrationBoard& board, SegmentQueue* outgoing,
             policy::Passage::Shared shared) override;
  void segments_wait(Cycle now) override { called_ = now; }
  WarpMask resident() const override { return board_.warps().resident; }
  policy::WarpState state_of(unsigned w) const override;
  bool is_home_of(unsigned w, unsigned sm) const override { return sm == parts_.abroad.home_sm(w); }
  BlockNeeds context_needs(unsigned w) const override { return stage_.context_needs(w); }
  bool miss(const policy::MissPlace& place, policy::PendingMiss& out) override {
    return parts_.lsu.miss(place, out);
  }
  ExportRefusal may_export(unsigned w) const override;
  WarpContext export_warp(Cycle now, unsigned w) override;
  ImportRefusal may_import(const WarpContext& context) const override;
  unsigned import_warp(Cycle now, const WarpContext& context) override;
  std::vector<WarpEnded>& ended_here() override { return parts_.abroad.ended_here(); }
  void warp_ended_abroad(Cycle now, const WarpEnded& ended) override;
  std::vector<HomeCall>& calls() override { return parts_.abroad.calls(); }
  void take_call(Cycle now, const HomeCall& call) override;
  const MigrationCounters& counters() const override { return count_; }

 private:
  void touch(Cycle now) { progress_ = called_ = now; }
  bool enter_arriving(Cycle now);
  bool enter_foreign();
  void accessed_at_home(Cycle now, const HomeCall& call);

  BlockTable& blocks_;
  BlockStage<Lsu>& stage_;
  typename BlockStage<Lsu>::Parts parts_;
  Scoreboard& board_;
  std::deque<std::pair<unsigned, PendingLoad>> arriving_;  // by warp, not yet in the LSU
  std::deque<HomeCall> foreign_;     // accesses of warps elsewhere to shared memory here ...
  std::size_t foreign_entered_ = 0;  // ... of which so many are in the load/store unit
  Cycle last_tick_ = 0;
  Cycle& called_;  // when something is done to the SM between windows
  Cycle progress_ = 0;
  MigrationCounters count_;
};

template <class Lsu>
void MigrationStage<Lsu>::allow(MigrationBoard& board, SegmentQueue* outgoing,
                                policy::Passage::Shared shared) {
  RADDLE_ASSERT(board_.warps().resident == 0 && parts_.lsu.idle());
  parts_.abroad.allow(board, shared, board_.warps().slots(), blocks_.slots());
  if (outgoing != nullptr) parts_.lsu.send_transfers_of(*outgoing);
  parts_.lsu.keep_descriptors();
}

template <class Lsu>
policy::WarpState MigrationStage<Lsu>::state_of(unsigned w) const {
  RADDLE_ASSERT(has(board_.warps().resident, w));
  const Warp& warp = board_[w];
  policy::WarpState out;
  out.converged = warp.active == warp.lanes;
  RegisterSet awaited = warp.pending_memory;
  awaited &= warp.next->uses;
  out.awaited = awaited.size();
  out.adopted = parts_.abroad.is_adopted(w);
  return out;
}

// --- departure ----------------------------------------------------------------------------------

template <class Lsu>
ExportRefusal MigrationStage<Lsu>::may_export(unsigned w) const {
  const WarpTable& warps = board_.warps();
  if (!has(warps.resident, w)) return ExportRefusal::NotResident;
  if (has(warps.ended, w)) return ExportRefusal::Ended;
  if (has(warps.parked(), w)) return ExportRefusal::Parked;
  const Warp& warp = warps[w];
  if (parts_.abroad.shared() == policy::Passage::Shared::Forbid &&
      warp.launch->code->shares_with_block())
    return ExportRefusal::SharesWithBlock;
  if (!parts_.abroad.allowed()) return ExportRefusal::Unsupported;
  if (warps.groups.any(AsyncGroups::Kind::Bulk, w)) return ExportRefusal::OperationUnderWay;
  return parts_.lsu.may_leave(last_tick_, w, *warp.launch->code, warp.pending, warp.outstanding);
}

template <class Lsu>
WarpContext MigrationStage<Lsu>::export_warp(Cycle now, unsigned w) {
  RADDLE_ASSERT(may_export(w) == ExportRefusal::None);
  WarpTable& warps = board_.warps();
  const Warp warp = warps[w];
  WarpContext out{.launch = warp.launch,
                  .home = parts_.abroad.home(w, warps, blocks_),
                  .index = warp.index,
                  .local_window = warp.local_window,
                  .cursor = warp.cursor,
                  .next = warp.next,
                  .mask = warp.mask,
                  .remaining = warp.remaining,
                  .transactions = warp.transactions,
                  .record_words = warp.record_words,
                  .lanes = warp.lanes,
                  .active = warp.active,
                  .loads = parts_.lsu.take_loads(now, w, parts_.counters, count_),
                  .needs = context_needs(w)};
  parts_.gate.count_warps(now);
  // Its scheduler has one warp less to wait for; loads and MSHRs are free for others.
  const WarpMask memory = board_.units().wanting(Unit::Lsu);
  board_.look_again(bit_of(w) | (warps.ready & memory & ~bit_of(w)));
  board_.withdraw(w);
  for (std::size_t i = 0; i < out.loads.size(); ++i)
    parts_.gate.load_done(now, warp.launch->tenant);
  stage_.leave_for_abroad(now, w);
  ++count_.warps_out;
  touch(now);
  return out;
}

// --- arrival ------------------------------------------------------------------------------------

template <class Lsu>
ImportRefusal MigrationStage<Lsu>::may_import(const WarpContext& context) const {
  RADDLE_ASSERT(parts_.abroad.allowed());
  if (context.home.sm == parts_.abroad.sm()) return ImportRefusal::OwnWarp;
  const WarpTable& warps = board_.warps();
  if (static_cast<unsigned>(std::popcount(warps.resident)) == warps.slots())
    return ImportRefusal::NoSlot;
  return ImportRefusal::None;
}

template <class Lsu>
unsigned MigrationStage<Lsu>::import_warp(Cycle now, const WarpContext& context) {
  RADDLE_ASSERT(may_import(context) == ImportRefusal::None);
  const Launch& launch = *context.launch;
  stage_.note_launch(now, launch, false);
  const unsigned slot = stage_.enter_warp(now, launch, kAbroad);
  parts_.abroad.adopt(slot, context.home);
  Warp& warp = board_[slot];
  warp.index = context.index;
  warp.local_window = context.local_window;
  warp.cursor = context.cursor;
  warp.next = context.next;
  warp.mask = context.mask;
  warp.remaining = context.remaining;
  warp.transactions = context.transactions;
  warp.record_words = context.record_words;
  warp.lanes = context.lanes;
  warp.active = context.active;
  parts_.observation.warp_arrived(now, slot);
  parts_.issue.schedulers().warp_started(slot);
  parts_.gate.warp_started(now, slot);
  parts_.lsu.warp_started({.at = now,
                           .launch = launch.sequence,
                           .block = context.home.block,
                           .index = context.index,
                           .warp = static_cast<std::uint8_t>(slot),
                           .kernel = launch.slot,
                           .tenant = launch.tenant});
  for (const PendingLoad& load : context.loads) {
    Scoreboard::expect_load(warp, launch.code->instructions()[load.inst]);
    ++warp.outstanding;
    parts_.gate.load_issued(now, launch.tenant);
    arriving_.push_back({slot, load});
  }
  enter_arriving(now);
  ++count_.warps_in;
  touch(now);
  board_.present_first(now, slot);
  return slot;
}

/// Loads that were under way where their warps come from. True: some wait, or did.
template <class Lsu>
bool MigrationStage<Lsu>::enter_arriving(Cycle now) {
  const bool any = !arriving_.empty();
  for (; !arriving_.empty() && parts_.lsu.accepts(); arriving_.pop_front()) {
    const auto& [w, load] = arriving_.front();
    const Launch& launch = *board_[w].launch;
    parts_.lsu.enter_again(now,
                           {.warp = static_cast<std::uint8_t>(w),
                            .kernel = launch.slot,
                            .tenant = launch.tenant,
                            .inst = load.inst,
                            .code = &launch.code->instructions()[load.inst]},
                           load);
  }
  return any;
}

// --- between a warp and its block elsewhere -----------------------------------------------------

template <class Lsu>
void MigrationStage<Lsu>::warp_ended_abroad(Cycle now, const WarpEnded& ended) {
  RADDLE_ASSERT(ended.home.sm == parts_.abroad.sm());
  stage_.end_abroad(now, ended.home.slot);
  touch(now);
}

template <class Lsu>
void MigrationStage<Lsu>::access_at_home(unsigned w, const DecodedInst& in) {
  Warp& warp = board_[w];
  HomeCall call = parts_.abroad.call_home(w, warp, HomeCall::Kind::Access);
  call.inst = static_cast<std::uint32_t>(&in - call.launch->code->instructions());
  call.passes = warp.transactions;
  call.lanes = warp.active;
  ++warp.outstanding;
  ++count_.home_accesses;
  parts_.abroad.send(call);
}

template <class Lsu>
void MigrationStage<Lsu>::take_call(Cycle now, const HomeCall& call) {
  RADDLE_ASSERT(call.to() == parts_.abroad.sm());
  touch(now);
  switch (call.kind) {
    case HomeCall::Kind::Arrive:
      return stage_.arrive_from_abroad(now, call);
    case HomeCall::Kind::Open: {
      const unsigned w = call.guest.slot;
      RADDLE_ASSERT(parts_.abroad.is_adopted(w));
      board_.wheel().push(now + board_[w].next->latency, Event::resume(w));
      return;
    }
    case HomeCall::Kind::Access:
      foreign_.push_back(call);
      return;
    case HomeCall::Kind::Done:
      return accessed_at_home(now, call);
  }
}

/// Foreign accesses enter the load/store unit in order, one a cycle. True: one waits, or did.
template <class Lsu>
bool MigrationStage<Lsu>::enter_foreign() {
  if (foreign_entered_ == foreign_.size()) return false;
  if (!parts_.lsu.accepts()) return true;
  const HomeCall& call = foreign_[foreign_entered_];
  const DecodedInst& in = call.launch->code->instructions()[call.inst];
  parts_.lsu.enter_passes({.warp = InstructionOwner::kForeign,
                           .kernel = call.launch->slot,
                           .tenant = call.launch->tenant,
                           .inst = 0,
                           .code = &in},
                          call.passes);
  ++foreign_entered_;
  return true;
}

template <class Lsu>
void MigrationStage<Lsu>::foreign_served() {
  RADDLE_ASSERT(foreign_entered_ != 0);
  HomeCall call = foreign_.front();
  foreign_.pop_front();
  --foreign_entered_;
  call.kind = HomeCall::Kind::Done;
  parts_.abroad.send(call);
}

template <class Lsu>
void MigrationStage<Lsu>::accessed_at_home(Cycle now, const HomeCall& call) {
  const unsigned w = call.guest.slot;
  const DecodedInst& in = call.launch->code->instructions()[call.inst];
  RADDLE_ASSERT(parts_.abroad.is_adopted(w) && board_[w].outstanding != 0);
  --board_[w].outstanding;
  if (board_.written(now, w, in)) stage_.end_if_drained(now, w);
  if (has(board_.warps().fence_wait, w)) board_.recheck_hazards(now, w);
}

}  // namespace raddle::timing
