// Input-queued crossbar: one FIFO per input port, round-robin arbitration per output port; a packet
// of n flits holds its output for n cycles and one of its input's `speedup` ways into the fabric.
// Head-of-line blocking (58.6 % throughput under uniform traffic; Karol, Hluchyj, Morgan 1987)
// emerges, it is not a parameter. The FIFO of an input is the arrived part of its link, so a packet
// is written once and read once. Several senders may share an input port: its FIFO then holds their
// packets in order of arrival (ties go round), each sender having its own share of it in credits;
// several receivers may share an output port. Packets are whole: an output needs room for the
// largest packet before it takes one. Left out: virtual channels, several stages.
//
// Credits of an output are taken off their link when it lacks some; only outputs that are wanted
// and lack them wait for more.
//
// Ports of ports(): inputs, then outputs.
#pragma once
#include <string>
#include <vector>

#include "raddle/base/mask.h"
#include "raddle/timing/noc/network.h"

namespace raddle::timing {

struct CrossbarShape {
  unsigned senders_per_port = 1, receivers_per_port = 1;
  unsigned speedup = 1;  ///< packets that may leave one input at once
};

/// Sets of inputs take `Words` words: 64 inputs each.
template <unsigned Words>
class Crossbar final : public Network {
 public:
  Crossbar(const NetworkShape& shape, const CrossbarShape& ports);

  void add_to(Engine& engine) override;
  Mailbox* credit_box() override { return nullptr; }
  Cycle next_arrival(Cycle from) const override;
  Cycle tick(Cycle now) override;
  bool idle() const override;
  void describe(std::string& out) const override;
  std::vector<std::string> audit() const override;
  std::vector<stats::NocPort> ports() const override;

 private:
  void attach_sender(unsigned sender, MessageLink& in, CreditLink& credit_out) override;
  void attach_receiver(unsigned receiver, MessageLink& out, CreditLink* credit_in) override;

  struct Sender {
    MessageLink* link = nullptr;
    CreditLink* credit = nullptr;
    unsigned port = 0;
  };
  struct Receiver {
    MessageLink* link = nullptr;
    unsigned port = 0;
  };
  static constexpr std::uint16_t kNone = 0xffff;
  // A port is one or two lines of the host.
  struct alignas(64) Input {
    MessageLink* link = nullptr;   // of the sender whose packet is shown
    CreditLink* credit = nullptr;  // its
    std::uint16_t sender = 0;
    std::uint16_t receiver = 0;  // where the packet goes
    std::uint16_t first = 0, turn = 0;
    std::uint16_t senders = 0;
    std::uint8_t active = 0;               // packets on their way into the fabric
    std::uint64_t shown = 0, starved = 0;  // network cycle; starved() of its output at that time
    stats::NocPort count;
  };
  struct alignas(64) Output {
    BitSet<Words> want;  // inputs whose head packet goes here
    CreditLink* credit = nullptr;
    std::uint32_t credits = 0, turn = 0;  // turn: input that is asked first
    std::uint16_t waiting = 0;            // members of `want`
    std::uint16_t source = 0;             // input it takes a packet from, while busy
    std::uint16_t next_done = kNone;      // list of outputs that become free together
    bool busy = false;
    std::uint64_t starved_since = kNever;  // wanted, without credits
    stats::NocPort count;
    std::uint64_t starved(std::uint64_t cycle) const {
      return count.blocked_credit + (starved_since < cycle ? cycle - starved_since : 0);
    }
  };
  Cycle core_at(std::uint64_t cycle) const {
    return core_clock_ ? cycle : shape_.clock.core_at(cycle);
  }
  Cycle next_event(Cycle now, std::uint64_t cycle) const;
  void consider(unsigned o);
  void finish_transfers(Cycle now, std::uint64_t cycle);
  bool has_room(Output& out, Cycle now) const;
  void starve(unsigned o, std::uint64_t cycle);
  void feed_starved(Cycle now, std::uint64_t cycle);
  void show_head(unsigned i, Cycle now, std::uint64_t cycle);
  unsigned oldest_sender(const Input& in) const;
  void transfer(Cycle now, std::uint64_t cycle, unsigned o);

  CrossbarShape ports_;
  bool core_clock_;  // network cycles are core cycles
  std::vector<Sender> sender_;
  std::vector<Receiver> receiver_;
  std::vector<Input> input_;
  std::vector<Output> output_;
  std::vector<std::uint16_t> input_of_node_;  // of those that send
  std::vector<std::uint16_t> place_of_node_;  // in receiver_, of those that receive
  unsigned inputs_;
  BitSet<Words> open_in_;               // inputs that could show a head
  std::vector<std::uint16_t> go_;       // outputs whose packet can go in the next network cycle
  unsigned going_ = 0;                  // so many of them
  std::vector<std::uint16_t> starved_;  // outputs that are wanted, without credits, in order
  std::uint16_t done_[64];  // outputs that become free in which of the next 63 cycles, as lists
  std::uint64_t done_occupied_ = 0;
};

/// One with sets as wide as it needs.
std::unique_ptr<Network> make_crossbar(const NetworkShape& shape, const CrossbarShape& ports);

}  // namespace raddle::timing
