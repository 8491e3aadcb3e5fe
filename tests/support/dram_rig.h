// A DRAM channel by itself, driven by hand or with random traffic, its commands checked.
#pragma once
#include <gtest/gtest.h>

#include "support/dram_checker.h"
#include "support/memory_mocks.h"

namespace raddle::test {

/// Any issuable request with equal chance, also one that closes a row others want; declines now and
/// then for good measure. Reaches orders that no sensible policy does.
class RandomPolicy final : public policy::DramPolicy {
 public:
  explicit RandomPolicy(std::uint64_t seed) : rng_(seed) {}
  std::optional<unsigned> pick(const policy::DramView& view) override {
    EXPECT_TRUE(view.issuable.any());
    EXPECT_FALSE((view.issuable - view.candidates).any());
    EXPECT_FALSE((view.row_hits - view.candidates).any());
    EXPECT_FALSE((view.closes_wanted_row - view.issuable).any());
    if (++asked % 16 == 0 && view.issuable.count() != view.candidates.count()) return std::nullopt;
    unsigned skip = rng_.below(view.issuable.count());
    Mask128 left = view.issuable;
    while (skip-- != 0) left.clear(left.first());
    return left.first();
  }
  std::uint64_t asked = 0;

 private:
  Rng rng_;
};

/// A channel by itself, ticked when due or every cycle; replies are taken when their time comes.
class ChannelRig {
 public:
  struct Done {
    Cycle at;
    std::uint32_t line;
    bool operator==(const Done&) const = default;
  };
  explicit ChannelRig(const MachineSpec& machine, std::string_view policy = "frfcfs",
                      bool skip = true)
      : ChannelRig(machine, dram_policy(policy), skip) {}
  ChannelRig(const MachineSpec& machine, std::unique_ptr<policy::DramPolicy> policy, bool skip)
      : map(machine),
        channel({machine, 0}, map, std::move(policy)),
        checker(machine.dram),
        skip_(skip) {
    channel.set_skip(skip);
    channel.observe(&checker);
  }
  std::uint32_t line_of(std::uint32_t bank, std::uint32_t row, std::uint32_t column) const {
    for (std::uint32_t line = 0;; ++line) {
      AddressMap::DramPlace at = map.dram(line);
      if (at.bank == bank && at.row == row && at.column == column) return line;
    }
  }
  void push(Cycle now, std::uint32_t line, bool write = false, std::uint8_t sectors = 1) {
    run_until(now);
    channel.push(now, {line, 0, 0, sectors, 0, 0, write});
  }
  void run_until(Cycle end) {
    for (; now_ < end; ++now_) {
      if (channel.due() <= now_ || !skip_) channel.tick(now_);
      for (; !channel.replies().empty() && channel.replies().front().at <= now_;
           channel.replies().pop())
        done.push_back({channel.replies().front().at, channel.replies().front().line});
    }
  }
  AddressMap map;
  DramChannel channel;
  DramChecker checker;
  std::vector<Done> done;

 private:
  bool skip_;
  Cycle now_ = 0;
};

/// Random traffic: mostly reads, rows with some locality, bursts and pauses.
inline void random_traffic(ChannelRig& rig, std::uint64_t seed, Cycle cycles) {
  Rng rng(seed);
  std::uint32_t base = 0;
  for (Cycle t = 1; t < cycles; t += 1 + rng.below(rng.below(8) == 0 ? 200 : 6)) {
    rig.run_until(t);
    if (rng.below(4) == 0) base = rng.below(1u << 14);
    if (rig.channel.free_slots() > 0)
      rig.push(t, base + rng.below(24), rng.below(3) == 0,
               static_cast<std::uint8_t>(1 + rng.below(15)));
  }
  rig.run_until(cycles + 20'000);
}

inline void expect_sound(ChannelRig& rig, const DramSpec& d, const std::string& what) {
  EXPECT_TRUE(rig.channel.idle()) << what;
  EXPECT_GT(rig.checker.size(), 4'000u) << what;
  EXPECT_EQ(rig.checker.first_violation(), "") << what;
  const stats::DramCounters c = rig.channel.counters();
  EXPECT_EQ(rig.done.size(), c.reads) << what;
  EXPECT_EQ(rig.checker.count(DramCommandKind::Activate), c.activates) << what;
  if (d.refresh != Refresh::AllBank) {
    EXPECT_EQ(rig.checker.count(DramCommandKind::Precharge), c.precharges) << what;
  }
  EXPECT_EQ(
      rig.checker.count(DramCommandKind::Refresh) + rig.checker.count(DramCommandKind::RefreshAll),
      c.refreshes)
      << what;
  EXPECT_EQ((rig.checker.count(DramCommandKind::Read) + rig.checker.count(DramCommandKind::Write)) *
                d.burst_bytes,
            c.bytes)
      << what;
}

}  // namespace raddle::test
