// A launch as the SMs know it, and what dispatcher and SM tell each other about blocks.
#pragma once
#include <cstdint>

#include "raddle/policy/block/policy.h"
#include "raddle/timing/code/decoded_kernel.h"
#include "raddle/timing/wire/link.h"
#include "raddle/trace/stream.h"

namespace raddle::timing {

/// Of the dispatcher's queues in memory (kQueueBase).
inline constexpr unsigned kQueueEntryBytes = 32;

/// Lives from the launch until its last block has ended.
struct Launch {
  trace::KernelStream* stream = nullptr;
  const DecodedKernel* code = nullptr;
  std::uint64_t sequence = 0;
  std::uint8_t slot = 0;  ///< below the machine's KernelSpec::slots(); travels in messages
  TenantId tenant{};
  std::uint32_t first_line = 0;  ///< added to every line of global memory
  std::uint32_t max_on_sm = 0;   ///< blocks that an empty SM holds
  std::uint16_t l1d_ways = 0;    ///< that its shared memory leaves; 0: as always
};

/// An entry of the dispatcher's queues in memory is written, or fetched, through an SM's port.
struct QueueRequest {
  static constexpr unsigned kMaxIds = 1u << 13;  ///< they travel in tags of messages
  std::uint32_t place = 0;                       ///< of the entry
  std::uint16_t id = 0;                          ///< comes back with what was fetched
  std::uint8_t kernel = 0;                       ///< launch slot whose access that is
  bool fetch = false;
};

/// A block, or without a launch an access to a queue.
struct BlockStart {
  const Launch* launch = nullptr;
  std::uint32_t block = 0;
  std::uint8_t slot = 0;  ///< block slot of the SM
  bool flush = false;     ///< the L1D first
  QueueRequest queue;
};
/// A block has ended, or an entry of a queue has been fetched.
struct BlockEnd {
  std::uint8_t slot = 0;
  bool fetched = false;
  std::uint16_t id = 0;                 ///< QueueRequest::id
  policy::BlockProgress progress = {};  ///< if the dispatcher's policy wants that
};

/// A warp has launched kernels; told between windows, for it takes no part in the machine's wires:
/// the time at which they are with the kernel management unit is in it.
struct DeviceLaunches {
  std::uint32_t job = 0;  ///< of the launch whose warp that is
  std::uint32_t block = 0, warp = 0, count = 0;
  std::uint32_t sm = 0;
  Cycle at = 0;
};

using BlockStartLink = Link<BlockStart>;
using BlockEndLink = Link<BlockEnd>;

}  // namespace raddle::timing
