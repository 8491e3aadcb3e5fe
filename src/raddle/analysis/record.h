// One event at an SM's L1D as 16 bytes: the trace record of the paper's stand-alone cache simulator
// (CCWS, section 4; SAGCS there). A trace holds them in the order in which the cache served them;
// an access that was refused stands where it succeeded.
#pragma once
#include <cstdint>

#include "raddle/base/types.h"

namespace raddle::analysis {

/// An access, or a mark between accesses.
struct Record {
  enum class Kind : std::uint8_t {
    Load,
    Store,
    Atomic,
    WarpStart,    ///< slot `warp` is warp `line` of block `lanes` from now on
    KernelStart,  ///< launch slot `kernel` is launch number line + lanes * 2^32 from now on
    Flush,        ///< the cache was emptied: a kernel starts
    Resize,       ///< emptied, and of `line` sets of `lanes` ways from now on
    Gap,          ///< line + lanes * 2^32 cycles without an event; `since` is too narrow
  };
  std::uint32_t line;         ///< address / line size of the machine
  LaneMask lanes;             ///< that touch the line
  std::uint32_t inst : 24;    ///< index in the kernel's code: the PC
  std::uint32_t kernel : 8;   ///< launch slot
  std::uint32_t since : 11;   ///< cycles after the record before
  std::uint32_t warp : 6;     ///< slot of the SM
  std::uint32_t sectors : 8;  ///< load: wanted; store: what the cache keeps of what is written
  std::uint32_t code : 3;     ///< see kind()
  std::uint32_t local : 1;    ///< local memory
  std::uint32_t bypass : 1;   ///< the instruction asks to go past the cache
  std::uint32_t coming : 1;   ///< store: the line was on its way
  std::uint32_t : 1;
  Kind kind() const { return static_cast<Kind>(code); }
  std::uint64_t wide() const { return line | std::uint64_t{lanes} << 32; }
};
static_assert(sizeof(Record) == 16);
inline constexpr Cycle kMaxSince = (1u << 11) - 1;

}  // namespace raddle::analysis
