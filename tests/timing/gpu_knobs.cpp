// Each knob of a scheme in a whole GPU: it changes what it says, for whom it says, the accounts
// still add up, and neither skipping nor threads change anything.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/gpu_harness.h"
#include "support/schemes.h"

namespace raddle::gpu_knobs_test {
namespace {

using namespace raddle::support;
using policy::Knobs;
using timing::GpuOptions;

class GpuKnobs : public ::testing::Test {
 protected:
  struct Ran {
    std::vector<Cycle> ends;  // by tenant
    std::vector<stats::GpuCounters> of;
    std::uint64_t hash = 0;
  };
  std::string dram = "frfcfs";
  timing::MachineSpec machine = busy_machine();  // 4 SMs of 4 KiB L1D, 2 channels, 64 KiB of L2
  Code code;
  std::uint32_t load = code.load(1, 10), use = code.alu(2, {1}), exit = code.exit();

  /// Every warp loads `lines` lines of its block's, `rounds` times.
  Recording reader(std::uint32_t first, unsigned lines, unsigned rounds) {
    Recording r(code, {{16}, {64}, 0});
    r.each_warp([&](WarpWriter& w) {
      for (unsigned round = 0; round < rounds; ++round)
        for (unsigned i = 0; i < lines; ++i) {
          w.lines(load, {{first + w.block() * lines + i}});
          w.op(use);
        }
      w.op(exit);
    });
    return r;
  }
  /// Tenant 0 comes back to its lines, tenant 1 streams.
  Ran run(const Knobs& knobs, const GpuOptions& options = {}) {
    Recording again = reader(0, 6, 20), stream = reader(1 << 16, 120, 1);
    GpuHarness gpu(machine, options, constant_scheme(knobs), dram);
    gpu.submit(again, 1, tenant(0));
    gpu.submit(stream, 2, tenant(1));
    gpu->run_until_idle();
    EXPECT_EQ(gpu->audit(), std::vector<std::string>{});
    Ran out;
    for (unsigned t = 0; t < 2; ++t) {
      out.ends.push_back(gpu->kernels()[t].end);
      out.of.push_back(gpu->tenant_counters(tenant(t)));
    }
    out.hash = gpu->hash();
    return out;
  }
  void expect_the_same_however_it_is_run(const Knobs& knobs) {
    const std::uint64_t hash = run(knobs).hash;
    GpuOptions every, threads, shuffled;
    every.skip = false;
    threads.threads = 2;
    shuffled.shuffle = true;
    EXPECT_EQ(run(knobs, every).hash, hash) << "every cycle";
    EXPECT_EQ(run(knobs, threads).hash, hash) << "two threads";
    EXPECT_EQ(run(knobs, shuffled).hash, hash) << "another order of components";
  }
};

TEST_F(GpuKnobs, RequestTokensBoundTheRateOfTheirTenant) {
  Knobs knobs;
  knobs.tenant[1].request_tokens = 1;
  knobs.token_interval = 100;
  const Ran free = run({}), limited = run(knobs);
  const auto rate = [&](const Ran& ran) {
    return static_cast<double>(ran.of[1].sm.requests) / static_cast<double>(ran.ends[1]);
  };
  constexpr double kBound = 4 * 1.0 / 100;  // of four SMs
  EXPECT_GT(rate(free), 1.5 * kBound);
  EXPECT_LT(rate(limited), 1.01 * kBound);
  EXPECT_GT(rate(limited), 0.8 * kBound);
  EXPECT_GT(limited.of[1].sharing.token_wait_cycles, limited.ends[1] / 2);
  EXPECT_EQ(limited.of[0].sharing.token_wait_cycles, 0u);
  EXPECT_EQ(free.of[1].sharing.token_wait_cycles, 0u);
  EXPECT_LT(limited.ends[0], free.ends[0]) << "the other has the way to itself";
  expect_the_same_however_it_is_run(knobs);
}

TEST_F(GpuKnobs, APlaceInTheMissQueueIsAnothersWhenItsShareIsFull) {
  Knobs knobs;
  knobs.tenant[1].miss_queue = 1;
  machine.noc.clock_mhz = machine.core_clock_mhz / 8;  // so that requests wait there
  const auto refused = [](const Ran& ran, unsigned t) {
    return ran.of[t].sm.l1d_refused[static_cast<unsigned>(stats::Refusal::MissQueue)];
  };
  const Ran free = run({}), limited = run(knobs);
  EXPECT_GT(refused(limited, 1), refused(free, 1));
  expect_the_same_however_it_is_run(knobs);
}

TEST_F(GpuKnobs, BehindAStreamThatWaitsForTokensTheOtherGoesOnInAQueueOfItsOwn) {
  Knobs knobs;
  knobs.tenant[1].request_tokens = 1;
  knobs.tenant[1].miss_queue = 1;
  knobs.token_interval = 100;
  Knobs own = knobs;
  own.tenant[0].lsu_queue = own.tenant[1].lsu_queue = 2;
  EXPECT_LT(2 * run(own).ends[0], run(knobs).ends[0]);
  expect_the_same_however_it_is_run(own);
}

TEST_F(GpuKnobs, WaysOfTheL1dKeepLinesFromAStream) {
  Knobs knobs;
  knobs.tenant[0].l1d_ways = 0b1110;
  knobs.tenant[1].l1d_ways = 0b0001;
  const Ran free = run({}), walled = run(knobs);
  EXPECT_EQ(walled.of[0].sm.l1d_accesses, free.of[0].sm.l1d_accesses);
  EXPECT_GT(walled.of[0].sm.l1d_hits, free.of[0].sm.l1d_hits);
  expect_the_same_however_it_is_run(knobs);
}

TEST_F(GpuKnobs, WaysOfTheL2KeepLinesFromAStream) {
  machine.l2.size_kib = 4;  // the stream is larger
  machine.sm.l1d.size_kib = 1;
  Knobs knobs;
  knobs.tenant[0].l2_ways = 0b11111110;
  knobs.tenant[1].l2_ways = 0b00000001;
  const Ran free = run({}), walled = run(knobs);
  EXPECT_LT(walled.of[0].dram.reads, free.of[0].dram.reads);
  expect_the_same_however_it_is_run(knobs);
}

TEST_F(GpuKnobs, TheBetterRankWaitsLessInTheDramQueue) {
  machine.dram.channels = 1;
  machine.l2.slices = 2;
  machine.l2.size_kib = 4;
  const auto wait = [](const Ran& ran, unsigned t) {
    return static_cast<double>(ran.of[t].dram.queue_cycles) /
           static_cast<double>(ran.of[t].dram.reads + ran.of[t].dram.writes);
  };
  Knobs first, second;
  first.tenant[1].dram_rank = 1;
  second.tenant[0].dram_rank = 1;
  for (const char* policy : {"frfcfs", "clams"}) {
    dram = policy;
    const Ran zero_goes_first = run(first), one_goes_first = run(second);
    EXPECT_LT(wait(zero_goes_first, 0), wait(one_goes_first, 0)) << policy;
    EXPECT_GT(wait(zero_goes_first, 1), wait(one_goes_first, 1)) << policy;
    expect_the_same_however_it_is_run(first);
  }
}

TEST_F(GpuKnobs, AnIssueQuotaHoldsBackItsTenant) {
  Knobs knobs;
  knobs.tenant[1].issue_quota = 3;
  knobs.issue_epoch = 400;
  knobs.issue_by_all = true;
  const Ran free = run({}), limited = run(knobs);
  EXPECT_LT(limited.ends[0], free.ends[0] * 2 / 3) << "the other has the SMs to itself";
  expect_the_same_however_it_is_run(knobs);
  knobs.issue_by_all = false;
  const Ran ready = run(knobs);
  EXPECT_GT(ready.ends[0], limited.ends[0]) << "it goes on when nobody else is ready";
  EXPECT_LT(ready.ends[0], free.ends[0]);
  expect_the_same_however_it_is_run(knobs);
}

TEST_F(GpuKnobs, TheArbiterMakesAnAccessLonger) {
  Knobs knobs;
  const auto outside = [](const Ran& ran) {
    return static_cast<double>(ran.of[0].sm.load_cycles) / static_cast<double>(ran.of[0].sm.loads);
  };
  const Ran free = run(knobs);
  knobs.arbiter_cycles = policy::Knobs::kMaxArbiterCycles;
  EXPECT_GT(outside(run(knobs)), outside(free));
  expect_the_same_however_it_is_run(knobs);
}

TEST_F(GpuKnobs, AllAtOnceTheAccountsAddUp) {
  Knobs knobs;
  for (unsigned t = 0; t < 2; ++t) {
    policy::TenantKnobs& of = knobs.tenant[t];
    of.request_tokens = 3 + t;
    of.miss_queue = 2;
    of.lsu_queue = 1 + t;
    of.priority = static_cast<std::uint8_t>(t);
    of.l1d_ways = t == 0 ? 0b0011 : 0b1100;
    of.l2_ways = t == 0 ? 0x0f : 0xf0;
    of.dram_rank = static_cast<std::uint8_t>(1 - t);
    of.issue_quota = 20 + 30 * t;
    of.active_blocks = 2;
  }
  knobs.arbiter_cycles = 2;
  knobs.token_interval = 64;
  for (const bool keeps_dirty : {false, true}) {
    if (keeps_dirty) machine.sm.l1d.write_policy = timing::WritePolicy::WriteBack;
    expect_the_same_however_it_is_run(knobs);
  }
}

TEST_F(GpuKnobs, OfTenantsThatAreNotThereDoNothing) {
  Knobs knobs;
  knobs.tenant[6].request_tokens = 0.5;
  knobs.tenant[6].l1d_ways = knobs.tenant[6].l2_ways = 1;
  knobs.tenant[6].dram_rank = 0;
  const Ran with = run(knobs), without = run({});
  EXPECT_EQ(with.of[0].dram.reads, without.of[0].dram.reads);
  EXPECT_EQ(with.of[1].sm.l1d_hits, without.of[1].sm.l1d_hits);
}

// What a scheme is shown: in every look, what the counters of tenants and the SMs say.
TEST_F(GpuKnobs, AreSetByWhatTheSchemeSees) {
  std::uint64_t waited = 0, starved = 0, reads = 0, dram_accesses = 0;
  unsigned max_warps = 0, uneven = 0;
  auto scheme = std::make_unique<ScriptedScheme>([&](const policy::SchemeView& view, Knobs& set) {
    set.tenant[1].request_tokens = 2;
    for (const policy::TenantView& of : view.tenant) {
      reads += of.counts.read_packets;
      dram_accesses += of.counts.dram_accesses;
      EXPECT_EQ(of.resident_warps.size(), 4u);
      for (unsigned sm = 0; sm < 4; ++sm) {
        max_warps = std::max(max_warps, of.resident_warps[sm]);
        if (of.resident_warps[sm] > 2 * of.resident_blocks[sm]) ++uneven;
      }
    }
    waited += view.tenant[1].counts.token_wait_cycles;
    starved += view.tenant[1].counts.starved_intervals;
    EXPECT_EQ(view.tenant[0].block.threads, 64u);
    EXPECT_EQ(view.tenant[0].block.warps, 2u);
    EXPECT_EQ(view.tenant[0].max_blocks, 4u) << "16 blocks on 4 SMs";
    EXPECT_EQ(view.tenant[2].max_blocks, 0u);
    return view.now + 100;
  });
  Recording again = reader(0, 6, 20), stream = reader(1 << 16, 120, 1);
  GpuHarness gpu(machine, {}, std::move(scheme));
  gpu.submit(again, 1, tenant(0));
  gpu.submit(stream, 2, tenant(1));
  gpu->run_until_idle();
  EXPECT_EQ(uneven, 0u) << "two warps a block";
  EXPECT_GE(max_warps, 2u);
  const stats::GpuCounters all = gpu->counters();
  EXPECT_GT(waited, 0u);
  EXPECT_GT(starved, 0u);
  EXPECT_LE(starved, waited);
  EXPECT_LE(waited, all.sharing.token_wait_cycles);
  EXPECT_LE(reads, all.request.packets) << "nothing is stored";
  EXPECT_GT(reads, all.request.packets / 2);
  EXPECT_GT(dram_accesses, 0u);
  EXPECT_LE(dram_accesses, all.dram.reads + all.dram.writes);
}

// --- knobs that nobody could obey, or that would stop a tenant -----------------------------------

TEST_F(GpuKnobs, AreRefusedByName) {
  const auto with = [](auto set) {
    Knobs knobs;
    set(knobs.tenant[1]);
    return knobs;
  };
  const auto refusal = [this](const Knobs& knobs) -> std::string {
    try {
      run(knobs);
    } catch (const RunError& error) {
      return error.what();
    }
    return "";
  };
  using ::testing::AllOf;
  using ::testing::HasSubstr;
  using T = policy::TenantKnobs;
  EXPECT_THAT(refusal(with([](T& t) { t.request_tokens = 0; })),
              HasSubstr("policy 'scheme=scripted' answers wrongly: expected that it grants every"));
  EXPECT_THAT(refusal(with([](T& t) { t.request_tokens = T::kMaxTokens + 0.5; })),
              HasSubstr("grants a tenant at most 10^6 request tokens"));
  EXPECT_EQ(refusal(with([](T& t) { t.request_tokens = T::kMaxTokens; })), "");
  EXPECT_THAT(refusal(with([](T& t) { t.miss_queue = 0; })),
              HasSubstr("gives every tenant a place"));
  EXPECT_THAT(refusal(with([](T& t) { t.lsu_queue = 0; })),
              HasSubstr("gives every tenant a place"));
  EXPECT_THAT(refusal(with([](T& t) { t.issue_quota = 0; })), HasSubstr("lets every tenant issue"));
  EXPECT_THAT(refusal(with([](T& t) { t.l1d_ways = 0b10000; })), HasSubstr("a way of the L1D"));
  EXPECT_THAT(refusal(with([](T& t) { t.l2_ways = 0; })), HasSubstr("a way of the L2"));
  {
    timing::L1dSpec& l1 = machine.sm.l1d;
    const timing::L1dSpec fixed = l1;
    l1.unified_kib = machine.sm.shared_kib + l1.size_kib;
    l1.shared_kib_choices = std::to_string(machine.sm.shared_kib);
    l1.reserve_on_miss = false;
    l1.write_policy = l1.local_write_policy = timing::WritePolicy::WriteThrough;
    EXPECT_THAT(refusal(with([](T& t) { t.l1d_ways = 1; })),
                AllOf(HasSubstr("nobody obeys"), HasSubstr("l1d_ways")))
        << "its size follows the kernels";
    l1 = fixed;
  }
  machine.dram.model = timing::DramModel::Fixed;
  EXPECT_THAT(refusal(with([](T& t) { t.dram_rank = 1; })),
              AllOf(HasSubstr("nobody obeys"), HasSubstr("dram_rank")));
  machine.sm.l1d.size_kib = 0;
  EXPECT_THAT(refusal(with([](T& t) { t.l1d_ways = 1; })),
              AllOf(HasSubstr("nobody obeys"), HasSubstr("l1d_ways")));
}

}  // namespace
}  // namespace raddle::gpu_knobs_test
