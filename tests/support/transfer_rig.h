// Nodes that send transfers over a network and take them in: each a sender with the pace and the
// credits of a port, and a receiver. Payloads are numbers.
#pragma once
#include <memory>
#include <vector>

#include "raddle/timing/wire/transfer.h"
#include "support/network_rig.h"

namespace raddle::test {

class TransferRig {
 public:
  using Payload = std::uint64_t;
  using Sender = TransferSender<Payload>;
  struct Arrived {
    Cycle at;
    unsigned from, to;
    Payload payload;
    bool operator==(const Arrived&) const = default;
  };

  /// Every node of 0 to nodes - 1 is a sender and a receiver of `network`.
  TransferRig(NetworkRig network, unsigned nodes, const Segmentation& cut, unsigned handles = 64)
      : flits_({32, 8, 32}, Direction::Reply), network_(std::move(network)), queue_(nodes) {
    for (unsigned i = 0; i < nodes; ++i) {
      sender_.push_back(std::make_unique<Sender>(static_cast<NodeId>(i), cut, handles, kWire));
      directory_.push_back(sender_.back().get());
    }
    for (unsigned i = 0; i < nodes; ++i) receiver_.emplace_back(directory_);
  }

  Sender& sender(unsigned node) { return *sender_[node]; }
  const TransferReceiver<Payload>& receiver(unsigned node) const { return receiver_[node]; }
  /// A packet that is not part of a transfer, for background traffic; it leaves before segments.
  void background(unsigned from, unsigned to, unsigned sectors) {
    Message m = message(MessageKind::Read, 0, static_cast<std::uint8_t>((1u << sectors) - 1));
    m.to = static_cast<NodeId>(to);
    queue_[from].push_back(m);
  }
  /// Credits of each sender's queue.
  static constexpr unsigned kCredits = 64;

  void run(Cycle from, Cycle to) {
    for (Cycle t = from; t < to; ++t) {
      for (unsigned i = 0; i < sender_.size(); ++i) send(i, t);
      network_.run(t, t + 1);
      for (unsigned i = 0; i < sender_.size(); ++i) receive(i, t);
    }
  }
  bool idle() const {
    for (unsigned i = 0; i < sender_.size(); ++i)
      if (!sender_[i]->empty() || receiver_[i].under_way() != 0) return false;
    return true;
  }
  TransferCounters sent() const {
    return sum([](const Sender& s) { return s.counters(); });
  }
  TransferCounters received() const {
    TransferCounters all;
    for (const auto& r : receiver_) add(all, r.counters());
    return all;
  }
  Network& network() { return *network_; }

  std::vector<Arrived> arrived;
  std::uint64_t other_packets = 0;

 private:
  static void add(TransferCounters& all, const TransferCounters& c) {
    all.transfers += c.transfers;
    all.segments += c.segments;
    all.bytes += c.bytes;
  }
  template <class Of>
  TransferCounters sum(Of of) const {
    TransferCounters all;
    for (const auto& s : sender_) add(all, of(*s));
    return all;
  }
  void send(unsigned node, Cycle now) {
    used_.resize(sender_.size(), 0);
    free_.resize(sender_.size(), 0);
    used_[node] -= take_credits_of(*network_.credit[node], now);
    const bool other = !queue_[node].empty();
    if (free_[node] > now || (!other && sender_[node]->empty())) return;
    const Message m = other ? queue_[node].front() : sender_[node]->front();
    const unsigned flits = flits_.flits(m);
    if (used_[node] + flits > kCredits) return;
    used_[node] += flits;
    free_[node] = now + flits;
    network_.push(node, now + kWire, m);
    if (other) queue_[node].erase(queue_[node].begin());
    else sender_[node]->pop();
  }
  void receive(unsigned node, Cycle now) {
    for (MessageLink& in = *network_.out[node]; in.next_arrival() <= now; in.pop()) {
      if (in.front().kind != MessageKind::Transfer) {
        ++other_packets;
        continue;
      }
      receiver_[node].arrive(now, in.front(), [&](NodeId from, Payload payload) {
        arrived.push_back({now, static_cast<unsigned>(from), node, payload});
      });
    }
  }

  FlitTable flits_;
  NetworkRig network_;
  std::vector<std::unique_ptr<Sender>> sender_;
  std::vector<Sender*> directory_;
  std::vector<TransferReceiver<Payload>> receiver_;
  std::vector<std::vector<Message>> queue_;
  std::vector<unsigned> used_;
  std::vector<Cycle> free_;
};

}  // namespace raddle::test
