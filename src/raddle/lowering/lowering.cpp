#include "raddle/lowering/lowering.h"

namespace raddle::lowering {

trace::LoweredCode lower(const trace::KernelCode& code, const LoweringSpec&) {
  return trace::as_it_is(code);
}

}  // namespace raddle::lowering
