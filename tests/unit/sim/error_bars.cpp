// What is said of a result's distance from silicon: from kept comparisons alone, and nothing where
// there are none.
#include "raddle/sim/result/error_bars.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "raddle/policy/all.h"
#include "raddle/sim/result/error_spread.h"
#include "raddle/sim/setup/gpus.h"
#include "raddle/sim/setup/setup.h"
#include "support/errors.h"

namespace raddle::sim::error_bars_test {
namespace {

using testing::HasSubstr;

/// So many kernels; the n-th is n percent too slow.
void add(KeptErrors& errors, unsigned count, const std::string& limited_by, double microseconds) {
  for (unsigned n = 1; n <= count; ++n)
    errors.kernels.push_back(
        {"small", "w", "size=tiny", "k", 1, 1000, 1000 + 10.0 * n, microseconds, limited_by});
}

TEST(ErrorBars, AreOfKernelsOfTheSameKindWhereThereAreTen) {
  KeptErrors errors{"h200", {}};
  add(errors, 10, "DRAM", 50);
  add(errors, 6, "DRAM", 2);
  add(errors, 4, "latency", 2);
  const auto both = error_bar(errors, "DRAM", 20);
  ASSERT_TRUE(both);
  EXPECT_EQ(both->kernels, "kernels limited by DRAM, of 10 microseconds and more");
  EXPECT_EQ(both->count, 10u);
  EXPECT_NEAR(both->median, 0.055, 1e-12);
  EXPECT_NEAR(both->p90, 0.09, 1e-12);
  EXPECT_EQ(both->of, ErrorBar::Of::Class);
  const auto limit = error_bar(errors, "DRAM", 2);
  EXPECT_EQ(limit->of, ErrorBar::Of::Limit);
  EXPECT_EQ(limit->kernels, "kernels limited by DRAM of any length");
  EXPECT_EQ(limit->count, 16u);
  EXPECT_EQ(error_bar(errors, "latency", 2)->kernels, "kernels of every kind");
  EXPECT_EQ(error_bar(errors, "latency", 2)->count, 20u);
  EXPECT_EQ(error_bar(errors, "latency", 2)->of, ErrorBar::Of::All);
  KeptErrors few{"h200", {}};
  add(few, 9, "DRAM", 50);
  EXPECT_FALSE(error_bar(few, "DRAM", 50)) << "never invented";
}

TEST(ErrorBars, AreKeptInAFile) {
  KeptErrors errors{"h200", {}};
  add(errors, 2, "L2", 3);
  errors.kernels[0].parameters = "a=1, b=2";
  std::istringstream in(to_csv(errors, {"made by: a test"}));
  const KeptErrors read = read_errors(in, "e.csv");
  EXPECT_EQ(read.machine, "h200");
  ASSERT_EQ(read.kernels.size(), 2u);
  EXPECT_EQ(read.kernels[0].parameters, "a=1, b=2");
  EXPECT_NEAR(read.kernels[1].error(), 0.02, 1e-12);
  const auto refusal = [](const std::string& text) {
    return test::input_error_of([&] {
      std::istringstream in(text);
      read_errors(in, "e.csv");
    });
  };
  EXPECT_THAT(refusal("a,b\n"), HasSubstr("e.csv:1: expected the columns part,workload"));
  EXPECT_THAT(refusal(""), HasSubstr("e.csv: expected a line '# machine: NAME'"));
  const std::string head = to_csv({"h200", {}}, {});
  EXPECT_THAT(refusal(head + "p,w,,k,1,0,5,5,L2\n"), HasSubstr("'measured_cycles'"));
  EXPECT_THAT(refusal(head + "p,w,,k,1,5,5,5,disk\n"), HasSubstr("found 'disk'"));
}

/// A launch on that machine, limited by DRAM.
Result result_on(const std::string& machine, const std::string& setting = "") {
  config::Tree tree = load_gpu(machine);
  if (!setting.empty()) tree.set(setting, "17", "test");
  Setup setup = read_setup(tree, policy::all_policies());
  Result out;
  out.config = setup.config();
  out.core_clock_mhz = setup.machine.core_clock_mhz;
  KernelResult& kernel = out.kernels.emplace_back();
  kernel.end = 100'000;
  kernel.busy = {0.9, 0.1, 0.1, 0.1};
  return out;
}

TEST(OnSilicon, IsSaidOfTheMachineThatWasMeasured) {
  for (const EmbeddedErrors& kept : embedded_errors()) {
    std::istringstream in{std::string(kept.csv)};
    const KeptErrors errors = read_errors(in, "kept");
    EXPECT_EQ(errors.machine, kept.machine);
    const auto said = on_silicon(result_on(errors.machine));
    ASSERT_TRUE(said);
    ASSERT_TRUE(said->bar) << said->why_none;
    EXPECT_EQ(said->share, 1);
    EXPECT_THAT(said->text(), HasSubstr("in nine of ten; n = "));
    EXPECT_EQ(said->json()["count"], said->bar->count);
  }
  EXPECT_GE(embedded_errors().size(), 1u);
}

/// Of `v100` so few were compared that all are one class.
TEST(OnSilicon, TheShareIsThatOfTheKernelsThatAreNamed) {
  Result mixed = result_on("v100");
  KernelResult& second = mixed.kernels.emplace_back();
  second.end = 40'000;
  second.busy = {0.1, 0.1, 0.1, 0.9};
  const auto said = on_silicon(mixed);
  ASSERT_TRUE(said && said->bar);
  ASSERT_EQ(said->bar->of, ErrorBar::Of::All);
  EXPECT_EQ(said->share, 1);
  Result narrow = result_on("h200");
  narrow.kernels.front().busy = {0.1, 0.1, 0.1, 0.1};
  narrow.kernels.push_back(second);
  const auto of_class = on_silicon(narrow);
  ASSERT_TRUE(of_class && of_class->bar);
  ASSERT_EQ(of_class->bar->of, ErrorBar::Of::Class);
  EXPECT_NEAR(of_class->share, 100. / 140, 1e-12);
}

TEST(OnSilicon, IsNotSaidOfOthers) {
  const auto other = on_silicon(result_on("gtx480"));
  ASSERT_TRUE(other);
  EXPECT_EQ(other->text(),
            "error not known: no kernel of this machine was compared with a real one");
  EXPECT_EQ(other->json()["measured"], false);
  const std::string machine(embedded_errors().at(0).machine);
  const auto changed = on_silicon(result_on(machine, "sm.lsu_queue"));
  EXPECT_FALSE(changed->bar);
  EXPECT_THAT(changed->why_none, HasSubstr("is another: sm.lsu_queue"));
  Result untimed = result_on(machine);
  untimed.timed = false;
  EXPECT_FALSE(on_silicon(untimed));
}

}  // namespace
}  // namespace raddle::sim::error_bars_test
