// Measurements that come with the program: well-formed, in the order that decides their halves.
#include "raddle/sim/validate/suite.h"

#include <gtest/gtest.h>

#include "raddle/base/error.h"

namespace raddle::sim::suite_test {
namespace {

TEST(Suite, RowsAreInTheOrderThatDecidesTheirHalves) {
  for (const EmbeddedMeasurements& m : embedded_measurements())
    for (const SuitePart& part : load_suite(std::string(m.device))) {
      ASSERT_EQ(part.half.size(), part.file.rows.size());
      for (std::size_t i = 1; i < part.file.rows.size(); ++i) {
        const Measurement &a = part.file.rows[i - 1], &b = part.file.rows[i];
        EXPECT_LT(std::tie(a.workload, a.parameters, a.launch),
                  std::tie(b.workload, b.parameters, b.launch))
            << part.name;
        EXPECT_NE(part.half[i - 1], part.half[i]);
      }
      EXPECT_EQ(part.half.front(), Half::First);
      for (const char* key : {"device", "source", "clock", "cache", "tool", "date"})
        EXPECT_TRUE(part.file.conventions.contains(key)) << part.name << ": " << key;
    }
}

TEST(Suite, AnUnknownDeviceIsRefusedWithTheKnownOnes) {
  try {
    load_suite("v1000");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("known: h100 h200 v100"), std::string::npos)
        << error.what();
  }
}

TEST(Suite, ConventionsDecideWhatIsSimulated) {
  MeasurementFile file;
  timing::MachineSpec machine;
  machine.kernels.gap_cycles = 77;
  EXPECT_FALSE(cold_l2(file));
  EXPECT_EQ(gap_within(file, machine), 0u);
  file.conventions = {{"cache", "none: as it was"}, {"launch_gap", "not included"}};
  EXPECT_FALSE(cold_l2(file));
  EXPECT_EQ(gap_within(file, machine), 0u);
  file.conventions = {{"cache", "all: empty"}, {"launch_gap", "included; more"}};
  EXPECT_TRUE(cold_l2(file));
  EXPECT_EQ(gap_within(file, machine), 77u);
  file.conventions["launch_overhead"] = "200 cycles a launch, of the tool";
  EXPECT_EQ(gap_within(file, machine), 277u);
  file.conventions["launch_gap"] = "not included";
  EXPECT_EQ(gap_within(file, machine), 200u);
  EXPECT_FALSE(with_launch_gap(file));
  file.conventions["launch_gap"] = "perhaps";
  EXPECT_THROW(with_launch_gap(file), InputError);
  for (const char* unknown : {"cold", "allocated", "ALL", ""}) {
    file.conventions["cache"] = unknown;
    EXPECT_THROW(cold_l2(file), InputError) << unknown;
  }
  file.conventions["cache"] = "all";
  file.conventions["launch_gap"] = "not included";
  for (const char* wrong : {"many", "", "-3 cycles", "12 seconds"}) {
    file.conventions["launch_overhead"] = wrong;
    EXPECT_THROW(gap_within(file, machine), InputError) << wrong;
  }
}

}  // namespace
}  // namespace raddle::sim::suite_test
