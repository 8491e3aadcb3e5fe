// What the compiler behind PTX would know: control flow, reconvergence points, live registers.
#pragma once
#include <cstdint>
#include <vector>

#include "raddle/ptx/module.h"

namespace raddle::ptx {

/// Successors of each instruction; index n (one past the last) is the exit.
std::vector<std::vector<std::uint32_t>> successors(const Function& function);

/// For each instruction the first instruction of its immediate post-dominator (n = the exit), where
/// divergent branches reconverge. Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm" on
/// the reversed basic-block graph; code that cannot reach the exit reconverges at n.
std::vector<std::uint32_t> reconvergence_points(const Function& function);

/// Architectural registers, as an assembler would assign them (linear scan over live intervals,
/// Poletto and Sarkar, TOPLAS 1999). 64-bit values take two consecutive numbers; predicates live in
/// a file of their own.
struct RegisterAssignment {
  static constexpr std::uint16_t kNone = 0xffff;
  std::vector<std::uint16_t> number;   ///< per virtual register: first architectural register, or predicate number
  unsigned registers = 0;              ///< 32-bit registers per thread at the widest point
  unsigned predicates = 0;
};
RegisterAssignment assign_registers(const Function& function);

}  // namespace raddle::ptx
