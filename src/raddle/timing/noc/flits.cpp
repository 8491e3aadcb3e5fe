#include "raddle/timing/noc/flits.h"

#include <bit>

namespace raddle::timing {

FlitTable::FlitTable(const PacketSize& size, Direction direction) {
  for (unsigned kind = 0; kind < 4; ++kind) {
    for (unsigned sectors = 0; sectors < 256; ++sectors) {
      Message m;
      m.kind = static_cast<MessageKind>(kind);
      m.sectors = static_cast<std::uint8_t>(sectors);
      unsigned flits = direction == Direction::Request ? size.request(m) : size.reply(m);
      bool data = direction == Direction::Request
                      ? m.kind != MessageKind::Read
                      : m.kind == MessageKind::Read || m.kind == MessageKind::Atomic;
      unsigned payload =
          data ? size.sector_bytes * static_cast<unsigned>(std::popcount(sectors)) : 0;
      // A line never has more sectors than fit; entries beyond are not looked up.
      flits_[index(m)] = static_cast<std::uint8_t>(std::min(flits, 255u));
      bytes_[index(m)] = static_cast<std::uint16_t>(size.header_bytes + payload);
    }
  }
}

unsigned largest_packet(const MachineSpec& machine, Direction direction) {
  Message m;
  m.kind = direction == Direction::Request ? MessageKind::Write : MessageKind::Read;
  m.sectors =
      static_cast<std::uint8_t>((1u << machine.l2.line_bytes / machine.l2.sector_bytes) - 1);
  PacketSize size = packet_size(machine);
  return direction == Direction::Request ? size.request(m) : size.reply(m);
}

}  // namespace raddle::timing
