// moe: awkward routings and sizes, what its check finds, and its character against closed forms:
// the load of experts, tiles, bytes. (What every workload must do is asked in workloads.cpp.)
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "functional/launch_profile.h"
#include "moe/mixture.h"

namespace raddle::runtime::mixture_of_experts_test {

namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using workloads::MixtureInputs;
using workloads::MixtureSizes;

// [token, first][hidden] of the result, two halves a word.
std::vector<std::uint32_t> result(const Parameters& parameters) {
  auto workload = make_workload("moe", parameters);
  EXPECT_THAT(workload->violations(), IsEmpty());
  WatchedDevice device;
  workload->run(device, 3);
  EXPECT_EQ(workload->check(), "");
  return device.last_download;
}

class Routing : public ::testing::TestWithParam<Parameters> {};

TEST_P(Routing, IsCorrect) { EXPECT_FALSE(result(GetParam()).empty()); }

INSTANTIATE_TEST_SUITE_P(
    Edges, Routing,
    ::testing::Values(
        Parameters{{"tokens", "1"}, {"top_k", "1"}}, Parameters{{"experts", "1"}, {"top_k", "1"}},
        // Experts without tokens, in each of the four forms of the gate.
        Parameters{{"tokens", "3"}, {"experts", "32"}, {"top_k", "1"}},
        Parameters{{"tokens", "3"}, {"experts", "33"}, {"top_k", "2"}},
        Parameters{{"tokens", "5"}, {"experts", "100"}, {"top_k", "3"}, {"skew", "2"}},
        Parameters{{"tokens", "2"}, {"experts", "256"}, {"top_k", "16"}, {"hidden", "8"}},
        Parameters{{"tokens", "6"}, {"experts", "5"}, {"top_k", "5"}, {"hidden", "8"}},
        // Nearly all tokens with one expert; the others' weights are near 0.
        Parameters{{"tokens", "70"}, {"skew", "8"}, {"experts", "4"}},
        // One less and one more than a tile, and several chunks of choices.
        Parameters{{"tokens", "63"}, {"experts", "1"}, {"top_k", "1"}},
        Parameters{{"tokens", "65"}, {"experts", "1"}, {"top_k", "1"}},
        Parameters{{"tokens", "300"}, {"experts", "7"}, {"hidden", "8"}, {"intermediate", "8"}},
        // Tiles that are all within, several panels deep, and larger ones that are not.
        Parameters{{"tokens", "64"}, {"experts", "2"}, {"hidden", "256"}, {"intermediate", "64"}},
        Parameters{{"tokens", "128"},
                   {"experts", "1"},
                   {"top_k", "1"},
                   {"hidden", "128"},
                   {"intermediate", "128"},
                   {"tile", "128x128"}},
        Parameters{{"tokens", "130"},
                   {"experts", "2"},
                   {"hidden", "136"},
                   {"intermediate", "72"},
                   {"tile", "128x128"}}));

TEST(Mixture, RefusesWhatContradicts) {
  const std::pair<Parameters, std::string> cases[] = {
      {{{"hidden", "100"}}, "hidden must be a multiple of 8, is 100"},
      {{{"intermediate", "12"}}, "intermediate must be a multiple of 8, is 12"},
      {{{"experts", "3"}, {"top_k", "4"}}, "top_k must not exceed experts = 3, is 4"},
      {{{"experts", "256"}, {"hidden", "16384"}, {"intermediate", "4096"}}, "2^29"},
      {{{"tokens", "65535"}, {"hidden", "16384"}}, "tokens * top_k * hidden"}};
  for (const auto& [parameters, message] : cases)
    EXPECT_THAT(make_workload("moe", parameters)->violations(), Contains(HasSubstr(message)));
  for (const char* none : {"tokens", "experts", "top_k", "hidden"})
    EXPECT_THROW(make_workload("moe", {{none, "0"}}), InputError) << none;
  EXPECT_THROW(make_workload("moe", {{"skew", "-1"}}), InputError);
  EXPECT_THROW(make_workload("moe", {{"tile", "32x32"}}), InputError);
}

TEST(Mixture, NeedsAmpere) { EXPECT_EQ(make_workload("moe", {})->min_capability(), 80u); }

// The routing is downloaded before the result: experts, weights, sorted tokens, places.
TEST(Mixture, ChecksTheRoutingExactly) {
  const std::pair<const char*, std::uint32_t> cases[] = {{"expert[5]: expected", 1},
                                                         {"weight[5]: expected", 1u << 20},
                                                         {"sorted[5]: expected", 1},
                                                         {"place[5]: expected", 1}};
  for (std::size_t download = 0; download < std::size(cases); ++download) {
    auto workload = make_workload("moe", {});
    WatchedDevice device;
    device.corruption = Corruption{download, 5, cases[download].second};
    workload->run(device, 1);
    EXPECT_THAT(workload->check(), HasSubstr(cases[download].first));
  }
}

// A half that is 3 % wrong. (Another sign or exponent finds workloads.cpp.)
TEST(Mixture, ChecksTheResultClosely) {
  auto workload = make_workload("moe", {});
  WatchedDevice device;
  device.corruption = Corruption{4, 100, 1u << 21};
  workload->run(device, 1);
  EXPECT_THAT(workload->check(), HasSubstr("out[201]: expected"));
}

// Neither on the tile nor on which other tokens are there: each sum has one order.
TEST(Mixture, ATokensResultDependsOnNothingElse) {
  const Parameters few = {{"tokens", "70"}, {"hidden", "72"}};
  const std::vector<std::uint32_t> all = result(few);
  Parameters other = few;
  other["tile"] = "128x128";
  EXPECT_EQ(result(other), all);
  other = few;
  other["tokens"] = "40";
  const std::vector<std::uint32_t> first(all.begin(), all.begin() + 40 * 72 / 2);
  EXPECT_EQ(result(other), first);
}

std::vector<std::vector<std::uint32_t>> tokens_of(const MixtureInputs& in) {
  const MixtureSizes& of = in.sizes;
  std::vector<std::vector<std::uint32_t>> tokens(of.experts);
  for (std::uint32_t token = 0; token < of.tokens; ++token) {
    const float* const logits = &in.logits[std::size_t{token} * of.experts];
    for (std::uint32_t expert = 0; expert < of.experts; ++expert)
      if (std::count_if(logits, logits + of.experts,
                        [&](float other) { return other > logits[expert]; }) < of.top_k)
        tokens[expert].push_back(token);
  }
  return tokens;
}

MixtureInputs inputs(const MixtureSizes& sizes, double skew, std::uint64_t seed) {
  workloads::InputHash hash;
  return workloads::make_mixture(sizes, skew, seed, hash);
}

// With shares p of first choices, an expert is the first of a token or, after another one that is
// left out, the second.
TEST(Mixture, LoadsOfExpertsAreThoseOfTheSkew) {
  constexpr std::uint32_t kTokens = 20'000, kExperts = 8;
  for (const double skew : {0.0, 0.5, 1.0, 2.0}) {
    std::vector<double> share(kExperts), got, expected;
    double sum = 0;
    for (std::uint32_t rank = 0; rank < kExperts; ++rank)
      sum += share[rank] = std::pow(1.0 + rank, -skew);
    for (double& one : share) one /= sum;
    for (std::uint32_t rank = 0; rank < kExperts; ++rank) {
      double second = 0;
      for (std::uint32_t first = 0; first < kExperts; ++first)
        if (first != rank) second += share[first] * share[rank] / (1 - share[first]);
      expected.push_back(share[rank] + second);
    }
    const MixtureInputs in = inputs({kTokens, 8, 8, kExperts, 2}, skew, 1);
    for (const auto& its : tokens_of(in)) got.push_back(static_cast<double>(its.size()) / kTokens);
    std::sort(got.rbegin(), got.rend());
    // Four standard deviations of a share of 20,000 draws are at most 0.014.
    for (std::uint32_t rank = 0; rank < kExperts; ++rank)
      EXPECT_NEAR(got[rank], expected[rank], 0.015) << "skew " << skew << ", rank " << rank;
  }
}

struct Work {
  std::uint64_t tiles = 0, experts = 0;  ///< of rows; experts with tokens
};
Work work(const MixtureInputs& in, std::uint64_t rows) {
  Work out;
  for (const auto& its : tokens_of(in)) {
    out.tiles += (its.size() + rows - 1) / rows;
    out.experts += its.empty() ? 0 : 1;
  }
  return out;
}

const LaunchProfile& launch(const std::vector<LaunchProfile>& all, std::string_view name) {
  const auto at = std::find_if(
      all.begin(), all.end(), [&](const LaunchProfile& one) { return one.name.starts_with(name); });
  EXPECT_NE(at, all.end()) << name;
  return *at;
}

// Blocks are as many as there can be tiles; only those with a tile load matrices, and of the
// experts' weights only those of experts with tokens are read.
TEST(Mixture, TilesAndBytesAreThoseOfTheRouting) {
  constexpr MixtureSizes kSizes = {150, 136, 72, 6, 2};
  for (const auto& [skew, tile, rows] :
       {std::tuple("0", "64x64", 64u), {"3", "64x64", 64u}, {"3", "128x128", 128u}}) {
    const auto all = profile("moe", {{"tokens", "150"},
                                     {"hidden", "136"},
                                     {"intermediate", "72"},
                                     {"experts", "6"},
                                     {"skew", skew},
                                     {"tile", tile}});
    ASSERT_EQ(all.size(), 7u);
    const Work of = work(inputs(kSizes, std::stod(skew), 1), rows);
    const std::uint64_t places = (300 + 6 * (rows - 1)) / rows;
    // Of a panel of 64 a warp of 32 x 32 or 64 x 64 loads 4 or 8 matrices in each of four steps.
    const std::uint64_t loads = 4 * 4 * (rows / 16), columns = rows;
    const auto tiles = [&](std::uint64_t width) { return (width + columns - 1) / columns; };
    const LaunchProfile& up = launch(all, "moe_gate_up");
    EXPECT_EQ(up.blocks, tiles(2 * 72) * places);
    EXPECT_EQ(up.of("ldmatrix").count, of.tiles * tiles(2 * 72) * 3 * loads) << skew << tile;
    const LaunchProfile& down = launch(all, "moe_down");
    EXPECT_EQ(down.blocks, tiles(136) * places);
    EXPECT_EQ(down.of("ldmatrix").count, of.tiles * tiles(136) * 2 * loads) << skew << tile;
    // Words: weights, rows of tokens in and out, the list, `used`, three or four of each tile.
    const std::uint64_t lists = 300 + 1;
    const std::uint64_t in_up = of.experts * 72 * 136 + 150 * 136 / 2 + 300 * 72 / 2 + lists;
    EXPECT_GE(up.words, in_up + 3 * of.tiles);
    EXPECT_LE(up.words, in_up + 4 * of.tiles);
    const std::uint64_t in_down = of.experts * 72 * 136 / 2 + 300 * (72 + 136) / 2 + 1;
    EXPECT_GE(down.words, in_down + 3 * of.tiles);
    EXPECT_LE(down.words, in_down + 4 * of.tiles);
    for (const LaunchProfile& one : all)
      EXPECT_EQ(one.of("atom").count + one.of("red").count, 0u) << one.name;
  }
}

// More tokens with one expert are fewer tiles that are not full, so fewer instructions.
TEST(Mixture, SkewMakesFewerTiles) {
  const MixtureSizes sizes = {200, 8, 8, 32, 2};
  const Work uniform = work(inputs(sizes, 0, 1), 64), skewed = work(inputs(sizes, 3, 1), 64);
  EXPECT_EQ(uniform.tiles, 32u);  // about 12 choices each
  EXPECT_LT(skewed.tiles, 22u);
  EXPECT_LT(skewed.experts, 20u);
}

}  // namespace

}  // namespace raddle::runtime::mixture_of_experts_test
