// The order in which an assembler leaves the instructions of a basic block, and the loads of shared
// memory that it makes one. Rules and where they were learned: docs/lowering.md, "Order".
//
// Nothing moves between blocks, but a branch whose sides are predicated (regions.h) is none: the
// block that it ends, its sides and the block in which they meet are one here, if they follow one
// another in the text and nobody else comes in. The branch is dropped, and what stood on a side
// keeps its predicate.
//
// A block's instructions keep what they depend on before them: registers as PTX names them, memory
// of the same kind unless two accesses have the same base register and do not overlap, everything
// in memory at barriers, fences, atomics and launches. Among what is free to go, loads and what
// their addresses need go first, as long as not too many loaded words wait for their use.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "raddle/lowering/latency_order.h"
#include "raddle/lowering/lowering_spec.h"
#include "raddle/trace/code.h"

namespace raddle::lowering {

/// What a stream needs to know of an instruction of the original to put it into its place.
struct ScheduleStep {
  std::uint32_t block;  ///< its basic block
  std::uint32_t as;     ///< itself; of one that stands for another: that one
  std::uint32_t place;  ///< of itself in the new code
  std::uint32_t turn;   ///< place of `as` in the block
  /// Of a dropped branch that decides: behind its sides, which follow it; else kNoRegister.
  std::uint32_t meeting;
  bool dropped;  ///< Schedule::dropped of `as`
  bool carries;  ///< its record has a payload
  bool shares;   ///< ... may be one of several instructions
};

/// The records of a block in its order, where its instructions have been executed once, one after
/// the other, and those that share records by the same lanes: they are the same for every warp. Of
/// dropped branches nothing is left then, since no side was skipped. Instructions that have a
/// record of their own are counted from the block's first on.
struct WholeBlock {
  static constexpr std::uint32_t kMaxOwn = 256;
  struct Output {
    std::uint32_t head;   ///< of the record, without transactions
    std::uint32_t own;    ///< where in `own` those begin whose record it is
    std::uint8_t number;  ///< so many: several are joined; 0: of instructions that share
    bool carries;         ///< it has a payload
  };
  std::vector<Output> outputs;      ///< none: they do depend on the warp, or are as written
  std::vector<std::uint16_t> own;   ///< the first to be executed of each output first
  std::vector<std::uint16_t> runs;  ///< by instruction: so many share a record from it on
  bool last_stays = false;          ///< the last instruction is the last in its order, too
};

struct Schedule {
  /// Reordered; instructions that became part of another one are missing, and dropped ones.
  trace::KernelCode code;
  std::vector<std::uint32_t> place;  ///< by instruction of the original: in `code`
  std::vector<bool> joined;          ///< ... it became part of the one at its place
  std::vector<bool> dropped;         ///< ... it is gone; its place is its block's first
  std::vector<std::uint32_t> begin;  ///< by block: place of its first instruction, and the end
  std::vector<std::uint32_t> first;  ///< by block: its first instruction, and the end
  std::vector<bool> as_written;      ///< by block: its order is the original's
  std::vector<ScheduleStep> steps;   ///< by instruction of the original
  std::vector<WholeBlock> whole;     ///< by block
  bool is_identity = true;
};

/// Loaded words that may wait for their use: of global or local memory, of shared memory.
inline constexpr unsigned kGlobalWordsAhead = 16, kSharedWordsAhead = 16;

/// On the machine of `spec`. With `delays` latencies of arithmetic are hidden behind what does not
/// need its results (latency_order.h).
Schedule schedule(const trace::KernelCode& code, const LoweringSpec& spec = {},
                  const std::optional<Delays>& delays = std::nullopt);

}  // namespace raddle::lowering
