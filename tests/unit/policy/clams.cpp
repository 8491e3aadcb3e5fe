// CLAMS on requests laid out by hand: ranges of ranks, the order inside a range, and when row hits
// go first.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "raddle/policy/all.h"
#include "raddle/policy/dram/rank_first.h"
#include "support/settings.h"

namespace raddle::policy::clams_test {
namespace {

using test::Settings;

/// What one queue slot looks like to the policy. Banks are of their own unless said.
struct Request {
  unsigned slot, core_rank;
  bool hit = false, issuable = true;
  unsigned bank = 63;
  unsigned tenant_rank = 0;
};

/// A queue in order of arrival.
class Queue {
 public:
  explicit Queue(const std::vector<Request>& requests) : tags_(128) {
    for (const Request& r : requests) {
      age_.insert(r.slot);
      candidates_.set(r.slot);
      if (r.hit) hits_.set(r.slot);
      if (r.issuable) issuable_.set(r.slot);
      tags_[r.slot].bank = static_cast<std::uint8_t>(r.bank == 63 ? r.slot % 63 : r.bank);
      tags_[r.slot].core_rank = static_cast<std::uint8_t>(r.core_rank);
      tags_[r.slot].rank = static_cast<std::uint8_t>(r.tenant_rank);
    }
    (issuable_ - hits_).each([this](unsigned slot) {
      hits_.each([&](unsigned other) {
        if (tags_[other].bank == tags_[slot].bank) closes_.set(slot);
      });
    });
  }
  DramView view() const { return {candidates_, hits_, issuable_, closes_, age_, tags_, 0}; }

 private:
  std::vector<DramTag> tags_;
  AgeMatrix128 age_;
  Mask128 candidates_, hits_, issuable_, closes_;
};

std::unique_ptr<DramPolicy> clams(const Settings& settings = {}) {
  return test::choose(all_policies().dram, "clams", settings)->make({});
}

std::string answer(const std::optional<unsigned>& chosen) {
  return chosen ? std::to_string(*chosen) : "-";
}

/// nothing = "-".
std::string pick(const std::vector<Request>& requests, const Settings& settings = {}) {
  return answer(clams(settings)->pick(Queue(requests).view()));
}

constexpr bool kHit = true, kMiss = false, kCan = true, kNot = false;

TEST(Clams, AsksForRanksAndTheOthersDoNot) {
  const Registries all = all_policies();
  for (const std::string& name : all.dram.names())
    EXPECT_EQ(all.dram.choose(name)->make({})->wants_core_ranks(), name == "clams") << name;
}

TEST(Clams, TheMostCriticalRangeGoesFirstWhateverAgeAndRow) {
  EXPECT_EQ(pick({{9, 2, kHit}, {64, 1, kMiss}, {2, 3, kHit}}), "64");
  EXPECT_EQ(pick({{9, 7, kHit}, {64, 6, kMiss}}), "64");
}

TEST(Clams, InsideARangeRowHitsThenAge) {
  EXPECT_EQ(pick({{9, 1, kMiss}, {64, 1, kHit}, {2, 1, kHit}, {3, 2, kHit}}), "64");
  EXPECT_EQ(pick({{9, 1, kMiss}, {64, 1, kMiss}}), "9");
}

TEST(Clams, ARangeThatCannotIssueGivesWayInOtherBanksOnly) {
  EXPECT_EQ(pick({{9, 0, kMiss, kNot, 4}, {64, 5, kHit, kCan, 5}}), "64");
  EXPECT_EQ(pick({{9, 0, kMiss, kNot, 4}, {64, 5, kHit, kCan, 4}}), "-") << "the bank is 9's";
}

TEST(Clams, ARowIsClosedForAMoreCriticalRequestOnly) {
  const auto about_a_bank = [](unsigned closer, unsigned hitter) {
    return pick({{9, closer, kMiss, kCan, 4}, {64, hitter, kHit, kNot, 4}});
  };
  EXPECT_EQ(about_a_bank(0, 1), "9");
  EXPECT_EQ(about_a_bank(1, 1), "-");
  EXPECT_EQ(about_a_bank(1, 0), "-");
}

TEST(Clams, FewerRangesPutRanksTogether) {
  // Older row hit against lower rank: the rank decides only where it is another range.
  const auto wins = [](unsigned rank, unsigned older, const char* mode) {
    return pick({{9, older, kHit}, {64, rank, kMiss}}, {{"mode", mode}}) == "64";
  };
  for (unsigned rank = 0; rank < 8; ++rank)
    for (unsigned older = 0; older < 8; ++older) {
      EXPECT_EQ(wins(rank, older, "range8"), rank < older) << rank << " " << older;
      EXPECT_EQ(wins(rank, older, "range4"), rank / 2 < older / 2) << rank << " " << older;
      EXPECT_EQ(wins(rank, older, "range2"), rank / 4 < older / 4) << rank << " " << older;
    }
}

/// Slots 1 .. critical of rank 0, the rest of rank 5, and the oldest, a row hit, slot 0 of rank 5.
std::vector<Request> crowd(unsigned critical, unsigned all) {
  std::vector<Request> queue = {{0, 5, kHit}};
  for (unsigned i = 1; i < all; ++i) queue.push_back({i, i <= critical ? 0u : 5u, kMiss});
  return queue;
}

TEST(ClamsDynamic, CriticalRequestsGoFirstWhileTheyAreFewerThanHalf) {
  const Settings dynamic = {{"mode", "dynamic"}};
  EXPECT_EQ(pick(crowd(4, 10), dynamic), "1");
  EXPECT_EQ(pick(crowd(5, 10), dynamic), "0") << "half are critical: the row hit";
  EXPECT_EQ(pick(crowd(9, 10), dynamic), "0");
  EXPECT_EQ(pick(crowd(9, 10)), "1") << "range8 does not ask how many";
}

TEST(ClamsDynamic, TheShareIsOfAllThatWaitNotOfWhatCanIssue) {
  std::vector<Request> queue = crowd(4, 10);
  for (unsigned i = 5; i < 10; ++i) queue[i].issuable = false;
  EXPECT_EQ(pick(queue, {{"mode", "dynamic"}}), "1");
}

TEST(ClamsDynamic, OnlyRanksBelowAnEighthAreCritical) {
  std::vector<Request> queue = crowd(9, 10);
  for (unsigned i = 1; i < 10; ++i) queue[i].core_rank = 1;
  EXPECT_EQ(pick(queue, {{"mode", "dynamic"}}), "1");
}

TEST(ClamsDynamic, TheThresholdHasEnds) {
  EXPECT_EQ(pick(crowd(0, 10), {{"mode", "dynamic"}, {"threshold", "0"}}), "0");
  EXPECT_EQ(pick({{0, 5, kHit}, {1, 1, kMiss}}, {{"mode", "dynamic"}, {"threshold", "0"}}), "0")
      << "never by rank";
  EXPECT_EQ(pick(crowd(8, 10), {{"mode", "dynamic"}, {"threshold", "100"}}), "1");
  EXPECT_EQ(pick({{0, 0, kMiss}, {1, 0, kHit}}, {{"mode", "dynamic"}, {"threshold", "100"}}), "1");
  EXPECT_EQ(pick(crowd(9, 10), {{"threshold", "10"}}), "1") << "nothing to range8";
}

TEST(Clams, TenantsRanksGoBeforeCriticality) {
  const Queue queue({{9, 0, kHit, kCan, 63, 1}, {64, 6, kHit, kCan, 63, 0}, {2, 3, kMiss}});
  EXPECT_EQ(answer(clams()->pick(queue.view())), "9");
  EXPECT_EQ(answer(pick_by_rank(*clams(), queue.view())), "2") << "of tenant rank 0, rank 3";
}

/// Numbers by name.
class Counts final : public test::NoFields {
 public:
  void field(std::string_view name, std::uint64_t& value, Range<std::uint64_t>, std::string_view,
             std::string_view) override {
    of[std::string(name)] = value;
  }
  std::map<std::string, std::uint64_t> of;
};

std::map<std::string, std::uint64_t> counts(DramPolicy& policy) {
  Counts counts;
  policy.visit_statistics(counts);
  return counts.of;
}

TEST(ClamsStatistics, CountCommandsRequestsAndWhatFrFcfsWouldHaveDoneOtherwise) {
  const auto policy = clams({{"mode", "dynamic"}});
  policy->pick(Queue({{9, 2, kHit}, {64, 1, kMiss}}).view());  // before a row hit
  policy->pick(Queue({{9, 2, kHit}, {64, 1, kHit}}).view());   // before an older row hit
  policy->pick(Queue({{9, 3, kHit}, {64, 3, kMiss}}).view());  // the same
  policy->pick(Queue({{9, 0, kMiss}, {64, 0, kHit}}).view());  // all critical: by row
  policy->pick(Queue({{9, 1, kMiss, kNot, 4}, {64, 2, kHit, kCan, 4}}).view());  // nothing
  policy->pick(Queue({{9, 1, kMiss, kCan, 4}, {64, 2, kHit, kNot, 4}}).view());  // FR-FCFS: nothing
  std::map<std::string, std::uint64_t> seen = counts(*policy);
  EXPECT_EQ(seen["commands"], 5u);
  EXPECT_EQ(seen["row_hits"], 3u);
  EXPECT_EQ(seen["overtakes"], 3u);
  EXPECT_EQ(seen["by_rank"], 4u);
  EXPECT_EQ(seen["by_row"], 1u);
  EXPECT_EQ(seen["range0"], 1u);
  EXPECT_EQ(seen["range1"], 1u);
  EXPECT_EQ(seen["range2"], 0u);
  EXPECT_EQ(seen["range3"], 1u);
}

TEST(ClamsStatistics, CountRangesOfTheMode) {
  const auto policy = clams({{"mode", "range2"}});
  for (unsigned rank = 0; rank < 8; ++rank) policy->pick(Queue({{5, rank, kHit}}).view());
  std::map<std::string, std::uint64_t> seen = counts(*policy);
  EXPECT_EQ(seen["range0"], 4u);
  EXPECT_EQ(seen["range1"], 4u);
  EXPECT_EQ(seen["range2"], 0u);
  EXPECT_EQ(seen["by_row"], 0u);
}

}  // namespace
}  // namespace raddle::policy::clams_test
