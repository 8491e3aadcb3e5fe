// What expressions mean, on tables of made-up metrics.
#include "raddle/lab/evaluate/evaluator.h"

#include <fmt/format.h>

#include <cmath>
#include <random>

#include "unit/lab/support.h"

namespace raddle::lab::test::evaluator_test {
namespace {

/// An experiment with numbers.
struct Lab {
  Experiment e;
  Grid grid{e};
  TableSource source{e, grid};

  explicit Lab(const std::string& text = kWhole) : e(experiment(text)) {
    set("vecadd/lrr", 2);
    set("vecadd/gto", 4);
    set("red/lrr", 10);
    set("red/gto", 5);
    set("both/lrr", 3);
    set("both/gto", 6);
    for (const auto& [group, vecadd, red] :
         {std::tuple{2, 1.0, 9.0}, {4, 3.0, 7.0}, {8, 5.0, 5.0}, {16, 4.0, 3.0}}) {
      set(fmt::format("vecadd/swept/group={}", group), vecadd);
      set(fmt::format("red/swept/group={}", group), red);
    }
  }
  void set(const std::string& cell, double ipc) { source.table[cell]["totals.ipc"] = ipc; }

  Number value(const std::string& text) {
    Evaluator evaluator(e, grid, source);
    return evaluator.number({parse_number(text), text, "k", {}}, grid.unset());
  }
  Judgement judge(const std::string& text, double tolerance = 0, const std::string& of = "") {
    Evaluator evaluator(e, grid, source);
    ExpectedTrend shape{text, {parse_condition(text), text, "k", {}}, {}, tolerance, {}};
    if (!of.empty()) shape.of = Formula{parse_number(of), of, "of", {}};
    return evaluator.judge(shape);
  }
  std::string verdict(const std::string& text, double tolerance = 0, const std::string& of = "") {
    return std::string(verdict_name(judge(text, tolerance, of).verdict));
  }
  std::string mistake(const std::string& text) {
    try {
      value(text);
    } catch (const EvaluationError& error) {
      return error.what();
    }
    return "no mistake";
  }
};

TEST(Evaluator, MetricsAtPins) {
  Lab lab;
  EXPECT_EQ(lab.value("totals.ipc[vecadd, gto]"), 4);
  EXPECT_EQ(lab.value("ipc[workload=red, variant=lrr]"), 10);
  EXPECT_EQ(lab.value("ipc[vecadd, swept, group=8]"), 5);
  EXPECT_EQ(lab.value("speedup[vecadd, gto]"), 2) << "the measure's own pin wins";
}

TEST(Evaluator, Arithmetic) {
  Lab lab;
  EXPECT_EQ(lab.value("-2 + 3 * (4 - 1) / 2"), 2.5);
  EXPECT_EQ(lab.value("min(3, 1, 2)"), 1);
  EXPECT_EQ(lab.value("max(3, 1, 2)"), 3);
  EXPECT_EQ(lab.value("abs(-3)"), 3);
  EXPECT_EQ(lab.value("sqrt(9) + log2(8) + floor(2.9) + ceil(2.1) + exp2(3)"), 19);
  EXPECT_EQ(lab.value("round(2.345, 2)"), 2.35);
  EXPECT_EQ(lab.value("round(0.4)"), 0);
  EXPECT_EQ(lab.value("50%"), 0.5);
}

TEST(Evaluator, Means) {
  Lab lab;
  EXPECT_DOUBLE_EQ(*lab.value("hmean(speedup[gto] over pair)"), 2 / (1 / 2.0 + 1 / 0.5));
  EXPECT_DOUBLE_EQ(*lab.value("gmean(speedup[gto] over pair)"), 1);
  EXPECT_DOUBLE_EQ(*lab.value("amean(speedup[gto] over pair)"), 1.25);
  EXPECT_DOUBLE_EQ(*lab.value("sum(ipc over pair, {lrr, gto})"), 21);
  EXPECT_DOUBLE_EQ(*lab.value("max(ipc[lrr] over pair)"), 10);
  EXPECT_DOUBLE_EQ(*lab.value("min(ipc[swept] over pair, group)"), 1);
}

TEST(Evaluator, DomainsCanBeCut) {
  Lab lab;
  EXPECT_EQ(lab.value("sum(ipc[lrr] over {pair, both} except red)"), 5);
  EXPECT_EQ(lab.value("sum(ipc[vecadd, swept] over group from 4 to 8)"), 8);
  EXPECT_EQ(lab.value("sum(ipc[vecadd, swept] over group in {2, 16})"), 5);
  EXPECT_EQ(lab.value("sum(group over group)"), 30);
}

TEST(Evaluator, PositionsOfExtremes) {
  Lab lab;
  EXPECT_EQ(lab.value("argmax(ipc[vecadd, swept] over group)"), 8);
  EXPECT_EQ(lab.value("argmin(ipc[red, swept] over group)"), 16);
  EXPECT_EQ(lab.value("count(ipc[lrr] > ipc[gto] over pair)"), 1);
}

TEST(Evaluator, SelectionIsTheBestPointOfEachWorkload) {
  Lab lab;
  EXPECT_EQ(lab.value("ipc[vecadd, best]"), 5);
  EXPECT_EQ(lab.value("chosen(best, group)[vecadd]"), 8);
  EXPECT_EQ(lab.value("chosen(best, group)[red]"), 2);
  lab.source.table["vecadd/swept/group=8"]["totals.l1d_mpki"] = 42;
  EXPECT_EQ(lab.value("totals.l1d_mpki[vecadd, best]"), 42) << "of the run that was chosen";
  EXPECT_EQ(lab.value("max(chosen(best, group) over pair)"), 8);
  EXPECT_EQ(lab.value("(ipc / ipc[lrr])[vecadd, gto]"), 2);
}

TEST(Evaluator, FirstOfEqualPointsIsChosen) {
  Lab lab;
  for (const int group : {2, 4, 8, 16}) lab.set(fmt::format("red/swept/group={}", group), 7);
  EXPECT_EQ(lab.value("chosen(best, group)[red]"), 2);
}

TEST(Evaluator, MembersOfACoRun) {
  Lab lab(kWhole +
          "[corun]\nhorizon = 1000\n[[runs]]\nworkloads = ['together']\nvariants = "
          "['gto']\n");
  lab.set("together/gto", 6);
  EXPECT_EQ(lab.value("ipc[together, gto] / max(ipc[member1, gto] over {together})"), 6.0 / 4);
  EXPECT_EQ(lab.value("sum(ipc[workload=member2, gto] over {together})"), 5);
}

TEST(Evaluator, WhatIsMissingIsMissing) {
  Lab lab;
  lab.source.table.erase("red/gto");
  lab.source.table.erase("red/swept/group=4");
  EXPECT_EQ(lab.value("ipc[red, gto]"), std::nullopt);
  EXPECT_EQ(lab.value("ipc[red, gto] * 0"), std::nullopt);
  EXPECT_EQ(lab.value("hmean(ipc[gto] over pair)"), std::nullopt);
  EXPECT_EQ(lab.value("max(ipc[red, gto], 100)"), std::nullopt);
  EXPECT_EQ(lab.value("ipc[red, best]"), std::nullopt) << "the best of all is not known";
  EXPECT_EQ(lab.value("argmax(ipc[red, swept] over group)"), std::nullopt);
  EXPECT_EQ(lab.value("count(ipc[gto] > 1 over pair)"), std::nullopt);
  EXPECT_EQ(lab.value("1 / (2 - 2)"), std::nullopt);
  EXPECT_EQ(lab.value("hmean(ipc[lrr] - 2 over pair)"), std::nullopt) << "of 0";
  EXPECT_EQ(lab.value("sqrt(-1)"), std::nullopt);
  EXPECT_EQ(lab.value("ipc[vecadd, gto]"), 4);
}

TEST(Evaluator, AxisThatDoesNotApplyIsNotLookedAt) {
  Lab lab;
  EXPECT_EQ(lab.value("sum(ipc[vecadd, swept] / ipc[vecadd, lrr] over group)"), 13.0 / 2);
}

TEST(Evaluator, MistakesAreNamed) {
  Lab lab;
  EXPECT_THAT(lab.mistake("ipc"), HasSubstr("no workload is given"));
  EXPECT_THAT(lab.mistake("ipc[vecadd]"), HasSubstr("no variant is given"));
  EXPECT_THAT(lab.mistake("ipc[vecadd, swept]"),
              HasSubstr("runs of 'vecadd' under 'swept' need a point of group"));
  EXPECT_THAT(lab.mistake("ipc[both, swept, group=2]"),
              HasSubstr("no [[runs]] has workload 'both' under variant 'swept'"));
  EXPECT_THAT(lab.mistake("ipc[vecadd, swept, group=3]"), HasSubstr("no point 3 at this scale"));
  EXPECT_THAT(lab.mistake("ipc[vecadd, gto, group=2]"), HasSubstr("[group=2] has no effect"));
  EXPECT_THAT(lab.mistake("speedup[lrr, vecadd, l1=16]"), HasSubstr("[l1=16] has no effect"));
  EXPECT_THAT(lab.mistake("sum(ipc[vecadd, gto] over group)"),
              HasSubstr("goes through 'group', on which nothing in it depends"));
  EXPECT_THAT(lab.mistake("sum(ipc[vecadd, gto] over pair)"), HasSubstr("goes through 'pair'"));
  EXPECT_THAT(lab.mistake("sum(ipc[vecadd, gto] over {lrr, gto})"), HasSubstr("nothing in it"));
  EXPECT_THAT(lab.mistake("ipc[member3, lrr]"), HasSubstr("no workload is given whose member3"));
  EXPECT_THAT(lab.mistake("sum(ipc[member3, lrr] over {both})"),
              HasSubstr("'both' has no member3"));
  EXPECT_THAT(lab.mistake("group"), HasSubstr("no point is given of axis 'group'"));
  EXPECT_THAT(lab.mistake("sum(ipc[vecadd, swept] over group from 5 to 6)"),
              HasSubstr("no point of axis 'group' is in the range"));
  EXPECT_THAT(lab.mistake("sum(ipc[vecadd, swept] over group in {2, 5})"),
              HasSubstr("has no point 5"));
  EXPECT_THAT(lab.mistake("sum(ipc[gto] over pair except pair)"), HasSubstr("nothing is left"));
  EXPECT_THAT(lab.mistake("argmax(ipc over pair)"), HasSubstr("argmax goes over one axis"));
}

TEST(Grid, RunsWithDifferentAxesMustNotFitAlike) {
  const Experiment e = experiment(kHead +
                                  "[[runs]]\nworkloads = ['pair']\nvariants = ['swept']\naxes = "
                                  "['group']\n[[runs]]\nworkloads = ['pair']\nvariants = "
                                  "['swept']\naxes = ['l1']\n" +
                                  kShape);
  const Grid grid(e);
  EXPECT_EQ(grid.cells().size(), 2u * 4 + 2 * 2);
  Coordinates where = grid.unset();
  where.workload = 0;
  where.variant = static_cast<int>(*e.find("swept", NameKind::Variant));
  where.points[0] = 1;
  EXPECT_EQ(grid.cells()[grid.find(where)].points, (std::vector<int>{1, kUnset}));
  where.points[1] = 0;
  EXPECT_THROW(grid.find(where), EvaluationError);
}

TEST(Grid, TheRunWithMostAxesIsMeant) {
  const Experiment e = experiment(
      kHead +
      "[[runs]]\nworkloads = ['pair']\nvariants = ['gto']\n[[runs]]\nworkloads = ['pair']\n"
      "variants = ['gto']\naxes = ['l1']\n" +
      kShape);
  const Grid grid(e);
  Coordinates where = grid.unset();
  where.workload = 1;
  where.variant = static_cast<int>(*e.find("gto", NameKind::Variant));
  EXPECT_EQ(grid.cells()[grid.find(where)].points, (std::vector<int>{kUnset, kUnset}));
  where.points[1] = 1;
  EXPECT_EQ(grid.cells()[grid.find(where)].points, (std::vector<int>{kUnset, 1}));
}

// --- conditions ---

TEST(Judge, ChainsAndTheirDetail) {
  Lab lab;
  const Judgement holds = lab.judge("ipc[vecadd, lrr] < ipc[vecadd, gto] <= 4");
  EXPECT_EQ(holds.verdict, Verdict::Pass);
  EXPECT_EQ(holds.detail, "ipc[vecadd, lrr] 2 < ipc[vecadd, gto] 4 <= 4");
  const Judgement fails = lab.judge("1 < 3 < 2");
  EXPECT_EQ(fails.verdict, Verdict::Fail);
  EXPECT_EQ(fails.detail, "1 < 3 is not < 2");
}

TEST(Judge, BareNamesMeanTheMeasure) {
  Lab lab;
  const Judgement j = lab.judge("lrr < best", 0, "hmean(ipc over pair)");
  EXPECT_EQ(j.verdict, Verdict::Pass);
  EXPECT_EQ(j.detail, "lrr 3.333 < best 6.429");
  EXPECT_EQ(lab.verdict("vecadd < red", 0, "ipc[lrr]"), "pass");
}

TEST(Judge, ToleranceIsForWeakRelationsOnly) {
  Lab lab;
  EXPECT_EQ(lab.verdict("1.05 <= 1"), "fail");
  EXPECT_EQ(lab.verdict("1.05 <= 1", 0.05), "pass");
  EXPECT_EQ(lab.verdict("1.06 <= 1", 0.05), "fail");
  EXPECT_EQ(lab.verdict("0.95 >= 1", 0.05), "pass");
  EXPECT_EQ(lab.verdict("-1.05 >= -1", 0.05), "pass") << "of the size, whatever the sign";
  EXPECT_EQ(lab.verdict("1 ~ 1.1", 0.1), "pass");
  EXPECT_EQ(lab.verdict("1 ~ 1.2", 0.1), "fail");
  EXPECT_EQ(lab.verdict("1.01 < 1", 0.5), "fail");
  EXPECT_EQ(lab.verdict("1 == 1.001", 0.5), "fail");
  EXPECT_EQ(lab.verdict("1.1 within [0, 1]", 0.5), "fail");
  EXPECT_EQ(lab.verdict("1 within [0, 1]"), "pass");
}

TEST(Judge, ShapesOverAnAxis) {
  Lab lab;  // vecadd 1 3 5 4, red 9 7 5 3
  EXPECT_EQ(lab.verdict("falls(ipc[red, swept] over group)"), "pass");
  EXPECT_EQ(lab.verdict("rises(ipc[red, swept] over group)"), "fail");
  EXPECT_EQ(lab.verdict("monotone(ipc[red, swept] over group)"), "pass");
  EXPECT_EQ(lab.verdict("monotone(ipc[vecadd, swept] over group)"), "fail");
  EXPECT_EQ(lab.verdict("rises(ipc[vecadd, swept] over group)", 0.2), "pass") << "one step of 20 %";
  EXPECT_EQ(lab.verdict("rises(ipc[vecadd, swept] over group)", 0.19), "fail");
  EXPECT_EQ(lab.verdict("rises(ipc[vecadd, swept] over group from 2 to 8)"), "pass");
  EXPECT_EQ(lab.verdict("peak_inside(ipc[vecadd, swept] over group)"), "pass");
  EXPECT_EQ(lab.verdict("peak_inside(ipc[red, swept] over group)"), "fail");
  EXPECT_EQ(lab.verdict("valley_inside(ipc[red, swept] over group)"), "fail");
  EXPECT_EQ(lab.verdict("valley_inside(-ipc[vecadd, swept] over group)"), "pass");
  EXPECT_EQ(lab.verdict("flat(ipc[vecadd, swept] over group)", 0.5), "fail");
  EXPECT_EQ(lab.verdict("flat(ipc[vecadd, swept] over group)", 0.8), "pass");
  EXPECT_EQ(lab.judge("falls(ipc[red, swept] over group)").detail,
            "falls: 9 at 2, 7 at 4, 5 at 8, 3 at 16");
}

TEST(Judge, OfALongSeriesOnlyWhatDecidesIsTold) {
  std::string text = kWhole;
  const std::string four = "[2, 4, 8, 16]";
  text.replace(text.find(four), four.size(), "[1, 2, 3, 4, 5, 6, 7, 8, 9]");
  Lab lab(text);
  for (const auto& [point, ipc] : std::vector<std::pair<int, double>>{
           {1, 1}, {2, 2}, {3, 4}, {4, 12345.6}, {5, 6}, {6, 6}, {7, 5}, {8, 4}, {9, 3}})
    lab.set(fmt::format("red/swept/group={}", point), ipc);
  const auto notified = [&](const std::string& shape, const std::string& range = "") {
    return lab.judge(shape + "(ipc[red, swept] over group" + range + ")").detail;
  };
  EXPECT_EQ(notified("peak_inside"),
            "has its peak inside the range: highest 12346 at 4; ends 1 at 1, 3 at 9");
  EXPECT_EQ(notified("valley_inside"),
            "has no lowest point inside the range: lowest 1 at 1; ends 1 at 1, 3 at 9");
  EXPECT_EQ(notified("rises"), "does not rise: from 1 at 1 to 3 at 9; 6 at 5 after 12346 at 4");
  EXPECT_EQ(notified("falls"), "does not fall: from 1 at 1 to 3 at 9; 2 at 2 after 1 at 1");
  EXPECT_EQ(notified("monotone"),
            "does not go one way: from 1 at 1 to 3 at 9; 6 at 5 after 12346 at 4; "
            "2 at 2 after 1 at 1");
  EXPECT_EQ(notified("flat"), "is not flat: lowest 1 at 1, highest 12346 at 4");
  EXPECT_EQ(notified("rises", " from 1 to 3"), "rises: 1 at 1, 2 at 2, 4 at 3");
}

TEST(Judge, DetailTellsTheTolerance) {
  Lab lab;
  EXPECT_EQ(lab.judge("1.05 <= 1", 0.05).detail, "1.05 <= (within 5 %) 1");
  EXPECT_EQ(lab.judge("1 ~ 1.2", 0.1).detail, "1 is not within 10 % of 1.2");
  EXPECT_EQ(lab.judge("1 < 2 == 2", 0.1).detail, "1 < 2 == 2") << "these know none";
  EXPECT_EQ(lab.judge("2 within [0, 1]", 0.1).detail, "2 is not within [0, 1]");
}

TEST(Judge, AnOperandIsNamedWithItsBrackets) {
  Lab lab;
  EXPECT_EQ(lab.judge("(ipc[red, lrr] - 1) / 3 > 2").detail, "(ipc[red, lrr] - 1) / 3 3 > 2");
}

TEST(Judge, PeakAtAnEndThatIsEqualledInsideIsNone) {
  Lab lab;
  lab.set("red/swept/group=4", 9);
  EXPECT_EQ(lab.verdict("peak_inside(ipc[red, swept] over group)"), "fail");
}

TEST(Judge, Quantifiers) {
  Lab lab;  // gto > lrr for vecadd only
  const std::string faster = ": ipc[gto] > ipc[lrr]";
  EXPECT_EQ(lab.verdict("for all pair" + faster), "fail");
  EXPECT_EQ(lab.verdict("for some pair" + faster), "pass");
  EXPECT_EQ(lab.verdict("for none of pair" + faster), "fail");
  EXPECT_EQ(lab.verdict("for none of {red}" + faster), "pass");
  EXPECT_EQ(lab.verdict("for at least 1 of pair" + faster), "pass");
  EXPECT_EQ(lab.verdict("for at least 2 of pair" + faster), "fail");
  EXPECT_EQ(lab.verdict("for at most 1 of pair" + faster), "pass");
  EXPECT_EQ(lab.verdict("for at most 0 of pair" + faster), "fail");
  EXPECT_EQ(lab.verdict("for all pair, group: ipc[swept] >= 1"), "pass");
  EXPECT_EQ(lab.judge("for all pair" + faster).detail,
            "1 of 2; red: ipc[gto] 5 is not > ipc[lrr] 10");
  EXPECT_THAT(lab.judge("for all pair, group: ipc[swept] >= 1").detail,
              HasSubstr("8 of 8; vecadd, group=2: ipc[swept] 1 >= 1"));
  EXPECT_THROW(lab.judge("for at least 3 of pair" + faster), EvaluationError);
}

TEST(Judge, WhatIsMissingDecidesNothing) {
  Lab lab;
  lab.source.table.erase("red/gto");
  EXPECT_EQ(lab.verdict("ipc[red, gto] > 0"), "not_run");
  EXPECT_EQ(lab.verdict("ipc[red, gto] within [0, 9]"), "not_run");
  EXPECT_EQ(lab.verdict("not ipc[red, gto] > 0"), "not_run");
  EXPECT_EQ(lab.verdict("1 > 2 and ipc[red, gto] > 0"), "fail");
  EXPECT_EQ(lab.verdict("1 < 2 and ipc[red, gto] > 0"), "not_run");
  EXPECT_EQ(lab.verdict("1 < 2 or ipc[red, gto] > 0"), "pass");
  EXPECT_EQ(lab.verdict("1 > 2 or ipc[red, gto] > 0"), "not_run");
  EXPECT_EQ(lab.verdict("2 < 1 < ipc[red, gto]"), "fail");
  EXPECT_EQ(lab.verdict("for all pair: ipc[gto] > 3"), "not_run");
  EXPECT_EQ(lab.verdict("for all pair: ipc[gto] > 4"), "fail") << "vecadd is counterexample enough";
  EXPECT_EQ(lab.verdict("for some pair: ipc[gto] > 3"), "pass");
  EXPECT_EQ(lab.verdict("for some pair: ipc[gto] > 4"), "not_run");
  EXPECT_EQ(lab.verdict("for at most 0 of pair: ipc[gto] > 3"), "fail");
  EXPECT_EQ(lab.verdict("for at most 1 of pair: ipc[gto] > 3"), "not_run");
}

TEST(Judge, FewPointsMakeNoShape) {
  Lab lab;
  EXPECT_THROW(lab.judge("rises(ipc[red, swept] over group from 2 to 2)"), EvaluationError);
  EXPECT_THROW(lab.judge("peak_inside(ipc[red, swept] over group from 2 to 4)"), EvaluationError);
  EXPECT_THROW(lab.judge("rises(ipc[lrr] over pair)"), EvaluationError);
}

// --- laws ---

class RandomLab : public testing::TestWithParam<unsigned> {
 protected:
  RandomLab() {
    std::mt19937 random(GetParam());
    for (auto& [cell, metrics] : lab.source.table)
      metrics["totals.ipc"] = 0.1 + static_cast<double>(random() % 1000) / 100;
    if (GetParam() % 3 == 0) lab.source.table.erase("red/gto");
  }
  Lab lab;
};

TEST_P(RandomLab, MeansAreOrdered) {
  const Number h = lab.value("hmean(ipc[lrr] over {pair, both})"),
               g = lab.value("gmean(ipc[lrr] over {pair, both})"),
               a = lab.value("amean(ipc[lrr] over {pair, both})");
  EXPECT_LE(*h, *g * (1 + 1e-12));
  EXPECT_LE(*g, *a * (1 + 1e-12));
  EXPECT_GE(*h, *lab.value("min(ipc[lrr] over {pair, both})") * (1 - 1e-12));
  EXPECT_LE(*a, *lab.value("max(ipc[lrr] over {pair, both})") * (1 + 1e-12));
}

TEST_P(RandomLab, DeMorgan) {
  const std::string p = "ipc[gto] > ipc[lrr]", a = "ipc[red, gto] > 3", b = "ipc[vecadd, lrr] > 4";
  EXPECT_EQ(lab.verdict("for all pair: " + p), lab.verdict("not (for some pair: not " + p + ")"));
  EXPECT_EQ(lab.verdict("for none of pair: " + p), lab.verdict("for all pair: not " + p));
  EXPECT_EQ(lab.verdict("for at least 2 of pair: " + p), lab.verdict("for all pair: " + p));
  EXPECT_EQ(lab.verdict(a + " and " + b), lab.verdict("not (not " + a + " or not " + b + ")"));
}

TEST_P(RandomLab, AChainIsItsLinks) {
  const std::string a = "ipc[vecadd, lrr]", b = "ipc[red, gto]", c = "ipc[red, lrr]";
  EXPECT_EQ(lab.verdict(a + " < " + b + " <= " + c, 0.1),
            lab.verdict(a + " < " + b + " and " + b + " <= " + c, 0.1));
}

TEST_P(RandomLab, TheBestIsNoWorseThanAny) {
  EXPECT_EQ(lab.verdict("for all pair, group: ipc[best] >= ipc[swept]"), "pass");
  EXPECT_EQ(lab.value("chosen(best, group)[vecadd]"),
            lab.value("argmax(ipc[vecadd, swept] over group)"));
}

TEST_P(RandomLab, RisingIsMonotoneAndNotPeaked) {
  const std::string over = "(ipc[vecadd, swept] over group)";
  if (lab.verdict("rises" + over) == "pass") {
    EXPECT_EQ(lab.verdict("monotone" + over), "pass");
    EXPECT_EQ(lab.verdict("peak_inside" + over), "fail");
  }
  EXPECT_EQ(lab.verdict("rises" + over), lab.verdict("falls(-ipc[vecadd, swept] over group)"));
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomLab, testing::Range(1u, 40u));

}  // namespace
}  // namespace raddle::lab::test::evaluator_test
