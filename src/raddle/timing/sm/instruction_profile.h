// What an SM's instructions have done, one by one, and at which of them its warps stood whenever
// somebody looked: for people, who compare it with a profiler's source page. It decides nothing,
// and nobody keeps one unless it is asked for.
#pragma once
#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "raddle/base/rng.h"
#include "raddle/policy/observer.h"
#include "raddle/stats/instruction_counters.h"
#include "raddle/timing/sm/warps.h"

namespace raddle::timing {

/// Cycles at random distances, from half of an interval to one and a half, so that no loop runs in
/// step with them. The same for all who are given the same.
class SamplingTimes {
 public:
  /// Precondition: interval > 0.
  SamplingTimes(std::uint32_t interval, std::uint64_t seed)
      : interval_(interval), next_(interval - 1), distance_(seed, "profile") {}
  /// How many come before `now`, and were not asked for yet.
  std::uint64_t before(Cycle now) {
    std::uint64_t times = 0;
    for (; next_ < now; ++times)
      next_ += interval_ - interval_ / 2 + distance_.below(interval_ / 2 * 2 + 1);
    return times;
  }

 private:
  std::uint32_t interval_;
  Cycle next_;
  Rng distance_;
};

class InstructionProfile final : public policy::L1Observer {
 public:
  /// By machine instruction of a kernel's code.
  using Table = std::vector<stats::InstructionCounters>;

  /// The warps that slots of L1Access mean.
  InstructionProfile(const WarpTable& warps, const SamplingTimes& samplings)
      : warps_(warps), sampling_times_(samplings), loaded_by_(warps.slots(), kNoLoads) {}

  /// Looks of cycles before `now` that are to be told by seen().
  std::uint64_t samplings_before(Cycle now) { return sampling_times_.before(now); }
  /// The warp in that slot issues what it has next.
  void issued(unsigned w) {
    const Warp& warp = warps_[w];
    stats::InstructionCounters& count = at_next(warp);
    ++count.issued;
    count.lanes += warp.active;
    if (goes_to_lsu(warp.next->route)) note_load(warp, loaded_by_[w]);
  }
  /// A warp takes the slot whose loads under way have been issued elsewhere.
  void arrived(unsigned w) { loaded_by_[w] = kNoLoads; }
  /// So many looks have found the warp in that state (stats::kWarpStates).
  void seen(unsigned w, unsigned state, std::uint64_t times) {
    const Warp& warp = warps_[w];
    at_next(warp).seen[state] += times;
    if (state != static_cast<unsigned>(stats::Stall::Memory)) return;
    RegisterSet missing = warp.pending_memory;
    if (!has(warps_.ended, w)) missing &= warp.next->uses;
    if (!missing.any()) return;  // it has ended, and its stores have not
    const std::uint32_t load = loaded_by_[w][missing.first()];
    if (load != kUnknown) table(*warp.launch->code)[load].awaited += times;
  }
  void access(const policy::L1Access& a) override {
    if (a.outcome == policy::L1Outcome::Refused) return;  // it will be told again
    stats::InstructionCounters& count = table(*warps_[a.warp].launch->code)[a.inst];
    ++count.lines;
    if (a.kind != policy::L1Kind::Load) return;
    count.l1d_hits += a.outcome == policy::L1Outcome::Hit;
    count.l1d_pending_hits += a.outcome == policy::L1Outcome::PendingHit;
    count.l1d_misses += a.outcome == policy::L1Outcome::Miss;
  }
  /// Kernels that have run, in no order. Whoever owns their code keeps it.
  const std::unordered_map<const DecodedKernel*, Table>& tables() const { return tables_; }

 private:
  /// By register: the instruction that loads it, as long as it is pending. A register has one write
  /// under way at a time.
  using LoadedBy = std::array<std::uint32_t, trace::kScoreboardRegisters>;
  static constexpr std::uint32_t kUnknown = ~std::uint32_t{0};
  static constexpr LoadedBy kNoLoads = [] {
    LoadedBy out{};
    for (std::uint32_t& inst : out) inst = kUnknown;
    return out;
  }();

  static void note_load(const Warp& warp, LoadedBy& loaded_by) {
    const DecodedKernel& code = *warp.launch->code;
    const auto inst = static_cast<std::uint32_t>(warp.next - code.instructions());
    if (warp.next->destination < DecodedInst::kNone) {
      loaded_by[warp.next->destination] = inst;
    } else if (warp.next->destination == DecodedInst::kMultiple) {
      RegisterSet left = code.multiple_destinations(*warp.next);
      for (; left.any(); left.clear(left.first())) loaded_by[left.first()] = inst;
    }
  }
  stats::InstructionCounters& at_next(const Warp& warp) {
    const DecodedKernel& code = *warp.launch->code;
    return table(code)[static_cast<std::size_t>(warp.next - code.instructions())];
  }
  Table& table(const DecodedKernel& code) {
    if (last_ != &code) {
      Table& found = tables_[&code];
      if (found.empty()) found.resize(code.size());
      last_ = &code;
      last_table_ = &found;
    }
    return *last_table_;
  }

  const WarpTable& warps_;
  SamplingTimes sampling_times_;
  std::vector<LoadedBy> loaded_by_;  // by slot
  std::unordered_map<const DecodedKernel*, Table> tables_;
  const DecodedKernel* last_ = nullptr;
  Table* last_table_ = nullptr;
};

}  // namespace raddle::timing
