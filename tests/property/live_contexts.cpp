// A run from front to back: contexts of live registers are smaller than those of all.
#include <gtest/gtest.h>

#include "support/whole.h"

namespace raddle::live_contexts_test {
namespace {

/// The statistics of the policy that moves warps, wherever they are.
nlohmann::ordered_json statistics(const nlohmann::ordered_json& value) {
  if (value.is_object() && value.contains("context_bytes")) return value;
  if (value.is_structured())
    for (const auto& member : value)
      if (auto found = statistics(member); !found.is_null()) return found;
  return {};
}

double bytes_of_a_context(const std::string& registers, const std::string& lowering) {
  test::RunSpec spec{"latoa"};
  spec.set = {"isa.lowering=" + lowering};
  spec.policy = {"migrate=random:interval=100,registers=" + registers};
  const auto found = statistics(sim::to_json(test::run("walsh", spec)));
  EXPECT_GT(found.at("warps").get<double>(), 0);
  return found.at("context_bytes").get<double>() / found.at("warps").get<double>();
}

TEST(LiveContexts, AreSmaller) {
  for (const char* lowering : {"ptx", "machine"})
    EXPECT_LT(bytes_of_a_context("live", lowering), 0.95 * bytes_of_a_context("all", lowering))
        << lowering;
}

}  // namespace
}  // namespace raddle::live_contexts_test
