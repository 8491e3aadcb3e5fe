// What policies and people may know of an SM: a view with a ledger of what warps have done and
// waited for (policy/sm_view.h, warp_ledger.h), kept only where a policy or the dispatcher wants
// it, and a profile by instruction (instruction_profile.h) and a window of warps (warp_window.h),
// kept only where they are asked for.
// Observes, and decides nothing: it reads the SM's parts, and the SM says what happens.
#pragma once
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "raddle/base/error.h"
#include "raddle/policy/sm_view.h"
#include "raddle/timing/sm/barriers.h"
#include "raddle/timing/sm/instruction_profile.h"
#include "raddle/timing/sm/stall_account.h"
#include "raddle/timing/sm/warp_ledger.h"
#include "raddle/timing/sm/warp_window.h"
#include "raddle/timing/sm/warps.h"
#include "raddle/timing/sm/warps_abroad.h"

namespace raddle::timing {

class SmObservation final : public policy::SmView {
 public:
  /// The parts of the SM that it reads; they must outlive it. `lsu`: how full the load/store unit
  /// is.
  struct Parts {
    const WarpTable& warps;
    const BlockTable& blocks;
    const WarpsAbroad& abroad;
    const StallAccount& stalls;
    std::function<policy::LsuFacts()> lsu;
  };
  explicit SmObservation(Parts parts) : parts_(std::move(parts)) {}

  // --- who wants to know; before any block comes -------------------------------------------------
  void add(policy::SmObserver& observer) {
    keep_ledger();
    observers_.push_back(&observer);
    observer.attach(*this);
  }
  /// From now on progress() is known.
  void keep_progress() {
    keep_ledger();
    keeps_progress_ = true;
  }
  InstructionProfile& keep_profile(const SamplingTimes& samplings) {
    notes_issues_ = true;
    profile_ = std::make_unique<InstructionProfile>(parts_.warps, samplings);
    return *profile_;
  }
  /// Null unless one is kept.
  InstructionProfile* profile() const { return profile_.get(); }
  WarpWindow& keep_window(Cycle begin, Cycle end) {
    notes_issues_ = true;
    window_ = std::make_unique<WarpWindow>(parts_.warps, begin, end);
    return *window_;
  }
  /// Null unless one is kept.
  WarpWindow* window() const { return window_.get(); }

  // --- what happens ------------------------------------------------------------------------------
  /// Before throttles are asked and warps are picked. Precondition: keeps_ledger().
  void look(Cycle now) {
    if (!ledger_->look(now, parts_.warps)) return;
    for (policy::SmObserver* observer : observers_) observer->waits_changed(now);
  }
  bool keeps_ledger() const { return ledger_ != nullptr; }
  void block_started(unsigned slot) {
    if (ledger_ != nullptr) ledger_->block_started(slot);
  }
  void warp_started(Cycle now, unsigned w) {
    if (ledger_ != nullptr) ledger_->started(now, w);
  }
  /// It comes from another SM.
  void warp_arrived(Cycle now, unsigned w) {
    warp_started(now, w);
    if (profile_ != nullptr) profile_->arrived(w);
  }
  /// Issues are to be told.
  bool notes_issues() const { return notes_issues_; }
  void issued(Cycle now, unsigned w, Route route) {
    RADDLE_ASSERT(notes_issues_);
    if (ledger_ != nullptr) ledger_->issued(now, w, parts_.warps[w].block, route);
    if (profile_ != nullptr) profile_->issued(w);
    if (window_ != nullptr) window_->issued(now, w);
  }
  /// Of a block that ends, before its slot is free; nothing unless it is kept.
  policy::BlockProgress progress(unsigned slot) const;

  // --- for policies ------------------------------------------------------------------------------
  policy::WarpFacts warp(unsigned w) const override;
  std::uint64_t waiting(policy::WarpWait what) const override { return ledger_->waiting(what); }
  Cycle waited(unsigned w, policy::WarpWait what, Cycle now) const override {
    return ledger_->waited(w, what, now);
  }
  std::uint64_t block_issued(unsigned slot) const override { return ledger_->block_issued(slot); }
  Cycle stalled(policy::StallReason why, Cycle now) const override {
    return parts_.stalls.charged(static_cast<stats::Stall>(why), now);
  }
  policy::LsuFacts lsu() const override {
    policy::LsuFacts out = parts_.lsu();
    out.last_user = ledger_->last_user();
    return out;
  }

 private:
  void keep_ledger() {
    if (ledger_ == nullptr) ledger_ = std::make_unique<WarpLedger>();
    notes_issues_ = true;
  }

  bool notes_issues_ = false;  // ledger, profile or window is there
  bool keeps_progress_ = false;
  std::unique_ptr<WarpLedger> ledger_;           // null unless somebody wants to know
  std::unique_ptr<InstructionProfile> profile_;  // null unless it is asked for
  std::unique_ptr<WarpWindow> window_;           // the same
  std::vector<policy::SmObserver*> observers_;
  Parts parts_;
};

}  // namespace raddle::timing
