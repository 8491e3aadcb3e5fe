// libFuzzer: any bytes as a PTX module; what parses goes through every analysis. InputError is the
// only way out.
#include <cstddef>
#include <cstdint>
#include <string>

#include "raddle/base/error.h"
#include "raddle/ptx/analysis.h"

namespace {

// Inputs are small: a long analysis of one would be a fault of its own, found by the fuzzer's
// timeout.
void analyse(const raddle::ptx::Function& function) {
  const std::size_t n = function.instructions.size();
  const auto points = raddle::ptx::reconvergence_points(function);
  RADDLE_ASSERT(points.size() == n);
  for (std::uint32_t point : points) RADDLE_ASSERT(point <= n);
  for (const auto& next : raddle::ptx::successors(function))
    for (std::uint32_t index : next) RADDLE_ASSERT(index <= n);
  const auto assignment = raddle::ptx::assign_registers(function);
  RADDLE_ASSERT(assignment.number.size() == function.registers.size());
  for (const auto& instruction : function.instructions)
    RADDLE_ASSERT(instruction.text().substr(0, instruction.opcode.size()) == instruction.opcode);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const raddle::ptx::Module module =
        raddle::ptx::parse(std::string(reinterpret_cast<const char*>(data), size), "fuzz.ptx");
    for (const raddle::ptx::Function& function : module.functions) analyse(function);
  } catch (const raddle::InputError& error) {
    RADDLE_ASSERT(!error.diagnostics().empty());
  }
  return 0;
}
