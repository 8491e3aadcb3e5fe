// What every protocol of the L1 must keep (l1_protocol.h), on real load/store units between a mock
// pipeline and a mock L2 that answers as the protocol's banks do when nobody else is there.
#include <gtest/gtest.h>

#include <map>

#include "raddle/base/rng.h"
#include "raddle/timing/sm/denovo_coherent_l1.h"
#include "raddle/timing/sm/gpu_coherent_l1.h"
#include "raddle/timing/sm/lsu.h"
#include "support/machines.h"
#include "support/stream_builder.h"

namespace raddle::lsu_protocols_test {
namespace {

using namespace raddle::support;
using namespace raddle::timing;

template <class L1>
MachineSpec machine_of() {
  MachineSpec m = small_machine();
  m.l2.line_bytes = m.sm.l1d.line_bytes = 64;
  m.sm.l1d.size_kib = 2;
  m.sm.l1d.mshr_entries = 8;
  m.sm.l1d.store_buffer = 4;
  m.noc.queue_flits = 8;
  return m;
}
template <>
MachineSpec machine_of<DenovoCoherentL1>() {
  MachineSpec m = machine_of<GpuCoherentL1>();
  m.coherence.ownership = true;
  m.sm.l1d.sector_bytes = m.l2.sector_bytes = 64;
  return m;
}

/// The answer to a request, by a bank that has everything.
Message answer_to(Message m) {
  switch (m.kind) {
    case MessageKind::Register:
      m.kind = MessageKind::Registered;
      break;
    case MessageKind::Own:
      m.kind = MessageKind::Owned;
      break;
    case MessageKind::WriteBack:
      m.kind = MessageKind::WroteBack;
      break;
    default:
      break;
  }
  m.peer = kFromBank;
  return m;
}

template <class L1>
class LsuProtocol : public ::testing::Test {
 protected:
  static constexpr unsigned kWarps = 8;
  LsuProtocol() : machine(machine_of<L1>()), map(machine), lsu({machine, 0}, map), wheel(4096) {
    lsu.ports().noc_box = &box;
    for (const std::uint32_t i :
         {code.load(1, 10), code.store(2, 3), code.atomic(4, 5), code.reduce(6)})
      EXPECT_LT(i, 4u);
    lowered = trace::as_it_is(code.raw());
    kernel = std::make_unique<DecodedKernel>(lowered, machine.sm);
    launch = {nullptr, kernel.get(), 0, 0, {}};
    lsu.start_block(0, launch, true);
  }
  struct Sink {
    LsuProtocol& test;
    void loaded(const LsuCore::Owner& o) { test.loaded(o); }
    void acknowledged(unsigned w) { test.acknowledged(w); }
    void constant(const LsuCore::Owner&) { FAIL() << "none was asked for"; }
    void fetched(unsigned) { FAIL() << "none was asked for"; }
    void copied(unsigned) { FAIL() << "none was asked for"; }
  };
  void loaded(const LsuCore::Owner& o) {
    ++ended_loads;
    ASSERT_NE(loads_of[o.warp], 0u) << "each ends once";
    --loads_of[o.warp];
  }
  void acknowledged(unsigned w) {
    ASSERT_NE(stores_of[w], 0u) << "each is acknowledged once";
    --stores_of[w];
  }
  /// An access of a warp enters, if the unit takes one now.
  bool enter(unsigned warp, std::uint32_t inst,
             const std::vector<trace::Transaction>& transactions) {
    if (!lsu.accepts()) return false;
    const DecodedInst& in = kernel->instructions()[inst];
    std::vector<std::uint32_t> payload;
    for (const trace::Transaction& p : transactions)
      payload.insert(payload.end(), {p.line, p.words, p.lanes});
    const unsigned operations =
        lsu.enter_lines(now, {.warp = static_cast<std::uint8_t>(warp), .inst = inst, .code = &in},
                        payload.data(), static_cast<unsigned>(transactions.size()), 0);
    const bool waits = in.route == Route::Load || in.route == Route::Atomic;
    (waits ? loads_of : stores_of)[warp] += operations;
    return true;
  }
  /// One cycle as the SM does it; returns the next one in which anything could happen.
  Cycle tick() {
    SmPorts& p = lsu.ports();
    for (; p.from_noc.next_arrival() <= now; p.from_noc.pop())
      lsu.reply(now, p.from_noc.front(), counters, Sink{*this});
    if (wheel.due(now))
      wheel.take(
          now, [](std::uint32_t) {},
          [&](Event e) {
            if (e.kind() == Event::Kind::Acknowledge) return acknowledged(e.warp());
            lsu.hit_transaction(now, e.load(), counters,
                                [&](const LsuCore::Owner& o) { loaded(o); });
          });
    bool active = lsu.serve(now, wheel, counters, release);
    active |= lsu.inject(now);
    const FlitTable size(packet_size(machine), Direction::Request);
    for (; p.to_noc.next_arrival() != kNever; p.to_noc.pop()) {
      const Message m = p.to_noc.front();
      box.take(p.to_noc.next_arrival());
      ++requests;
      p.from_noc.push(now + delay, answer_to(m));
      p.credit_in.push(now + 20, static_cast<std::uint8_t>(size.flits(m)));
    }
    const Cycle arrivals = std::min(p.from_noc.next_arrival(), lsu.credits_at());
    const Cycle own = std::min(wheel.next(now + 1), lsu.next_event(now));
    return active ? now + 1 : std::max(now + 1, std::min(arrivals, own));
  }
  bool all_over() const {
    std::uint64_t left = 0;
    for (const auto& [warp, n] : loads_of) left += n;
    for (const auto& [warp, n] : stores_of) left += n;
    return left == 0;
  }
  /// Random accesses, then a release until everything is over. The cycle in which that is.
  Cycle run(std::uint64_t seed, bool skip) {
    Rng rng(seed);
    lsu.set_skip(skip);
    unsigned left = 150;
    while (now < 100000) {
      if (left != 0 && now % 3 == 0) {
        std::vector<trace::Transaction> transactions;
        const std::uint32_t first = rng.below(60);
        for (unsigned n = 1 + rng.below(3), i = 0; i < n; ++i)
          transactions.push_back({first + 5 * i, 1u << rng.below(32) | 1u, 0xffu << (8 * i)});
        if (enter(rng.below(kWarps), rng.below(4), transactions)) --left;
      }
      release = left == 0;
      const Cycle next = tick();
      if (release && all_over() && lsu.idle()) return now;
      const Cycle entry = left != 0 ? now + 3 - now % 3 : kNever;
      now = skip ? std::min(next, entry) : now + 1;
      if (now == kNever) break;
    }
    ADD_FAILURE() << "the unit stands still at cycle " << now;
    return kNever;
  }
  MachineSpec machine;
  AddressMap map;
  Lsu<L1> lsu;
  EventWheel wheel;
  Code code;
  trace::LoweredCode lowered;
  std::unique_ptr<DecodedKernel> kernel;
  Launch launch;
  Mailbox box{1};
  SmKernelCounters counters{kernel_slots(1)};
  Cycle now = 0, delay = 60;
  bool release = false;
  std::map<unsigned, std::uint64_t> loads_of, stores_of;
  std::uint64_t ended_loads = 0, requests = 0;
};

using Protocols = ::testing::Types<GpuCoherentL1, DenovoCoherentL1>;
TYPED_TEST_SUITE(LsuProtocol, Protocols);

TYPED_TEST(LsuProtocol, EveryOperationEndsOnceAndEveryRequestIsAnswered) {
  ASSERT_NE(this->run(1, false), kNever);
  EXPECT_TRUE(this->lsu.idle());
  std::vector<std::string> broken;
  this->lsu.audit(this->counters, broken);
  EXPECT_EQ(broken, std::vector<std::string>{});
  const stats::SmCounters c = this->counters.total();
  EXPECT_EQ(c.requests, this->requests) << "every request that left was counted";
  EXPECT_EQ(c.loads, this->ended_loads);
  EXPECT_GT(c.l1d_hits, 0u);
  EXPECT_GT(c.l1d_misses, 0u);
  EXPECT_GT(c.atomics, 0u);
}

// next_event() and credits_at() name every cycle in which something happens.
TYPED_TEST(LsuProtocol, AskedOnlyWhenItSaysTheSameHappens) {
  const Cycle skipping = this->run(2, true);
  struct Other : LsuProtocol<TypeParam> {
    void TestBody() override {}
    using LsuProtocol<TypeParam>::run;
    using LsuProtocol<TypeParam>::counters;
  } other;
  EXPECT_EQ(other.run(2, false), skipping);
  const stats::SmCounters a = this->counters.total(), b = other.counters.total();
  EXPECT_EQ(a.load_cycles, b.load_cycles);
  EXPECT_EQ(a.requests, b.requests);
  EXPECT_EQ(a.l1d_reservation_fails, b.l1d_reservation_fails);
}

// A scheme's limits delay, lose nothing, and are obeyed in the same cycles without skipping.
TYPED_TEST(LsuProtocol, UnderLimitsEverythingEndsAllTheSame) {
  struct Limited : LsuProtocol<TypeParam> {
    void TestBody() override {}
    using LsuProtocol<TypeParam>::counters;
    using LsuProtocol<TypeParam>::lsu;
    using LsuProtocol<TypeParam>::requests;
    using LsuProtocol<TypeParam>::run;
  } every, skipping;
  policy::Knobs knobs;
  knobs.tenant[0].request_tokens = 1.5;
  knobs.tenant[0].miss_queue = 2;
  knobs.tenant[0].lsu_queue = 3;
  knobs.tenant[0].l1d_ways = 0b0100;
  knobs.token_interval = 40;
  for (Limited* limited : {&every, &skipping}) limited->lsu.obey(0, knobs);
  const Cycle unlimited = this->run(4, true);
  const Cycle end = every.run(4, false);
  ASSERT_NE(end, kNever);
  EXPECT_GT(end, unlimited);
  EXPECT_EQ(skipping.run(4, true), end);
  EXPECT_EQ(skipping.lsu.sharing(end, 0).token_wait_cycles,
            every.lsu.sharing(end, 0).token_wait_cycles);
  const double intervals = static_cast<double>(end) / knobs.token_interval;
  EXPECT_LE(static_cast<double>(every.requests), 1.5 * (intervals + 1) + 1);
  EXPECT_GT(static_cast<double>(every.requests), 1.3 * intervals) << "tokens are what it waits for";
  std::vector<std::string> broken;
  every.lsu.audit(every.counters, broken);
  EXPECT_EQ(broken, std::vector<std::string>{});
  const stats::SmCounters of_every = every.counters.total(),
                          of_skipping = skipping.counters.total();
  EXPECT_EQ(of_every.load_cycles, of_skipping.load_cycles);
  EXPECT_EQ(of_every.l1d_refused, of_skipping.l1d_refused);
}

// A launch's first block finds nothing that another SM may have written since.
TYPED_TEST(LsuProtocol, AKernelStartInvalidatesWhatWasOnlyRead) {
  this->release = true;
  auto load = [&] {
    ASSERT_TRUE(this->enter(0, 0, {{7, 1, 1}}));
    for (const Cycle end = this->now + 400; this->now < end; ++this->now) this->tick();
  };
  load();
  load();
  EXPECT_EQ(this->counters.total().l1d_hits, 1u);
  const Launch next{nullptr, this->kernel.get(), 1, 0, {}};
  EXPECT_TRUE(this->lsu.start_block(this->now, next, true));
  EXPECT_FALSE(this->lsu.start_block(this->now, next, false)) << "the second block of the launch";
  load();
  EXPECT_EQ(this->counters.total().l1d_hits, 1u);
  EXPECT_EQ(this->counters.total().l1d_misses, 2u);
}

TEST(LsuProtocolChoice, OnlyAProtocolWhoseL1KeepsNothingForOthersLetsLoadsLeave) {
  EXPECT_TRUE(GpuCoherentL1::kMigrates);
  EXPECT_FALSE(DenovoCoherentL1::kMigrates);
}

// Only a protocol whose L1 answers others has wires for it, and it answers on them.
TEST(LsuAnswers, GoOutOnWiresOfTheirOwn) {
  const MachineSpec plain = machine_of<GpuCoherentL1>(), machine = machine_of<DenovoCoherentL1>();
  EXPECT_EQ(GpuCoherentL1({plain, 0}).answers(), nullptr);
  const AddressMap map(machine);
  Lsu<DenovoCoherentL1> lsu({machine, 0}, map);
  AnswerPorts* answers = lsu.l1().answers();
  ASSERT_NE(answers, nullptr);
  Mailbox box{1};
  answers->noc_box = &box;
  SmKernelCounters counters{kernel_slots(1)};
  struct Sink {
    void loaded(const LsuCore::Owner&) {}
    void acknowledged(unsigned) {}
    void constant(const LsuCore::Owner&) {}
    void fetched(unsigned) {}
    void copied(unsigned) {}
  };
  // The bank says that the words are SM 3's now; this L1 tells SM 3 that it has given them up.
  Message taken{7, 3, 5, 1, MessageKind::Invalidate};
  taken.words = 0xf;
  lsu.reply(10, taken, counters, Sink{});
  lsu.inject(10);
  EXPECT_EQ(answers->to_noc.next_arrival(), kNever) << "an answer takes coherence.answer_cycles";
  lsu.inject(10 + machine.coherence.answer_cycles);
  ASSERT_EQ(answers->to_noc.next_arrival(),
            10 + machine.coherence.answer_cycles + machine.noc.latency_cycles);
  EXPECT_EQ(answers->to_noc.front().kind, MessageKind::Registered);
  EXPECT_EQ(answers->to_noc.front().to, Endpoints::sm(3));
  EXPECT_EQ(lsu.ports().to_noc.next_arrival(), kNever);
}

}  // namespace
}  // namespace raddle::lsu_protocols_test
