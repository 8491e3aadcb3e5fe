// Dispatch policies for launches by kernels on LaPerm's worked examples: figure 4 (a launch tree on
// four SMs, one block each) and the round robin of section III.B (100 blocks on 13 SMs). And what
// the policies say of priorities, of the search for them, and of queues in memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>

#include "raddle/policy/all.h"
#include "support/kernel_sets.h"
#include "support/settings.h"

namespace raddle::policy::laperm_test {
namespace {

using support::kernel_set;
using test::Settings;
using ::testing::ElementsAre;

/// One policy, the grids it has been told of, and SMs with places that all blocks fit.
class Bench {
 public:
  Bench(const std::string& name, unsigned sms, unsigned places, const Settings& settings = {})
      : sms_(sms), places_(places) {
    policy_ = test::choose(all_policies().dispatch, name, settings)
                  ->make({sms, kKernelSlots, 1, nullptr, nullptr});
    used_.resize(sms);
  }
  DispatchPolicy& policy() { return *policy_; }

  /// A grid comes, enters an entry of its own (or joins that one) and begins.
  GridId launch(const std::string& name, unsigned blocks, const DeviceParent& parent = {},
                std::optional<unsigned> joins = {}) {
    const GridId id = come(blocks, parent);
    names_[id] = name;
    enter(id, joins);
    return id;
  }
  GridId come(unsigned blocks, const DeviceParent& parent) {
    GridInfo info;
    info.id = static_cast<GridId>(infos_.size());
    info.sequence = info.id;
    info.blocks = blocks;
    info.grid = {blocks};
    info.parent = parent;
    policy_->on_grid(info);
    infos_.push_back(info);
    states_.emplace_back();
    return info.id;
  }
  void enter(GridId id, std::optional<unsigned> joins = {}) {
    infos_[id].entry = joins ? *joins : entries_++;
    policy_->on_enter(infos_[id]);
    states_[id].left = infos_[id].blocks;
    policy_->on_begin(id, now_);
  }
  std::optional<GridId> admit() {
    ++now_;
    return policy_->admit({states_, 0, 1, 1, now_});
  }
  const GridInfo& info(GridId id) const { return infos_[id]; }

  /// One cycle: "name+block@sm", or "" when the policy gives nothing.
  std::string pick() {
    ++now_;
    SmSet room;
    for (unsigned sm = 0; sm < sms_; ++sm)
      if (used_[sm] < places_) room.set(sm);
    const SmSet served;
    const auto choice = policy_->pick({states_, {&room, 1}, served, 0, false, now_});
    if (!choice) return "";
    EXPECT_TRUE(room.test(choice->sm));
    EXPECT_GT(states_[choice->grid].left, 0u);
    --states_[choice->grid].left;
    ++used_[choice->sm];
    last_sm_ = choice->sm;
    return names_[choice->grid] + std::to_string(choice->block + first_[choice->grid]);
  }
  unsigned last_sm() const { return last_sm_; }
  void free_all() { used_.assign(sms_, 0); }
  void free_one(unsigned sm) { --used_[sm]; }
  /// What numbers of its blocks begin with in pictures.
  void count_from(GridId grid, unsigned first) { first_[grid] = first; }

 private:
  unsigned sms_, places_;
  std::unique_ptr<DispatchPolicy> policy_;
  std::vector<GridInfo> infos_;
  std::vector<GridState> states_;
  std::map<GridId, std::string> names_;
  std::map<GridId, unsigned> first_;
  std::vector<unsigned> used_;
  unsigned entries_ = 0, last_sm_ = 0;
  Cycle now_ = 0;
};

/// Rounds of figure 4: in each, four visits; then all blocks end, and what they have launched is
/// there. P2 launches C0 and C1, P4 launches C2 to C5.
std::vector<std::string> figure4(const std::string& policy) {
  Bench bench(policy, 4, 1);
  bench.launch("P", 8);
  std::vector<std::string> rounds;
  std::size_t given = 0;
  while (given < 14) {
    std::array<std::string, 4> on = {"-", "-", "-", "-"};
    for (unsigned visit = 0; visit < 4 && given < 14; ++visit) {
      const std::string block = bench.pick();
      if (block.empty()) continue;
      on.at(bench.last_sm()) = block;
      ++given;
    }
    rounds.push_back(on[0] + " " + on[1] + " " + on[2] + " " + on[3]);
    for (unsigned sm = 0; sm < 4; ++sm) {
      if (on.at(sm) == "P2") bench.launch("C", 2, {0, 2, sm, 1});
      if (on.at(sm) == "P4") bench.count_from(bench.launch("C", 4, {0, 4, sm, 1}), 2);
    }
    bench.free_all();
    if (rounds.size() > 20) break;
  }
  return rounds;
}

TEST(Figure4, RoundRobin) {
  EXPECT_THAT(figure4("rr"), ElementsAre("P0 P1 P2 P3", "P4 P5 P6 P7", "C0 C1 C2 C3", "C4 C5 - -"));
}
TEST(Figure4, TbPri) {
  EXPECT_THAT(figure4("tb_pri"),
              ElementsAre("P0 P1 P2 P3", "C0 C1 P4 P5", "C2 C3 C4 C5", "P6 P7 - -"));
}
TEST(Figure4, SmxBind) {
  EXPECT_THAT(figure4("smx_bind"), ElementsAre("P0 P1 P2 P3", "P4 P5 C0 P6", "C2 P7 C1 -",
                                               "C3 - - -", "C4 - - -", "C5 - - -"));
}
TEST(Figure4, AdaptiveBind) {
  EXPECT_THAT(figure4("adaptive_bind"),
              ElementsAre("P0 P1 P2 P3", "P4 P5 C0 P6", "C2 P7 C1 C3", "C4 C5 - -"));
}

TEST(RoundRobin, AHundredBlocksOnThirteenSms) {
  Bench bench("rr", 13, 3);
  bench.launch("B", 100);
  for (unsigned block = 0; block < 39; ++block) {
    EXPECT_EQ(bench.pick(), "B" + std::to_string(block));
    EXPECT_EQ(bench.last_sm(), block % 13);
  }
  bench.free_one(4);  // block 17 ends
  EXPECT_EQ(bench.pick(), "B39");
  EXPECT_EQ(bench.last_sm(), 4u);
}

TEST(RoundRobin, GroupsComeAfterTheBlocksOfTheKernelTheyJoinAndBeforeTheNextKernel) {
  Bench bench("rr", 1, 100);
  bench.launch("A", 2);
  bench.launch("B", 1);
  bench.launch("g", 1, {0, 0, 0, 1}, 0);
  bench.launch("h", 1, {0, 0, 0, 1}, 0);
  std::vector<std::string> order;
  for (unsigned i = 0; i < 5; ++i) order.push_back(bench.pick());
  EXPECT_THAT(order, ElementsAre("A0", "A1", "g0", "h0", "B0"));
}

TEST(Joining, IsTheOldestKernelOfThoseOffered) {
  for (const char* name : {"rr", "tb_pri", "smx_bind", "adaptive_bind"}) {
    Bench bench(name, 2, 100);
    bench.come(1, {});
    bench.come(1, {});
    bench.come(1, {});
    bench.enter(1, 9);
    bench.enter(0, 3);
    bench.enter(2, 200);
    const GridId group = bench.come(1, {0, 0, 1, 1});
    EXPECT_EQ(bench.policy().join(bench.info(group), kernel_set({3, 9, 200})), 9u) << name;
    EXPECT_EQ(bench.policy().join(bench.info(group), kernel_set({3, 200})), 3u) << name;
  }
}

TEST(Priority, AdmitsTheDeepestAndCountsTheSearch) {
  Bench bench("tb_pri", 2, 100, {{"levels", "2"}});
  bench.come(1, {});
  const GridId child = bench.come(1, {0, 0, 0, 1});
  const GridId deep = bench.come(1, {1, 0, 0, 5});
  EXPECT_EQ(bench.admit(), deep) << "deeper than the highest level is the highest level";
  EXPECT_EQ(bench.policy().search_cycles(bench.info(deep)), 0u);
  EXPECT_EQ(bench.policy().search_cycles(bench.info(child)), 1u);
  EXPECT_EQ(bench.policy().search_cycles(bench.info(0)), 2u);
  bench.enter(deep);
  EXPECT_EQ(bench.admit(), child);
  bench.enter(child);
  EXPECT_EQ(bench.admit(), 0u);
}

TEST(Priority, AGroupIsPutBehindThoseOfItsLevel) {
  Bench bench("tb_pri", 2, 100);
  bench.launch("P", 4);
  for (unsigned i = 0; i < 3; ++i) bench.launch("g", 1, {0, 0, 0, 1}, 0);
  const GridId next = bench.come(1, {0, 0, 0, 1});
  GridInfo info = bench.info(next);
  info.entry = 0;
  EXPECT_EQ(bench.policy().search_cycles(info), 3u);
}

TEST(Binding, TheManagementUnitVisitsOneSmACycle) {
  Bench bench("smx_bind", 3, 100);
  bench.come(1, {0, 0, 2, 1});
  EXPECT_EQ(bench.admit(), std::nullopt) << "0 has none, and the host has none";
  EXPECT_EQ(bench.admit(), std::nullopt);
  EXPECT_EQ(bench.admit(), 0u);
}

/// Blocks and accesses in order: "w1" written, "r1" fetched.
TEST(Overflow, GoesToMemoryAndIsFetchedWhenThereIsAPlace) {
  for (const char* name : {"rr", "tb_pri", "smx_bind"}) {
    Bench bench(name, 1, 100, {{"table", "1"}});
    bench.launch("P", 1);
    const GridId first = bench.launch("a", 1, {0, 0, 0, 1}, 0);
    const GridId second = bench.launch("b", 1, {0, 0, 0, 1}, 0);
    const auto written = bench.policy().access();
    ASSERT_TRUE(written.has_value()) << name;
    EXPECT_EQ(written->grid, second);
    EXPECT_FALSE(written->fetch);
    EXPECT_EQ(bench.policy().access(), std::nullopt);
    std::string order;
    for (unsigned i = 0; i < 2; ++i) order += bench.pick();
    EXPECT_NE(order.find("a0"), std::string::npos) << name << ": " << first;
    const auto fetch = bench.policy().access();
    ASSERT_TRUE(fetch.has_value()) << name;
    EXPECT_EQ(fetch->grid, second);
    EXPECT_TRUE(fetch->fetch);
    EXPECT_EQ(fetch->place, written->place);
    EXPECT_EQ(bench.pick().substr(0, 1) == "b", false) << name << ": it is on its way";
    bench.policy().on_fetched(second, 99);
    std::string rest;
    for (unsigned i = 0; i < 2; ++i) rest += bench.pick();
    EXPECT_NE(rest.find("b0"), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace raddle::policy::laperm_test
