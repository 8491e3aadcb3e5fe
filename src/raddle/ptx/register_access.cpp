// Which registers an instruction reads and writes. PTX names the destination first, where there is
// one.
#include <algorithm>
#include <array>

#include "raddle/base/error.h"
#include "raddle/ptx/analysis.h"

namespace raddle::ptx {
namespace {

using Kind = Operand::Kind;

// Opcodes whose first operand may be a register, yet is read. Those that begin with an address (st,
// red, cp.async, ...) need no mention: an address is always read.
constexpr std::array<std::string_view, 11> kWithoutDestination = {
    "bar",        "barrier",      "bra",     "brx",      "nanosleep", "pmevent",
    "setmaxnreg", "stackrestore", "discard", "prefetch", "exit",
};

bool has_destination(const Instruction& instruction) {
  const std::string_view opcode = instruction.opcode;
  if ((opcode == "bar" || opcode == "barrier") && instruction.has("red")) return true;
  if (opcode == "tcgen05") return !instruction.has("dealloc");
  return std::find(kWithoutDestination.begin(), kWithoutDestination.end(), opcode) ==
         kWithoutDestination.end();
}

void add_read(const Operand& operand, std::vector<std::uint32_t>& reads) {
  if (operand.reg != kNoIndex) reads.push_back(operand.reg);
  if (operand.reg2 != kNoIndex) reads.push_back(operand.reg2);
  for (const Operand& element : operand.elements) add_read(element, reads);
}

void add_write(const Operand& operand, RegisterAccess& access) {
  if (operand.kind == Kind::Address) return add_read(operand, access.reads);
  if (operand.reg != kNoIndex) access.writes.push_back(operand.reg);
  if (operand.reg2 != kNoIndex) access.writes.push_back(operand.reg2);
  for (const Operand& element : operand.elements) add_write(element, access);
}

}  // namespace

void register_access(const Function& function, const Instruction& instruction,
                     RegisterAccess& access) {
  access.reads.clear();
  access.writes.clear();
  if (instruction.guard != kNoIndex) access.reads.push_back(instruction.guard);
  if (instruction.call != kNoIndex) {
    RADDLE_ASSERT(instruction.call < function.calls.size());
    const Call& call = function.calls[instruction.call];
    add_read(call.callee, access.reads);
    for (const Operand& argument : call.arguments) add_read(argument, access.reads);
    for (const Operand& result : call.returns) add_write(result, access);
    return;
  }
  std::size_t first_read = 0;
  if (!instruction.operands.empty() && has_destination(instruction)) {
    add_write(instruction.operands[0], access);
    first_read = instruction.opcode == "wgmma" ? 0 : 1;  // the accumulator is read too
  }
  for (std::size_t i = first_read; i < instruction.operands.size(); ++i)
    add_read(instruction.operands[i], access.reads);
}

}  // namespace raddle::ptx
