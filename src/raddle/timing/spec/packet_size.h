// Flits of a packet: a header, and the data it carries.
#pragma once
#include <cstdint>

namespace raddle::timing {

/// Flits of a packet, at most.
inline constexpr std::uint32_t kMaxFlits = 32;

struct PacketSize {
  std::uint32_t flit_bytes, header_bytes, sector_bytes;
  /// The header of a request to the L2 is longer by so many: the rank of its core (policy/dram).
  std::uint32_t core_rank_bytes = 0;
  unsigned flits(unsigned data_bytes) const {
    return (header_bytes + data_bytes + flit_bytes - 1) / flit_bytes;
  }
  /// Of a request that carries a whole line.
  unsigned max_flits(unsigned line_bytes) const { return flits(core_rank_bytes + line_bytes); }
};

}  // namespace raddle::timing
