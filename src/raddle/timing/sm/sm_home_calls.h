// Barriers and shared memory of warps that are abroad (home_call.h). Definitions for sm.cpp.
#pragma once
#include "raddle/timing/sm/sm_of.h"

namespace raddle::timing {

/// Of an adopted warp, for its home; the rest of the call is the caller's.
template <L1Protocol L1>
HomeCall SmOf<L1>::call_of(unsigned w, HomeCall::Kind kind) const {
  RADDLE_ASSERT(is_adopted(w));
  HomeCall call;
  call.kind = kind;
  call.launch = warps_[w].launch;
  call.home = homes_[w];
  call.index = warps_[w].index;
  call.guest = {id_, static_cast<std::uint8_t>(w)};
  return call;
}

template <L1Protocol L1>
void SmOf<L1>::tell(const HomeCall& call) {
  calls_.push_back(call);
  board_->told.store(true, std::memory_order_relaxed);
}

template <L1Protocol L1>
void SmOf<L1>::access_at_home(unsigned w, const DecodedInst& in) {
  HomeCall call = call_of(w, HomeCall::Kind::Access);
  call.inst = static_cast<std::uint32_t>(&in - call.launch->code->instructions());
  call.passes = warps_[w].pieces;
  call.lanes = warps_[w].active;
  ++warps_[w].outstanding;
  ++migration_.home_accesses;
  tell(call);
}

template <L1Protocol L1>
void SmOf<L1>::take_call(Cycle now, const HomeCall& call) {
  RADDLE_ASSERT(call.to() == id_);
  progress_ = called_ = now;
  switch (call.kind) {
    case HomeCall::Kind::Arrive: {
      const unsigned slot = call.home.slot;
      const bool waits = call.barrier.kind() == trace::BarrierKind::Sync;
      guests_[slot * SmSpec::kMostWarps + call.index] = call.guest;
      open_barrier(now, slot,
                   blocks_.arrive_abroad(slot, call.barrier.id(), waits ? bit_of(call.index) : 0,
                                         call.barrier.expected_warps()));
      return;
    }
    case HomeCall::Kind::Open: {
      const unsigned w = call.guest.slot;
      wheel_.push(now + warps_[w].next->latency, Event::resume(w));
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
template <L1Protocol L1>
bool SmOf<L1>::enter_foreign() {
  if (foreign_entered_ == foreign_.size()) return false;
  if (!lsu_.accepts()) return true;
  const HomeCall& call = foreign_[foreign_entered_];
  const DecodedInst& in = call.launch->code->instructions()[call.inst];
  lsu_.enter_passes({InstructionOwner::kForeign, call.launch->slot, call.launch->tenant, 0, &in},
                    call.passes);
  ++foreign_entered_;
  return true;
}

/// The oldest of them is done: as they are served one after another, they end in order.
template <L1Protocol L1>
void SmOf<L1>::foreign_served() {
  RADDLE_ASSERT(foreign_entered_ != 0);
  HomeCall call = foreign_.front();
  foreign_.pop_front();
  --foreign_entered_;
  call.kind = HomeCall::Kind::Done;
  tell(call);
}

template <L1Protocol L1>
void SmOf<L1>::accessed_at_home(Cycle now, const HomeCall& call) {
  const unsigned w = call.guest.slot;
  const DecodedInst& in = call.launch->code->instructions()[call.inst];
  RADDLE_ASSERT(is_adopted(w) && warps_[w].outstanding != 0);
  --warps_[w].outstanding;
  if (in.destination == DecodedInst::kMultiple) registers_written(now, w, in);
  else if (in.destination != DecodedInst::kNone) register_written(now, w, in.destination);
  else if (has(warps_.ended, w)) end_if_drained(now, w);
  if (has(warps_.fence_wait, w)) recheck_hazards(now, w);
}

}  // namespace raddle::timing
