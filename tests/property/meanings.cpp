// Whatever a policy counts or lets one choose is explained where its numbers stand.
#include <gtest/gtest.h>

#include "raddle/policy/all.h"
#include "support/meanings.h"
#include "support/whole.h"

namespace raddle::meanings_test {
namespace {

/// A run on the first machine that takes the policy: not every machine has a mesh.
sim::Result run_of(const std::string& level, const std::string& policy) {
  for (const char* gpu : {"gtx480", "latoa", "ikra", "laperm", "ccbp"}) {
    try {
      return test::run("reduction", {gpu, {}, {level + "=" + policy}});
    } catch (const InputError&) {
    }
  }
  throw InputError("no machine takes " + level + "=" + policy);
}

TEST(Meanings, OfEveryPolicysParametersAndStatisticsStandInTheResult) {
  const policy::Registries all = policy::all_policies();
  unsigned notified = 0;
  policy::each_level(
      [&](const policy::Level& level, const auto& registry) {
        if (level.name == "scheme") return;  // wants tenants: corun.cpp
        for (const std::string& name : registry.names()) {
          SCOPED_TRACE(std::string(level.name) + "=" + name);
          const sim::Result result = run_of(std::string(level.name), name);
          const auto use = result.policies.find(level.name);
          if (use == result.policies.end()) continue;  // an optional level's default
          test::expect_each_explained((*use)["parameters"], (*use)["meaning"]["parameters"]);
          test::expect_each_explained((*use)["statistics"], (*use)["meaning"]["statistics"]);
          ++notified;
        }
      },
      all);
  EXPECT_GT(notified, 40u);
}

}  // namespace
}  // namespace raddle::meanings_test
