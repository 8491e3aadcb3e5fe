// DRAM policies on requests laid out by hand (Rixner et al., ISCA 2000, section 4).
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "raddle/policy/all.h"

namespace raddle::policy {
namespace {

/// What one queue slot looks like to the policy.
struct Request {
  unsigned slot;
  bool hit = false, issuable = false, closes = false;
};

/// The answer to a queue given in order of arrival; nothing = "-".
std::string pick(const std::string& policy, const std::vector<Request>& queue) {
  AgeMatrix128 age;
  Mask128 candidates, hits, issuable, closes;
  for (const Request& r : queue) {
    age.insert(r.slot);
    candidates.set(r.slot);
    if (r.hit) hits.set(r.slot);
    if (r.issuable) issuable.set(r.slot);
    if (r.closes) closes.set(r.slot);
  }
  const std::vector<DramTag> tags(128);
  const auto answer = all_policies().dram.choose(policy)->make({})->pick(
      {candidates, hits, issuable, closes, age, tags, 0});
  return answer ? std::to_string(*answer) : "-";
}

TEST(Fcfs, ServesInOrderOfArrivalWhateverTheRows) {
  EXPECT_EQ(pick("fcfs", {{9, false, true, false}, {2, true, true, false}}), "9");
  EXPECT_EQ(pick("fcfs", {{100, true, true, false}, {2, true, true, false}}), "100");
}

TEST(Fcfs, NothingOvertakesARequestThatMustWait) {
  EXPECT_EQ(pick("fcfs", {{9, false, false, false}, {2, true, true, false}}), "-");
}

TEST(Fcfs, ClosesARowThatYoungerOnesWant) {
  EXPECT_EQ(pick("fcfs", {{9, false, true, true}, {2, true, true, false}}), "9");
}

TEST(FrFcfs, TheOldestRowHitThatIsReadyGoesFirst) {
  EXPECT_EQ(
      pick("frfcfs", {{9, false, true, false}, {64, true, true, false}, {2, true, true, false}}),
      "64");
}

TEST(FrFcfs, ARowHitThatIsNotReadyDoesNotHoldUpOthers) {
  EXPECT_EQ(pick("frfcfs", {{9, false, true, false}, {64, true, false, false}}), "9");
}

TEST(FrFcfs, WithoutHitsTheOldestCommandThatIsReady) {
  EXPECT_EQ(
      pick("frfcfs", {{9, false, false, false}, {64, false, true, false}, {2, false, true, false}}),
      "64");
}

TEST(FrFcfs, NoRowIsClosedWhileItIsWanted) {
  // 9 would close the row that 64 still hits; 64 itself must wait for its timing.
  EXPECT_EQ(pick("frfcfs", {{9, false, true, true}, {64, true, false, false}}), "-");
  EXPECT_EQ(
      pick("frfcfs", {{9, false, true, true}, {64, true, false, false}, {3, false, true, false}}),
      "3");
}

/// Two banks with one row open in each; bank 0 gets row hits and a stranger, bank 1 a stranger.
TEST(FrFcfs, ServesAQueueInThePapersOrder) {
  struct Waiting {
    unsigned slot, bank;
    std::uint32_t row;
  };
  std::vector<Waiting> queue = {{0, 0, 7}, {1, 0, 3}, {2, 1, 5}, {3, 0, 3}};  // arrival order
  std::uint32_t open[2] = {3, 4};
  const auto policy = all_policies().dram.choose("frfcfs")->make({});
  const std::vector<DramTag> tags(128);
  std::string commands;
  for (int step = 0; !queue.empty(); ++step) {
    ASSERT_LT(step, 20);
    AgeMatrix128 age;
    Mask128 all, hits, closes;
    for (const Waiting& w : queue) {
      age.insert(w.slot);
      all.set(w.slot);
      if (open[w.bank] == w.row) hits.set(w.slot);
    }
    for (const Waiting& w : queue)
      for (const Waiting& other : queue)
        if (open[w.bank] != 0 && open[w.bank] != w.row && other.bank == w.bank &&
            hits.test(other.slot))
          closes.set(w.slot);
    const auto answer =
        policy->pick({all, hits, all, closes, age, tags, static_cast<std::uint64_t>(step)});
    ASSERT_TRUE(answer.has_value());
    auto at = std::find_if(queue.begin(), queue.end(),
                           [&](const Waiting& w) { return w.slot == *answer; });
    std::uint32_t& row = open[at->bank];
    const bool column = row == at->row;
    commands += (column ? "RD" : row == 0 ? "ACT" : "PRE") + std::to_string(at->slot) + " ";
    row = row == 0 ? at->row : column ? row : 0;
    if (column) queue.erase(at);
  }
  EXPECT_EQ(commands, "RD1 RD3 PRE0 ACT0 RD0 PRE2 ACT2 RD2 ");
}

}  // namespace
}  // namespace raddle::policy
