// DRAM policies on requests laid out by hand (Rixner et al., ISCA 2000, section 4).
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "raddle/policy/all.h"
#include "raddle/policy/dram/rank_first.h"

namespace raddle::policy::dram_order_test {
namespace {

/// What one queue slot looks like to the policy.
struct Request {
  unsigned slot;
  bool hit = false, issuable = false, closes = false;
  unsigned rank = 0, bank = 0;
};

/// The answer to a queue given in order of arrival; nothing = "-". `ranked`: tenants' ranks go
/// first.
std::string pick(const std::string& policy, const std::vector<Request>& queue,
                 bool ranked = false) {
  std::vector<DramTag> tags(128);
  AgeMatrix128 age;
  Mask128 candidates, hits, issuable, closes;
  for (const Request& r : queue) {
    age.insert(r.slot);
    candidates.set(r.slot);
    if (r.hit) hits.set(r.slot);
    if (r.issuable) issuable.set(r.slot);
    if (r.closes) closes.set(r.slot);
    tags[r.slot].bank = static_cast<std::uint8_t>(r.bank);
    tags[r.slot].rank = static_cast<std::uint8_t>(r.rank);
  }
  const auto chosen = all_policies().dram.choose(policy)->make({});
  const DramView view{candidates, hits, issuable, closes, age, tags, 0};
  const auto answer = ranked ? pick_by_rank(*chosen, view) : chosen->pick(view);
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
    for (const Waiting& waiting : queue) {
      age.insert(waiting.slot);
      all.set(waiting.slot);
      if (open[waiting.bank] == waiting.row) hits.set(waiting.slot);
    }
    for (const Waiting& waiting : queue)
      for (const Waiting& other : queue)
        if (open[waiting.bank] != 0 && open[waiting.bank] != waiting.row &&
            other.bank == waiting.bank && hits.test(other.slot))
          closes.set(waiting.slot);
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

// --- ranks of tenants before the policy's order -------------------------------------------------

constexpr bool kHit = true, kCan = true, kNo = false;

TEST(RankFirst, TheBestRankThatCanIssueGoesInThePolicysOrder) {
  const std::vector<Request> queue = {{9, kHit, kCan, kNo, 2, 0},
                                      {64, kNo, kCan, kNo, 1, 1},
                                      {2, kHit, kCan, kNo, 1, 2},
                                      {5, kHit, kNo, kNo, 0, 3}};
  EXPECT_EQ(pick("frfcfs", queue), "9");
  EXPECT_EQ(pick("frfcfs", queue, true), "2") << "5 cannot issue, 2 hits its row";
  EXPECT_EQ(pick("fcfs", queue, true), "64") << "the oldest of rank 1";
}

TEST(RankFirst, ARankThatThePolicyWantsNothingOfGivesWay) {
  // First come first served waits for 9, of its rank the oldest; meanwhile the next rank goes.
  EXPECT_EQ(pick("fcfs",
                 {{9, kNo, kNo, kNo, 0, 0}, {2, kHit, kCan, kNo, 0, 1}, {7, kHit, kCan, kNo, 1, 2}},
                 true),
            "7");
}

TEST(RankFirst, ABankIsTheBestRanksThatWaitsForIt) {
  // 64 would hit the open row of bank 4, for which 9 waits; 2 is about another bank.
  std::vector<Request> queue = {
      {9, kNo, kNo, kNo, 0, 4}, {64, kHit, kCan, kNo, 1, 4}, {2, kNo, kCan, kNo, 1, 5}};
  EXPECT_EQ(pick("frfcfs", queue), "64");
  EXPECT_EQ(pick("frfcfs", queue, true), "2");
  queue.pop_back();
  EXPECT_EQ(pick("frfcfs", queue, true), "-");
}

TEST(RankFirst, ARowIsWantedByItsOwnAndBetterRanksOnly) {
  // Both 9 and 64 are about bank 4; the row there is 64's, which must wait for its timing.
  const auto about_bank_4 = [](unsigned closer, unsigned hitter) {
    return std::vector<Request>{{9, kNo, kCan, true, closer, 4}, {64, kHit, kNo, kNo, hitter, 4}};
  };
  EXPECT_EQ(pick("frfcfs", about_bank_4(0, 0), true), "-");
  EXPECT_EQ(pick("frfcfs", about_bank_4(0, 1), true), "9") << "it is closed for a better rank";
  EXPECT_EQ(pick("frfcfs", about_bank_4(1, 0), true), "-") << "never for a worse one";
}

TEST(RankFirst, OneRankIsAsNone) {
  for (const char* policy : {"fcfs", "frfcfs"})
    for (unsigned bits = 0; bits < 512; ++bits) {
      std::vector<Request> queue;
      for (unsigned i = 0; i < 3; ++i) {
        const unsigned of = bits >> 3 * i;
        queue.push_back({10 + i, (of & 1) != 0, (of & 2) != 0, false, 3, (of & 4) != 0 ? 1u : 0u});
      }
      Mask128 issuable;
      for (Request& r : queue) {
        for (const Request& other : queue)
          r.closes = r.closes || (!r.hit && r.issuable && other.hit && other.bank == r.bank);
        if (r.issuable) issuable.set(r.slot);
      }
      if (!issuable.any()) continue;  // nobody is asked
      EXPECT_EQ(pick(policy, queue, true), pick(policy, queue)) << policy << " " << bits;
    }
}

}  // namespace
}  // namespace raddle::policy::dram_order_test
