// The checker itself: it passes a sound stream and names the rule that another breaks.
#include <gtest/gtest.h>

#include <ostream>

#include "support/dram_checker.h"

namespace raddle::test::dram_checker_test {
namespace {

using namespace raddle::timing;
using enum DramCommandKind;

/// 16 banks in 4 groups; every rule binds at a cycle of its own.
DramSpec spec() {
  DramSpec d;
  d.burst_bytes = 32;
  d.bus_bytes_per_cycle = 16;  // two data cycles
  d.tCL = 12;
  d.tCWL = 4;
  d.tRCD = 10;
  d.tRP = 11;
  d.tRAS = 28;
  d.tRC = 40;
  d.tCCDS = 2;
  d.tCCDL = 4;
  d.tRRDS = 3;
  d.tRRDL = 6;
  d.tFAW = 20;
  d.tWTRS = 3;
  d.tWTRL = 7;
  d.tWR = 13;
  d.tRTP = 5;
  d.turnaround = 2;
  d.tREFI = 1000;
  d.tRFC = 120;
  return d;
}

struct Stream {
  const char* broken;  // "" = none
  std::vector<DramCommand> commands;
};
void PrintTo(const Stream& c, std::ostream* out) { *out << '"' << c.broken << '"'; }
const DramCommand kOpen{0, Activate, 1, 7};  // bank 1, row 7

class Checker : public testing::TestWithParam<Stream> {};

std::string verdict(const std::vector<DramCommand>& log, const DramSpec& d = spec()) {
  DramChecker checker(d);
  for (const DramCommand& c : log) checker.on_command(c);
  return checker.first_violation();
}

TEST_P(Checker, NamesTheRule) {
  const std::string said = verdict(GetParam().commands);
  const std::string rule = GetParam().broken;
  if (rule.empty()) EXPECT_EQ(said, "");
  else EXPECT_EQ(said.rfind(rule + " at memory cycle", 0), 0u) << said << ", not " << rule;
}

INSTANTIATE_TEST_SUITE_P(
    EachRule, Checker,
    testing::Values(
        Stream{"", {kOpen, {10, Read, 1, 7}}}, Stream{"tRCD", {kOpen, {9, Read, 1, 7}}},
        Stream{"RD or WR of another row than the open one", {kOpen, {10, Read, 1, 8}}},
        Stream{"PRE, RD or WR of a closed bank", {kOpen, {10, Read, 2, 7}}},
        Stream{"ACT of a bank with an open row", {kOpen, {50, Activate, 1, 8}}},
        Stream{"", {kOpen, {28, Precharge, 1, 7}}}, Stream{"tRAS", {kOpen, {27, Precharge, 1, 7}}},
        Stream{"", {kOpen, {29, Precharge, 1, 7}, {40, Activate, 1, 7}}},
        Stream{"tRP", {kOpen, {30, Precharge, 1, 7}, {40, Activate, 1, 7}}},
        Stream{"tRC", {kOpen, {28, Precharge, 1, 7}, {39, Activate, 1, 7}}},
        Stream{"", {kOpen, {3, Activate, 2, 7}}}, Stream{"tRRD", {kOpen, {2, Activate, 2, 7}}},
        Stream{"", {kOpen, {6, Activate, 5, 7}}}, Stream{"tRRD", {kOpen, {5, Activate, 5, 7}}},
        Stream{"",
               {kOpen,
                {3, Activate, 2, 7},
                {6, Activate, 3, 7},
                {9, Activate, 4, 7},
                {20, Activate, 5, 7}}},
        Stream{"tFAW",
               {kOpen,
                {3, Activate, 2, 7},
                {6, Activate, 3, 7},
                {9, Activate, 4, 7},
                {19, Activate, 5, 7}}},
        Stream{"two commands in one cycle", {kOpen, {0, Activate, 2, 7}}}));

// Bank 1 and bank 2 (another group) and bank 5 (the same) open, columns from cycle 40 on.
Stream columns(const char* broken, std::vector<DramCommand> more) {
  std::vector<DramCommand> all{kOpen, {8, Activate, 2, 7}, {16, Activate, 5, 7}};
  all.insert(all.end(), more.begin(), more.end());
  return {broken, all};
}
INSTANTIATE_TEST_SUITE_P(
    Columns, Checker,
    testing::Values(columns("", {{40, Read, 1, 7}, {42, Read, 2, 7}}),
                    columns("tCCD", {{40, Read, 1, 7}, {41, Read, 2, 7}}),
                    columns("", {{40, Read, 1, 7}, {44, Read, 5, 7}}),
                    columns("tCCD", {{40, Read, 1, 7}, {43, Read, 5, 7}}),
                    columns("tCCD", {{40, Read, 1, 7}, {43, Read, 1, 7}}),
                    columns("", {{40, Write, 1, 7}, {49, Read, 2, 7}}),
                    columns("tWTR", {{40, Write, 1, 7}, {48, Read, 2, 7}}),
                    columns("", {{40, Write, 1, 7}, {53, Read, 5, 7}}),
                    columns("tWTR", {{40, Write, 1, 7}, {52, Read, 5, 7}}),
                    columns("", {{40, Read, 1, 7}, {52, Write, 2, 7}}),
                    columns("bus turnaround", {{40, Read, 1, 7}, {51, Write, 2, 7}}),
                    columns("data bus", {{40, Read, 1, 7}, {49, Write, 2, 7}}),
                    columns("", {{40, Read, 1, 7}, {45, Precharge, 1, 7}}),
                    columns("tRTP", {{40, Read, 1, 7}, {44, Precharge, 1, 7}}),
                    columns("", {{40, Write, 1, 7}, {59, Precharge, 1, 7}}),
                    columns("tWR", {{40, Write, 1, 7}, {58, Precharge, 1, 7}})));

TEST(DramChecker, SeesWhatARefreshBreaks) {
  DramSpec d = spec();
  d.refresh = Refresh::AllBank;
  const DramCommand close{40, PrechargeAll, 0};
  EXPECT_EQ(verdict({kOpen, close, {51, RefreshAll, 0}, {171, Activate, 3, 1}}, d), "");
  EXPECT_EQ(verdict({kOpen, {51, RefreshAll, 0}}, d), "REF with an open row at memory cycle 51");
  EXPECT_EQ(verdict({kOpen, close, {50, RefreshAll, 0}}, d), "tRP before REF at memory cycle 50");
  EXPECT_EQ(verdict({kOpen, close, {51, RefreshAll, 0}, {170, Activate, 3, 1}}, d),
            "tRFC at memory cycle 170");
  EXPECT_EQ(verdict({{51, RefreshAll, 0}, {1500, Activate, 3, 1}}, d),
            "tREFI at memory cycle 1500");
  EXPECT_EQ(verdict({{51, RefreshAll, 0}}), "REF without refresh at memory cycle 51");
  d.refresh = Refresh::PerBank;
  EXPECT_EQ(verdict({{60, Refresh, 3}, {61, Activate, 4, 1}}, d), "");
  EXPECT_EQ(verdict({{60, Refresh, 3}, {179, Activate, 3, 1}}, d), "tRFC at memory cycle 179");
  EXPECT_EQ(verdict({kOpen, {60, Refresh, 1}}, d),
            "REF of a bank with an open row at memory cycle 60");
  EXPECT_EQ(verdict({{60, Refresh, 3}, {1500, Activate, 3, 1}}, d), "tREFI at memory cycle 1500");
}

TEST(DramChecker, TwoBusesCarryAColumnAndARowCommandAtOnce) {
  DramSpec d = spec();
  const std::vector<DramCommand> both{kOpen, {20, Read, 1, 7}, {20, Activate, 2, 7}};
  EXPECT_EQ(verdict(both, d), "two commands in one cycle at memory cycle 20");
  d.command_buses = 2;
  EXPECT_EQ(verdict(both, d), "");
  EXPECT_EQ(verdict({kOpen, {0, Activate, 2, 7}}, d),
            "two commands in one cycle at memory cycle 0");
}

}  // namespace
}  // namespace raddle::test::dram_checker_test
