// Requests: what is built for them, what is refused, what the figures are made of.
#include "raddle/analysis/analyses.h"

#include <gtest/gtest.h>

#include "raddle/base/error.h"
#include "unit/analysis/figures.h"

namespace raddle::analysis {
namespace {

std::string refusal(std::vector<Request> requests, const L1Machine& machine = {}) {
  try {
    Analyses analyses(std::move(requests), machine);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

void say(policy::L1Observer& o, std::uint32_t line, policy::L1Outcome outcome) {
  o.access(
      {.line = line, .lanes = 1, .sectors = 1, .kind = policy::L1Kind::Load, .outcome = outcome});
  if (outcome == policy::L1Outcome::Miss) o.filled({0, line, 1, 0});
}

TEST(Analyses, FiguresFollowTheirDefinitions) {
  L1Machine machine;
  machine.sms = 2;
  machine.size_kib = 1;
  machine.ways = 2;
  CacheOptions small;
  small.ways = 1;
  Analyses analyses({{"locality", LocalityOptions{}}, {"cache", CacheOptions{}}, {"direct", small}},
                    machine);
  unsigned observers = 0;
  analyses.each_observer([&](unsigned, policy::L1Observer& o) {
    ++observers;
    o.warp_started({0, 0, 0, 0, 0, 0});
    for (const std::uint32_t line : {0u, 8u}) say(o, line, policy::L1Outcome::Miss);
    for (const std::uint32_t line : {0u, 8u}) say(o, line, policy::L1Outcome::Hit);
  });
  EXPECT_EQ(observers, 4u) << "a recorder and a locality observer for each SM";
  Figures f;
  analyses.visit({10000, 1000}, f);
  EXPECT_EQ(f.at["cache.size_kib"], 1);
  EXPECT_EQ(f.at["cache.ways"], 2);
  EXPECT_EQ(f.at["cache.line_bytes"], 128);
  EXPECT_EQ(f.at["cache.lru.accesses"], 8) << "summed over the SMs, each with its own cache";
  EXPECT_EQ(f.at["cache.lru.misses"], 4);
  EXPECT_EQ(f.at["cache.lru.miss_rate"], 0.5);
  EXPECT_EQ(f.at["cache.lru.mpki"], 0.4) << "per 1000 thread instructions";
  EXPECT_EQ(f.at["cache.lru.warp_mpki"], 4);
  EXPECT_EQ(f.at["cache.belady.intra_thread_pki"], 0.4);
  EXPECT_EQ(f.at["direct.ways"], 1);
  EXPECT_EQ(f.at["direct.lru.misses"], 8) << "lines 0 and 8 are in each other's way";
  EXPECT_EQ(f.at["direct.belady.misses"], 8);
  EXPECT_EQ(f.at["direct.unbounded.misses"], 4);
  EXPECT_EQ(f.at["locality.hits"], 4);
  EXPECT_EQ(f.at["locality.intra_thread_hits"], 4);
  EXPECT_EQ(f.at["locality.mpki"], 0.4);
  EXPECT_EQ(f.at["locality.lines_per_warp"], 2);
}

TEST(Analyses, NothingIsDividedByZero) {
  Analyses analyses({{"locality", LocalityOptions{}}, {"cache", CacheOptions{}}}, {});
  Figures f;
  analyses.visit({}, f);
  for (const char* name : {"cache.lru.mpki", "cache.lru.miss_rate", "cache.belady.warp_mpki",
                           "locality.mpki", "locality.lines_per_warp", "locality.miss_rate"})
    EXPECT_EQ(f.at.at(name), 0) << name;
}

TEST(Analyses, CachesThatCannotBeBuiltAreRefused) {
  CacheOptions odd;
  odd.size_kib = 1;
  odd.ways = 3;
  EXPECT_EQ(refusal({{"cache", odd}}),
            "analysis cache: size_kib = 1 is not a whole number of sets of 3 ways x 128 bytes");
  CacheOptions wide;
  wide.size_kib = 1;
  wide.ways = 16;
  EXPECT_NE(refusal({{"wide", wide}}), "");
  L1Machine none;
  none.size_kib = 0;
  EXPECT_EQ(refusal({{"locality", LocalityOptions{}}}, none),
            "analysis locality: the machine has no L1D (sm.l1d.size_kib = 0)");
}

TEST(Analyses, ALabelIsGivenOnce) {
  EXPECT_NE(refusal({{"cache", CacheOptions{}}, {"cache", CacheOptions{}}}).find("twice"),
            std::string::npos);
}

TEST(CacheOptions, ReplacementsAreAListOfNames) {
  CacheOptions options;
  options.replacement = "belady+lru";
  EXPECT_EQ(options.replacements(), (std::vector{Replacement::Belady, Replacement::Lru}));
  for (const auto& [text, said] :
       std::map<std::string, std::string>{{"fifo", "found 'fifo'"},
                                          {"", "found ''"},
                                          {"lru+", "found ''"},
                                          {"lru+lru", "'lru' is there twice"},
                                          {"LRU", "expected lru, belady or unbounded"}}) {
    options.replacement = text;
    try {
      options.replacements();
      ADD_FAILURE() << text;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(said), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace raddle::analysis
