// How analyses are asked for as text, and what they are told of the machine.
#include "raddle/sim/profile/analysis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "raddle/policy/all.h"
#include "raddle/sim/setup/gpus.h"
#include "raddle/sim/setup/setup.h"
#include "support/errors.h"

namespace raddle::sim {
namespace {

using analysis::CacheOptions;
using analysis::LocalityOptions;
using testing::AllOf;
using testing::HasSubstr;

TEST(ReadAnalysis, ANameAloneIsItsLabel) {
  const analysis::Request locality = read_analysis("locality", "here");
  EXPECT_EQ(locality.label, "locality");
  EXPECT_TRUE(std::holds_alternative<LocalityOptions>(locality.what));
  const analysis::Request cache = read_analysis("cache", "here");
  EXPECT_EQ(cache.label, "cache");
  EXPECT_EQ(std::get<CacheOptions>(cache.what).replacements().size(), 3u);
  EXPECT_EQ(std::get<CacheOptions>(cache.what).size_kib, 0u) << "the machine's";
}

TEST(ReadAnalysis, OptionsAndALabelOfItsOwn) {
  const analysis::Request r =
      read_analysis("small-8=cache:size_kib=8,ways=4,replacement=lru+belady", "here");
  EXPECT_EQ(r.label, "small-8");
  const auto& cache = std::get<CacheOptions>(r.what);
  EXPECT_EQ(cache.size_kib, 8u);
  EXPECT_EQ(cache.ways, 4u);
  EXPECT_EQ(cache.replacement, "lru+belady");
}

TEST(ReadAnalysis, SourceHasAnInterval) {
  using analysis::SourceOptions;
  EXPECT_EQ(std::get<SourceOptions>(read_analysis("source", "here").what).interval_cycles, 64u);
  const analysis::Request often = read_analysis("often=source:interval_cycles=7", "here");
  EXPECT_EQ(often.label, "often");
  EXPECT_EQ(std::get<SourceOptions>(often.what).interval_cycles, 7u);
  EXPECT_TRUE(l1_analyses({often}).empty()) << "it looks at instructions";
}

TEST(ReadAnalysis, MistakesAreToldWithTheirPlace) {
  const auto said = [](std::string_view text) {
    return test::input_error_of([&] { read_analysis(text, "cell 3"); });
  };
  EXPECT_THAT(said("cash"), AllOf(HasSubstr("cell 3"), HasSubstr("'cash'"), HasSubstr("cache"),
                                  HasSubstr("locality")));
  EXPECT_THAT(said("cache:size=8"), AllOf(HasSubstr("cell 3"), HasSubstr("size_kib")));
  EXPECT_THAT(said("cache:size_kib=many"), AllOf(HasSubstr("size_kib"), HasSubstr("many")));
  EXPECT_THAT(said("cache:size_kib=-1"), AllOf(HasSubstr("size_kib"), HasSubstr("-1")));
  EXPECT_THAT(said("cache:size_kib=65537"), AllOf(HasSubstr("65536"), HasSubstr("65537")));
  EXPECT_THAT(said("cache:size_kib=1,ways=99999"), HasSubstr("ways"));
  EXPECT_THAT(said("cache:replacement=mru"), AllOf(HasSubstr("cell 3"), HasSubstr("'mru'")));
  EXPECT_THAT(said("cache:replacement=lru+lru"), HasSubstr("twice"));
  EXPECT_THAT(said("locality:size_kib=8"), HasSubstr("size_kib"));
  EXPECT_THAT(said("cache:size_kib"), HasSubstr("size_kib"));
  EXPECT_THAT(said("source:interval_cycles=0"),
              AllOf(HasSubstr("interval_cycles"), HasSubstr("0")));
  EXPECT_THAT(said("source:often=1"), HasSubstr("interval_cycles"));
  for (const char* text : {"", ":", "=cache", "cache:", "a b=cache", "a.b=cache", "x="})
    EXPECT_THAT(said(text), HasSubstr("cell 3")) << text;
}

TEST(ObservedL1, IsTheMachines) {
  const auto of = [](const std::string& gpu) {
    return observed_l1(read_setup(load_gpu(gpu), policy::all_policies()).machine);
  };
  const analysis::L1Machine ccws = of("ccws");
  EXPECT_EQ(ccws.sms, 30u);
  EXPECT_EQ(ccws.size_kib, 32u);
  EXPECT_EQ(ccws.ways, 8u);
  EXPECT_EQ(ccws.rules.line_bytes, 128u);
  EXPECT_EQ(ccws.rules.line_sectors, 1u);
  EXPECT_TRUE(ccws.rules.store_evicts);
  EXPECT_FALSE(ccws.rules.local_store_evicts);
  EXPECT_TRUE(ccws.rules.bypassing_load_evicts) << "local data may be dirty";
  const analysis::L1Machine v100 = of("v100");
  EXPECT_EQ(v100.rules.line_sectors, 0xfu);
  EXPECT_FALSE(v100.rules.store_evicts);
}

}  // namespace
}  // namespace raddle::sim
