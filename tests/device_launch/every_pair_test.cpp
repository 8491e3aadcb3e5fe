// Thousands of launches by kernels under every pair of kernel and block policies: all of them run,
// whoever declines what in between.
#include <gtest/gtest.h>

#include <cctype>
#include <tuple>

#include "device_launch/programs.h"

namespace raddle::test::every_pair_test {
namespace {

class EveryPair : public testing::TestWithParam<std::tuple<std::string, std::string>> {};

std::vector<std::string> block_policies() {
  std::vector<std::string> all = policy::all_policies().block.names();
  all.emplace_back("steal:nested=true");
  all.emplace_back("steal:nested=true,steal_cycles=50");
  return all;
}

TEST_P(EveryPair, RunsEightThousandChildren) {
  RunSpec spec{"laperm"};
  const auto& [kernel, block] = GetParam();
  spec.policy = {"kernel=" + kernel, "block=" + block};
  const Outcome1 out = launch_one({"_Z4manyPi", {384}, {32}, {}, 12288}, spec);
  EXPECT_EQ(called(out.result, "add_one").size(), 8192u);
}

INSTANTIATE_TEST_SUITE_P(All, EveryPair,
                         testing::Combine(testing::ValuesIn(policy::all_policies().kernel.names()),
                                          testing::ValuesIn(block_policies())),
                         [](const auto& info) {
                           std::string name =
                               std::get<0>(info.param) + "_" + std::get<1>(info.param);
                           for (char& c : name)
                             if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
                           return name;
                         });

}  // namespace
}  // namespace raddle::test::every_pair_test
