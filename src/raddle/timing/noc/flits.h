// Size of every packet the machine can send, looked up instead of divided out.
#pragma once
#include <array>
#include <cstdint>

#include "raddle/base/error.h"
#include "raddle/timing/gpu/machine.h"
#include "raddle/timing/memory_ports.h"

namespace raddle::timing {

enum class Direction : std::uint8_t { Request, Reply };

inline PacketSize packet_size(const MachineSpec& machine) {
  return {machine.noc.flit_bytes, machine.noc.header_bytes, machine.l2.sector_bytes};
}

/// Flits and bytes (header and data, without the padding of the last flit) by kind and sectors.
class FlitTable {
 public:
  FlitTable(const PacketSize& size, Direction direction);
  unsigned flits(const Message& m) const { return flits_[index(m)]; }
  unsigned bytes(const Message& m) const { return bytes_[index(m)]; }

 private:
  static unsigned index(const Message& m) {
    return static_cast<unsigned>(m.kind) * 256u + m.sectors;
  }
  std::array<std::uint8_t, 4 * 256> flits_{};
  std::array<std::uint16_t, 4 * 256> bytes_{};
};

/// Flits of the largest packet a machine sends in that direction.
unsigned largest_packet(const MachineSpec& machine, Direction direction);

}  // namespace raddle::timing
