// raddle hot, and who is marked as the fastest by raddle compare.
#include "cli/raddle.h"

namespace raddle::test::hot_test {
namespace {

struct Kept {
  Folder folder;
  std::string both = folder / "both.json", one = folder / "one.json", printed;

  Kept() {
    printed = raddle("compare vecadd size=tiny --gpu ccws --policies lrr,gto --json",
                     {both, "--report", folder / "drawn.html"})
                  .out;
    EXPECT_EQ(raddle("run vecadd size=tiny --gpu ccws --quiet --json", {one}).status, 0);
  }
};

const Kept& kept() {
  static const Kept files;
  return files;
}

TEST(Hot, KernelsLinesAndAllocationsOfEachResult) {
  const Outcome outcome = raddle("hot", {kept().both});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  for (const char* said :
       {"vecadd on ccws, lrr", "vecadd on ccws, gto", "kernel", "vecadd:", "allocation 1 of "})
    EXPECT_THAT(outcome.out, HasSubstr(said));
  EXPECT_THAT(outcome.out, Not(HasSubstr("\033"))) << "no terminal, no colours";
  EXPECT_LE(line_count(outcome.out), 2 * 25u + 1);
}

TEST(Hot, JsonAgreesWithTheResult) {
  const Json run = json_of(raddle("hot --json --top 0 --policies gto", {kept().both}))["runs"];
  ASSERT_EQ(run.size(), 1u);
  const Json result = Json::parse(read_file(kept().both))["runs"][1]["result"];
  EXPECT_EQ(run[0]["label"], "gto");
  EXPECT_EQ(run[0]["cycles"], result["totals"]["cycles"]);
  EXPECT_EQ(run[0]["kernels"][0]["cycles"], result["kernels"][0]["cycles"]);
  double time = 0;
  for (const Json& line : run[0]["lines"]) time += line["share"].get<double>();
  EXPECT_NEAR(time, 1, 1e-9);
  std::uint64_t bytes = 0;
  for (const Json& one : run[0]["allocations"]) bytes += one["dram_bytes"].get<std::uint64_t>();
  EXPECT_EQ(bytes, result["totals"]["dram_bytes"].get<std::uint64_t>());
}

TEST(Hot, WhatARunLacksIsSaidWithTheOptionThatGivesIt) {
  EXPECT_THAT(raddle("hot", {kept().one}).out, HasSubstr("add --report PAGE.html to the run"));
  const std::string again = kept().folder / "again.json";
  ASSERT_EQ(raddle("run vecadd size=tiny --gpu ccws --quiet --json",
                   {again, "--report", kept().folder / "again.html"})
                .status,
            0);
  EXPECT_THAT(raddle("hot", {again}).out, Not(HasSubstr("not in this file")));
}

TEST(Hot, OtherFilesAreRefused) {
  expect_refused(raddle("hot", {kept().folder / "no.json"}), {"no.json"});
  const std::string other = kept().folder.write("kind.json", R"({"schema":1,"kind":"x"})");
  expect_refused(raddle("hot", {other}), {"kind.json", "found a document"});
  const std::string untimed = kept().folder / "untimed.json";
  raddle("run vecadd size=tiny --functional --quiet --json", {untimed});
  expect_refused(raddle("hot", {untimed}),
                 {"untimed.json", "found one that was run without timing"});
  expect_refused(raddle("hot --policies ccws", {kept().both}), {"'lrr', 'gto'", "found 'ccws'"});
}

TEST(Compare, TheFastestIsMarkedByAWordAtTheEndOfItsLine) {
  const Json runs = Json::parse(read_file(kept().both))["runs"];
  const auto cycles = [&](std::size_t i) {
    return runs[i]["result"]["totals"]["cycles"].get<int>();
  };
  ASSERT_NE(cycles(0), cycles(1)) << "the test needs a pair of which one is faster";
  const std::string best = cycles(0) < cycles(1) ? "lrr" : "gto";
  std::istringstream in(kept().printed);
  unsigned marked = 0;
  for (std::string line; std::getline(in, line);) {
    if (!line.ends_with("  fastest")) continue;
    ++marked;
    EXPECT_THAT(line, testing::StartsWith("  " + best + " "));
  }
  EXPECT_EQ(marked, 1u);
  EXPECT_THAT(raddle("compare vecadd size=tiny --gpu ccws --policies lrr,lrr").out,
              Not(HasSubstr("fastest")));
}

}  // namespace
}  // namespace raddle::test::hot_test
