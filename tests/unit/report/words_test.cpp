// What terminal and pages call things: alike, and in units that people read.
#include "raddle/report/words.h"

#include <gmock/gmock.h>

#include "raddle/report/summary.h"
#include "samples.h"

namespace raddle::report::words_test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Words, BytesHaveTheUnitsOfThePage) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(1023), "1023 B");
  EXPECT_EQ(bytes_text(1024), "1.00 KiB");
  EXPECT_EQ(bytes_text(132096), "129 KiB");
  EXPECT_EQ(bytes_text(std::uint64_t{31} << 20), "31.0 MiB");
  EXPECT_EQ(bytes_text(std::uint64_t{3000} << 40), "3000 TiB");
}

TEST(Words, OfPeaksARunSaysWhatItUsesOnOneShortLine) {
  sim::Result r = small_result();
  r.busy_cycles = 100;
  r.totals.sm.issued = 25;
  r.totals.sm.l1d_stores = 50;
  r.totals.request.flits = 10;
  r.totals.reply.flits = 1;
  r.totals.l2.writes = 100;
  r.peaks = {.issue = 1, .l1_lines = 1, .request_flits = 1, .reply_flits = 1, .l2_requests = 1};
  r.peaks.dram_bytes = stats::kUnlimited;
  const std::string text = summary(r);
  EXPECT_THAT(text, HasSubstr("  of peaks             issue 25.0 %, L1D 50.0 %, network 10.0 %, "
                              "L2 100.0 %, DRAM no limit\n"));
}

sim::Result with_policies(const std::string& throttle) {
  sim::Result r = small_result();
  for (const auto& [level, name] : {std::pair{"kernel", "fcfs"},
                                    {"warp", "gto"},
                                    {"throttle", throttle.c_str()},
                                    {"dram", "frfcfs"}})
    r.policies[level] = {{"name", name}, {"parameters", nullptr}, {"statistics", nullptr}};
  return r;
}

TEST(Words, OfPoliciesTheWarpsAndThoseThatAreNotTheDefaultAreNamed) {
  EXPECT_EQ(policy_label(with_policies("none")), "warp=gto");
  EXPECT_EQ(policy_label(with_policies("ccws")), "warp=gto throttle=ccws");
}

TEST(Words, OfACoRunTheSchemeIsNamedAlways) {
  sim::Result r = with_policies("none");
  r.corun.emplace();
  EXPECT_EQ(policy_label(r), "warp=gto scheme=none");
  r.policies["scheme"] = {{"name", "ccbp"}, {"parameters", nullptr}, {"statistics", nullptr}};
  EXPECT_EQ(policy_label(r), "warp=gto scheme=ccbp");
}

TEST(Summary, TellsKernelsByTheNamesPeopleGaveThemAndWhatLimitsThem) {
  sim::Result r = with_policies("none");
  r.busy_cycles = 250;
  r.kernels[0].name = "_Z5firstPKfS0_Pf";
  r.kernels[0].first = 10;
  r.kernels[0].last = 140;
  r.kernels[0].resident = sim::Resident{24, 6, 48, "registers"};
  r.totals.scheduler.stall[static_cast<unsigned>(stats::Stall::Launch)] = 400;
  r.totals.dram.bytes = 132096;
  const std::string text = summary(r);
  EXPECT_THAT(text, HasSubstr("\n  first  "));
  EXPECT_THAT(text, Not(HasSubstr("_Z5first")));
  EXPECT_THAT(text, HasSubstr("48, registers\n"));
  EXPECT_THAT(text, HasSubstr("2 launches); 250 with a block on an SM"));
  EXPECT_THAT(text, HasSubstr("most lost to launch 66.7 %"));
  EXPECT_THAT(text, HasSubstr("129 KiB, row hits"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 120u) << line;
  r.kernels.resize(1);
  EXPECT_THAT(summary(r), HasSubstr("1 launch)"));
}

TEST(Summary, ChecksOfNothingSaySo) {
  sim::Result r = with_policies("none");
  const exec::AccessChecks none{exec::CheckOptions{}};
  r.checks.emplace(none);
  EXPECT_THAT(summary(r), HasSubstr("checks: nothing found"));
  r.kernels.clear();
  EXPECT_THAT(summary(r), HasSubstr("checks: no kernel has run"));
  EXPECT_THAT(summary(r), Not(HasSubstr("nothing found")));
}

}  // namespace
}  // namespace raddle::report::words_test
