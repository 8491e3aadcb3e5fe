// What travels between SMs and memory: small values, no owner, nothing to free.
#pragma once
#include <bit>
#include <cstdint>

#include "raddle/base/types.h"

namespace raddle::timing {

enum class MessageKind : std::uint8_t { Read, Write, Atomic, Reduce };

/// A request on its way to an L2 slice, and the same value on its way back as the reply. Writes and
/// reductions are acknowledged (no data) so that fences can wait for them.
struct Message {
  std::uint32_t line = 0;    ///< address / machine line size
  std::uint16_t sm = 0;      ///< requester
  std::uint16_t tag = 0;     ///< requester's own handle; comes back unchanged
  std::uint8_t sectors = 0;  ///< sectors asked for, written, or delivered
  MessageKind kind = MessageKind::Read;
  std::uint8_t lanes = 0;          ///< lanes of an atomic or reduction
  std::uint8_t kernel = 0;         ///< launch slot, for per-kernel statistics and policies
  std::uint8_t dram_accesses = 0;  ///< replies: accesses to DRAM the request has caused, 0, 1 or 2
  std::uint8_t reserved[3] = {};   ///< for coherence
};
static_assert(sizeof(Message) == 16);

}  // namespace raddle::timing
