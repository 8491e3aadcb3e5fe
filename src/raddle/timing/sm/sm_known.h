// What policies of an SM may know of it (policy/sm_view.h), and who of them is told. Definitions
// for sm.cpp.
#pragma once
#include <vector>

#include "raddle/timing/sm/sm_of.h"
#include "raddle/timing/sm/warp_ledger.h"

namespace raddle::timing {

namespace known_detail {
inline policy::InstKind kind_of(const DecodedInst& in) {
  using Kind = policy::InstKind;
  switch (in.route) {
    case Route::Pipeline:
      return in.op_class == static_cast<unsigned>(trace::OpClass::Control) ? Kind::Control
                                                                           : Kind::Arithmetic;
    case Route::Load:
      return Kind::Load;
    case Route::Store:
      return Kind::Store;
    case Route::Atomic:
    case Route::Reduce:
      return Kind::Atomic;
    case Route::Shared:
      return Kind::Shared;
    case Route::Const:
      return Kind::Constant;
    case Route::Barrier:
      return Kind::Barrier;
    case Route::Fence:
      return Kind::Fence;
    case Route::Sleep:
      return Kind::Sleep;
    case Route::LaunchStream:
    case Route::LaunchBuffer:
    case Route::Launch:
      break;
  }
  return Kind::Launch;
}

template <stats::Stall Ours, policy::StallReason Theirs>
inline constexpr bool kSame = static_cast<unsigned>(Ours) == static_cast<unsigned>(Theirs);
static_assert(kSame<stats::Stall::Idle, policy::StallReason::Idle> &&
              kSame<stats::Stall::Memory, policy::StallReason::Memory> &&
              kSame<stats::Stall::Lsu, policy::StallReason::Lsu> &&
              kSame<stats::Stall::Throttled, policy::StallReason::Throttled>);
// What the GPU knows and an SM does not comes last.
static_assert(static_cast<unsigned>(stats::Stall::Launch) ==
              static_cast<unsigned>(policy::StallReason::Throttled) + 1);
static_assert(stats::kStalls == static_cast<unsigned>(stats::Stall::Launch) + 1);
}  // namespace known_detail

template <L1Protocol L1>
class SmOf<L1>::Known final : public policy::SmView {
 public:
  explicit Known(const SmOf& sm) : sm_(sm) {}
  void tell(policy::SmObserver& observer) {
    observers_.push_back(&observer);
    observer.attach(*this);
  }
  /// Before throttles are asked and warps are picked.
  void look(Cycle now) {
    if (!ledger.look(now, sm_.warps_)) return;
    for (policy::SmObserver* observer : observers_) observer->waits_changed(now);
  }
  /// Of a block that ends, before its slot is free.
  policy::BlockProgress progress(unsigned slot) const {
    policy::BlockProgress out{ledger.block_issued(slot), 0};
    for (unsigned other = 0; other < sm_.blocks_.slots(); ++other)
      if (other != slot && sm_.blocks_[other].live != 0 &&
          sm_.blocks_[other].launch == sm_.blocks_[slot].launch)
        out.others += ledger.block_issued(other);
    return out;
  }

  policy::WarpFacts warp(unsigned w) const override {
    RADDLE_ASSERT(w < SmSpec::kMostWarps && has(sm_.warps_.resident, w));
    const Warp& warp = sm_.warps_[w];
    const WarpLedger::Progress& progress = ledger.progress(w);
    const DecodedKernel& code = *warp.launch->code;
    policy::WarpFacts out;
    out.launch = warp.launch->sequence;
    out.block = sm_.block_id(w);
    out.index = warp.index;
    out.block_slot = warp.block;
    out.blocks_most = warp.launch->most_on_sm;
    out.started = progress.started;
    out.issued = progress.issued;
    out.last_issue = progress.last_issue;
    out.code_size = code.expansions()[code.ptx_size()].first();
    if (warp.next == nullptr) return out;  // its stream was empty
    out.next = static_cast<std::uint32_t>(warp.next - code.instructions());
    out.kind = known_detail::kind_of(*warp.next);
    return out;
  }
  std::uint64_t waiting(policy::WarpWait what) const override { return ledger.waiting(what); }
  Cycle waited(unsigned w, policy::WarpWait what, Cycle now) const override {
    return ledger.waited(w, what, now);
  }
  std::uint64_t block_issued(unsigned slot) const override { return ledger.block_issued(slot); }
  Cycle stalled(policy::StallReason why, Cycle now) const override {
    return sm_.stalls_.charged(static_cast<stats::Stall>(why), now);
  }
  policy::LsuFacts lsu() const override {
    policy::LsuFacts out = sm_.lsu_.facts();
    out.last_user = ledger.last_user();
    return out;
  }

  WarpLedger ledger;

 private:
  const SmOf& sm_;
  std::vector<policy::SmObserver*> observers_;
};

template <L1Protocol L1>
typename SmOf<L1>::Known& SmOf<L1>::known() {
  if (known_ == nullptr) known_ = std::make_unique<Known>(*this);
  notes_issues_ = true;
  return *known_;
}

}  // namespace raddle::timing
