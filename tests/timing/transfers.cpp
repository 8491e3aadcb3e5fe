// Payloads of any length in segments over crossbar and mesh: exact flits and cycles, conservation
// under load, and in whatever order the segments come.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "raddle/timing/wire/engine.h"
#include "support/transfer_rig.h"

namespace raddle::test::transfers_test {
namespace {

constexpr PacketSize kSize{32, 8, 32};
constexpr unsigned kMaxFlits = 5, kFull = kMaxFlits * 32 - 8;
const Segmentation kCut(kSize, kMaxFlits);
constexpr unsigned kColumns = 4, kRows = 3, kNodes = kColumns * kRows;
constexpr Cycle kWires = 2 * kWire;  // into the network and out of it

/// Lengths about which a cut could be wrong.
const std::vector<std::uint32_t> kLengths = {
    0, 1, 23, 24, 25, 31, 32, kFull - 1, kFull, kFull + 1, 2048, 65536, 2 * kFull, 10 * kFull + 1};

TransferRig rig_of(Topology topology, unsigned channels = 4, unsigned handles = 64) {
  return {topology == Topology::Crossbar ? crossbar(kNodes, kNodes)
                                         : mesh(kColumns, kRows, 2, 1, channels, 8),
          kNodes, kCut, handles};
}

unsigned hops(unsigned a, unsigned b) {
  MeshSpec mesh;
  mesh.columns = kColumns;
  mesh.rows = kRows;
  return mesh.hops(a, b);
}

TEST(Segmentation, CutsIntoFullSegmentsAndARest) {
  for (std::uint32_t bytes : kLengths) {
    const unsigned n = kCut.segments(bytes);
    EXPECT_EQ(n, bytes == 0 ? 1 : (bytes - 1) / kFull + 1) << bytes;
    std::uint32_t sum = 0;
    std::uint64_t flits = 0;
    for (unsigned i = 0; i < n; ++i) {
      const unsigned part = kCut.bytes_of(bytes, i);
      EXPECT_EQ(part, i + 1 < n ? kFull : bytes - (n - 1) * kFull) << bytes << " " << i;
      sum += part;
      flits += (8 + part + 31) / 32;
    }
    EXPECT_EQ(sum, bytes);
    EXPECT_EQ(kCut.flits(bytes), flits) << bytes;
  }
  EXPECT_EQ(kCut.flits(0), 1u) << "a header";
  EXPECT_EQ(kCut.flits(24), 1u) << "beside the header";
  EXPECT_EQ(kCut.flits(25), 2u);
  EXPECT_EQ(kCut.flits(2048), 13u * 5 + 3) << "a warp of 16 registers: 13 x 152 and 72 bytes";
}

TEST(Segment, GoesThroughAMessageUnchanged) {
  Message m;
  m.sm = 3;
  m.kernel = 5;
  m.tenant = static_cast<TenantId>(2);
  const Segment s{65534, 65535, 4000, 8184, static_cast<NodeId>(700), static_cast<NodeId>(800)};
  s.write_to(m);
  const Segment back = Segment::of(m);
  EXPECT_EQ(back.number, s.number);
  EXPECT_EQ(back.count, s.count);
  EXPECT_EQ(back.handle, s.handle);
  EXPECT_EQ(back.bytes, s.bytes);
  EXPECT_EQ(back.from, s.from);
  EXPECT_EQ(back.to, s.to);
  EXPECT_TRUE(m.sm == 3 && m.kernel == 5 && m.tenant == static_cast<TenantId>(2));
}

class Transfers : public ::testing::TestWithParam<Topology> {};

TEST_P(Transfers, TakeTheTimeOfTheirFlits) {
  for (unsigned to : {0u, 1u, 5u, 11u})
    for (std::uint32_t bytes : kLengths) {
      TransferRig rig = rig_of(GetParam());
      rig.sender(0).send(20, static_cast<NodeId>(to), bytes, 77);
      rig.run(20, 20 + 4000);
      const std::uint64_t flits = kCut.flits(bytes);
      Cycle expected = 20 + kWires + flits - 1;
      if (GetParam() == Topology::Mesh) {
        const unsigned h = hops(0, to);
        expected += (h + 1) * 2 + h * 1;
      }
      ASSERT_EQ(rig.arrived, (std::vector<TransferRig::Arrived>{{expected, 0, to, 77}}))
          << bytes << " bytes to " << to;
      const stats::NocTraffic counted = rig.network().transfers();
      EXPECT_EQ(counted.flits, flits);
      EXPECT_EQ(counted.packets, kCut.segments(bytes));
      EXPECT_EQ(counted.bytes, bytes + 8 * kCut.segments(bytes));
      EXPECT_EQ(rig.network().counters().flits, flits) << "part of all traffic";
      EXPECT_EQ(rig.network().audit(), std::vector<std::string>{});
    }
}

TEST_P(Transfers, OfOneSenderLeaveInOrder) {
  TransferRig rig = rig_of(GetParam(), 1);
  for (unsigned n = 0; n < 10; ++n) rig.sender(2).send(20, static_cast<NodeId>(7), 40 * n, n);
  rig.run(20, 1000);
  ASSERT_EQ(rig.arrived.size(), 10u);
  for (unsigned n = 0; n < 10; ++n) EXPECT_EQ(rig.arrived[n].payload, n);
}

TEST_P(Transfers, ArriveOnceAndWholeAmongOtherTraffic) {
  TransferRig rig = rig_of(GetParam());
  Rng rng(9);
  std::vector<TransferRig::Arrived> expected;
  std::uint64_t others = 0;
  TransferCounters all;
  std::uint64_t flits = 0;
  Cycle cycle = 20;
  for (; cycle < 3000; cycle += 10) {
    const auto from = static_cast<unsigned>(rng.below(kNodes));
    const auto to = static_cast<unsigned>(rng.below(kNodes));
    const std::uint32_t bytes = kLengths[rng.below(static_cast<unsigned>(kLengths.size()))] % 4096;
    if (rig.sender(from).has_room(cycle)) {
      rig.sender(from).send(cycle, static_cast<NodeId>(to), bytes, cycle);
      expected.push_back({0, from, to, cycle});
      ++all.transfers;
      all.segments += kCut.segments(bytes);
      all.bytes += bytes;
      flits += kCut.flits(bytes);
    }
    for (unsigned n = 0; n < 3; ++n, ++others)
      rig.background(static_cast<unsigned>(rng.below(kNodes)),
                     static_cast<unsigned>(rng.below(kNodes)), static_cast<unsigned>(rng.below(5)));
    rig.run(cycle, cycle + 10);
  }
  rig.run(cycle, cycle + 20000);
  EXPECT_TRUE(rig.idle());
  EXPECT_TRUE(rig.network().idle());
  EXPECT_EQ(rig.sent(), all);
  EXPECT_EQ(rig.received(), all);
  EXPECT_EQ(rig.network().transfers().flits, flits);
  std::uint64_t of_kinds = 0;
  for (const stats::NocTraffic& kind : rig.network().counters().kind) of_kinds += kind.bytes;
  EXPECT_NE(of_kinds, 0u);
  EXPECT_EQ(of_kinds + rig.network().transfers().bytes, rig.network().counters().bytes)
      << "every packet is of a kind or of a transfer";
  EXPECT_EQ(rig.other_packets, others);
  EXPECT_EQ(rig.network().audit(), std::vector<std::string>{});
  std::vector<TransferRig::Arrived> came = rig.arrived;
  for (auto& arrival : came) arrival.at = 0;
  const auto by_payload = [](const auto& a, const auto& b) { return a.payload < b.payload; };
  std::sort(came.begin(), came.end(), by_payload);
  EXPECT_EQ(came, expected);
}

INSTANTIATE_TEST_SUITE_P(Networks, Transfers, ::testing::Values(Topology::Crossbar, Topology::Mesh),
                         [](const auto& info) {
                           return info.param == Topology::Mesh ? "Mesh" : "Crossbar";
                         });

/// A sender and a receiver without a network.
struct Pair {
  explicit Pair(unsigned handles) : sender(static_cast<NodeId>(0), kCut, handles, 10) {}
  TransferSender<std::uint64_t> sender;
  std::vector<TransferSender<std::uint64_t>*> directory{&sender};
  TransferReceiver<std::uint64_t> receiver{directory};
};

TEST(Transfer, IsWholeInWhateverOrderItsSegmentsCome) {
  Rng rng(4);
  for (unsigned round = 0; round < 50; ++round) {
    Pair p(4);
    std::vector<Message> segments;
    for (std::uint64_t payload = 0; payload < 4; ++payload)
      p.sender.send(0, static_cast<NodeId>(1), static_cast<std::uint32_t>(rng.below(2000)),
                    payload);
    for (; !p.sender.empty(); p.sender.pop()) segments.push_back(p.sender.front());
    for (std::size_t i = segments.size(); i > 1; --i)
      std::swap(segments[i - 1], segments[rng.below(static_cast<unsigned>(i))]);
    std::vector<std::uint64_t> came;
    for (std::size_t i = 0; i < segments.size(); ++i)
      p.receiver.arrive(i, segments[i], [&](NodeId, std::uint64_t payload) {
        came.push_back(payload);
        const auto later =
            std::find_if(segments.begin() + static_cast<std::ptrdiff_t>(i) + 1, segments.end(),
                         [&](const Message& m) { return m.tag == segments[i].tag; });
        EXPECT_EQ(later, segments.end()) << "not before the last";
      });
    std::sort(came.begin(), came.end());
    EXPECT_EQ(came, (std::vector<std::uint64_t>{0, 1, 2, 3}));
    EXPECT_EQ(p.receiver.under_way(), 0u);
    EXPECT_EQ(p.receiver.counters(), p.sender.counters());
  }
}

TEST(Transfer, AHandleIsFreeWhenWordOfItsEndHasComeBack) {
  Pair p(2);
  for (std::uint64_t payload : {1, 2}) {
    EXPECT_TRUE(p.sender.has_room(5));
    p.sender.send(5, static_cast<NodeId>(1), 0, payload);
  }
  EXPECT_FALSE(p.sender.has_room(5));
  Message second;
  p.sender.pop();
  second = p.sender.front();
  p.sender.pop();
  EXPECT_FALSE(p.sender.has_room(39)) << "on its way, not taken";
  std::uint64_t got = 0;
  p.receiver.arrive(40, second, [&](NodeId, std::uint64_t payload) { got = payload; });
  EXPECT_EQ(got, 2u);
  EXPECT_FALSE(p.sender.has_room(49)) << "a wire of 10 cycles back";
  EXPECT_TRUE(p.sender.has_room(50));
  p.sender.send(50, static_cast<NodeId>(1), 0, 3);
  EXPECT_EQ(p.sender.front().tag, second.tag);
}

/// A node that sends transfers to the other over a wire and writes down what comes: a task of the
/// engine, so that handles are used up and given back across threads.
class Talker {
 public:
  using Sender = TransferSender<std::uint64_t>;
  static constexpr Cycle kWindow = 8;
  Talker(unsigned node, const std::vector<Sender*>& senders)
      : sender(static_cast<NodeId>(node), kCut, 2, kWindow),
        in(1 << 12),
        receiver_(senders),
        rng_(node + 1),
        to_(static_cast<NodeId>(1 - node)) {}
  void open_window() {}
  Cycle next_arrival(Cycle from) const { return std::max(from, in.next_arrival()); }
  Cycle tick(Cycle now) {
    for (; in.next_arrival() <= now; in.pop())
      receiver_.arrive(now, in.front(), [&](NodeId, std::uint64_t payload) {
        seen.push_back(now);
        seen.push_back(payload);
      });
    if (begun_ < 300 && sender.has_room(now) && rng_.below(3) == 0) {
      const auto bytes = static_cast<std::uint32_t>(rng_.below(400));
      sender.send(now, to_, bytes, begun_++);
    }
    if (!sender.empty()) {
      out->push(now + kWindow, sender.front());
      sender.pop();
    }
    return begun_ == 300 && sender.empty() ? kNever : now + 1;
  }
  Sender sender;
  MessageLink in;
  MessageLink* out = nullptr;
  std::vector<std::uint64_t> seen;

 private:
  TransferReceiver<std::uint64_t> receiver_;
  Rng rng_;
  NodeId to_;
  std::uint64_t begun_ = 0;
};

std::vector<std::uint64_t> conversation(unsigned threads, bool shuffle) {
  std::vector<Talker::Sender*> senders;
  Talker a(0, senders), b(1, senders);
  senders = {&a.sender, &b.sender};
  a.out = &b.in;
  b.out = &a.in;
  Engine engine(Talker::kWindow, true, shuffle);
  engine.add(a);
  engine.add(b);
  engine.run(
      threads, [&] { return a.seen.size() + b.seen.size() == 4 * 300; }, [](Cycle) {});
  std::vector<std::uint64_t> all = a.seen;
  all.insert(all.end(), b.seen.begin(), b.seen.end());
  return all;
}

TEST(Transfer, TakesTheSameTimeOnAnyThreadInAnyOrder) {
  const std::vector<std::uint64_t> expected = conversation(1, false);
  ASSERT_EQ(expected.size(), 4u * 300);
  EXPECT_EQ(conversation(1, true), expected) << "shuffled";
  for (unsigned round = 0; round < 20; ++round)
    ASSERT_EQ(conversation(2, true), expected) << "two threads";
}

}  // namespace
}  // namespace raddle::test::transfers_test
