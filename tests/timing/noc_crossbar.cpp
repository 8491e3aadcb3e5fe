// The crossbar between mocks: exact cycles, arbitration, credits, and the throughput that must
// emerge.
#include <gtest/gtest.h>

#include "raddle/base/rng.h"
#include "support/memory_mocks.h"

namespace raddle::test {
namespace {

constexpr Cycle kLatency = 10;

/// A reply crossbar (output = message.sm) whose links the test feeds and reads.
class CrossbarRig {
 public:
  CrossbarRig(unsigned inputs, unsigned outputs, unsigned credits, bool limited_outputs)
      : xbar({Direction::Reply, inputs, outputs, credits, kLatency, 5, {32, 8, 32}}) {
    for (unsigned i = 0; i < inputs; ++i) {
      in.push_back(std::make_unique<MessageLink>(4096));
      credit.push_back(std::make_unique<CreditLink>(4096));
      xbar.connect_input(i, *in[i], *credit[i]);
    }
    for (unsigned o = 0; o < outputs; ++o) {
      out.push_back(std::make_unique<MessageLink>(4096));
      back.push_back(std::make_unique<CreditLink>(4096));
      xbar.connect_output(o, *out[o], limited_outputs ? back[o].get() : nullptr);
    }
  }
  void send(unsigned i, Cycle at, unsigned to, std::uint8_t sectors, std::uint16_t tag = 0) {
    Message m = message(MessageKind::Read, tag, sectors, tag);
    m.sm = static_cast<std::uint16_t>(to);
    in[i]->push(at, m);
    xbar.box().post(at, i);
  }
  void run(Cycle from, Cycle to) {
    for (Cycle t = from; t < to; ++t) xbar.tick(t);
  }
  Crossbar xbar;
  std::vector<std::unique_ptr<MessageLink>> in, out;
  std::vector<std::unique_ptr<CreditLink>> credit, back;
};

TEST(Crossbar, PacketTakesOneCyclePerFlitAndTheWire) {
  CrossbarRig rig(2, 2, 64, false);
  rig.send(0, 20, 1, 0b1111);  // 8 + 128 bytes = 5 flits
  rig.run(0, 40);
  EXPECT_EQ(rig.out[1]->next_arrival(), 20 + 5 - 1 + kLatency);
  EXPECT_EQ(rig.credit[0]->next_arrival(), 20 + kLatency);
  EXPECT_EQ(rig.credit[0]->front(), 5);
  EXPECT_EQ(rig.xbar.counters().packets, 1u);
  EXPECT_EQ(rig.xbar.counters().flits, 5u);
  EXPECT_EQ(rig.xbar.counters().flit_hops, 5u);
  EXPECT_EQ(rig.xbar.counters().bytes, 136u);
  EXPECT_TRUE(rig.xbar.idle());
}

TEST(Crossbar, PacketHoldsItsInputAndItsOutput) {
  CrossbarRig rig(2, 2, 64, false);
  rig.send(0, 20, 1, 0b1111), rig.send(0, 21, 0, 0b1);  // second waits for the input
  rig.send(1, 21, 1, 0b1);                              // waits for the output
  rig.run(0, 60);
  EXPECT_EQ(rig.out[0]->next_arrival(), 25 + 1 + kLatency);
  rig.out[1]->pop();
  EXPECT_EQ(rig.out[1]->next_arrival(), 25 + 1 + kLatency);
}

TEST(Crossbar, HeadOfLineBlocksAnIdleOutput) {
  CrossbarRig rig(2, 2, 64, false);
  rig.send(0, 20, 0, 0b1111);
  rig.send(1, 20, 0, 0b1111);  // loses to input 0
  rig.send(1, 21, 1, 0b1);     // output 1 is idle, but the head is in the way
  rig.run(0, 60);
  EXPECT_EQ(rig.out[1]->next_arrival(), 30 + 1 + kLatency);
}

TEST(Crossbar, ArbitrationGoesRound) {
  CrossbarRig rig(3, 1, 64, false);
  for (Cycle t = 20; t < 24; ++t)
    for (unsigned i = 0; i < 3; ++i) rig.send(i, t, 0, 0, static_cast<std::uint16_t>(i));
  rig.run(0, 60);
  for (unsigned k = 0; k < 12; ++k, rig.out[0]->pop()) {
    EXPECT_EQ(rig.out[0]->front().tag, k % 3);
    EXPECT_EQ(rig.out[0]->next_arrival(), 20 + k + kLatency);
  }
}

TEST(Crossbar, StopsWithoutCreditsAndGoesOnWithThem) {
  CrossbarRig rig(1, 1, 7, true);  // 7 flits: one packet of 5, and the next needs all 5 free
  rig.send(0, 20, 0, 0b1111), rig.send(0, 21, 0, 0b1111);
  rig.run(0, 50);
  rig.out[0]->pop();
  EXPECT_EQ(rig.out[0]->next_arrival(), kNever);
  std::string text;
  rig.xbar.describe(text);
  EXPECT_NE(text.find("no credit: 2 flits"), std::string::npos) << text;
  rig.back[0]->push(55, 5), rig.xbar.credit_box().post(55, 0);
  EXPECT_EQ(rig.xbar.next_arrival(50), 55u);
  rig.run(50, 70);
  EXPECT_EQ(rig.out[0]->next_arrival(), 55 + 4 + kLatency);
}

/// Saturated inputs with destinations drawn at random: throughput of a FIFO-input switch.
double uniform_throughput(unsigned ports, unsigned cycles) {
  CrossbarRig rig(ports, ports, 64, false);
  Rng rng(ports);
  Cycle latency = 0;
  for (unsigned i = 0; i < ports; ++i)
    for (unsigned n = 0; n < 4; ++n) rig.send(i, n, static_cast<unsigned>(rng.below(ports)), 0);
  for (Cycle t = latency; t < cycles; ++t) {
    rig.xbar.tick(t);
    for (unsigned o = 0; o < ports; ++o)
      while (rig.out[o]->next_arrival() != kNever) rig.out[o]->pop();
    for (unsigned i = 0; i < ports; ++i)
      for (; rig.credit[i]->next_arrival() != kNever; rig.credit[i]->pop())
        rig.send(i, t + 4, static_cast<unsigned>(rng.below(ports)), 0);  // the FIFO never runs dry
  }
  return static_cast<double>(rig.xbar.counters().packets) / (static_cast<double>(cycles) * ports);
}

TEST(Crossbar, UniformTrafficSaturatesAtTwoMinusRootTwo) {
  for (unsigned ports : {32u, 64u, 256u})
    EXPECT_NEAR(uniform_throughput(ports, 5000), 0.586, 0.015) << ports << " ports";
}

TEST(Crossbar, SizesFollowKindAndSectors) {
  FlitTable request({32, 8, 32}, Direction::Request), reply({32, 8, 32}, Direction::Reply);
  auto sized = [](MessageKind kind, unsigned sectors) {
    return message(kind, 0, static_cast<std::uint8_t>(sectors));
  };
  EXPECT_EQ(request.flits(sized(MessageKind::Read, 0b1111)), 1u);
  EXPECT_EQ(request.flits(sized(MessageKind::Write, 0b1111)), 5u);
  EXPECT_EQ(request.flits(sized(MessageKind::Atomic, 0b0101)), 3u);
  EXPECT_EQ(request.bytes(sized(MessageKind::Reduce, 0b0101)), 72u);
  EXPECT_EQ(reply.flits(sized(MessageKind::Read, 0b0001)), 2u);
  EXPECT_EQ(reply.flits(sized(MessageKind::Atomic, 0b1111)), 5u);
  EXPECT_EQ(reply.flits(sized(MessageKind::Write, 0b1111)), 1u);
  EXPECT_EQ(reply.bytes(sized(MessageKind::Reduce, 0b1111)), 8u);
}

}  // namespace
}  // namespace raddle::test
