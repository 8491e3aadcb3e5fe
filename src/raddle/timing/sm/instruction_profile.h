// What an SM's instructions have done, one by one, and at which of them its warps stood whenever
// somebody looked: for people, who compare it with a profiler's source page. It decides nothing,
// and nobody keeps one unless it is asked for.
#pragma once
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "raddle/policy/observer.h"
#include "raddle/stats/instruction_counters.h"
#include "raddle/timing/sm/warps.h"

namespace raddle::timing {

class InstructionProfile final : public policy::L1Observer {
 public:
  /// By machine instruction of a kernel's code.
  using Table = std::vector<stats::InstructionCounters>;

  /// The warps that slots of L1Access mean.
  explicit InstructionProfile(const WarpTable& warps) : warps_(warps) {}

  void issued(const Warp& warp) {
    stats::InstructionCounters& count = at_next(warp);
    ++count.issued;
    count.lanes += warp.active;
  }
  /// So many looks have found the warp in that state (stats::kWarpStates).
  void seen(const Warp& warp, unsigned state, std::uint64_t times) {
    at_next(warp).seen[state] += times;
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
  stats::InstructionCounters& at_next(const Warp& warp) {
    const DecodedKernel& code = *warp.launch->code;
    return table(code)[static_cast<std::size_t>(warp.next - code.instructions())];
  }
  Table& table(const DecodedKernel& code) {
    if (last_ != &code) {
      Table& found = tables_[&code];
      if (found.empty()) found.resize(code.size());
      last_ = &code, last_table_ = &found;
    }
    return *last_table_;
  }

  const WarpTable& warps_;
  std::unordered_map<const DecodedKernel*, Table> tables_;
  const DecodedKernel* last_ = nullptr;
  Table* last_table_ = nullptr;
};

}  // namespace raddle::timing
