#include "raddle/lowering/lowering.h"

#include "raddle/lowering/emit.h"

namespace raddle::lowering {

trace::LoweredCode lower(const trace::KernelCode& code, const LoweringSpec& spec) {
  // A stream that was imported as machine code, or made by hand, has no operands to reason about.
  if (spec.lowering == Level::Ptx || code.register_bytes.empty()) return trace::as_it_is(code);
  return emit(Plan(code, spec.generation), spec.generation);
}

}  // namespace raddle::lowering
