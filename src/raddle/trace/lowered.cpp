#include "raddle/trace/lowered.h"

#include <numeric>

namespace raddle::trace {

LoweredCode as_it_is(const KernelCode& code) {
  LoweredCode out{code, std::vector<std::uint32_t>(code.instructions.size() + 1)};
  std::iota(out.first.begin(), out.first.end(), 0u);
  return out;
}

}  // namespace raddle::trace
