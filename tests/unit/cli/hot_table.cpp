// raddle hot as text: at most 80 columns and 25 lines, whatever the names.
#include "raddle/cli/shared/hot_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace raddle::cli::hot_table_test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::uint64_t kMaximum = std::uint64_t{1} << 42;

/// More of everything than is shown, with names and numbers as long as they can be.
report::Hot large() {
  report::Hot out;
  out.cycles = kMaximum;
  out.lost_to = {"dependence", 1};
  out.issued = 1;
  out.lines.emplace();
  out.allocations.emplace();
  const std::string name(300, 'n');
  for (unsigned i = 0; i < 9; ++i) {
    out.kernels.push_back({name, kMaximum / 1000, kMaximum, 1, {"dependence", 1}});
    out.lines->push_back({{name}, "", 100'000, name, 1, 1, {"dependence", 1}, 1});
    out.allocations->push_back({name, kMaximum, kMaximum, kMaximum, 1, 1, 1, 1});
  }
  out.lacking = {std::string(200, 'l')};
  return out;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

TEST(HotTable, FitsATerminalWhateverTheNames) {
  const std::vector<std::string> lines = lines_of(hot_table(std::string(200, 't'), large(), {}));
  EXPECT_LE(lines.size(), 25u);
  for (const std::string& line : lines) EXPECT_LE(line.size(), 80u) << line;
}

TEST(HotTable, SaysHowManyThereAreAndShowsThem) {
  EXPECT_THAT(hot_table("t", large(), {}), HasSubstr("kernel (5 of 9)"));
  const std::string all = hot_table("t", large(), {.top = 0});
  EXPECT_THAT(all, Not(HasSubstr(" of 9)")));
  EXPECT_EQ(lines_of(all).size(), lines_of(hot_table("t", large(), {})).size() + 3 * 4);
}

TEST(HotTable, ColoursAreOnlyWhereTheyAreAskedForAndChangeNoWord) {
  const std::string plain = hot_table("t", large(), {});
  EXPECT_THAT(plain, Not(HasSubstr("\033")));
  std::string coloured = hot_table("t", large(), {.colours = true});
  EXPECT_THAT(coloured, HasSubstr("\033["));
  for (std::size_t at = coloured.find('\033'); at != std::string::npos; at = coloured.find('\033'))
    coloured.erase(at, coloured.find('m', at) - at + 1);
  EXPECT_EQ(coloured, plain);
}

TEST(HotTable, NamesDoNotSteerTheTerminal) {
  report::Hot hot = large();
  hot.kernels.front().name = "a\033[2Jb\nc";
  EXPECT_THAT(hot_table("t\r", hot, {}), Not(HasSubstr("\033")));
}

TEST(HotTable, NothingToShowIsSaid) {
  report::Hot hot;
  hot.lines.emplace();
  hot.allocations.emplace();
  const std::string text = hot_table("t", hot, {});
  for (const char* said : {"no kernel was launched", "no line is known", "no kernel has accessed"})
    EXPECT_THAT(text, HasSubstr(said));
}

}  // namespace
}  // namespace raddle::cli::hot_table_test
