// Numbers of what the networks connect: the machine's SMs, then its L2 slices, then its memory
// controllers, whatever the topology. A packet names its destination by this number, so a network
// carries it from any of them to any other that is wired to it.
#pragma once
#include <cstdint>

#include "raddle/base/error.h"

namespace raddle::timing {

/// An endpoint of the networks.
enum class NodeId : std::uint16_t {};

enum class NodeKind : std::uint8_t { Sm, Slice, Controller };

/// How many endpoints of each kind there are, and so which number is whose.
struct Endpoints {
  unsigned sms = 0, slices = 0, controllers = 0;

  constexpr unsigned count() const { return sms + slices + controllers; }
  /// SMs come first: the same on every machine.
  static constexpr NodeId sm(unsigned number) { return static_cast<NodeId>(number); }
  constexpr NodeId slice(unsigned number) const { return static_cast<NodeId>(sms + number); }
  constexpr NodeId controller(unsigned number) const {
    return static_cast<NodeId>(sms + slices + number);
  }
  NodeKind kind(NodeId node) const {
    const auto at = static_cast<unsigned>(node);
    RADDLE_ASSERT(at < count());
    if (at < sms) return NodeKind::Sm;
    return at < sms + slices ? NodeKind::Slice : NodeKind::Controller;
  }
  /// The endpoint's number among those of its kind.
  unsigned number(NodeId node) const {
    const auto at = static_cast<unsigned>(node);
    switch (kind(node)) {
      case NodeKind::Sm:
        return at;
      case NodeKind::Slice:
        return at - sms;
      case NodeKind::Controller:
        break;
    }
    return at - sms - slices;
  }
};

}  // namespace raddle::timing
