#include "raddle/timing/dram/controller_hops.h"

#include <algorithm>

namespace raddle::timing {

ControllerHops::ControllerHops(const ChannelSpec& channel)
    : way_(channel.ways),
      request_(channel.packet, Direction::Request),
      reply_(channel.packet, Direction::Reply) {}

Cycle ControllerHops::longest() const {
  Cycle longest = 0;
  for (const ControllerWay& way : way_) longest = std::max(longest, way.round_trip);
  return longest;
}

void ControllerHops::count(unsigned slice, std::uint8_t sectors, bool write,
                           stats::NocTraffic& traffic) const {
  if (way_.empty()) return;
  RADDLE_ASSERT(slice < way_.size());
  Message message;
  message.sectors = sectors;
  message.kind = write ? MessageKind::Write : MessageKind::Read;
  const auto add = [&](const FlitTable& table) {
    const FlitTable::Size size = table.size(message);
    ++traffic.packets;
    traffic.flits += size.flits;
    traffic.bytes += size.bytes;
    traffic.flit_hops += std::uint64_t{size.flits} * way_[slice].hops;
  };
  add(request_);
  if (!write) add(reply_);
}

}  // namespace raddle::timing
