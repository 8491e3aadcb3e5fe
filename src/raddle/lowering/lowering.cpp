#include "raddle/lowering/lowering.h"

#include "raddle/lowering/emit.h"

namespace raddle::lowering {

trace::LoweredCode lower(const trace::KernelCode& code, const LoweringSpec& spec) {
  // A stream that was imported as machine code, or made by hand, has no operands to reason about.
  if (code.register_bytes.empty()) return trace::as_it_is(code);
  if (spec.lowering == Level::Ptx && spec.registers == Level::Ptx) return trace::as_it_is(code);
  trace::LoweredCode machine =
      emit(Plan(code, spec.generation, spec.address_bits), spec.generation);
  if (spec.lowering == Level::Machine) return machine;
  trace::LoweredCode ptx = trace::as_it_is(code);
  ptx.code.registers_per_thread = machine.code.registers_per_thread;
  return ptx;
}

}  // namespace raddle::lowering
