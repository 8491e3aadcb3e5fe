// Instruction cache of an SM or of a scheduler. It holds whole lines of instructions. Going over to
// another line, in sequence or by a jump, asks for it; a line that is missing comes
// `miss_latency_cycles` later for all warps that wait for it. A launch finds none of its lines.
// Source of the shape: the L0 and L1 instruction caches of Volta's sub-partitions and SMs (NVIDIA,
// "Tesla V100 GPU Architecture", 2017). Left out: arbitration between the warps that fetch (a
// scheduler fetches as much as it issues), prefetching, the way to the next level (a fixed time, no
// requests).
#pragma once
#include <cstdint>
#include <vector>

#include "raddle/base/types.h"
#include "raddle/timing/cache/tags.h"
#include "raddle/timing/spec/sm_spec.h"

namespace raddle::timing {

class InstructionCache {
 public:
  explicit InstructionCache(const FetchSpec& spec)
      : sets_(spec.cache_sets()),
        instructions_per_line_(spec.cache_line_bytes / spec.instruction_bytes),
        miss_latency_(spec.miss_latency_cycles),
        tags_(sets_, spec.cache_ways),
        there_(tags_.handles()) {}

  bool same_line(std::uint32_t a, std::uint32_t b) const {
    return a / instructions_per_line_ == b / instructions_per_line_;
  }
  /// The cycle from which the line of machine instruction `inst` is there; asks for it if it is
  /// missing.
  Cycle ready(Cycle now, std::uint64_t launch, std::uint32_t inst) {
    std::uint32_t place = inst / instructions_per_line_;
    // Lines of one launch are below 2^18; launches 2^14 apart may take each other's for theirs.
    auto line = static_cast<std::uint32_t>(launch << 18 | place);
    unsigned set = place % sets_, at = tags_.find(set, line);
    if (at == Tags::kAbsent) {
      tags_.fill(set, line, 1, 0);
      at = tags_.find(set, line);
      there_[at] = now + miss_latency_;
    } else {
      tags_.touch(at);
    }
    return there_[at] > now ? there_[at] : now;
  }

 private:
  unsigned sets_, instructions_per_line_;
  Cycle miss_latency_;
  Tags tags_;
  std::vector<Cycle> there_;  // by handle of the tag
};

}  // namespace raddle::timing
