// Operands and jumps of an instruction as lowering wants to know them (trace::Operand).
#pragma once
#include "raddle/ptx/module.h"
#include "raddle/trace/code.h"

namespace raddle::exec {

/// Where a function's registers and instructions begin in the kernel's numbering.
struct FunctionBase {
  std::uint32_t registers = 0, instructions = 0;
};
/// Fills operands, jumps and next of `out` for instruction `index`.
void describe_operands(const ptx::Function& function, std::uint32_t index, FunctionBase base,
                       trace::StaticInst& out);

}  // namespace raddle::exec
