// Asynchronous copies and the barrier objects of shared memory (PTX ISA 9.0, 9.7.9.25, 9.7.13.15).
//
// A copy is done when it is issued, which PTX allows; what follows it (groups, barriers that it
// arrives at) therefore finds it complete.
//
// A barrier object's 64 bits, which PTX leaves open: bits 0-19 arrivals still pending in this
// phase, 20-39 arrivals of each phase, 40-60 bytes of transactions pending (two's complement), 63
// the phase's parity.
//
// The op stream has what a block's own warps do to its objects, so that the timing model can let
// warps wait. What others of a cluster do, which it does not keep together, it has not. There a
// warp that has gone on waits for what the block itself had brought to the object by then, as if
// the others were as far.
#pragma once
#include <optional>
#include <vector>

#include "raddle/exec/slow/slow_access.h"
#include "raddle/trace/stream.h"

namespace raddle::exec {

/// cp.async: 4, 8 or 16 bytes from global to shared memory; what `source_bytes` leaves out is zero.
class AsyncCopy final : public SlowInstruction {
 public:
  SlowAddress to, from;
  unsigned bytes = 0;
  std::optional<std::uint32_t> source_bytes;  ///< register
  std::optional<std::uint32_t> ignore;        ///< predicate: reads nothing, writes zeros
  bool ignore_negated = false;
  void run(const SlowRun& run) const override;
};

/// mbarrier.* and cp.async.mbarrier.arrive.
class BarrierObject final : public SlowInstruction {
 public:
  enum class Action : std::uint8_t {
    Init,
    Inval,
    ExpectTx,
    CompleteTx,
    Arrive,
    ArriveExpectTx,  ///< the operand is the transactions, the arrival counts one
    ArriveCopies,    ///< cp.async.mbarrier.arrive without .noinc: counts itself first
    TestWait,
    TestParity,
  };
  Action action = Action::Init;
  SlowAddress address;
  std::uint32_t operand = 0;  ///< register: count, bytes, state (64 bits) or parity
  std::uint32_t result = 0;   ///< register of the state (64 bits), or predicate
  bool drops = false;         ///< arrive_drop
  trace::ObjectAction timed = trace::ObjectAction::Init;  ///< to the timing model
  void run(const SlowRun& run) const override;

 private:
  bool act(const SlowRun& run, unsigned lane, std::uint64_t& object) const;
  trace::ObjectChange change(const SlowRun& run, unsigned lane, std::uint32_t object) const;
};

/// The changes of a BarrierObject record, one for each object.
class ObjectChanges {
 public:
  void add(const trace::ObjectChange& change);
  const std::vector<trace::ObjectChange>& all() const { return changes_; }

 private:
  std::vector<trace::ObjectChange> changes_;
};

/// mbarrier.pending_count.
class PendingCount final : public SlowInstruction {
 public:
  std::uint32_t d = 0, state = 0;
  void run(const SlowRun& run) const override;
};

/// elect.sync: one lane of those named, the lowest.
class Election final : public SlowInstruction {
 public:
  std::uint32_t d = 0, members = 0;
  std::uint32_t elected = 0;  ///< predicate; 0: none
  void run(const SlowRun& run) const override;
};

/// `bytes` of a copy that `lane` has issued have come: the barrier object at `offset` of the shared
/// window learns of them. Returns its number if it is the block's own. Throws RunError when nothing
/// is there.
std::optional<std::uint32_t> complete_transactions(const SlowRun& run, unsigned lane,
                                                   std::uint64_t offset, std::uint64_t bytes);

}  // namespace raddle::exec
