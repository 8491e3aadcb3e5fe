// What the warps of an SM do in a window of cycles, cycle by cycle: for people, who want to see
// what a scheduler has decided and why. Nobody keeps one unless it is asked for.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "raddle/policy/observer.h"
#include "raddle/timing/sm/warps.h"

namespace raddle::timing {

class WarpWindow final : public policy::L1Observer {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  /// A warp has a slot.
  struct Life {
    Cycle from;
    std::uint64_t launch;
    std::uint32_t block, index;  ///< of the launch; of the warp in its block
    std::uint8_t slot;
  };
  /// A warp is in one state (stats::kWarpStates) in cycles [from, to).
  struct Run {
    Cycle from, to;
    std::uint32_t access = kNone;  ///< state Memory: the Access whose data it needs
    std::uint8_t slot, state;
  };
  struct Issue {
    Cycle at;
    const DecodedKernel* code;
    std::uint32_t inst;            ///< machine instruction of it
    std::uint32_t access = kNone;  ///< its own, if it goes to the load/store unit
    std::uint8_t slot, block;      ///< of the warp; of its block
    Route route;
  };
  /// A line of a memory instruction at the L1D.
  struct Line {
    Cycle at;
    Cycle filled = kNever;  ///< the last of its sectors that came, unless all were there
    std::uint32_t line;
    policy::L1Outcome outcome;
  };
  struct Access {
    std::uint32_t issue;     ///< number of its Issue
    std::uint32_t expected;  ///< lines of the instruction
    std::vector<Line> lines = {};
  };

  /// Cycles [begin, end). `warps`: those of the SM. Precondition: begin < end.
  WarpWindow(const WarpTable& warps, Cycle begin, Cycle end);
  Cycle begin() const { return begin_; }
  Cycle end() const { return end_; }

  /// Are states of cycles before `now` to be given?
  bool wants(Cycle now) const { return now > begin_ && seen_ < end_; }
  /// The warp in that slot has been in the state since the last settle(). Precondition: wants(now).
  void stands(Cycle now, unsigned w, unsigned state);
  /// All states of cycles before `now` have been given.
  void settle(Cycle now);
  /// The warp in that slot issues what it has next.
  void issued(Cycle now, unsigned w);

  void warp_started(const policy::WarpStart& start) override;
  void access(const policy::L1Access& a) override;
  void filled(const policy::L1Fill& fill) override;
  void evicted(const policy::L1Eviction& eviction) override;

  const std::vector<Life>& lives() const { return lives_; }
  const std::vector<Run>& runs() const { return runs_; }  ///< by their ends
  const std::vector<Issue>& issues() const { return issues_; }
  const std::vector<Access>& accesses() const { return accesses_; }

 private:
  /// By register: the access that loads it.
  using LoadedBy = std::array<std::uint32_t, trace::kScoreboardRegisters>;
  std::uint32_t awaited(unsigned w) const;
  std::uint32_t add_access(unsigned w);

  const WarpTable& warps_;
  Cycle begin_, end_, seen_;
  std::array<std::optional<Run>, SmSpec::kMaxWarps> open_;  // by slot
  std::vector<std::vector<std::uint32_t>> accesses_of_;     // by slot, oldest first
  std::vector<LoadedBy> loaded_by_;                         // by slot
  /// A line of an access, of which not all sectors have come since. Some may have been there
  /// before; they do not come while the line stays.
  struct Missing {
    std::uint32_t access, line;  ///< its place in the access
    std::uint8_t sectors;
  };
  std::unordered_map<std::uint32_t, std::vector<Missing>> missing_;  // by number of the line
  std::vector<Life> lives_;
  std::vector<Run> runs_;
  std::vector<Issue> issues_;
  std::vector<Access> accesses_;
};

}  // namespace raddle::timing
