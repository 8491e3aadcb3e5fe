// Input-queued crossbar: one FIFO per input, round-robin arbitration per output; a packet of n
// flits holds input and output for n cycles. Head-of-line blocking (58.6 % throughput under uniform
// traffic; Karol, Hluchyj, Morgan 1987) emerges, it is not a parameter. The FIFO of an input is the
// arrived part of its link, so a packet is written once and read once. Left out: virtual channels,
// input speed-up, several stages.
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "raddle/base/mask.h"
#include "raddle/stats/counters.h"
#include "raddle/timing/gpu/machine.h"
#include "raddle/timing/link.h"
#include "raddle/timing/mem/address_map.h"
#include "raddle/timing/memory_ports.h"
#include "raddle/timing/noc/flits.h"

namespace raddle::timing {

struct CrossbarShape {
  Direction direction;  ///< Request: output = slice of the line; Reply: output = SM of the message
  unsigned inputs, outputs;  ///< 1..256 each
  unsigned credits;          ///< flits the receiver of each output can take
  Cycle latency;             ///< of the links behind the outputs and of credits, 1..32
  unsigned max_flits;        ///< largest packet, < 64 and <= credits
  PacketSize size;
};

/// The two networks of a machine.
CrossbarShape request_network(const MachineSpec& machine);
CrossbarShape reply_network(const MachineSpec& machine);
/// Capacity for SmPorts and SlicePorts: covers the credits and, where everything is accepted, a
/// window and the wire.
unsigned port_capacity(const MachineSpec& machine);

class Crossbar {
 public:
  /// `map` (Direction::Request only) must outlive the crossbar.
  explicit Crossbar(const CrossbarShape& shape, const AddressMap* map = nullptr);

  /// The sender pushes packets on `in` and posts i to box(); flits come back as credits on
  /// `credit_out`.
  void connect_input(unsigned i, MessageLink& in, CreditLink& credit_out);
  /// `credit_in` empty: the receiver always accepts. Otherwise it posts o to credit_box() with each
  /// credit.
  void connect_output(unsigned o, MessageLink& out, CreditLink* credit_in);
  Mailbox& box() { return box_; }
  Mailbox& credit_box() { return credit_box_; }

  void open_window() {}
  Cycle next_arrival(Cycle from) const { return std::min(box_.next(from), credit_box_.next(from)); }
  Cycle tick(Cycle now);
  bool idle() const;
  void describe(std::string& out) const;
  const stats::NocCounters& counters() const { return counters_; }

 private:
  struct Input {
    MessageLink* link = nullptr;
    CreditLink* credit = nullptr;
  };
  struct Output {
    SmSet want;  // inputs whose head packet goes here
    MessageLink* link = nullptr;
    CreditLink* credit = nullptr;
    std::uint32_t credits = 0, turn = 0;  // turn: input that is asked first
  };
  void finish_transfers(Cycle now);
  void take_credits(unsigned o, Cycle now);
  void show_head(unsigned i, Cycle now);
  void arbitrate(Cycle now);
  void transfer(Cycle now, unsigned i, unsigned o);
  unsigned destination(const Message& m) const {
    return map_ != nullptr ? map_->slice(m.line) : m.sm;
  }

  CrossbarShape shape_;
  const AddressMap* map_;
  FlitTable flits_;
  std::vector<Input> input_;
  std::vector<Output> output_;
  SmSet wanted_, free_out_, credit_ok_;  // over outputs
  SmSet idle_in_;                        // inputs neither sending nor showing a head
  SmSet in_done_[64], out_done_[64];     // what becomes free in which of the next 63 cycles
  std::uint64_t done_occupied_ = 0;
  Mailbox box_, credit_box_;
  stats::NocCounters counters_;
};

}  // namespace raddle::timing
