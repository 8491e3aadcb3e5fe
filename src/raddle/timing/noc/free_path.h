// ideal.noc: every packet crosses as soon as it is here, whoever else sends to the same receiver;
// it takes the wires and no more. A packet waits only for credits of its receiver, and what came
// from its sender after it waits behind it.
//
// Ports of ports(): senders, then receivers.
#pragma once
#include <string>
#include <vector>

#include "raddle/timing/noc/network.h"

namespace raddle::timing {

class FreePath final : public Network {
 public:
  explicit FreePath(const NetworkShape& shape);

  void add_to(Engine& engine) override;
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
    bool waits = false;  // its first packet, for credits
    Cycle since = 0;     // it waits
    stats::NocPort count;
  };
  struct Receiver {
    MessageLink* link = nullptr;
    CreditLink* credit = nullptr;  // nullptr: it always accepts
    unsigned credits = 0;
    stats::NocPort count;
  };
  void pass_on(Sender& sender, Cycle now);

  std::vector<Sender> sender_;
  std::vector<Receiver> receiver_;
  unsigned waiting_ = 0;  // senders that wait
};

}  // namespace raddle::timing
