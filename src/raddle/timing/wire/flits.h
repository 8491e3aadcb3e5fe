// Size of every packet the machine can send, looked up instead of divided out but for segments of
// transfers, and how fast a sender hands packets to a network.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "raddle/base/error.h"
#include "raddle/timing/spec/parts.h"
#include "raddle/timing/wire/clock.h"
#include "raddle/timing/wire/message.h"

namespace raddle::timing {

enum class Direction : std::uint8_t { Request, Reply };

inline PacketSize packet_size(const PortSpec& port) { return port.packet; }

/// Flits and bytes (header and data, without the padding of the last flit) by the data a packet
/// carries: sectors, or under DeNovo words.
class FlitTable {
 public:
  FlitTable(const PacketSize& size, Direction direction);
  struct Size {
    std::uint8_t flits;
    std::uint16_t bytes;
  };
  [[gnu::always_inline]] Size size(const Message& m) const {
    if (m.words != 0) [[unlikely]]
      return size_of_words(m);
    const auto kind = static_cast<unsigned>(m.kind);
    return size_[static_cast<unsigned>(
        std::popcount(static_cast<unsigned>(m.sectors & sectors_[kind])))];
  }
  unsigned flits(const Message& m) const { return size(m).flits; }

 private:
  static constexpr unsigned kSectors = 9, kWords = 17;
  Size size_of_words(const Message& m) const;

  PacketSize packet_;
  std::array<std::uint8_t, kMessageKinds> sectors_{};  // by kind: all or none are carried
  std::array<WordMask, kMessageKinds> words_{};
  std::array<Size, kSectors + kWords> size_{};
};

/// Network cycles against core cycles.
inline ClockRatio network_clock(const PortSpec& port) { return {port.network_mhz, port.core_mhz}; }

/// A sender's wire into a network: one flit per network cycle.
class PortPace {
 public:
  explicit PortPace(const PortSpec& port) : clock_(network_clock(port)) {}
  /// A packet of so many flits starts in core cycle `now`; returns the core cycle in which the next
  /// may.
  Cycle send(Cycle now, unsigned flits) {
    free_ = std::max(free_, clock_.first_from(now)) + flits;
    return clock_.core_at(free_);
  }

 private:
  ClockRatio clock_;
  std::uint64_t free_ = 0;  // network cycle
};

}  // namespace raddle::timing
