#include "raddle/cli/shared/allocations_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace raddle::cli::allocations_table_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::ordered_json;

/// With nothing but loads, all of which miss, and bytes read from DRAM.
Json figures(std::uint64_t loads, std::uint64_t read) {
  return {{"loads", loads},         {"stores", 0},
          {"atomics", 0},           {"l1d_hits", 0},
          {"l1d_pending_hits", 0},  {"l1d_misses", loads},
          {"l2_hits", 0},           {"l2_pending_hits", 0},
          {"l2_misses", 0},         {"dram_read_bytes", read},
          {"dram_written_bytes", 0}};
}

Json row(const std::string& name, std::uint64_t loads, std::uint64_t read) {
  Json out = {{"name", name}};
  out.update(figures(loads, read));
  out["kernels"] = {{"small", figures(1, 0)}, {"large", figures(loads - 1, read)}};
  return out;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out = {""};
  for (const char c : text)
    if (c == '\n') out.emplace_back();
    else out.back() += c;
  return out;
}

TEST(AllocationsTable, HeaviestFirstAndASumLast) {
  const Json all = {{"known", true},
                    {"rows", {row("allocation 1", 2000, 64), row("allocation 2", 10, 4096)}}};
  const std::vector<std::string> lines = lines_of(allocations_table(all, {}));
  EXPECT_THAT(lines[2], AllOf(HasSubstr("allocation 2"), HasSubstr("4.00 KiB")));
  EXPECT_THAT(lines[3], AllOf(HasSubstr("allocation 1"), HasSubstr("2,000"), HasSubstr("64 B")));
  EXPECT_THAT(lines[4], AllOf(HasSubstr("  all "), HasSubstr("2,010"), HasSubstr("4.06 KiB")));
  for (const std::string& line : lines) EXPECT_FALSE(line.ends_with(' ')) << line;
}

TEST(AllocationsTable, KernelsOfARowByTheirTraffic) {
  const Json all = {{"known", true}, {"rows", {row("allocation 1", 2000, 64)}}};
  const std::string text = allocations_table(all, {.by_kernel = true});
  EXPECT_LT(text.find("    large"), text.find("    small"));
  EXPECT_EQ(allocations_table(all, {}).find("    large"), std::string::npos);
}

TEST(AllocationsTable, OnlyTheHeaviestAreShown) {
  Json all = {{"known", true}, {"rows", Json::array()}};
  for (unsigned i = 1; i <= 5; ++i)
    all["rows"].push_back(row("allocation " + std::to_string(i), 10, i));
  const std::string some = allocations_table(all, {.maximum = 2});
  EXPECT_THAT(some, AllOf(HasSubstr("allocation 5"), HasSubstr("and 3 more"), HasSubstr("50")));
  EXPECT_THAT(some, Not(HasSubstr("allocation 3")));
  EXPECT_THAT(allocations_table(all, {.maximum = 0}), Not(HasSubstr("more (--top")));
}

TEST(AllocationsTable, PlacesTimesAndArguments) {
  Json one = row("allocation 7", 10, 32);
  one["bytes"] = 1 << 20;
  one["sectors"] = 1 << 15;
  one["touched_sectors"] = 1;
  one["times"] = 3;
  one["arguments"] = {{"_Z3addPf", {2}}, {"k", {1, 3, 4}}};
  const std::string text = allocations_table({{"known", true}, {"rows", {one}}}, {});
  EXPECT_THAT(text, AllOf(HasSubstr("allocation 7 (x3)"), HasSubstr("1.00 MiB"),
                          HasSubstr("<0.1 %"), HasSubstr("add 2, k 1, k 3 and 1 more")));
}

TEST(AllocationsTable, LongNamesKeepTheColumns) {
  const std::string longer = "abcdefghijklmnopqrstuv\xc3\xa4 and more";  // cut inside the last one
  const Json all = {{"known", false}, {"rows", {row(longer, 10, 32), row("a", 10, 0)}}};
  const std::string text = allocations_table(all, {});
  EXPECT_THAT(text, AllOf(HasSubstr("  abcdefghijklmnopqrstuv...    "),
                          HasSubstr("not known here what was allocated")));
}

}  // namespace
}  // namespace raddle::cli::allocations_table_test
