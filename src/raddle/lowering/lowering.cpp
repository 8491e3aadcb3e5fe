#include "raddle/lowering/lowering.h"

#include <algorithm>
#include <tuple>

#include "raddle/lowering/emit.h"
#include "raddle/lowering/liveness.h"

namespace raddle::lowering {

namespace {
/// Machine code and registers as `spec` has them; machine code comes with what lives.
trace::LoweredCode lower_without_bound(const trace::KernelCode& code, const LoweringSpec& spec,
                                       bool wants_live) {
  // A stream that was imported as machine code, or made by hand, has no operands to reason about.
  if (code.register_bytes.empty()) return trace::as_it_is(code);
  const bool machine_code = spec.lowering == Level::Machine;
  trace::LoweredCode ptx;
  if (!machine_code) {
    ptx = trace::as_it_is(code);
    if (wants_live) ptx.live = live_in_ptx(code);
    if (spec.registers != Registers::Machine) return ptx;
  }
  trace::LoweredCode machine = emit(Plan(code, spec.generation, spec.address_bits), spec.generation,
                                    wants_live && machine_code);
  if (machine_code) return machine;
  ptx.code.registers_per_thread = machine.code.registers_per_thread;
  return ptx;
}

/// That an SM holds (CUDA C++ Programming Guide, "Compute Capabilities", technical specifications).
std::uint32_t threads_per_sm(std::uint32_t capability) {
  switch (capability) {
    case 75:
      return 1024;
    case 86:
    case 87:
    case 88:
    case 89:
    case 120:
    case 121:
      return 1536;
    default:
      return capability < 30 ? 1536 : 2048;
  }
}

/// Of the GPU most like the machine: whose SMs hold as many threads, since the assembler gives a
/// thread no more registers than leave room for all; then as PTX is chosen (fatbin::choose), the
/// highest compute capability that is not above the machine's, else the lowest. 0: unknown.
std::uint32_t compiled_registers(const trace::KernelCode& code, std::uint32_t capability) {
  const auto rank = [&](const auto& known) {
    const std::uint32_t gpu = known.first;
    return std::tuple(threads_per_sm(gpu) != threads_per_sm(capability), gpu > capability,
                      gpu > capability ? gpu - capability : capability - gpu);
  };
  const auto best = std::ranges::min_element(code.compiled_registers, {}, rank);
  return best == code.compiled_registers.end() ? 0 : best->second;
}
}  // namespace

trace::LoweredCode lower(const trace::KernelCode& code, const LoweringSpec& spec, bool wants_live) {
  trace::LoweredCode out = lower_without_bound(code, spec, wants_live);
  if (spec.registers == Registers::Compiled) {
    const std::uint32_t known = compiled_registers(code, spec.compute_capability);
    // Else those of PTX, which keep to what the program's directives leave.
    out.code.registers_per_thread = known != 0 ? known : code.registers_per_thread;
  }
  // PTX keeps in registers what the machine, whose registers these may be, has as constants; and
  // what is read without ever having been written has no register of its own.
  for (std::uint32_t& live : out.live) live = std::min(live, out.code.registers_per_thread);
  return out;
}

}  // namespace raddle::lowering
