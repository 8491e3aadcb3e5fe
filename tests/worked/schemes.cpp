// Schemes by hand: how SMs are split, which caps hold, and which blocks may issue.
#include <gtest/gtest.h>

#include "raddle/policy/all.h"
#include "raddle/timing/gpu/block_caps.h"
#include "raddle/timing/sm/active_blocks.h"
#include "support/settings.h"

namespace raddle {
namespace {

using policy::Knobs;
using policy::kNoLimit;

struct Looked {
  Knobs knobs;
  Cycle next;
};

Looked look(const char* name, unsigned sms, std::uint8_t present,
            const test::Settings& settings = {}) {
  const auto choice = test::choose(policy::all_policies().scheme, name, settings);
  policy::SchemePolicy::Context context;
  context.sms = sms;
  const auto scheme = choice->make(context);
  const std::array<policy::TenantView, kMostTenants> tenants{};
  Looked out{};
  out.next = scheme->look({0, 0, present, tenants}, out.knobs);
  return out;
}

/// SMs on which the tenant may have blocks.
std::vector<unsigned> sms_of(const Knobs& knobs, unsigned tenant, unsigned sms) {
  std::vector<unsigned> out;
  for (unsigned sm = 0; sm < sms; ++sm)
    if (knobs.tenant[tenant].cap(sm) != 0) out.push_back(sm);
  return out;
}
using Sms = std::vector<unsigned>;

TEST(Spatial, SplitsEvenlyAndGivesTheRemainderToLowerNumbers) {
  const Looked three = look("spatial", 8, 0b1011);
  EXPECT_EQ(sms_of(three.knobs, 0, 8), (Sms{0, 1, 2}));
  EXPECT_EQ(sms_of(three.knobs, 1, 8), (Sms{3, 4, 5}));
  EXPECT_EQ(sms_of(three.knobs, 3, 8), (Sms{6, 7}));
  EXPECT_EQ(three.knobs.tenant[0].cap(0), kNoLimit);
  EXPECT_EQ(three.next, kNever);
}

TEST(Spatial, GivesWhatIsAskedForAndSplitsTheRest) {
  const Looked split = look("spatial", 8, 0b0111, {{"sms_1", "5"}});
  EXPECT_EQ(sms_of(split.knobs, 1, 8), (Sms{0, 1, 2, 3, 4}));
  EXPECT_EQ(sms_of(split.knobs, 0, 8), (Sms{5, 6}));
  EXPECT_EQ(sms_of(split.knobs, 2, 8), (Sms{7}));
}

TEST(Spatial, CapsBlocksOnATenantsOwnSms) {
  const Looked split = look("spatial", 4, 0b0011, {{"blocks_1", "3"}});
  EXPECT_EQ(split.knobs.tenant[0].block_cap,
            (std::vector<std::uint32_t>{kNoLimit, kNoLimit, 0, 0}));
  EXPECT_EQ(split.knobs.tenant[1].block_cap, (std::vector<std::uint32_t>{0, 0, 3, 3}));
}

TEST(Spatial, MoreTenantsThanSmsShareThem) {
  const Looked many = look("spatial", 2, 0b1111);
  EXPECT_EQ(sms_of(many.knobs, 0, 2), (Sms{0}));
  EXPECT_EQ(sms_of(many.knobs, 1, 2), (Sms{1}));
  EXPECT_EQ(sms_of(many.knobs, 2, 2), (Sms{0}));
  EXPECT_EQ(sms_of(many.knobs, 3, 2), (Sms{1}));
}

TEST(Spatial, RefusesToGiveAwayMoreThanThereIs) {
  policy::MachineFacts machine;
  machine.sms = 8;
  const auto broken = [&](const char* sms) {
    const auto choice = test::choose(policy::all_policies().scheme, "spatial", {{"sms_0", sms}});
    return choice->violations(machine).size();
  };
  EXPECT_EQ(broken("7"), 0u);
  EXPECT_EQ(broken("8"), 1u) << "none is left for the others";
  EXPECT_EQ(broken("9"), 1u);
}

TEST(Static, CapsEverySmAlike) {
  const Looked caps = look("static", 3, 0b11, {{"blocks_0", "4"}, {"blocks_1", "2"}});
  EXPECT_EQ(caps.knobs.tenant[0].block_cap, (std::vector<std::uint32_t>{4, 4, 4}));
  EXPECT_EQ(caps.knobs.tenant[1].block_cap, (std::vector<std::uint32_t>{2, 2, 2}));
  EXPECT_EQ(caps.knobs.tenant[2].cap(1), kNoLimit);
}

TEST(BlockCaps, CountByTenantAndSm) {
  constexpr TenantId a{0}, b{1};
  timing::BlockCaps caps(2);
  caps.started(a, 0);
  caps.started(a, 0);
  Knobs knobs;
  knobs.tenant[0].block_cap = {2, 1};
  caps.obey(knobs);
  EXPECT_FALSE(caps.allows(a, 0));
  EXPECT_TRUE(caps.allows(a, 1));
  EXPECT_TRUE(caps.allows(b, 0)) << "another tenant's";
  knobs.tenant[0].block_cap = {1, 1};
  caps.obey(knobs);
  caps.ended(a, 0);
  EXPECT_FALSE(caps.allows(a, 0)) << "one is still there";
  caps.ended(a, 0);
  EXPECT_TRUE(caps.allows(a, 0));
}

TEST(ActiveBlocks, AreTheFirstThatCame) {
  constexpr TenantId a{0}, b{1};
  timing::ActiveBlocks blocks;
  Knobs knobs;
  knobs.tenant[0].active_blocks = 2;
  blocks.obey(knobs);
  blocks.started(a, 5, 0x1);
  blocks.started(b, 1, 0x2);
  blocks.started(a, 0, 0x4);
  EXPECT_EQ(blocks.held(), 0u);
  blocks.started(a, 2, 0x18);
  blocks.started(a, 3, 0x20);
  EXPECT_EQ(blocks.held(), 0x38u);
  blocks.ended(5);
  EXPECT_EQ(blocks.held(), 0x20u) << "the next in order of arrival";
  knobs.tenant[0].active_blocks = 1;
  blocks.obey(knobs);
  EXPECT_EQ(blocks.held(), 0x38u);
  blocks.obey(Knobs{});
  EXPECT_EQ(blocks.held(), 0u);
}

}  // namespace
}  // namespace raddle
