// Peaks of machines, against products of their settings made by hand.
#include "raddle/sim/result/peaks.h"

#include <gtest/gtest.h>

#include <cmath>

#include "raddle/policy/all.h"
#include "raddle/sim/setup/gpus.h"
#include "raddle/sim/setup/setup.h"

namespace raddle::sim::peaks_test {
namespace {

timing::MachineSpec machine(const std::string& gpu, std::vector<std::string> set = {}) {
  config::Tree tree = load_gpu(gpu);
  for (const std::string& text : set) tree.set_option(text, text);
  return read_setup(tree, policy::all_policies()).machine;
}

TEST(Peaks, OfAV100) {
  const stats::Peaks peaks = peaks_of(machine("v100"));
  EXPECT_DOUBLE_EQ(peaks.issue, 80 * 4);
  EXPECT_DOUBLE_EQ(peaks.l1_lines, 80);
  EXPECT_DOUBLE_EQ(peaks.l1_line_bytes, 128);
  EXPECT_DOUBLE_EQ(peaks.shared, 80);
  EXPECT_DOUBLE_EQ(peaks.request_flits, 64) << "80 SMs send, 64 slices take a flit each";
  EXPECT_DOUBLE_EQ(peaks.reply_flits, 64);
  EXPECT_DOUBLE_EQ(peaks.flit_bytes, 40);
  EXPECT_DOUBLE_EQ(peaks.l2_requests, 64);
  EXPECT_NEAR(peaks.dram_bytes * 1132e6, 870.4e9, 1e3) << "32 channels x 32 B x 850 MHz";
}

TEST(Peaks, OfClocksPortsAndIntervalsOfTheirOwn) {
  const stats::Peaks ccws = peaks_of(machine("ccws"));
  EXPECT_DOUBLE_EQ(ccws.request_flits, 2 * 8) << "10 ports, 8 slices, twice the core's clock";
  EXPECT_DOUBLE_EQ(ccws.reply_flits, 2 * 8);
  EXPECT_DOUBLE_EQ(ccws.l2_requests, 4) << "8 slices, one in two cycles each";
  const stats::Peaks more = peaks_of(machine("ccws", {"l2.slices=16"}));
  EXPECT_DOUBLE_EQ(more.request_flits, 2 * 10) << "the SMs' ports are fewer now";
  EXPECT_DOUBLE_EQ(peaks_of(machine("h200")).l1_lines, 132 * 4);
}

TEST(Peaks, OfAMeshAndOfFixedDram) {
  const timing::MachineSpec ikra = machine("ikra");
  const stats::Peaks peaks = peaks_of(ikra);
  EXPECT_DOUBLE_EQ(peaks.reply_flits, std::min(ikra.sm.count, ikra.l2.slices) * 788.0 / 700);
  EXPECT_DOUBLE_EQ(peaks.dram_bytes, ikra.dram.channels * 64 / 6.0);
}

TEST(Peaks, OwnersOfLinesAnswerOneAnother) {
  timing::MachineSpec v100 = machine("v100");
  v100.coherence.ownership = true;
  EXPECT_DOUBLE_EQ(peaks_of(v100).reply_flits, 80 + 64);
  EXPECT_DOUBLE_EQ(peaks_of(v100).request_flits, 64);
}

TEST(Peaks, NothingLimitsIdealParts) {
  const stats::Peaks noc = peaks_of(machine("v100", {"ideal.noc=true"}));
  EXPECT_TRUE(std::isnan(noc.request_flits) && std::isnan(noc.reply_flits));
  EXPECT_FALSE(std::isnan(noc.dram_bytes));
  EXPECT_TRUE(std::isnan(peaks_of(machine("v100", {"ideal.dram=true"})).dram_bytes));
}

TEST(Utilisation, IsAShareOfAPeak) {
  EXPECT_DOUBLE_EQ(stats::utilisation(500, 10, 100), 0.5);
  EXPECT_EQ(stats::utilisation(500, 0, 100), 0) << "no peak is known";
  EXPECT_EQ(stats::utilisation(500, 10, 0), 0) << "no cycle";
  EXPECT_TRUE(std::isnan(stats::utilisation(500, stats::kUnlimited, 100)));
}

}  // namespace
}  // namespace raddle::sim::peaks_test
