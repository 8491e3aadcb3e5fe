// Atomics wider than a word (PTX ISA 9.0, 9.7.13.6, sm_90): additions, minima and maxima of vectors
// in global memory; comparisons and exchanges of 128 bits.
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

/// cas and exch of 16 bytes, which are atomic together. Registers as FrameLayout::kUpperHalf says.
class WideAtomic final : public SlowInstruction {
 public:
  SlowAddress address;
  bool compares = false;
  std::uint32_t expected = 0, desired = 0, result = 0;
  void run(const SlowRun& run) const override;
};

/// to[i] = op(to[i], from[i]) for the elements of `bytes` bytes; `what` is AtomOp and AtomType as
/// in O_atom's aux, `size` the bytes of an element.
void reduce_in_memory(std::uint32_t what, unsigned size, char* to, const char* from,
                      std::uint64_t bytes);

}  // namespace raddle::exec
