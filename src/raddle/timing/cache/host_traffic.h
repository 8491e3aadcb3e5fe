// What the host of a GPU that shares its memory reads and writes between two launches. It passes
// through the shared L2 and takes no time: the machine is idle, and the papers count the GPU's time
// alone. A read leaves its lines in the L2, fetched if they are absent; a write makes its words the
// L2's, in lines that are not fetched. Lines that lose their way for it go to DRAM, those of which
// L1s own words with these words.
//
// Left out: the host's own cache, so that it finds nothing nearer than the L2 and what it has
// written is there; the flits and the energy of its accesses.
#pragma once
#include <cstdint>
#include <functional>

#include "raddle/base/types.h"
#include "raddle/timing/wire/message.h"

namespace raddle::timing {

struct HostAccess {
  Address at = 0;
  std::uint64_t bytes = 0;
  bool write = false;
};

/// The part of it in one line.
struct HostLine {
  std::uint32_t line = 0;
  WordMask words = 0;
  bool write = false;
};

/// Line accesses and what they have led to.
struct HostCounters {
  std::uint64_t reads = 0, writes = 0;
  std::uint64_t fetches = 0;    ///< lines read from DRAM
  std::uint64_t evictions = 0;  ///< lines that lost their way
  std::uint64_t taken = 0;      ///< words that L1s have lost by a write or an eviction
};

struct HostEffects {
  HostCounters& count;
  /// An L1 no longer owns these words.
  std::function<void(unsigned sm, std::uint32_t line, WordMask words)> lose;
};

}  // namespace raddle::timing
