// What warps of an SM have done and waited for, kept only where a policy wants to know
// (policy/sm_view.h). Which state a warp is in is read off the warp table's sets once a cycle,
// before throttles are asked and warps are picked; time is added up where a warp's state changes.
// In cycles that are skipped nothing changes, so the account is the same with and without them.
#pragma once
#include <array>
#include <cstdint>

#include "raddle/base/error.h"
#include "raddle/policy/sm_view.h"
#include "raddle/timing/sm/warps.h"

namespace raddle::timing {

class WarpLedger {
 public:
  using Wait = policy::WarpWait;
  struct Progress {
    Cycle started = 0, last_issue = 0;
    std::uint64_t issued = 0;
  };

  void block_started(unsigned slot) { block_issued_[slot] = 0; }
  /// A warp has taken the slot.
  void started(Cycle now, unsigned w) {
    progress_[w] = {now, 0, 0};
    waited_[w] = {};
    since_[w] = now;
    for (WarpMask& in : in_) in &= ~bit_of(w);
    if (last_user_ == w) last_user_ = policy::LsuFacts::kInvalidId;
  }
  /// `block`: slot of its block; kAbroad counts nowhere.
  void issued(Cycle now, unsigned w, unsigned block, Route route) {
    progress_[w].last_issue = now;
    ++progress_[w].issued;
    ++block_issued_[block];
    if (is_global(route)) last_user_ = w;
  }
  /// True: warps wait for something else than when it looked last.
  bool look(Cycle now, const WarpTable& warps) {
    const Sets in = sets(warps);
    WarpMask changed = 0;
    for (unsigned i = 0; i < in.size(); ++i) changed |= in[i] ^ in_[i];
    if (changed == 0) return false;
    for (unsigned i = 0; i < in.size(); ++i)
      for (WarpMask m = in_[i] & changed; m != 0; m &= m - 1) {
        const unsigned w = lowest(m);
        waited_[w][i] += now - since_[w];
        since_[w] = now;
      }
    in_ = in;
    return true;
  }

  const Progress& progress(unsigned w) const { return progress_[w]; }
  WarpMask waiting(Wait what) const { return in_[static_cast<unsigned>(what)]; }
  Cycle waited(unsigned w, Wait what, Cycle now) const {
    const auto i = static_cast<unsigned>(what);
    return waited_[w][i] + (has(in_[i], w) ? now - since_[w] : 0);
  }
  std::uint64_t block_issued(unsigned slot) const { return block_issued_[slot]; }
  unsigned last_user() const { return last_user_; }

 private:
  using Sets = std::array<WarpMask, policy::kWarpWaits>;
  static bool is_global(Route r) { return r >= Route::Load && r <= Route::Reduce; }
  static Sets sets(const WarpTable& warps) {
    Sets in{};
    const auto put = [&](Wait what, WarpMask those) { in[static_cast<unsigned>(what)] = those; };
    const WarpMask at_instruction = warps.resident & ~warps.parked();
    const WarpMask waits = warps.memory_wait | warps.fence_wait;
    put(Wait::Nothing, warps.ready);
    put(Wait::Dependence, at_instruction & ~warps.ready & ~waits);
    put(Wait::Fetch, warps.fetching);
    put(Wait::Memory, warps.memory_wait & ~warps.ended);
    put(Wait::Fence, warps.fence_wait);
    put(Wait::Sleep, warps.sleeping);
    put(Wait::Barrier, warps.at_barrier);
    put(Wait::Ended, warps.ended);
    return in;
  }

  std::array<Progress, SmSpec::kMaxWarps> progress_{};
  std::array<std::array<Cycle, policy::kWarpWaits>, SmSpec::kMaxWarps> waited_{};
  std::array<Cycle, SmSpec::kMaxWarps> since_{};  // by warp: in its state, counted before
  Sets in_{};                                     // by state: who is in it
  std::array<std::uint64_t, SmSpec::kMaxWarps> block_issued_{};
  unsigned last_user_ = policy::LsuFacts::kInvalidId;
};

}  // namespace raddle::timing
