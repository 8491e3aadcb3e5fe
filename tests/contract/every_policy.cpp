// The rules of each level, for every policy that is in the source tree: a new policy file is tested
// before its author writes a test.
#include <gtest/gtest.h>

#include <set>

#include "contract/seeded_views.h"
#include "support/settings.h"

namespace raddle::contract::every_policy_test {
namespace {

constexpr std::uint64_t kSeeds = 3;

/// Names of all policies of a level, for INSTANTIATE_TEST_SUITE_P.
std::vector<std::string> kernel_names() { return policy::all_policies().kernel.names(); }
std::vector<std::string> warp_names() { return policy::all_policies().warp.names(); }
std::vector<std::string> throttle_names() { return policy::all_policies().throttle.names(); }
std::vector<std::string> block_names() { return policy::all_policies().block.names(); }
std::vector<std::string> dram_names() { return policy::all_policies().dram.names(); }
std::vector<std::string> replacement_names() { return policy::all_policies().replacement.names(); }
std::vector<std::string> l2_replacement_names() {
  return policy::all_policies().l2_replacement.names();
}
std::vector<std::string> bypass_names() { return policy::all_policies().bypass.names(); }
std::vector<std::string> scheme_names() { return policy::all_policies().scheme.names(); }
std::vector<std::string> migrate_names() { return policy::all_policies().migrate.names(); }
auto name_of = [](const auto& info) { return info.param; };

/// The policy of that name with its default parameters.
template <class Interface>
Make<Interface> maker(const policy::Registry<Interface>& registry, const std::string& name) {
  std::shared_ptr<policy::Choice<Interface>> choice = registry.choose(name);
  return [choice](const typename Interface::Context& context) { return choice->make(context); };
}

class KernelContract : public testing::TestWithParam<std::string> {};
TEST_P(KernelContract, Holds) {
  const auto all = policy::all_policies();
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed)
    EXPECT_EQ(check_kernel(maker(all.kernel, GetParam()), seed), "") << "seed " << seed;
}
INSTANTIATE_TEST_SUITE_P(All, KernelContract, testing::ValuesIn(kernel_names()), name_of);

class WarpContract : public testing::TestWithParam<std::string> {};
TEST_P(WarpContract, Holds) {
  const auto all = policy::all_policies();
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed)
    EXPECT_EQ(check_warp(maker(all.warp, GetParam()), seed), "") << "seed " << seed;
}
INSTANTIATE_TEST_SUITE_P(All, WarpContract, testing::ValuesIn(warp_names()), name_of);

class ThrottleContract : public testing::TestWithParam<std::string> {};
TEST_P(ThrottleContract, Holds) {
  const auto all = policy::all_policies();
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed)
    EXPECT_EQ(check_throttle(maker(all.throttle, GetParam()), seed), "") << "seed " << seed;
}
INSTANTIATE_TEST_SUITE_P(All, ThrottleContract, testing::ValuesIn(throttle_names()), name_of);

TEST(ThrottleParameters, KeepTheContractAtTheirEnds) {
  const auto all = policy::all_policies();
  using test::Settings;
  const std::vector<std::pair<const char*, Settings>> settings = {
      {"swl", {{"limit", "1"}}},
      {"swl", {{"limit", "2"}}},
      {"swl", {{"limit", "64"}}},
      {"ccws", {{"k", "1"}}},
      {"ccws", {{"k", "1024"}, {"vta_entries", "256"}}},
      {"ccws", {{"base", "1"}, {"k", "32"}}},
      {"ccws", {{"base", "10000"}, {"k", "128"}}},
      {"ccws", {{"vta_entries", "1"}, {"k", "128"}}},
      {"ccws", {{"eval_period", "2"}, {"k", "64"}}},
      {"ccws", {{"eval_period", "4096"}, {"k", "64"}}},
      {"ccws", {{"lls_bits", "7"}, {"k", "64"}}},
      {"ccws", {{"totals", "run"}, {"k", "64"}, {"flush_at_kernel", "true"}}},
      {"dyncta", {{"period", "16"}, {"t_mem_low", "2"}, {"t_mem_high", "4"}, {"t_idle", "1"}}},
      {"dyncta", {{"t_mem_high", "128"}, {"t_idle", "100000"}}},
      {"dyncta", {{"t_idle", "0"}}}};
  for (const auto& [name, of] : settings) {
    std::shared_ptr<policy::Choice<policy::ThrottlePolicy>> choice =
        test::choose(all.throttle, name, of);
    EXPECT_EQ(check_throttle([&](const auto& context) { return choice->make(context); }, 9), "")
        << name << " " << of.front().first << " " << of.front().second;
  }
}

class BlockContract : public testing::TestWithParam<std::string> {};
TEST_P(BlockContract, Holds) {
  const auto all = policy::all_policies();
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed)
    EXPECT_EQ(check_block(maker(all.block, GetParam()), seed), "") << "seed " << seed;
}
INSTANTIATE_TEST_SUITE_P(All, BlockContract, testing::ValuesIn(block_names()), name_of);

class DramContract : public testing::TestWithParam<std::string> {};
TEST_P(DramContract, Holds) {
  // frfcfs serves row hits for as long as they come (Rixner et al., ISCA 2000), clams also requests
  // of critical cores, tcm of tenants; their headers say so.
  static const std::set<std::string> kMayStarve = {"clams", "frfcfs", "tcm"};
  const auto all = policy::all_policies();
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed)
    EXPECT_EQ(check_dram(maker(all.dram, GetParam()), seed, {!kMayStarve.contains(GetParam())}), "")
        << "seed " << seed;
}
TEST(DramPromise, WhoIsExcusedIsRightlySo) {
  const auto all = policy::all_policies();
  for (const char* name : {"clams", "frfcfs", "tcm"})
    EXPECT_NE(check_dram(maker(all.dram, name), 1, {true}), "") << name;
}
INSTANTIATE_TEST_SUITE_P(All, DramContract, testing::ValuesIn(dram_names()), name_of);

TEST(DramParameters, KeepTheContractAtTheirEnds) {
  const auto all = policy::all_policies();
  for (const test::Settings& of :
       {test::Settings{{"mode", "range2"}}, test::Settings{{"mode", "range4"}},
        test::Settings{{"mode", "dynamic"}},
        test::Settings{{"mode", "dynamic"}, {"threshold", "0"}},
        test::Settings{{"mode", "dynamic"}, {"threshold", "100"}}}) {
    std::shared_ptr<policy::Choice<policy::DramPolicy>> choice =
        test::choose(all.dram, "clams", of);
    EXPECT_EQ(check_dram([&](const auto& context) { return choice->make(context); }, 9, {false}),
              "")
        << of.back().first << " " << of.back().second;
  }
}

TEST(DramParameters, OfTcmKeepTheContractAtTheirEnds) {
  const auto all = policy::all_policies();
  for (const test::Settings& of :
       {test::Settings{{"latency_share", "0"}, {"shuffle", "1"}},
        test::Settings{{"latency_share", "100"}}, test::Settings{{"shuffle", "1000000000"}}}) {
    std::shared_ptr<policy::Choice<policy::DramPolicy>> choice = test::choose(all.dram, "tcm", of);
    EXPECT_EQ(check_dram([&](const auto& context) { return choice->make(context); }, 9, {false}),
              "")
        << of.back().first << " " << of.back().second;
  }
}

class ReplacementContract : public testing::TestWithParam<std::string> {};
TEST_P(ReplacementContract, Holds) {
  const auto all = policy::all_policies();
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed)
    EXPECT_EQ(check_replacement(maker(all.replacement, GetParam()), seed), "") << "seed " << seed;
}
INSTANTIATE_TEST_SUITE_P(All, ReplacementContract, testing::ValuesIn(replacement_names()), name_of);

TEST(ReplacementParameters, KeepTheContractAtTheirEnds) {
  const auto all = policy::all_policies();
  using test::Settings;
  const std::vector<std::pair<const char*, Settings>> settings = {
      {"srrip", {{"bits", "1"}}},
      {"srrip", {{"bits", "7"}}},
      {"ucp", {{"interval", "100"}, {"sample", "1"}}},
      {"ucp", {{"interval", "100"}, {"sample", "1024"}}},
      {"ucp", {{"interval", "1000000000"}}}};
  for (const auto& [name, of] : settings) {
    std::shared_ptr<policy::Choice<policy::ReplacementPolicy>> choice =
        test::choose(all.replacement, name, of);
    EXPECT_EQ(check_replacement([&](const auto& context) { return choice->make(context); }, 9), "")
        << name << " " << of.front().first << " " << of.front().second;
  }
}

class L2ReplacementContract : public testing::TestWithParam<std::string> {};
TEST_P(L2ReplacementContract, Holds) {
  const auto all = policy::all_policies();
  const auto choice = all.l2_replacement.choose(GetParam());
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed)
    EXPECT_EQ(check_replacement(
                  [&](const policy::ReplacementPolicy::Context& c)
                      -> std::unique_ptr<policy::ReplacementPolicy> {
                    return choice->make({c.sm, c.sets, c.ways, c.seed});
                  },
                  seed),
              "")
        << "seed " << seed;
}
INSTANTIATE_TEST_SUITE_P(All, L2ReplacementContract, testing::ValuesIn(l2_replacement_names()),
                         name_of);

class BypassContract : public testing::TestWithParam<std::string> {};
TEST_P(BypassContract, Holds) {
  const auto all = policy::all_policies();
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed)
    EXPECT_EQ(check_bypass(maker(all.bypass, GetParam()), seed), "") << "seed " << seed;
}
INSTANTIATE_TEST_SUITE_P(All, BypassContract, testing::ValuesIn(bypass_names()), name_of);

TEST(BypassParameters, KeepTheContractAtTheirEnds) {
  const auto all = policy::all_policies();
  using test::Settings;
  const std::vector<std::pair<const char*, Settings>> settings = {
      {"tokens", {{"tokens", "0"}}},
      {"tokens", {{"tokens", "1"}}},
      {"tokens", {{"tokens", "64"}}},
      {"stalled", {{"ways_only", "true"}}}};
  for (const auto& [name, of] : settings) {
    std::shared_ptr<policy::Choice<policy::BypassPolicy>> choice =
        test::choose(all.bypass, name, of);
    EXPECT_EQ(check_bypass([&](const auto& context) { return choice->make(context); }, 9), "")
        << name << " " << of.front().first << " " << of.front().second;
  }
}

class SchemeContract : public testing::TestWithParam<std::string> {};
TEST_P(SchemeContract, Holds) {
  const auto all = policy::all_policies();
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed)
    EXPECT_EQ(check_scheme(maker(all.scheme, GetParam()), seed), "") << "seed " << seed;
}
INSTANTIATE_TEST_SUITE_P(All, SchemeContract, testing::ValuesIn(scheme_names()), name_of);

class MigrateContract : public testing::TestWithParam<std::string> {};
TEST_P(MigrateContract, Holds) {
  const auto all = policy::all_policies();
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed)
    EXPECT_EQ(check_migrate(maker(all.migrate, GetParam()), seed), "") << "seed " << seed;
}
INSTANTIATE_TEST_SUITE_P(All, MigrateContract, testing::ValuesIn(migrate_names()), name_of);

TEST(MigrateParameters, KeepTheContractAtTheirEnds) {
  const auto all = policy::all_policies();
  using test::Settings;
  const std::vector<std::pair<const char*, Settings>> settings = {
      {"latoa", {{"moves", "false"}}},
      {"latoa", {{"cooldown", "0"}, {"converged", "false"}}},
      {"latoa", {{"among", "unsent"}, {"orphans", "release"}}},
      {"latoa", {{"entry", "1"}, {"slots_percent", "100"}, {"outbox", "64"}}},
      {"latoa", {{"entry", "2"}, {"entry_from", "newest"}, {"order", "swne"}}},
      {"latoa", {{"relaxed", "0"}, {"critical", "1"}, {"cooldown", "50"}}},
      {"balance", {{"interval", "1"}, {"few", "64"}, {"difference", "1"}}},
      {"balance", {{"reach", "neighbours"}, {"batch", "64"}, {"cooldown", "0"}}},
      {"random", {{"interval", "1"}}}};
  for (const auto& [name, of] : settings) {
    std::shared_ptr<policy::Choice<policy::MigratePolicy>> choice =
        test::choose(all.migrate, name, of);
    EXPECT_EQ(check_migrate([&](const auto& context) { return choice->make(context); }, 9), "")
        << name << " " << of.front().first << " " << of.front().second;
  }
}

}  // namespace
}  // namespace raddle::contract::every_policy_test
