// What is told of several seeds, against numbers worked out by hand.
#include "raddle/report/seeds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <deque>

#include "raddle/base/student.h"

namespace raddle::report::seeds_test {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Rows of policies a and b, whose runs with seed i + 1 took these cycles.
class Runs {
 public:
  Runs(const std::vector<Cycle>& a, const std::vector<Cycle>& b) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      add("a", i + 1, a[i]);
      add("b", i + 1, b[i]);
    }
  }
  std::vector<Row> rows;

 private:
  void add(const std::string& label, std::uint64_t seed, Cycle cycles) {
    sim::Result& result = results_.emplace_back();
    result.workload = "w";
    result.config = {{"name", "g"}, {"run", {{"seed", seed}}}};
    result.input_hash = seed;
    result.cycles = cycles;
    result.core_clock_mhz = 1000;
    result.schedulers = 1;
    rows.push_back({label + " run.seed=" + std::to_string(seed), label, &result});
  }
  std::deque<sim::Result> results_;
};

TEST(Student, QuantilesAreThoseOfTheTables) {
  EXPECT_EQ(student_t(1), 12.706);
  EXPECT_EQ(student_t(2), 4.303);
  EXPECT_EQ(student_t(15), 2.131);
  EXPECT_NEAR(student_t(40), 2.021, 0.002);
  EXPECT_NEAR(student_t(120), 1.980, 0.002);
}

TEST(OverSeeds, TheMeanIsWithinSeedsAndItsIntervalOfTheLogarithms) {
  // Ratios 2, 1 and 4: the mean of log2 is 1, its deviation 1.
  const Runs runs({100, 100, 100}, {50, 100, 25});
  const std::vector<OverSeeds> all = over_seeds(runs.rows);
  ASSERT_EQ(all.size(), 2u);
  const Spread& b = all[1].speedup;
  const double half = std::exp2(4.303 / std::sqrt(3));
  EXPECT_DOUBLE_EQ(b.mean, 2);
  EXPECT_NEAR(b.interval->low, 2 / half, 1e-12);
  EXPECT_NEAR(b.interval->high, 2 * half, 1e-9);
  EXPECT_EQ(all[1].verdict, "not told apart by 3 seeds");
  EXPECT_EQ(all[0].verdict, "");
  EXPECT_DOUBLE_EQ(all[1].cycles.mean, 175.0 / 3);
  EXPECT_FALSE(all[1].same_input);
}

TEST(OverSeeds, VerdictsSayWhatTheIntervalAndTheSeedsSay) {
  const auto verdict = [](const std::vector<Cycle>& b) {
    const Runs runs({1000, 1000, 1000}, b);
    return over_seeds(runs.rows)[1].verdict;
  };
  EXPECT_EQ(verdict({500, 501, 499}), "faster");
  EXPECT_EQ(verdict({2000, 2001, 1999}), "slower");
  EXPECT_EQ(verdict({1000, 1000, 1000}), "the same");
  EXPECT_EQ(verdict({900, 1100, 1000}), "not told apart by 3 seeds, flips within the spread");
  const Runs many({1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000},
                  {900, 900, 910, 890, 900, 900, 900, 1001});
  EXPECT_EQ(over_seeds(many.rows)[1].verdict, "faster, flips within the spread");
}

TEST(OverSeeds, OfOneSeedThereIsNothing) {
  const Runs runs({100}, {50});
  EXPECT_TRUE(over_seeds(runs.rows).empty());
  EXPECT_THAT(comparison("w", runs.rows), Not(HasSubstr("over seeds")));
}

}  // namespace
}  // namespace raddle::report::seeds_test
