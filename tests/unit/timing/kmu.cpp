// The kernel management unit, exact cycles; and the parts it shares with the dispatcher.
#include "raddle/timing/gpu/kmu.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "raddle/timing/gpu/free_sms.h"
#include "support/kernel_sets.h"

namespace raddle::timing::kmu_test {
namespace {

using support::kernel_set;

/// Lets in the one that came first, except in the cycles [closed, open).
struct Door : policy::DispatchPolicy {
  std::optional<GridId> admit(const policy::PendingView& view) override {
    if (view.now >= closed && view.now < open) return std::nullopt;
    return view.oldest;
  }
  std::optional<policy::BlockDispatch> pick(const policy::DispatchView&) override {
    return std::nullopt;
  }
  void on_grid(const policy::GridInfo& grid) override {
    came += std::to_string(grid.sequence) + " ";
  }
  Cycle closed = kNever, open = kNever;
  std::string came;
};

class KmuTest : public ::testing::Test {
 protected:
  KmuTest() { spec.entry_latency_cycles = 30; }
  void launch(std::uint32_t job, Cycle arrival, std::uint32_t depth = 0) {
    GridLaunch launch;
    launch.parent.depth = depth;
    launch.job = job;
    launch.sequence = job;
    launch.grid = {1};
    kmu().launch(launch, arrival);
  }
  Kmu& kmu() {
    if (!kmu_) kmu_ = std::make_unique<Kmu>(spec, device, Cycle{20}, grids, entries, door, "door");
    return *kmu_;
  }
  /// "job@begin" of those that enter in that cycle.
  std::string entered(Cycle now) {
    std::string out;
    for (const GridId id : kmu().tick(now)) {
      entry_of[grids[id].is.job] = {id, grids[id].entry};
      out += std::to_string(grids[id].is.job) + "@" + std::to_string(grids[id].begin) + " ";
    }
    return out;
  }
  void end(std::uint32_t job, Cycle now) {
    const auto [id, entry] = entry_of.at(job);
    grids[id].done = grids[id].blocks;
    entries.end(entry, id, now);
    grids.remove(id);
  }

  KernelSpec spec;
  DeviceLaunchSpec device;
  Grids grids;
  Entries entries{2};
  Door door;
  std::map<std::uint32_t, std::pair<GridId, unsigned>> entry_of;

 private:
  std::unique_ptr<Kmu> kmu_;
};

TEST_F(KmuTest, LaunchesComeInOrderOfTheirTimes) {
  launch(0, 50);
  launch(2, 40);
  launch(1, 40);
  EXPECT_EQ(kmu().next_arrival(), 40u);
  EXPECT_EQ(entered(39), "");
  EXPECT_EQ(entered(40), "1@70 2@70 ") << "of one cycle in order of their numbers";
  EXPECT_EQ(kmu().next_arrival(), 50u);
  EXPECT_EQ(entered(50), "") << "both entries are taken";
  EXPECT_EQ(kmu().pending(), 1u);
  EXPECT_EQ(kmu().next_arrival(), kNever);
  EXPECT_EQ(door.came, "1 2 0 ");
}

TEST_F(KmuTest, ALaunchOfThePastCountsFromThePastButBeginsNow) {
  launch(0, 5);
  launch(1, 95);
  EXPECT_EQ(entered(100), "0@100 1@125 ");
}

TEST_F(KmuTest, AFreedEntryIsOnTheWayFromItsEndAndNotBeforeTheNextWindow) {
  for (std::uint32_t job = 0; job < 4; ++job) launch(job, 0);
  EXPECT_EQ(entered(0), "0@30 1@30 ");
  end(0, 103);
  EXPECT_EQ(entered(103), "2@133 ");
}

TEST_F(KmuTest, WithoutLatencyItBeginsInTheNextWindow) {
  spec.entry_latency_cycles = 0;
  for (std::uint32_t job = 0; job < 4; ++job) launch(job, 0);
  EXPECT_EQ(entered(0), "0@0 1@0 ");
  end(1, 103);
  EXPECT_EQ(entered(103), "2@120 ") << "windows of 20";
  end(0, 120);
  EXPECT_EQ(entered(120), "3@140 ");
}

TEST_F(KmuTest, APolicyThatLetsAGridWaitLetsItsWayWaitToo) {
  door.closed = 10;
  door.open = 70;
  launch(0, 10);
  EXPECT_EQ(entered(10), "");
  EXPECT_TRUE(kmu().can_admit());
  EXPECT_EQ(entered(69), "");
  EXPECT_EQ(entered(70), "0@100 ");
  EXPECT_FALSE(kmu().can_admit());
}

TEST_F(KmuTest, ThousandsPend) {
  for (std::uint32_t job = 0; job < 5000; ++job) launch(job, 7);
  EXPECT_EQ(entered(7), "0@37 1@37 ");
  for (std::uint32_t job = 0; job + 2 < 5000; ++job) {
    end(job, 1000 * (job + 1));
    EXPECT_EQ(entered(1000 * (job + 1)),
              std::to_string(job + 2) + "@" + std::to_string(1000 * (job + 1) + 30) + " ");
  }
  EXPECT_EQ(kmu().pending(), 0u);
}

TEST_F(KmuTest, AsManyEnterAsThereAreEntries) {
  Entries all{kKernelSlots};
  Kmu unit(spec, device, 20, grids, all, door, "door");
  GridLaunch one;
  one.grid = {1};
  one.parent.depth = 1;
  for (one.job = 0; one.job < 2 * kKernelSlots; ++one.job) unit.launch(one, 7);
  KernelSet entries;
  for (const GridId id : unit.tick(7)) {
    EXPECT_EQ(grids[id].begin, 37u);
    EXPECT_EQ(grids[id].launch.slot, grids[id].entry);
    entries.set(grids[id].entry);
  }
  EXPECT_EQ(entries.count(), kKernelSlots);
  EXPECT_EQ(unit.pending(), kKernelSlots);
}

TEST_F(KmuTest, ManyLaunchesOfKernelsComeOneAfterAnother) {
  device.per_cycle = 1;
  launch(0, 10, 1);
  launch(1, 10, 1);
  launch(2, 10);  // the host's have a way of their own
  EXPECT_EQ(entered(10), "0@40 ");
  EXPECT_LE(kmu().next_arrival(), 11u);
  EXPECT_EQ(entered(11), "1@41 ") << "as if it had come a cycle later";
  EXPECT_EQ(kmu().pending(), 0u);
  entered(12);
  EXPECT_EQ(kmu().pending(), 1u) << "the host's, behind them in the row";
}

// A group joins the oldest kernel of its kind, where the launch model has groups.
struct Joins : Door {
  std::optional<unsigned> join(const policy::GridInfo&, const KernelSet& entries) override {
    asked = true;
    return entries.first();
  }
  bool asked = false;
};
TEST_F(KmuTest, OnlyUnderDtblMayALaunchJoinAKernel) {
  for (const LaunchModel model : {LaunchModel::Cdp, LaunchModel::Dtbl}) {
    Joins policy;
    Grids all;
    Entries two{2};
    device.model = model;
    Kmu unit(spec, device, 20, all, two, policy, "one");
    GridLaunch one;
    one.grid = {1};
    unit.launch(one, 0);
    unit.tick(0);
    one.parent.depth = 1;
    one.job = 1;
    unit.launch(one, 5);
    ASSERT_EQ(unit.tick(5).size(), 1u);
    EXPECT_EQ(policy.asked, model == LaunchModel::Dtbl);
    EXPECT_EQ(two.free(), model == LaunchModel::Dtbl ? 1u : 0u);
  }
}

// Finding a kernel comes before its way to the entry; finding a group's place is hidden behind the
// set-up of its parameter buffer.
TEST_F(KmuTest, ASearchDelaysAKernelAndBeyondItsSetUpAGroup) {
  struct Searches final : Joins {
    Cycle search_cycles(const policy::GridInfo& grid) const override {
      return grid.entry ? 128 : 3;
    }
  };
  for (const std::uint32_t set_up : {1000u, 100u, 0u}) {
    Searches policy;
    Grids all;
    Entries two{2};
    device.model = LaunchModel::Dtbl;
    device.buffer_cycles = set_up;
    Kmu unit(spec, device, 20, all, two, policy, "one");
    GridLaunch one;
    one.grid = {1};
    unit.launch(one, 0);
    EXPECT_EQ(all[unit.tick(0).at(0)].begin, 33u);
    one.parent.depth = 1;
    one.job = 1;
    unit.launch(one, 500);
    const Cycle begin = all[unit.tick(500).at(0)].begin;
    EXPECT_EQ(begin, 500 + (set_up < 128 ? 128 - set_up : 0));
  }
}
TEST_F(KmuTest, AGroupBeginsNoEarlierThanItsKernel) {
  Joins policy;
  Grids all;
  Entries two{2};
  device.model = LaunchModel::Dtbl;
  Kmu unit(spec, device, 20, all, two, policy, "one");
  GridLaunch one;
  one.grid = {1};
  unit.launch(one, 0);
  unit.tick(0);
  one.parent.depth = 1;
  unit.launch(one, 5);
  EXPECT_EQ(all[unit.tick(5).at(0)].begin, 30u);
}

TEST_F(KmuTest, AGridThatDoesNotPendCannotEnter) {
  struct Wild final : policy::DispatchPolicy {
    std::optional<GridId> admit(const policy::PendingView&) override { return 77; }
    std::optional<policy::BlockDispatch> pick(const policy::DispatchView&) override { return {}; }
  } wild;
  Kmu unit(spec, device, 20, grids, entries, wild, "wild");
  GridLaunch one;
  one.grid = {1};
  unit.launch(one, 0);
  EXPECT_THROW(unit.tick(0), RunError);
}

// --- entries, grids, free SMs --------------------------------------------------------------------

TEST(EntriesTest, NumbersAreGivenOutInTurnAndTheLongestFreeIsTaken) {
  Entries entries(2);
  GridLaunch launch;
  EXPECT_EQ(entries.take(0, launch), 0u);
  EXPECT_EQ(entries.take(1, launch), 1u);
  EXPECT_TRUE(entries.full());
  entries.end(1, 1, 50);
  entries.end(0, 0, 60);
  EXPECT_TRUE(entries.empty());
  EXPECT_EQ(entries.vacancy().since, 50u);
  EXPECT_EQ(entries.take(2, launch), 2u) << "not 0 again at once";
  EXPECT_EQ(entries.vacancy().since, 60u);
}

TEST(EntriesTest, AMachineHasNumbersEnoughThatEachRestsIfItHasFewEntries) {
  for (const unsigned entries : {1u, 2u, 31u, 32u}) EXPECT_EQ(kernel_slots(entries), 32u);
  EXPECT_EQ(kernel_slots(33), 64u);
  EXPECT_EQ(kernel_slots(100), 128u);
  EXPECT_EQ(kernel_slots(kKernelSlots), kKernelSlots);
  for (const unsigned count : {1u, 3u, 32u, 100u}) {
    Entries entries(count);
    for (unsigned i = 0; i < 300; ++i) {
      EXPECT_EQ(entries.take(i, {}), i % kernel_slots(count));
      entries.end(i % kernel_slots(count), i, i);
    }
  }
}

TEST(EntriesTest, AllOfAMachineCanBeTakenAtOnce) {
  for (const unsigned count : {1u, 32u, 33u, 128u, kKernelSlots}) {
    Entries entries(count);
    KernelSet numbers;
    for (unsigned i = 0; i < count; ++i) numbers.set(entries.take(i, {}));
    EXPECT_EQ(numbers.count(), count);
    EXPECT_TRUE(entries.full());
    EXPECT_EQ(entries.taken(), numbers);
    EXPECT_EQ(entries.alike({}), numbers) << "all without code";
    entries.end(count - 1, count - 1, 7);
    EXPECT_EQ(entries.free(), 1u);
    EXPECT_FALSE(entries.taken().test(count - 1));
  }
}

TEST(EntriesTest, AnEntryIsFreeWhenAllItsGridsHaveEnded) {
  Entries entries(1);
  GridLaunch launch;
  launch.needs = {32, 1, 0, 0};
  const unsigned entry = entries.take(7, launch);
  EXPECT_EQ(entries.alike(launch), kernel_set({entry}));
  entries.join(entry, 8);
  entries.join(entry, 9);
  entries.end(entry, 7, 10);
  entries.end(entry, 9, 11);
  EXPECT_TRUE(entries.full());
  entries.end(entry, 8, 12);
  EXPECT_FALSE(entries.full());
  EXPECT_EQ(entries.vacancy().since, 12u);
  EXPECT_FALSE(entries.alike(launch).any());
}

TEST(EntriesTest, OnlyTheSameCodeAndSizeAreAlike) {
  Entries entries(4);
  GridLaunch launch, larger;
  launch.needs = {32, 1, 0, 0};
  larger.needs = {64, 2, 0, 0};
  const unsigned first = entries.take(0, launch);
  const unsigned second = entries.take(1, larger);
  EXPECT_EQ(entries.alike(launch), kernel_set({first}));
  EXPECT_EQ(entries.alike(larger), kernel_set({second}));
}

TEST(GridsTest, ANumberRestsBeforeItIsGivenOutAgain) {
  Grids grids;
  GridLaunch launch;
  launch.grid = {1};
  GridId largest = 0;
  for (unsigned i = 0; i < 1000; ++i) {
    const GridId id = grids.add(launch, i);
    EXPECT_EQ(grids[id].arrival, i);
    largest = std::max(largest, id);
    grids[id].done = 1;
    grids.remove(id);
  }
  EXPECT_GT(largest, 32u);
  EXPECT_LT(largest, 100u) << "the pool does not grow with the launches";
}

TEST(GridsTest, AListKeepsItsOrderWhoeverLeaves) {
  Grids grids;
  GridLaunch launch;
  launch.grid = {1};
  GridList list;
  for (unsigned i = 0; i < 5; ++i) list.add(grids, grids.add(launch, 0));
  const auto order = [&] {
    std::string out;
    for (GridId id = list.first(); id != kNoGrid; id = grids.state(id).next)
      out += std::to_string(id);
    return out;
  };
  EXPECT_EQ(order(), "01234");
  list.remove(grids, 2);
  list.remove(grids, 0);
  list.remove(grids, 4);
  EXPECT_EQ(order(), "13");
  list.add(grids, 0);
  EXPECT_EQ(order(), "130");
  EXPECT_EQ(list.count(), 3u);
}

TEST(RoomsTest, GridsThatNeedTheSameShareASet) {
  FreeSms free;
  const BlockKind small{{32, 1, 0, 0}, {}}, large{{64, 2, 0, 0}, {}};
  const auto all = [](unsigned) { return true; };
  const unsigned a = free.add(small, 3, all), b = free.add(small, 3, all);
  const unsigned c = free.add(large, 3, [](unsigned sm) { return sm == 2; });
  EXPECT_EQ(a, b);
  EXPECT_NE(a, c);
  EXPECT_EQ(free[a].count(), 3u);
  EXPECT_EQ(free[c].count(), 1u);
  free.update(2, [&](const BlockKind& kind) { return kind == small; });
  EXPECT_FALSE(free[c].any());
  SmSet served;
  for (unsigned sm = 0; sm < 3; ++sm) served.set(sm);
  EXPECT_TRUE(free.any({}));
  EXPECT_FALSE(free.any(served));
  free.remove(a);
  EXPECT_TRUE(free.any({})) << "the other grid is still there";
  free.remove(b);
  EXPECT_FALSE(free.any({}));
  EXPECT_EQ(free.add(large, 3, all), c);
  EXPECT_EQ(free.add({{1, 1, 1, 1}, {}}, 3, all), a) << "a set nobody uses is used again";
}

}  // namespace
}  // namespace raddle::timing::kmu_test
