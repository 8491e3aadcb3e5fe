// The order in which an assembler leaves the instructions of a basic block, and the loads of shared
// memory that it makes one. Nothing moves between blocks. Rules and where they were learned:
// docs/lowering.md, "Order".
//
// A block's instructions keep what they depend on before them: registers as PTX names them, memory
// of the same kind unless two accesses have the same base register and do not overlap, everything
// in memory at barriers, fences, atomics and launches. Among what is free to go, loads and what
// their addresses need go first, as long as not too many loaded words wait for their use.
#pragma once
#include <cstdint>
#include <vector>

#include "raddle/trace/code.h"

namespace raddle::lowering {

struct Schedule {
  trace::KernelCode code;  ///< reordered; instructions that became part of another one are missing
  std::vector<std::uint32_t> place;  ///< by instruction of the original: in `code`
  std::vector<bool> joined;          ///< ... it became part of the one at its place
  std::vector<std::uint32_t> block;  ///< ... its basic block
  std::vector<std::uint32_t> begin;  ///< by block: place of its first instruction, and the end
  std::vector<std::uint32_t> first;  ///< by block: its first instruction, and the end
  std::vector<bool> as_written;      ///< by block: its order is the original's
  bool is_identity = true;
};

/// Loaded words that may wait for their use: of global or local memory, of shared memory.
inline constexpr unsigned kGlobalWordsAhead = 16, kSharedWordsAhead = 16;

Schedule schedule(const trace::KernelCode& code);

}  // namespace raddle::lowering
