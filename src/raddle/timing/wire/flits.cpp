#include "raddle/timing/wire/flits.h"

namespace raddle::timing {

FlitTable::FlitTable(const PacketSize& size, Direction direction) : packet_(size) {
  const bool request = direction == Direction::Request;
  auto carries = [&](MessageKind kind) {
    sectors_[static_cast<unsigned>(kind)] = 0xff;
    words_[static_cast<unsigned>(kind)] = 0xffff;
  };
  if (request)
    for (MessageKind kind :
         {MessageKind::Write, MessageKind::Atomic, MessageKind::Reduce, MessageKind::WriteBack})
      carries(kind);
  else
    for (MessageKind kind : {MessageKind::Read, MessageKind::Atomic, MessageKind::Owned,
                             MessageKind::Remote, MessageKind::Recalled})
      carries(kind);
  const std::uint32_t rank_bytes = request ? size.core_rank_bytes : 0;
  for (unsigned n = 0; n < size_.size(); ++n) {
    const unsigned payload = n < kSectors ? size.sector_bytes * n : 4 * (n - kSectors);
    // A line never has more sectors than fit; entries beyond are not looked up.
    size_[n] = {static_cast<std::uint8_t>(std::min(size.flits(rank_bytes + payload), 255u)),
                static_cast<std::uint16_t>(size.header_bytes + rank_bytes + payload)};
  }
}

/// Of what carries words of a line, or a segment's bytes. Segments are no requests: no memory
/// controller sees them, so their headers have no rank.
FlitTable::Size FlitTable::size_of_words(const Message& m) const {
  if (m.kind == MessageKind::Transfer)
    return {static_cast<std::uint8_t>(packet_.flits(m.words)),
            static_cast<std::uint16_t>(packet_.header_bytes + m.words)};
  const unsigned carried = m.words & words_[static_cast<unsigned>(m.kind)];
  return size_[kSectors + static_cast<unsigned>(std::popcount(carried))];
}

}  // namespace raddle::timing
