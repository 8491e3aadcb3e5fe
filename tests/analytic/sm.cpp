// Inside the SM: latencies and intervals of the units, bank conflicts, occupancy, misses in flight.
#include <gtest/gtest.h>

#include "analytic/page.h"
#include "analytic/probes.h"

namespace raddle::verification::sm_test {
namespace {

class Sm : public testing::TestWithParam<std::string> {
 protected:
  timing::MachineSpec m = spec_of(GetParam());
  // Turn by turn: an order by age would leave the youngest warps to finish alone.
  // Instructions of PTX one by one: what an assembler makes of them is not what is looked at.
  test::RunSpec on{GetParam(), {"isa.lowering=ptx"}, {"warp=lrr"}, {}};
  const timing::OpCost& cost(trace::OpClass c) const { return m.sm.cost[static_cast<unsigned>(c)]; }
};
INSTANTIATE_TEST_SUITE_P(All, Sm, testing::ValuesIn(machines()),
                         [](const auto& i) { return i.param; });

TEST_P(Sm, UnitsRunAtTheirLatencyAndInterval) {
  struct Class {
    const char* name;
    trace::OpClass op_class;
    const char* instruction;
  };
  constexpr Class kClasses[] = {{"int", trace::OpClass::Int, "add.u32 %r1, %r1, 1;"},
                                {"int_mul", trace::OpClass::IntMul, "mul.lo.u32 %r1, %r1, %r1;"},
                                {"fp32", trace::OpClass::Fp32, "fma.rn.f32 %f1, %f1, %f1, %f1;"},
                                {"sfu", trace::OpClass::Sfu, "rsqrt.approx.f32 %f1, %f1;"}};
  const std::string before = "mov.u32 %r1, 3;\nmov.f32 %f1, 0f3F800000;\n";
  const unsigned warps = std::min(m.sm.warps, m.sm.max_threads_per_block / 32);
  for (const Class& c : kClasses) {
    const double chain = cycles_per(on, before, c.instruction, 32),
                 full = cycles_per(on, before, c.instruction, 32 * warps);
    const double latency = cost(c.op_class).latency;
    const timing::OpCost& unit = cost(c.op_class);
    const double units = m.sm.shared_unit[static_cast<unsigned>(unit.unit)] ? 1 : m.sm.schedulers;
    const double busy = std::max(latency, warps / units * unit.interval);
    EXPECT_DOUBLE_EQ(chain, latency) << c.name;
    EXPECT_NEAR(full, busy, 0.02 * busy) << c.name;
    row("rates", {GetParam(), c.name, number(latency), number(chain), std::to_string(warps),
                  number(busy), number(full)});
  }
}

TEST_P(Sm, BankConflictsTakeAPassEach) {
  // One warp: %r2 = lane * stride * 4, the loaded zero is added to it.
  for (const unsigned stride : {1u, 2u, 4u, 8u, 16u, 32u, 3u, 33u}) {
    const std::string before = fmt::format(
        ".shared .align 128 .b8 s[8192];\nmov.u32 %r5, %tid.x;\nmul.lo.u32 %r5, %r5, {};\n"
        "mov.u32 %r6, s;\nadd.u32 %r1, %r5, %r6;\nmov.f32 %f1, 0f00000000;\nmov.u32 %r7, 0;\n",
        4 * stride);
    const double measured =
        cycles_per(on, before, "ld.shared.u32 %r7, [%r1];\nadd.u32 %r1, %r1, %r7;", 32);
    unsigned passes = 1;
    while (passes < 32 && stride % (2 * passes) == 0) passes *= 2;
    const double expected =
        m.sm.shared_latency_cycles + passes - 1 + cost(trace::OpClass::Int).latency;
    EXPECT_DOUBLE_EQ(measured, expected) << "stride " << stride;
    row("banks", {GetParam(), std::to_string(stride), std::to_string(passes), number(expected),
                  number(measured)});
  }
}

/// The CUDA occupancy calculator's rules for compute capability 7.0.
struct Rule {
  unsigned blocks;
  const char* limit;
};
Rule cuda_rule(unsigned threads, unsigned registers, unsigned shared) {
  const unsigned warps = (threads + 31) / 32;
  const unsigned per_warp = (registers * 32 + 255) / 256 * 256;
  Rule best{32, "block slots"};
  const auto limit = [&](unsigned blocks, const char* by) {
    if (blocks < best.blocks) best = {blocks, by};
  };
  limit(64 / warps, "warps");
  limit(4 * (16384 / per_warp) / warps, "registers");  // a quarter for each scheduler
  if (shared != 0) limit(98304 / ((shared + 255) / 256 * 256), "shared memory");
  return best;
}

TEST(Occupancy, FollowsTheCudaRules) {
  const test::RunSpec on{"v100", {"sm.count=1"}, {}, {}};
  const timing::MachineSpec m = test::make_setup(on).machine;
  for (const auto& [threads, registers, shared] :
       std::vector<std::array<unsigned, 3>>{{32, 16, 0},
                                            {64, 32, 0},
                                            {128, 40, 0},
                                            {256, 32, 0},
                                            {256, 33, 0},
                                            {256, 64, 0},
                                            {512, 128, 0},
                                            {1024, 64, 0},
                                            {64, 37, 0},
                                            {96, 20, 0},
                                            {100, 20, 0},
                                            {128, 16, 12288},
                                            {128, 16, 12289},
                                            {256, 16, 49152},
                                            {64, 16, 1000}}) {
    const Rule rule = cuda_rule(threads, registers, shared);
    trace::KernelCode code;
    code.name = "k";
    code.registers_per_thread = registers;
    code.static_shared_bytes = shared;
    const timing::Residency r = timing::residency(m.sm, code, {{1000}, {threads}, 0});
    EXPECT_EQ(r.blocks, rule.blocks) << threads << ' ' << registers << ' ' << shared;
    row("occupancy", {std::to_string(threads), std::to_string(registers), std::to_string(shared),
                      std::to_string(rule.blocks), rule.limit, std::to_string(r.blocks)});
  }
}

TEST(Little, MshrEntriesBoundTheMissesInFlight) {
  for (const unsigned entries : {4u, 16u, 64u, 256u}) {
    const test::RunSpec on{
        "v100", {"sm.count=1", fmt::format("sm.l1d.mshr_entries={}", entries)}, {}, {}};
    const auto run = [&](std::uint32_t transactions) {
      Stream stream(Access::Read, 8, transactions, 1, false);
      return test::run_on(stream, "stream", on);
    };
    const sim::Result few = run(4), many = run(20);
    const auto difference = [&](auto member) {
      return static_cast<double>(many.totals.sm.*member - few.totals.sm.*member);
    };
    const double misses = difference(&stats::SmCounters::l1d_misses),
                 waited = difference(&stats::SmCounters::l1d_miss_cycles),
                 cycles = static_cast<double>(many.cycles - few.cycles);
    const double in_flight = waited / cycles;
    EXPECT_LE(in_flight, entries * 1.01);
    if (entries <= 64) {
      EXPECT_GE(in_flight, 0.8 * entries);
    }
    row("little", {std::to_string(entries), fmt::format("{:.3f}", misses / cycles),
                   number(waited / misses), number(in_flight)});
  }
}

}  // namespace
}  // namespace raddle::verification::sm_test
