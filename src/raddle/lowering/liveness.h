// How many registers of a thread hold what it reads later, before each instruction: classic
// backward liveness over basic blocks. A thread is what it holds of, not a warp: the registers of
// lanes that wait at another instruction are those that live there.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "raddle/trace/code.h"

namespace raddle::lowering {

/// An instruction, as liveness sees it.
struct LiveStep {
  std::vector<std::uint32_t> reads, writes;  ///< registers of 32 bits, or predicates
  bool guarded = false;                      ///< what it writes may stay as it was
  bool jumps = false;                        ///< what follows is in `next`, else the one behind it
  std::vector<std::uint32_t> next = {};
};

/// Of those registers that are counted, how many live before each step.
std::vector<std::uint32_t> count_live(std::span<const LiveStep> steps,
                                      const std::vector<bool>& counted);

/// Of 32 bits, before each PTX instruction. Empty where it is not known: code without operands, and
/// kernels that call functions, in which what lives depends on the caller.
std::vector<std::uint32_t> live_in_ptx(const trace::KernelCode& code);

/// Instructions without those at the end that stand for others in another address space.
std::uint32_t size_without_aliases(const trace::KernelCode& code);
/// By instruction, without those: the number of its basic block.
std::vector<std::uint32_t> basic_blocks(const trace::KernelCode& code);
/// Does a kernel call functions of its own?
bool calls_functions(const trace::KernelCode& code);

}  // namespace raddle::lowering
