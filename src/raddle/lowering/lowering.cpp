#include "raddle/lowering/lowering.h"

#include <algorithm>

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
    if (spec.registers == Level::Ptx) return ptx;
  }
  trace::LoweredCode machine = emit(Plan(code, spec.generation, spec.address_bits), spec.generation,
                                    wants_live && machine_code);
  if (machine_code) return machine;
  ptx.code.registers_per_thread = machine.code.registers_per_thread;
  return ptx;
}
}  // namespace

trace::LoweredCode lower(const trace::KernelCode& code, const LoweringSpec& spec, bool wants_live) {
  trace::LoweredCode out = lower_without_bound(code, spec, wants_live);
  // PTX keeps in registers what the machine, whose registers these may be, has as constants; and
  // what is read without ever having been written has no register of its own.
  for (std::uint32_t& live : out.live) live = std::min(live, out.code.registers_per_thread);
  return out;
}

}  // namespace raddle::lowering
