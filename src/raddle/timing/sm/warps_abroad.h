// Who is not at home: warps on this SM whose block is on another one (adopted), and where warps of
// this SM's blocks are that wait at a barrier while they are on another SM. Keeps what both have to
// say to the SMs that this concerns until whoever carries warps takes it (home_call.h). Values
// only; nothing of it exists unless migration is allowed.
#pragma once
#include <atomic>
#include <vector>

#include "raddle/base/error.h"
#include "raddle/policy/migrate/policy.h"
#include "raddle/timing/sm/barriers.h"
#include "raddle/timing/sm/home_call.h"
#include "raddle/timing/sm/warps.h"

namespace raddle::timing {

class WarpsAbroad {
 public:
  explicit WarpsAbroad(unsigned sm) : sm_(sm) {}
  /// The board must outlive this.
  void allow(MigrationBoard& board, policy::Passage::Shared shared, unsigned warp_slots,
             unsigned block_slots) {
    board_ = &board;
    shared_ = shared;
    homes_.resize(warp_slots);
    guests_.resize(std::size_t{block_slots} * SmSpec::kMaxWarps);
  }
  /// Warps may come and go.
  bool allowed() const { return board_ != nullptr; }
  unsigned sm() const { return sm_; }
  policy::Passage::Shared shared() const { return shared_; }

  // --- warps here --------------------------------------------------------------------------------
  bool is_adopted(unsigned w) const { return has(adopted_, w); }
  void adopt(unsigned w, const HomeBlock& home) {
    RADDLE_ASSERT(allowed() && home.sm != sm_);
    adopted_ |= bit_of(w);
    homes_[w] = home;
  }
  /// It has left or ended.
  void forget(unsigned w) { adopted_ &= ~bit_of(w); }
  /// The number of its block in the grid.
  std::uint32_t block_id(unsigned w, const WarpTable& warps, const BlockTable& blocks) const {
    return is_adopted(w) ? homes_[w].block : blocks[warps[w].block].id;
  }
  HomeBlock home(unsigned w, const WarpTable& warps, const BlockTable& blocks) const {
    return is_adopted(w) ? homes_[w] : HomeBlock{sm_, blocks[warps[w].block].id, warps[w].block};
  }
  unsigned home_sm(unsigned w) const { return is_adopted(w) ? homes_[w].sm : sm_; }
  /// Of an adopted warp, for its home; the rest of the call is the caller's.
  HomeCall call_home(unsigned w, const Warp& warp, HomeCall::Kind kind) const {
    RADDLE_ASSERT(is_adopted(w));
    HomeCall call;
    call.kind = kind;
    call.launch = warp.launch;
    call.home = homes_[w];
    call.index = warp.index;
    call.guest = {sm_, static_cast<std::uint8_t>(w)};
    return call;
  }
  /// An adopted warp has ended: `needs` is what it held.
  void ended(Cycle now, unsigned w, const Warp& warp, const BlockNeeds& needs) {
    RADDLE_ASSERT(is_adopted(w));
    ended_here_.push_back(
        {.launch = warp.launch, .home = homes_[w], .index = warp.index, .needs = needs, .at = now});
    post();
    forget(w);
  }

  // --- warps elsewhere ---------------------------------------------------------------------------
  /// The block's warp of that index waits at a barrier there.
  void waits_at(unsigned slot, unsigned index, const GuestWarp& guest) {
    guests_[slot * SmSpec::kMaxWarps + index] = guest;
  }
  /// Its barrier has opened.
  void call_guest(unsigned slot, unsigned index, const Block& block) {
    HomeCall call;
    call.kind = HomeCall::Kind::Open;
    call.launch = block.launch;
    call.home = {sm_, block.id, static_cast<std::uint8_t>(slot)};
    call.guest = guests_[slot * SmSpec::kMaxWarps + index];
    send(call);
  }

  // --- for whoever carries warps -----------------------------------------------------------------
  void send(const HomeCall& call) {
    calls_.push_back(call);
    post();
  }
  std::vector<HomeCall>& calls() { return calls_; }
  std::vector<WarpEnded>& ended_here() { return ended_here_; }
  /// The SM has ticked; so many MSHRs of its L1D are taken.
  void note_tick(unsigned mshrs_taken) {
    board_->mshrs[sm_] = static_cast<std::uint16_t>(mshrs_taken);
    board_->ticked[sm_] = 1;
    board_->any_ticked.store(true, std::memory_order_relaxed);
  }

 private:
  /// Something has been added to the lists.
  void post() {
    RADDLE_ASSERT(allowed());
    board_->notified.store(true, std::memory_order_relaxed);
  }

  unsigned sm_;
  WarpMask adopted_ = 0;           // warps whose block is on another SM ...
  std::vector<HomeBlock> homes_;   // ... by warp slot: where
  std::vector<GuestWarp> guests_;  // by block slot and index: where a warp is that waits abroad
  std::vector<WarpEnded> ended_here_;
  std::vector<HomeCall> calls_;
  policy::Passage::Shared shared_ = policy::Passage::Shared::Forbid;
  MigrationBoard* board_ = nullptr;  // null: no warp comes or goes
};

}  // namespace raddle::timing
