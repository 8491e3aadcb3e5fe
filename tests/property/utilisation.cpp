// Shares of peaks of whole runs: none above 1, and those that another counter knows agree with it.
#include <gtest/gtest.h>

#include "support/whole.h"

namespace raddle::utilisation_test {
namespace {

using Json = nlohmann::ordered_json;

class Utilisation : public ::testing::TestWithParam<const char*> {};

void expect_shares(const Json& utilisation, const std::string& of) {
  EXPECT_EQ(utilisation.size(), 7u);
  for (const auto& [name, share] : utilisation.items()) {
    EXPECT_GE(share.get<double>(), 0) << of << " " << name;
    EXPECT_LE(share.get<double>(), 1) << of << " " << name;
  }
}

TEST_P(Utilisation, LiesBetweenNothingAndThePeak) {
  for (const char* workload : {"vecadd", "transpose"}) {
    const sim::Result result = test::run(workload, {GetParam()});
    const Json json = sim::to_json(result);
    expect_shares(json["utilisation"], workload);
    for (const Json& kernel : json["kernels"]) expect_shares(kernel["utilisation"], kernel["name"]);
    EXPECT_GT(json["utilisation"]["issue"], 0);
    EXPECT_GT(json["utilisation"]["dram"], 0);
    EXPECT_GT(json["utilisation"]["request"], 0);
  }
}

TEST_P(Utilisation, OfDramIsThatOfItsBuses) {
  const sim::Result result = test::run("vecadd", {GetParam()});
  const Json json = sim::to_json(result);
  const Json& dram = json["config"]["dram"];
  if (dram["model"] != "banks") GTEST_SKIP() << "it has none";
  const double cycles = static_cast<double>(result.busy_cycles) * dram["clock_mhz"].get<double>() /
                        json["config"]["core_clock_mhz"].get<double>();
  const auto busy = static_cast<double>(result.totals.dram.bus_busy_cycles);
  EXPECT_NEAR(json["utilisation"]["dram"], busy / cycles / dram["channels"].get<double>(), 1e-12);
}

TEST_P(Utilisation, OfSchedulersIsWhatTheirStallsLeave) {
  const sim::Result result = test::run("vecadd", {GetParam()});
  const Json json = sim::to_json(result);
  const auto all = static_cast<double>(result.busy_cycles) * result.schedulers;
  EXPECT_DOUBLE_EQ(json["utilisation"]["issue"], json["stalls"]["issued"].get<double>() / all);
}

INSTANTIATE_TEST_SUITE_P(Machines, Utilisation,
                         ::testing::Values("gtx480", "v100", "ccws", "latoa", "ikra"));

TEST(UtilisationOfIdealParts, IsNotKnown) {
  const Json json =
      sim::to_json(test::run("vecadd", {"gtx480", {"ideal.noc=true", "ideal.dram=true"}}));
  for (const char* name : {"request", "reply", "dram"})
    EXPECT_TRUE(json["utilisation"][name].is_null()) << name;
  EXPECT_TRUE(json["peaks"]["dram_bytes"].is_null());
  EXPECT_GT(json["utilisation"]["l2"], 0);
}

TEST(LimitsOfResidency, AreWhatFitsOfEachResource) {
  const Json kernel = sim::to_json(test::run("sgemm", {"v100"}))["kernels"][0];
  const Json& limits = kernel["resident"]["limits"];
  ASSERT_EQ(limits.size(), 5u);
  std::uint64_t fewest = 1000;
  std::string first;
  for (const Json& limit : limits) {
    if (limit["blocks"].is_null()) continue;
    const auto needs = limit["needs"].get<std::uint64_t>(),
               fits = limit["has"].get<std::uint64_t>() / needs;
    if (limit["of"] == "registers") {
      EXPECT_LE(limit["blocks"], fits);
      EXPECT_EQ(needs % 256, 0u) << "warps have them in units of 256";
    } else {
      EXPECT_EQ(limit["blocks"], fits);
    }
    if (limit["blocks"] < fewest) {
      fewest = limit["blocks"];
      first = limit["of"];
    }
  }
  EXPECT_EQ(kernel["resident"]["blocks"], fewest);
  EXPECT_EQ(kernel["resident"]["limited_by"], first);
}

}  // namespace
}  // namespace raddle::utilisation_test
