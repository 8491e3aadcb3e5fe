// What the compiler behind PTX would know: control flow, reconvergence points, live registers.
#pragma once
#include <cstdint>
#include <vector>

#include "raddle/ptx/module.h"

namespace raddle::ptx {

/// Successors of each instruction; index n (one past the last) is the exit.
std::vector<std::vector<std::uint32_t>> successors(const Function& function);

/// For each instruction where lanes that diverge there meet again: inside a basic block the next
/// instruction, else the immediate post-dominator (n = the exit) in the graph without the ways by
/// which lanes leave the function early. Code that cannot reach the exit meets at n.
std::vector<std::uint32_t> reconvergence_points(const Function& function);

/// Registers that one instruction reads (guard, address bases and call arguments included) and
/// writes. A read-modify-write destination (wgmma) is in both; a guarded write may leave the old
/// value.
struct RegisterAccess {
  std::vector<std::uint32_t> reads, writes;
};
/// Replaces the contents of `access`, so that a loop reuses its memory.
void register_access(const Function& function, const Instruction& instruction,
                     RegisterAccess& access);

/// Architectural registers, as an assembler would assign them (linear scan over live intervals,
/// Poletto and Sarkar, TOPLAS 1999). 64-bit values take two consecutive numbers; predicates live in
/// a file of their own.
struct RegisterAssignment {
  static constexpr std::uint16_t kNone = 0xffff;
  std::vector<std::uint16_t>
      number;  ///< per virtual register: first architectural register, or predicate number
  unsigned registers = 0;  ///< 32-bit registers per thread at the widest point
  unsigned predicates = 0;
};
/// Throws InputError when more than 65535 registers or predicates would be live at once.
RegisterAssignment assign_registers(const Function& function);

}  // namespace raddle::ptx
