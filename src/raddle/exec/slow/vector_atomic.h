// Atomic additions, minima and maxima of vectors in global memory (PTX ISA 9.0, 9.7.13.6, sm_90).
#pragma once
#include <vector>

#include "raddle/exec/slow/slow_access.h"

namespace raddle::exec {

/// Each element is atomic by itself; the whole is not.
class VectorAtomic final : public SlowInstruction {
 public:
  SlowAddress address;
  std::uint32_t what = 0;  ///< AtomOp and AtomType as in O_atom's aux
  unsigned size = 0;       ///< bytes of an element
  std::vector<std::uint32_t> operands, results;
  void run(const SlowRun& run) const override;
};

}  // namespace raddle::exec
