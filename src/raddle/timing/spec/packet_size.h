// Flits of a packet: a header, and the data it carries.
#pragma once
#include <cstdint>

namespace raddle::timing {

/// Flits of a packet, at most.
inline constexpr std::uint32_t kMostFlits = 32;

struct PacketSize {
  std::uint32_t flit_bytes, header_bytes, sector_bytes;
  unsigned flits(unsigned data_bytes) const {
    return (header_bytes + data_bytes + flit_bytes - 1) / flit_bytes;
  }
};

}  // namespace raddle::timing
