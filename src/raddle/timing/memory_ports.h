// Where the SM side and the memory side of the machine meet. Everything that crosses is one of
// these links; all of them have latency NocSpec::latency_cycles. The SM owns the links of SmPorts,
// a memory slice those of SlicePorts, and whoever assembles the machine connects them to the two
// crossbars.
#pragma once
#include "raddle/timing/link.h"
#include "raddle/timing/message.h"

namespace raddle::timing {

using MessageLink = Link<Message>;

/// One SM's side of the networks.
struct SmPorts {
  explicit SmPorts(unsigned capacity) : to_noc(capacity), from_noc(capacity), credit_in(capacity) {}
  MessageLink to_noc;    ///< requests; the SM spends credits (flits) of the crossbar's input queue
  MessageLink from_noc;  ///< replies; always accepted
  CreditLink credit_in;  ///< credits coming back
  Mailbox* noc_box = nullptr;  ///< post(arrival, sm) with every push on to_noc
};

/// One L2 slice's side of the networks.
struct SlicePorts {
  explicit SlicePorts(unsigned capacity)
      : from_noc(capacity), to_noc(capacity), credit_out(capacity), credit_in(capacity) {}
  MessageLink
      from_noc;  ///< requests; the slice returns their flits as credits when it has taken them
  MessageLink to_noc;     ///< replies; the slice spends credits of the reply crossbar's input queue
  CreditLink credit_out;  ///< to the request crossbar
  CreditLink credit_in;   ///< from the reply crossbar
  Mailbox* noc_box = nullptr;         ///< reply crossbar: post with every push on to_noc
  Mailbox* noc_credit_box = nullptr;  ///< request crossbar: post with every push on credit_out
};

/// Flits of a packet: header, plus data for writes and atomics (requests) or reads and atomics
/// (replies).
struct PacketSize {
  std::uint32_t flit_bytes, header_bytes, sector_bytes;
  unsigned flits(unsigned data_bytes) const {
    return (header_bytes + data_bytes + flit_bytes - 1) / flit_bytes;
  }
  unsigned request(const Message& m) const {
    return flits(m.kind == MessageKind::Read
                     ? 0
                     : sector_bytes * static_cast<unsigned>(std::popcount(m.sectors)));
  }
  unsigned reply(const Message& m) const {
    bool data = m.kind == MessageKind::Read || m.kind == MessageKind::Atomic;
    return flits(data ? sector_bytes * static_cast<unsigned>(std::popcount(m.sectors)) : 0);
  }
};

}  // namespace raddle::timing
