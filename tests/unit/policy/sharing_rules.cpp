// The rules by which schemes share SMs and bandwidth, against the examples of their papers and
// cases done by hand.
#include <gtest/gtest.h>

#include <cmath>

#include "raddle/policy/scheme/bandwidth_shares.h"
#include "raddle/policy/scheme/hill_climb.h"
#include "raddle/policy/scheme/water_filling.h"

namespace raddle::policy::sharing_rules_test {
namespace {

using Counts = std::vector<std::uint32_t>;
constexpr auto kLs = BandwidthKind::LatencySensitive;
constexpr auto kNoc = BandwidthKind::NocIntensive;
constexpr auto kDram = BandwidthKind::DramIntensive;

// --- dominant resource fairness -----------------------------------------------------------------

SharingBlocks block(std::uint32_t threads, std::uint32_t shared, std::uint32_t maximum = 32) {
  return {{threads, threads / 32, 0, shared}, maximum};
}

TEST(DominantShare, IsOfTheResourceThatRunsOutFirst) {
  const SmResources sm;
  EXPECT_DOUBLE_EQ(dominant_share(sm, block(256, 12 * 1024).block, 3), 0.375);
  EXPECT_DOUBLE_EQ(dominant_share(sm, block(256, 24 * 1024).block, 2), 0.5) << "shared memory";
  EXPECT_DOUBLE_EQ(dominant_share(sm, {}, 8), 0.25) << "slots";
  EXPECT_DOUBLE_EQ(dominant_share(sm, {32, 1, 32768, 0}, 1), 0.5) << "registers";
}

TEST(DominantShare, GrantsInTurnUntilNothingFits) {
  // K1 K2 K1 K1 K2 K1: half of the threads and of the shared memory each.
  const std::vector<SharingBlocks> two = {block(256, 12 * 1024), block(512, 2 * 1024)};
  EXPECT_EQ(share_by_dominant({}, two), (Counts{4, 2}));
  EXPECT_EQ(share_by_dominant({}, {two[0]}), (Counts{8}));
}

TEST(DominantShare, WhoCannotUseMoreLeavesTheRest) {
  EXPECT_EQ(share_by_dominant({}, {block(256, 0, 2), block(512, 0)}), (Counts{2, 3}));
}

TEST(DominantShare, TenantsThatDoNotFitTogetherAreRefused) {
  expect_one_of_each({}, {block(1024, 0), block(1024, 0)}, "smk");
  try {
    expect_one_of_each({}, {block(1024, 0), block(1056, 0)}, "smk");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("\"smk\""), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("2080 of 2048"), std::string::npos) << error.what();
  }
}

// --- water filling ------------------------------------------------------------------------------

TEST(WaterFilling, RaisesTheLowest) {
  SmResources six;
  six.blocks = 6;
  const WaterLevel level =
      fill_by_curves(six, {{{}, 6}, {{}, 6}}, {{.30, .55, .75, .90, 1.0}, {.50, .80, 1.0, 1.0}});
  EXPECT_EQ(level.blocks, (Counts{4, 2}));
  EXPECT_DOUBLE_EQ(level.minimum, 0.8);
}

TEST(WaterFilling, GoesByEachTenantsBestAndOverPointsThatAreNotHigher) {
  SmResources eight;
  eight.blocks = 8;
  // 10/40 is raised over the dip to 4 blocks; 90/100 is left.
  const WaterLevel level =
      fill_by_curves(eight, {{{}, 8}, {{}, 8}}, {{10, 8, 10, 40}, {90, 100, 50}});
  EXPECT_EQ(level.blocks, (Counts{4, 2}));
  EXPECT_DOUBLE_EQ(level.minimum, 1);
}

TEST(WaterFilling, StopsWhereBlocksOrTheCurveEnd) {
  SmResources four;
  four.blocks = 4;
  EXPECT_EQ(fill_by_curves(four, {{{}, 2}, {{}, 9}}, {{1, 2, 3}, {1, 2}}).blocks, (Counts{2, 2}));
  EXPECT_EQ(fill_by_curves(four, {{{}, 9}, {{}, 9}}, {{1, 5}, {1, 1, 1, 9}}).blocks, (Counts{2, 1}))
      << "four more do not fit";
}

// --- equations (1) to (7) -----------------------------------------------------------------------

/// The paper's machine: 60 % of 614.4 GB/s and 70 % of 319 GB/s, in 200 cycles of 1200 MHz.
BandwidthRates paper() {
  BandwidthRates out;
  out.noc = 0.6 * 614.4e9 * 200 / 1.2e9;
  out.dram = 0.7 * 319e9 * 200 / 1.2e9;
  return out;
}

TEST(BandwidthRates, AllThatIsSustainableIs24RequestsAnInterval) {
  EXPECT_NEAR(paper().rate_within(1, 0, 1, 1), 24, 1e-9);
}

TEST(BandwidthRates, EvenSharesAreTheTighterOfBoth) {
  const BandwidthRates r = paper();
  EXPECT_NEAR(r.rate_within(1, 0.15, 0.5, 0.5), 12, 1e-9);
  EXPECT_NEAR(r.rate_within(0, 0.15, 0.5, 0.5), 60.6, 0.05) << "the memory's term alone";
  EXPECT_NEAR(r.rate_within(1, 2, 0.5, 0.5), r.rate_within(0, 2, 0.5, 0.5), 1e-9);
  EXPECT_TRUE(std::isinf(r.rate_within(0, 0, 0.5, 0.5)));
}

TEST(BandwidthRates, RatesAndBandwidthsAreEachOthersInverse) {
  const BandwidthRates r = paper();
  EXPECT_NEAR(r.noc_of(0.8, r.rate_within(0.8, 0, 0.3, 1)), 0.3 * r.noc, 1e-6);
  EXPECT_NEAR(r.dram_of(1.4, r.rate_within(0, 1.4, 1, 0.3)), 0.3 * r.dram, 1e-6);
}

TEST(BandwidthRates, TheDominantBandwidthAloneDecidesARate) {
  const BandwidthRates r = paper();
  // All of the network and no part of memory, as CCBP gives whom it saw without accesses of DRAM.
  EXPECT_DOUBLE_EQ(r.rate_of_dominant(kNoc, 1, 0.5, 0.5, 0), r.rate_of_noc(1, 0.5));
  EXPECT_EQ(r.rate_within(1, 0.5, 0.5, 0), 0);
  EXPECT_DOUBLE_EQ(r.rate_of_dominant(kDram, 1, 2, 0.01, 0.4), r.rate_of_dram(2, 0.4));
  // A latency-sensitive tenant has the greater of two, of what it uses at all.
  EXPECT_DOUBLE_EQ(r.rate_of_dominant(kLs, 1, 2, 0.5, 0.01), r.rate_of_noc(1, 0.5));
  EXPECT_DOUBLE_EQ(r.rate_of_dominant(kLs, 1, 2, 0.01, 0.5), r.rate_of_dram(2, 0.5));
  EXPECT_DOUBLE_EQ(r.rate_of_dominant(kLs, 1, 0, 0.5, 0.5), r.rate_of_noc(1, 0.5));
  EXPECT_DOUBLE_EQ(r.rate_of_dominant(kLs, 0, 2, 0.5, 0.5), r.rate_of_dram(2, 0.5));
  EXPECT_TRUE(std::isinf(r.rate_of_dominant(kLs, 0, 0, 0.5, 0.5)));
  // Where shares are in the proportion of the factors, all readings are one.
  const double rate = 7, noc = r.noc_of(1, rate) / r.noc, dram = r.dram_of(0.8, rate) / r.dram;
  for (const BandwidthKind kind : {kLs, kNoc, kDram})
    EXPECT_NEAR(r.rate_of_dominant(kind, 1, 0.8, noc, dram), rate, 1e-9);
  EXPECT_NEAR(r.rate_within(1, 0.8, noc, dram), rate, 1e-9);
}

TEST(BandwidthRates, TheRatioOfDfAndRfSaysWhichIsScarce) {
  const BandwidthRates r = paper();
  EXPECT_EQ(r.kind_of(1, 0.15), kNoc);
  EXPECT_EQ(r.kind_of(1, 0.88), kDram);
  EXPECT_EQ(r.kind_of(1, 0.756), kNoc) << "0.757 is equation 7's right side";
  EXPECT_EQ(r.kind_of(1, 0.758), kDram);
  EXPECT_EQ(r.kind_of(0, 1), kDram) << "stores alone";
}

TEST(RequestMix, CountsWhatRequestsCost) {
  // Figure 7: a load that hits, one that misses, a store that hits, one that pushes out a dirty
  // line.
  const RequestMix mix{4, 2, 0 + 1 + 0 + 2};
  EXPECT_DOUBLE_EQ(mix.rf(), 0.5);
  EXPECT_DOUBLE_EQ(mix.df(), 0.75);
  EXPECT_EQ(RequestMix{}.rf(), 0);
}

// --- bandwidth by blocks ------------------------------------------------------------------------

TEST(BandwidthCurve, IsMeasuredAtPowersOfTwoAndTheEnd) {
  EXPECT_EQ(counts_of_interest(1), (Counts{1}));
  EXPECT_EQ(counts_of_interest(4), (Counts{1, 2, 4}));
  EXPECT_EQ(counts_of_interest(6), (Counts{1, 2, 4, 6}));
}

TEST(BandwidthCurve, GoesStraightBetweenPointsAndOnBehindThem) {
  BandwidthCurve curve;
  EXPECT_EQ(curve.at(3, 20), 0);
  curve.add(2, 6);
  curve.add(4, 10);
  EXPECT_DOUBLE_EQ(curve.at(0, 20), 0);
  EXPECT_DOUBLE_EQ(curve.at(1, 20), 3);
  EXPECT_DOUBLE_EQ(curve.at(3, 20), 8);
  EXPECT_DOUBLE_EQ(curve.at(6, 20), 14);
  EXPECT_DOUBLE_EQ(curve.at(10, 20), 20) << "the cap";
  curve.add(8, 9);
  EXPECT_DOUBLE_EQ(curve.at(6, 20), 9.5);
  EXPECT_DOUBLE_EQ(curve.at(20, 20), 9) << "not down";
  EXPECT_DOUBLE_EQ(BandwidthCurve::linear(0.5).at(6, 20), 3);
}

// --- algorithm 1 --------------------------------------------------------------------------------

/// The three tenants of the paper's table 3.
BandwidthShares table_3(bool clip, double prior = 1) {
  SmResources ten;
  ten.blocks = 10;
  const auto tenant = [](BandwidthKind kind, double noc, double dram) {
    return BandwidthTenant{
        kind, {{}, 10}, BandwidthCurve::linear(noc), BandwidthCurve::linear(dram)};
  };
  return BandwidthShares(ten, {tenant(kLs, 0.5, 0.5), tenant(kDram, 2, 4), tenant(kNoc, 3, 1)},
                         {10, prior, clip});
}

struct Row {
  std::size_t tenant;
  bool given;
  Counts blocks;
  std::vector<double> noc, dram;
};

void expect_step(BandwidthShares& shares, const Row& row, int iteration) {
  const auto step = shares.step();
  ASSERT_TRUE(step.has_value()) << iteration;
  EXPECT_EQ(step->tenant, row.tenant) << iteration;
  EXPECT_EQ(step->given, row.given) << iteration;
  for (std::size_t t = 0; t < 3; ++t) {
    EXPECT_EQ(shares.shares()[t].blocks, row.blocks[t]) << iteration << " tenant " << t;
    EXPECT_NEAR(shares.shares()[t].noc, row.noc[t], 1e-9) << iteration << " tenant " << t;
    EXPECT_NEAR(shares.shares()[t].dram, row.dram[t], 1e-9) << iteration << " tenant " << t;
  }
}

constexpr double kThird = 1.0 / 3;
const std::vector<Row> kTable3 = {
    // The columns that the paper prints are 1, 2, 3, 6, 11, 12 and 16.
    {0, true, {1, 0, 0}, {0.5, 0, 0}, {0.5, 0, 0}},
    {1, true, {1, 1, 0}, {0.5, 0.5, 0}, {0.5, 1, 0}},
    {2, true, {1, 1, 1}, {0.5, 0.5, 1}, {0.5, 1, kThird}},
    {0, true, {2, 1, 1}, {1, 0.5, 1}, {1, 1, kThird}},
    {1, true, {2, 1, 1}, {1, 1, 1}, {1, 2, kThird}},
    {2, true, {2, 1, 1}, {1, 1, 2}, {1, 2, 2 * kThird}},
    {0, true, {3, 1, 1}, {1.5, 1, 2}, {1.5, 2, 2 * kThird}},
    {1, true, {3, 1, 1}, {1.5, 1.5, 2}, {1.5, 3, 2 * kThird}},
    {2, true, {3, 1, 1}, {1.5, 1.5, 3}, {1.5, 3, 1}},
    {0, true, {4, 1, 1}, {2, 1.5, 3}, {2, 3, 1}},
    {1, true, {4, 1, 1}, {2, 2, 3}, {2, 4, 1}},
    {2, true, {4, 1, 2}, {2, 2, 4}, {2, 4, 4 * kThird}},
    {0, true, {5, 1, 2}, {2.5, 2, 4}, {2.5, 4, 4 * kThird}},
    {1, true, {5, 2, 2}, {2.5, 2.5, 4}, {2.5, 5, 4 * kThird}},
    {2, true, {5, 2, 2}, {2.5, 2.5, 5}, {2.5, 5, 5 * kThird}},
    {0, true, {6, 2, 2}, {2.5, 2.5, 5}, {2.5, 5, 5 * kThird}},  // clipped
    {1, false, {6, 2, 2}, {2.5, 2.5, 5}, {2.5, 5, 5 * kThird}},
    {2, false, {6, 2, 2}, {2.5, 2.5, 5}, {2.5, 5, 5 * kThird}},
    {0, false, {6, 2, 2}, {2.5, 2.5, 5}, {2.5, 5, 5 * kThird}},
};

TEST(BandwidthShares, AreThoseOfTable3InEveryIteration) {
  BandwidthShares shares = table_3(true);
  for (std::size_t i = 0; i < kTable3.size(); ++i)
    expect_step(shares, kTable3[i], static_cast<int>(i + 1));
  EXPECT_FALSE(shares.step().has_value());
}

TEST(BandwidthShares, WithoutTheExceptionABlockIsLeft) {
  BandwidthShares shares = table_3(false);
  for (std::size_t i = 0; i < 15; ++i) expect_step(shares, kTable3[i], static_cast<int>(i + 1));
  Row end = kTable3[14];
  end.given = false;
  for (const std::size_t tenant : {0u, 1u, 2u}) {
    end.tenant = tenant;
    expect_step(shares, end, static_cast<int>(16 + tenant));
  }
  EXPECT_FALSE(shares.step().has_value());
}

TEST(BandwidthShares, ALowerPriorGivesLatencySensitiveTenantsMore) {
  BandwidthShares even = table_3(true), first = table_3(true, 0.5);
  EXPECT_GT(first.all()[0].blocks, even.all()[0].blocks);
  EXPECT_LT(first.all()[1].dram, even.all()[1].dram);
}

TEST(BandwidthShares, AreStaticSharesWhereAllAreLatencySensitive) {
  const std::vector<SharingBlocks> blocks = {block(256, 12 * 1024), block(512, 2 * 1024)};
  std::vector<BandwidthTenant> tenants(2);
  for (std::size_t t = 0; t < 2; ++t)
    tenants[t] = {kLs, blocks[t], BandwidthCurve::linear(30), BandwidthCurve::linear(1)};
  BandwidthShares shares({}, tenants, {});
  const Counts by_static = share_by_dominant({}, blocks);
  for (std::size_t t = 0; t < 2; ++t) EXPECT_EQ(shares.all()[t].blocks, by_static[t]);
}

TEST(BandwidthShares, WhoUsesNoneOfItsBandwidthOrHasNoMoreBlocksIsFinished) {
  SmResources ten;
  ten.blocks = 10;
  BandwidthTenant idle{kNoc, {{}, 5}, {}, BandwidthCurve::linear(1)};
  BandwidthTenant small{kDram, {{}, 2}, BandwidthCurve::linear(1), BandwidthCurve::linear(2)};
  BandwidthShares shares(ten, {idle, small}, {});
  EXPECT_EQ(shares.all()[0], BandwidthShare{});
  EXPECT_EQ(shares.all()[1], (BandwidthShare{2, 2, 4})) << "two blocks use four units";
}

TEST(BandwidthShares, FillHandsOutWhatIsLeftInProportion) {
  SmResources ten;
  ten.blocks = 10;
  BandwidthTenant network{kNoc, {{}, 2}, BandwidthCurve::linear(3), BandwidthCurve::linear(1)};
  BandwidthTenant memory{kDram, {{}, 2}, BandwidthCurve::linear(1), BandwidthCurve::linear(2)};
  BandwidthShares shares(ten, {network, memory}, {});
  EXPECT_EQ(shares.all()[0], (BandwidthShare{2, 6, 2}));
  EXPECT_EQ(shares.all()[1], (BandwidthShare{2, 2, 4}));
  shares.fill();
  EXPECT_DOUBLE_EQ(shares.shares()[0].noc, 15);
  EXPECT_DOUBLE_EQ(shares.shares()[1].noc, 5);
  EXPECT_DOUBLE_EQ(shares.shares()[0].dram + shares.shares()[1].dram, 20);
  EXPECT_DOUBLE_EQ(shares.shares()[1].dram, 2 * shares.shares()[0].dram);
  EXPECT_EQ(shares.shares()[0].blocks, 2u);
  // Of a bandwidth that nobody uses nobody has a share.
  BandwidthTenant alone{kNoc, {{}, 2}, BandwidthCurve::linear(3), {}};
  BandwidthShares none(ten, {alone}, {});
  none.all();
  none.fill();
  EXPECT_EQ(none.shares()[0], (BandwidthShare{2, 20, 0}));
}

// --- hill climbing ------------------------------------------------------------------------------

TEST(HillClimb, GoesDownUntilTheGoalFalls) {
  HillClimb climb(1, 0.1, 0.1);
  for (const auto& [prior, goal] :
       {std::pair{1.0, 0.5}, {0.9, 0.6}, {0.8, 0.6}, {0.7, 0.65}, {0.6, 0.64}}) {
    ASSERT_FALSE(climb.done());
    EXPECT_NEAR(climb.value(), prior, 1e-9);
    climb.measured(goal);
  }
  EXPECT_TRUE(climb.done());
  EXPECT_NEAR(climb.best(), 0.7, 1e-9);
  EXPECT_NEAR(climb.value(), 0.7, 1e-9);
  EXPECT_EQ(climb.best_goal(), 0.65);
}

TEST(HillClimb, EndsAtTheFloor) {
  HillClimb climb(0.3, 0.1, 0.1);
  climb.measured(1);
  climb.pass();
  EXPECT_NEAR(climb.value(), 0.1, 1e-9);
  climb.measured(2);
  EXPECT_TRUE(climb.done());
  EXPECT_NEAR(climb.best(), 0.1, 1e-9);
}

TEST(HillClimb, PassesValuesThatWouldShowNothing) {
  HillClimb climb(1, 0.5, 0.1);
  climb.measured(1);
  climb.pass();
  EXPECT_TRUE(climb.done());
  EXPECT_NEAR(climb.best(), 1, 1e-9);
}

}  // namespace
}  // namespace raddle::policy::sharing_rules_test
