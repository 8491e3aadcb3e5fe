// Where the SM side and the memory side of the machine meet. Everything that crosses is one of
// these links; all of them have latency NocSpec::latency_cycles. The SM owns the links of SmPorts,
// a memory slice those of SlicePorts, and whoever assembles the machine connects them to the two
// crossbars.
#pragma once
#include <algorithm>

#include "raddle/timing/wire/flits.h"
#include "raddle/timing/wire/link.h"
#include "raddle/timing/wire/message.h"

namespace raddle::timing {

using MessageLink = Link<Message>;

/// Capacity for SmPorts and SlicePorts: covers the credits and, where everything is accepted, the
/// packets that arrive in a window and on a wire, at one a network cycle (of an ideal network one
/// of each sender).
inline unsigned port_capacity(const PortSpec& port) {
  const auto two_wires = static_cast<unsigned>(network_clock(port).other_at(2 * port.latency)) + 1;
  return std::max(port.queue_flits, two_wires * std::max(port.senders, 1u) + port.largest_packet);
}

/// One SM's side of the networks.
struct SmPorts {
  explicit SmPorts(unsigned capacity) : to_noc(capacity), from_noc(capacity), credit_in(capacity) {}
  MessageLink to_noc;    ///< requests; the SM spends credits (flits) of the crossbar's input queue
  MessageLink from_noc;  ///< replies; always accepted
  CreditLink credit_in;  ///< credits coming back
  Mailbox* noc_box = nullptr;  ///< post(arrival, node of the SM) with every push on to_noc
};

/// The second way out of an SM whose L1 answers others, into the reply network (DeNovo).
struct AnswerPorts {
  explicit AnswerPorts(unsigned capacity) : to_noc(capacity), credit_in(capacity) {}
  MessageLink to_noc;          ///< answers to other SMs and to slices
  CreditLink credit_in;        ///< of the reply network's input queue, coming back
  Mailbox* noc_box = nullptr;  ///< post(arrival, node of the SM) with every push on to_noc
};

/// One L2 slice's side of the networks.
struct SlicePorts {
  /// `answers`: places of the second way in; at least 1.
  explicit SlicePorts(unsigned capacity, unsigned answers = 1)
      : from_noc(capacity),
        to_noc(capacity),
        credit_out(capacity),
        credit_in(capacity),
        answers(answers) {}
  MessageLink
      from_noc;  ///< requests; the slice returns their flits as credits when it has taken them
  MessageLink to_noc;     ///< replies; the slice spends credits of the reply crossbar's input queue
  CreditLink credit_out;  ///< to the request crossbar
  CreditLink credit_in;   ///< from the reply crossbar
  Mailbox* noc_box = nullptr;         ///< of the reply network: post(arrival, node) with every push
  Mailbox* noc_credit_box = nullptr;  ///< of the request network, if it has one: with every push
                                      ///< on credit_out
  MessageLink answers;                ///< DeNovo: of SMs, from the reply network; always accepted
};

}  // namespace raddle::timing
