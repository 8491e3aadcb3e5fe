// Schemes by hand: how SMs are split, which caps hold, which blocks may issue, and what the phases
// of CCBP do.
#include <gtest/gtest.h>

#include <cmath>

#include "raddle/base/error.h"
#include "raddle/policy/all.h"
#include "raddle/timing/gpu/block_caps.h"
#include "raddle/timing/sm/active_blocks.h"
#include "support/settings.h"

namespace raddle::schemes_test {
namespace {

using policy::Knobs;
using policy::kNoLimit;

struct Looked {
  Knobs knobs;
  Cycle next;
};

Looked look(const char* name, unsigned sms, std::uint8_t present,
            const test::Settings& settings = {}) {
  const auto choice = test::choose(policy::all_policies().scheme, name, settings);
  policy::SchemePolicy::Context context;
  context.sms = sms;
  const auto scheme = choice->make(context);
  const std::array<policy::TenantView, kMaxTenants> tenants{};
  Looked out{};
  out.next = scheme->look({0, 0, present, tenants}, out.knobs);
  return out;
}

/// SMs on which the tenant may have blocks.
std::vector<unsigned> sms_of(const Knobs& knobs, unsigned tenant, unsigned sms) {
  std::vector<unsigned> out;
  for (unsigned sm = 0; sm < sms; ++sm)
    if (knobs.tenant[tenant].cap(sm) != 0) out.push_back(sm);
  return out;
}
using Sms = std::vector<unsigned>;

TEST(Spatial, SplitsEvenlyAndGivesTheRemainderToLowerNumbers) {
  const Looked three = look("spatial", 8, 0b1011);
  EXPECT_EQ(sms_of(three.knobs, 0, 8), (Sms{0, 1, 2}));
  EXPECT_EQ(sms_of(three.knobs, 1, 8), (Sms{3, 4, 5}));
  EXPECT_EQ(sms_of(three.knobs, 3, 8), (Sms{6, 7}));
  EXPECT_EQ(three.knobs.tenant[0].cap(0), kNoLimit);
  EXPECT_EQ(three.next, kNever);
}

TEST(Spatial, GivesWhatIsAskedForAndSplitsTheRest) {
  const Looked split = look("spatial", 8, 0b0111, {{"sms_1", "5"}});
  EXPECT_EQ(sms_of(split.knobs, 1, 8), (Sms{0, 1, 2, 3, 4}));
  EXPECT_EQ(sms_of(split.knobs, 0, 8), (Sms{5, 6}));
  EXPECT_EQ(sms_of(split.knobs, 2, 8), (Sms{7}));
}

TEST(Spatial, CapsBlocksOnATenantsOwnSms) {
  const Looked split = look("spatial", 4, 0b0011, {{"blocks_1", "3"}});
  EXPECT_EQ(split.knobs.tenant[0].block_cap,
            (std::vector<std::uint32_t>{kNoLimit, kNoLimit, 0, 0}));
  EXPECT_EQ(split.knobs.tenant[1].block_cap, (std::vector<std::uint32_t>{0, 0, 3, 3}));
}

TEST(Spatial, MoreTenantsThanSmsShareThem) {
  const Looked many = look("spatial", 2, 0b1111);
  EXPECT_EQ(sms_of(many.knobs, 0, 2), (Sms{0}));
  EXPECT_EQ(sms_of(many.knobs, 1, 2), (Sms{1}));
  EXPECT_EQ(sms_of(many.knobs, 2, 2), (Sms{0}));
  EXPECT_EQ(sms_of(many.knobs, 3, 2), (Sms{1}));
}

TEST(Spatial, RefusesToGiveAwayMoreThanThereIs) {
  policy::MachineFacts machine;
  machine.sms = 8;
  const auto broken = [&](const char* sms) {
    const auto choice = test::choose(policy::all_policies().scheme, "spatial", {{"sms_0", sms}});
    return choice->violations(machine).size();
  };
  EXPECT_EQ(broken("7"), 0u);
  EXPECT_EQ(broken("8"), 1u) << "none is left for the others";
  EXPECT_EQ(broken("9"), 1u);
}

TEST(Static, CapsEverySmAlike) {
  const Looked caps = look("static", 3, 0b11, {{"blocks_0", "4"}, {"blocks_1", "2"}});
  EXPECT_EQ(caps.knobs.tenant[0].block_cap, (std::vector<std::uint32_t>{4, 4, 4}));
  EXPECT_EQ(caps.knobs.tenant[1].block_cap, (std::vector<std::uint32_t>{2, 2, 2}));
  EXPECT_EQ(caps.knobs.tenant[2].cap(1), kNoLimit);
  EXPECT_EQ(caps.knobs.tenant[0].miss_queue, kNoLimit) << "nobody's requests are limited";
}

TEST(Static, ReservesRequestsForThoseThatAreThere) {
  const Looked shares =
      look("static", 3, 0b101, {{"requests_2", "9"}, {"priority_0", "3"}, {"interval", "50"}});
  EXPECT_EQ(shares.knobs.token_interval, 50u);
  EXPECT_EQ(shares.knobs.tenant[2].request_tokens, 9);
  EXPECT_TRUE(std::isinf(shares.knobs.tenant[0].request_tokens)) << "no limit is named";
  EXPECT_EQ(shares.knobs.tenant[0].priority, 3u);
  // Two tenants: half of 128 places in the miss queue, half of 8 in the load/store unit.
  for (const unsigned tenant : {0u, 2u}) {
    EXPECT_EQ(shares.knobs.tenant[tenant].miss_queue, 64u);
    EXPECT_EQ(shares.knobs.tenant[tenant].lsu_queue, 4u);
  }
  EXPECT_EQ(shares.knobs.tenant[1].miss_queue, kNoLimit) << "it has no launch";
}

// --- schemes that go by blocks -------------------------------------------------------------------

/// Looks at tenants whose blocks and counts the test sets.
class Watched {
 public:
  explicit Watched(const char* name, const test::Settings& settings = {}) {
    choice = test::choose(policy::all_policies().scheme, name, settings);
    context.sms = 16;
    context.bandwidth = {2.0 / 3, 512, 319e9 / 1.2e9, 160, 128};
    context.ipc_alone.fill(1000);
  }
  void tenant(unsigned t, const policy::BlockResources& block) {
    view[t].block = block;
    view[t].max_blocks = policy::blocks_that_fit(context.sm, block);
    present |= static_cast<std::uint8_t>(1u << t);
  }
  /// In the cycle that the last look has named.
  void look() {
    if (scheme == nullptr) scheme = choice->make(context);
    const Cycle at = next;
    next = scheme->look({at, now, present, view}, knobs);
    now = at;
    for (policy::TenantView& of : view) of.counts = {};
  }
  std::vector<std::uint32_t> caps() const {
    return {knobs.tenant[0].cap(0), knobs.tenant[1].cap(15)};
  }
  std::unique_ptr<policy::Choice<policy::SchemePolicy>> choice;
  policy::SchemePolicy::Context context;
  std::unique_ptr<policy::SchemePolicy> scheme;
  std::array<policy::TenantView, kMaxTenants> view{};
  std::uint8_t present = 0;
  Knobs knobs;
  Cycle now = 0, next = 0;
};
using Caps = std::vector<std::uint32_t>;
constexpr policy::BlockResources kSmall{256, 8, 0, 12 * 1024}, kLarge{512, 16, 0, 2 * 1024};

TEST(Smk, SharesBlocksByDominantResourceAndIssueByWhatEachDoesAlone) {
  Watched w("smk");
  w.tenant(0, kSmall);
  w.tenant(1, kLarge);
  w.context.ipc_alone = {3200, 160};
  w.look();
  EXPECT_EQ(w.caps(), (Caps{4, 2}));
  EXPECT_EQ(w.knobs.tenant[0].issue_quota, kNoLimit) << "lanes are not known yet";
  w.view[0].counts.instructions = 100;
  w.view[0].counts.thread_instructions = 3200;
  w.view[1].counts.instructions = 100;
  w.view[1].counts.thread_instructions = 1600;
  w.look();
  // 3200 / 32 lanes / 16 SMs x 1000 cycles / 2 tenants; 160 / 16 / 16 x 500.
  EXPECT_EQ(w.knobs.tenant[0].issue_quota, 3125u);
  EXPECT_EQ(w.knobs.tenant[1].issue_quota, 312u);
  EXPECT_EQ(w.knobs.issue_epoch, 2000u);
  EXPECT_EQ(w.next - w.now, 20000u);
}

TEST(Smk, WithoutQuotasItNeedsNobodyAlone) {
  Watched w("smk", {{"quota", "false"}});
  w.tenant(0, kSmall);
  w.tenant(1, kLarge);
  w.look();
  EXPECT_EQ(w.next, kNever);
  EXPECT_FALSE(w.scheme->wants_ipc_alone());
  EXPECT_TRUE(Watched("smk").choice->make({})->wants_ipc_alone());
}

TEST(WarpedSlicer, FillsByTheCurvesItIsGiven) {
  Watched w("ws", {{"curve_0", ".3/.55/.75/.9/1"}, {"curve_1", "50/80/100/100"}});
  w.context.sm.blocks = 6;
  w.tenant(0, {});
  w.tenant(1, {});
  w.look();
  EXPECT_EQ(w.caps(), (Caps{4, 2}));
  EXPECT_EQ(w.next, kNever);
}

TEST(WarpedSlicer, StraightLinesJoinTheBlocksThatACurveNames) {
  Watched w("ws", {{"curve_0", "1:.3/3:.75/5:1"}, {"curve_1", "2:80/3:100/4:100"}});
  w.context.sm.blocks = 6;
  w.tenant(0, {});
  w.tenant(1, {});
  w.look();
  // .3 .525 .75 .875 1 and .4 .8 1 1: 1 and 1, then the first, the second, the first, the first.
  EXPECT_EQ(w.caps(), (Caps{4, 2}));
}

TEST(WarpedSlicer, WithoutCurvesAllScaleAlike) {
  Watched w("ws");
  w.tenant(0, kSmall);
  w.tenant(1, kLarge);
  w.look();
  EXPECT_EQ(w.caps(), (Caps{4, 2}));
}

TEST(WarpedSlicer, RefusesWhatIsNoCurve) {
  for (const char* text : {"1/x", "1//2", "/", "0/0", "-1/2", "nan", "1:", ":1", "2:1/2:3",
                           "2:1/1:3", "1.5:1", "5000:1"}) {
    const auto choice = test::choose(policy::all_policies().scheme, "ws", {{"curve_3", text}});
    const std::vector<std::string> broken = choice->violations({});
    ASSERT_EQ(broken.size(), 1u) << text;
    EXPECT_NE(broken[0].find("curve_3"), std::string::npos);
  }
}

TEST(SharingSchemes, LeaveATenantAloneAsItIs) {
  for (const char* name : {"smk", "ws", "ccbp"}) {
    Watched w(name);
    w.tenant(1, kLarge);
    w.look();
    EXPECT_EQ(w.knobs, Knobs{}) << name;
    EXPECT_EQ(w.next, kNever) << name;
  }
}

TEST(SharingSchemes, RefuseTenantsThatDoNotFitTogether) {
  for (const char* name : {"smk", "ws", "ccbp"}) {
    Watched w(name);
    w.tenant(0, {1536, 48, 0, 0});
    w.tenant(1, {1024, 32, 0, 0});
    EXPECT_THROW(w.look(), InputError) << name;
  }
}

/// Tenant 0 asks for little, tenant 1 for as much as it may have of the interconnect.
class CcbpPhases : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kSms = 16;
  static constexpr double kUnitCycles = 300;  // 200 of the interconnect
  void begin(const test::Settings& settings = {}) {
    w = std::make_unique<Watched>("ccbp", settings);
    w->tenant(0, {256, 8, 0, 0});
    w->tenant(1, {128, 4, 0, 0});
    w->look();
  }
  /// What is counted until the next look: requests of an SM in a time unit. `df`: of the second.
  void pass(double first, double second, double df = 0.1) {
    const double units = static_cast<double>(w->next - w->now) / kUnitCycles;
    const auto sum = [&](double rate) {
      return static_cast<std::uint64_t>(rate * units * static_cast<double>(kSms));
    };
    set(0, sum(first), sum(first));
    set(1, sum(second), sum(second * df));
    w->look();
  }
  void set(unsigned t, std::uint64_t reads, std::uint64_t dram) const {
    policy::TenantCounts& counts = w->view[t].counts;
    counts.request_packets = counts.read_packets = reads;
    counts.dram_accesses = dram;
    counts.thread_instructions = ipc[t] * (w->next - w->now);
  }
  Cycle waits() const { return w->next - w->now; }
  std::unique_ptr<Watched> w;
  std::array<std::uint64_t, 2> ipc = {500, 500};
};

TEST_F(CcbpPhases, WatchesWithEvenSharesThenGivesEachWhatLimitsIt) {
  begin();
  EXPECT_EQ(w->caps(), (Caps{4, 8})) << "half of what fits";
  EXPECT_TRUE(std::isinf(w->knobs.tenant[1].request_tokens));
  EXPECT_EQ(w->knobs.tenant[0].miss_queue, 64u);
  EXPECT_EQ(w->knobs.tenant[1].lsu_queue, 4u) << "half of the load/store unit's eight";
  EXPECT_EQ(w->knobs.arbiter_cycles, 1u);
  EXPECT_EQ(waits(), 50000u);
  pass(1, 30);
  EXPECT_EQ(waits(), 20000u);
  pass(1, 20);
  EXPECT_EQ(waits(), 20000u);
  EXPECT_NEAR(w->knobs.tenant[1].request_tokens, 12, 0.01) << "half of 24";
  EXPECT_EQ(w->knobs.tenant[0].priority, 0u);
  pass(1, 12);
  // Tenant 0 is latency sensitive; of tenant 1 the bandwidth with 1, 2, 4 and 8 blocks is measured.
  EXPECT_EQ(w->knobs.tenant[0].priority, 1u);
  for (const std::uint32_t active : {1u, 2u, 4u, 8u}) {
    EXPECT_EQ(waits(), 10000u) << active;
    EXPECT_EQ(w->knobs.tenant[1].active_blocks, active);
    EXPECT_TRUE(std::isinf(w->knobs.tenant[1].request_tokens));
    EXPECT_TRUE(std::isfinite(w->knobs.tenant[0].request_tokens));
    pass(1, 24);
    EXPECT_EQ(waits(), 10000u) << active;
    pass(1, 2.4 * active);  // two units with each block
  }
  EXPECT_EQ(w->knobs.tenant[1].active_blocks, kNoLimit);
  EXPECT_EQ(waits(), 10000u) << "blocks come and go";
  pass(1, 12);
  EXPECT_EQ(waits(), 90000u);
  // Four blocks of tenant 0 take half the threads, ten units of tenant 1 half the bandwidth; both
  // get more in turn until the SM is full.
  EXPECT_EQ(w->caps()[0] * 256 + w->caps()[1] * 128, 2048u);
  EXPECT_GT(w->knobs.tenant[1].request_tokens, 12);
  EXPECT_LT(w->knobs.tenant[0].request_tokens, 5);
}

// Half of its requests went to DRAM in the sample, of those measured one in twenty.
TEST_F(CcbpPhases, QuotasAreBySampleOrByTheLastPoint) {
  const auto tokens = [&](const char* quota, const char* point_factors) {
    begin({{"quota", quota}, {"point_factors", point_factors}});
    pass(1, 30, 0.5);
    pass(1, 20, 0.5);
    pass(1, 12, 0.5);
    for (int point = 0; point < 8; ++point) pass(1, 12, 0.05);
    return w->knobs.tenant[1].request_tokens;
  };
  const double by_sample = tokens("both", "false"), by_point = tokens("both", "true");
  EXPECT_NEAR(by_point / by_sample, 10, 0.3);
  // It is short of the network, whose factor is the same in both: what it has of DRAM does not
  // throttle it.
  EXPECT_DOUBLE_EQ(tokens("dominant", "false"), tokens("dominant", "true"));
  EXPECT_GT(tokens("dominant", "false"), 5 * by_sample);
}

TEST_F(CcbpPhases, TriesPriorsUntilTheSpeedupFalls) {
  begin();
  pass(1, 30);
  pass(1, 20);
  pass(1, 12);
  for (int point = 0; point < 8; ++point) pass(1, 12);
  const Caps first = w->caps();
  ipc = {500, 500};
  pass(1, 12);
  pass(1, 12);
  const Caps second = w->caps();
  EXPECT_GT(second[0], first[0]) << "another share is tried";
  ipc = {400, 500};
  pass(1, 12);
  pass(1, 12);
  EXPECT_EQ(w->caps(), first) << "and given up";
  EXPECT_EQ(w->next, kNever);
}

TEST_F(CcbpPhases, WithoutAdjustmentKeepsTheFirstShares) {
  begin({{"adjust", "false"}, {"scale", "0.1"}});
  EXPECT_EQ(waits(), 5000u);
  pass(1, 30);
  pass(1, 20);
  pass(1, 12);
  for (int point = 0; point < 8; ++point) pass(1, 12);
  EXPECT_EQ(w->next, kNever);
  EXPECT_FALSE(w->scheme->wants_ipc_alone());
  EXPECT_EQ(w->scheme->decides_after(), 9000u);
}

TEST_F(CcbpPhases, OfflineTakesTenTimesAsLongAndKeepsItsPrior) {
  begin({{"offline", "true"}, {"prior", "0.5"}});
  EXPECT_EQ(waits(), 500000u);
  pass(1, 30);
  pass(1, 20);
  pass(1, 12);
  EXPECT_EQ(waits(), 100000u);
  for (int point = 0; point < 8; ++point) pass(1, 12);
  EXPECT_EQ(w->next, kNever);
}

TEST_F(CcbpPhases, WhereAllAreLatencySensitiveNobodyHasAQuota) {
  begin();
  pass(1, 1);
  pass(1, 1);
  pass(1, 1);
  EXPECT_EQ(w->next, kNever);
  EXPECT_EQ(w->caps(), (Caps{4, 8})) << "dominant resource fairness";
  for (const unsigned t : {0u, 1u}) EXPECT_TRUE(std::isinf(w->knobs.tenant[t].request_tokens));
}

TEST_F(CcbpPhases, RequestsThatWaitHalfTheTimeAreASignToo) {
  begin();
  pass(1, 30);
  pass(1, 20);
  w->view[1].counts.starved_intervals = 20000 / 300 * kSms / 2 + kSms;
  pass(1, 6);
  EXPECT_EQ(w->knobs.tenant[1].active_blocks, 1u) << "it is bandwidth intensive";
}

TEST_F(CcbpPhases, BeginsAnewWhenAnotherTenantComes) {
  begin();
  pass(1, 30);
  pass(1, 20);
  w->tenant(2, kSmall);
  w->next = w->now + 100;
  w->look();
  EXPECT_EQ(waits(), 50000u);
  EXPECT_EQ(w->caps(), (Caps{2, 5})) << "a third";
  EXPECT_EQ(w->knobs.tenant[0].miss_queue, 48u) << "three of eight sub-queues, and three, and two";
  EXPECT_EQ(w->knobs.tenant[2].miss_queue, 32u);
  EXPECT_EQ(w->knobs.tenant[2].lsu_queue, 2u);
}

TEST_F(CcbpPhases, OneQueueInFrontOfTheL1dIsTheOtherReading) {
  begin({{"own_lsu", "false"}});
  EXPECT_EQ(w->knobs.tenant[0].lsu_queue, policy::kNoLimit);
  EXPECT_EQ(w->knobs.tenant[0].miss_queue, 64u);
}

TEST_F(CcbpPhases, LargerBlocksChangeTheSharesAndNotThePhase) {
  begin();
  pass(1, 30);
  w->tenant(0, {512, 16, 0, 0});
  const Cycle until = w->next;
  w->next = w->now + 100;
  w->look();
  EXPECT_EQ(w->next, until);
  EXPECT_EQ(w->caps(), (Caps{2, 8}));
}

TEST(BlockCaps, CountByTenantAndSm) {
  constexpr TenantId a{0}, b{1};
  timing::BlockCaps caps(2);
  caps.started(a, 0);
  caps.started(a, 0);
  Knobs knobs;
  knobs.tenant[0].block_cap = {2, 1};
  caps.obey(knobs);
  EXPECT_FALSE(caps.allows(a, 0));
  EXPECT_TRUE(caps.allows(a, 1));
  EXPECT_TRUE(caps.allows(b, 0)) << "another tenant's";
  knobs.tenant[0].block_cap = {1, 1};
  caps.obey(knobs);
  caps.ended(a, 0);
  EXPECT_FALSE(caps.allows(a, 0)) << "one is still there";
  caps.ended(a, 0);
  EXPECT_TRUE(caps.allows(a, 0));
}

TEST(ActiveBlocks, AreTheFirstThatCame) {
  constexpr TenantId a{0}, b{1};
  timing::ActiveBlocks blocks;
  Knobs knobs;
  knobs.tenant[0].active_blocks = 2;
  blocks.obey(knobs);
  blocks.started(a, 5, 0x1);
  blocks.started(b, 1, 0x2);
  blocks.started(a, 0, 0x4);
  EXPECT_EQ(blocks.held(), 0u);
  blocks.started(a, 2, 0x18);
  blocks.started(a, 3, 0x20);
  EXPECT_EQ(blocks.held(), 0x38u);
  blocks.ended(5);
  EXPECT_EQ(blocks.held(), 0x20u) << "the next in order of arrival";
  knobs.tenant[0].active_blocks = 1;
  blocks.obey(knobs);
  EXPECT_EQ(blocks.held(), 0x38u);
  blocks.obey(Knobs{});
  EXPECT_EQ(blocks.held(), 0u);
}

TEST(ActiveBlocks, AWarpSlotThatIsFreeMayBeAnothers) {
  constexpr TenantId a{0}, b{1};
  timing::ActiveBlocks blocks;
  Knobs knobs;
  blocks.started(a, 0, 0x1);
  blocks.started(a, 1, 0x6);
  knobs.tenant[0].active_blocks = 1;
  blocks.obey(knobs);
  EXPECT_EQ(blocks.held(), 0x6u);
  blocks.left(0x2);
  EXPECT_EQ(blocks.held(), 0x4u);
  blocks.started(b, 2, 0x2);
  EXPECT_EQ(blocks.held(), 0x4u) << "the other tenant's warp may issue";
}

}  // namespace
}  // namespace raddle::schemes_test
