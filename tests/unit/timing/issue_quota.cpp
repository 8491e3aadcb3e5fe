#include "raddle/timing/sm/issue_quota.h"

#include <gtest/gtest.h>

namespace raddle::issue_quota_test {
namespace {

using policy::Knobs;
using timing::IssueQuota;

constexpr TenantId kA{0}, kB{1}, kC{2};
constexpr policy::TenantMasks kWarps{0b0011, 0b1100};

Knobs quotas(std::uint32_t a, std::uint32_t b) {
  Knobs knobs;
  knobs.tenant[0].issue_quota = a;
  knobs.tenant[1].issue_quota = b;
  knobs.issue_epoch = 100;
  return knobs;
}

IssueQuota with(const Knobs& knobs, Cycle at = 0) {
  IssueQuota out;
  out.obey(at, knobs);
  return out;
}

TEST(IssueQuota, IsNeededOnlyWhereSomebodyHasOne) {
  EXPECT_FALSE(IssueQuota::limits(Knobs{}));
  EXPECT_TRUE(IssueQuota::limits(quotas(policy::kNoLimit, 3)));
}

TEST(IssueQuota, HoldsWhoHasSpentIt) {
  IssueQuota quota = with(quotas(2, 5));
  EXPECT_FALSE(quota.issued(kA));
  EXPECT_EQ(quota.held(kWarps), 0u);
  EXPECT_TRUE(quota.issued(kA));
  EXPECT_EQ(quota.held(kWarps), 0b0011u);
  EXPECT_FALSE(quota.issued(kC)) << "without a quota";
}

TEST(IssueQuota, AnEpochBeginsWhenOnlyThoseAreReadyThatHaveSpentIt) {
  IssueQuota quota = with(quotas(1, 1));
  quota.issued(kA);
  EXPECT_FALSE(quota.renew(1, 0b0101, 0b1111, kWarps)) << "b has one left and is ready";
  EXPECT_FALSE(quota.renew(1, 0, 0b1111, kWarps)) << "nobody is ready";
  EXPECT_EQ(quota.held(kWarps), 0b0011u);
  EXPECT_TRUE(quota.renew(2, 0b0001, 0b1111, kWarps));
  EXPECT_EQ(quota.held(kWarps), 0u);
  EXPECT_EQ(quota.deadline(), 102u);
}

TEST(IssueQuota, OrWhenAllHaveSpentIt) {
  Knobs knobs = quotas(1, 1);
  knobs.issue_by_all = true;
  IssueQuota quota = with(knobs);
  quota.issued(kA);
  EXPECT_FALSE(quota.renew(1, 0b0001, 0b1111, kWarps)) << "b has one left, ready or not";
  quota.issued(kB);
  EXPECT_TRUE(quota.renew(2, 0, 0b1111, kWarps));
  quota.issued(kA);
  EXPECT_TRUE(quota.renew(3, 0, 0b0011, kWarps)) << "b has no warps";
}

TEST(IssueQuota, OrAtTheDeadlineIfThereAreWarps) {
  IssueQuota quota = with(quotas(1, 1), 30);
  quota.issued(kA);
  EXPECT_FALSE(quota.renew(129, 0b0101, 0b1111, kWarps));
  EXPECT_FALSE(quota.renew(130, 0, 0, kWarps));
  EXPECT_TRUE(quota.renew(134, 0b0101, 0b1111, kWarps));
  EXPECT_EQ(quota.deadline(), 234u);
}

TEST(IssueQuota, OtherQuotasBeginAnEpochAndTheSameDoNot) {
  IssueQuota quota = with(quotas(1, 1));
  quota.issued(kA);
  quota.obey(50, quotas(1, 1));
  EXPECT_EQ(quota.held(kWarps), 0b0011u);
  quota.obey(60, quotas(2, 1));
  EXPECT_EQ(quota.held(kWarps), 0u);
  EXPECT_EQ(quota.deadline(), 160u);
}

}  // namespace
}  // namespace raddle::issue_quota_test
