// Random traffic through every combination of the memory keys: nothing is lost, times add up, and
// sleeping changes nothing.
#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "raddle/base/rng.h"
#include "support/sm_harness.h"

namespace raddle::lsu_conservation_test {
namespace {

using namespace raddle::support;
using timing::MessageKind;
using timing::WritePolicy;

struct Traffic {
  Code code;
  std::uint32_t load = code.load(1, 10), load2 = code.load(2, 10), store = code.store(5, 10),
                strong = code.store(5, 10), fence = code.fence(), atomic = code.atomic(6, 10),
                reduce = code.reduce(10), constant = code.load_const(4),
                used = code.alu(3, {1, 2, 4}),
                spill = code.memory(OpKind::StoreLocal, {}, {5}, "st.local.u32"),
                restore = code.memory(OpKind::LoadLocal, {2}, {10}, "ld.local.u32"),
                exit = code.exit();
  std::set<std::pair<std::uint32_t, unsigned>> stored;  // line of 128 bytes, sector of 32

  Traffic() {
    code.raw().local_bytes_per_thread = 16;
    code.raw().instructions[strong].bypass_l1 = true;
  }
  TransactionSpec transaction(Rng& rng, std::uint32_t lines) {
    return {rng.below(lines), (1u + rng.below(0xffff)) << rng.below(16), kFullMask};
  }
  Recording record(unsigned seed) {
    return one_block(code, 16, [&](WarpWriter& w) {
      Rng rng(100 * seed + w.warp());
      for (unsigned i = 0; i < 40; ++i) step(w, rng);
      w.op(exit);
    });
  }
  void step(WarpWriter& w, Rng& rng) {
    const TransactionSpec p = transaction(rng, 40);
    switch (rng.below(10)) {
      case 0:
      case 1:
        for (unsigned word = 0; word < 32; ++word)
          if ((p.words >> word & 1) != 0) stored.insert({p.line, word / 8});
        w.lines(store, {p});
        break;
      case 2:
        w.lines(strong, {p});
        break;
      case 3:
        w.lines(rng.below(2) == 0 ? atomic : reduce, {{p.line, 1, 1}});
        break;
      case 4:
        w.lines(rng.below(2) == 0 ? spill : restore, {transaction(rng, 4)});
        break;
      case 5:
        rng.below(2) == 0 ? w.op(fence) : w.passes(constant, 1);
        break;
      default:
        w.lines(load, {p, {p.line + 100, p.words}}).lines(load2, {transaction(rng, 40)});
    }
    if (rng.below(4) == 0) w.op(used);
  }
};

void expect_balance(SmHarness& sm) {
  EXPECT_EQ(sm.sm().audit(), std::vector<std::string>{});
  EXPECT_EQ(sm.counters().requests, sm.sent().size());
}

/// Every sector that a store wrote has reached the L2, at the latest with the flush of a later
/// kernel.
void expect_all_written(const SmHarness& sm, const Traffic& t, std::uint32_t line_bytes,
                        std::uint32_t sector_bytes) {
  std::set<std::pair<std::uint32_t, unsigned>> out;
  for (const auto& s : sm.sent()) {
    if (s.message.kind != MessageKind::Write) continue;
    for (unsigned i = 0; i < 8; ++i)
      if ((s.message.sectors >> i & 1) != 0)
        for (unsigned at = 0; at < std::max(sector_bytes, 32u); at += 32) {
          const unsigned byte = s.message.line % (128 / line_bytes) * line_bytes + i * sector_bytes;
          out.insert({s.message.line / (128 / line_bytes), (byte + at) / 32});
        }
  }
  for (const auto& [line, sector] : t.stored)
    EXPECT_TRUE(out.contains({line, sector})) << line << "." << sector;
}

void check(timing::MachineSpec machine, unsigned seed, const std::string& what) {
  SCOPED_TRACE(what);
  ASSERT_EQ(machine.violations(), std::vector<std::string>{});
  Traffic t;
  Recording work = t.record(seed);
  Recording last = one_block(t.code, 1, [&](WarpWriter& w) { w.op(t.exit); });
  std::vector<stats::SmCounters> seen;
  for (bool skip : {false, true}) {
    SmHarness sm(machine);
    sm.skip = skip;
    sm.start_block(0, work);
    sm.run(100000);
    ASSERT_EQ(sm.ended().size(), 1u);
    sm.start_block(sm.now(), last, 0, 1);
    sm.run(120000);
    EXPECT_TRUE(sm.sm().idle());
    expect_balance(sm);
    expect_all_written(sm, t, machine.l2.line_bytes, machine.l2.sector_bytes);
    seen.push_back(sm.counters());
  }
  EXPECT_EQ(std::memcmp(&seen[0], &seen[1], sizeof seen[0]), 0) << "sleeping changes nothing";
}

const WritePolicy kPolicies[] = {WritePolicy::WriteThrough, WritePolicy::WriteEvict,
                                 WritePolicy::WriteBack, WritePolicy::WriteValidate,
                                 WritePolicy::WriteThroughValidate};

class LsuConservation : public ::testing::TestWithParam<WritePolicy> {
 protected:
  LsuConservation() {
    auto& l1 = machine.sm.l1d;
    l1.size_kib = 2;
    l1.ways = 2;
    l1.mshr_entries = 4;
    l1.mshr_merges = 2;
    l1.miss_queue = 2;
    l1.write_policy = GetParam();
    l1.local_write_policy = WritePolicy::WriteValidate;
  }
  timing::MachineSpec machine = small_machine();
};
std::string name_of(const ::testing::TestParamInfo<WritePolicy>& i) {
  static const char* const kNames[] = {"through", "evict", "back", "validate", "through_validate"};
  return kNames[static_cast<unsigned>(i.param)];
}
INSTANTIATE_TEST_SUITE_P(All, LsuConservation, ::testing::ValuesIn(kPolicies), name_of);

TEST_P(LsuConservation, EverySwitch) {
  unsigned seed = 0;
  for (bool reserve : {false, true})
    for (std::uint32_t buffer : {0u, 1u, 4u})
      for (bool fancy : {false, true}) {
        auto& l1 = machine.sm.l1d;
        l1.reserve_on_miss = reserve;
        l1.store_buffer = buffer;
        l1.index = fancy ? timing::SetIndex::Hash : timing::SetIndex::Modulo;
        l1.coalescing = fancy ? timing::Coalescing::Sector : timing::Coalescing::Line;
        machine.sm.const_cache.size_kib = fancy ? 1 : 0;
        check(machine, ++seed,
              "reserve " + std::to_string(reserve) + ", buffer " + std::to_string(buffer) +
                  ", hash and sectors " + std::to_string(fancy));
      }
}

TEST_P(LsuConservation, EveryShapeOfLine) {
  struct Shape {
    std::uint32_t line, sector, l1_sector;
  };
  for (Shape s : {Shape{64, 32, 64}, {64, 64, 64}, {128, 16, 32}, {128, 32, 128}, {128, 128, 128}})
    for (auto coalescing : {timing::Coalescing::Line, timing::Coalescing::Sector}) {
      machine.l2.line_bytes = machine.sm.l1d.line_bytes = s.line;
      machine.l2.sector_bytes = s.sector;
      machine.sm.l1d.sector_bytes = s.l1_sector;
      machine.sm.l1d.coalescing = coalescing;
      check(machine, s.line + s.sector, std::to_string(s.line) + "/" + std::to_string(s.sector));
    }
}

TEST_P(LsuConservation, TheSmallestOfEverything) {
  auto& l1 = machine.sm.l1d;
  l1.size_kib = 1;
  l1.ways = 8;
  l1.mshr_entries = l1.mshr_merges = l1.miss_queue = 1;
  machine.sm.lsu_queue = machine.sm.loads_in_flight = 1;
  machine.sm.const_cache = {1, 64, 16, 1, 1};
  check(machine, 7, "one set");
  l1.ways = 1;
  l1.reserve_on_miss = true;
  l1.store_buffer = 1;
  check(machine, 8, "one way");
  machine.sm.l1d.size_kib = 0;
  l1.store_buffer = 0;
  check(machine, 9, "no L1");
}

}  // namespace
}  // namespace raddle::lsu_conservation_test
